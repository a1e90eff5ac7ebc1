# shellcheck shell=bash
# shellcheck disable=SC2154 # common.sh
#
# A disk that starts by EFI and by BIOS, with the root, and /boot in it, on a volume of
# LVM on a RAID1 of two partitions. By EFI railhead.env is on the EFI system partition;
# by BIOS it would be where GRUB can't write. Writes lvm.img.

# cases/layouts.py relies on the numbers of the partitions.
lvm_bios_mib=1
lvm_esp_mib=2
lvm_member_mib=42
lvm_member_size_mib=902 # 900 of them are the volume
lvm_esp_uuid=8A11-0EF2
lvm_esp_part=e5900000-7261-696c-6865-616400000012

# The tree's initramfs is that of the other guests, which know neither RAID nor LVM.
lvm_make_initramfs() {
  cat >"$tree/etc/dracut.conf.d/vm-raid.conf" <<'CONF'
dracutmodules+=" dm mdraid lvm "
add_drivers+=" dm_mod raid1 "
CONF
  local kernel
  kernel=$(cat "$build/kernel-version")
  run_logged in_tree dracut -q -f "/boot/initrd.img-$kernel" "$kernel"
}

lvm_guest_files() {
  cat >"$tree/etc/fstab" <<FSTAB
UUID=$root_uuid / ext4 errors=remount-ro 0 1
UUID=$lvm_esp_uuid /boot/efi vfat umask=0077 0 1
FSTAB
  cat >"$tree/etc/default/grub.d/vm-raid.cfg" <<'CONF'
GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX rd.auto"
CONF
  sed "s/@ESP_UUID@/$lvm_esp_uuid/; s/@ROOT_UUID@/$root_uuid/; s/@ESP_PART@/$lvm_esp_part/
       s#@VOLUME@#$lvm_volume#" "$here/files/grub-probe-lvm" >"$work/grub-probe"
}

lvm_make_disk() {
  local image=$work/lvm.img second=$((lvm_member_mib + lvm_member_size_mib))
  rm -f "$image"
  truncate -s "$((second + lvm_member_size_mib + 1))M" "$image"
  run_logged sfdisk -q "$image" <<TABLE
label: gpt
start=${lvm_esp_mib}MiB, size=40MiB, type=U, uuid=$lvm_esp_part
start=${lvm_member_mib}MiB, size=${lvm_member_size_mib}MiB, type=R
start=${second}MiB, size=${lvm_member_size_mib}MiB, type=R
start=${lvm_bios_mib}MiB, size=1MiB, type=21686148-6449-6E6F-744E-656564454649
TABLE
  make_root "$image" $(((lvm_member_mib + 2) << 20)) $((lvm_member_size_mib - 2))
  dd if="$image" of="$image" bs=1M skip="$lvm_member_mib" seek="$second" \
    count="$lvm_member_size_mib" conv=notrunc,sparse status=none
  run_logged "$here/layouts/raid-lvm" "$image" "$lvm_member_mib" "$second" "$lvm_member_size_mib"
  install_grub_gpt "$image" "$lvm_bios_mib" "($lvm_volume)/boot/grub" ext2 mdraid1x lvm
  install_grub_efi "$image" "$lvm_esp_mib" "$lvm_esp_uuid" "($lvm_volume)/boot/grub" \
    ext2 mdraid1x lvm
}

# Expects what gpt.sh leaves.
make_lvm() {
  lvm_volume=$("$here/layouts/raid-lvm" --volume)
  lvm_guest_files
  mount_tree
  mkdir "$tree/dev/mapper"
  : >"$tree/dev/mapper/vm-root"
  lvm_make_initramfs
  write_menu
  unmount_tree
  lvm_make_disk
}
