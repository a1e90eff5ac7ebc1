#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pcie, irq and pairs on a machine that is a directory tree: config space, /proc/irq, topology.

bats_require_minimum_version 1.5.0
load lib/fakenode

TREE=sys/devices/pci0000:40
PORT=0000:40:01.0 UP=0000:3d:00.0 DOWN=0000:3e:00.0
GPU0=0000:42:00.0 GPU1=0000:82:00.0

# Sets little-endian 16-bit words of a config space: OFFSET VALUE ...
poke() { # FILE OFFSET VALUE...
  local file=$1
  shift
  while [ $# -gt 0 ]; do
    # shellcheck disable=SC2059 # the format is made of the value's two bytes
    printf "$(printf '\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8)))" |
      dd of="$file" bs=1 seek=$(($1)) conv=notrunc status=none
    shift 2
  done
}

word() { # FILE OFFSET
  od -An -tx2 -j $(($2)) -N 2 --endian=little "$1" | tr -d ' '
}

# A function with a PCI Express capability at 0x40: 512 bytes of payload possible and 128 used,
# reads of 512, relaxed ordering, ASPM possible and off.
express() { # DIR TYPE
  head -c 4096 /dev/zero >"$1/config"
  poke "$1/config" 0x00 0x8086 0x02 0x352a 0x06 0x0010 0x34 0x0040 0x40 0x0010 \
    0x42 $(($2 << 4 | 2)) 0x44 2 0x48 0x2810 0x4c 0x0d05 0x50 0x0040
}

bridge() { # DIR TYPE
  mkdir -p "$1"
  express "$1" "$2"
  put "$1/class" 0x060400
  ln -sfn "../../../${1#"$root/sys/"}" "$root/sys/bus/pci/devices/${1##*/}"
}

# PF0 below a port of a switch; PF1 below a root port of its own.
place() {
  bridge "$root/$TREE/$PORT" 4
  bridge "$root/$TREE/$PORT/$UP" 5
  bridge "$root/$TREE/$PORT/$UP/$DOWN" 6
  bridge "$root/sys/devices/pci0000:80/0000:80:01.0" 4
  move $PF0 "$root/$TREE/$PORT/$UP/$DOWN"
  move $PF1 "$root/sys/devices/pci0000:80/0000:80:01.0"
}

move() { # ADDRESS DIR
  mv "$root/sys/devices/pci0000:00/$1" "$2/$1"
  express "$2/$1" 0
  ln -sfn "../../../${2#"$root/sys/"}/$1" "$root/sys/bus/pci/devices/$1"
}

gpu() { # ADDRESS DIR NUMA
  put "$2/$1/vendor" 0x10de
  put "$2/$1/device" 0x2330
  put "$2/$1/class" 0x030200
  put "$2/$1/numa_node" "$3"
  ln -sfn "../../../${2#"$root/sys/"}/$1" "$root/sys/bus/pci/devices/$1"
}

# Four vectors of each PF, anywhere.
vectors() {
  local pf irq=50 i
  put "$root/sys/devices/system/node/node0/cpulist" 0-1
  put "$root/sys/devices/system/node/node1/cpulist" 2-3
  put "$root/sys/devices/system/cpu/online" 0-3
  for pf in $PF0 $PF1; do
    for i in 0 1 2 3; do
      put "$root/sys/bus/pci/devices/$pf/msi_irqs/$irq" msix
      put "$root/proc/irq/$irq/smp_affinity_list" 0-3
      mkdir -p "$root/proc/irq/$irq/mlx5_comp$i@pci:$pf"
      irq=$((irq + 1))
    done
  done
}

cpus_of() { # IRQ...
  local i
  for i; do cat "$root/proc/irq/$i/smp_affinity_list"; echo; done | xargs
}

sections() { # YAML
  profile "$root" sku <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {rails: {pci: "15b3:1021"}, gpus: {pci: "10de:2330"}}
$1
Y
}

apply() { # EXIT
  run "-$1" "$railhead" apply --root "$root" --stage devices
}

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  place
  config=$root/$TREE/$PORT/$UP/$DOWN/$PF0/config
}

# --- pcie -------------------------------------------------------------------------------------

