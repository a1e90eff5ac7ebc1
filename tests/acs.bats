#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Why functions share an IOMMU group, and who made the group's type: the ports above them from
# their config space, and the kernel's command line.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/pcitree

TREE=sys/devices/pci0000:00
PORT=0000:00:01.0 UP=0000:01:00.0 DOWN=0000:02:00.0 # a root port, and a switch below it
ON="0x005f 0x001d"

# Puts both PFs in group 7, below a directory of the tree.
below() { # DIR
  local pf
  for pf in $PF0 $PF1; do
    mv "$root/$TREE/$pf" "$1/$pf"
    pcie "$1/$pf" 0 0
    ln -sfn "../../../${1#"$root/sys/"}/$pf" "$root/sys/bus/pci/devices/$pf"
    group "$1/$pf" 7
  done
}

# Both PFs below a root port alone: its ACS, if any.
port() { # [CAPABILITY CONTROL]
  bridge "$root/$TREE/$PORT" 4 "$@"
  below "$root/$TREE/$PORT"
}

# ... or below a switch: the ACS of the root port, and that of the switch's port down.
switch() { # "CAPABILITY CONTROL" "CAPABILITY CONTROL"
  # shellcheck disable=SC2086 # two words or none
  bridge "$root/$TREE/$PORT" 4 $1
  bridge "$root/$TREE/$PORT/$UP" 5
  # shellcheck disable=SC2086
  bridge "$root/$TREE/$PORT/$UP/$DOWN" 6 $2
  below "$root/$TREE/$PORT/$UP/$DOWN"
}

check() { # KEYS; ON
  profile "$root" sku <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {rails: {pci: "15b3:1021"}}
sriov: {rails: {vfs: 4}}
gate: {checks: {groups: {run: iommu_groups, on: ${2:-rails}, $1}}}
Y
}

verify() { run -5 "$railhead" verify --root "$root" --stage gate; }

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  put "$root/proc/sys/kernel/osrelease" 6.1.0-25-amd64
  cmdline intel_iommu=on iommu=nopt iommu.strict=0
  check "isolated: true"
}

# --- isolated ---------------------------------------------------------------------------------

@test "ports without ACS are all named, as the hardware's fault; a port up needs none" {
  switch "" ""
  verify
  [[ $output == *"differs"*"gate/groups/$PF0"*"'group 7 with $PF1'"* ]]
  [[ $output == *"port $PORT $DOWN above it has no ACS capability: only another slot or other hardware"* ]]
  [[ $output != *"$UP"* ]]
}

@test "of two ports the one without ACS is named" {
  switch "$ON" ""
  verify
  [[ $output == *"port $DOWN above it has no ACS capability"* ]]
  [[ $output != *"$PORT"* ]]
}

@test "ACS that is off although the IOMMU is on is the firmware's" {
  port 0x001f 0x0001
  verify
  [[ $output == *"port $PORT is capable of ACS, but its control is 0x0001, 0x001d needed: the firmware disables it"* ]]
  [[ $output != *"config_acs"* ]] # not in 6.1
  put "$root/proc/sys/kernel/osrelease" 6.12.0-1-amd64
  verify
  [[ $output == *"try pci=config_acs=xx111x1@ADDRESS of the port"* ]]
}

@test "an argument that takes ACS away is named, with its one option" {
  switch "0x005f 0x0011" "$ON"
  cmdline "intel_iommu=on pci=realloc,disable_acs_redir=0000:00:01.0;0000:00:02.0"
  verify
  [[ $output == *"port $PORT is capable"*"0x0011, 0x001d needed: the kernel argument pci=disable_acs_redir=0000:00:01.0;0000:00:02.0 of this boot disables it"* ]]
  [[ $output != *firmware* && $output != *realloc* ]]
  cmdline "intel_iommu=on pci=config_acs=xx000x0@pci:0:0"
  verify
  [[ $output == *"the kernel argument pci=config_acs=xx000x0@pci:0:0 of this boot"* ]]
}

@test "what a port is not capable of can't be off: it is hard-wired" {
  port 0x0001 0x0001
  verify
  [[ $output == *"the 1 ports above it isolate it, but it uses the address of another device"* ]]
}

@test "ports with ACS on are not blamed" {
  switch "$ON" "$ON"
  verify
  [[ $output == *"the 3 ports above it isolate it"* ]]
}

@test "behind a bridge to PCI nothing is kept apart" {
  bridge "$root/$TREE/$PORT" 7
  below "$root/$TREE/$PORT"
  verify
  [[ $output == *"conventional PCI behind $PORT can't isolate devices"*"move the card to a PCIe slot"* ]]
}

@test "64 bytes of config space are too few, and that is said" {
  port 0x001f 0x0001
  truncate -s 64 "$root/$TREE/$PORT/config"
  verify
  [[ $output == *"only the first 64 bytes of the config space of $PORT can be read"*"as root"* ]]
}

@test "a tree without config space leaves it unknown" {
  port 0x001f 0x0001
  rm "$root/$TREE/$PORT/config"
  verify
  [[ $output == *"the config space of $PORT can't be read, so its ACS is unknown"* ]]
}

@test "without extended config space: the argument that disables it, or the firmware" {
  port 0x001f 0x0001
  truncate -s 256 "$root/$TREE/$PORT/config"
  verify
  [[ $output == *"can't reach the extended config space of $PORT"*"ACPI table MCFG"* ]]
  cmdline intel_iommu=on pci=nommconf
  verify
  [[ $output == *"the kernel argument pci=nommconf disables it"* ]]
}

