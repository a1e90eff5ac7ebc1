#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Counters of boots that updaters keep: while one is armed, railhead arms no trial and does not reboot, and
# it never writes into another program's files.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
kernel_args: {set: [transparent_hugepage=never]}
Y
  grub "$root/boot/grub"
  env=$root/boot/grub/railhead.env
  block=$root/boot/grub/grubenv
}

grub() { # DIRECTORY
  mkdir -p "$1"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$1/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  echo 'linux /vmlinuz root=/dev/vda2 ro $railhead_kargs' >>"$1/grub.cfg"
}

grubenv() { # NAME=VALUE...
  mkdir -p "${block%/*}"
  [ -e "$block" ] || grub-editenv "$block" create
  grub-editenv "$block" set "$@"
}

cmdline() {
  echo "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro $*" >"$root/proc/cmdline"
}

gate() { # STATUS
  run "-$1" "$railhead" gate --root "$root"
}

next_boot() {
  printf '%08x-2222-3333-4444-555555555555\n' $((++boots)) >"$root/proc/sys/kernel/random/boot_id"
}

# RAUC as its script leaves it in a boot of slot A after an update: B is the old system.
rauc() {
  grubenv "ORDER=A B" A_OK=1 B_OK=1 A_TRY=1 B_TRY=0
  cmdline rauc.slot=A
}

files_of_others() {
  find "$root/boot" "$root/grubenv" -type f ! -name railhead.env -exec stat -c '%n %i %y' {} + \
    -exec sha256sum {} + 2>/dev/null || :
}

# No trial, no reboot, named in status with its fault; the args are not in force, so not ready.
held_back() { # WORD...
  local word before
  before=$(files_of_others)
  gate 7
  [[ $output != *"arguments is due"* ]]
  [ ! -e "$env" ] || grub-editenv "$env" list | grep -qx railhead_try=-
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"counted: "*"transparent_hugepage=never"* ]]
  for word in "$@"; do
    [[ $output == *"$word"* ]]
  done
  run -7 "$railhead" status --root "$root"
  [[ $output == *"$1"* ]]
  jq -e '[.faults[].code] | index("RH-BOOT-COUNTED")' "$root/run/railhead/status.json"
  # nor by force
  "$railhead" apply --retry --root "$root"
  gate 7
  [ ! -e "$env" ] || grub-editenv "$env" list | grep -qx railhead_try=-
  [ "$before" = "$(files_of_others)" ]
}

tries_by_itself() {
  local before
  before=$(files_of_others)
  next_boot
  gate 8
  grub-editenv "$env" list | grep -q '^railhead_try=[ab]$'
  [ "$before" = "$(files_of_others)" ]
}

@test "RAUC: no reboot in a boot that is not marked good; once it is, the gate arms the trial" {
  rauc
  held_back "RAUC counts the boots of slots, of which one is not marked good" \
    "A_OK=1 A_TRY=1, B_OK=1 B_TRY=0 in /boot/grub/grubenv" \
    "run \`rauc status mark-good\`, then \`railhead gate\`"
  # mark-good, in the same boot
  grubenv A_TRY=0
  before=$(files_of_others)
  gate 8
  grub-editenv "$env" list | grep -q '^railhead_try=[ab]$'
  [ "$before" = "$(files_of_others)" ]
}

@test "RAUC: the slot that booted is not known, or another one comes next: no reboot" {
  rauc
  grubenv A_TRY=0
  cmdline
  held_back "the slot that runs is not the first of two or more (rauc.slot=, ORDER=A B"
  cmdline rauc.slot=A
  grubenv "ORDER=B A"
  next_boot
  held_back "(rauc.slot=A, ORDER=B A"
  grubenv "ORDER=A B"
  tries_by_itself
}

@test "RAUC: the only slot that is left is not put at risk" {
  rauc
  grubenv A_TRY=1 B_TRY=0
  cmdline rauc.slot=B
  held_back "A_OK=1 A_TRY=1"
  grubenv A_TRY=0 B_OK=0
  cmdline rauc.slot=A
  next_boot
  held_back "B_OK=0"
  grubenv B_OK=1
  tries_by_itself
}

@test "RAUC: arguments that all arrived ask nothing of its counters" {
  rauc
  cmdline rauc.slot=A transparent_hugepage=never
  before=$(sha256sum "$block")
  gate 0
  [ "$before" = "$(sha256sum "$block")" ]
}

@test "RAUC: its environment is on the EFI system partition, or where system.conf says" {
  block=$root/boot/efi/EFI/BOOT/grubenv
  mkdir -p "$root/sys/firmware/efi" "$root/etc/rauc"
  rm -r "$root/boot/grub"
  env=$root/boot/efi/EFI/railhead/railhead.env
  grub "$root/boot/efi/EFI/BOOT"
  rauc
  held_back "in /boot/efi/EFI/BOOT/grubenv"
  # elsewhere
  rm -f "$block" "$env"
  block=$root/grubenv/env
  rauc
  printf '[system]\nbootloader=grub\ngrubenv=/grubenv/env\n' >"$root/etc/rauc/system.conf"
  next_boot
  held_back "in /grubenv/env"
  grubenv A_TRY=0
  tries_by_itself
  # it is not there, or a loader that is not read
  rm -f "$block" "$env"
  next_boot
  held_back "/grubenv/env can't be read (No such file or directory)"
  printf '[system]\nbootloader=efi\n' >"$root/etc/rauc/system.conf"
  next_boot
  held_back "RAUC counts boots (bootloader=efi in /etc/rauc/system.conf), which railhead can't read"
}

