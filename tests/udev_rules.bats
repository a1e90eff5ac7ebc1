#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What udev itself makes of the rules that keep network managers from VFs, on a machine of
# files: a tree is put over /sys in a mount namespace of its own.

bats_require_minimum_version 1.5.0
load lib/fakenode

# A netdev of a function, and the files that udev wants of each device.
netdev() { # FUNCTION NETDEV [PF]
  local dev=$sys/devices/pci0000:00/$1
  put "$dev/uevent" "DRIVER=mlx5_core
PCI_CLASS=20000
PCI_SLOT_NAME=$1
MODALIAS=pci:v000015B3d00001021"
  put "$dev/net/$2/uevent" "INTERFACE=$2
IFINDEX=77"
  mkdir -p "$sys/class/net" "$sys/bus/pci"
  ln -s ../../../bus/pci "$dev/subsystem"
  ln -s "../../../$1" "$dev/net/$2/device"
  ln -s ../../../../../class/net "$dev/net/$2/subsystem"
  ln -s "../../devices/pci0000:00/$1/net/$2" "$sys/class/net/$2"
  [ $# -lt 3 ] || ln -s "../$3" "$dev/physfn"
}

setup() {
  root=$BATS_TEST_TMPDIR/root sys=$BATS_TEST_TMPDIR/sys
  fake_node "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices:
  rails: {pci: "15b3:1021"}
  rail0: {in: rails, numa: 0}
sriov: {rails: {vfs: 1}, rail0: {vf: {unmanaged: true}}}
Y
  netdev $PF0 pf0
  netdev $PF1 pf1
  netdev 0000:41:00.1 vf0 $PF0
  netdev 0000:81:00.1 vf1 $PF1
}

# What udev says that happens to a netdev which comes or changes. No daemon is needed or asked.
udev_test() { # ACTION NETDEV
  # shellcheck disable=SC2016 # they are the inner shell's
  SYSTEMD_DEVICE_VERIFY_SYSFS=0 unshare -m sh -e -c '
    mount -t tmpfs none /run
    mkdir -p /run/udev/rules.d
    cp "$1" /run/udev/rules.d/70-railhead-vf.rules
    mount --bind "$2" /sys
    udevadm test --action "$3" "/sys/class/net/$4" 2>&1' sh "$BATS_TEST_TMPDIR/rules" "$sys" "$@"
}

@test "udev marks the netdevs of the VFs of PFs that ask for it, and no others" {
  run -5 "$railhead" plan --root "$root" --json
  jq -r '[.. | objects | select(.id? == "sriov/unmanaged/udev")][0].desired' <<<"$output" >"$BATS_TEST_TMPDIR/rules"
  for action in add change move; do
    run -0 udev_test $action vf0
    [[ $output == *"70-railhead-vf.rules"* ]]
    [[ $output == *$'\nNM_UNMANAGED=1\n'* && $output == *$'\nRAILHEAD_UNMANAGED=1'* ]]
    [[ $output != *70-railhead-vf.rules:[0-9]* ]] # it has nothing to say of any line
  done
  for other in vf1 pf0 pf1; do
    run -0 udev_test add $other
    [[ $output == *"70-railhead-vf.rules"* && $output != *UNMANAGED* ]]
  done
}
