#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pairs.p2p: the bridges between a NIC and its GPU from their config space, on trees of many
# topologies. Where kernel-boot/rdma_topo of rdma-core 65 knows a topology, docs/p2p.md has its
# verdict on the same tree.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/pcitree

ROOT0=sys/devices/pci0000:00/0000:00:01.0 # a root port
UP=$ROOT0/0000:01:00.0                    # the switch below it
NIC_PORT=$UP/0000:02:00.0 GPU_PORT=$UP/0000:02:01.0
NIC=$PF0 GPU=0000:45:00.0
# What the kernel sets with an IOMMU (SV, RR, CR, UF), and the capability of a usual port.
DEFAULT=0x001d CAN=0x005f

# --- the tree ---------------------------------------------------------------------------------

link() { ln -sfn "../../../${1#sys/}" "$root/sys/bus/pci/devices/${1##*/}"; } # PATH

# An endpoint, in an IOMMU group of its own; ATS control if it has ATS.
endpoint() { # PATH [ATS-CONTROL]
  local ats=()
  [ $# -lt 2 ] || ats=(0x100 0x000f 0x102 0x0001 0x106 "$2")
  config "$root/$1/config" 0x06 0x0010 0x34 0x0040 0x40 0x0010 0x42 0x0002 "${ats[@]}"
  link "$1"
  group "$root/$1" "$((++groups))"
}

nic() { # DIR [ATS-CONTROL]
  mv "$root/sys/devices/pci0000:00/$NIC" "$root/$1/$NIC"
  endpoint "$1/$NIC" "${@:2}"
}

gpu() { # DIR [ADDRESS [NUMA]]
  local addr=${2:-$GPU}
  put "$root/$1/$addr/vendor" 0x10de
  put "$root/$1/$addr/device" 0x2330
  put "$root/$1/$addr/class" 0x030200
  put "$root/$1/$addr/numa_node" "${3:-0}"
  endpoint "$1/$addr"
}

port() { bridge "$root/$1" "${@:2}"; } # PATH TYPE [CAPABILITY CONTROL]

# A NIC and a GPU below two ports of one switch.
switch() { # ROOT-PORT-CONTROL NIC-PORT-CONTROL GPU-PORT-CONTROL [NIC-ATS-CONTROL]
  port $ROOT0 4 $CAN "$1"
  port $UP 5
  port $NIC_PORT 6 $CAN "$2"
  port $GPU_PORT 6 $CAN "$3"
  nic $NIC_PORT "${@:4}"
  gpu $GPU_PORT
}

# Another switch below a root port, with PF1 below its first port; the second redirects nothing.
second_switch() { # DIGIT of its buses
  second=sys/devices/pci0000:${1}0/0000:${1}0:01.0
  port $second 4 $CAN $DEFAULT
  port $second/0000:${1}1:00.0 5
  port $second/0000:${1}1:00.0/0000:${1}2:00.0 6 $CAN $DEFAULT
  port $second/0000:${1}1:00.0/0000:${1}2:01.0 6 $CAN 0
  mv "$root/sys/devices/pci0000:00/$PF1" "$root/$second/0000:${1}1:00.0/0000:${1}2:00.0/0000:${1}3:00.0"
  rm "$root/sys/bus/pci/devices/$PF1"
  endpoint $second/0000:${1}1:00.0/0000:${1}2:00.0/0000:${1}3:00.0
}

# The GPU behind a second switch, as on boards with one in the NIC.
nested() { # NIC-PORT-CONTROL GPU-PORT-CONTROL INNER-PORT-CONTROL
  port $ROOT0 4 $CAN $DEFAULT
  port $UP 5
  port $NIC_PORT 6 $CAN "$1"
  port $GPU_PORT 6 $CAN "$2"
  port $GPU_PORT/0000:03:00.0 5
  port $GPU_PORT/0000:03:00.0/0000:04:00.0 6 $CAN "$3"
  nic $NIC_PORT
  gpu $GPU_PORT/0000:03:00.0/0000:04:00.0
}

# Two root ports of one socket, and no switch.
apart() { # NIC-ROOT-PORT-CONTROL GPU-ROOT-PORT-CONTROL [CAPABILITY]
  port $ROOT0 4 "${3:-$CAN}" "$1"
  port sys/devices/pci0000:00/0000:00:02.0 4 "${3:-$CAN}" "$2"
  nic $ROOT0
  gpu sys/devices/pci0000:00/0000:00:02.0
}

# --- profile and verdict ------------------------------------------------------------------------

wish() { # P2P [WITHIN [SECTIONS]]
  profile "$root" sku <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {nics: {address: "$NIC"}, gpus: {pci: "10de:2330"}}
pairs: {nics: nics, gpus: gpus, within: ${2:-pcie_switch}, p2p: $1}
$3
Y
}

kernel() { put "$root/proc/sys/kernel/osrelease" "$1"; }

holds() { # OBSERVED
  run -0 "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"same        pairs/$NIC/p2p "*"'$1'"* ]]
}

differs() { # OBSERVED TEXT...
  run -5 "$railhead" verify --root "$root" --stage gate
  [[ $output == *"differs"*"pairs/$NIC/p2p"*"'$1'"* ]] || fail_with "$1"
  shift
  for text; do [[ $output == *"$text"* ]] || fail_with "$text"; done
}

fail_with() {
  echo "expected: $1"
  return 1
}

setup() {
  root=$BATS_TEST_TMPDIR/root
  groups=0
  fake_node "$root"
  kernel 6.12.40
  cmdline intel_iommu=on iommu=pt
  wish direct
}

# --- direct -----------------------------------------------------------------------------------

@test "direct: a switch that redirects is named with port, bit and argument; its twin without passes" {
  switch $DEFAULT $DEFAULT $DEFAULT
  differs redirected \
    "0000:02:00.0 (switch port above $NIC): ACS request redirect and completion redirect are on; 0000:02:01.0 (switch port above $GPU): ACS request redirect and completion redirect are on: traffic between $NIC and $GPU goes through the root complex" \
    'write kernel_args: {set: ["pci=config_acs=0000000@0000:02:00.0;0000000@0000:02:01.0"]}'
  [[ $output != *0000:00:01.0* ]] # above both: straight traffic does not come there
  run "$railhead" verify --root "$root" --stage gate --json
  [ "$(jq -r '.. | objects | select(.id? == "pairs/'$NIC'/p2p") | .fault' <<<"$output")" = RH-PCI-ACS ]
  port $NIC_PORT 6 $CAN 0
  port $GPU_PORT 6 $CAN 0
  holds direct
}

@test "direct: the argument that is printed passes as the profile's own, and then nothing warns" {
  switch $DEFAULT $DEFAULT $DEFAULT
  differs redirected
  arg=$(grep -o 'kernel_args: {set: \[[^]]*\]}' <<<"$output" | head -1)
  wish direct pcie_switch "${arg%\}}, iommu: passthrough}"
  sed -i 's/pci: "10de:2330"/&, expect: ">=1"/' "$root/etc/railhead/profiles/sku.yaml"
  profile_says 0 ""
  [[ $output != *warning* && $output != *p2p* ]]
  run -0 "$railhead" kargs --format=line --profile "$root/etc/railhead/profiles/sku.yaml" --root "$root"
  [[ $output == *"pci=config_acs=0000000@0000:02:00.0;0000000@0000:02:01.0"* ]]
}

@test "direct: only the port that redirects is named, whichever of the two" {
  switch $DEFAULT 0 0x0009
  differs redirected "0000:02:01.0 (switch port above $GPU): ACS completion redirect is on: traffic"
  [[ $output != *0000:02:00.0* && $output == *"config_acs=0000000@0000:02:01.0\""* ]]
}

@test "direct: egress control redirects, too; source validation, blocking and forwarding do not" {
  switch $DEFAULT 0x0020 0
  differs redirected "ACS egress control is on"
  port $NIC_PORT 6 $CAN 0x0053
  holds direct
}

@test "direct: a second switch between is looked through" {
  nested 0 0 $DEFAULT
  differs redirected "0000:04:00.0 (switch port above $GPU): ACS request redirect"
  port $GPU_PORT/0000:03:00.0/0000:04:00.0 6 $CAN 0
  holds direct
}

@test "direct: ports without ACS can't redirect, nor can a bridge to conventional PCI" {
  port $ROOT0 4 $CAN $DEFAULT
  port $UP 5
  port $NIC_PORT 6
  port $GPU_PORT 7
  nic $NIC_PORT
  gpu $GPU_PORT
  holds direct
}

@test "direct: functions of one card below one root port have no bridge between them" {
  wish direct root_port
  port $ROOT0 4 $CAN $DEFAULT
  nic $ROOT0
  gpu $ROOT0
  holds direct
}

@test "direct: a GPU that is too far is the pair's fault, and no bridge is blamed" {
  apart $DEFAULT $DEFAULT
  run -5 "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"differs"*"pairs/$NIC "* && $output != *"/p2p"* ]]
}

@test "direct: what can't be read is unknown, and whose fault that is" {
  switch $DEFAULT 0 0
  truncate -s 64 "$root/$NIC_PORT/config"
  differs unknown "0000:02:00.0 (bridge above $NIC): only the first 64 bytes of its config space can be read, which do not include ACS: run railhead (or take the snapshot) as root"
  rm "$root/$NIC_PORT/config"
  differs unknown "0000:02:00.0 (bridge above $NIC): its config space cannot be read"
  rm "$root/sys/bus/pci/devices/0000:02:00.0" # a bridge that only the path has
  differs unknown "0000:02:00.0 (bridge above $NIC): its config space cannot be read"
  port $NIC_PORT 6 $CAN 0
  truncate -s 256 "$root/$NIC_PORT/config"
  differs unknown "its extended config space, in which ACS is, can't be reached"
  # one port is enough to redirect, whatever the other does
  port $GPU_PORT 6 $CAN $DEFAULT
  differs redirected "0000:02:01.0" "its extended config space"
}

@test "direct: an older kernel gets the argument that it has" {
  switch $DEFAULT $DEFAULT $DEFAULT
  kernel 6.8.0-40-generic
  differs redirected '["pci=disable_acs_redir=0000:02:00.0;0000:02:01.0"]'
  kernel 6.11.0
  differs redirected '["pci=config_acs='
}

@test "direct: an argument of this boot is to be merged, or was in vain" {
  switch $DEFAULT $DEFAULT 0
  cmdline "pci=realloc,config_acs=xx111x1@0000:80:00.0"
  differs redirected "this boot has pci=config_acs=xx111x1@0000:80:00.0: merge the two"
  cmdline "pci=config_acs=0@1:1.0 pci=config_acs=0000000@0000:02:00.0"
  differs redirected "this boot has pci=config_acs=0000000@0000:02:00.0, but the ports differ" "before 6.12.23, 6.13.11 and 6.14.2"
  [[ $output != *"write kernel_args"* ]]
  # one of two ports has been set since
  cmdline "pci=config_acs=0000000@0000:02:01.0;0000000@0000:02:00.0"
  differs redirected "this boot has pci=config_acs=0000000@0000:02:01.0;0000000@0000:02:00.0, but the ports differ"
  [[ $output != *"write kernel_args"* && $output != *merge* ]]
  cmdline "pci=config_acs=0011101@0000:02:00.0"
  differs redirected "write kernel_args" "merge the two"
}

@test "direct: one argument names the ports of all pairs, and stands once" {
  switch $DEFAULT $DEFAULT $DEFAULT
  second_switch 8
  gpu $second/0000:81:00.0/0000:82:01.0 0000:84:00.0 1
  wish direct
  sed -i 's/nics: {address: [^}]*}/nics: {pci: "15b3:1021"}/' "$root/etc/railhead/profiles/sku.yaml"
  differs redirected 'config_acs=0000000@0000:02:00.0;0000000@0000:02:01.0;0000000@0000:82:00.0"]' \
    "the kernel argument that pairs/$NIC/p2p names sets it for all pairs"
  [ "$(grep -o 'config_acs=' <<<"$output" | wc -l)" = 1 ]
}

# --- isolated ---------------------------------------------------------------------------------

@test "isolated: as the kernel sets all ports with an IOMMU; one that is off is named up to the root" {
  wish isolated
  switch $DEFAULT $DEFAULT $DEFAULT
  holds isolated
  port $ROOT0 4 $CAN 0x0001
  port $GPU_PORT 6 $CAN 0x0055
  differs "not isolated" \
    "0000:00:01.0 (root port above both): ACS request redirect, completion redirect and upstream forwarding are off; 0000:02:01.0 (switch port above $GPU): ACS completion redirect is off: traffic between $NIC and $GPU can bypass the IOMMU" \
    '["pci=config_acs=0011101@0000:00:01.0;1011101@0000:02:01.0"]' # what was on stays on
}

@test "isolated: traffic does not turn round at the upper port of a switch, so it needs no ACS" {
  wish isolated
  switch $DEFAULT $DEFAULT $DEFAULT
  pcie "$root/$UP" 5 0x0081 # one of several functions, as of switches with a DMA engine
  holds isolated
}

@test "isolated: functions that no bridge keeps apart, as in a VM" {
  wish isolated numa_node
  endpoint sys/devices/pci0000:00/$NIC
  gpu sys/devices/pci0000:00
  holds isolated # by their make: integrated into the root complex
  config "$root/sys/devices/pci0000:00/$GPU/config"
  differs "not isolated" "$GPU is conventional PCI, or a virtual machine shows it so, and nothing isolates it"
  truncate -s 64 "$root/sys/devices/pci0000:00/$GPU/config"
  differs unknown "$GPU: only the first 64 bytes of its config space can be read"
}

@test "isolated: hardware without ACS can't, and no argument is offered" {
  wish isolated
  switch $DEFAULT $DEFAULT $DEFAULT
  port $NIC_PORT 6
  port $GPU_PORT 7
  differs "not isolated" "0000:02:00.0 (switch port above $NIC) has no ACS capability: a limit of the hardware" \
    "0000:02:01.0 (bridge above $GPU) leads to conventional PCI"
  [[ $output != *config_acs* ]]
}

@test "isolated: two root ports, each with its ACS; a bit that a port lacks is not asked of it" {
  wish isolated numa_node
  apart $DEFAULT $DEFAULT
  holds isolated
  port $ROOT0 4 0x0017 0x0015 # no completion redirect, as Vera's root ports
  holds isolated
  port $ROOT0 4 0x0017 0
  kernel 6.8.0
  differs "not isolated" "0000:00:01.0 (root port above $NIC): ACS source validation, request redirect and upstream forwarding are off" \
    "switch ACS on in the BIOS"
  cmdline "pci=disable_acs_redir=0000:00:01.0"
  differs "not isolated" "pci=disable_acs_redir=0000:00:01.0 of this boot turns it off"
}

# The firmware sets ACS on some machines without any IOMMU: nothing checks what goes up.
@test "isolated and translated need an IOMMU for both; direct does not" {
  wish isolated
  switch $DEFAULT 0x005d $DEFAULT 0x8000
  holds isolated
  rm "$root/$GPU_PORT/$GPU/iommu_group"
  differs "no IOMMU" "the IOMMU is on, but not for $GPU: the firmware's DMAR or IVRS table"
  [[ $output != *config_acs* ]]
  rm -r "$root/$NIC_PORT/$NIC/iommu_group" "$root/sys/kernel/iommu_groups"
  differs "no IOMMU" "the IOMMU is off: enable VT-d, AMD-Vi or the SMMU in the BIOS"
  wish translated
  cmdline iommu=off
  differs "no IOMMU" "the kernel argument iommu=off of this boot turns the IOMMU off; set kernel_args.iommu"
  run "$railhead" verify --root "$root" --stage gate --json
  [ "$(jq -r '.. | objects | select(.id? == "pairs/'$NIC'/p2p") | .fault' <<<"$output")" = RH-PCI-IOMMU-GROUP ]
  port $NIC_PORT 6 $CAN 0
  port $GPU_PORT 6 $CAN 0
  wish direct
  holds direct
}

# VMs get VFs: below the PF's bridges, and apart from each other by their make.
@test "isolated and translated with SR-IOV: the bridges of the PF, which are those of its VFs" {
  switch $DEFAULT $DEFAULT $DEFAULT 0x8000
  vf=0000:41:00.2
  put "$root/$NIC_PORT/$vf/vendor" 0x15b3
  put "$root/$NIC_PORT/$vf/device" 0x101e
  put "$root/$NIC_PORT/$vf/class" 0x020000
  put "$root/$NIC_PORT/$vf/numa_node" 0
  ln -sfn "../$NIC" "$root/$NIC_PORT/$vf/physfn"
  ln -sfn "../$vf" "$root/$NIC_PORT/$NIC/virtfn0"
  endpoint $NIC_PORT/$vf 0x8000
  wish isolated pcie_switch 'gate: {checks: {groups: {run: iommu_groups, on: gpus, isolated: true}}}'
  holds isolated
  [[ $output == *"same        gate/groups/$GPU "* && $output != *"pairs/$vf"* ]]
  wish translated
  differs "not translated" "0000:02:00.0 (switch port above $NIC): ACS direct translated P2P is off"
  port $NIC_PORT 6 $CAN 0x005d
  holds translated
}

# --- translated -------------------------------------------------------------------------------

@test "translated: isolated, the NIC's port lets translated traffic go straight, and the NIC has ATS on" {
  wish translated
  switch $DEFAULT 0x005d $DEFAULT 0x8000
  holds translated
  port $NIC_PORT 6 $CAN $DEFAULT
  differs "not translated" "0000:02:00.0 (switch port above $NIC): ACS direct translated P2P is off: traffic between $NIC and $GPU is not both checked by the IOMMU and straight" \
    '["pci=config_acs=1011101@0000:02:00.0"]'
  port $NIC_PORT 6 0x001f $DEFAULT
  differs "not translated" "ACS direct translated P2P is missing from the hardware"
  [[ $output != *config_acs* ]]
}

@test "translated: of two ports above the NIC the higher one sends straight" {
  wish translated
  switch $DEFAULT 0x005d $DEFAULT 0x8000
  inner=$NIC_PORT/0000:05:00.0/0000:06:00.0
  port $NIC_PORT/0000:05:00.0 5
  port $inner 6 $CAN $DEFAULT
  mv "$root/$NIC_PORT/$NIC" "$root/$inner/$NIC"
  link $inner/$NIC
  holds translated
  port $NIC_PORT 6 $CAN $DEFAULT
  port $inner 6 $CAN 0x005d
  differs "not translated" "0000:02:00.0 (switch port above $NIC): ACS direct translated P2P is off: traffic"
}

@test "translated: blocked translations, and ATS that is off, forbidden or not there" {
  wish translated
  switch $DEFAULT 0x005f $DEFAULT 0x0000
  cmdline intel_iommu=on pci=noats
  differs "not translated" "0000:02:00.0 (switch port above $NIC): ACS translation blocking is on" \
    '["pci=config_acs=1011101@0000:02:00.0"]' "ATS of $NIC is off: pci=noats of this boot forbids it"
  port $NIC_PORT 6 $CAN 0x005d
  cmdline intel_iommu=on
  differs "not translated" "ATS of $NIC is off: the kernel turns it on when an IOMMU"
  endpoint $NIC_PORT/$NIC
  differs "not translated" "$NIC has no ATS: switch it on in its firmware (ATS_ENABLED of mlxconfig)"
  truncate -s 64 "$root/$NIC_PORT/$NIC/config"
  differs unknown "$NIC: only the first 64 bytes of its config space can be read"
}

# --- the argument, written by railhead ------------------------------------------------------------

# acs: set wants to know how many there are.
sets_acs() { # P2P [WITHIN [SECTIONS]]
  wish "$1" "${2:-pcie_switch}, acs: set" "$3"
  sed -i -e "s/nics: {address: [^}]*/&, expect: 1/; s/gpus: {pci: [^}]*/&, expect: 1/" "$root/etc/railhead/profiles/sku.yaml"
}

next_boot() { # ARGUMENTS
  run "$railhead" plan --root "$root" --json
  [ "$(jq -r '.. | objects | select(.id? == "kernel_args/next_boot") | .desired' <<<"$output")" = "$1" ] || fail_with "$1"
}

@test "acs: set: the argument is that of the topology, before and after the registers obey it" {
  sets_acs direct
  switch $DEFAULT $DEFAULT $DEFAULT
  arg="pci=config_acs=0000000@0000:02:00.0;0000000@0000:02:01.0"
  next_boot "$arg"
  cmdline "pci=config_acs=0011101@0000:80:00.0" # of the image
  differs redirected "pairs.acs sets them by a kernel argument, which this boot lacks"
  [[ $output != *"write kernel_args"* ]]
  port $NIC_PORT 6 $CAN 0
  port $GPU_PORT 6 $CAN 0
  cmdline intel_iommu=on iommu=pt "$arg"
  next_boot "$arg"
  holds direct
  [[ $output == *"same        kernel_args/arrived/$arg"* ]]
  # others than root read no register
  truncate -s 64 "$root/$NIC_PORT/config" "$root/$GPU_PORT/config"
  next_boot "$arg"
  port $NIC_PORT 6 $CAN $DEFAULT
  port $GPU_PORT 6 $CAN 0
  differs redirected "this boot has $arg, but the ports differ: kernels from 6.11 on before"
}

@test "acs: set: the bits of each wish, and the argument of older kernels" {
  switch $DEFAULT $DEFAULT $DEFAULT 0x8000
  sets_acs isolated
  next_boot "pci=config_acs=0011101@0000:00:01.0;0011101@0000:01:00.0;0011101@0000:02:00.0;0011101@0000:02:01.0"
  sets_acs translated
  next_boot "pci=config_acs=1011101@0000:02:00.0"
  kernel 6.8.0-40-generic
  run "$railhead" plan --root "$root"
  [[ $output == *"Linux 6.8.0-40-generic has no pci=config_acs="*"use Linux 6.11"* ]]
  sets_acs direct
  next_boot "pci=disable_acs_redir=0000:02:00.0;0000:02:01.0"
}

@test "acs: set: a lost GPU changes no argument; the node keeps what it has" {
  sets_acs direct
  switch $DEFAULT 0 0
  arg="pci=config_acs=0000000@0000:02:00.0;0000000@0000:02:01.0"
  cmdline intel_iommu=on "$arg"
  rm "$root/sys/bus/pci/devices/$GPU"
  next_boot "$arg"
  cmdline intel_iommu=on
  next_boot ""
}

@test "acs: set: functions with no bridge between them, and a GPU too far, need no argument" {
  sets_acs direct root_port
  port $ROOT0 4 $CAN $DEFAULT
  nic $ROOT0
  gpu $ROOT0
  next_boot ""
  rm -r "${root:?}/$ROOT0/$GPU"
  port sys/devices/pci0000:00/0000:00:02.0 4 $CAN $DEFAULT
  gpu sys/devices/pci0000:00/0000:00:02.0
  next_boot ""
}

@test "acs: set: without a node nothing is derived, and that is said; with one it is" {
  sets_acs direct pcie_switch "kernel_args: {set: [quiet]}"
  switch $DEFAULT $DEFAULT $DEFAULT
  sed s/Supermicro/Other/ "$root/etc/railhead/profiles/sku.yaml" >"$BATS_TEST_TMPDIR/sku.yaml"
  run -3 "$railhead" kargs --format=line --profile "$BATS_TEST_TMPDIR/sku.yaml" --root "$root"
  [[ $output == *"pairs: acs: the argument names the bridges of the machine; look at a node"* ]]
  run -0 "$railhead" kargs --format=line --root "$root"
  [ "$output" = "quiet pci=config_acs=0000000@0000:02:00.0;0000000@0000:02:01.0" ]
}

# --- Data Direct ------------------------------------------------------------------------------

DD_PORT=$NIC_PORT                      # of the switch, above the Data Direct function
INNER=$GPU_PORT/0000:03:00.0/0000:04:00.0 # of a second switch, above the GPU
DD=0000:09:00.0
NIC_ROOT=sys/devices/pci0000:80/0000:80:01.0

# A VPD with one keyword, V3, of 7 letters; without an ID a VPD without it.
vpd() { # FILE [ID]
  if [ $# -gt 1 ]; then
    printf '\x90\x0a\x00V3\x07%s\x78' "$2" >"$1"
  else
    printf '\x90\x05\x00PN\x02AB\x78' >"$1"
  fi
}

dd_function() { # DIR ADDRESS [ID]
  put "$root/$1/$2/vendor" 0x15b3
  put "$root/$1/$2/device" 0x2100
  put "$root/$1/$2/class" 0x088000
  put "$root/$1/$2/numa_node" 0
  endpoint "$1/$2"
  vpd "$root/$1/$2/vpd" "${@:3}"
}

same_group() {
  rm "$root/$DD_PORT/$DD/iommu_group" "$root/$INNER/$GPU/iommu_group"
  group "$root/$DD_PORT/$DD" 40
  group "$root/$INNER/$GPU" 40
}

# As on NVIDIA's boards: the NIC below a root port of its own; its Data Direct function below a
# switch, and the GPU below a second one there.
board() { # ROOT-PORT-CONTROL DD-PORT-CONTROL GPU-PORT-CONTROL [INNER-PORT-CONTROL [NIC-ROOT-PORT-CONTROL]]
  port $ROOT0 4 $CAN "$1"
  port $UP 5
  port $DD_PORT 6 $CAN "$2"
  port $GPU_PORT 6 $CAN "$3"
  port $GPU_PORT/0000:03:00.0 5
  port $INNER 6 $CAN "${4:-$DEFAULT}"
  port $NIC_ROOT 4 $CAN "${5:-$DEFAULT}"
  nic $NIC_ROOT
  gpu $INNER
  dd_function $DD_PORT $DD 1234-56
  vpd "$root/$NIC_ROOT/$NIC/vpd" 1234-56
  same_group
}

# What rdma_topo asks for on that board: source validation off, request redirect off, completion
# redirect off; else the kernel's default.
GOOD="0x001c 0x0019 0x0015"
GOOD_ARG="pci=config_acs=0011100@0000:00:01.0;0011001@0000:02:00.0;0010101@0000:02:01.0"

@test "Data Direct: the way of the data is judged, by the bits of rdma_topo, and not the NIC's" {
  board $GOOD
  holds direct
  port $NIC_ROOT 4 $CAN 0 # no data comes there
  holds direct
  run -0 "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"same        pairs/$NIC "*"$GPU, pcie_switch by Data Direct $DD"* ]]
}

@test "Data Direct: the kernel's default fails at three ports, and the argument is that of rdma_topo" {
  board $DEFAULT $DEFAULT $DEFAULT
  differs redirected \
    "0000:00:01.0 (root port above both): ACS source validation is on" \
    "0000:02:00.0 (switch port above $DD): ACS request redirect is on" \
    "0000:02:01.0 (switch port above $GPU): ACS completion redirect is on" \
    "data between $NIC and $GPU goes by the NIC's Data Direct function $DD, and these bridges must let only this data go straight" \
    "write kernel_args: {set: [\"$GOOD_ARG\"]}"
  [[ $output != *0000:04:00.0* && $output != *0000:80:01.0* ]]
  cmdline intel_iommu=on "$GOOD_ARG"
  differs redirected "this boot has $GOOD_ARG, but the ports differ"
  kernel 6.8.0
  differs redirected "Linux 6.8.0 has no pci=config_acs=, which sets them: use Linux 6.11 or later"
  [[ $output != *"disable_acs_redir="* ]]
}

@test "Data Direct: a pair without Data Direct next to it keeps its own argument" {
  board $DEFAULT $DEFAULT $DEFAULT
  second_switch 9
  vpd "$root/$second/0000:91:00.0/0000:92:00.0/0000:93:00.0/vpd"
  gpu $second/0000:91:00.0/0000:92:01.0 0000:94:00.0 1
  sed -i 's/nics: {address: [^}]*}/nics: {pci: "15b3:1021"}/' "$root/etc/railhead/profiles/sku.yaml"
  differs redirected "$GOOD_ARG;0000000@0000:92:00.0\"]" "pairs/$NIC/p2p names sets it for all pairs"
  kernel 6.8.0
  differs redirected "use Linux 6.11" '["pci=disable_acs_redir=0000:92:00.0"]'
}

@test "Data Direct: ACS that is all off fails at four ports, and one that is off alone there" {
  board 0 0 0 0
  differs redirected "0000:00:01.0 (root port above both): ACS request redirect, completion redirect and upstream forwarding are off" \
    "0000:02:00.0 (switch port above $DD): ACS source validation, completion redirect and upstream forwarding are off" \
    "0000:02:01.0 (switch port above $GPU): ACS source validation, request redirect and upstream forwarding are off" \
    "0000:04:00.0 (switch port above $GPU): ACS source validation, request redirect, completion redirect and upstream forwarding are off"
  port $ROOT0 4 $CAN 0x001c
  port $DD_PORT 6 $CAN 0x0019
  port $GPU_PORT 6 $CAN 0x0015
  differs redirected "0000:04:00.0" '["pci=config_acs=0011101@0000:04:00.0"]'
  [[ $output != *0000:02:0* ]]
  port $INNER 6 # without ACS
  holds direct
  port $INNER 6 $CAN $DEFAULT
  port $DD_PORT 6 $CAN 0x0039 # which rdma_topo does not look at
  port $GPU_PORT 6 $CAN 0x0035
  differs redirected "0000:02:00.0 (switch port above $DD): ACS egress control is on" \
    "0000:02:01.0 (switch port above $GPU): ACS egress control is on"
}

@test "Data Direct: the function and the GPU have one IOMMU group, and have one at all" {
  board $GOOD
  rm "$root/$INNER/$GPU/iommu_group"
  group "$root/$INNER/$GPU" 41
  differs redirected "the Data Direct function $DD is in IOMMU group 40, and $GPU in 41" "and not later (setpci)"
  run "$railhead" verify --root "$root" --stage gate --json
  [ "$(jq -r '.. | objects | select(.id? == "pairs/'$NIC'/p2p") | .fault' <<<"$output")" = RH-PCI-ACS ]
  rm "$root/$INNER/$GPU/iommu_group"
  differs "no IOMMU" "the IOMMU is on, but not for $GPU"
}

@test "Data Direct: what can't be read is unknown, whose ports and whose VPD" {
  board $GOOD
  truncate -s 64 "$root/$DD_PORT/config"
  differs unknown "0000:02:00.0 (bridge above $DD): only the first 64 bytes of its config space can be read"
  port $DD_PORT 6 $CAN 0x0019
  wish isolated numa_node
  vpd "$root/$DD_PORT/$DD/vpd" # it is some NIC's
  differs unknown "this node has Data Direct functions (15b3:2100), but the VPD of $NIC or of one of them, which assigns them to NICs, can't be read"
  rm "$root/$DD_PORT/$DD/vpd"
  differs unknown "the VPD of $NIC or of one of them"
  vpd "$root/$DD_PORT/$DD/vpd" 1234-56
  rm "$root/$NIC_ROOT/$NIC/vpd"
  differs unknown "the VPD of $NIC or of one of them"
  wish direct
  run -5 "$railhead" verify --root "$root" --stage gate
  [[ $output == *"no GPU within pcie_switch is left for $NIC: the nearest is $GPU (numa_node), as seen from the NIC: a Data Direct function may move its data, and the VPD that would tell cannot be read"* ]]
}

@test "Data Direct: a snapshot keeps whose the function is, by a number" {
  board $DEFAULT $DEFAULT $DEFAULT
  "$railhead" survey --root "$root" --snapshot "$BATS_TEST_TMPDIR/node.tar"
  run -5 "$railhead" plan --root "$BATS_TEST_TMPDIR/node.tar" --profile "$root/etc/railhead/profiles/sku.yaml"
  [[ $output == *"0000:02:00.0 (switch port above $DD): ACS request redirect is on"*"$GOOD_ARG"* ]]
}

@test "Data Direct: a function of another card, or of none, leaves the NIC to its own bridges" {
  switch 0 0 0
  dd_function sys/devices/pci0000:00 $DD 1234-99
  vpd "$root/$NIC_PORT/$NIC/vpd" 1234-56
  holds direct
  port $NIC_PORT 6 $CAN $DEFAULT
  differs redirected "0000:02:00.0 (switch port above $NIC): ACS request redirect and completion redirect are on"
  vpd "$root/$NIC_PORT/$NIC/vpd" # no such card: a NIC without the keyword
  differs redirected "0000:02:00.0 (switch port above $NIC)"
  put "$root/$NIC_PORT/$NIC/vendor" 0x14e4 # nor one of NVIDIA's
  rm "$root/$NIC_PORT/$NIC/vpd"
  differs redirected "0000:02:00.0 (switch port above $NIC)"
}

@test "Data Direct: of two functions with one identifier the first by address counts" {
  board $GOOD
  dd_function $DD_PORT 0000:09:00.1 1234-56
  holds direct
  dd_function sys/devices/pci0000:00 0000:00:09.0 1234-56 # below no bridge: far from the GPU
  run -5 "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"differs"*"pairs/$NIC "*"no GPU within pcie_switch is left for $NIC"* && $output != *"/p2p"* ]]
}

@test "Data Direct: a GPU that is far from the function is far, however near the NIC is" {
  switch 0 0 0
  vpd "$root/$NIC_PORT/$NIC/vpd" 1234-56
  port $NIC_ROOT 4 $CAN $DEFAULT
  dd_function $NIC_ROOT $DD 1234-56
  put "$root/$NIC_ROOT/$DD/numa_node" 1
  run -5 "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"differs"*"pairs/$NIC "*"$GPU (far)"* && $output != *"/p2p"* ]]
}

@test "Data Direct: isolated wants all of the function's, the GPU's and the NIC's own bridges" {
  wish isolated
  board $DEFAULT $DEFAULT $DEFAULT
  holds isolated
  config "$root/$NIC_ROOT/$NIC/config"
  differs "not isolated" "$NIC is conventional PCI, or a virtual machine shows it so, and nothing isolates it"
  endpoint $NIC_ROOT/$NIC
  port $NIC_ROOT 4 $CAN 0x0001
  port $DD_PORT 6 $CAN 0x0019
  differs "not isolated" "0000:80:01.0 (root port above $NIC): ACS request redirect, completion redirect and upstream forwarding are off" \
    "0000:02:00.0 (switch port above $DD): ACS request redirect is off" "Data Direct function $DD, and can bypass the IOMMU" \
    '["pci=config_acs=0011101@0000:02:00.0;0011101@0000:80:01.0"]'
}

@test "Data Direct: translated has no bits that are known, and that is said" {
  wish translated
  board $GOOD
  run -0 "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"unsupported"*"pairs/$NIC/p2p"*"its Data Direct function $DD, for which no setting of ACS is known"* ]]
  sets_acs translated
  run "$railhead" plan --root "$root"
  [[ $output == *"acs: set: NICs of this node move data by Data Direct functions"*"write p2p: direct or isolated"* ]]
}

@test "Data Direct: acs: set has the argument from sysfs alone, and keeps it without a VPD" {
  sets_acs direct
  board $DEFAULT $DEFAULT $DEFAULT
  next_boot "$GOOD_ARG"
  cmdline intel_iommu=on "$GOOD_ARG"
  truncate -s 64 "$root/$DD_PORT/config" "$root/$GPU_PORT/config" "$root/$ROOT0/config"
  next_boot "$GOOD_ARG"
  rm "$root/$NIC_ROOT/$NIC/vpd"
  sets_acs isolated numa_node
  next_boot "$GOOD_ARG"
  vpd "$root/$NIC_ROOT/$NIC/vpd" 1234-56
  next_boot "pci=config_acs=0011101@0000:00:01.0;0011101@0000:01:00.0;0011101@0000:02:00.0;0011101@0000:02:01.0;0011101@0000:03:00.0;0011101@0000:04:00.0;0011101@0000:80:01.0"
  kernel 6.8.0
  sets_acs direct
  run "$railhead" plan --root "$root"
  [[ $output == *"Linux 6.8.0 has no pci=config_acs="*"p2p: direct without Data Direct"* ]]
}

@test "Data Direct: survey shows the way of the data, and unknown without a VPD" {
  board $DEFAULT $DEFAULT $DEFAULT
  survey_says "pcie_switch  0          yes, Data Direct  none" '["yes",["0000:02:00.0","0000:02:01.0"],"none","none",true]'
  port $DD_PORT 6 $CAN 0x0019
  port $GPU_PORT 6 $CAN 0x0015
  survey_says "pcie_switch  0          no, Data Direct  none" '["no",[],"none","none",true]'
  rm "$root/$DD_PORT/$DD/vpd"
  survey_says "numa_node  0          unknown   none" '[null,[],"none","none",null]'
}

# --- survey and draft -------------------------------------------------------------------------

survey_says() { # ROW JSON
  run -0 "$railhead" survey --root "$root"
  [[ $output == *"redirect"*"NIC ATS"*"$NIC  $GPU  $1"* ]] || fail_with "$1"
  run -0 "$railhead" survey --json --root "$root"
  [ "$(jq -c '.pairs[] | select(.gpu) | [.redirect, .redirected_at, .nic_ats, .gpu_ats, .data_direct]' <<<"$output")" = "$2" ]
}

@test "survey: whether the pair's traffic is redirected, where, and ATS" {
  switch $DEFAULT $DEFAULT 0 0x8000
  survey_says "pcie_switch  0          yes       on" '["yes",["0000:02:00.0"],"on","none",false]'
  port $NIC_PORT 6 $CAN 0
  endpoint $NIC_PORT/$NIC 0
  survey_says "pcie_switch  0          no        off" '["no",[],"off","none",false]'
  truncate -s 64 "$root/$NIC_PORT/config" "$root/$NIC_PORT/$NIC/config"
  survey_says "pcie_switch  0          unknown   unknown" '[null,[],null,"none",false]'
}

@test "survey: what the root complex joins" {
  apart $DEFAULT $DEFAULT
  survey_says "numa_node  0          root complex  none" '["root complex",[],"none","none",false]'
}

@test "draft: the wish is proposed where there are pairs, and not else" {
  run -0 "$railhead" draft --root "$root"
  [[ $output != *pairs* ]]
  switch $DEFAULT $DEFAULT $DEFAULT
  run -0 "$railhead" draft --root "$root"
  [[ $output != *pairs* ]] # one NIC has no GPU of its own
  rm "$root/sys/bus/pci/devices/$PF1"
  run -0 "$railhead" draft --root "$root"
  [[ $output == *"#pairs: {nics: rails, gpus: gpus, within: pcie_switch, p2p: direct, acs: set}"* ]]
}

# --- the profile ------------------------------------------------------------------------------

profile_says() { # CODE TEXT
  run "-$1" "$railhead" check "${@:3}" "$root/etc/railhead/profiles/sku.yaml"
  [[ $output == *"$2"* ]]
}

@test "check: wishes that contradict the rest of the profile" {
  wish direct numa_node
  profile_says 3 "pairs.p2p: direct: only a bridge above both can send traffic directly, and within: numa_node"
  wish translated numa_node
  profile_says 3 "pairs.p2p: translated: only a bridge above both"
  wish isolated pcie_switch "kernel_args: {iommu: disabled}"
  profile_says 3 "pairs.p2p: isolated: needs the IOMMU that kernel_args.iommu at"
  wish direct pcie_switch 'gate: {checks: {groups: {run: iommu_groups, on: gpus, isolated: true}}}'
  profile_says 3 "isolated: pairs.p2p: direct at"
  wish direct pcie_switch 'gate: {checks: {groups: {run: iommu_groups, on: gpus, type: identity}}}'
  profile_says 0 ""
  wish strait
  profile_says 3 "direct"
}

@test "check: direct with an IOMMU warns that the kernel will redirect; an argument that sets ACS does not" {
  wish direct pcie_switch "kernel_args: {iommu: passthrough}"
  profile_says 0 "pairs.p2p: direct: with iommu: passthrough at" # a warning
  wish direct pcie_switch 'kernel_args: {iommu: passthrough, set: ["pci=config_acs=0000000@pci:1000:c030"]}'
  run -0 "$railhead" check "$root/etc/railhead/profiles/sku.yaml"
  [[ $output != *p2p* ]]
}
