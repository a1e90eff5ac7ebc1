#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Thresholds from good nodes. The arithmetic is in tests/unit/test_gate_calibrate.c.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench
load lib/clock

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

boot_again() { put "$root/proc/sys/kernel/random/boot_id" "$(cat /proc/sys/kernel/random/uuid)"; }

# The numbers of a node, as calibrate --json prints them.
node() { # NAME VALUE...
  jq -n --arg node "$1" '{calibration: 2, node: $node, profile: {name: "sku", version: "", digest: "d1"},
    checks: {memory: {min: {unit: "B/s", members: {"gate/memory/node0": $ARGS.positional | map(tonumber)}}}}}' \
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
  calibrate 0 --runs 3
  [[ $output == *$'\n    memory: # on pages of 1G\n'*$'\n      min: 19419MB/s' ]]
  [[ $output == *"3 runs; weakest of 2: gate/memory/node0, 20.0 GB/s"* ]]
  [ "$(bench_runs)" = 6 ]
  mkdir -p "$root/etc/railhead/profiles/sku.d"
  cat >"$root/etc/railhead/profiles/sku.d/50-calibrated.yaml" <<<"$output"
  run -0 "$railhead" check --root "$root" "$root/etc/railhead/profiles/sku.d/50-calibrated.yaml"
  bench_value 19.5e9
  run -0 with_bench "$railhead" gate --root "$root"
  bench_value 19.3e9
  run -7 with_bench "$railhead" gate --root "$root" --again
  [[ $output == *"required at least 19419MB/s"* ]]
}

@test "a threshold that is not met is no obstacle, and the promise can be chosen" {
  bench_value 0.5e9
  calibrate 0 --runs 3
  [[ $output == *"together at most 0.1 % of the gates"*"finds a loss of 3.4 %"*$'\n      min: 485MB/s' ]]
  [ -z "$stderr" ]
  calibrate 0 --runs 3 --loss 2%
  [[ $stderr == "railhead: memory.min finds a loss of 3.4 %, not of 2.0 %: measure "[0-9]*" more runs" ]]
  calibrate 0 --runs 3 --false-blocks 5% --loss 10
  [[ $output == *"together at most 5 % of the gates"*$'\n      min: 4'[0-9][0-9]MB/s ]]
  [ -z "$stderr" ]
  for bad in "--runs 2" "--runs 1001" "--runs 10%" "--false-blocks 0" "--false-blocks 11%" "--false-blocks 1/1000" \
    "--loss 0.5" "--loss 51%" "--loss x" "--loss nan" some-file --merge; do
    calibrate 2 $bad
    [[ -n $stderr ]]
  done
}

@test "what can't be measured is an error that names it; so is a profile without benchmarks" {
  bench_says '{"bench": "memory_bandwidth", "result": "cannot measure", "reason": "no free 1G page"}'
  calibrate 6 --runs 3
  [[ -z $output && $stderr == *"gate/memory/node0: "*"no free 1G page"* ]]
  sed -i '/memory:/d' "$root/etc/railhead/profiles/sku.yaml"
  calibrate 6 --runs 3
  [[ $stderr == *"gate.checks of the profile has no measured check with a threshold"* ]]
}

@test "a node that works is not measured, unless --force" {
  run -0 with_bench "$railhead" gate --root "$root"
  calibrate 2 --runs 3
  [[ $stderr == *"work is admitted on this node"*"--force"* ]]
  calibrate 0 --runs 3 --force
}

@test "--json of nodes goes into --merge" {
  calibrate 0 --runs 3 --json
  jq -e '.checks.memory.min.members["gate/memory/node1"] == [20e9, 20e9, 20e9]' <<<"$output"
  jq '.node = "a" | .boot_id = "a1"' <<<"$output" >"$BATS_TEST_TMPDIR/a.json"
  jq '.node = "b" | .boot_id = "b1" | .checks.memory.min.members[] = [22e9, 22e9]' <<<"$output" >"$BATS_TEST_TMPDIR/b.json"
  merge 0 a b
  [[ $output == *"on a and 1 other."*"# 2 nodes, 5 runs; weakest of 2: gate/memory/node"[01]", 21.0 GB/s;"* ]]
  [[ $stderr == *"memory.min finds a loss of "*", not of 5.0 %: the figures of good nodes spread by "*", and more nodes do not narrow the spread" ]]
  # several boots of one node
  jq '.node = "a" | .measured += 600' "$BATS_TEST_TMPDIR/b.json" >"$BATS_TEST_TMPDIR/a2.json"
  merge 0 a a2
  [[ $output == *"on a."*"of this node"*"# 5 runs;"* ]]
}

