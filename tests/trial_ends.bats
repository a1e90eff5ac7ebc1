#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# How trials of kernel arguments end before their verdict: what is noted, what comes of it, and what
# `railhead kargs` tells. Series with more turns are in tests/unit/test_boot_trial.c.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/trials

setup() {
  trial_node
  wants new=1
}

ends() { # LETTERS
  in_env "railhead_ends=$1 *" || {
    grub-editenv "$env" list | grep railhead_ends
    return 1
  }
}

ended() { # timer|stop
  run -0 "$railhead" kargs --ended "$1" --root "$root"
}

# The trial that the boot before has armed.
trial_begins() {
  boot
  has railhead.trial=a || has railhead.trial=b
  run -0 initrd
}

# The boot after it, which has the old args and arms the next one.
arms_again() { # WORDS
  boot
  has old=1
  run -5 "$railhead" kargs --root "$root"
  [[ $output == *"$1"* ]]
  run -8 initrd
}

story() { # LINE...
  run "$railhead" kargs --root "$root"
  for line; do
    grep -qxE -- "$line" <<<"$output" || {
      printf 'no line %s in\n%s\n' "$line" "$output"
      return 1
    }
  done
}

told() { # FILTER VALUE
  run "$railhead" kargs --json --root "$root"
  [ "$(jq -cr ".story | $1" <<<"$output")" = "$2" ] || {
    jq .story <<<"$output"
    return 1
  }
}

@test "two orderly stops: the attempt is given back, and the third trial is kept" {
  arms_again "trial 1 of 2"
  ends U
  for _ in 1 2; do
    trial_begins
    ended stop
    [[ $output == *"an orderly shutdown or reboot before the verdict"* ]]
    arms_again "trial 1 of 2 again, because the last trial was shut down or rebooted in order"
  done
  ends ssU
  story 'tried +new=1' 'trial 1 +an orderly shutdown or reboot before the verdict; not counted' \
    'trial 3 +the next boot' 'what next +the next boot tries them: trial 1 of 2; .*'
  trial_begins
  gate 0
  is_in_force new=1
  ends ss
  story 'kept +new=1' 'trial 2 .*; not counted' 'what next +each boot has them'
}

@test "orderly stops in each trial make no loop: two are given back, two count" {
  arms_again "trial 1 of 2"
  for said in "trial 1 of 2 again" "trial 1 of 2 again" "trial 2 of 2"; do
    trial_begins
    ended stop
    arms_again "$said"
  done
  trial_begins
  ended stop
  boot
  has old=1
  run -9 initrd
  [[ $output == *"2 trial boots with them"*"both were shut down before their verdict"* ]]
  gate 7
  fault RH-BOOT-ARGS-REJECTED "both were shut down before their verdict"
  is_in_force old=1
  ends ssss
  told '[.boots[].counts]' '[false,false,true,true]'
}

@test "an orderly stop is noted by the trial alone, once, and not after its verdict" {
  ended stop
  [ -z "$output" ]
  arms_again "trial 1 of 2"
  ended stop
  [ -z "$output" ]
  trial_begins
  put "$root/run/railhead/trial-over" "the verdict is there, and could not be written down"
  ended stop
  [ -z "$output" ]
  ends U
  rm "$root/run/railhead/trial-over"
  ended timer
  ended stop
  [ -z "$output" ]
  ends T
  arms_again "trial 2 of 2"
  ends tU
  trial_begins
  gate 0
  [ -e "$root/run/railhead/trial-over" ]
  before=$(cksum "$env")
  ended stop
  [ -z "$output" ]
  ended timer
  [ "$(cksum "$env")" = "$before" ]
  ends t
}

@test "a panic and the timer: both are named, in the reason and in the story" {
  arms_again "trial 1 of 2"
  trial_begins
  story 'trial 1 +this boot' 'what next +the verdict of this boot decides; without a verdict in ten minutes.*'
  told .state running
  ended timer
  arms_again "trial 2 of 2"
  trial_begins
  put "$root/sys/fs/pstore/dmesg-efi-1" "Panic#1 Part1"
  touch -d '+1 hour' "$root/sys/fs/pstore/dmesg-efi-1"
  boot
  run -9 initrd
  [[ $output == *"one panicked, one came to no verdict within ten minutes"* ]]
  told '[.boots[].end]' '["timer","panic"]'
  gate 7
  fault RH-BOOT-ARGS-REJECTED "one panicked"
  ends tp
  rm "$root/sys/fs/pstore/dmesg-efi-1"
  boot
  run -9 initrd
  [[ $output == *"one panicked, one came to no verdict within ten minutes"* ]]
  told .state refused
  story 'tried +new=1' 'trial 1 +no verdict within ten minutes' 'trial 2 +the kernel panicked' \
    'what next +they are tried again on this kernel after 10 more healthy boots, or by .*apply --retry.*'
  # Asked for by a person, they begin again.
  run -8 "$railhead" apply --retry --root "$root"
  ends U
}