@test "pcie: registers are set bit by bit, and a second run opens nothing for writing" {
  sections 'pcie: {rails: {max_read_request: 4096, relaxed_ordering: false, aspm: l1}}'
  poke "$config" 0x48 0xaf3f # all that is not ours stays
  apply 0
  [ "$(word "$config" 0x48)" = df2f ]
  [ "$(word "$config" 0x50)" = 0042 ]
  [ "$(word "$root/$TREE/$PORT/$UP/$DOWN/config" 0x50)" = 0042 ]
  run -0 "$railhead" plan --root "$root" --stage devices
  run -0 strace -f -e trace=open,openat,openat2 -o "$BATS_TEST_TMPDIR/trace" \
    "$railhead" apply --root "$root" --stage devices
  [ -z "$(writes_of "$BATS_TEST_TMPDIR/trace" | grep config)" ]
}

@test "pcie: a narrower set wins key by key" {
  sections ''
  put "$root/etc/railhead/profiles/sku.yaml" 'schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {rails: {pci: "15b3:1021"}, first: {in: rails, address: "0000:41:*"}}
pcie: {rails: {max_read_request: 4096}, first: {max_read_request: 256}}'
  apply 0
  [ "$(word "$config" 0x48)" = 1810 ]
  [ "$(word "$root/sys/bus/pci/devices/$PF1/config" 0x48)" = 5810 ]
}

@test "pcie: relaxed ordering below a root port that breaks it is refused, or skipped" {
  sections 'pcie: {rails: {relaxed_ordering: true}}'
  poke "$root/$TREE/$PORT/config" 0x02 0x6f08
  apply 6
  [[ $output == *"pcie/$PF0/relaxed_ordering"*"root port $PORT (8086:6f08, Xeon E5 v4)"* ]]
  sections 'pcie: {rails: {relaxed_ordering: true, optional: [max_read_request]}}'
  apply 6
  sections 'pcie: {rails: {relaxed_ordering: true, optional: [relaxed_ordering]}}'
  apply 0
}

@test "pcie: the payload is judged by the gate, and who limits it is named" {
  sections 'pcie: {rails: {max_payload: 256}}'
  poke "$root/$TREE/$PORT/$UP/config" 0x44 0
  poke "$root/sys/bus/pci/devices/$PF1/config" 0x48 0x2830
  run -5 "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"differs"*"pcie/$PF0/max_payload"*"$UP is capable of at most 128"* ]]
  [[ $output == *"same"*"pcie/$PF1/max_payload"* ]]
}

@test "pcie_link: without a number it is what both ends are capable of" {
  sections 'gate: {checks: {links: {run: pcie_link, on: rails}}}'
  local dev
  for dev in $PF0 $PF1 $DOWN 0000:80:01.0; do
    put "$root/sys/bus/pci/devices/$dev/max_link_width" 16
    put "$root/sys/bus/pci/devices/$dev/max_link_speed" "32.0 GT/s PCIe"
  done
  run -0 "$railhead" verify --root "$root" --stage gate
  put "$root/sys/bus/pci/devices/$PF0/current_link_width" 8
  run -5 "$railhead" verify --root "$root" --stage gate
  [[ $output == *"gate/links/$PF0/width"*"trained to x8, and $PF0 and port $DOWN are capable of more"* ]]
  put "$root/sys/bus/pci/devices/$DOWN/max_link_width" 8
  run -0 "$railhead" verify --root "$root" --stage gate
}