@test "thresholds keep what they were measured on, and the gate warns on another kernel or firmware" {
  put "$root/proc/sys/kernel/osrelease" 6.1.0-50-amd64
  fw=$root/sys/class/infiniband/mlx5_0/fw_ver
  mkdir -p "$root/sys/devices/pci0000:00/$PF0/infiniband/mlx5_0"
  put "$fw" 28.39.1002
  calibrate 0 --runs 3
  [[ $output == *$'gate:\n  calibrated_on:\n    - "kernel: 6.1.0-50-amd64"\n'*'"firmware of nics: 28.39.1002"'*$'\n  checks:\n'* ]]
  mkdir -p "$root/etc/railhead/profiles/sku.d"
  cat >"$root/etc/railhead/profiles/sku.d/50-calibrated.yaml" <<<"$output"
  run -0 with_bench "$railhead" gate --root "$root"
  [[ $output != *calibrated_on* ]]
  put "$root/proc/sys/kernel/osrelease" 6.1.0-51-amd64
  rm "$fw"
  run -0 with_bench "$railhead" gate --root "$root" --again
  [[ $output == *"gate/calibrated_on: this node has kernel: 6.1.0-51-amd64, calibrated on 6.1.0-50-amd64, unknown, calibrated on firmware of nics: 28.39.1002: the thresholds may not fit"* ]]
  jq -e '.verdict == "ready" and any(.faults[]; .code == "RH-GATE-CALIBRATION" and .on_fail == "warn")' "$root/run/railhead/status.json"
}

@test "figures of two kernels do not go together" {
  node a 20e9 20e9 20e9
  node b 20e9 20e9 20e9
  jq '.basis = ["kernel: 6.1"]' "$BATS_TEST_TMPDIR/b.json" >"$BATS_TEST_TMPDIR/c.json"
  jq '.node = "d" | .basis = ["kernel: 6.8"]' "$BATS_TEST_TMPDIR/b.json" >"$BATS_TEST_TMPDIR/d.json"
  merge 3 c d
  [[ $stderr == *"b was measured with kernel: 6.1, and d with kernel: 6.8: merge figures of the same kernel, BIOS and firmware only" ]]
  merge 0 a c
  [[ $output == *'- "kernel: 6.1"'* ]]
}

@test "what the gates of a fleet measured makes thresholds, from status --json" {
  for n in 1 2 3 4 5; do
    bench_value $((20000 + n * 10))e6 '"page": "1G"'
    boot_again
    run -0 with_bench "$railhead" gate --again --root "$root"
    "$railhead" status --json --root "$root" >"$BATS_TEST_TMPDIR/n$n.json"
  done
  merge 0 n{1..5}
  [[ $output == *"on n1 and 4 others."*"memory: # on pages of 1G"*"# 5 nodes, 5 runs; weakest of 2: gate/memory/node"* ]]
  jq 'del(.measurements[].readings)' "$BATS_TEST_TMPDIR/n1.json" >"$BATS_TEST_TMPDIR/bad.json"
  merge 3 bad
  [[ $stderr == *"bad.json: "* ]]
  rm -f "$BATS_TEST_TMPDIR/bad.json"
}

# A check of the profile, whose program says what its requests took as well.
storage() { # KEYS
  sed -i -E "s#^    (memory|data):.*#    data: {run: storage_read, path: /data, min: 1MB/s$1}#" "$root/etc/railhead/profiles/sku.yaml"
  bench_value 5e8 '"p50": 1e6, "p99": 2e6, "max": 3e6'
}

