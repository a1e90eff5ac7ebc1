#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A value that holds in another notation is as wanted; another value that looks alike is not.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
}

sku() { # writes the profile from standard input, with the fields that each has
  { printf 'schema: 1\nname: sku\nmatch: {arch: x86_64}\n'; cat; } >"$BATS_TEST_TMPDIR/sku.yaml"
}

on() { # VERB... on the machine with the profile
  run "$railhead" "$@" --root "$root" --profile "$BATS_TEST_TMPDIR/sku.yaml"
}

holds() { # PATH PRINTED WANTED: no apply writes the file
  put "$root$1" "$2"
  if [[ $1 == /sys/* ]]; then sku <<<"sysfs: {$1: \"$3\"}"; else sku <<<"sysctl: {${1#/proc/sys/}: \"$3\"}"; fi
  for verb in verify apply plan gate; do
    on $verb
    echo "$1: $verb: $output"
    [ "$status" -eq 0 ]
  done
  [ "$(cat "$root$1")" = "$2" ]
}

differs() { # PATH PRINTED WANTED
  put "$root$1" "$2"
  if [[ $1 == /sys/* ]]; then sku <<<"sysfs: {$1: \"$3\"}"; else sku <<<"sysctl: {${1#/proc/sys/}: \"$3\"}"; fi
  on verify
  echo "$1: $output"
  [ "$status" -eq 5 ]
}

@test "numbers of sysctl hold in any base that the kernel reads" {
  holds /proc/sys/vm/swappiness 5 0x5
  holds /proc/sys/vm/swappiness 8 010
  holds /proc/sys/net/ipv4/tcp_rmem $'4096\t131072\t16777216' "4096 0x20000 0x1000000"
  holds /proc/sys/kernel/sched_rt_runtime_us -1 -0x1
  differs /proc/sys/vm/swappiness 10 010
  differs /proc/sys/vm/swappiness 5 0x50
  differs /proc/sys/net/ipv4/tcp_rmem $'4096\t131072' "4096 131072 16777216"
  differs /proc/sys/net/ipv4/tcp_rmem $'131072\t4096' "4096 131072"
}

@test "texts of sysctl are no numbers, and neither is what no document of the kernel names" {
  differs /proc/sys/kernel/hostname 8 010
  differs /proc/sys/net/ipv6/conf/eth0/stable_secret 5 0x5
  differs /proc/sys/lnet/unheard_of 5 0x5
  differs /proc/sys/kernel/unheard_of 8 010
}

@test "lists of ports and of CPUs are sets" {
  holds /proc/sys/net/ipv4/ip_local_reserved_ports 9100-9101,30000 30000,9100,9101
  holds /proc/sys/net/ipv4/ip_local_reserved_ports 1-3 1-2,2-3,1
  holds /proc/sys/kernel/watchdog_cpumask 0-3 0,1,2,3
  holds /proc/sys/net/ipv6/icmp/ratemask 0-1,3-127 3-127,0,1
  differs /proc/sys/net/ipv4/ip_local_reserved_ports 9100-9101,30000 30000,9100
  differs /proc/sys/net/ipv4/ip_local_reserved_ports 1-3 1,3
  differs /proc/sys/net/ipv4/ip_local_reserved_ports "" 9100
  differs /proc/sys/net/ipv4/ip_local_port_range $'32768\t60999' "60999 32768"
}

@test "masks of CPUs hold with other leading zeros" {
  holds /sys/devices/virtual/workqueue/cpumask 00ff ff
  holds /sys/class/net/eth0/queues/rx-0/rps_cpus 00000000,0000000f f
  holds /sys/class/net/eth0/queues/tx-0/xps_cpus 0f 00000000,0000000F
  holds /proc/sys/net/core/flow_limit_cpu_bitmap 0f f
  differs /sys/devices/virtual/workqueue/cpumask 00ff ff0
  differs /sys/class/net/eth0/queues/rx-0/rps_flow_cnt 00 0
}

@test "switches hold as Y, N, 1 and 0 where the file is one" {
  holds /sys/module/nvme_core/parameters/multipath N 0
  holds /sys/module/nvme_core/parameters/multipath Y 1
  holds /sys/kernel/mm/numa/demotion_enabled true 1
  holds /sys/kernel/mm/numa/demotion_enabled false 0
  holds /sys/kernel/mm/lru_gen/enabled 0x0007 7
  differs /sys/module/nvme_core/parameters/multipath N 1
  differs /sys/kernel/mm/numa/demotion_enabled true 0
  differs /sys/block/sda/queue/rotational 1 Y
  differs /sys/kernel/mm/lru_gen/enabled 0x0007 0
}

@test "words of a set hold in the kernel's order" {
  holds /proc/sys/net/ipv4/tcp_allowed_congestion_control "reno cubic" "cubic reno"
  holds /proc/sys/kernel/seccomp/actions_logged "kill_process errno" "errno  kill_process"
  differs /proc/sys/net/ipv4/tcp_allowed_congestion_control "reno cubic bbr" "cubic reno"
  differs /proc/sys/net/ipv4/tcp_allowed_congestion_control "reno" "cubic reno"
}

@test "numbers of sysfs, whose base no table says, are texts" {
  differs /sys/block/sda/queue/nr_requests 8 010
  differs /sys/block/sda/queue/nr_requests 256 0x100
}

@test "a bound leaves a larger value alone, and sets a smaller one to its number" {
  sku <<<'sysctl: {net.core.rmem_max: ">=212000"}
sysfs: {/sys/block/sda/queue/nr_requests: {value: ">=256"}}'
  put "$root/sys/block/sda/queue/nr_requests" 64
  on apply
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(cat "$root/proc/sys/net/core/rmem_max")" = 212992 ]
  [ "$(cat "$root/sys/block/sda/queue/nr_requests")" = 256 ]
  on gate
  [ "$status" -eq 0 ]
  put "$root/proc/sys/net/core/rmem_max" 211999
  on verify
  echo "$output"
  [ "$status" -eq 5 ]
  [[ $output == *"'211999' -> '>=212000'"* ]]
}

@test "check --root reports a file that two sections set, as the plan does" {
  mkdir -p "$root/etc/railhead/profiles"
  put "$root/sys/devices/pci0000:00/$PF0/net/eth0/mtu" 1500
  sku <<<"devices: {rails: {address: \"$PF0\"}}
link: {rails: {mtu: 9000}}
sysfs: {/sys/class/net/eth0/mtu: 4200}"
  cp "$BATS_TEST_TMPDIR/sku.yaml" "$root/etc/railhead/profiles/sku.yaml"
  run "$railhead" check --root "$root"
  echo "$output"
  [ "$status" -eq 3 ]
  [[ $output == *"sku.yaml:6:9: sysfs//sys/class/net/eth0/mtu: /sys/class/net/eth0/mtu: this line "*" sets '4200', link/$PF0/mtu "*" sets '9000'; drop one of the two"* ]]
  sed -i 's/4200/9000/' "$root/etc/railhead/profiles/sku.yaml"
  run "$railhead" check --root "$root"
  echo "$output"
  [ "$status" -eq 0 ]
}
