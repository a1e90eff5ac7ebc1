#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# railhead installed in the tree of an image, in a chroot: the disks, mounts and firmware that can be
# seen there are the build host's. Firmware and an EFI system partition: tests/vm/cases/package.py.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/tree
  mkdir -p "$root"/{boot,etc,proc,sys/firmware,usr/sbin,var/lib,run,dev,tmp}
  "$BATS_TEST_DIRNAME/lib/libraries" "$railhead" | while read -r lib; do
    install -D "$lib" "$root$lib"
  done
  install -D "$railhead" "$root/usr/sbin/railhead"
  mkdir -p "$root/boot/grub"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$root/boot/grub/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  echo 'linux /vmlinuz $railhead_kargs' >>"$root/boot/grub/grub.cfg"
  # the image's own partitions, which the builder has not mounted under these names
  printf 'LABEL=railhead-no-such-boot /boot ext4 defaults 0 2\nLABEL=railhead-no-such-esp /boot/efi vfat defaults 0 1\n' \
    >"$root/etc/fstab"
}

teardown() {
  [ -z "${bound:-}" ] || umount -l "$bound"
}

in_chroot() { chroot "$root" /usr/sbin/railhead "$@"; }

bind_proc() {
  bound=$root/proc
  mount --bind /proc "$bound"
}

is_below_the_tree() { # FILE
  run -0 in_chroot kargs --reset
  [ "$output" = "$1: no kernel arguments of railhead at the next boot" ]
  [ "$(stat -c %s "$root$1")" = 4096 ]
  [ "$(find "$root" -name railhead.env | wc -l)" = 1 ]
}

@test "kargs --reset in a chroot mounts nothing that fstab names: the file is in the tree's /boot" {
  is_below_the_tree /boot/grub/railhead.env
}

@test "the same with /proc of the host" {
  bind_proc
  is_below_the_tree /boot/grub/railhead.env
}

@test "on a host with EFI: below the tree's /boot/efi, and in no partition of the host's" {
  mkdir -p "$root/sys/firmware/efi/efivars" "$root/boot/efi/EFI"
  # grub.cfg looks for the file there by the partition that update-grub saw
  bind_proc
  is_below_the_tree /boot/efi/EFI/railhead/railhead.env
}

@test "kargs --mend in a chroot mends the entries of the tree" {
  sed -i '$d' "$root/boot/grub/grub.cfg"
  printf 'insmod blscfg\nblscfg\n' >>"$root/boot/grub/grub.cfg"
  mkdir -p "$root/boot/loader/entries"
  printf 'title x\nlinux /v\noptions ro\ngrub_class x\n' >"$root/boot/loader/entries/x.conf"
  bind_proc
  run -0 in_chroot kargs --mend
  # shellcheck disable=SC2016 # GRUB's variable
  [ "$output" = '/boot/loader/entries/x.conf: added $railhead_kargs' ]
}
