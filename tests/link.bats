#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The section link in a machine that is a directory tree: what has a file is compared and, where
# that is how it is set, written; the rest is shown, and not tried on this machine.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  for netdev in eth0 eth1; do
    put "$root/sys/class/net/$netdev/mtu" 1500
    put "$root/sys/class/net/$netdev/tx_queue_len" 1000
    put "$root/sys/class/net/$netdev/gro_flush_timeout" 0
    put "$root/sys/class/net/$netdev/speed" 200000
  done
  profile "$root" sku <<'Y'
schema: 1
name: sku
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro, product_name: "SYS-821GE-*"}}
devices:
  rails: {pci: "15b3:1021", expect: 2}
link:
  rails: {up: true, mtu: 9000, rings: {rx: 8192}, tx_queue_len: 1000, gro_flush_timeout: 20us}
gate:
  checks:
    ports: {run: carrier, on: rails, speed: 400Gb/s}
Y
}

@test "plan shows what differs in the tree, and asks no kernel" {
  run -5 strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=socket,fork,vfork,clone,clone3 \
    "$railhead" plan --root "$root"
  [[ $output == *"differs     link/$PF0/mtu "*"'1500' -> '9000'"* ]]
  [[ $output == *"differs     link/$PF1/rings "*"'unknown' -> 'rx 8192'"* ]]
  [[ $output == *"differs     link/$PF1/gro_flush_timeout "*"'0' -> '20000'"* ]]
  [[ $output != *"link/$PF0/tx_queue_len "* && $output != *"link/$PF0/up "* ]]
  [[ $output == *"gate/ports/$PF0/speed "*"'200Gb/s' -> '400Gb/s'"* ]]
  [[ $output != *"gate/ports/$PF0 "* ]]
  [ -z "$(grep -E 'AF_NETLINK|fork|clone' "$BATS_TEST_TMPDIR/trace")" ]
}

@test "apply writes what is a file, and leaves the rest out" {
  run -0 "$railhead" apply --root "$root"
  [[ $output == *"link/$PF0/mtu: unsupported: netlink settings apply only to the running machine"* ]]
  [[ $output == *"link/$PF0/gro_flush_timeout: set"* ]]
  [ "$(cat "$root/sys/class/net/eth1/gro_flush_timeout")" = 20000 ]
  [ "$(cat "$root/sys/class/net/eth1/mtu")" = 1500 ]
}

@test "a setting whose file the tree has not is one that the driver does not offer" {
  rm "$root/sys/class/net/eth0/gro_flush_timeout"
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"failed      link/$PF0/gro_flush_timeout "*"offers no gro_flush_timeout; leave link.SET.gro_flush_timeout out, or name gro_flush_timeout in link.SET.optional"* ]]
  [[ $output == *"differs     link/$PF1/gro_flush_timeout "*"'0' -> '20000'"* ]]
}
