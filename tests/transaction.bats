#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A judgement is one transaction: what is killed, or can't write, claims nothing.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench
load lib/eventually

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  record=$root/run/railhead/status.json
  ready=$root/run/railhead/ready
  metrics=$root/var/lib/prometheus/node-exporter/railhead.prom
  label=$root/etc/kubernetes/node-feature-discovery/features.d/railhead
  mkdir -p "${metrics%/*}" "${label%/*}"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {nics: {pci: "15b3:1021"}}
sysctl: {vm.swappiness: 10}
gate: {checks: {width: {run: pcie_link, on: nics, width: 16}}}
Y
  width 16
  "$railhead" apply --root "$root"
}

width() { # LANES: 16 are wanted
  put "$root/sys/devices/pci0000:00/$PF0/current_link_width" "$1"
}

# One word for each reader that takes the node for ready.
claims() {
  [ ! -e "$ready" ] || echo file
  ! grep -qx railhead.io/ready=true "$label" 2>/dev/null || echo label
  ! grep -qx 'railhead_ready 1' "$metrics" 2>/dev/null || echo metric
  ! "$railhead" status --root "$root" >/dev/null 2>&1 || echo status
}

# Runs it, killed at a system call: at that of this number. 1: it has ended before.
killed_at() { # CALL NUMBER VERB...
  run strace -f -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" "$railhead" "${@:3}" --root "$root"
  [ "$status" -eq 137 ]
}

no_stage_makes_ready() { # whatever the stages' own outcome is
  local stage
  for stage in initrd early devices; do
    "$railhead" apply --stage $stage --root "$root" >/dev/null 2>&1 || :
    [ ! -e "$ready" ]
  done
}

CALLS=(fsync renameat unlinkat openat write)

@test "a first gate that is killed anywhere claims nothing that it has not judged" {
  local call n kills=0 had
  for call in "${CALLS[@]}"; do
    for n in {1..24}; do
      rm -rf "$root/run/railhead" "$label" "$metrics"
      killed_at "$call" $n gate || break
      kills=$((kills + 1))
      had=$(claims | xargs)
      echo "$call $n: $had"
      if [ -n "$had" ]; then # then the judgement was finished, and on record
        jq -e '.verdict == "ready" and .admit and (has("judging") | not)' "$record"
        [ -e "$ready" ]
      else
        no_stage_makes_ready
        [ -z "$(claims)" ]
      fi
      run -0 "$railhead" gate --root "$root" # what was cut off is told now
      [ "$(claims | xargs)" = "file label metric status" ]
    done
  done
  [ $kills -gt 12 ]
}

@test "gate --again that is killed anywhere on a node that is not ready any more" {
  local call n kills=0 had
  for call in "${CALLS[@]}"; do
    for n in {1..24}; do
      width 16
      run -0 "$railhead" gate --again --root "$root"
      [ "$(claims | xargs)" = "file label metric status" ]
      width 8
      killed_at "$call" $n gate --again || break
      kills=$((kills + 1))
      had=$(claims | xargs)
      echo "$call $n: $had"
      if [[ $had == *status* ]]; then # then it had not begun: the judgement before stands
        [ -e "$ready" ]
        jq -e '.verdict == "ready" and .admit' "$record"
      else
        [[ $had != *file* && $had != *label* && $had != *metric* ]]
        no_stage_makes_ready
        run -7 "$railhead" gate --root "$root"
        [ -z "$(claims)" ]
      fi
    done
  done
  [ $kills -gt 12 ]
}

wait_for_text() { # FILE
  eventually test -s "$1" || {
    echo "nothing was written to $1" >&2
    return 1
  }
}

kill_while_it_measures() { # [FUNCTION, while the gate is at work]
  rm -f "$BATS_TEST_TMPDIR/fifo"
  mkfifo "$BATS_TEST_TMPDIR/fifo"
  : >"$BATS_TEST_TMPDIR/at-work"
  chmod 666 "$BATS_TEST_TMPDIR/at-work"
  printf '#!/bin/sh\necho >>%s\nread -r line <%s\n' "$BATS_TEST_TMPDIR/at-work" "$BATS_TEST_TMPDIR/fifo" \
    >"$BATS_TEST_TMPDIR/bench"
  chmod 755 "$BATS_TEST_TMPDIR/bench"
  with_bench "$railhead" gate --again --root "$root" 3>&- &
  wait_for_text "$BATS_TEST_TMPDIR/at-work"
  ${1:-:}
  kill -9 "$(cat "$root/run/railhead/lock")"
  wait $! || :
}

