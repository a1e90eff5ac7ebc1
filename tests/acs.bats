#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Why functions share an IOMMU group: the port above them, from its config space.

bats_require_minimum_version 1.5.0
load lib/fakenode

# Writes little-endian 16-bit words into a 4096-byte config space: OFFSET VALUE ...
config() { # FILE OFFSET VALUE...
  local file=$1
  shift
  head -c 4096 /dev/zero >"$file"
  while [ $# -gt 0 ]; do
    # shellcheck disable=SC2059 # the format is made of the value's two bytes
    printf "$(printf '\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8)))" |
      dd of="$file" bs=1 seek=$(($1)) conv=notrunc status=none
    shift 2
  done
}

# A root port above both PFs; $1: its ACS control, or none.
port() {
  local port=$root/sys/devices/pci0000:00/0000:00:01.0 pf
  mkdir -p "$port"
  # status: capabilities list; PCI Express capability at 0x40, version 2, root port
  if [ "$1" = none ]; then
    config "$port/config" 0x06 0x0010 0x34 0x0040 0x40 0x0010 0x42 0x0042
  else
    config "$port/config" 0x06 0x0010 0x34 0x0040 0x40 0x0010 0x42 0x0042 \
      0x100 0x000d 0x102 0x0001 0x104 0x001f 0x106 "$1"
  fi
  ln -sfn ../../../devices/pci0000:00/0000:00:01.0 "$root/sys/bus/pci/devices/0000:00:01.0"
  for pf in $PF0 $PF1; do
    mv "$root/sys/devices/pci0000:00/$pf" "$port/$pf"
    ln -sfn "../../../devices/pci0000:00/0000:00:01.0/$pf" "$root/sys/bus/pci/devices/$pf"
    ln -sfn ../../../../kernel/iommu_groups/7 "$port/$pf/iommu_group"
    mkdir -p "$root/sys/kernel/iommu_groups/7/devices/$pf"
  done
}

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {rails: {pci: "15b3:1021"}}
gate: {checks: {groups: {run: iommu_groups, on: rails, isolated: true}}}
Y
}

@test "a port without ACS is named as the hardware's fault" {
  port none
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"differs"*"gate/groups/$PF0"*"'group 7 with $PF1'"* ]]
  [[ $output == *"port 0000:00:01.0 above it has no ACS: only other hardware"* ]]
}

@test "a port with ACS off is named with what it has and needs" {
  port 0x0001
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"port 0000:00:01.0 above it has ACS control 0x0001, 0x001d needed"* ]]
}

@test "a port with ACS on is not blamed" {
  port 0x001d
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"the function itself lacks it"* ]]
}

@test "no IOMMU at all says so" {
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"gate/groups/$PF0"*"no group"*"the IOMMU is off"* ]]
}