@test "pcie_link: a switch whose own link is narrow or slow slows all below it" {
  sections 'gate: {checks: {links: {run: pcie_link, on: rails, width: 16, speed: 32GT/s}}}'
  local dev
  for dev in $PF0 $PF1 $DOWN $UP $PORT 0000:80:01.0; do
    put "$root/sys/bus/pci/devices/$dev/max_link_width" 16
    put "$root/sys/bus/pci/devices/$dev/current_link_width" 16
    put "$root/sys/bus/pci/devices/$dev/max_link_speed" "32.0 GT/s PCIe"
    put "$root/sys/bus/pci/devices/$dev/current_link_speed" "32.0 GT/s PCIe"
  done
  run -0 "$railhead" verify --root "$root" --stage gate
  put "$root/sys/bus/pci/devices/$UP/current_link_width" 4
  run -5 "$railhead" verify --root "$root" --stage gate
  [[ $output == *"gate/links/$PF0/width"*"16, but x4 above switch $UP"*"capable of x16"*"switches: false"* ]]
  [[ $output != *"$PF1"* ]]
  put "$root/sys/bus/pci/devices/$UP/current_link_width" 16
  put "$root/sys/bus/pci/devices/$UP/current_link_speed" "8.0 GT/s PCIe"
  run -5 "$railhead" verify --root "$root" --stage gate
  [[ $output == *"gate/links/$PF0/speed"*"but 8.0 GT/s above switch $UP"* ]]
  # what the check says passes, passes there too
  sections 'gate: {checks: {links: {run: pcie_link, on: rails, width: 16, speed: 8GT/s}}}'
  run -0 "$railhead" verify --root "$root" --stage gate
  # a GPU that is idle lowers the link above a switch of its own
  sections 'gate: {checks: {links: {run: pcie_link, on: rails}}}'
  run -5 "$railhead" verify --root "$root" --stage gate
  for dev in $PF0 $UP $DOWN; do put "$root/sys/bus/pci/devices/$dev/vendor" 0x15b3; done
  put "$root/sys/bus/pci/devices/$PF0/class" 0x120000
  run -0 "$railhead" verify --root "$root" --stage gate
  put "$root/sys/bus/pci/devices/$UP/vendor" 0x1000
  put "$root/sys/bus/pci/devices/$PF0/class" 0x020000
  sections 'gate: {checks: {links: {run: pcie_link, on: rails, width: 16, speed: 32GT/s}}}'
  # both ends can do no more: that is how the machine is built
  put "$root/sys/bus/pci/devices/$PORT/max_link_speed" "8.0 GT/s PCIe"
  run -0 "$railhead" verify --root "$root" --stage gate
  put "$root/sys/bus/pci/devices/$PORT/max_link_speed" "32.0 GT/s PCIe"
  sections 'gate: {checks: {links: {run: pcie_link, on: rails, width: 16, switches: false}}}'
  run -0 "$railhead" verify --root "$root" --stage gate
  # a kernel that does not know the link of a switch says nothing of it
  sections 'gate: {checks: {links: {run: pcie_link, on: rails, width: 16}}}'
  put "$root/sys/bus/pci/devices/$UP/current_link_speed" "Unknown"
  put "$root/sys/bus/pci/devices/$UP/current_link_width" 255
  run -0 "$railhead" verify --root "$root" --stage gate
}

# --- irq --------------------------------------------------------------------------------------

@test "irq: vectors go round the local CPUs that are not isolated; then nothing is written" {
  vectors
  put "$root/sys/devices/system/cpu/isolated" 3
  sections 'irq: {rails: {affinity: local_node}}'
  apply 0
  [ "$(cpus_of 50 51 52 53)" = "0 1 0 1" ]
  [ "$(cpus_of 54 55 56 57)" = "2 2 2 2" ]
  run -0 "$railhead" verify --all --root "$root" --stage devices
  [[ $output == *"irq/$PF0/affinity"*"4 vectors on node 0"* ]]
  run -0 strace -f -e trace=open,openat,openat2 -o "$BATS_TEST_TMPDIR/trace" \
    "$railhead" apply --root "$root" --stage devices
  [ -z "$(writes_of "$BATS_TEST_TMPDIR/trace" | grep proc/irq)" ]
}

@test "irq: one that was moved is named, and is the only one that is written" {
  vectors
  sections 'irq: {rails: {affinity: local_node}}'
  apply 0
  put "$root/proc/irq/52/smp_affinity_list" 2
  run -5 "$railhead" verify --root "$root" --stage devices
  [[ $output == *"3 of 4 vectors on node 0; irq 52 on CPU 2"* ]]
  run -0 strace -f -e trace=open,openat,openat2 -o "$BATS_TEST_TMPDIR/trace" \
    "$railhead" apply --root "$root" --stage devices
  [ "$(writes_of "$BATS_TEST_TMPDIR/trace" | grep -c proc/irq)" = 1 ]
  [ "$(cpus_of 50 51 52 53)" = "0 1 0 1" ]
}

@test "irq: what the profile is going to isolate is left out before the boot that does it" {
  vectors
  sections 'kernel_args: {isolate_cpus: 1-2}
irq: {rails: {affinity: local_node}}'
  apply 0
  [ "$(cpus_of 50 51 54 55)" = "0 0 3 3" ]
  sections 'kernel_args: {isolate_cpus: 2-3}
irq: {rails: {affinity: local_node}}'
  apply 6
  [[ $output == *"irq/$PF1/affinity"*"all CPUs of node 1 are isolated"* ]]
}

