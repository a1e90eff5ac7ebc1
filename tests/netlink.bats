#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What goes by netlink, in a machine that is a directory tree: shown, and not tried on this one.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  fake_kernel "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro, product_name: "SYS-821GE-*"}}
devices:
  rails: {pci: "15b3:1021", expect: 2}
rdma: {netns: exclusive}
sriov: {rails: {vfs: 2, mode: switchdev, vf: {driver: netdev, mac: derived, trust: true}}}
Y
}

teardown() {
  stop_fake_kernel
}

@test "plan shows what would be set, and asks no kernel" {
  run -5 strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=socket,fork,vfork,clone,clone3 \
    "$railhead" plan --root "$root"
  [[ $output == *"differs     rdma/netns "*"'unknown' -> 'exclusive'"* ]]
  [[ $output == *"waits       sriov/$PF0/vf1/address"*"'no such VF' -> 'mac derived trust on'"* ]]
  [[ $output == *"sriov/$PF1/eswitch "*"-> 'switchdev'"* ]]
  [ -z "$(grep -E 'AF_NETLINK|fork|clone' "$BATS_TEST_TMPDIR/trace")" ]
}

@test "apply leaves it out, and the rest is done" {
  run -0 "$railhead" apply --root "$root"
  [[ $output == *"rdma/netns: unsupported: netlink settings apply only to the running machine"* ]]
  [[ $output == *"sriov/$PF0/eswitch: unsupported"* ]]
  [[ $output == *"sriov/$PF1/vf0/address: unsupported"* ]]
  [ "$(cat "$root/sys/bus/pci/devices/$PF0/sriov_numvfs")" = 2 ]
  [ -L "$root/sys/bus/pci/devices/$PF1/virtfn1/driver" ]
}