@test "figures that no threshold judges are told, and calibrate names them and makes no threshold of them" {
  storage ", p99: 900ms"
  for n in 1 2 3; do
    boot_again
    run -0 with_bench "$railhead" gate --again --root "$root"
    "$railhead" status --json --root "$root" >"$BATS_TEST_TMPDIR/n$n.json"
  done
  jq -e '.measurements[0] | (.limits | keys) == ["min", "p99"] and .limits.p99 == 9e8 and .readings.p50 == 1e6' "$BATS_TEST_TMPDIR/n1.json"
  merge 0 n{1..3}
  [[ $output == *$'\n      min: '*MB/s$'\n'* && $output == *$'\n      p99: '*ns ]]
  [[ $output != *p50:* && $output != *max:* && $output == *"# 2 figures;"* ]]
  left='railhead: data.p50, data.max: measured without a threshold: the profile has none for them; add a threshold to gate.checks for each figure that the gate must judge'
  [ "$stderr" = "$left" ]
  calibrate 0 --runs 3 --force
  [[ $output != *p50:* && $output != *max:* && $output == *$'\n      p99: '*ns && $stderr == "$left" ]]
  calibrate 0 --runs 3 --force --json
  [ -z "$stderr" ]
  cat >"$BATS_TEST_TMPDIR/n4.json" <<<"$output"
  merge 0 n4
  [[ $output != *p50:* && $stderr == "$left" ]]
  storage ", p50: 900ms, p99: 900ms, max: 900ms"
  calibrate 0 --runs 3 --force
  [[ -z $stderr && $output == *$'\n      p50: '*$'\n      max: '* ]]
}

