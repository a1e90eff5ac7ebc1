#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# link: what is set of each queue of a netdev (RPS, RFS, XPS), on a machine that is a directory tree.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/simnode

teardown() { sim_stop; }

# CPUs 0-1 on node 0 with eth0, 2-3 on node 1 with eth1; eth0 has four queues, eth1 two.
setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  put "$root/sys/devices/system/node/node0/cpulist" 0-1
  put "$root/sys/devices/system/node/node1/cpulist" 2-3
  put "$root/sys/devices/system/cpu/online" 0-3
  queues eth0 4
  queues eth1 2
}

queues() { # NETDEV N
  local i
  for ((i = 0; i < $2; i++)); do
    put "$root/sys/class/net/$1/queues/rx-$i/rps_cpus" 00000000,00000000
    put "$root/sys/class/net/$1/queues/rx-$i/rps_flow_cnt" 0
    put "$root/sys/class/net/$1/queues/tx-$i/xps_cpus" 00000000,00000000
  done
}

# What each queue of a netdev has, in order.
all_of() { # NETDEV DIRECTION FILE
  local q
  for q in "$root/sys/class/net/$1/queues/$2"-*; do cat "$q/$3"; echo; done | xargs
}

sections() { # LINK [MORE]
  profile "$root" sku <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {rails: {pci: "15b3:1021"}}
link: {rails: {$1}}
${2:-}
Y
}

apply() { # EXIT
  run "-$1" "$railhead" apply --root "$root" --stage devices
}

@test "queues: the CPUs of the NIC's own node share what each receive queue gets, and go round those that send" {
  sections 'rps: local_node, rps_flows: 4096, xps: local_node'
  apply 0
  [ "$(all_of eth0 rx rps_cpus)" = "3 3 3 3" ]
  [ "$(all_of eth1 rx rps_cpus)" = "c c" ]
  [ "$(all_of eth0 tx xps_cpus)" = "1 2 1 2" ]
  [ "$(all_of eth1 tx xps_cpus)" = "4 8" ]
  [ "$(all_of eth0 rx rps_flow_cnt)" = "4096 4096 4096 4096" ]
  run -0 "$railhead" plan --root "$root" --stage devices
}

@test "queues: masks are compared by value, and what is right is not written" {
  sections 'rps: 0-1, xps: none'
  for i in 0 1 2 3; do put "$root/sys/class/net/eth0/queues/rx-$i/rps_cpus" 00000000,00000003; done
  for i in 0 1; do put "$root/sys/class/net/eth1/queues/rx-$i/rps_cpus" 3; done
  run -0 strace -f -e trace=open,openat,openat2 -o "$BATS_TEST_TMPDIR/trace" \
    "$railhead" apply --root "$root" --stage devices
  [ -z "$(writes_of "$BATS_TEST_TMPDIR/trace" | grep queues)" ]
  put "$root/sys/class/net/eth0/queues/rx-2/rps_cpus" 00000001,00000003
  run -5 "$railhead" plan --root "$root" --stage devices
  [[ $output == *"link/$PF0/rps "*"'3 of 4 queues on CPUs 0-1; rx-2 of eth0 has 00000001,00000003' -> '0-1'"* ]]
  apply 0
  [ "$(all_of eth0 rx rps_cpus)" = "00000000,00000003 00000000,00000003 3 00000000,00000003" ]
}

@test "queues: more CPUs than queues share them, and isolated or absent CPUs have no part" {
  sections 'rps: 0-3, xps: 0-3' 'kernel_args: {isolate_cpus: "3"}'
  put "$root/sys/devices/system/cpu/online" 0-3
  apply 0
  [ "$(all_of eth1 rx rps_cpus)" = "7 7" ]
  [ "$(all_of eth1 tx xps_cpus)" = "5 2" ]
  put "$root/sys/devices/system/cpu/isolated" 0-2
  apply 6
  [[ $output == *"all CPUs of CPUs 0-3 are isolated"*"none is left for its packets"*"name other CPUs in rps"* ]]
}

@test "queues: none takes the CPUs away again" {
  sections 'rps: local_node, xps: local_node'
  apply 0
  sections 'rps: none, rps_flows: 0, xps: none'
  apply 0
  [ "$(all_of eth0 rx rps_cpus)" = "0 0 0 0" ]
  [ "$(all_of eth1 tx xps_cpus)" = "0 0" ]
}

@test "queues: a netdev with one queue, which takes no xps, is named, or forgiven where it may lack it" {
  rm -r "$root/sys/class/net/eth1/queues"
  queues eth1 1
  sections 'xps: local_node'
  sim=$BATS_TEST_TMPDIR/sim
  mkdir "$sim"
  mv "$root" "$sim/node"
  sim_start <<<'at /sys/*/net/eth1/queues/*/xps_cpus read error ENOENT'
  apply 6
  [[ $output == *"eth1 ($PF1) has no xps_cpus for its 1 tx queue: "*"a single queue has no such file"*"name xps in link.SET.optional"* ]]
  [ "$(all_of eth0 tx xps_cpus)" = "1 2 1 2" ]
  sections 'xps: local_node, optional: [xps]'
  apply 0
}

@test "queues: a kernel's refusal is told with the file, and a tree without queues is left alone" {
  sections 'rps: local_node'
  rm -r "$root/sys/class/net/eth1/queues"
  sim=$BATS_TEST_TMPDIR/sim
  mkdir "$sim"
  mv "$root" "$sim/node"
  sim_start <<<'at /sys/*/queues/rx-2/rps_cpus write error EINVAL'
  apply 6
  [[ $output == *"queues/rx-2/rps_cpus"*"Invalid argument"* ]]
  run -5 "$railhead" plan --root "$root" --stage devices
  [[ $output == *"link/$PF1/rps "*"'unknown' -> 'local_node'"* ]]
}
