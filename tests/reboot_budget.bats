#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The budget of railhead's own reboots, which outlives railhead.env (src/boot/witness.h): series of
# boots in which that file is lost, GRUB can't write, or the count itself is lost or damaged.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  grub "$root/boot/grub"
  env=$root/boot/grub/railhead.env
  count=$root/etc/railhead/reboots
  efivars=$root/sys/firmware/efi/efivars
  variable=$efivars/RailheadReboots-9ed6c038-6883-4b4d-8f41-05088c4e7023
  record=$root/run/railhead/status.json
  boots=0
  wants transparent_hugepage=never
}

grub() { # DIRECTORY
  mkdir -p "$1"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$1/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  echo 'linux /vmlinuz root=/dev/vda2 ro $railhead_kargs' >>"$1/grub.cfg"
}

wants() { # ARGUMENT
  profile "$root" sku <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
kernel_args: {set: [$1]}
Y
}

# The machine has EFI, and the environment file is on its system partition.
efi() {
  mkdir -p "$efivars" "$root/boot/efi/EFI/debian"
  echo "vfat /boot/efi vfat defaults 0 2" >"$root/etc/fstab"
  env=$(sed -n 's/.*"file": "\(.*\)".*/\1/p' <<<"$("$railhead" kargs --json --root "$root")")
  env=$root$env
}

# A boot whose line has these arguments in addition: none by default.
boot() { # ARGUMENTS
  boots=$((boots + 1))
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro $*"
  put "$root/proc/sys/kernel/random/boot_id" "$(printf '%08x-2222-3333-4444-555555555555' $boots)"
  rm -rf "$root/run/railhead"
}

# As the script of initramfs-tools runs it; below /etc nothing can be written if read_only is set.
initrd() { # EXIT
  if [ -n "${read_only:-}" ]; then
    # shellcheck disable=SC2016 # its own
    RAILHEAD_INITRAMFS=1 run "-$1" unshare -m sh -c 'mount --bind "$2/etc" "$2/etc" &&
      mount -o remount,bind,ro "$2/etc" && exec "$1" apply --stage initrd --root "$2"' - "$railhead" "$root"
  else
    RAILHEAD_INITRAMFS=1 run "-$1" "$railhead" apply --stage initrd --root "$root"
  fi
}

# GRUB takes the trial; that boot has its arguments.
boot_of_trial() {
  local try list
  try=$(grub-editenv "$env" list | sed -n 's/^railhead_try=//p')
  grub-editenv "$env" set railhead_try=t
  list=$(grub-editenv "$env" list | sed -n "s/^railhead_$try=//p")
  boot "$list railhead.slot=$try railhead.trial=$try panic=30"
}

# The budget is spent: named, with the remedy, and nothing is armed.
is_held() { # WORD...
  local word
  [[ $output != *rebooting* ]]
  [ ! -e "$env" ] || ! grub-editenv "$env" list | grep -q '^railhead_try=[ab]$' || return 1
  run -9 "$railhead" kargs --root "$root"
  for word in "state      held: kernel arguments differ" "$@" 'railhead apply --retry` or `railhead kargs --reset`'; do
    [[ $output == *"$word"* ]] || {
      echo "no '$word' in: $output"
      return 1
    }
  done
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"railhead does not reboot for them"* ]]
}

counted() { # NUMBER
  grep -qx "reboots=$1 boot=.*" "$count"
}

in_variable() { # NUMBER
  [ "$(head -c 4 "$variable" | od -An -tu1 | tr -d ' ')" = 7000 ]
  tail -c +5 "$variable" | grep -qx "reboots=$1 boot=.*"
}

spend() { # REBOOTS; the file of arguments is lost before each boot
  local n
  for n in $(seq "$1"); do
    boot
    rm -f "$env"
    initrd 8
    [[ $output == *rebooting* ]]
  done
}

@test "railhead.env is lost before each boot: five reboots, then the node stays up, and says why" {
  spend 5
  counted 5
  for n in 1 2 3; do
    boot
    rm -f "$env"
    initrd 9
    is_held "railhead has made 5 reboots with no verdict in between" /etc/railhead/reboots
    run -7 "$railhead" gate --root "$root"
    jq -e '[.faults[].code] == ["RH-BOOT-LOOP"]' "$record"
    # a verdict that is held back settles nothing
    counted 5
  done
}

