#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The checklist that a node is gone through by hand after its setup, item by item: each is seen
# by `railhead verify`, and the broken one is named. One machine, set up once, is broken in a
# copy in one place at a time.

bats_require_minimum_version 1.5.0
load lib/simnode

RAIL=${PFS[0]}
NETDEV=enp24s0
IBDEV=mlx5_0
GPU=0000:19:00.0
wanted="intel_iommu=on iommu=pt"

setup_file() {
  local node
  sim_need
  sim=$BATS_FILE_TMPDIR
  sim_tree "$sim"
  node=$sim/node
  sim_profile <<'Y'
kernel_args: {iommu: passthrough}
hugepages: [{size: 1G, per_node: 2, at: runtime}]
modules: {load: [mlx5_core, mlx5_ib, ib_uverbs]}
sriov: {rails: {vfs: 2, vf: {driver: netdev}}}
qos: {rails: {dcqcn: {priorities: [3]}}}
pairs: {nics: rails, gpus: gpus, within: pcie_switch}
gate:
  checks:
    carrier: {run: carrier, on: rails, speed: 400Gb/s}
    rdma: {run: rdma_link, on: rails, speed: 400Gb/s}
    links: {run: pcie_link, on: rails, width: 16, speed: 32GT/s}
    errors: {run: pcie_errors, on: rails, corrected: 10}
    iommu: {run: iommu_groups, on: rails, type: identity}
    groups: {run: iommu_groups, on: vfs of rails, isolated: true}
    memlock: {run: memlock, units: [containerd.service]}
Y
  sim_start </dev/null
  "$railhead" apply --stage initrd --root "$root" || [ $? -eq 8 ]
  "$railhead" apply --stage early --root "$root"
  "$railhead" apply --stage devices --root "$root"
  sim_stop
  boot_with_arguments "$node"
  add_facts "$node"
  "$railhead" gate --root "$node" # its arguments become the good ones
}

# What GRUB and the kernel do on the boot that tries the arguments.
boot_with_arguments() { # NODE
  grub-editenv "$1/boot/grub/railhead.env" set railhead_try=t
  echo "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro $wanted railhead.slot=b railhead.trial=b panic=30" >"$1/proc/cmdline"
  echo 22222222-2222-3333-4444-555555555555 >"$1/proc/sys/kernel/random/boot_id"
}

