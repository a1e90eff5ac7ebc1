#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Device sets that have no member, or another number of members than the profile expects.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root" # two NICs, 15b3:1021
}

sku() { # writes the profile from standard input, with the fields that each has
  { printf 'schema: 1\nname: sku\nmatch: {arch: x86_64}\n'; cat; } >"$BATS_TEST_TMPDIR/sku.yaml"
}

on() { # VERB... on the machine with the profile
  run "$railhead" "$@" --root "$root" --profile "$BATS_TEST_TMPDIR/sku.yaml"
}

mistyped() { # the device id is wrong by one digit, in all that speaks of the set
  sku <<'Y'
devices: {rails: {pci: "15b3:1023"}, gpus: {pci: "10de:2331"}}
link: {rails: {mtu: 9000}}
sriov: {rails: {vfs: 2}}
pairs: {nics: rails, gpus: gpus, within: pcie_switch}
gate:
  checks:
    links: {run: carrier, on: rails}
    groups: {run: iommu_groups, on: vfs of rails}
    rdma: {run: rdma_loopback, on: rails, min: 92% of line}
    gpu: {run: gpu_driver, on: gpus}
Y
}

NEAR="rails: no function matches pci 15b3:1023; nearest: 15b3:1021 (2)"

@test "plan and verify: an empty set that a section names fails, and is named first" {
  mistyped
  for verb in plan verify; do
    on $verb
    [ "$status" -eq 5 ]
    [[ ${lines[0]} == "  differs     devices/rails/expect "*" '0' -> '>=1': $NEAR" ]]
    [[ ${lines[1]} == "  differs     devices/gpus/expect "*": gpus: no function matches pci 10de:2331; see \`railhead survey\`"* ]]
  done
}

@test "plan of one stage does not call it converged when a set that it acts on is empty" {
  mistyped
  on plan --stage devices
  [ "$status" -eq 5 ]
  [[ ${lines[0]} == *"$NEAR" ]]
  on plan --stage devices --all
  [[ $output == *"differs     devices/rails/expect "*"$NEAR"* ]]
  on plan --stage devices --json; echo "$output"
  [ "$(jq -c '[.converged, (.changes[].id)]' <<<"$output")" = '[false,"devices/rails/expect","devices/gpus/expect"]' ]
}

@test "apply by hand names the empty set, and gate and status say blocked by it first" {
  mistyped
  on apply; echo "$output"
  [[ $output == *"not as expected: devices/rails/expect: "*"$NEAR"* ]]
  run -7 "$railhead" status --root "$root" # before the gate, too
  [[ $output == *"and:     devices/rails/expect: "*"$NEAR"* ]]
  on gate
  [ "$status" -eq 7 ]
  [[ ${lines[0]} == "verdict: blocked (work is not admitted): devices/rails/expect: "*"$NEAR" ]]
  [ ! -e "$root/run/railhead/ready" ]
  run -7 "$railhead" status --root "$root"
  [[ ${lines[0]} == "verdict: blocked (work is not admitted): devices/rails/expect: "*"$NEAR" ]]
}

@test "check --root warns of it and blames nothing else" {
  mistyped
  sed -i 's/1023"/&, expect: ">=1"/; s/2331"/&, expect: ">=1"/' "$BATS_TEST_TMPDIR/sku.yaml"
  run -0 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/sku.yaml"
  [[ ${lines[0]} == *"sku.yaml:4:18: warning: devices.rails: $NEAR" ]]
  [[ ${lines[1]} == *"sku.yaml:4:59: warning: devices.gpus: "* ]]
  [ "${#lines[@]}" -eq 3 ]
}

