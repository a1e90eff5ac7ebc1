#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# railhead status --watch: a line for each change of the verdict, and no work in between.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench
load lib/clock

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  seen=$BATS_TEST_TMPDIR/seen
  : >"$seen"
  bench_value 2e9
}

teardown() {
  # That of a test that failed; one that has ended by itself is as good.
  [ -z "${watcher:-}" ] || kill "$watcher" 2>/dev/null || true
  [ -z "${watcher:-}" ] || wait "$watcher" || true
}

# Its lines come through a pipe, fd 4. A shell in the background ignores SIGINT for its children.
begin() { # [OPTION...]
  mkfifo "$BATS_TEST_TMPDIR/lines"
  env --default-signal=INT "$railhead" status --watch --root "$root" "$@" \
    >"$BATS_TEST_TMPDIR/lines" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
  watcher=$!
  exec 4<"$BATS_TEST_TMPDIR/lines"
}

# Reads lines until one has that text; all of them are in $seen.
until_line() { # TEXT
  local line
  while read -r -t 300 -u 4 line; do
    printf '%s\n' "$line" >>"$seen"
    [[ $line != *"$1"* ]] || return 0
  done
  echo "no line has '$1':"
  cat "$seen" "$BATS_TEST_TMPDIR/err"
  return 1
}

ends() { # STATUS
  local status=0
  timeout 300 tail --pid="$watcher" -f /dev/null
  wait "$watcher" || status=$?
  watcher=''
  [ "$status" = "$1" ]
}

memory() { # THE-LEAST
  gated "  checks: {memory: {run: memory_bandwidth, per: node, min: $1}}"
}

gate() { # STATUS [OPTION...]
  run "-$1" with_bench "$railhead" gate --root "$root" "${@:2}"
}

@test "a claim that grows too old while nothing happens is a line" {
  memory 1GB/s
  gate 0
  LD_PRELOAD=$clock_library TEST_CLOCK=$clock begin
  until_line 'Z ready (work is admitted)'
  pass 3600000
  until_line 'Z ready (work is not admitted): nothing has looked at the node for '
  kill -INT "$watcher"
  ends 7
}