@test "functions of one card without ACS of their own stay together in any slot" {
  # shellcheck disable=SC2086
  port $ON
  pcie "$root/$TREE/$PORT/$PF0" 0 0x0080
  verify
  [[ $output == *"$PF0 is a function of a multi-function card and has no ACS of its own"* ]]
  [[ $output != *"$PF1 is one of several"* ]]
}

@test "of many in one group a few are named" {
  port
  for i in {1..7}; do mkdir "$root/sys/kernel/iommu_groups/7/devices/0000:0$i:00.0"; done
  verify
  [[ $output == *"'group 7 with 0000:01:00.0 0000:02:00.0 and 6 more'"* ]]
}

@test "all VFs of the PFs are judged, and each bridge is read once" {
  switch "" ""
  check "isolated: true" "vfs of rails"
  for i in 0 1 2 3; do
    vf=$root/$TREE/$PORT/$UP/$DOWN/0000:41:00.$((i + 1))
    mkdir -p "$vf"
    ln -s "../$PF0" "$vf/physfn"
    group "$vf" $((i < 3 ? 8 : 9))
    ln -s "../${vf##*/}" "$vf/../$PF0/virtfn$i"
    ln -s "../../../${vf#"$root/sys/"}" "$root/sys/bus/pci/devices/${vf##*/}"
  done
  run -5 strace -f -e trace=open,openat,openat2 -o "$BATS_TEST_TMPDIR/trace" "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"gate/groups/$PF0/0"*"'group 8 with 0000:41:00.2 0000:41:00.3'"* ]]
  [[ $output == *"gate/groups/$PF0/2"* ]]
  [[ $output == *"same        gate/groups/$PF0/3 "* ]]
  [[ $output == *"gate/groups/$PF1/0"*"no such VF"* ]]
  for port in $PORT $UP $DOWN; do
    [ "$(grep -c "$port/config" "$BATS_TEST_TMPDIR/trace")" = 1 ]
  done
  [ "$(grep -c "0000:41:00.1/config" "$BATS_TEST_TMPDIR/trace")" = 0 ]
}

# --- no group ---------------------------------------------------------------------------------

@test "no IOMMU: what is missing, or the argument that keeps it off" {
  verify
  [[ $output == *"gate/groups/$PF0"*"no group"*"the IOMMU is off: enable VT-d, AMD-Vi or the SMMU in the BIOS"* ]]
  cmdline iommu=pt
  verify
  [[ $output == *"the IOMMU is off, and no intel_iommu=on on the kernel command line"* ]]
  cmdline intel_iommu=on iommu=off
  verify
  [[ $output == *"the kernel argument iommu=off of this boot turns the IOMMU off"* ]]
}

@test "an IOMMU that leaves a device out is not called off" {
  mkdir -p "$root/sys/kernel/iommu_groups/0/devices/0000:00:02.0"
  verify
  [[ $output == *"the IOMMU is on, but not for $PF0"* ]]
}

# --- type -------------------------------------------------------------------------------------

types() { # TYPE
  local pf n=1
  for pf in $PF0 $PF1; do group "$root/$TREE/$pf" $((n++)) "$1"; done
}

@test "the type: as asked, and with isolated beside it" {
  types DMA-FQ
  check "isolated: true, type: DMA-FQ"
  run -0 "$railhead" verify --root "$root" --stage gate
  check "type: DMA-FQ"
  run -0 "$railhead" verify --root "$root" --stage gate
}

@test "the type: the argument that made it is named, and what to set" {
  types identity
  cmdline intel_iommu=on iommu=nopt iommu=pt
  check "type: DMA-FQ"
  verify
  [[ $output == *"gate/groups/$PF0/type"*"'identity'"*"iommu=pt of this boot makes it identity: set kernel_args.iommu to lazy"* ]]
  types DMA
  cmdline intel_iommu=on,strict
  verify
  [[ $output == *"intel_iommu=strict of this boot makes it DMA"* ]]
  check "type: identity"
  verify
  [[ $output == *"set kernel_args.iommu to passthrough"* ]]
}

@test "the type: the kernel's default is not blamed on an argument" {
  types DMA-FQ
  cmdline intel_iommu=on
  check "type: DMA"
  verify
  [[ $output == *"the kernel's default (CONFIG_IOMMU_DEFAULT_...) makes it DMA-FQ"*"set kernel_args.iommu to strict"* ]]
  types identity
  cmdline intel_iommu=on iommu.strict=1 # how, if at all
  verify
  [[ $output == *"the kernel's default (CONFIG_IOMMU_DEFAULT_...) makes it identity"* ]]
}

@test "the type: an argument that asks for it and does not get it" {
  types DMA-FQ
  cmdline intel_iommu=on iommu.passthrough=1
  check "type: identity"
  verify
  [[ $output == *"iommu.passthrough=1 of this boot requests identity, and this group is still DMA-FQ"*"iommu_groups/1/type"* ]]
}

@test "the type: a kernel that does not tell lazy from strict is no failure" {
  types DMA
  put "$root/proc/sys/kernel/osrelease" 5.14.0-70.el9
  check "type: DMA-FQ"
  run -0 "$railhead" verify --root "$root" --stage gate
  cmdline intel_iommu=on iommu.strict=1 # then it is strict, whatever it could tell
  verify
  cmdline intel_iommu=on
  put "$root/proc/sys/kernel/osrelease" 5.15.0
  verify
}
