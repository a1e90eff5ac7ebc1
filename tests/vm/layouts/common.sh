# shellcheck shell=bash
# shellcheck disable=SC2034 # variables of the parts beside this one
#
# What the parts of build-layouts share: where things are, the tree that each of them
# changes for its disk in turn, and how a disk comes about.

# shellcheck source=tests/vm/release.sh
. "$here/release.sh"
source=$build/disk.img
work=$build/layouts
tree=$work/tree
boot_tree=$work/boot

# Where build-image put its file systems.
source_boot_mib=1
source_root_mib=161

root_uuid=20070000-7261-696c-6865-616400000004

say() { echo "# layouts: $*"; }

run_logged() {
  "$@" >>"$build/layouts.log" 2>&1 || {
    echo "build-layouts: failed: $*" >&2
    tail -n 40 "$build/layouts.log" >&2
    return 1
  }
}

# --- the tree --------------------------------------------------------------

in_tree() {
  chroot "$tree" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"
}

unmount_tree() {
  local dir
  for dir in usr/sbin/grub-probe boot dev sys proc; do
    umount -l "$tree/$dir" 2>/dev/null || true
  done
}

# Leaves out set-user-id bits and device nodes, which these guests do without.
unpack() {
  local offset=$(($1 << 20)) to=$2
  debugfs -R "rdump / $to" "$source?offset=$offset" 2>&1 | grep -v ^debugfs && return 1
  rm -rf "$to/lost+found"
}

# grub-mkconfig asks what disk there is: a stand-in for grub-probe answers, and
# /dev/disk has the root's UUID; see mount_tree in build-image.
mount_tree() {
  mount -t proc proc "$tree/proc"
  mount -t sysfs -o ro sysfs "$tree/sys"
  mount -t tmpfs -o mode=755 dev "$tree/dev"
  mknod -m 666 "$tree/dev/null" c 1 3
  mkdir -p "$tree/dev/disk/by-uuid"
  : >"$tree/dev/disk/by-uuid/$root_uuid"
  chmod 755 "$work/grub-probe"
  mount --bind "$work/grub-probe" "$tree/usr/sbin/grub-probe"
}

# GRUB for EFI, beside that for BIOS in /boot. Its package is not in the tree: railhead bake
# would take the first guest for one that starts by EFI.
put_efi_modules() {
  efi_modules=/usr/lib/grub/x86_64-efi
  if ! is_release_of_this_machine; then
    (cd "$work" && run_logged "$here/apt-private" "$cache/apt-$dist" "$dist" download grub-efi-amd64-bin)
    dpkg-deb -x "$work"/grub-efi-amd64-bin_*.deb "$work/grub-efi"
    efi_modules=$work/grub-efi$efi_modules
  fi
  mkdir -p "$tree/boot/efi" "$tree/boot/grub/x86_64-efi"
  cp "$efi_modules"/*.mod "$efi_modules"/*.lst "$tree/boot/grub/x86_64-efi/"
}

write_menu() {
  run_logged in_tree grub-mkconfig -o /boot/grub/grub.cfg
}

# --- disks -----------------------------------------------------------------

# An ext4 that GRUB 2.06 reads, at an offset in bytes.
make_root() {
  local image=$1 offset=$2 size_mib=$3
  run_logged mke2fs -q -F -t ext4 -d "$tree" -L root -U "$root_uuid" \
    -O ^metadata_csum_seed,^orphan_file \
    -E "offset=$offset,lazy_itable_init=0" "$image" "${size_mib}M"
}

# A vfat of 40 MiB, and the files of a directory in it.
make_esp() {
  local disk=$1 offset=$(($2 << 20)) uuid=$3 from=$4
  run_logged mkfs.vfat -F 32 -s 1 -n ESP -i "${uuid/-/}" --offset $((offset / 512)) \
    "$disk" $((40 << 10))
  MTOOLS_SKIP_CHECK=1 run_logged mcopy -i "$disk@@$offset" -s "$from"/* ::/
}

put_number() {
  local number=$1 file=$2 offset=$3
  perl -e 'print pack "Q<", shift' "$number" |
    dd of="$file" bs=1 seek="$offset" conv=notrunc status=none
}

# The guest's own GRUB: that of another release may not fit its modules.
make_core() {
  local format=$1 prefix=$2 to=$3
  shift 3
  run_logged in_tree grub-mkimage -O "$format" -p "$prefix" -o /core.img "$@"
  mv "$tree/core.img" "$to"
}

# On an MBR disk: the core lies in the gap before the first partition.
install_grub_mbr() {
  local image=$1 prefix=$2
  shift 2
  make_core i386-pc "$prefix" "$work/core.img" \
    biosdisk part_msdos normal serial terminal loadenv echo linux "$@"
  dd if="$build/boot.img" of="$image" bs=440 count=1 conv=notrunc status=none
  dd if="$work/core.img" of="$image" bs=512 seek=1 conv=notrunc status=none
}

# GPT's own first sectors are where GRUB's core is on an MBR disk, so boot.img
# and the core's first sector are told where the core is, as grub-install does.
install_grub_gpt() {
  local image=$1 sector=$(($2 << 11)) prefix=$3
  shift 3
  cp "$build/boot.img" "$work/boot.img"
  put_number "$sector" "$work/boot.img" 92
  make_core i386-pc "$prefix" "$work/core.img" \
    biosdisk part_gpt normal serial terminal loadenv echo linux "$@"
  put_number $((sector + 1)) "$work/core.img" 500
  dd if="$work/boot.img" of="$image" bs=440 count=1 conv=notrunc status=none
  dd if="$work/core.img" of="$image" bs=512 seek="$sector" conv=notrunc status=none
}

# An EFI system partition with GRUB in it.
install_grub_efi() {
  local image=$1 at_mib=$2 uuid=$3 prefix=$4
  shift 4
  rm -rf "$work/esp"
  mkdir -p "$work/esp/EFI/BOOT"
  cp -r "$efi_modules" "$tree/modules"
  make_core x86_64-efi "$prefix" "$work/esp/EFI/BOOT/BOOTX64.EFI" -d /modules \
    part_gpt fat normal serial terminal loadenv echo linux search search_fs_uuid "$@"
  rm -r "$tree/modules"
  make_esp "$image" "$at_mib" "$uuid" "$work/esp"
}
