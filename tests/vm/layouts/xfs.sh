# shellcheck shell=bash
# shellcheck disable=SC2154 # common.sh
#
# A disk that starts by BIOS, with /boot on XFS, which GRUB reads without its journal.
# Writes xfs.img.

# Smaller ones mkfs.xfs does not make. cases/layouts.py relies on the partitions.
xfs_boot_mib=1
xfs_boot_size_mib=320
xfs_root_mib=321
xfs_root_size_mib=1400
xfs_disk_id=0x52414c58
xfs_boot_uuid=b0070000-7261-696c-6865-616400000007

xfs_guest_files() {
  cat >"$tree/etc/fstab" <<FSTAB
UUID=$root_uuid / ext4 errors=remount-ro 0 1
UUID=$xfs_boot_uuid /boot xfs defaults 0 0
FSTAB
  sed "s/@BOOT_UUID@/$xfs_boot_uuid/; s/@ROOT_UUID@/$root_uuid/; s/@BOOT_FS@/xfs/
       s/@DISK_ID@/${xfs_disk_id#0x}/" "$here/files/grub-probe" >"$work/grub-probe"
}

# A directory in the language of mkfs.xfs -p; its files have plain names.
xfs_list() {
  local dir=$1 entry name
  for entry in "$dir"/*; do
    [ -e "$entry" ] || continue
    name=$(basename "$entry")
    if [ -d "$entry" ]; then
      echo "$name d--755 0 0"
      xfs_list "$entry"
      echo '$'
    else
      echo "$name ---644 0 0 $entry"
    fi
  done
}

# GRUB 2.06 reads neither big time stamps nor counts of inode blocks.
xfs_make_boot() {
  local image=$1 file=$work/boot.xfs
  { echo /dev/null; echo 0 0; echo d--755 0 0; xfs_list "$boot_tree"; echo '$'; } >"$work/boot.proto"
  run_logged mkfs.xfs -q -L boot -m "uuid=$xfs_boot_uuid,bigtime=0,inobtcount=0" -i nrext64=0 \
    -p "$work/boot.proto" -d "file,name=$file,size=${xfs_boot_size_mib}m"
  dd if="$file" of="$image" bs=1M seek="$xfs_boot_mib" conv=notrunc,sparse status=none
  rm "$file"
}

xfs_make_disk() {
  local image=$work/xfs.img
  rm -f "$image"
  truncate -s "$((xfs_root_mib + xfs_root_size_mib + 1))M" "$image"
  run_logged sfdisk -q "$image" <<TABLE
label: dos
label-id: $xfs_disk_id
start=${xfs_boot_mib}MiB, size=${xfs_boot_size_mib}MiB, type=83, bootable
start=${xfs_root_mib}MiB, size=${xfs_root_size_mib}MiB, type=83
TABLE
  xfs_make_boot "$image"
  make_root "$image" $((xfs_root_mib << 20)) "$xfs_root_size_mib"
  install_grub_mbr "$image" '(hd0,msdos1)/grub' xfs
}

# Expects /boot's files in a file system of their own, so that the paths in grub.cfg
# begin there.
make_xfs() {
  xfs_guest_files
  mount --bind "$boot_tree" "$tree/boot"
  mount_tree
  write_menu
  unmount_tree
  xfs_make_disk
}
