#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# railhead history: what each boot came to, what changed between two, and figures that get worse.
# What counts as a trend is in tests/unit/test_trend.c.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  put "$root/proc/sys/kernel/osrelease" 6.1.0-18
  put "$root/sys/class/dmi/id/bios_version" 1.1
  put "$root/sys/class/dmi/id/product_serial" S3CRET
  store=$root/var/lib/railhead/history.json
  record=$root/run/railhead/status.json
}

memory() { # THE-LEAST
  gated "  checks: {memory: {run: memory_bandwidth, per: node, min: $1}}"
}

next_boot() {
  rm -rf "$root/run/railhead"
  put "$root/proc/sys/kernel/random/boot_id" "$(cat /proc/sys/kernel/random/uuid)"
}

gate() { # STATUS FIGURE [OPTION...]
  bench_value "$2"
  run "-$1" with_bench "$railhead" gate --root "$root" "${@:3}"
}

history() { # STATUS [OPTION...]
  run "-$1" env LC_ALL=C "$railhead" history --root "$root" "${@:2}"
}

# Of the JSON.
holds() { # JQ-FILTER
  "$railhead" history --json --root "$root" >"$BATS_TEST_TMPDIR/history.json"
  jq -e "$1" "$BATS_TEST_TMPDIR/history.json" >/dev/null || {
    echo "does not hold: $1"
    jq . "$BATS_TEST_TMPDIR/history.json"
    return 1
  }
}

# Boots of which only the figures differ, by hand: "0 5 7" ends with 7 GB/s. One that took its
# figures over has a minus in front.
boots_with() { # GB/S...
  local n=0 value
  mkdir -p "${store%/*}"
  for value; do
    n=$((n + 1))
    jq -nc --arg n $n --arg value "$value" '{boot_id: "00000000-0000-0000-0000-\($n)",
      time: (1790000000 + 86400 * ($n | tonumber)), verdict: "ready", admit: true, kernel: "6.1.0-18",
      railhead: "0", profile: {name: "sku", version: "1", digest: "ab"}, parts: {BIOS: "1.1"},
      figures: [{check: "memory", subject: "node0", key: "min", unit: "B/s",
        value: (1e9 * ($value | ltrimstr("-") | tonumber)), fresh: ($value | startswith("-") | not)}]}'
  done | jq -c -s '{schema: 1, boots: .}' >"$store"
}

@test "without a history it says so, with the reason, and exits 0" {
  history 0
  [[ $output == "no history: "*"/var/lib/railhead/history.json is not there"* ]]
  holds '.schema == 1 and .boots == [] and .trends == []'
  [ ! -e "$store" ]
}

@test "each boot is a line, the newest last, with what changed since the one before" {
  memory 1GB/s
  gate 0 2e9
  next_boot
  put "$root/proc/sys/kernel/osrelease" 6.8.0-1
  put "$root/sys/class/dmi/id/bios_version" 1.2
  put "$root/sys/class/dmi/id/product_serial" 0THER
  gate 0 1.5e9
  next_boot
  memory 9GB/s
  gate 7 1.5e9
  history 0
  [ "${#lines[@]}" = 3 ]
  [[ ${lines[0]} == $'boot\t'*$'\tready\t'*$'\t' ]]
  [[ ${lines[1]} == *$'\tready\t'*"kernel 6.1.0-18 -> 6.8.0-1"*"BIOS 1.1 -> 1.2"* ]]
  [[ ${lines[1]} == *"serial number of the machine: changed"* ]]
  [[ ${lines[1]} == *"memory min -25.0% of 2" ]]
  [[ ${lines[2]} == *$'\tblocked\t'*RH-MEMORY-BANDWIDTH*"profile "*" -> "* ]]
  [[ $output != *S3CRET* && $output != *0THER* ]]
  run ! grep -e S3CRET -e 0THER "$store"
  [ "$(stat -c %a "$store")" = 600 ]
  history 0 1
  [ "${#lines[@]}" = 1 ]
  [[ ${lines[0]} == *blocked* ]]
  holds '[.boots[].verdict] == ["ready", "ready", "blocked"] and .boots[2].faults == ["RH-MEMORY-BANDWIDTH"]'
  holds '[.boots[1].changed[] | select(.part == "kernel")] == [{part: "kernel", was: "6.1.0-18", now: "6.8.0-1", times: 1}]'
  holds '.boots[1].steps | map(.percent | round) == [-25, -25]'
  holds '.boots[0].figures | map(.value) == [2e9, 2e9] and all(.fresh)'
  holds '.boots[2].stages_usec.gate > 0 and .boots[2].judged_usec > 0'
}