@test "greenboot: no reboot while its counter is armed; the boot after tries by itself" {
  grubenv boot_counter=2 boot_success=0
  held_back "greenboot counts the boots" "boot_counter=2 in /boot/grub/grubenv" \
    "the first boot that no other program counts tries the arguments"
  grub-editenv "$block" unset boot_counter
  grubenv boot_success=0
  tries_by_itself
}

@test "armed after the trial was: the reboot into it waits, too, and no other reboot takes it" {
  local counter
  for counter in greenboot RAUC; do
    rm -f "$block" "$env"
    cmdline
    next_boot
    gate 8
    grub-editenv "$env" list | grep -q '^railhead_try=[ab]$'
    if [ $counter = RAUC ]; then rauc; else grubenv boot_counter=2 boot_success=0; fi
    gate 7
    [[ $output == *$counter* || $output == *A_TRY=1* ]]
    run -7 "$railhead" gate --root "$root"
    grub-editenv "$env" list | grep -qx railhead_try=-
  done
}

@test "Mender: no reboot while its update is not committed; the boot after tries by itself" {
  block=$root/boot/grub-mender-grubenv/mender_grubenv1/env
  grubenv bootcount=1 mender_boot_part=3 upgrade_available=1
  held_back "Mender has an update on trial" "mender_grubenv1/env"
  grubenv bootcount=0 upgrade_available=0
  tries_by_itself
}

