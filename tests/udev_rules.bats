#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What udev itself makes of our rules, on a machine of files: a tree is put over /sys in a mount
# namespace of its own. Those that keep network managers from VFs, and those that bring devices
# back (units/90-railhead.rules).

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
udev_test() ( # ACTION NETDEV
  set -o pipefail
  # shellcheck disable=SC2016 # they are the inner shell's
  SYSTEMD_DEVICE_VERIFY_SYSFS=0 unshare -m sh -e -c '
    mount -t tmpfs none /run
    mkdir -p /run/udev/rules.d
    cp "$1" /run/udev/rules.d/70-railhead-vf.rules
    mount --bind "$2" /sys
    udevadm test --action "$3" "/sys/class/net/$4" 2>&1' sh "$BATS_TEST_TMPDIR/rules" "$sys" "$@" |
    sed 's/^  //' # systemd 257 indents properties
)

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

# --- units/90-railhead.rules --------------------------------------------------------------

# What udev would start for an event of a device below /sys, with the functions watched that
# the files in $watched say. PROPERTIES: what the kernel says with the event.
udev_starts() { # ACTION SYSPATH [PROPERTY...]
  # shellcheck disable=SC2016 # they are the inner shell's
  SYSTEMD_DEVICE_VERIFY_SYSFS=0 unshare -m sh -e -c '
    mount -t tmpfs none /run
    mkdir -p /run/udev/rules.d /run/railhead
    cp "$1" /run/udev/rules.d/
    cp "$2"/* /run/railhead/
    mount --bind "$3" /sys
    udevadm test --action "$4" "/sys/$5" 2>&1' sh \
    "$BATS_TEST_DIRNAME/../units/90-railhead.rules" "$watched" "$sys" "$@" |
    tee -a "$BATS_TEST_TMPDIR/said" |
    sed -nE "s/^(run: '|  RUN\{program\} : )([^']*railhead[^']*)'?$/\2/p" # the second: systemd 257
}

# It read the rules, and has nothing to say of any line but that it obeys.
udev_is_content() {
  grep -q 'Reading rules file: /run/udev/rules.d/90-railhead.rules' "$BATS_TEST_TMPDIR/said"
  grep '90-railhead.rules:[0-9]' "$BATS_TEST_TMPDIR/said" |
    grep -vE ' (Importing properties from|RUN) ' | diff /dev/null -
}

start_of() { echo "/usr/bin/systemctl --no-block start railhead-device@$1.service"; }

@test "udev starts the unit of a watched function, and of a VF's PF, and for nothing else" {
  watched=$BATS_TEST_TMPDIR/watched
  put "$watched/device-$PF0" ".RAILHEAD_DEVICE=$PF0
#dir 17"
  put "$watched/vf-0000:41:00.1" ".RAILHEAD_DEVICE=$PF0"
  for action in add remove bind unbind; do
    [ "$(udev_starts $action devices/pci0000:00/$PF0)" = "$(start_of $PF0)" ]
    [ -z "$(udev_starts $action devices/pci0000:00/$PF1)" ]
  done
  for action in add move remove; do
    [ "$(udev_starts $action class/net/pf0)" = "$(start_of $PF0)" ]
    # VFs' netdevs come and go with containers
    for other in pf1 vf0 vf1; do [ -z "$(udev_starts $action class/net/$other)" ]; done
  done
  for action in remove bind; do
    [ "$(udev_starts $action devices/pci0000:00/0000:41:00.1)" = "$(start_of $PF0)" ]
  done
  # it is being given to a guest
  [ -z "$(udev_starts unbind devices/pci0000:00/0000:41:00.1)" ]
  # a link that goes up or down, `udevadm trigger`
  [ -z "$(udev_starts change class/net/pf0)" ]
  [ -z "$(udev_starts change devices/pci0000:00/$PF0)" ]
  # what it imports stays out of udev's database
  grep '^[A-Z_]*RAILHEAD' "$BATS_TEST_TMPDIR/said" | diff /dev/null -
  udev_is_content
}

@test "before the verdict udev starts nothing for any device" {
  watched=$BATS_TEST_TMPDIR/none
  put "$watched/lock" 1
  for device in class/net/pf0 class/net/vf0 devices/pci0000:00/$PF0 devices/pci0000:00/0000:41:00.1; do
    for action in add bind remove; do [ -z "$(udev_starts $action $device)" ]; done
  done
  udev_is_content
}