@test "a boot that is judged again has one entry, and later looks write nothing" {
  memory 1GB/s
  gate 0 2e9
  holds '.boots | length == 1'
  gate 0 3e9 --again
  holds '(.boots | length == 1) and .boots[0].figures[0].value == 3e9'
  cp "$store" "$BATS_TEST_TMPDIR/before"
  for option in --recheck ''; do
    # shellcheck disable=SC2086 # none is no argument
    with_bench "$railhead" gate $option --root "$root"
    cmp "$store" "$BATS_TEST_TMPDIR/before"
  done
}

@test "a retry that finds the same does not write, and one that finds more replaces the entry" {
  gated '  wait: 1h
  checks: {links: {run: carrier, on: nics}}'
  put "$root/sys/devices/pci0000:00/$PF0/net/eth0/carrier" 0
  gate 7 1
  holds '(.boots | length == 1) and .boots[0].verdict == "waiting"'
  before=$(stat -c '%i %y' "$store")
  gate 7 1 --retry
  [ "$(stat -c '%i %y' "$store")" = "$before" ]
  put "$root/sys/devices/pci0000:00/$PF0/net/eth0/carrier" 1
  gate 0 1 --retry
  holds '(.boots | length == 1) and .boots[0].verdict == "ready" and .boots[0].waited_usec > 0'
}

@test "figures that were taken over from the boot before are no fresh ones" {
  gated "  reuse: 24h
  checks: {memory: {run: memory_bandwidth, per: node, min: 1GB/s}}"
  gate 0 2e9
  "$railhead" gate --keep --root "$root"
  next_boot
  gate 0 1e9
  jq -e '.numbers.boots_ago == 1' "$record"
  holds '(.boots | length == 2) and (.boots[1].figures | map(.fresh) == [false, false] and .[0].value == 2e9)'
  history 0
  [[ ${lines[1]} != *memory* ]] # no step of what was not measured
}

@test "the 101st boot drops the first, and other boots stay as they are" {
  memory 1GB/s
  # shellcheck disable=SC2046 # words
  boots_with $(seq 100 199)
  gate 0 2e9
  holds '(.boots | length == 100) and .boots[0].boot_id == "00000000-0000-0000-0000-2"'
  holds '.boots[98].figures[0].value == 199e9 and .boots[99].figures[0].value == 2e9'
  holds '.boots[98].parts == {BIOS: "1.1"}' # though the line has none of its own
  jq -e '.boots | length == 100' "$store"
  history 0 1000
  [ "${#lines[@]}" = 100 ]
  history 0
  [ "${#lines[@]}" = 16 ]
}

@test "the file stays below a MiB: the oldest boots go" {
  memory 1GB/s
  # shellcheck disable=SC2046 # words
  boots_with $(seq 1 50)
  jq -c --arg long "$(printf '%030000d' 0)" '.boots[].reason = $long' "$store" >"$store.new"
  mv "$store.new" "$store"
  [ "$(stat -c %s "$store")" -gt 1048576 ]
  gate 0 2e9
  [ "$(stat -c %s "$store")" -le 1048576 ]
  holds '(.boots | length) as $n | $n > 25 and $n < 40 and .boots[-1].figures[0].value == 2e9'
}