@test "systemd's boot counting: no reboot, named" {
  local vars=$root/sys/firmware/efi/efivars
  mkdir -p "$vars" "$root/boot/efi"
  grub "$root/boot/efi/EFI/debian"
  printf '\6\0\0\0/\0l\0+\0002\0\0\0' >"$vars/LoaderBootCountPath-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
  env=$root/boot/efi/EFI/railhead/railhead.env
  held_back "LoaderBootCountPath: /l+2"
  rm "$vars"/*
  tries_by_itself
}

@test "an offline update that waits for the next boot: no reboot, named; the boot after tries by itself" {
  ln -s /var/lib/system-update "$root/system-update" # its file system may not be mounted yet
  held_back "an offline update" "/system-update" "remove the link"
  rm "$root/system-update"
  mkdir -p "$root/etc" "$root/var/lib/dnf"
  ln -s ../var/lib/dnf "$root/etc/system-update"
  next_boot
  held_back "an offline update" "/etc/system-update"
  rm "$root/etc/system-update"
  tries_by_itself
}

@test "a relabel by SELinux that waits for the next boot: the same, where SELinux is on" {
  mkdir -p "$root/sys/fs/selinux" "$root/etc/selinux"
  touch "$root/.autorelabel"
  held_back "labels the files again for SELinux" "/.autorelabel"
  rm "$root/.autorelabel"
  next_boot
  cmdline autorelabel=1
  held_back "for SELinux" "autorelabel=1"
  next_boot
  cmdline autorelabel
  held_back "for SELinux"
  # where it is off, selinux-autorelabel-mark.service leaves the file there for ever
  touch "$root/.autorelabel"
  printf '# config\nSELINUX=disabled\n' >"$root/etc/selinux/config"
  tries_by_itself
}

@test "without SELinux, and with autorelabel=0, nothing holds the reboot back" {
  touch "$root/.autorelabel"
  gate 8
  rm -r "$root/.autorelabel" "$env"
  mkdir -p "$root/sys/fs/selinux"
  cmdline autorelabel=0
  tries_by_itself
}

@test "several counters: the reboot waits for all" {
  rauc
  grubenv boot_counter=1 boot_success=0
  held_back greenboot
  grub-editenv "$block" unset boot_counter
  next_boot
  held_back RAUC
  grubenv A_TRY=0
  tries_by_itself
}

@test "snapd and SWUpdate: no reboot while their updates are on trial" {
  local armed idle
  while read -r armed idle; do
    rm -f "$block" "$env"
    next_boot
    grubenv "$armed"
    held_back "$armed in /boot/grub/grubenv"
    grubenv "$idle"
    tries_by_itself
  done <<END
kernel_status=trying kernel_status=
snap_mode=try snap_mode=
ustate=1 ustate=0
ustate=2 ustate=3
END
}

@test "blocks that count nothing: none, empty, cut, another signature, Fedora's menu" {
  local text
  for text in "" "# GRUB Env" "# GRUB Environment Block" "boot_counter=2" \
    "$(printf '# GRUB Environment Block\nboot_counter=2')" \
    "$(printf '# GRUB Environment Block\nsaved_entry=0\nmenu_auto_hide=1\nboot_success=0\nboot_indeterminate=1\n.')"; do
    printf '%s' "$text" >"$block"
    rm -rf "$env" "$root/var/lib/railhead"
    next_boot
    gate 8
    [ "$text" = "$(cat "$block")" ]
  done
}

@test "a block that can't be read holds the reboot back" {
  grubenv x=1
  run -7 strace -f -o /dev/null -P "$block" -P "${block#"$root"}" -e trace=read -e inject=read:error=EIO \
    "$railhead" gate --root "$root"
  [[ $output == *"boot counter is armed: /boot/grub/grubenv can't be read"* ]]
}

@test "reboot: false, and by hand: neither is a trial armed while a counter is" {
  grubenv boot_counter=2 boot_success=0
  gate 7
  printf 'schema: 1\nreboot: false\n' >"$root/etc/railhead/railhead.conf"
  gate 7
  [ ! -e "$env" ] || grub-editenv "$env" list | grep -qx railhead_try=-
}

# --- boot-complete.target ---------------------------------------------------------------------

generate() { # CONF
  mkdir -p "$root/etc/railhead"
  printf '%b' "$1" >"$root/etc/railhead/railhead.conf"
  run_generator
}

run_generator() { # the drop-in, if any, is at $dropin
  rm -rf "$BATS_TEST_TMPDIR/units"
  mkdir -p "$BATS_TEST_TMPDIR/units"
  sed "s#^root=#&$root#" "$BATS_TEST_DIRNAME/../units/railhead-generator" >"$BATS_TEST_TMPDIR/generator"
  sh "$BATS_TEST_TMPDIR/generator" "$BATS_TEST_TMPDIR/units" "$BATS_TEST_TMPDIR/early" "$BATS_TEST_TMPDIR/late"
  dropin=$BATS_TEST_TMPDIR/units/boot-complete.target.d/railhead.conf
}

@test "boot_complete: true makes boot-complete.target require the gate, any other word does not" {
  local conf
  for conf in 'schema: 1\nboot_complete: true\n' 'schema: 1\n\tboot_complete:  true # why\nreboot: false' \
    'boot_complete: true'; do
    generate "$conf"
    grep -qx Requires=railhead-gate.service "$dropin"
    grep -qx After=railhead-gate.service "$dropin"
  done
  for conf in '' 'schema: 1\n' 'boot_complete: false\n' '# boot_complete: true\n' 'boot_complete: truer\n' \
    'xboot_complete: true\n' 'boot_complete:\n'; do
    generate "$conf"
    [ ! -e "${dropin%/*}" ]
  done
  rm "$root/etc/railhead/railhead.conf"
  sh "$BATS_TEST_TMPDIR/generator" "$BATS_TEST_TMPDIR/units" x x
  [ ! -e "${dropin%/*}" ]
}

@test "boot_complete: the generator takes the files that railhead takes" {
  # Lines of FILE CONTENT, with "-" for a link to /dev/null; the last word is what must come out.
  while read -r wanted files; do
    rm -rf "$root"/{etc,run,usr/lib}/railhead
    for file in $files; do
      mkdir -p "$(dirname "$root/${file%=*}")"
      if [ "${file#*=}" = - ]; then
        ln -s /dev/null "$root/${file%=*}"
      else
        printf 'schema: 1\nboot_complete: %s\n' "${file#*=}" >"$root/${file%=*}"
      fi
    done
    run_generator
    [ "$wanted" = "$([ -e "$dropin" ] && echo true || echo false)" ] || { echo "$wanted: $files"; return 1; }
  done <<END
true  usr/lib/railhead/railhead.conf=true
false usr/lib/railhead/railhead.conf=true etc/railhead/railhead.conf=false
false usr/lib/railhead/railhead.conf=true etc/railhead/railhead.conf=-
true  etc/railhead/railhead.conf=false usr/lib/railhead/railhead.conf.d/10-x.conf=true
false usr/lib/railhead/railhead.conf.d/10-x.conf=true etc/railhead/railhead.conf.d/10-x.conf=false
false usr/lib/railhead/railhead.conf.d/10-x.conf=true etc/railhead/railhead.conf.d/10-x.conf=-
false usr/lib/railhead/railhead.conf.d/10-x.conf=true run/railhead/railhead.conf.d/20-x.conf=false
true  usr/lib/railhead/railhead.conf.d/30-x.conf=true run/railhead/railhead.conf.d/20-x.conf=false
false etc/railhead/railhead.conf.d/x.conf.off=true
END
}

@test "boot_complete: a form that the generator does not read blocks the node, named" {
  generate '{schema: 1, boot_complete: true}\n'
  [ ! -e "$dropin" ]
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"boot_complete: write 'boot_complete: true' on a separate line"* ]]
  generate 'schema: 1\nboot_complete: true\n'
  run "$railhead" gate --root "$root"
  [[ $output != *boot_complete* ]]
}