@test "the same with EFI, also where the root file system is restored with the file" {
  efi
  boot
  for n in 1 2 3 4 5; do
    boot
    rm -f "$env" "$count"
    initrd 8
    counted "$n"
    in_variable "$n"
  done
  boot
  rm -f "$env" "$count"
  initrd 9
  is_held "railhead has made 5 reboots"
  # and where the firmware has lost its variables
  boot
  printf 'reboots=5 boot=x\n' >"$count"
  rm -f "$variable" "$env"
  initrd 9
  is_held "railhead has made 5 reboots"
}

@test "GRUB can't write and the arguments are others in each boot: 60 boots, 5 reboots" {
  reboots=0
  for n in $(seq 60); do
    boot railhead.slot=a
    wants "turn=$((n % 2))"
    RAILHEAD_INITRAMFS=1 run "$railhead" apply --stage initrd --root "$root"
    [ "$status" = 8 ] || [ "$status" = 9 ] || {
      echo "boot $n: $status: $output"
      return 1
    }
    [ "$status" = 9 ] || reboots=$((reboots + 1))
  done
  echo "$reboots reboots"
  [ "$reboots" = 5 ]
}

@test "one boot counts once, a run by hand and a reboot of the operator's not at all" {
  boot
  run -8 "$railhead" apply --root "$root"
  [ ! -e "$count" ]
  initrd 8
  counted 1
  before=$(stat -c '%y %i' "$count")
  initrd 8
  counted 1
  [ "$before" = "$(stat -c '%y %i' "$count")" ]
  printf 'schema: 1\nreboot: false\n' >"$root/etc/railhead/railhead.conf"
  boot
  rm "$env"
  initrd 0
  counted 1
}

@test "plan and kargs say how many reboots are left before the next is made" {
  spend 3
  boot
  rm -f "$env"
  run -5 "$railhead" kargs --root "$root"
  [[ $output == *"reboots by railhead since the last verdict: 3 of at most 5"* ]]
  run -5 "$railhead" plan --root "$root"
  counted 3
}

@test "a verdict with which nothing reboots sets the count back, in both places" {
  efi
  spend 2
  in_variable 2
  boot_of_trial
  initrd 0
  counted 2
  run "$railhead" gate --root "$root"
  [ ! -e "$count" ]
  [ ! -e "$variable" ]
  # the whole budget again
  rm "$env"
  spend 5
}

@test "a converged boot opens a few files for it, and writes nothing" {
  efi
  boot
  initrd 8
  boot_of_trial
  initrd 0
  run "$railhead" gate --root "$root"
  boot "transparent_hugepage=never railhead.slot=$(grub-editenv "$env" list | sed -n 's/^railhead_good=//p')"
  for stage in "apply --stage initrd" gate; do
    # shellcheck disable=SC2086 # words
    RAILHEAD_INITRAMFS=1 run strace -f -y -o "$BATS_TEST_TMPDIR/trace" -e trace=openat,openat2,unlinkat,ioctl "$railhead" $stage --root "$root"
    [ "$(grep -cE 'RailheadReboots|railhead/reboots' "$BATS_TEST_TMPDIR/trace")" -le 2 ]
    [ "$(writes_of "$BATS_TEST_TMPDIR/trace" | grep -cE 'RailheadReboots|reboots|railhead\.env')" = 0 ]
  done
  [ -z "$(find "$root" -name '*eboots*')" ]
}

@test "a root file system that is read-only: with EFI the variable counts alone" {
  efi
  read_only=1
  boot
  "$railhead" kargs --reset --root "$root"
  for n in 1 2 3 4 5; do
    boot
    grub-editenv "$env" set railhead_try=-
    rm -f "$env"
    initrd 8
    [ ! -e "$count" ]
    in_variable "$n"
  done
  boot
  rm -f "$env"
  initrd 9
  is_held "railhead has made 5 reboots"
}

