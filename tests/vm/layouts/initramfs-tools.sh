# shellcheck shell=bash
# shellcheck disable=SC2154 # common.sh
#
# The disk of gpt.sh, of a machine whose initramfs is made by initramfs-tools, with which dracut
# conflicts. Writes initramfs-tools.img.
#
# Files beside /boot/initrd.img-* that cases/initramfs_tools.py puts in its place:
# initrd.none, of before railhead was installed, and initrd.short, whose deadline is short.

it_packages="initramfs-tools initramfs-tools-core klibc-utils libklibc busybox"
[ "$dist" = bookworm ] || it_packages+=" initramfs-tools-bin" # split off later
it_deadline=10 # seconds; 120 in a real one

# Kept until the Debian tree is made anew.
it_download() {
  it_debs=$cache/initramfs-tools-$(cat "$build/base")
  [ ! -e "$it_debs" ] || return 0
  mkdir -p "$work/debs"
  # shellcheck disable=SC2086 # several packages
  (cd "$work/debs" && run_logged "$here/apt-private" "$cache/apt-$dist" "$dist" download $it_packages)
  mv "$work/debs" "$it_debs"
}

it_guest_files() {
  gpt_guest_files
  rm -f "$tree/etc/default/grub.d/vm-raid.cfg" # of lvm.sh, if that was made before
  mkdir -p "$tree/etc/initramfs-tools/conf.d"
  printf '%s\n' virtio_blk virtio_pci ext4 crc32c_generic >"$tree/etc/initramfs-tools/modules"
  printf '%s\n' MODULES=list COMPRESSLEVEL=1 >"$tree/etc/initramfs-tools/conf.d/vm"
}

# As on a machine that has initramfs-tools before it gets railhead.
it_replace_dracut() {
  run_logged in_tree dpkg --force-depends --purge dracut dracut-core
  # Not dracut-install, a package of its own by now, which initramfs-tools needs.
  rm -rf "$tree"/etc/dracut* "$tree"/usr/lib/dracut/modules.d
  rm "$tree/usr/share/initramfs-tools/scripts/init-bottom/railhead"
  # They look for arrays and volumes again each second that a root is waited for.
  rm -f "$tree"/usr/share/initramfs-tools/{hooks,scripts/*}/{mdadm,lvm2,btrfs}
  cp -r "$it_debs" "$tree/run/debs"
  run_logged in_tree sh -c 'exec dpkg --force-confold -i /run/debs/*.deb'
  rm -r "$tree/run/debs"
  cp "$tree/boot/initrd.img-$kernel" "$tree/boot/initrd.none"
}

# The package's own trigger: it brings its script back, and the initramfs lacks that.
it_install_railhead() {
  run_logged in_tree sh -c 'exec dpkg -i /usr/local/share/railhead/railhead_*.deb'
}

it_has_railhead() {
  in_tree lsinitramfs "/boot/$1" >"$work/initramfs" 2>>"$build/layouts.log"
  grep -qx scripts/init-bottom/railhead "$work/initramfs"
}

it_check_initramfs() {
  if it_has_railhead initrd.none || ! it_has_railhead "initrd.img-$kernel"; then
    echo "build-layouts: the package's trigger is not what brought railhead into the initramfs" >&2
    return 1
  fi
}

# An initramfs is made of archives one behind the other: the last one's files count.
it_shorten_deadline() {
  local dir=$work/short script=scripts/init-bottom/railhead
  mkdir -p "$dir/scripts/init-bottom"
  sed "s/^limit=120\$/limit=$it_deadline/" "$tree/usr/share/initramfs-tools/$script" >"$dir/$script"
  chmod 755 "$dir/$script"
  grep -qx "limit=$it_deadline" "$dir/$script"
  cp "$tree/boot/initrd.img-$kernel" "$tree/boot/initrd.short"
  truncate -s %4 "$tree/boot/initrd.short" # where the kernel looks for the next one
  (cd "$dir" && find scripts | cpio --quiet -o -H newc) >>"$tree/boot/initrd.short"
}

# Expects /boot's files in the tree.
make_initramfs_tools() {
  local kernel
  kernel=$(cat "$build/kernel-version")
  it_download
  it_guest_files
  mount_tree
  it_replace_dracut
  it_install_railhead
  unmount_tree
  it_check_initramfs
  it_shorten_deadline
  gpt_make_disk initramfs-tools.img
}
