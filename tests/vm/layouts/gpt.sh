# shellcheck shell=bash
# shellcheck disable=SC2154 # common.sh
#
# One disk that starts by BIOS and by EFI, as cloud images do, with /boot a directory of
# its root; and a stranger's disk, with an EFI system partition that is not to be touched.
# Writes layouts.img and stranger.img.

# The disk: the EFI system partition, the root, and, third but first on the disk, room
# for GRUB's core. files/grub-probe-gpt and cases/layouts.py rely on these.
gpt_bios_mib=1
gpt_esp_mib=2
gpt_root_mib=42
gpt_root_size_mib=1400
gpt_esp_uuid=8A11-0EF1
gpt_stranger_uuid=5742-A9E2
gpt_esp_part=e5900000-7261-696c-6865-616400000005
gpt_root_part=20070000-7261-696c-6865-616400000006

gpt_guest_files() {
  cat >"$tree/etc/fstab" <<FSTAB
UUID=$root_uuid / ext4 errors=remount-ro 0 1
UUID=$gpt_esp_uuid /boot/efi vfat umask=0077 0 1
FSTAB
  sed "s/@ESP_UUID@/$gpt_esp_uuid/; s/@ROOT_UUID@/$root_uuid/
       s/@ESP_PART@/$gpt_esp_part/; s/@ROOT_PART@/$gpt_root_part/" \
    "$here/files/grub-probe-gpt" >"$work/grub-probe"
}

# In the initramfs the trial's timer must start.
gpt_check_initramfs() {
  in_tree lsinitrd "/boot/initrd.img-$(cat "$build/kernel-version")" >"$work/initramfs" 2>>"$build/layouts.log"
  grep -q '/virtio_blk\.ko' "$work/initramfs"
  grep -q '/sysinit\.target\.wants/railhead-trial\.timer' "$work/initramfs"
}

# An environment file as railhead makes it, for the stranger's disk.
gpt_make_environment() {
  mkdir -p "$tree/dev/machine/boot/grub"
  : >"$tree/dev/machine/boot/grub/grub.cfg"
  run_logged in_tree railhead kargs --reset --root /dev/machine
  cp "$tree/dev/machine/boot/grub/railhead.env" "$work/"
}

# Its railhead.env is a good one, with args that must never be seen.
gpt_make_stranger() {
  local disk=$work/stranger.img env=$work/stranger/EFI/railhead/railhead.env
  mkdir -p "$(dirname "$env")"
  cp "$work/railhead.env" "$env"
  printf a | dd of="$env" bs=1 seek=39 conv=notrunc status=none
  printf stranger=1 | dd of="$env" bs=1 seek=523 conv=notrunc status=none
  rm -f "$disk"
  truncate -s 44M "$disk"
  run_logged sfdisk -q "$disk" <<TABLE
label: gpt
start=${gpt_esp_mib}MiB, size=40MiB, type=U
TABLE
  make_esp "$disk" "$gpt_esp_mib" "$gpt_stranger_uuid" "$work/stranger"
}

gpt_make_disk() {
  local image=$work/$1
  rm -f "$image"
  truncate -s "$((gpt_root_mib + gpt_root_size_mib + 1))M" "$image"
  run_logged sfdisk -q "$image" <<TABLE
label: gpt
start=${gpt_esp_mib}MiB, size=40MiB, type=U, uuid=$gpt_esp_part
start=${gpt_root_mib}MiB, size=${gpt_root_size_mib}MiB, type=L, uuid=$gpt_root_part
start=${gpt_bios_mib}MiB, size=1MiB, type=21686148-6449-6E6F-744E-656564454649
TABLE
  make_root "$image" $((gpt_root_mib << 20)) "$gpt_root_size_mib"
  install_grub_gpt "$image" "$gpt_bios_mib" '(hd0,gpt2)/boot/grub' ext2
  install_grub_efi "$image" "$gpt_esp_mib" "$gpt_esp_uuid" '(,gpt2)/boot/grub' ext2
}

# Expects /boot's files in the tree.
make_gpt() {
  gpt_guest_files
  mount_tree
  write_menu
  gpt_check_initramfs
  gpt_make_environment
  unmount_tree
  gpt_make_disk layouts.img
  gpt_make_stranger
}