@test "a root file system that is read-only, and no EFI: no reboot, named, with the remedy" {
  read_only=1
  boot
  initrd 1
  [[ $output != *rebooting* ]]
  [[ $output == *"reboot: railhead can't count its reboots (directory /etc is read-only; this machine has no EFI variables), and so does not reboot: make /etc/railhead/reboots writable, or reboot the node yourself"* ]]
  # the trial is armed, and any reboot brings it
  grub-editenv "$env" list | grep -q '^railhead_try=[ab]$'
}

@test "--retry and --reset set the count back" {
  efi
  spend 5
  boot
  rm -f "$env"
  initrd 9
  run -8 "$railhead" apply --retry --root "$root"
  grub-editenv "$env" list | grep -q '^railhead_try=[ab]$'
  [ ! -e "$count" ]
  [ ! -e "$variable" ]
  spend 5
  boot
  rm -f "$env"
  initrd 9
  run -0 "$railhead" kargs --reset --root "$root"
  [ ! -e "$count" ]
  [ ! -e "$variable" ]
  initrd 8
  counted 1
}

@test "arguments that are in force need no budget, and their verdict sets it back" {
  spend 5
  boot transparent_hugepage=never
  rm -f "$env"
  initrd 0
  run "$railhead" gate --root "$root"
  [ ! -e "$count" ]
}

@test "a count that is damaged, empty or too long: no reboot in this boot, its verdict begins again" {
  for text in 'reboots=1 boot=x' $'reboots=0 boot=x\n' $'reboots=01 boot=x\n' $'reboots=2\n' $'x\n' '' "$(head -c 5000 /dev/zero | tr '\0' 1)"; do
    boot
    rm -f "$env"
    printf '%s' "$text" >"$count"
    initrd 9
    is_held "railhead can't tell how many reboots it has made before (" /etc/railhead/reboots \
      "the next boot may reboot"
    run -7 "$railhead" gate --root "$root"
    jq -e '[.faults[].code] == ["RH-BOOT-LOOP"]' "$record"
    [ ! -e "$count" ]
    boot
    initrd 8
    counted 1
    rm "$count"
  done
}

@test "damaged before each boot the count is no loop, and --retry ends the wait at once" {
  for n in 1 2 3; do
    boot
    rm -f "$env"
    echo junk >"$count"
    initrd 9
  done
  run -8 "$railhead" apply --retry --root "$root"
  [ ! -e "$count" ]
  boot
  rm -f "$env"
  initrd 8
}

@test "where one place is damaged the other counts, and the next count mends it" {
  efi
  spend 2
  boot
  rm -f "$env"
  echo junk >"$count"
  run -5 "$railhead" kargs --root "$root"
  [[ $output == *"2 of at most 5; /etc/railhead/reboots: not a count that railhead wrote"* ]]
  initrd 8
  counted 3
  printf 'abc' >"$variable"
  boot
  rm -f "$env"
  initrd 8
  in_variable 4
  counted 4
  # what can't be a file is no file
  rm "$count"
  mkdir "$count"
  boot
  rm -f "$env"
  initrd 8
  in_variable 5
  boot
  rm -f "$env"
  initrd 9
}

damage() {
  printf '# GRUB Environment Block\nrailhead_good=a\n' >"$env"
}

@test "a damaged railhead.env is made again, and a trial brings the arguments; within the budget" {
  boot
  damage
  run -5 "$railhead" kargs --root "$root"
  [[ $output == *"railhead writes the file again, because"*"bytes long"* ]]
  initrd 8
  [ "$(stat -c %s "$env")" = 4096 ]
  grub-editenv "$env" list | grep -q '^railhead_try=[ab]$'
  for n in 2 3 4 5; do
    boot
    damage
    initrd 8
  done
  boot
  damage
  initrd 9
  is_held "railhead has made 5 reboots"
}

@test "the gate reports a count that can't be reset" {
  boot transparent_hugepage=never
  mkdir "$count"
  run "$railhead" gate --root "$root"
  [[ $output == *"the count of railhead's reboots could not be reset: /etc/railhead/reboots: Is a directory"* ]]
}
