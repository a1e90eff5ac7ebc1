#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A judgement is one transaction: what is killed, or can't write, claims nothing.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench

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
gate: {checks: {links: {run: carrier, on: nics}}}
Y
  carrier 1
  "$railhead" apply --root "$root"
}

carrier() { # 0|1
  put "$root/sys/devices/pci0000:00/$PF0/net/eth0/carrier" "$1"
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

no_stage_makes_ready() {
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
    for n in {1..8}; do
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
      run -0 "$railhead" gate --root "$root"
      [ "$(claims | xargs)" = "file label metric status" ]
    done
  done
  [ $kills -gt 12 ]
}

@test "gate --again that is killed anywhere on a node that is not ready any more" {
  local call n kills=0 had
  for call in "${CALLS[@]}"; do
    for n in {1..8}; do
      carrier 1
      run -0 "$railhead" gate --again --root "$root"
      [ "$(claims | xargs)" = "file label metric status" ]
      carrier 0
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

@test "a gate that was killed is named, and a retry judges" {
  sed -i 's/^gate: .*/gate: {checks: {m: {run: memory_bandwidth, per: node, min: 1GB\/s}}}/' \
    "$root/etc/railhead/profiles/sku.yaml"
  "$railhead" apply --root "$root"
  mkfifo "$BATS_TEST_TMPDIR/fifo"
  printf '#!/bin/sh\nread -r line <%s\n' "$BATS_TEST_TMPDIR/fifo" >"$BATS_TEST_TMPDIR/bench"
  chmod 755 "$BATS_TEST_TMPDIR/bench"
  with_bench "$railhead" gate --root "$root" 3>&- &
  until jq -e .judging.since_usec "$record" >/dev/null 2>&1; do sleep 0.05; done
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: waiting"*"reason:  the gate has been at work since "*" s after boot"* ]]
  kill -9 "$(cat "$root/run/railhead/lock")"
  wait $! || :
  run -7 "$railhead" status --root "$root"
  [[ $output == *"reason:  the gate that began "*" s after boot was killed, or failed, before its verdict; see \`journalctl -u railhead-gate\`, and run \`railhead gate\`"* ]]
  "$railhead" apply --root "$root"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"was killed"* ]]
  bench_value 2e9
  run -0 with_bench "$railhead" gate --retry --root "$root"
  [ "$(claims | xargs)" = "file label metric status" ]
}

@test "a record that is ready without the file beside it admits nothing" {
  run -0 "$railhead" gate --root "$root"
  rm "$ready"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"the verdict was 'ready', and /run/railhead/ready is not there"*"run \`railhead gate\`"* ]]
  no_stage_makes_ready
  run -0 "$railhead" gate --root "$root"
  [ -e "$ready" ]
}

@test "what is let in by hand stays through a gate that is killed" {
  carrier 0
  run -7 "$railhead" gate --root "$root"
  run -0 "$railhead" admit --for 1h --reason x --root "$root"
  killed_at renameat 2 gate --again
  run -0 "$railhead" status --root "$root"
  [[ $output == *"work is admitted by hand"* ]]
  [ -e "$ready" ]
}