@test "a panic outranks an orderly stop; a record of before the arming counts for nothing" {
  arms_again "trial 1 of 2"
  put "$root/sys/fs/pstore/dmesg-efi-1" "Panic#1 Part1"
  touch -d '-1 hour' "$root/sys/fs/pstore/dmesg-efi-1"
  trial_begins
  ended stop
  arms_again "trial 1 of 2 again"
  trial_begins
  ended stop
  mkdir -p "$root/var/lib/systemd/pstore/17"
  put "$root/var/lib/systemd/pstore/17/dmesg-efi-2" "Panic#1 Part1"
  touch -d '+1 hour' "$root/var/lib/systemd/pstore/17/dmesg-efi-2"
  arms_again "trial 2 of 2"
  ends spU
}

@test "resets leave no trace: rejected after two, as ever, and so it is told" {
  arms_again "trial 1 of 2"
  boot
  arms_again "trial 2 of 2"
  told '[.boots[] | .end]' '["unknown",null]'
  boot
  boot
  run -9 initrd
  [[ $output == *"both ended without a trace (reset, power cut)"* ]]
  gate 7
  ends uu
}

@test "boots that railhead is told to leave alone, with GRUB's mark or without, are no death" {
  arms_again "trial 1 of 2"
  boot
  put "$root/proc/cmdline" "$(cat "$root/proc/cmdline") railhead=off"
  initrd || :
  ends A
  ended stop # the operator reboots
  ends A
  arms_again "trial 1 of 2 again, because railhead was told to leave the boot"
  # The recovery entry, which has no variable: GRUB took the trial before its menu was there.
  boot
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro single"
  initrd || :
  ends aA
  arms_again "trial 1 of 2 again"
  # Nothing of ours is written where no trial is taken.
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro single"
  before=$(cksum "$env")
  initrd || :
  [ "$(cksum "$env")" = "$before" ]
}

@test "what is kept is lost: a trial that ends counts as a death, as it did without" {
  arms_again "trial 1 of 2"
  trial_begins
  printf ' ' | dd of="$env" bs=1 seek=3956 conv=notrunc status=none
  ended stop
  [ -z "$output" ]
  arms_again "trial 2 of 2"
}

@test "the story of a node that tried nothing, and of one that gave all up" {
  is_in_force old=1
  "$railhead" kargs --reset --root "$root" >/dev/null
  story 'trials +no trial so far' 'what next +`railhead apply`, or the initramfs of the next boot, arms trial 1 of 2.*'
  told .state none
  rm "$env"
  story 'trials +no trial so far'
}

@test "refused for what failed at the verdict: the story says that it came so far" {
  arms_again "trial 1 of 2"
  trial_begins
  put "$width" 8
  gate 7
  told .state looking
  story 'trial 1 +at the verdict something failed'
  put "$width" 16
  boot
  run -9 initrd
  gate 7
  ends l
  story 'trial 1 +at the verdict something failed' 'what next +they are tried again on this kernel after 10 more healthy boots.*'
}

@test "--ended takes two words, and no other option with it; a write that fails is said" {
  run -2 "$railhead" kargs --ended never --root "$root"
  [[ $output == *"kargs --ended never: expected one of: timer, stop"* ]]
  run -2 "$railhead" kargs --ended stop --reset --root "$root"
  arms_again "trial 1 of 2"
  trial_begins
  run -1 strace -f -o /dev/null -P "$env" -P "${env#"$root"}" -e trace=pwrite64 -e inject=pwrite64:error=EIO "$railhead" kargs --ended stop --root "$root"
  [[ $output == *"Input/output error"* ]]
  printf x >"$env"
  ended stop
  rm "$env"
  ended stop
  [ -z "$output" ]
}

@test "the profile asks for others in a running trial: the story says that no verdict decides" {
  arms_again "trial 1 of 2"
  trial_begins
  wants newer=1
  told .state running
  story 'tried +new=1' 'trial 1 +this boot' 'what next +the next boot tries the required arguments'
}

@test "a trial without its args: given up at the verdict, and it is told for what" {
  arms_again "trial 1 of 2"
  boot
  sed -i 's/ new=1 / /' "$root/proc/cmdline"
  run initrd
  story 'trial 1 +this boot' \
    'what next +the arguments are not in force; at its verdict this boot drops them, and the next boot has the earlier arguments'
  gate 7
  ends l
  story 'trial 1 +at the verdict the arguments were not in force' 'what next +they are tried again on this kernel after 10 more .*'
}

@test "GRUB took the trial by an entry without the variable: the next one that has it tries them" {
  arms_again "trial 1 of 2"
  boot
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro"
  run initrd
  next='what next +the next boot by a menu entry with the variable tries the required arguments'
  story "$next"
  gate 7
  story "$next"
  boot
  run -8 initrd
}