@test "a damaged, cut or foreign history is named, replaced by the gate, and blocks nothing" {
  memory 1GB/s
  boots_with 1 2 3
  cp "$store" "$BATS_TEST_TMPDIR/whole"
  for damage in 'truncate -s 300 "$store"' ': >"$store"' 'echo "[1, 2]" >"$store"' \
    'printf "\0\0\0" >"$store"' 'echo "{\"schema\": 1}" >"$store"' \
    'echo "{\"schema\": 1, \"boots\": [{\"boot_id\": 7}]}" >"$store"'; do
    cp "$BATS_TEST_TMPDIR/whole" "$store"
    eval "$damage"
    history 1
    [[ $output == "railhead: /var/lib/railhead/history.json: "*"; a gate begins a new history" ]]
    next_boot
    gate 0 2e9
    [[ $output == *"/var/lib/railhead/history.json: "*"; a gate begins a new history"* ]]
    holds '.boots | length == 1'
  done
}

@test "a history of a newer railhead is left alone" {
  memory 1GB/s
  mkdir -p "${store%/*}"
  echo '{"schema": 2, "boots": {}}' >"$store"
  history 1
  [[ $output == *"schema 2; this railhead reads version 1 and does not change the file: upgrade railhead, or remove the file"* ]]
  gate 0 2e9
  [[ $output == *"schema 2; this railhead reads version 1"* ]]
  [ "$(cat "$store")" = '{"schema": 2, "boots": {}}' ]
}

@test "where the history can't be written the gate says so, and the node is ready" {
  memory 1GB/s
  put "$root/var/lib/railhead" 'a file where the directory is'
  gate 0 2e9
  [[ $output == *'`railhead history` lacks this boot'* ]]
  jq -e '.verdict == "ready"' "$record"
  [ -e "$root/run/railhead/ready" ]
  rm "$root/var/lib/railhead"
  mkdir -p "$store/in-the-way"
  next_boot
  gate 0 2e9
  [[ $output == *history.json* ]]
  jq -e '.verdict == "ready"' "$record"
}

@test "a gate that is killed anywhere leaves the history as it was, or with its boot" {
  local call n cut=0
  memory 1GB/s
  gate 0 2e9
  cp "$store" "$BATS_TEST_TMPDIR/before"
  for call in fsync renameat; do
    for ((n = 1; n < 40; n++)); do
      cp "$BATS_TEST_TMPDIR/before" "$store"
      next_boot
      run with_bench strace -o /dev/null -e trace=$call -e inject=$call:signal=KILL:when=$n \
        "$railhead" gate --root "$root"
      [ "$status" != 0 ] || break
      [ "$status" = 137 ]
      cmp -s "$store" "$BATS_TEST_TMPDIR/before" || holds '.boots | length == 2'
      cut=$((cut + 1))
    done
    [ "$n" -lt 40 ]
    holds '.boots | length == 2'
  done
  [ "$cut" -ge 6 ] # status, ready and the history, each with its fsync
}

@test "a boot that judged by no profile is in the history, and one with railhead=off is not" {
  gate 7 1
  holds '(.boots | length == 1) and .boots[0].verdict == "none" and .boots[0].parts == {}'
  next_boot
  memory 1GB/s
  gate 0 2e9
  history 0
  [[ ${lines[1]} == *"profile: now "* ]]
  [[ ${lines[1]} != *BIOS* ]]
  next_boot
  put "$root/proc/cmdline" "ro railhead=off"
  gate 7 1
  holds '.boots | length == 2'
}

@test "a clock that was not set is said" {
  memory 1GB/s
  boots_with 5 5
  jq -c '.boots[1].time = 1000' "$store" >"$store.new" && mv "$store.new" "$store"
  history 0
  [[ ${lines[1]} == $'boot\t1970-01-01 00:16Z?\t'*"the clock was not set"* ]]
  [[ ${lines[0]} != *"clock"* ]]
  holds '[.boots[].clock_off] == [false, true]'
}

