# SPDX-License-Identifier: GPL-2.0-or-later
# A small machine as a directory tree, for `railhead --root`: 4 CPUs on 2 NUMA nodes, two
# network PFs with SR-IOV, sysctls, a /boot with GRUB that reads railhead.env.
# shellcheck shell=bash

railhead="${RAILHEAD:-$BATS_TEST_DIRNAME/../build/railhead}"
PF0=0000:41:00.0
PF1=0000:81:00.0

put() { # PATH TEXT
  [ -d "${1%/*}" ] || mkdir -p "${1%/*}"
  printf '%s\n' "$2" >"$1"
}

fake_pf() { # ROOT ADDRESS NUMA NETDEV IFINDEX
  local dev=$1/sys/devices/pci0000:00/$2
  put "$dev/vendor" 0x15b3
  put "$dev/device" 0x1021
  put "$dev/subsystem_vendor" 0x15b3
  put "$dev/subsystem_device" 0x0023
  put "$dev/class" 0x020000
  put "$dev/numa_node" "$3"
  put "$dev/sriov_totalvfs" 8
  put "$dev/sriov_numvfs" 0
  put "$dev/sriov_drivers_autoprobe" 1
  put "$dev/current_link_width" 16
  put "$dev/current_link_speed" "32.0 GT/s PCIe"
  mkdir -p "$dev/net/$4" "$1/sys/bus/pci/drivers/mlx5_core" "$1/sys/bus/pci/devices" "$1/sys/class/net"
  put "$dev/net/$4/flags" 0x1003
  put "$dev/net/$4/ifindex" "$5"
  put "$dev/net/$4/carrier" 1
  put "$1/run/udev/data/n$5" "I:1"
  ln -sfn /sys/bus/pci/drivers/mlx5_core "$dev/driver"
  ln -sfn "../../../devices/pci0000:00/$2" "$1/sys/bus/pci/devices/$2"
  ln -sfn "../../devices/pci0000:00/$2/net/$4" "$1/sys/class/net/$4"
}

# Made once for a bats file, and copied: it takes a hundred processes.
fake_node() { # ROOT
  local made=${BATS_FILE_TMPDIR:?}/fake-node
  [ -d "$made" ] || { make_fake_node "$made.part" && mv "$made.part" "$made"; }
  mkdir -p "$1"
  cp -a "$made/." "$1"
}

make_fake_node() { # ROOT
  local root=$1 n
  put "$root/sys/class/dmi/id/sys_vendor" Supermicro
  put "$root/sys/class/dmi/id/product_name" SYS-821GE-TNHR
  put "$root/proc/cpuinfo" "vendor_id : GenuineIntel"
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro"
  put "$root/proc/meminfo" "MemTotal:       16777216 kB"
  put "$root/proc/sys/kernel/random/boot_id" 11111111-2222-3333-4444-555555555555
  put "$root/proc/sys/vm/swappiness" 60
  put "$root/proc/sys/net/core/rmem_max" 212992
  put "$root/sys/kernel/mm/transparent_hugepage/enabled" "[always] madvise never"
  put "$root/sys/devices/system/cpu/present" 0-3
  put "$root/sys/devices/system/node/online" 0-1
  put "$root/sys/devices/system/node/has_cpu" 0-1
  for n in 0 1 2 3; do
    put "$root/sys/devices/system/cpu/cpu$n/topology/physical_package_id" $((n / 2))
  done
  for n in 0 1; do
    put "$root/sys/devices/system/node/node$n/hugepages/hugepages-1048576kB/nr_hugepages" 0
    put "$root/sys/devices/system/node/node$n/hugepages/hugepages-2048kB/nr_hugepages" 0
  done
  put "$root/sys/bus/pci/drivers_probe" ""
  fake_pf "$root" $PF0 0 eth0 2
  fake_pf "$root" $PF1 1 eth1 3
}

# Makes VFs appear as the kernel would: virtfn links after a write to sriov_numvfs, a bound
# driver after a write to drivers_probe. Ends with stop_fake_kernel.
fake_kernel() { # ROOT
  : >"$1/sys/bus/pci/drivers_probe"
  python3 "$BATS_TEST_DIRNAME/lib/fake_kernel.py" "$1" 3>&- &
  FAKE_KERNEL=$!
}

stop_fake_kernel() {
  [ -z "${FAKE_KERNEL:-}" ] || kill "$FAKE_KERNEL" 2>/dev/null || :
  FAKE_KERNEL=
}

profile() { # ROOT NAME; the text from stdin
  put "$1/etc/railhead/profiles/$2.yaml" "$(cat)"
}

# Profile sku of $root, whose gate section has these lines; and other sections.
gated() { # GATE [SECTIONS]
  printf 'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\ndevices: {nics: {pci: "15b3:1021"}}\n%sgate:\n%s\n' \
    "${2:+$2$'\n'}" "$1" | profile "${root:?}" sku
}

# What is opened for writing, by strace, without what is below run/railhead.
writes_of() { # STRACE-LOG
  grep -E 'open(at2?)?\(.*(O_WRONLY|O_RDWR|O_CREAT)' "$1" | grep -vE '"(\./)?lock"|status\.json|"\.?ready|"\.?profile|/dev/null' || true
}