@test "a trial is armed and GRUB can't write: the story does not promise it to the next boot" {
  arms_again "trial 1 of 2"
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro railhead.begun=1 panic=30 old=1 railhead.slot=b"
  put "$root/proc/sys/kernel/random/boot_id" 99999999-2222-3333-4444-555555555555
  rm -rf "$root/run/railhead"
  run -9 initrd
  story 'trial 1 +not taken yet' \
    'what next +the next boot by a GRUB that can write to railhead.env tries them: trial 1 of 2; .*'
  told .state armed
}

@test "an updater counts the boots: the story says which boot tries the arguments" {
  { printf '# GRUB Environment Block\nboot_counter=2\nboot_success=0\n' && head -c 900 /dev/zero | tr '\0' '#'; } >"$root/boot/grub/grubenv"
  boot
  run -9 initrd
  story 'what next +the first boot that nothing else counts tries the required arguments'
}

# GRUB has counted two boots with the good args that did not come to stage early, and leaves them out.
left_out() {
  local good
  good=$(grub-editenv "$env" list | sed -n 's/^railhead_good=//p')
  boot
  grub-editenv "$env" set railhead_begun=3
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro railhead.begun=3 panic=30 railhead.slot=-$good"
}

@test "good args that GRUB left out: two boots, no trial, and both reason and story say so" {
  wants old=1
  left_out
  run -8 initrd
  [[ $output == *"GRUB left the earlier arguments out of this boot"* ]]
  ends oU
  story 'tried +old=1' \
    'trial 1 +stands for two boots in a row, with these arguments already good, that did not reach stage early' \
    'trial 2 +the next boot' 'what next +the next boot tries them: trial 2 of 2; .*'
  told '[.boots[] | [.end, .counts]]' '[["left-out",true],[null,null]]'
  trial_begins
  boot
  run -9 initrd
  [[ $output == *"REJECTED (+old=1): 2 trial boots"*": one ended without a trace (reset, power cut), one stands for two boots, with the arguments already good, that did not reach stage early; no arguments of railhead's are in force."* ]]
  gate 7
  ends ou
  fault RH-BOOT-ARGS-REJECTED "one stands for two boots, with the arguments already good"
  # Two power cuts look the same: the trial is kept.
  run -8 "$railhead" apply --retry --root "$root"
  trial_begins
  gate 0
  left_out
  run -8 initrd
  ends oU
  trial_begins
  gate 0
  is_in_force old=1
  story 'kept +old=1' 'trial 1 +stands for two boots in a row.*' 'what next +each boot has them'
}

# --- the units ---------------------------------------------------------------------------------------

units=$BATS_TEST_DIRNAME/../units

@test "the units run what is there: in a trial alone, and until its verdict" {
  for unit in railhead-trial.service railhead-trial-stop.service railhead-trial.timer; do
    grep -qx 'ConditionKernelCommandLine=railhead.trial' "$units/$unit"
    grep -qx 'ConditionPathExists=!/run/railhead/trial-over' "$units/$unit"
  done
  grep -qx 'ExecStart=-/usr/sbin/railhead kargs --ended timer' "$units/railhead-trial.service"
  grep -qx 'ExecStop=-/usr/sbin/railhead kargs --ended stop' "$units/railhead-trial-stop.service"
  # Stopped after the gate and before /boot goes.
  grep -q '^Before=.*railhead-gate.service' "$units/railhead-trial-stop.service"
  grep -q '^After=.*boot.mount' "$units/railhead-trial-stop.service"
  run -0 make -s -C "$BATS_TEST_DIRNAME/.." -n install-railhead
  [[ $output == *../railhead-trial-stop.service* ]]
}

# --- boots that GRUB counts ----------------------------------------------------------

counted() { # COUNT STAGE [ARGUMENT]: GRUB has counted this boot so; the count after the stage
  boot
  grub-editenv "$env" set railhead_begun=2
  put "$root/proc/cmdline" "$(cat "$root/proc/cmdline") ${3:-}"
  run "$railhead" apply --stage "$2" --root "$root"
  in_env "railhead_begun=$1"
}

@test "the count of begun boots: stage early sets it back, by one write, and the initrd stage leaves it" {
  wants old=1
  counted 2 initrd
  run "$railhead" apply --stage early --root "$root"
  in_env 'railhead_begun=0'
  before=$(stat -c %y "$env")
  run "$railhead" apply --stage early --root "$root"
  [ "$(stat -c %y "$env")" = "$before" ]
}

@test "the count of begun boots: the initrd stage sets it back where no stage early may follow" {
  wants old=1
  for word in railhead=off emergency systemd.unit=rescue.target; do
    counted 0 initrd "$word"
    counted 0 early "$word"
  done
}
