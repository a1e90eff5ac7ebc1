# SPDX-License-Identifier: GPL-2.0-or-later
# Bridges, and functions below them, with their config space: for fakenode's tree in $root.
# shellcheck shell=bash
# shellcheck disable=SC2154 # root is the test's

# Writes little-endian 16-bit words into a 4096-byte config space: OFFSET VALUE ...
config() { # FILE OFFSET VALUE...
  local file=$1
  shift
  head -c 4096 /dev/zero >"$file"
  while [ $# -gt 0 ]; do
    # shellcheck disable=SC2059 # the format is made of the value's two bytes
    printf "$(printf '\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8)))" |
      dd of="$file" bs=1 seek=$(($1)) conv=notrunc status=none
    shift 2
  done
}

# A PCI Express function: its type (4 root port, 5 and 6 ports of a switch up and down, 0
# endpoint, 7 bridge to PCI), its header type, and ACS capability and control if it has ACS.
pcie() { # DIR TYPE HEADER [CAPABILITY CONTROL]
  local acs=()
  [ $# -lt 5 ] || acs=(0x100 0x000d 0x102 0x0001 0x104 "$4" 0x106 "$5")
  # status: capabilities list; the PCI Express capability at 0x40, version 2
  config "$1/config" 0x06 0x0010 0x0e "$3" 0x34 0x0040 0x40 0x0010 0x42 $(($2 << 4 | 2)) "${acs[@]}"
}

bridge() { # DIR TYPE [CAPABILITY CONTROL]
  mkdir -p "$1"
  pcie "$1" "$2" 0x0001 "${@:3}"
  ln -sfn "../../../${1#"$root/sys/"}" "$root/sys/bus/pci/devices/${1##*/}"
}

group() { # DEVICE-DIR GROUP [TYPE]
  mkdir -p "$root/sys/kernel/iommu_groups/$2/devices/${1##*/}"
  put "$root/sys/kernel/iommu_groups/$2/type" "${3:-DMA-FQ}"
  ln -sfn "/sys/kernel/iommu_groups/$2" "$1/iommu_group"
}

cmdline() { put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro $*"; }