# What the machine of the other tests does without.
add_facts() { # NODE
  local file
  for file in "$1"/sys/class/net/enp*s0/carrier; do echo 400000 >"${file%/*}/speed"; done
  for file in "$1"/sys/class/infiniband/*/ports/1; do echo "400 Gb/sec (4X NDR)" >"$file/rate"; done
  for file in "$1"/sys/kernel/iommu_groups/*; do echo identity >"$file/type"; done
  mkdir -p "$1/sys/fs/cgroup/system.slice/containerd.service" "$1/proc/4242"
  echo 4242 >"$1/sys/fs/cgroup/system.slice/containerd.service/cgroup.procs"
  echo containerd >"$1/proc/4242/comm"
  echo "Max locked memory         unlimited            unlimited            bytes     " >"$1/proc/4242/limits"
}

setup() {
  node=$BATS_FILE_TMPDIR/node
  kept=()
}

teardown() {
  mend
}

# What is about to be broken; mend puts it back.
keep() { # PATH...
  local path
  for path; do
    mkdir -p "$BATS_TEST_TMPDIR/kept/$(dirname "$path")"
    cp -a "$path" "$BATS_TEST_TMPDIR/kept/$path"
    kept+=("$path")
  done
}

mend() {
  local path
  for path in "${kept[@]}"; do
    rm -rf "$path"
    cp -a "$BATS_TEST_TMPDIR/kept/$path" "$path"
  done
  rm -rf "$BATS_TEST_TMPDIR/kept"
  kept=()
}

# The file has another text from here on.
now_has() { # PATH LINE...
  keep "$1"
  printf '%s\n' "${@:2}" >"$1"
}

gone() { # PATH
  keep "$1"
  rm -r "$1"
}

dev() { echo "$node/sys/bus/pci/devices/$1"; } # ADDRESS

# verify finds what has such an id, and nothing else, and says why; then the machine is whole again.
named() { # IDS PATTERN
  run "$railhead" verify --json --root "$node"
  if [ "$status" -ne 5 ] || ! jq -e --arg id "$1" --arg pattern "$2" '
    [.changes[] | select(.state == "differs" or .state == "failed" or .state == "waits")]
    | length >= 1 and all(.id | test("^" + $id))
      and any("\(.observed); \(.reason // "")" | test($pattern))' <<<"$output" >/dev/null; then
    echo "wanted: $1, $2; exit $status" >&2
    jq -c '.changes[] | select(.state != "same" and .state != "unsupported")
      | [.id, .state, .observed, .reason]' <<<"$output" >&2
    return 1
  fi
  mend
}

@test "nothing is broken: verify finds no difference, and has seen every item" {
  run -0 "$railhead" verify --json --root "$node"
  for id in kernel_args/arrived/intel_iommu=on kernel_args/arrived/iommu=pt hugepages/1G/node0 \
    hugepages/1G/node1 modules/load/mlx5_core modules/load/mlx5_ib modules/load/ib_uverbs \
    "sriov/$RAIL/numvfs" "sriov/$RAIL/vf1/driver" "qos/$RAIL/dcqcn/priorities" "pairs/$RAIL" \
    "gate/carrier/$RAIL" "gate/carrier/$RAIL/speed" "gate/rdma/$RAIL" "gate/rdma/$RAIL/speed" \
    "gate/links/$RAIL/width" "gate/links/$RAIL/speed" "gate/errors/$RAIL" \
    "gate/errors/$RAIL/corrected" "gate/iommu/$RAIL/type" "gate/groups/$RAIL/1" \
    gate/memlock/containerd.service; do
    jq -e --arg id "$id" '.changes[] | select(.id == $id) | .state == "same"' <<<"$output" ||
      { echo "not seen: $id"; false; }
  done
}

@test "the IOMMU: its argument, that it is on, its mode" {
  now_has "$node/proc/cmdline" "$(sed 's/ iommu=pt//' "$node/proc/cmdline")"
  named kernel_args/ "iommu=pt|not on the command line"
  gone "$(dev "$RAIL")/iommu_group"
  named "gate/iommu/$RAIL" "no group"
  now_has "$(dev "$RAIL")/iommu_group/type" DMA
  named "gate/iommu/$RAIL/type" "DMA"
}

@test "hugepages are counted for each node" {
  now_has "$node/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages" 1
  named hugepages/1G/node1 "^1;"
}

@test "the RDMA driver is loaded, its devices are there, their ports are up and fast" {
  port=$node/sys/class/infiniband/$IBDEV/ports/1
  gone "$node/sys/module/mlx5_ib"
  named modules/load/mlx5_ib ""
  gone "$(dev "$RAIL")/infiniband"
  named "gate/rdma/$RAIL" "no RDMA device"
  now_has "$port/state" "1: DOWN"
  now_has "$port/phys_state" "3: Disabled"
  named "gate/rdma/$RAIL" "DOWN; port 1 of $IBDEV is switched off"
  now_has "$port/state" "2: INIT"
  now_has "$port/link_layer" InfiniBand
  named "gate/rdma/$RAIL" "INIT; .* no subnet manager"
  now_has "$port/rate" "100 Gb/sec (1X NDR)"
  named "gate/rdma/$RAIL/speed" "100Gb/s; .* trained to a lower speed .1X NDR."
}

@test "VFs are there, and bound" {
  gone "$(dev "$RAIL")/virtfn1"
  named "(sriov/$RAIL/|gate/groups/$RAIL/1)" "the VF does not exist"
  gone "$(dev "$RAIL")/virtfn0/driver"
  named "sriov/$RAIL/vf0/driver" ""
}

@test "DCQCN is on, at both ends" {
  for end in rp np; do
    now_has "$node/sys/class/net/$NETDEV/ecn/roce_$end/enable/3" 0
    named "qos/$RAIL/dcqcn/priorities" ""
  done
}

@test "NICs have a carrier and the speed that was asked for" {
  now_has "$node/sys/class/net/$NETDEV/carrier" 0
  named "gate/carrier/$RAIL" "no carrier"
  now_has "$node/sys/class/net/$NETDEV/speed" 100000
  named "gate/carrier/$RAIL/speed" "100Gb/s; $NETDEV of $RAIL trained to a lower speed"
}

@test "a NIC has its GPU near it, and both are there" {
  keep "$(dev $GPU)"
  mkdir -p "$node/sys/devices/pci0000:ff"
  cp -a "$(readlink -f "$(dev $GPU)")" "$node/sys/devices/pci0000:ff/$GPU"
  ln -sfn "../../../devices/pci0000:ff/$GPU" "$(dev $GPU)"
  named "pairs/" "$GPU|numa"
  gone "$(dev $GPU)"
  named "(devices/gpus/expect|pairs/)" "^7;"
}

@test "VFs are in groups of their own" {
  vf=$(basename "$(readlink "$(dev "$RAIL")/virtfn0")")
  other=$(basename "$(readlink "$(dev "$RAIL")/virtfn1")")
  keep "$(readlink -f "$(dev "$vf")/iommu_group")/devices"
  ln -s "$(dev "$other")" "$(dev "$vf")/iommu_group/devices/$other"
  named "gate/groups/$RAIL/0" "$vf shares its IOMMU group"
}

@test "the PCIe link is as wide and fast as it should be, and without errors" {
  now_has "$(dev "$RAIL")/current_link_width" 8
  named "gate/links/$RAIL/width" "^8;"
  now_has "$(dev "$RAIL")/current_link_speed" "16.0 GT/s PCIe"
  named "gate/links/$RAIL/speed" "16.0 GT/s"
  now_has "$(dev "$RAIL")/aer_dev_nonfatal" "Undefined 0" "CmpltTO 2" "TOTAL_ERR_NONFATAL 2"
  named "gate/errors/$RAIL" "^2; uncorrected PCIe errors since boot: $RAIL CmpltTO 2"
  now_has "$(dev "$RAIL")/aer_dev_correctable" "RxErr 1" "BadTLP 10" "TOTAL_ERR_COR 11"
  named "gate/errors/$RAIL/corrected" "^11; .*RxErr 1, BadTLP 10"
}

@test "units that run may lock the memory that RDMA pins" {
  now_has "$node/proc/4242/limits" \
    "Max locked memory         8388608              8388608              bytes     "
  named gate/memlock/containerd.service "^8M; process 4242 .containerd. of containerd.service"
}
