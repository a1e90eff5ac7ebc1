#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A value that a stage could not set keeps its fault, its reason and its action in every verdict of
# the boot: the later look sees only that it differs.

bats_require_minimum_version 1.5.0
load lib/simnode
load lib/simnode_each

# The stages, then the gate: the first reason of the verdict has that code, action, and text.
refused() { # ID CODE ACTION TEXT
  run -6 "$railhead" apply --root "$root"
  [[ $output == *"$1: failed: "*"$4"* ]]
  run -7 "$railhead" gate --root "$root"
  first_is "$@"
  # the next gate has the same first reason
  run -7 "$railhead" gate --again --root "$root"
  first_is "$@"
}

first_is() { # ID CODE ACTION TEXT
  jq -r '.faults[0] | "\(.code) \(.action) \(.reason)"' "$root/run/railhead/status.json" >"$sim/first"
  [[ $(cat "$sim/first") == "$2 $3 $1: "*"$4"* ]] || {
    cat "$sim/first" >&2
    return 1
  }
  run -7 "$railhead" status --root "$root"
  [[ $output == *"$4"* ]]
  [[ $output != *"remedy:  \`railhead apply\` sets the value"* ]]
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"$1"*"$4"* ]]
  run -0 "$railhead" why --root "$root" "$1"
  [[ $output == *"$4"*"fault:   $2"* ]]
}

@test "VFs refused with ENOMEM: the number of VFs is the reason, and no step on the way to it" {
  sim_profile <<<"sriov: {rails: {vfs: 4}}"
  sim_start <<<"at /sys/bus/pci/devices/${PFS[5]}/sriov_numvfs write error ENOMEM"
  refused "sriov/${PFS[5]}/numvfs" RH-NIC-VF-FAILED site "no room for the VFs' memory"
  jq -e '[.faults[].code] == ["RH-NIC-VF-FAILED"]' "$root/run/railhead/status.json"
  jq -e '.faults[0].reason | contains("Cannot allocate memory") and contains("more that wait for it")' \
    "$root/run/railhead/status.json"
  # of several changes, why begins with the refused one and has no other one's remedy
  run -0 "$railhead" why --root "$root" "${PFS[5]}"
  [[ $output == *"remedy:  use pci=realloc, or the BIOS options for SR-IOV"*"why sriov/${PFS[5]}/numvfs"* ]]
}

@test "a sysctl that answers EINVAL: the kernel's word, and no advice to apply it again" {
  sim_profile <<<"sysctl: {net.core.rmem_max: 4294967296}"
  sim_start <<<"at /proc/sys/net/core/rmem_max write error EINVAL"
  refused sysctl/net.core.rmem_max RH-KERNEL-SYSCTL-FAILED profile "Invalid argument"
}

@test "a sysfs file that forbids the write" {
  sim_profile <<<"sysfs: {/sys/kernel/mm/transparent_hugepage/enabled: never}"
  sim_start <<<"at /sys/kernel/mm/transparent_hugepage/enabled write error EPERM"
  refused sysfs//sys/kernel/mm/transparent_hugepage/enabled RH-KERNEL-SYSFS-FAILED profile "Operation not permitted"
}

@test "fewer pages than asked for: short, with the node's number" {
  sim_profile <<<"hugepages: [{size: 2M, per_node: 64, at: runtime}]"
  sim_start <<<"at /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages write short 60"
  refused hugepages/2M/node1 RH-MEMORY-PAGES-FAILED profile "was set, but reads back '4'"
  jq -e '.faults[0].reason | endswith("(stage initrd; still '"'4'"')")' "$root/run/railhead/status.json"
}

@test "a driver whose probe of a VF fails" {
  sim_profile <<<"sriov: {rails: {vfs: 2, vf: {driver: netdev}}}"
  sim_start <<<"probe 0000:18:00.1 error EIO"
  refused "sriov/${PFS[0]}/vf0/driver" RH-NIC-VF-FAILED site "the probe of mlx5_core failed"
}

@test "set by a later stage or by hand: nothing is left of the refusal" {
  sim_profile <<<"sysctl: {net.core.rmem_max: 1048576}"
  sim_start <<<"at /proc/sys/net/core/rmem_max write times 1 error EINVAL"
  refused_once() { run -6 "$railhead" apply --root "$root" --stage early; }
  refused_once
  run -0 "$railhead" apply --root "$root" --stage devices
  run -0 "$railhead" gate --root "$root"
  run -0 "$railhead" why --root "$root" sysctl/net.core.rmem_max
  [[ $output == *"boot:    set by stage devices "* && $output != *"Invalid argument"* ]]
  # what another program sets after a good apply is the work of that program
  echo 5 >"$root/proc/sys/net/core/rmem_max"
  run -7 "$railhead" gate --recheck --root "$root"
  jq -e '.faults[0].code == "RH-KERNEL-SYSCTL-DIFFERS"' "$root/run/railhead/status.json"
  run -7 "$railhead" status --root "$root"
  [[ $output != *"Invalid argument"* ]]
  run -0 "$railhead" why --root "$root" sysctl/net.core.rmem_max
  [[ $output == *"drift:   held when stage devices ended"* && $output != *"Invalid argument"* ]]
}

@test "another wanted value: what the earlier one met says nothing of it" {
  sim_profile <<<"sysctl: {net.core.rmem_max: 4294967296}"
  sim_start <<<"at /proc/sys/net/core/rmem_max write times 1 error EINVAL"
  run -6 "$railhead" apply --root "$root"
  sim_profile <<<"sysctl: {net.core.rmem_max: 65536}"
  run -7 "$railhead" gate --root "$root"
  jq -e '.faults[0].code == "RH-KERNEL-SYSCTL-DIFFERS"' "$root/run/railhead/status.json"
}
