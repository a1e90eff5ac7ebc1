#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Disks whose key is sealed to PCRs that kernel arguments change: no trial of arguments is armed, and
# check says so. Headers of devices are for the unit tests; here it is a tree, by its /etc/crypttab.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  mkdir -p "$root/boot/grub"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$root/boot/grub/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  echo 'linux /vmlinuz root=/dev/vda2 ro $railhead_kargs' >>"$root/boot/grub/grub.cfg"
  table=$root/etc/crypttab
  sealed 7+8+9
  p=$BATS_TEST_TMPDIR/a.yaml
  put "$p" "$(printf '%s\n' 'schema: 1' 'name: a' 'match: {dmi: {sys_vendor: Supermicro}}' 'kernel_args: {set: [quiet]}')"
}

sealed() { # PCRS
  put "$table" "luks-root UUID=1 none tpm2-device=auto,tpm2-pcrs=$1,x-initrd.attach"
}

# --- at boot ------------------------------------------------------------------------------------

gate() { # STATUS
  run "-$1" "$railhead" gate --root "$root"
}

unarmed() { # grub-editenv makes a file that is missing
  [ ! -e "$root/boot/grub/railhead.env" ] ||
    ! grub-editenv "$root/boot/grub/railhead.env" list 2>/dev/null | grep '^railhead_try=[ab]$'
}

@test "a sealed disk: no trial, no reboot, by name with the remedy, until the key is bound to other PCRs" {
  profile "$root" a <"$p"
  gate 7
  [[ $output != *"is due"* ]]
  unarmed
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"sealed: kernel arguments differ (+quiet), and railhead does not reboot for them: luks-root "* ]]
  [[ $output == *"the present value of PCR 8, PCR 9,"*"bind the key to PCR 7 (systemd-cryptenroll "* ]]
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"luks-root"*"PCR 8, PCR 9"* ]]
  run -7 "$railhead" status --root "$root"
  [[ $output == *luks-root* ]]
  jq -e '[.faults[].code] | index("RH-BOOT-SEALED")' "$root/run/railhead/status.json"
  # nor by force
  "$railhead" apply --retry --root "$root"
  gate 7
  unarmed
  put "$root/proc/sys/kernel/random/boot_id" 22222222-2222-3333-4444-555555555555
  sealed 7
  gate 8
  grub-editenv "$root/boot/grub/railhead.env" list | grep '^railhead_try=[ab]$'
}

@test "a sealed disk, and railhead.env is damaged: no command that writes it is named before the key is bound to PCR 7" {
  sealed 7
  profile "$root" a <"$p"
  gate 8
  sealed 7+8+9
  printf x | dd of="$root/boot/grub/railhead.env" bs=1 seek=106 conv=notrunc status=none
  gate 7
  [[ $output == *"bind the key to PCR 7"* && $output != *"kargs --reset"* ]]
  jq -e '[.faults[].code] | index("RH-BOOT-SEALED")' "$root/run/railhead/status.json"
  run -1 "$railhead" kargs --new-kernel "" --root "$root"
  [[ $output == *"boots are not counted: "*"bind the key to PCR 7"* ]]
  sealed 7
  gate 7
  [[ $output == *"kargs --reset"* ]]
  "$railhead" kargs --reset --root "$root"
  gate 8
}

@test "sealed after the trial was armed, and before the reboot: the trial is withdrawn" {
  profile "$root" a <"$p"
  rm "$table"
  gate 8
  sealed 8
  gate 7
  unarmed
}

@test "a sealed disk, and a kernel is installed: GRUB's count would be on the line, so nothing is counted" {
  local env=$root/boot/grub/railhead.env
  sealed 7
  "$railhead" kargs --reset --root "$root"
  sealed 7+8+9
  before=$(sha256sum "$env")
  # no arguments: nothing to count, and nothing to say
  run -0 "$railhead" kargs --new-kernel 6.99 --root "$root"
  [ -z "$output" ]
  [ "$(sha256sum "$env")" = "$before" ]
  rm "$table"
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro quiet"
  profile "$root" a <"$p"
  gate 0
  sealed 8
  before=$(sha256sum "$env")
  run -1 "$railhead" kargs --new-kernel 6.99 --root "$root"
  [[ $output == *"boots are not counted: luks-root "*"bind the key to PCR 7"* ]]
  [ "$(sha256sum "$env")" = "$before" ]
  rm "$table"
  run -0 "$railhead" kargs --new-kernel 6.99 --root "$root"
  grub-editenv "$env" list | grep -qx railhead_begun=0
}

@test "kargs --reset does not change the line of a sealed disk" {
  local env=$root/boot/grub/railhead.env files
  # a new file puts railhead's mark on the line
  run -1 "$railhead" kargs --reset --root "$root"
  [ ! -e "$env" ]
  sealed 7
  profile "$root" a <"$p"
  gate 8
  sealed 8
  files=$(sha256sum "$env")
  run -1 "$railhead" kargs --reset --root "$root"
  [[ $output == *"nothing is reset: "*"bind the key to PCR 7"* ]]
  [ "$files" = "$(sha256sum "$env")" ]
  sealed 7
  run -0 "$railhead" kargs --reset --root "$root"
  # without arguments it stays the same
  sealed 8
  run -0 "$railhead" kargs --reset --root "$root"
}