look_at_it() {
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: waiting (work is not admitted): the gate has been at work since "*" s after boot"* ]]
  grep -q " $(cat "$root/run/railhead/lock") " /proc/locks # it is alone still
}

@test "a gate that was killed is named, and a retry judges" {
  sed -i 's/^gate: .*/gate: {checks: {m: {run: memory_bandwidth, per: node, min: 1GB\/s}}}/' \
    "$root/etc/railhead/profiles/sku.yaml"
  "$railhead" apply --root "$root"
  kill_while_it_measures look_at_it
  kill_while_it_measures look_at_it # the second after the first, as its unit begins it
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: waiting (work is not admitted): the gate that began "*" s after boot was killed or failed before its verdict; see \`journalctl -u railhead-gate\`, and run \`railhead gate\`"* ]]
  "$railhead" apply --root "$root"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"was killed"* ]]
  bench_value 1e8 # a retry measures, too
  run -7 with_bench "$railhead" gate --retry --root "$root"
  kill_while_it_measures
  bench_value 2e9
  run -0 with_bench "$railhead" gate --retry --root "$root"
  jq -e '[.measurements[].state] == ["same", "same"] and .numbers.boots_ago == 0' "$record"
  [ "$(claims | xargs)" = "file label metric status" ]
}

@test "a gate that was killed on a node that waited: a retry begins anew" {
  put "$root/proc/cmdline" "root=/dev/vda2 ro railhead.slot=a railhead.trial=1"
  sed -i 's/^gate: .*/gate: {checks: {m: {run: memory_bandwidth, per: node, min: 1GB\/s}}}/' \
    "$root/etc/railhead/profiles/sku.yaml"
  bench_value 2e9
  run -0 with_bench "$railhead" gate --root "$root"
  rm "$root/run/railhead/trial-over"
  jq '.waiting = {since_usec: 1, until_usec: 99999999999999, looked_usec: 1}' "$record" >"$record.new"
  mv "$record.new" "$record"
  kill_while_it_measures
  bench_value 2e9
  run -0 with_bench "$railhead" gate --retry --root "$root"
  [ -e "$root/run/railhead/trial-over" ] # a retry that only looks again leaves that alone
}

@test "a record that is ready without the file beside it admits nothing" {
  run -0 "$railhead" gate --root "$root"
  rm "$ready"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"the verdict was 'ready', and /run/railhead/ready is missing"*"run \`railhead gate\`"* ]]
  no_stage_makes_ready
  run -0 "$railhead" gate --root "$root"
  [ -e "$ready" ]
}

@test "a trial of kernel arguments is over although the gate was killed after it let work in" {
  put "$root/proc/cmdline" "root=/dev/vda2 ro railhead.slot=a railhead.trial=1"
  run -0 "$railhead" gate --root "$root"
  rm "$root/run/railhead/trial-over"
  run -0 "$railhead" gate --root "$root"
  [ -e "$root/run/railhead/trial-over" ]
}

@test "a retry, admit, maintain and a look at devices that are killed: the next of them goes on" {
  local call n verb kills=0
  for verb in "gate --retry" "admit --for 1h --reason x" "admit --end" "maintain --for 1h --reason x"; do
    for call in fsync renameat unlinkat write; do
      for n in {1..10}; do
        width 8
        run -7 "$railhead" gate --again --root "$root"
        [[ $verb != "admit --end" ]] || "$railhead" admit --for 1h --reason y --root "$root"
        if [[ $verb == "gate --retry" ]]; then # as if it had waited for that
          jq '.verdict = "waiting" | .waiting = {since_usec: 1, until_usec: 99999999999999, looked_usec: 1}' \
            "$record" >"$record.new"
          mv "$record.new" "$record"
          width 16
        fi
        # shellcheck disable=SC2086 # words
        killed_at $call $n $verb || break
        kills=$((kills + 1))
        echo "$verb, $call $n: $(claims | xargs)"
        # shellcheck disable=SC2086
        run -0 "$railhead" $verb --root "$root"
        case $verb in
          *retry) [ "$(claims | xargs)" = "file label metric status" ] ;;
          *end | maintain*) [ "$(claims)" = "" ] && jq -e '.verdict == "blocked"' "$record" ;;
          *) [ "$(claims | xargs)" = "file label metric status" ] && jq -e '.verdict == "blocked"' "$record" ;;
        esac
      done
    done
  done
  [ $kills -gt 20 ]
}

@test "what is let in by hand stays through a gate that is killed" {
  width 8
  run -7 "$railhead" gate --root "$root"
  run -0 "$railhead" admit --for 1h --reason x --root "$root"
  killed_at renameat 2 gate --again
  run -0 "$railhead" status --root "$root"
  [[ $output == *"work is admitted by hand"* ]]
  [ -e "$ready" ]
}

# A directory of the tree on a small file system of its own, in which the claims are that are there.
on_small() { # DIR full|ro FUNCTION
  export root ready record label metrics railhead PF0
  export -f claims width put
  # shellcheck disable=SC2016 # they are the inner shell's
  unshare -m bash -e -c '
    cp -a "$1" "$root/copy"
    mount -t tmpfs -o size=128k,mode=755 none "$1"
    cp -a "$root/copy/." "$1"
    if [ "$2" = full ]; then
      ! cat /dev/zero >"$1/.filler" 2>/dev/null
    else
      mount -o remount,ro "$1"
    fi
    eval "$3"' bash "$1" "$2" "$3"
}

ready_no_more() { # DIR full|ro: what is claimed after the judgement, and what the gate says
  run -0 "$railhead" gate --again --root "$root"
  [ "$(claims | xargs)" = "file label metric status" ]
  width 8
  # shellcheck disable=SC2016
  run on_small "$1" "$2" '"$railhead" gate --again --root "$root" 2>&1 || echo "exit $?"
    echo "claims: $(claims | xargs)"
    for stage in early devices; do "$railhead" apply --stage $stage --root "$root" >/dev/null 2>&1 || :; done
    echo "after a stage: $(claims | xargs)"
    "$railhead" status --root "$root" || :'
  echo "$output"
  width 16
  rm -rf "$root/copy"
}

@test "a full disk: whatever is on it, nothing is claimed any more" {
  local dir
  for dir in "$root/run/railhead" "${label%/*}" "${metrics%/*}" "$root/var" "$root/etc"; do
    mkdir -p "$dir"
    echo "== $dir"
    ready_no_more "$dir" full
    [[ $output == *"claims: "$'\n'"after a stage: "$'\n'* ]]
  done
}

@test "a full /run while the gate judges: nothing is called ready, and a retry judges when there is room" {
  rm -rf "$root/run/railhead"
  "$railhead" apply --root "$root"
  # shellcheck disable=SC2016
  run on_small "$root/run/railhead" full '"$railhead" gate --root "$root" 2>&1 || echo "exit $?"
    echo "claims: $(claims | xargs)"
    rm "$root/run/railhead/.filler"
    "$railhead" gate --retry --root "$root"
    echo "then: $(claims | xargs)"'
  echo "$output"
  [[ $output == *"exit 7"$'\n'"claims: "$'\n'*"verdict: ready"*"then: file label metric status" ]]
  # not even what watches the devices could be written
  [[ ${output%%exit 7*} == *"verdict: waiting"*"device-0000:"*": No space left"* ]]
  [[ ${output%%exit 7*} != *"verdict: ready"* ]]
}

@test "a full /run: a maintenance that can't be written has not begun, and one that can't be ended goes on" {
  maintained() { "$railhead" status --json --root "$root" | jq -c '[.verdict, .maintenance.reason]'; }
  shown() { grep '^railhead_maintenance ' "$metrics"; }
  export -f maintained shown
  width 8
  run -7 "$railhead" gate --again --root "$root"
  # shellcheck disable=SC2016
  run on_small "$root/run/railhead" full '"$railhead" maintain --for 1h --reason x --root "$root" 2>&1 || echo "exit $?"
    maintained; shown
    rm "$root/run/railhead/.filler"
    "$railhead" maintain --for 1h --reason x --root "$root" >/dev/null
    ! cat /dev/zero >"$root/run/railhead/.filler" 2>/dev/null
    "$railhead" maintain --end --root "$root" 2>&1 || echo "exit $?"
    maintained; shown'
  echo "$output"
  [ "$(grep -v '^railhead: ' <<<"$output")" = 'exit 1
["blocked",null]
railhead_maintenance 0
exit 1
["blocked","x"]
railhead_maintenance 1' ]
  [ "$(grep -c '^railhead: .*status.json: No space left on device' <<<"$output")" -eq 2 ]
}

@test "a reader that goes away ends no judgement" {
  mkfifo "$BATS_TEST_TMPDIR/pipe"
  # shellcheck disable=SC2016
  run -1 bash -c 'exec 4<>"$3" 5>"$3" 4<&-; "$1" gate --again --root "$2" >&5' bash "$railhead" "$root" \
    "$BATS_TEST_TMPDIR/pipe"
  [ "$(claims | xargs)" = "file label metric status" ]
  [[ $output == *"railhead: standard output: "* ]]
}

@test "a PID 1 that does not answer costs status seconds, not minutes" {
  [ -e /run/railhead-sandbox ] # the machine's own PID 1 is left alone
  mkdir -p /run/systemd
  python3 -c '
import socket, time
s = socket.socket(socket.AF_UNIX)
s.bind("/run/systemd/private")
s.listen(5)
print("listens", flush=True)
time.sleep(1000)' >"$BATS_TEST_TMPDIR/listens" 3>&- &
  listener=$!
  wait_for_text "$BATS_TEST_TMPDIR/listens"
  run timeout 200 "$railhead" status
  kill $listener
  rm /run/systemd/private
  [ "$status" -eq 7 ]
}

@test "a read-only disk: a claim that can't be taken back is in the record, and no other one stays" {
  ready_no_more "${label%/*}" ro
  [[ $output == *"exit 7"*"claims: label"$'\n'"after a stage: label"$'\n'*"warning: /etc/kubernetes/node-feature-discovery/features.d/railhead: "*"Read-only file system"* ]]
  ready_no_more "${metrics%/*}" ro
  [[ $output == *"exit 7"*"claims: metric"$'\n'*"warning: /var/lib/prometheus/node-exporter/railhead.prom: "* ]]
  # Where railhead can't even begin, what was judged stands.
  ready_no_more "$root/run/railhead" ro
  [[ $output == *"lock: Read-only file system"*"exit 1"*"claims: file label metric status"* ]]
}

# As an immutable file does (chattr +i, which a sandbox may not set), one that is mounted refuses to go.
@test "a file that can't be removed: the record says so, and nothing else is claimed" {
  run -0 "$railhead" gate --root "$root"
  width 8
  export root ready label record railhead
  # shellcheck disable=SC2016
  run unshare -m bash -e -c 'mount --bind "$ready" "$ready"
    "$railhead" gate --again --root "$root" 2>&1 || echo "exit $?"
    "$railhead" status --root "$root" || echo "status exit $?"'
  echo "$output"
  [[ $output == *"exit 1"*"verdict: blocked"*"warning: /run/railhead/ready: "*"status exit 7"* ]]
  jq -e '.verdict == "blocked" and (.warnings | length) == 1' "$record"
  [ "$(claims)" = file ]
  run -7 "$railhead" gate --root "$root" # where it can be removed
  [ -z "$(claims)" ]
  jq -e '.warnings == []' "$record"
}

@test "the label of a node that may take work lapses unless it is renewed" {
  local begin before after
  begin=$(date +%s)
  run -0 "$railhead" gate --root "$root"
  grep -q '^# +expiry-time=' "$label"
  before=$(date -u -d "$(sed -n 's/^# +expiry-time=//p' "$label")" +%s)
  [ $((before - begin)) -ge 7200 ]
  sed -i 's/expiry-time=.*/expiry-time=2020-01-01T00:00:00Z/' "$label"
  run -0 "$railhead" gate --recheck --root "$root"
  after=$(date -u -d "$(sed -n 's/^# +expiry-time=//p' "$label")" +%s)
  [ "$after" -ge "$before" ]
  rm "$ready" # what is not so any more is not renewed
  run -0 "$railhead" gate --recheck --root "$root"
  [ "$(claims)" = "" ]
  run ! grep expiry "$label"
}

@test "rescue mode and the like: nothing is made, and a claim of the boot before is withdrawn" {
  run -0 "$railhead" gate --root "$root"
  rm -rf "$root/run/railhead" # a power cut
  put "$root/proc/sys/kernel/random/boot_id" 99999999-2222-3333-4444-555555555555
  put "$root/proc/cmdline" "root=/dev/sda1 ro systemd.unit=rescue.target"
  cp -a "$root/etc/railhead" "$BATS_TEST_TMPDIR/etc"
  for stage in initrd early devices; do "$railhead" apply --stage $stage --root "$root" || :; done
  run -7 "$railhead" gate --root "$root"
  [ "$(claims)" = "" ]
  grep -qx railhead.io/ready=false "$label"
  [ "$(cat "$root/proc/sys/vm/swappiness")" = 10 ]
  rm "$label" "$metrics"
  run -7 "$railhead" gate --root "$root"
  [ ! -e "$label" ]
  [ ! -e "$metrics" ]
}

@test "a profile that is gone leaves its name nowhere" {
  run -0 "$railhead" gate --root "$root"
  grep -q railhead.io/profile=sku "$label"
  rm "$root"/etc/railhead/profiles/*
  for verb in apply gate; do
    run "$railhead" $verb --root "$root"
    [ "$status" -ne 0 ]
    run ! grep sku "$label" "$metrics"
    jq -e 'has("profile") | not' "$record"
    run -7 "$railhead" status --root "$root"
    [[ $output != *sku* ]]
  done
}
