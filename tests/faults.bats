#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Fault codes, as programs see them. That no reason lacks one is checked in the records of all bats
# files (tests/lib/uncoded), of tests/lib/verdicts, and of the VM.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  record=$root/run/railhead/status.json
  mkdir -p "$root/var/lib/prometheus/node-exporter" "$root/etc/kubernetes/node-feature-discovery/features.d"
  metrics=$root/var/lib/prometheus/node-exporter/railhead.prom
  labels=$root/etc/kubernetes/node-feature-discovery/features.d/railhead
}

checks() { # LINES of gate.checks
  gated "  checks:"$'\n'"$1" 'sysctl: {vm.swappiness: 10}'
}

codes() {
  jq -r '.faults[].code' "$record" | paste -sd' '
}

@test "a blocked node has a code and an action in status, its record, metrics and labels" {
  checks '    width: {run: pcie_link, on: nics, width: 16}'
  put "$root/sys/devices/pci0000:00/$PF0/current_link_width" 8
  put "$root/sys/devices/pci0000:00/$PF1/current_link_width" 4
  run -0 "$railhead" apply --root "$root"
  run -7 "$railhead" gate --root "$root"
  [[ $output == *$'\nfaults:  RH-NIC-LINK-WIDTH (reseat, 2 times)\n'* ]]
  [ "$(codes)" = "RH-NIC-LINK-WIDTH RH-NIC-LINK-WIDTH" ]
  jq -e '[.faults[].reason] == .reasons and all(.faults[]; .action == "reseat" and (.remedy | length > 0))' "$record"
  jq -e '[.stages.gate.changes[] | select(.state == "differs").fault] == ["RH-NIC-LINK-WIDTH", "RH-NIC-LINK-WIDTH"]' "$record"
  grep -qx 'railhead_fault{code="RH-NIC-LINK-WIDTH",action="reseat",on_fail="block"} 2' "$metrics"
  grep -qx 'railhead.io/fault=RH-NIC-LINK-WIDTH' "$labels"
  grep -qx 'railhead.io/action=reseat' "$labels"

  put "$root/sys/devices/pci0000:00/$PF0/current_link_width" 16
  put "$root/sys/devices/pci0000:00/$PF1/current_link_width" 16
  run -0 "$railhead" gate --root "$root"
  [[ $output != *faults:* ]]
  jq -e '.faults == []' "$record"
  ! grep -q fault "$metrics" "$labels"
}

@test "a warning has a code, stands behind what keeps work out, and is no label" {
  checks '    width: {run: pcie_link, on: nics, width: 16, on_fail: warn}
    links: {run: carrier, on: nics, on_fail: degrade}'
  put "$root/sys/devices/pci0000:00/$PF0/current_link_width" 8
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
  [ "$(codes)" = RH-NIC-LINK-WIDTH ]
  grep -q 'railhead_fault{code="RH-NIC-LINK-WIDTH",action="reseat",on_fail="warn"} 1' "$metrics"
  ! grep -q fault "$labels"

  put "$root/sys/devices/pci0000:00/$PF1/net/eth1/carrier" 0
  sed -i 's/on_fail: degrade/timeout: 1ms/' "$root"/etc/railhead/profiles/sku.yaml
  run -7 "$railhead" gate --root "$root"
  [ "$(codes)" = "RH-GATE-NOT-YET RH-NIC-LINK-WIDTH" ]
  jq -e '[.faults[].on_fail] == ["block", "warn"]' "$record"
  grep -qx 'railhead.io/action=retry' "$labels"

  # no more waiting: now the part is at fault
  jq '.waiting.until_usec = 1' "$record" >"$record.new"
  mv "$record.new" "$record"
  run -7 "$railhead" gate --retry --root "$root"
  [ "$(codes)" = "RH-NIC-CARRIER RH-GATE-WAIT-OVER RH-NIC-LINK-WIDTH" ]
  grep -qx 'railhead.io/fault=RH-NIC-CARRIER' "$labels"
}

@test "measurements: what is slow, and what says nothing of the part, have codes of their own" {
  checks '    memory: {run: memory_bandwidth, per: node, min: 1GB/s}
    site: {run: command, command: [/usr/local/sbin/no-such-test], min: 1GB/s}'
  run -0 "$railhead" apply --root "$root"
  bench_value 5e8
  run -7 with_bench "$railhead" gate --root "$root"
  [ "$(codes)" = "RH-MEMORY-BANDWIDTH RH-MEMORY-BANDWIDTH RH-GATE-CANNOT-MEASURE" ]
  jq -e '[.measurements[].fault] == ["RH-MEMORY-BANDWIDTH", "RH-MEMORY-BANDWIDTH", "RH-GATE-CANNOT-MEASURE"]' "$record"
}