@test "a sealed disk whose node has the arguments: the next boot's line is not touched, the node is fine" {
  local files
  profile "$root" a <"$p"
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro quiet"
  files=$(find "$root/boot" -type f -exec sha256sum {} +)
  gate 0
  gate 0
  [ "$files" = "$(find "$root/boot" -type f -exec sha256sum {} +)" ]
  run -0 "$railhead" kargs --root "$root"
  [[ $output == *"all kernel arguments are in force; they do not come from railhead (luks-root "* ]]
  run -0 "$railhead" check --root "$root" "$p"
  # with another key railhead takes them over
  sealed 7
  run -0 "$railhead" gate --again --root "$root"
  grub-editenv "$root/boot/grub/railhead.env" list | grep -q '^railhead_[ab]=quiet'
}

@test "sealed after a trial of other arguments was armed: it is withdrawn, the line is not touched" {
  local env=$root/boot/grub/railhead.env
  profile "$root" a <"$p"
  rm "$table"
  gate 8
  sealed 8
  # a boot without GRUB, as by kexec
  profile "$root" a < <(sed 's/quiet/nosmt/' "$p")
  rm -r "$root/run/railhead"
  put "$root/proc/sys/kernel/random/boot_id" 22222222-2222-3333-4444-555555555555
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro nosmt"
  gate 0
  unarmed
  gate 0
  ! grub-editenv "$env" list | grep '^railhead_[ab]=nosmt' || false
  run -0 "$railhead" kargs --root "$root"
  [[ $output == *"they do not come from railhead (luks-root "* ]]
}

@test "a table that can't be read is taken for a sealed disk" {
  profile "$root" a <"$p"
  rm "$table"
  head -c 3000000 /dev/zero >"$table"
  gate 7
  [[ $output == *"/etc/crypttab can't be read (File too large)"* ]]
  unarmed
  rm "$table"
  mkdir "$table"
  gate 7
  rmdir "$table"
  gate 8
}

# --- check --------------------------------------------------------------------------------------

@test "check --root: a disk that is sealed to the command line is an error with its place" {
  run -3 "$railhead" check --root "$root" "$p"
  [[ ${lines[0]} == "$p:4:14: kernel_args: luks-root (tpm2-pcrs= in /etc/crypttab): the TPM gives out its key only for the present value of PCR 8, PCR 9,"* ]]
  [[ ${lines[0]} == *"systemd-cryptenroll "*"--tpm2-pcrs=7 "* ]]
  [ ${#lines[@]} = 1 ]
}

@test "check --root --json: the same, as a diagnostic of severity error" {
  run -3 --separate-stderr "$railhead" check --json --root "$root" "$p"
  [ "$(jq -r '.files[0] | .ok, (.diagnostics | length), .diagnostics[0].severity, .diagnostics[0].code, .diagnostics[0].key' <<<"$output" | xargs)" = "false 1 error seal kernel_args" ]
}

@test "check --root: boot-time pages are kernel arguments too" {
  sed -i 's/^kernel_args.*/hugepages: [{size: 1G, per_node: 1}]/' "$p"
  run -3 "$railhead" check --root "$root" "$p"
  [[ ${lines[0]} == "$p:4:"*": hugepages: luks-root "* ]]
}

@test "check: nothing without kernel arguments, without a machine, of other PCRs and keys" {
  good() {
    run -0 "$railhead" check "$@"
    [[ $output != *luks* ]]
  }
  good "$p"
  sed 's/^kernel_args.*/sysctl: {vm.swappiness: 10}/; s/^name: a/name: b/' "$p" >"$BATS_TEST_TMPDIR/b.yaml"
  good --root "$root" "$BATS_TEST_TMPDIR/b.yaml"
  sed 's/^kernel_args.*/hugepages: [{size: 2M, per_node: 1, at: runtime}]/; s/^name: a/name: c/' "$p" >"$BATS_TEST_TMPDIR/c.yaml"
  good --root "$root" "$BATS_TEST_TMPDIR/c.yaml"
  sealed 7
  good --root "$root" "$p"
  put "$table" "luks-root UUID=1 none tpm2-device=auto,x-initrd.attach"
  good --root "$root" "$p"
  put "$table" "luks-root UUID=1 none luks,discard,x-initrd.attach"
  good --root "$root" "$p"
  rm "$table"
  good --root "$root" "$p"
}

@test "check --root: an invalid profile is an error as before" {
  sed -i 's/quiet/"a b"/' "$p"
  run -3 "$railhead" check --root "$root" "$p"
  [[ $output != *luks-root* ]]
}