@test "each way to name a set makes it one that must have a member" {
  local way
  for way in 'sriov: {s: {vfs: 1}}' 'link: {s: {mtu: 9000}}' 'qos: {s: {trust: dscp}}' \
    'pcie: {s: {max_read_request: 4096}}' 'irq: {s: {affinity: local_node}}' \
    'require: {firmware: {s: ">=1"}}' 'pairs: {nics: s, gpus: t, within: numa_node}' \
    'pairs: {nics: t, gpus: s, within: numa_node}' 'gate: {checks: {a: {run: carrier, on: s}}}' \
    'gate: {checks: {a: {run: gpudirect, on: t, with: s}}}' \
    'gate: {checks: {a: {run: gpudirect, on: s, with: t}}}'; do
    sku <<<"devices: {s: {pci: \"15b3:1023\"}, t: {pci: \"15b3:1021\"}}"$'\n'"$way"
    on plan
    echo "$way: $output"
    [ "$status" -eq 5 ]
    [[ ${lines[0]} == "  differs     devices/s/expect "* ]]
  done
  sku <<<'devices: {s: {pci: "15b3:1023"}, t: {in: s, driver: mlx5_core}}' # nothing speaks of them
  on plan
  [ "$status" -eq 0 ]
}

@test "a protected set that is empty protects nothing, and fails" {
  sku <<<'devices: {mgmt: {address: "0000:ff:00.0", protect: true}, rails: {pci: "15b3:1021"}}'
  on gate
  [ "$status" -eq 7 ]
  [[ $output == *"devices/mgmt/expect: found '0', expected '>=1'; mgmt: no function matches address 0000:ff:00.0; see \`railhead survey\`"* ]]
}

@test "expect: N is exact, >=N at least, 0 absent" {
  local expect status_of
  while read -r expect status_of; do
    sku <<<"devices: {s: {pci: \"15b3:1021\", expect: $expect}}"
    on plan
    echo "$expect: $output"
    [ "$status" -eq "$status_of" ]
  done <<'T'
2 0
1 5
3 5
0 5
">=1" 0
">=2" 0
">=3" 5
">=0" 0
T
  sku <<<'devices: {s: {pci: "15b3:1021", expect: 1}}'
  on plan
  [[ ${lines[0]} == *"s: 2 functions, 1 expected; "*"more narrowly"* ]]
  sku <<<'devices: {s: {pci: "15b3:1021", expect: ">=3"}}'
  on plan
  [[ ${lines[0]} == *"'2' -> '>=3': s: 2 of 3 functions; "*"RMA" ]]
  sku <<<'devices: {s: {pci: "15b3:1023", expect: 0}}'
  on verify --all
  [ "$status" -eq 0 ]
  [[ $output == *"same        devices/s/expect "*"'0'"* ]]
  sku <<<'devices: {s: {pci: "15b3:1021", expect: 0}}'
  on plan
  [[ ${lines[0]} == *"s: 2 functions, none expected: "*"another SKU"* ]]
}

@test "a set that may be absent is listed as unsupported when it is, and nothing is blocked" {
  sku <<'Y'
devices: {opt: {pci: "15b3:1023", expect: ">=0"}, rails: {pci: "15b3:1021"}}
link: {opt: {mtu: 9000}}
gate: {checks: {links: {run: carrier, on: opt}, rail: {run: carrier, on: rails}}}
Y
  on plan
  [ "$status" -eq 0 ]
  [[ $output == *"unsupported devices/opt/expect "*": no member"* ]]
  on gate
  [ "$status" -eq 0 ]
  [[ $output == *"unsupported=1"* ]]
}

@test "a set within an absent one that may be absent is absent, too" {
  local wider='pci: "15b3:1023", expect: ">=0"'
  sku <<<"devices: {opt: {$wider}, one: {in: opt, port: 1}, two: {in: one, ports: 1}}
link: {one: {mtu: 9000}, two: {mtu: 9000}}"
  on plan
  [ "$status" -eq 0 ]
  [[ $output == *"unsupported devices/one/expect "*"no member: the wider set opt has none"*"unsupported devices/two/expect "* ]]
  [[ ${lines[-1]} == "profile sku: converged, 1 match (--all lists them), 3 unsupported" ]]
  on gate
  [ "$status" -eq 0 ]
  # where the wider one is there, or must be, a narrower one must have a member
  for wider in 'pci: "15b3:1021", expect: ">=0"' 'pci: "15b3:1023"'; do
    sku <<<"devices: {opt: {$wider}, one: {in: opt, port: 3}}
link: {one: {mtu: 9000}}"
    on plan
    [ "$status" -eq 5 ]
    [[ ${lines[0]} == *" devices/one/expect "*" '0' -> '>=1': one: no function"* ]]
  done
}