@test "before railhead has run it says so and waits, then each change is a line with its time" {
  memory 1GB/s
  begin
  until_line 'Z waiting (railhead has not run in this boot)'
  gate 0
  until_line 'Z ready (work is admitted)'
  memory 9GB/s
  gate 7
  until_line 'Z blocked (work is not admitted): gate/memory/node0: '
  [[ $(tail -n 1 "$seen") == 20[0-9][0-9]-*T*Z\ * && $(tail -n 1 "$seen") == *'; and 1 more' ]]
  kill -INT "$watcher"
  ends 7
  [ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "a gate at work is no lapse, however often it runs; the end by SIGTERM says that work is admitted" {
  local n
  memory 1GB/s
  begin
  for n in 1 2 3 4 5 6 7 8; do
    gate 0 --again
  done
  until_line ' ready ' # there may be further ones
  memory 9GB/s
  gate 7
  until_line ' blocked '
  memory 1GB/s
  gate 0
  until_line ' ready '
  run ! grep -e lapsed -e 'did not end' -e killed "$seen"
  kill -TERM "$watcher"
  ends 0
}

@test "the same verdict is said once" {
  memory 1GB/s
  gate 0
  begin
  until_line ' ready '
  "$railhead" gate --recheck --root "$root"
  touch "$root/run/railhead/other" # an event that changes nothing
  memory 9GB/s
  gate 7
  until_line ' blocked '
  [ "$(grep -c ' ready ' "$seen")" = 1 ]
}

@test "a reader that goes ends it" {
  memory 1GB/s
  gate 0
  begin
  until_line ' ready '
  exec 4<&-
  ends 0
  [ ! -s "$BATS_TEST_TMPDIR/err" ]
}

# In poll(2) for a minute, after which the age of the claim is judged again.
sleeps_a_minute() { grep -qE '^7 0x[0-9a-f]+ 0x3 0xea60 ' "/proc/$watcher/syscall"; }

@test "it sleeps while nothing happens" {
  memory 1GB/s
  gate 0
  begin
  until_line ' ready '
  eventually sleeps_a_minute
}

@test "a directory of the state that goes and comes back is followed" {
  memory 1GB/s
  gate 0
  begin
  until_line ' ready '
  rm -rf "$root/run/railhead"
  until_line 'railhead has not run in this boot'
  gate 0
  until_line ' ready '
  rm -rf "$root/run"
  until_line 'railhead has not run in this boot'
  gate 0
  until_line ' ready '
}

@test "--json prints the record of each change in one line" {
  memory 1GB/s
  gate 0
  begin --json
  until_line '"verdict":"ready"'
  memory 9GB/s
  gate 7
  until_line '"verdict":"blocked"'
  jq -e -s 'all(.schema == 3) and .[0].verdict == "ready" and .[-1].verdict == "blocked"' "$seen"
}

@test "on a terminal one screen is drawn again, with no more lines than it has" {
  memory 1GB/s
  gate 0
  mkfifo "$BATS_TEST_TMPDIR/lines" "$BATS_TEST_TMPDIR/keys"
  exec 5<>"$BATS_TEST_TMPDIR/keys"
  script -qfec "stty cols 80 rows 5; TERM=dumb exec env --default-signal=INT $railhead status --watch --root $root" /dev/null \
    >"$BATS_TEST_TMPDIR/lines" 2>&1 <"$BATS_TEST_TMPDIR/keys" 3>&- &
  watcher=$!
  exec 4<"$BATS_TEST_TMPDIR/lines"
  until_line 'verdict: ready'
  memory 9GB/s
  gate 7
  until_line 'verdict: blocked'
  [ "$(grep -c $'\e\\[H\e\\[2J' "$seen")" -ge 2 ]
  until_line 'remedy:'
  printf '\003' >&5
  ends 7
  # A screen is what stands between two such sequences.
  awk -v RS='\033[[]H\033[[]2J' '{ if (gsub(/\n/, "") > 4) exit 1 }' "$seen"
}

@test "a snapshot does not change, and is refused" {
  tar -C "$root" -cf "$BATS_TEST_TMPDIR/node.tar" .
  run -2 "$railhead" status --watch --root "$BATS_TEST_TMPDIR/node.tar"
  [[ $output == "railhead: status --watch: a snapshot does not change" ]]
}

@test "where its lines can't be written it ends, and says so" {
  run -1 timeout 300 sh -c '"$1" status --watch --root "$2" >/dev/full' sh "$railhead" "$root"
  [[ $output == "railhead: standard output: "* ]]
}

@test "status, too, waits for a judgement that is about to make the ready file; what lasts is a lapse" {
  memory 1GB/s
  gate 0
  mv "$root/run/railhead/ready" "$root/run/railhead/ready.later"
  # as a gate does: it has the lock, has written the record, and makes the file
  cd "$BATS_TEST_TMPDIR"
  cat >hold.py <<'END'
import fcntl, os, sys
os.chdir(sys.argv[1])
lock = open("lock", "a")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
if sys.stdin.readline():
    os.rename("ready.later", "ready")
END
  coproc holds { exec python3 hold.py "$root/run/railhead" 3>&-; }
  holder=$holds_PID # which the shell forgets once it has ended
  read -r -u "${holds[0]}"
  on_standing_clock "$railhead" status --root "$root" >said 3>&- &
  eventually sleeps $!
  echo >&"${holds[1]}"
  wait $!
  [[ $(<said) == "verdict: ready "* ]]
  wait "$holder"
  mv "$root/run/railhead/ready" "$root/run/railhead/ready.later"
  coproc holds { exec python3 hold.py "$root/run/railhead" 3>&-; }
  holder=$holds_PID # which the shell forgets once it has ended
  read -r -u "${holds[0]}"
  on_standing_clock "$railhead" status --root "$root" >said 3>&- &
  eventually sleeps $!
  pass 1000
  status=0
  wait $! || status=$?
  [ "$status" -eq 7 ]
  [[ $(<said) == "verdict: lapsed "* ]]
  kill "$holder"
}
