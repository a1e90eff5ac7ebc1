#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The gate's own measurements of this machine's memory beside load, and where it stalls: five gates
# of each. What is said of a share of gates is counted by tests/bench/gate-load.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/gate
load lib/eventually

setup() {
  gate_need
  build=$BATS_TEST_DIRNAME/../build
  root=$BATS_TEST_TMPDIR/root
  gate_out=$BATS_TEST_TMPDIR/out
  fake_node "$root"
  put "$root/sys/devices/system/node/online" 0
  put "$root/sys/devices/system/node/has_cpu" 0
  put "$root/sys/devices/system/node/node0/cpulist" "$(</sys/devices/system/node/node0/cpulist)"
}

teardown() {
  exec 9>&-
  wait
}

checks() { # CHECK...
  local check
  {
    printf 'schema: 1\nname: site\nmatch: {dmi: {sys_vendor: Supermicro}}\ngate:\n  checks:\n'
    for check; do
      printf '    %s: {run: memory_%s, per: node, timeout: 2s}\n' "${check%%,*}" "$check"
    done
  } | profile "$root" site
}

# Until the test ends.
beside() { # KIND NUMBER
  mkfifo "$BATS_TEST_TMPDIR/end"
  "$build/test/load" "$@" <"$BATS_TEST_TMPDIR/end" >"$BATS_TEST_TMPDIR/load" 3>&- &
  exec 9>"$BATS_TEST_TMPDIR/end"
  eventually grep -q ready "$BATS_TEST_TMPDIR/load"
}

# Nothing of it but a percentage of its threads' CPU time shows where it stalls.
stalls() { # PERCENT:PERIOD_US
  bench=$BATS_TEST_TMPDIR/bench
  printf '#!/bin/sh\nSTALLS=%s exec %s "$@"\n' "$1" "$(realpath "$build/test/railhead-bench-stalls")" >"$bench"
  chmod 755 "$bench"
}

verdict() {
  gate --root "$root" --again || [ $? -eq 7 ]
  jq -r .verdict "$gate_out"
}

five_gates() { # PATTERN: what none of the verdicts may be
  local i said
  for i in 1 2 3 4 5; do
    said=$(verdict)
    [[ ! $said =~ $1 ]] || {
      echo "gate $i: $said"
      jq -c '.measurements[] | {state, reason, looks}' "$gate_out"
      return 1
    }
  done
}

# A quarter of the rate, four times the time that it takes now: what shared hosts drift by is far
# less. A measurement that is disturbed may wait; that it blocks nothing is what is asked.
healthy() {
  local rate ns
  rate=$("$bench" memory_bandwidth --node 0 --page 4K --budget 200 | jq .value)
  ns=$("$bench" memory_latency --node 0 --page 4K --budget 200 | jq .value)
  checks "bandwidth, min: $((${rate%.*} / 4000000))MB/s" "latency, max: $((${ns%.*} * 4))ns"
}

@test "load of half of the CPUs blocks no healthy node" {
  healthy
  beside cpu $((($(nproc) + 1) / 2))
  five_gates blocked
}

@test "load of four times the CPUs blocks no healthy node" {
  healthy
  beside cpu $((4 * $(nproc)))
  five_gates blocked
}

@test "work that streams through memory on half of the CPUs blocks no healthy node" {
  healthy
  beside memory $((($(nproc) + 1) / 2))
  five_gates blocked
}

# Each gate against what the same memory does without stalls a moment before.
never_ready() { # PERIOD_US
  local i ns said
  for i in 1 2 3 4 5; do
    ns=$("$build/railhead-bench" memory_latency --node 0 --page 4K --budget 300 | jq .value)
    checks "latency, max: $((${ns%.*} * 115 / 100))ns"
    stalls "30:$1"
    said=$(verdict)
    [ "$said" != ready ] || {
      echo "gate $i: ready, with $ns ns before it"
      jq -c '.measurements[]' "$gate_out"
      return 1
    }
  done
}

@test "stalls of 18 us in 60 that no accounting shows: never ready" {
  never_ready 60
}

@test "stalls of 300 us in a millisecond that no accounting shows: never ready" {
  never_ready 1000
}

@test "stalls of 6 ms in 20 that no accounting shows: never ready" {
  never_ready 20000
}

@test "stalls of 90 ms in 300 that no accounting shows: never ready" {
  never_ready 300000
}