@test "a figure that falls from boot to boot is told by history and status, and the verdict stays" {
  memory 1GB/s
  # shellcheck disable=SC2046 # words
  boots_with $(seq 20 -0.05 19.05)
  history 0
  [[ $output == *$'\ntrend:   memory node0 min: falls from boot to boot, by 4.7% over 20 boots, and is 19.1 GB/s now' ]]
  holds '.trends | length == 1 and .[0].check == "memory" and .[0].boots == 20 and .[0].percent < -4.5'
  gate 0 19e9
  run -0 "$railhead" status --root "$root"
  [[ $output == "verdict: ready (work is admitted)"*"trend:   memory node0 min: falls"* ]]
  jq -e '.verdict == "ready" and (.trends | length == 1)' "$record"
  gate 0 19e9 --again
  jq -e '.trends | length == 1' "$record"
}

@test "a fall of figures that were taken over, and one with another BIOS, are no trends" {
  # shellcheck disable=SC2046 # words
  boots_with $(seq -20 0.05 -19.05)
  holds '.trends == []'
  # shellcheck disable=SC2046 # words
  boots_with $(seq 20 -0.05 19.05)
  holds '.trends | length == 1'
  jq -c '.boots |= [to_entries[] | .value * {parts: {BIOS: "\(.key)"}}]' "$store" >"$store.new"
  mv "$store.new" "$store"
  holds '.trends == []'
}

@test "on a terminal a boot is one line within the columns, below a heading" {
  # shellcheck disable=SC2046 # words
  boots_with $(seq 1 30)
  run -0 script -qec "stty cols 80; TERM=dumb $railhead history --root $root" /dev/null
  [[ ${lines[0]} == "VERDICT AT "*WHAT* ]]
  [[ $output == *"(14 earlier boots: railhead history N)"* ]]
  for line in "${lines[@]}"; do
    line=${line%$'\r'}
    [ "${#line}" -le 80 ]
  done
}

@test "words that are no number of boots are refused" {
  for word in 0 x -1 1.5 99999999999; do
    history 2 -- "$word"
    [[ $output == "railhead: history $word: expected a number of boots, from 1" ]]
  done
  history 2 1 2
}

@test "another user is told that the history is root's, and reads the trends of the record" {
  local open
  open=$(mktemp -d) # which that user may enter
  memory 1GB/s
  # shellcheck disable=SC2046 # words
  boots_with $(seq 20 -0.05 19.05)
  gate 0 19e9
  chmod 700 "${store%/*}"
  cp -a "$root" "$open/root"
  cp "$railhead" "$open/railhead"
  chmod 755 "$open" "$open/root"
  for verb in history status; do
    setpriv --reuid=65534 --regid=65534 --clear-groups "$open/railhead" $verb --root "$open/root" \
      >"$BATS_TEST_TMPDIR/$verb" 2>&1 || true # its words are looked at, whatever it ends in
  done
  rm -rf "$open"
  grep '/var/lib/railhead/history.json: .*ermission denied; run railhead as root' "$BATS_TEST_TMPDIR/history"
  grep 'trend:   memory node0 min: falls' "$BATS_TEST_TMPDIR/status"
}

# A child that reads or writes sleeps in its system call, as one does whose disk hangs. strace waits
# for the child; the gate does not.
@test "a /var that hangs takes the history from the verdict, and no more" {
  local call
  memory 1GB/s
  gate 0 2e9
  cp "$store" "$BATS_TEST_TMPDIR/before"
  for call in renameat openat,openat2; do
    next_boot
    run -0 with_bench strace -f -qq -o /dev/null -P history.json -P /var/lib/railhead/history.json \
      -e trace=$call -e inject=$call:delay_enter=60000000 "$railhead" gate --root "$root"
    [[ $output == *"railhead: /var/lib/railhead/history.json: has not returned from the kernel in "*" s; abandoned; \`railhead history\` lacks this boot"* ]]
    cmp "$store" "$BATS_TEST_TMPDIR/before"
    [ -e "$root/run/railhead/ready" ]
  done
}
