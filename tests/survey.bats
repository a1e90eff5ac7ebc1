#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# survey: what a node is, as text and as data.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
}

json() { "$railhead" survey --json --root "$root" | jq -r "$1"; }

# A VF of $1 at $2, bound to $3.
fake_vf() {
  local dev=$root/sys/devices/pci0000:00/$2
  put "$dev/vendor" 0x15b3
  put "$dev/device" 0x101e
  put "$dev/class" 0x020000
  put "$dev/numa_node" 0
  ln -s "../$1" "$dev/physfn"
  ln -s "/sys/bus/pci/drivers/$3" "$dev/driver"
  ln -s "../../../devices/pci0000:00/$2" "$root/sys/bus/pci/devices/$2"
}

fake_bridge() {
  local dev=$root/sys/devices/pci0000:00/$1
  put "$dev/modalias" pci:v00008086d0000352Asv00000000sd00000000bc06sc04i00
  ln -s "../../../devices/pci0000:00/$1" "$root/sys/bus/pci/devices/$1"
}

@test "survey: functions stand under their NUMA node, with names, link and netdev" {
  put "$root/sys/class/net/eth0/operstate" up
  put "$root/sys/class/net/eth0/speed" 400000
  put "$root/sys/class/net/eth0/mtu" 9000
  put "$root/sys/devices/system/node/node1/meminfo" "Node 1 MemTotal:       8388608 kB"
  put "$root/sys/devices/system/node/node1/cpulist" 2-3
  run -0 "$railhead" survey --root "$root"
  [[ $output == *"Supermicro SYS-821GE-TNHR"* ]]
  [[ $output == *"2 sockets, 4 CPUs (0-3)"* ]]
  [[ $output == *"NUMA node 0:"*"$PF0 [15b3:1021]"*"mlx5_core"*"link x16 32.0 GT/s"*"netdev eth0 up, 400000 Mb/s, mtu 9000"*"NUMA node 1: CPUs 2-3, 8.0G"*"$PF1"* ]]
}

@test "survey: VFs are a count under their PF, bridges only with --all" {
  fake_vf $PF0 0000:41:00.1 vfio-pci
  fake_vf $PF0 0000:41:00.2 vfio-pci
  fake_bridge 0000:40:01.0
  run -0 "$railhead" survey --root "$root"
  [[ $output == *"2 of 8 VFs: 0000:41:00.1 to 0000:41:00.2, vfio-pci"* ]]
  [[ $output != *"0000:40:01.0"* ]]
  [[ $output == *"1 more functions"* ]]
  run -0 "$railhead" survey --all --root "$root"
  [[ $output == *"0000:40:01.0 [8086:352a]"* ]]
  [[ $output == *"0000:41:00.2 [15b3:101e]"* ]]
  [ "$(json '.pci[] | select(.address == "0000:41:00.0") | .numvfs')" = 2 ]
  [ "$(json '.pci[] | select(.address == "0000:41:00.2") | .physfn')" = $PF0 ]
}

@test "survey --json: RDMA devices, GPUs, modules, IOMMU groups" {
  local dev=$root/sys/devices/pci0000:00/$PF0 gpu=0000:1b:00.0
  put "$dev/infiniband/mlx5_0/fw_ver" 28.39.1002
  put "$dev/infiniband/mlx5_0/ports/1/link_layer" InfiniBand
  put "$dev/infiniband/mlx5_0/ports/1/rate" "400 Gb/sec (4X NDR)"
  ln -s ../.. "$dev/infiniband/mlx5_0/device"
  mkdir -p "$root/sys/class/infiniband"
  ln -s "../../devices/pci0000:00/$PF0/infiniband/mlx5_0" "$root/sys/class/infiniband/mlx5_0"
  put "$root/sys/devices/pci0000:00/$gpu/modalias" pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00
  ln -s "../../../devices/pci0000:00/$gpu" "$root/sys/bus/pci/devices/$gpu"
  printf 'Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-1234\nVideo BIOS: \t 96.00.5e\n' >"$BATS_TEST_TMPDIR/info"
  put "$root/proc/driver/nvidia/gpus/$gpu/information" "$(cat "$BATS_TEST_TMPDIR/info")"
  put "$root/sys/module/mlx5_core/version" 24.10-0.7.0
  put "$root/sys/kernel/iommu_groups/7/type" DMA-FQ
  mkdir -p "$root/sys/kernel/iommu_groups/7/devices/$PF0"
  ln -s ../../../../kernel/iommu_groups/7 "$dev/iommu_group"
  [ "$(json '.rdma[0].fw_ver')" = 28.39.1002 ]
  [ "$(json '.rdma[0].ports[0].rate')" = "400 Gb/sec (4X NDR)" ]
  [ "$(json '.gpus[0] | .address + " " + .model')" = "$gpu NVIDIA H100 80GB HBM3" ]
  [ "$(json '.gpus[0] | has("uuid")')" = false ]
  [ "$(json '.modules[0] | .name + " " + .version')" = "mlx5_core 24.10-0.7.0" ]
  [ "$(json '.iommu_groups[0] | .group + " " + .type + " " + .devices')" = "7 DMA-FQ $PF0" ]
  [ "$(json '.pci[] | select(.address == "'$PF0'") | .iommu_group')" = 7 ]
  [ "$(json '.memory')" = 17179869184 ]
}