@test "a status or a calibration that is named twice, or copied, counts once, and is named" {
  for n in 1 2 3; do
    boot_again
    bench_value $((20000 + n * 10))e6
    run -0 with_bench "$railhead" gate --again --root "$root"
    "$railhead" status --json --root "$root" >"$BATS_TEST_TMPDIR/n$n.json"
  done
  cp "$BATS_TEST_TMPDIR/n2.json" "$BATS_TEST_TMPDIR/copy.json"
  merge 0 n{1..3}
  once=$output
  merge 0 n1 n2 n2 n3 copy n1
  [ "$output" = "$once" ]
  [ "$stderr" = "railhead: $BATS_TEST_TMPDIR/n2.json is left out: $BATS_TEST_TMPDIR/n2.json has the same figures
railhead: $BATS_TEST_TMPDIR/copy.json is left out: $BATS_TEST_TMPDIR/n2.json has the same figures
railhead: $BATS_TEST_TMPDIR/n1.json is left out: $BATS_TEST_TMPDIR/n1.json has the same figures" ]
  calibrate 0 --runs 3 --json --force
  jq -e '(.measured | type) == "number" and .boot_id == $id' --arg id "$(cat "$root/proc/sys/kernel/random/boot_id")" <<<"$output"
  cat >"$BATS_TEST_TMPDIR/c.json" <<<"$output"
  cp "$BATS_TEST_TMPDIR/c.json" "$BATS_TEST_TMPDIR/d.json"
  merge 0 c d
  [[ $output == *"# 3 runs;"* && $stderr == *"/d.json is left out: "*"/c.json has the same figures" ]]
  # of a railhead that did not say when: what is the same throughout
  node e 20e9 20.1e9 20e9
  cp "$BATS_TEST_TMPDIR/e.json" "$BATS_TEST_TMPDIR/f.json"
  merge 0 e f
  [[ $output == *"# 3 runs;"* && $stderr == *"/f.json is left out: "*"/e.json has the same figures" ]]
}

@test "figures that a later boot took over count once, and a later gate of the same boot counts" {
  sed -i 's/^gate:/&\n  reuse: 24h/' "$root/etc/railhead/profiles/sku.yaml"
  mkdir -p "$BATS_TEST_TMPDIR"/boot{1,2,3}
  boot_again
  run -0 with_bench "$railhead" gate --root "$root"
  "$railhead" status --json --root "$root" >"$BATS_TEST_TMPDIR/boot1/n1.json"
  "$railhead" gate --keep --root "$root"
  rm -rf "$root/run/railhead"
  boot_again
  bench_value 21e9
  run -0 with_bench "$railhead" gate --root "$root"
  "$railhead" status --json --root "$root" >"$BATS_TEST_TMPDIR/boot2/n1.json"
  jq -e '.numbers.boots_ago == 1' "$BATS_TEST_TMPDIR/boot2/n1.json"
  merge 0 boot2/n1 # a node's only status: its figures count
  [[ $stderr != *"left out"* && $output == *"# 1 run;"* ]]
  merge 0 boot1/n1 boot2/n1
  [[ $stderr == "railhead: $BATS_TEST_TMPDIR/boot2/n1.json is left out: $BATS_TEST_TMPDIR/boot1/n1.json has the same figures"* ]]
  [[ $output == *"# 1 run;"* ]]
  # the same boot measures once more, a second later at least
  run -0 with_bench "$railhead" gate --again --root "$root"
  "$railhead" status --json --root "$root" |
    jq '.numbers.measured += 1' >"$BATS_TEST_TMPDIR/boot3/n1.json"
  merge 0 boot2/n1 boot3/n1
  [[ $stderr != *"left out"* && $output == *"# 2 runs;"* ]]
}

@test "a node that is worse or better than its like, or slow now and then, is named and left out" {
  for n in 1 2 3 4 5 6; do node n$n 20e9 20.02e9 19.99e9; done
  node n7 15e9 15e9 15e9
  node n8 24e9 24e9 24e9
  node n9 20e9 20e9 15e9
  merge 0 n{1..9}
  [ "$stderr" = "railhead: n7 is left out of memory.min: gate/memory/node0 is 25.0 % worse than on the other nodes
railhead: n8 is left out of memory.min: gate/memory/node0 is 16.7 % better than on the other nodes, and unlike the others
railhead: n9 is left out of memory.min: gate/memory/node0 is 25.0 % worse in one run than in others" ]
  [[ $output == *"# left out: n7: gate"*"# left out: n9: "*"# 6 nodes, 18 runs;"*$'\n      min: 19808MB/s' ]]
}

# A fleet of 20, one of which lacks 1 of 12 memory channels.
@test "a lost memory channel is left out of a fleet that spreads by half a percent" {
  for ((k = 0; k < 19; k++)); do node n$k $((397 + k % 7))e9 $((397 + k % 5))e9; done
  node bad 367e9 367e9
  merge 0 n{0..18} bad
  [[ $stderr == "railhead: bad is left out of memory.min: gate/memory/node0 is 8."*" % worse than on the other nodes" ]]
  [[ $output == *$'\n      min: 392602'MB/s ]]
}

@test "members that differ on all nodes have thresholds of their own, and the gate judges by them" {
  for ((k = 0; k < 19; k++)); do
    node n$k $((397 + k % 7))e8 $((397 + k % 5))e8
    jq --argjson b $((348 + k % 5)) '.checks.memory.min.members["gate/memory/node1"] = [$b * 1e8, $b * 1e8]' \
      "$BATS_TEST_TMPDIR/n$k.json" >"$BATS_TEST_TMPDIR/m$k.json"
  done
  merge 0 m{0..18}
  [[ -z $stderr && $output == *$'\n      min: 34'[0-9][0-9][0-9]MB/s$'\n      members:\n        "node0": {min: 39'[0-9][0-9][0-9]MB/s} ]]
  mkdir -p "$root/etc/railhead/profiles/sku.d"
  cat >"$root/etc/railhead/profiles/sku.d/50-calibrated.yaml" <<<"$output"
  bench_value 35e9
  run -7 with_bench "$railhead" gate --root "$root"
  [[ $output == *"gate/memory/node0"*"required at least 39"* && $output != *"node1: "*"required"* ]]
  bench_value 39.5e9
  run -0 with_bench "$railhead" gate --root "$root" --again
}

@test "a member that the profile names and the node has not fails; the check's other keys are not taken" {
  sed -i 's/min: 1GB.s/&, members: {node7: {min: 2GB\/s}}/' "$root/etc/railhead/profiles/sku.yaml"
  run -7 with_bench "$railhead" gate --root "$root"
  [[ $output == *"gate/memory/node7: memory_bandwidth of node7: members: names node7, and on this node the check has node0, node1; restore the missing part, or leave the member out of the profile"* ]]
  sed -i 's/min: 1GB.s/optional: true, &/' "$root/etc/railhead/profiles/sku.yaml"
  run -0 with_bench "$railhead" gate --root "$root"
  jq -e '.skipped == ["gate/memory/node7"]' "$root/run/railhead/status.json"
  run -0 "$railhead" plan --root "$root"
  [[ $output == *"members: names node7, and on this node the check has node0, node1"* ]]
  sed -i 's/node7: {min/node1: {max: 3us, min/' "$root/etc/railhead/profiles/sku.yaml"
  run -3 "$railhead" check --root "$root" "$root/etc/railhead/profiles/sku.yaml"
  [[ $output$stderr == *"gate.checks.memory.members.node1.max: the check itself has no max"* ]]
}

@test "a node without the others' members, and a fleet that is none" {
  for n in 1 2 3 4; do node n$n 20e9 20e9; done
  jq '.node = "n5" | .checks.memory.min.members["gate/memory/node7"] = [1]' "$BATS_TEST_TMPDIR/n1.json" \
    >"$BATS_TEST_TMPDIR/n5.json"
  merge 0 n{1..5}
  [ "$stderr" = "railhead: n5 is left out of memory.min: its members differ from those of most nodes" ]
  for n in 3 4 5 6; do node n$n 20e9 10e9 20e9; done
  merge 3 n{1..6}
  [[ -z $output && $stderr == *"memory.min: 4 of 6 nodes would be left out, so these files do not describe a fleet of good nodes" ]]
}

@test "a document of another version is refused with both versions and the remedy" {
  node a 20e9
  node b 20e9
  jq '.calibration = 1 | .checks.memory.min |= (del(.unit) + {quantity: "rate"})' \
    "$BATS_TEST_TMPDIR/a.json" >"$BATS_TEST_TMPDIR/old.json"
  merge 3 b old
  [[ $stderr == *"/old.json: written by another version of railhead (calibration 1; this one reads 2): run \`railhead calibrate --json\` of this version there" ]]
  run -0 with_bench "$railhead" gate --root "$root"
  "$railhead" status --json --root "$root" | jq 'del(.measurements[].limits) | .schema = 2' >"$BATS_TEST_TMPDIR/old.json"
  merge 3 b old
  [[ $stderr == *"/old.json: written by another version of railhead (schema 2; this one reads 3): run \`railhead gate\` of this version there" ]]
}

@test "what is no output of calibrate, or of another profile, or lacks a check, is refused by name" {
  node a 20e9
  node b 20e9
  for filter in '.calibration = "2"' 'del(.checks)' '.node = "x\ny: z"' '.checks.memory.min.unit = "size"' \
    '.checks.memory.min.members = {}' '.checks.memory.min.members[] = []' '.checks.memory.min.members[] = [-1]' \
    '.checks.memory.min.members[] = [1e300]' \
    '.checks.memory.min.members[] = ["1"]' '.checks["a: {b}"] = .checks.memory' '[.]' \
    '.told = {"a\nb": ["p50"]}' '.told.memory = ["x\ny"]' '.told.memory = [1]'; do
    jq "$filter" "$BATS_TEST_TMPDIR/a.json" >"$BATS_TEST_TMPDIR/bad.json"
    echo "$filter"
    merge 3 b bad
    [[ -z $output && $stderr == *"bad.json: "* ]]
  done
  echo '{"calibration": 2,' >"$BATS_TEST_TMPDIR/bad.json"
  merge 3 bad b
  merge 3 nosuchfile
  jq '.profile.digest = "d2"' "$BATS_TEST_TMPDIR/a.json" >"$BATS_TEST_TMPDIR/bad.json"
  merge 3 b bad
  [[ $stderr == *"merge figures of one profile only"* ]]
  jq '.checks.memory = {max: .checks.memory.min}' "$BATS_TEST_TMPDIR/a.json" >"$BATS_TEST_TMPDIR/bad.json"
  merge 3 b bad
  [[ $stderr == *"a has no such numbers for memory.min as b"* ]]
}

@test "a run that strays is left out of a node's own, and told of" {
  node a 20e9 20.02e9 19.98e9 20e9 10e9
  merge 0 a
  [[ $stderr == *"memory.min: 1 of 5 runs of gate/memory/node0 were slow now and then, and are left out"* ]]
  [[ $output == *"# 4 runs;"* ]]
}

budgets() { # of all runs so far, in order
  sed -E 's/.*--budget ([0-9]+).*/\1/' "$bench_log" | paste -sd' '
}

@test "what counts is a long look, within the timeout: of a gate that is slow, and of calibrate at once" {
  bench_value 0.5e9
  calibrate 0 --runs 3
  [ "$(budgets)" = "4000 4000 4000 4000 4000 4000" ]
  rm "$bench_log"
  run -7 with_bench "$railhead" gate --root "$root" --again
  [ "$(budgets)" = "600 600 4000 4000" ]
  rm "$bench_log"
  sed -i 's/per: node,/& timeout: 1s,/' "$root/etc/railhead/profiles/sku.yaml"
  run -7 on_slow_clock with_bench "$railhead" gate --root "$root" --again
  [ "$(budgets)" = "400 400 400 400" ]
}