@test "irq: cores that isolate_cpus keeps serve the interrupts of their node" {
  vectors
  for cpu in 0 1 2 3; do
    put "$root/sys/devices/system/cpu/cpu$cpu/topology/core_cpus_list" $cpu
  done
  sections 'kernel_args: {isolate_cpus: {keep: 1 per node}}
irq: {rails: {affinity: local_node}}'
  apply 0
  [ "$(cpus_of 50 51 54 55)" = "0 0 2 2" ]
}

@test "irq: irqbalance asks a script, which bans the functions of the profile and no others" {
  vectors
  sections 'irq: {rails: {affinity: local_node}}'
  run -0 "$railhead" apply --root "$root" --stage initrd
  apply 0
  conf=$root/run/systemd/system/irqbalance.service.d/50-railhead.conf
  grep -q -- '--policyscript=/usr/libexec/railhead/irqbalance-policy$' "$conf"
  grep -q '^After=railhead-devices.service$' "$conf"
  list=$root/run/railhead/irq-functions
  script=$BATS_TEST_TMPDIR/policy
  sed "s#^list=.*#list=$list#" "$BATS_TEST_DIRNAME/../units/irqbalance-policy" >"$script"
  for pf in $PF0 $PF1; do
    run -0 sh "$script" /sys/bus/pci/devices/$pf 50
    [ "$output" = ban=true ]
  done
  run -0 sh "$script" /sys/bus/pci/devices/0000:99:00.0 50
  [ -z "$output" ]
  run -0 sh "$script" /sys/devices 9 # one that is of no device
  [ -z "$output" ]
  # a profile without the section takes both away
  sections ''
  run -0 "$railhead" apply --root "$root" --stage initrd
  apply 0
  [ ! -e "$conf" ] && [ ! -e "$list" ]
  run -0 sh "$script" /sys/bus/pci/devices/$PF0 50
  [ -z "$output" ]
}

# --- pairs ------------------------------------------------------------------------------------

@test "pairs: each NIC has its own GPU, as near as asked" {
  gpu $GPU0 "$root/$TREE/$PORT/$UP/0000:3e:01.0" 0
  gpu $GPU1 "$root/sys/devices/pci0000:80/0000:80:01.0" 1
  sections 'pairs: {nics: rails, gpus: gpus, within: root_port}'
  run -0 "$railhead" verify --all --root "$root" --stage gate
  [[ $output == *"pairs/$PF0"*"$GPU0, pcie_switch"* ]]
  [[ $output == *"pairs/$PF1"*"$GPU1, root_port"* ]]
  sections 'pairs: {nics: rails, gpus: gpus, within: pcie_switch}'
  run -5 "$railhead" verify --root "$root" --stage gate
  [[ $output == *"differs"*"pairs/$PF1"*"no GPU within pcie_switch is left for $PF1: the nearest is $GPU1 (root_port);"* ]]
}

@test "pairs: a GPU that is gone, or goes with another NIC, is said" {
  sections 'pairs: {nics: rails, gpus: gpus, within: numa_node}'
  run -5 "$railhead" verify --root "$root" --stage gate
  [[ $output == *"pairs/$PF0"*"no GPU of the set is on the bus"* ]]
  gpu $GPU0 "$root/$TREE/$PORT/$UP/0000:3e:01.0" 0
  run -5 "$railhead" verify --root "$root" --stage gate
  [[ $output == *"pairs/$PF1"*"the nearest is $GPU0 (far), which goes with $PF0"* ]]
}

@test "pairs: survey shows who goes with whom" {
  gpu $GPU0 "$root/$TREE/$PORT/$UP/0000:3e:01.0" 0
  run -0 "$railhead" survey --root "$root"
  [[ $output == *"NIC"*"GPU"*"nearness"*"NUMA node"*"$PF0  $GPU0  pcie_switch  0"*"$PF1  none left"* ]]
  run -0 "$railhead" survey --json --root "$root"
  [ "$(jq -c '[.pairs[] | {nic, gpu, nearness}]' <<<"$output")" = \
    "[{\"nic\":\"$PF0\",\"gpu\":\"$GPU0\",\"nearness\":\"pcie_switch\"},{\"nic\":\"$PF1\",\"gpu\":null,\"nearness\":null}]" ]
}
