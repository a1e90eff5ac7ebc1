#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Thresholds from good nodes. The arithmetic is in tests/unit/test_gate_calibrate.c.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  profile "$root" sku <<'E2'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {nics: {pci: "15b3:1021"}}
gate:
  checks:
    memory: {run: memory_bandwidth, per: node, min: 1GB/s}
    links: {run: carrier, on: nics}
E2
  bench_value 20e9
}

calibrate() { # STATUS [OPTION...]
  run "-$1" --separate-stderr with_bench "$railhead" calibrate --root "$root" "${@:2}"
}

# The numbers of a node, as calibrate --json prints them.
node() { # NAME VALUE...
  jq -n --arg node "$1" '{calibration: 1, node: $node, profile: {name: "sku", version: "", digest: "d1"},
    checks: {memory: {min: {quantity: "rate", members: {"gate/memory/node0": $ARGS.positional | map(tonumber)}}}}}' \
    --args "${@:2}" >"$BATS_TEST_TMPDIR/$1.json"
}

merge() { # STATUS [OPTION...] NODE...
  local files=() options=()
  for word in "${@:2}"; do
    case $word in -*) options+=("$word") ;; *) files+=("$BATS_TEST_TMPDIR/$word.json") ;; esac
  done
  run "-$1" --separate-stderr "$railhead" calibrate --merge "${options[@]}" "${files[@]}"
}

@test "what is printed is a drop-in that check takes, and the gate judges by it" {
  bench_value 20e9 '"page": "1G"'
  calibrate 0 --runs 2
  [[ $output == *$'\n    memory: # on pages of 1G\n'*$'\n      min: 18000MB/s' ]]
  [[ $output == *"2 runs; weakest of 2: gate/memory/node0, median 20.0 GB/s"* ]]
  [ "$(bench_runs)" = 4 ]
  mkdir -p "$root/etc/railhead/profiles/sku.d"
  cat >"$root/etc/railhead/profiles/sku.d/50-calibrated.yaml" <<<"$output"
  run -0 "$railhead" check --root "$root" "$root/etc/railhead/profiles/sku.d/50-calibrated.yaml"
  bench_value 18.1e9
  run -0 with_bench "$railhead" gate --root "$root"
  bench_value 17.9e9
  run -7 with_bench "$railhead" gate --root "$root" --again
  [[ $output == *"required at least 18000MB/s"* ]]
}

@test "a threshold that is not met is no obstacle, and the margin can be chosen" {
  bench_value 0.5e9
  calibrate 0 --runs 1 --margin 20%
  [[ $output == *$'\n      min: 400MB/s' ]]
  calibrate 0 --runs 1 --margin 5
  [[ $output == *$'\n      min: 475MB/s' ]]
  calibrate 2 --runs 0
  calibrate 2 --runs 1001
  calibrate 2 --margin 0
  calibrate 2 --margin 51%
  calibrate 2 --margin x
  calibrate 2 --runs 10%
  calibrate 2 some-file
  calibrate 2 --merge
}

@test "what can't be measured is an error that names it; so is a profile without benchmarks" {
  bench_says '{"bench": "memory_bandwidth", "result": "cannot measure", "reason": "no free 1G page"}'
  calibrate 6 --runs 1
  [[ -z $output && $stderr == *"gate/memory/node0: "*"no free 1G page"* ]]
  sed -i '/memory:/d' "$root/etc/railhead/profiles/sku.yaml"
  calibrate 6 --runs 1
  [[ $stderr == *"gate.checks of the profile has nothing that is measured"* ]]
}

@test "a node that works is not measured, unless --force" {
  run -0 with_bench "$railhead" gate --root "$root"
  calibrate 2 --runs 1
  [[ $stderr == *"work is admitted on this node"*"--force"* ]]
  calibrate 0 --runs 1 --force
}

@test "--json of nodes goes into --merge" {
  calibrate 0 --runs 2 --json
  jq -e '.checks.memory.min.members["gate/memory/node1"] == [20e9, 20e9]' <<<"$output"
  jq '.node = "a"' <<<"$output" >"$BATS_TEST_TMPDIR/a.json"
  jq '.node = "b" | .checks.memory.min.members[] = [22e9, 22e9]' <<<"$output" >"$BATS_TEST_TMPDIR/b.json"
  merge 0 a b
  [[ $output == *"# 2 nodes; medians: 5% 20.1 GB/s, 50% 21.0 GB/s, 95% 21.9 GB/s; worst run 20.0 GB/s"* ]]
  [[ $output == *$'\n      min: 18000MB/s' ]]
}

@test "a node that is worse than its like is named and left out" {
  for n in 1 2 3 4; do node n$n 20e9 20.5e9 20e9; done
  node n5 15e9 15e9 15e9
  merge 0 n1 n2 n3 n4 n5
  [[ $stderr == *"n5 is left out of memory.min: its median is 15.0 GB/s, that of all 20.0 GB/s"* ]]
  [[ $output == *"# 4 nodes;"*"# left out: n5, median 15.0 GB/s"*$'\n      min: 18000MB/s' ]]
}

@test "what is no output of calibrate, or of another profile, or lacks a check, is refused by name" {
  node a 20e9
  node b 20e9
  for filter in '.calibration = 2' 'del(.checks)' '.node = "x\ny: z"' '.checks.memory.min.quantity = "size"' \
    '.checks.memory.min.members = {}' '.checks.memory.min.members[] = []' '.checks.memory.min.members[] = [-1]' \
    '.checks.memory.min.members[] = [1e300]' \
    '.checks.memory.min.members[] = ["1"]' '.checks["a: {b}"] = .checks.memory' '[.]'; do
    jq "$filter" "$BATS_TEST_TMPDIR/a.json" >"$BATS_TEST_TMPDIR/bad.json"
    echo "$filter"
    merge 3 b bad
    [[ -z $output && $stderr == *"bad.json: "* ]]
  done
  echo '{"calibration": 1,' >"$BATS_TEST_TMPDIR/bad.json"
  merge 3 bad b
  merge 3 nosuchfile
  jq '.profile.digest = "d2"' "$BATS_TEST_TMPDIR/a.json" >"$BATS_TEST_TMPDIR/bad.json"
  merge 3 b bad
  [[ $stderr == *"numbers of one profile go together"* ]]
  jq '.checks.memory = {max: .checks.memory.min}' "$BATS_TEST_TMPDIR/a.json" >"$BATS_TEST_TMPDIR/bad.json"
  merge 3 b bad
  [[ $stderr == *"a has no such numbers for memory.min as b"* ]]
}

@test "runs that spread far are told of" {
  node a 20e9 20e9 10e9
  merge 0 a
  [[ $output == *$'\n      min: 9500MB/s' ]]
  [[ $stderr == *"memory.min: the runs spread so far that only what is 52 % worse is found"* ]]
}

budgets() { # of all runs so far, in order
  sed -E 's/.*--budget ([0-9]+).*/\1/' "$bench_log" | paste -sd' '
}

@test "what counts is a long look, within the timeout: of a gate that is slow, and of calibrate at once" {
  bench_value 0.5e9
  calibrate 0 --runs 1
  [ "$(budgets)" = "4000 4000" ]
  rm "$bench_log"
  run -7 with_bench "$railhead" gate --root "$root" --again
  [ "$(budgets)" = "600 600 4000 4000" ]
  rm "$bench_log"
  sed -i 's/per: node,/& timeout: 1s,/' "$root/etc/railhead/profiles/sku.yaml"
  run -7 with_bench "$railhead" gate --root "$root" --again
  [ "$(budgets)" = "400 400 400 400" ]
}
