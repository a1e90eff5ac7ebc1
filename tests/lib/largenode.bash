# SPDX-License-Identifier: GPL-2.0-or-later
# On top of fakenode.bash: a node of the size that railhead is for, a profile of usual length for
# either, and a node of many settings.
# shellcheck shell=bash

# 8 PFs with SR-IOV among 256 PCI functions, most of them bridges; or among as many as asked for. Each
# has the modalias that every kernel shows.
large_node() { # ROOT [FUNCTIONS]
  local root=$1 functions=${2:-256} i addr dev dirs=()
  fake_node "$root"
  for i in 2 3 4 5 6 7; do
    fake_pf "$root" "$(printf '0000:%02x:00.0' $((0x81 + i)))" $((i % 2)) "eth$i" $((i + 2))
  done
  for dev in "$root"/sys/devices/pci0000:00/*; do
    echo pci:v000015B3d00001021sv000015B3sd00000023bc02sc00i00 >"$dev/modalias"
  done
  for ((i = 0; i < functions - 8; i++)); do
    dirs+=("$(printf '%s/sys/devices/pci0000:00/0001:%02x:%02x.0' "$root" $((i / 31)) $((i % 31)))")
  done
  mkdir -p "${dirs[@]}"
  for dev in "${dirs[@]}"; do
    addr=${dev##*/}
    echo 0x1000 >"$dev/vendor"
    echo 0xc030 >"$dev/device"
    echo 0x1000 >"$dev/subsystem_vendor"
    echo 0x100b >"$dev/subsystem_device"
    echo 0x060400 >"$dev/class"
    echo pci:v00001000d0000C030sv00001000sd0000100Bbc06sc04i00 >"$dev/modalias"
    echo 0 >"$dev/numa_node"
    ln -s "../../../devices/pci0000:00/$addr" "$root/sys/bus/pci/devices/$addr"
  done
}

sriov_profile() { # ROOT VFS-PER-PF
  profile "$1" sku <<Y
schema: 1
name: sku
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro, product_name: "SYS-821GE-*"}}
devices:
  rails: {pci: "15b3:1021"}
expect: {numa_nodes: 2, cpu_sockets: 2, memory: ">=16G"}
hugepages: [{size: 2M, per_node: 4, at: runtime}]
sriov: {rails: {vfs: $2, vf: {driver: netdev}}}
sysctl: {vm.swappiness: 10, net.core.rmem_max: 268435456}
sysfs: {/sys/kernel/mm/transparent_hugepage/enabled: never}
gate:
  checks:
    links: {run: pcie_link, on: rails, speed: 32GT/s, width: 16}
    carriers: {run: carrier, on: rails}
Y
}

# A small node, whose profile has 15 sysctls, or more, and as many values of sysfs as asked for; all
# are as wanted.
settings_node() { # ROOT [SYSFS-VALUES [FURTHER-SYSCTLS]]
  local root=$1 sysfs=${2:-40} i key
  fake_node "$root"
  mkdir -p "$root/sys/kernel/mm/many"
  {
    printf 'schema: 1\nname: sku\nversion: 1.0.0\nmatch: {dmi: {sys_vendor: Supermicro}}\nsysctl:\n'
    for key in net/core/{rmem_max,wmem_max,rmem_default,wmem_default,optmem_max,somaxconn} \
      net/core/{netdev_max_backlog,busy_poll,busy_read,dev_weight} \
      vm/{dirty_ratio,dirty_background_ratio,vfs_cache_pressure,zone_reclaim_mode,overcommit_memory}; do
      echo 1 >"$root/proc/sys/$key"
      echo "  ${key//\//.}: 1"
    done
    for ((i = 1; i <= ${3:-0}; i++)); do
      put "$root/proc/sys/net/ipv4/conf/eth$i/rp_filter" 1
      echo "  net.ipv4.conf.eth$i.rp_filter: 1"
    done
    echo "sysfs:"
    for ((i = 1; i <= sysfs; i++)); do
      echo "$i" >"$root/sys/kernel/mm/many/value$i"
      echo "  /sys/kernel/mm/many/value$i: $i"
    done
  } | profile "$root" sku
}