@test "a check about nothing fails, where its sets may not be the reason" {
  local nics='nics: {pci: "15b3:1021"}' none="this check has no subject on the node"
  rm -r "$root/sys/devices/system/node/node1"
  put "$root/sys/devices/system/node/online" 0
  put "$root/sys/devices/system/node/has_cpu" 0
  sku <<Y
devices: {$nics, sub: {in: nics, driver: mlx5_core}, opt: {pci: "10de:2331", expect: ">=0"}}
sriov: {nics: {vfs: 2}, sub: {vfs: 0}}
pairs: {nics: nics, gpus: opt, within: numa_node}
gate:
  checks:
    groups: {run: iommu_groups, on: vfs of nics}
    loop: {run: rdma_loopback, on: vfs of nics, min: 1GB/s}
    cross: {run: memory_bandwidth, per: node_pair, min: 1GB/s, on_fail: warn}
    gpus: {run: gpu_driver, on: opt}
    peers: {run: gpu_peer, on: opt, min: 1GB/s}
Y
  on plan
  echo "$output"
  [ "$status" -eq 5 ]
  [[ $output == *"differs     gate/groups/none "*"$none"*"to measure  gate/loop/none "*"$none"*"to measure  gate/cross/none "*"$none"* ]]
  [[ $output != *gate/gpus* && $output != *gate/peers* && $output != *pairs/* ]]
  on gate
  echo "$output"
  [ "$status" -eq 7 ]
  [[ $output == *"verdict: blocked (work is not admitted): gate/groups/none: "*"$none"* ]]
  [[ $output == *"and:     gate/loop/none: rdma_loopback: $none"* ]]
}

@test "the nearest functions: by id, by what else they lack, by who protects them" {
  local set near
  while IFS='|' read -r set near; do
    sku <<<"devices: {s: $set, mgmt: {address: \"$PF1\", protect: true}, t: {pci: \"15b3:1021\"}}
require: {firmware: {s: '>=1'}}"
    on plan
    echo "$set: $output"
    [[ ${lines[0]} == *": s: no function matches $near" ]]
  done <<T
{pci: "15b4:1021"}|pci 15b4:1021; nearest: 15b3:1021 (2)
{pci: "8086:1592"}|pci 8086:1592; see \`railhead survey\` for what there is
{pci: "15b3:1021", ports: 2}|pci 15b3:1021, ports 2; nearest: ports: the card has 1 (2)
{in: t, address: "$PF1"}|address $PF1, pci 15b3:1021; nearest: protected by mgmt (1)
{pci: "15b3:1021", driver: mlx4_core, link: ethernet}|pci 15b3:1021, driver mlx4_core, link ethernet; nearest: driver: mlx5_core (2)
{address: "0000:42:00.0"}|address 0000:42:00.0; nearest: address: 0000:41:00.0 (1)
{driver: ice}|driver ice; see \`railhead survey\` for what there is
T
}

@test "match --explain says how many are expected, and whether they are there" {
  mistyped
  cp "$BATS_TEST_TMPDIR/sku.yaml" "$BATS_TEST_TMPDIR/more.yaml"
  profile "$root" sku <"$BATS_TEST_TMPDIR/sku.yaml"
  run -0 "$railhead" match --explain --root "$root"
  [[ $output == *"rails"*"members"*">=1 expected: no"* ]]
  run -0 "$railhead" match --explain --root "$root" --json
  [ "$(jq -c '.devices.sku[] | [.name, .expect, .at_least]' <<<"$output" | head -1)" = '["rails",null,1]' ]
}

# --- a function that can't be read ----------------------------------------------------

unreadable() { # ADDRESS FILE: reading it fails with EISDIR, which does not mean that it is absent
  rm -f "$root/sys/bus/pci/devices/$1/$2"
  mkdir "$root/sys/bus/pci/devices/$1/$2"
}

two_nics() {
  sku <<'Y'
devices: {rails: {pci: "15b3:1021"}}
gate: {checks: {links: {run: pcie_link, on: rails, width: 16}}}
Y
}

@test "a function that can't be read blocks a set that may contain it, also without expect" {
  local file
  two_nics
  on gate
  [ "$status" -eq 0 ]
  for file in vendor device subsystem_vendor class numa_node sriov_totalvfs; do
    rm -rf "$root"
    fake_node "$root"
    unreadable "$PF0" $file
    on gate
    [ "$status" -eq 7 ]
    [[ $output == *"devices/rails/expect: "*"rails: $PF0 may be a member, but railhead can't read it: $file: Is a directory"* ]]
    [ "$(jq -r '.faults[0].code' "$root/run/railhead/status.json")" = RH-GATE-CANNOT-LOOK ]
    [ ! -e "$root/run/railhead/ready" ]
  done
}

@test "a function that can't be read and that no set can contain is a warning" {
  sku <<Y
devices: {rails: {pci: "15b3:1021", address: "$PF1"}}
gate: {checks: {links: {run: pcie_link, on: rails, width: 16}}}
Y
  unreadable "$PF0" vendor
  on gate
  [ "$status" -eq 0 ]
  [[ $output == *"devices/$PF0/read: "*"vendor: Is a directory"* ]]
  # its ids, once read, are enough
  two_nics
  rm -rf "$root"
  fake_node "$root"
  put "$root/sys/bus/pci/devices/$PF0/modalias" pci:v00008086d00001572sv00008086sd00000001bc02sc00i00
  unreadable "$PF0" numa_node
  on gate
  [ "$status" -eq 0 ]
  [[ $output == *"devices/$PF0/read: "*"numa_node: Is a directory"* ]]
}

@test "a function that was pulled out while it was read is gone, not unreadable" {
  two_nics
  ln -s ../../../devices/pci0000:00/0000:42:00.0 "$root/sys/bus/pci/devices/0000:42:00.0"
  on gate
  [ "$status" -eq 0 ]
  [[ $output != *0000:42:00.0* ]]
}

@test "a directory that can't be read is not an empty one: each that the verdict rests on, by name" {
  local n path
  two_nics
  for ((n = 1; ; n++)); do
    rm -rf "$root"
    fake_node "$root"
    profile "$root" sku <"$BATS_TEST_TMPDIR/sku.yaml"
    mkdir -p "$root/etc/railhead/profiles/sku.d"
    run strace -f -y -o "$BATS_TEST_TMPDIR/trace" -e trace=getdents64 -e inject=getdents64:error=EIO:when=$n \
      "$railhead" gate --root "$root"
    path=$(sed -n 's/.*<\([^>]*\)>.*(INJECTED)$/\1/p' "$BATS_TEST_TMPDIR/trace")
    [ -n "$path" ] || break
    # For the record alone, the verdict stands: pages, and carriers that a later trial is compared with.
    [ "${path##*/}" != hugepages ] || continue
    [ "${path##*/}" != net ] || [ "$(grep -c "<$path>" "$BATS_TEST_TMPDIR/trace")" -le 2 ] || continue
    echo "$path: $output"
    # Only for files that no boot reads, once all have been read that one does: the verdict says so.
    if [[ $path == */etc/railhead* && $output == *"ready"*"$path: not read: Input/output error"* ]]; then continue; fi
    [ "$status" -ne 0 ]
    [ ! -e "$root/run/railhead/ready" ]
    [[ $output == *"${path##*/}: Input/output error"* ]]
  done
  [ $n -gt 20 ] # it has gone through all
}