@test "survey: nodes of GPU memory are shown, empty ones counted" {
  local n
  put "$root/sys/devices/system/node/online" 0-7
  for n in 2 3 4 5 6 7; do put "$root/sys/devices/system/node/node$n/meminfo" "Node $n MemTotal:       $((n == 2 ? 100663296 : 0)) kB"; done
  run -0 "$railhead" survey --root "$root"
  [[ $output == *"NUMA node 2: no CPUs, 96.0G"*"5 more NUMA nodes have neither CPUs nor memory"* ]]
  [[ $output != *"NUMA node 3:"* ]]
  [ "$(json '.numa_nodes | length')" = 8 ]
}

@test "survey: an empty tree is a machine of which nothing is known" {
  mkdir "$BATS_TEST_TMPDIR/empty"
  run -0 "$railhead" survey --root "$BATS_TEST_TMPDIR/empty"
  [[ $output == *unknown* ]]
  run -0 "$railhead" survey --json --root "$BATS_TEST_TMPDIR/empty"
  jq -e '.pci == [] and .memory == 0 and .cpu.vendor == "unknown"' <<<"$output"
}

@test "survey: bytes that are no UTF-8 still make valid JSON" {
  printf 'A\xff\xfeB\n' >"$root/sys/class/dmi/id/product_name"
  run -0 "$railhead" survey --json --root "$root"
  [ "$(jq -r .dmi.product_name <<<"$output")" = "A??B" ]
}

@test "survey: opens nothing for writing" {
  run -0 strace -f -o "$BATS_TEST_TMPDIR/log" -e trace=open,openat,openat2,creat "$railhead" survey --root "$root"
  [ -z "$(writes_of "$BATS_TEST_TMPDIR/log")" ]
}

@test "a newline in a value of the machine begins no line of output" {
  local command forged=$'\nverdict: ready (work is admitted)'
  printf 'schema: 1\nname: a\nmatch: {dmi: {sys_vendor: "*"}}\nsysctl: {vm.swappiness: 10}\n' | profile "$root" a
  cp -a "$root" "$root.other"
  printf '60%s\n' "$forged" >"$root/proc/sys/vm/swappiness"
  for file in sys_vendor product_name bios_vendor bios_version bios_date; do
    printf 'X%s\n' "$forged" >"$root/sys/class/dmi/id/$file"
  done
  for file in "$root"/sys/bus/pci/devices/*/current_link_speed; do
    printf 'X%s\n' "$forged" >"$file"
  done
  for command in gate status "status --all" verify plan "match --explain" survey "survey --all" "diff node $root.other/" \
    "why vm.swappiness" "why sysctl/vm.swappiness" "history" "status --html $BATS_TEST_TMPDIR/page"; do
    # shellcheck disable=SC2086 # words
    run "$railhead" $command --root "$root"
    [[ $output != *$'\nverdict: ready'* && $output != "verdict: ready"* ]] || { echo "forged by $command"; return 1; }
  done
  "$railhead" survey --html "$BATS_TEST_TMPDIR/page" --root "$root"
  grep -q '<title>X?verdict: ready.*</title>' "$BATS_TEST_TMPDIR/page"
  run -7 "$railhead" status --root "$root"
  [[ $output == *"found '60?verdict: ready (work is admitted)', expected '10'"* ]]
}