@test "a value that cannot be set has its section's code; one that apply will set has none" {
  checks '    links: {run: carrier, on: nics}'
  sed -i 's/vm.swappiness: 10/vm.no_such_value: 10/' "$root"/etc/railhead/profiles/sku.yaml
  run -6 "$railhead" apply --root "$root"
  [ "$(codes)" = RH-KERNEL-SYSCTL-FAILED ]
  jq -e '[.stages.devices.changes[] | select(.state == "failed").fault] == ["RH-KERNEL-SYSCTL-FAILED"]' "$record"
  run -5 --separate-stderr "$railhead" verify --root "$root" --json
  jq -e '[.changes[] | select(.state == "failed").fault] == ["RH-KERNEL-SYSCTL-FAILED"]' <<<"$output"
  sed -i 's/vm.no_such_value/vm.swappiness/' "$root"/etc/railhead/profiles/sku.yaml
  run -5 "$railhead" plan --root "$root" --json
  jq -e 'any(.changes[]; .state == "differs") and all(.changes[]; has("fault") | not)' <<<"$output"
}

@test "no profile, two, one with errors, railhead.conf with errors, railhead=off: a code each" {
  local profiles=$root/etc/railhead/profiles
  run -4 "$railhead" apply --root "$root"
  [ "$(codes)" = RH-PROFILE-NONE ]
  checks '    links: {run: carrier, on: nics}'
  sed 's/^name: sku/name: other/' "$profiles/sku.yaml" >"$profiles/other.yaml"
  run -4 "$railhead" apply --root "$root"
  [ "$(codes)" = RH-PROFILE-TWO ]
  rm "$profiles/other.yaml"
  put "$root/proc/cmdline" "root=/dev/vda2 railhead.profile=absent"
  run -3 "$railhead" apply --root "$root"
  [ "$(codes)" = RH-PROFILE-UNKNOWN ]
  put "$root/proc/cmdline" "root=/dev/vda2"
  echo 'sysctl: [1]' >>"$profiles/sku.yaml"
  run -3 "$railhead" apply --root "$root"
  [[ "$(codes)" =~ ^RH-PROFILE-INVALID( RH-PROFILE-INVALID)*$ ]]
  put "$root/etc/railhead/railhead.conf" "nonsense: 1"
  run -3 "$railhead" apply --root "$root"
  [[ "$(codes)" =~ ^RH-HOST-CONF( RH-HOST-CONF)*$ ]]
  put "$root/proc/cmdline" "root=/dev/vda2 railhead=off"
  run -0 "$railhead" apply --root "$root"
  [ "$(codes)" = RH-BOOT-OFF ]
}

@test "a device that is away after the node was ready" {
  checks '    links: {run: carrier, on: nics}'
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
  rm "$root/sys/devices/pci0000:00/$PF0/driver"
  run -7 "$railhead" apply --device "$PF0" --root "$root"
  [ "$(codes)" = RH-PCI-UNBOUND ]
  rm "$root/sys/bus/pci/devices/$PF0"
  run -7 "$railhead" apply --device "$PF0" --root "$root"
  [ "$(codes)" = RH-PCI-LOST ]
}

@test "a look that fails, or finds no device, blames no part" {
  checks '    width: {run: pcie_link, on: nics, width: 16}
    links: {run: carrier, on: nics, speed: 400Gb/s}
    rdma: {run: rdma_link, on: nics}'
  run -0 "$railhead" apply --root "$root"
  rm "$root/sys/devices/pci0000:00/$PF0/current_link_width" # the kernel does not know the link
  rm -r "$root/sys/devices/pci0000:00/$PF0/net" # its driver made no netdev
  sed -i 's/on: nics/on: nics, timeout: 1ms/' "$root"/etc/railhead/profiles/sku.yaml
  sed -i 's/pcie_link, on: nics, timeout: 1ms/pcie_link, on: nics/' "$root"/etc/railhead/profiles/sku.yaml
  run -0 "$railhead" apply --root "$root"
  run -7 "$railhead" gate --root "$root"
  jq -r '.faults[] | "\(.code) \(.reason)"' "$record" | sed 's/: .*//' >"$BATS_TEST_TMPDIR/seen"
  cat "$BATS_TEST_TMPDIR/seen"
  grep -qx "RH-GATE-CANNOT-LOOK gate/width/$PF0/width" "$BATS_TEST_TMPDIR/seen"
  grep -qx "RH-NIC-NETDEV gate/links/$PF0" "$BATS_TEST_TMPDIR/seen"
  grep -qx "RH-RDMA-DEVICE gate/rdma/$PF1" "$BATS_TEST_TMPDIR/seen"
  ! grep -q LINK-WIDTH "$BATS_TEST_TMPDIR/seen"
}
