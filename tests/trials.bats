#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Trials of kernel arguments over whole boots: what arms them, what becomes of them, what the next boot
# has. All series of boots are in tests/histories, the node's own reboots in the VM.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench
load lib/trials

setup() {
  trial_node
}

record_says() { # LINE of /var/lib/railhead/kernel-args
  grep -qxE -- "$1" "$kept/kernel-args" || {
    cat "$kept/kernel-args"
    return 1
  }
}

@test "only the gate arms a trial: no stage of a boot, and no apply by hand, writes anything of it" {
  wants new=1
  boot
  before=$(sha256sum "$env")
  for stage in initrd early devices; do
    "$railhead" apply --stage "$stage" --root "$root"
  done
  run -0 "$railhead" apply --root "$root"
  [ "$(sha256sum "$env")" = "$before" ]
  gate 8
  [[ $output == *"a reboot with other kernel arguments is due"* ]]
  in_env 'railhead_try=[ab]'
  fault RH-BOOT-ARGS-DIFFER "trial 1 of 2"
  [ "$(jq -r .verdict "$record")" = waiting ]
  # nothing was measured for it
  jq -e '.measurements | length == 0' "$record"
}

@test "a trial that comes to its verdict is kept, and later boots write nothing" {
  wants new=1
  trial
  gate 0
  is_in_force new=1
  boot
  gate 0
  before=$(sha256sum "$env" "$kept/kernel-args")
  boot
  gate 0
  [ "$(sha256sum "$env" "$kept/kernel-args")" = "$before" ]
  run -0 "$railhead" kargs --root "$root"
  [[ $output == *"state      same"*"what next  each boot has them"* ]]
}

@test "an item that held before fails in the trial: refused and named, and the next boot has the earlier arguments" {
  wants new=1
  trial
  put "$width" 8
  gate 8
  [[ $output == *"a reboot with other kernel arguments is due"* ]]
  fault RH-BOOT-ARGS-UNFIT "gate/width/$PF0/width failed in their trial and held before"
  in_env railhead_try=-
  put "$width" 16
  boot
  has old=1
  gate 7
  fault RH-BOOT-ARGS-UNFIT "gate/width/$PF0/width failed in a trial with them on kernel"
  [ "$(jq -r '[.faults[].code] | unique | join(" ")' "$record")" = RH-BOOT-ARGS-UNFIT ]
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"state      unfit: "*"failed     gate/width/$PF0/width"* ]]
  run -9 "$railhead" kargs --json --root "$root"
  [ "$(jq -r '.state + " " + .story.state' <<<"$output")" = "unfit unfit" ]
  # no boot tries them again by itself
  boot
  gate 7
  in_env railhead_try=-
}

@test "a carrier that comes up after the verdict held, too, for the next trial: also in a boot that was one" {
  local carrier=$root/sys/devices/pci0000:00/$PF1/net/eth1/carrier
  put "$carrier" 0
  gate 0
  wants new=1
  trial
  gate 0
  run ! grep "^up $PF1" "$kept/kernel-args"
  put "$carrier" 1
  gate 0 --recheck
  grep "^up $PF1" "$kept/kernel-args"
  wants newer=1
  trial
  put "$carrier" 0
  gate 8
  fault RH-BOOT-ARGS-UNFIT "carrier/$PF1"
}

@test "refused arguments are tried again with --retry, and with a new version of the profile" {
  wants new=1
  trial
  put "$width" 8
  gate 8
  put "$width" 16
  boot
  gate 7
  "$railhead" apply --retry --root "$root"
  gate 8
  boot
  put "$width" 8
  gate 8
  put "$width" 16
  boot
  gate 7
  sed -i '/^name: /a version: "2"' "$root/etc/railhead/profiles/sku.yaml"
  boot
  gate 8
  boot
  gate 0
  is_in_force new=1
}

@test "a trial that died before --retry, and is not counted yet, is forgiven, too; one that runs is not" {
  wants new=1
  trial
  boot
  "$railhead" apply --retry --root "$root"
  gate 8
  record_says 'deaths 0'
  boot
  "$railhead" apply --retry --root "$root"
  in_env railhead_try=t
  boot
  gate 8
  record_says 'deaths 1'
}

@test "an item that failed before the trial is no fault of the arguments: they are kept, in one reboot" {
  put "$width" 8
  wants new=1
  trial
  gate 7
  [[ $output != *"is due"* ]]
  is_in_force new=1
  [ "$(jq -r '[.faults[].code] | join(" ")' "$record")" = RH-NIC-LINK-WIDTH ]
}

@test "settings that are held back in the trial are no fault of the arguments: they are kept" {
  local swappiness=$root/proc/sys/vm/swappiness
  wants new=1
  echo 'sysctl: {vm.swappiness: 10}' >>"$root/etc/railhead/profiles/sku.yaml"
  boot
  run -0 "$railhead" apply --stage early --root "$root"
  gate 8
  printf 'boots 2\nheld no\nboot x\nprofile %s\n' "$(jq -r .profile.digest "$record")" >"$kept/early-mark"
  boot
  put "$swappiness" 60
  run ! "$railhead" apply --stage early --root "$root"
  gate 7
  fault RH-KERNEL-SYSCTL-FAILED "not set: the last 2 boots"
  run ! grep RH-BOOT-ARGS "$record"
  is_in_force new=1
}

@test "an item fails, and the record of what held is lost: the next boot tries again" {
  wants new=1
  trial
  rm "$kept/kernel-args"
  put "$width" 8
  gate 7
  in_env railhead_try=-
  boot
  has old=1
  gate 8
  boot
  gate 7
  is_in_force new=1
}

@test "two trials die: rejected, with the earlier arguments; an orderly shutdown is no death" {
  wants new=1
  trial
  boot
  has old=1
  gate 8
  record_says 'deaths 1'
  boot
  # the units of the trial say how it ends
  "$railhead" kargs --ended stop --root "$root"
  boot
  gate 8
  record_says 'deaths 1'
  boot
  "$railhead" kargs --ended timer --root "$root"
  boot
  gate 7
  fault RH-BOOT-ARGS-REJECTED "2 trial boots with them died"
  fault RH-BOOT-ARGS-REJECTED "died, the last by the trial's timer; the earlier arguments are in force"
  boot
  gate 7
  in_env railhead_try=-
  has old=1
}

@test "the word of a trial on its end counts for that trial alone" {
  wants new=1
  trial
  "$railhead" kargs --ended stop --root "$root"
  boot
  gate 8
  record_says 'deaths 0'
  boot
  boot
  gate 8
  record_says 'deaths 1'
}

@test "a verdict without a profile does not count against the arguments" {
  wants new=1
  trial
  put "$root/etc/railhead/profiles/sku.yaml" "schema: 1
name: sku
match: {"
  gate 7
  wants new=1
  boot
  has old=1
  gate 8
  record_says 'deaths 0'
  boot
  gate 0
  is_in_force new=1
}

@test "kargs --ended says nothing of a boot that is no trial, or whose trial is over" {
  "$railhead" kargs --ended stop --root "$root"
  [ ! -e "$kept/trial-end" ]
  wants new=1
  trial
  gate 0
  "$railhead" kargs --ended timer --root "$root"
  [ ! -e "$kept/trial-end" ]
  run -2 "$railhead" kargs --ended never --root "$root"
  [[ $output == *"expected one of: timer, stop"* ]]
}

@test "three reboots without a settled verdict are the most, whichever record of them is lost" {
  for i in 1 2 3; do
    wants "new=$i"
    boot
    gate 8
    if [ "$i" = 2 ]; then rm -r "$kept"; fi
    boot
  done
  wants new=4
  boot
  gate 7
  fault RH-BOOT-LOOP "3 reboots with no settled verdict in between"
  boot
  gate 7
  fault RH-BOOT-LOOP "3 reboots"
  "$railhead" apply --retry --root "$root"
  gate 8
  boot
  gate 0
  is_in_force new=4
}

@test "/var can not be written: no trial is armed, and the first reason names the arguments and the place" {
  local said
  wants new=1
  boot
  rm -r "$kept"
  : >"$kept"
  gate 7
  in_env railhead_try=-
  fault RH-BOOT-TRIAL-OPEN \
    "next_boot: kernel arguments differ (+new=1 -old=1): trial 1 of 2. The trial could not be armed: /var/lib/railhead: Not a directory"
  run -7 "$railhead" status --root "$root"
  said=$(grep -m1 -F '+new=1' <<<"$output")
  [[ $said == *"/var/lib/railhead: Not a directory"* ]]
  [[ $output == *"Mend the file system that the reason names"* ]]
}

@test "/var can not be written at the verdict of a trial: the reason names the arguments and the place" {
  wants new=1
  trial
  rm -r "$kept"
  : >"$kept"
  gate 7
  fault RH-BOOT-TRIAL-OPEN "the verdict on kernel arguments (new=1) could not be recorded: /var/lib/railhead: Not a directory"
  rm "$kept"
  gate 0
  is_in_force new=1
}

@test "this boot has no id: no trial is armed, since its boot could not be told from this one" {
  wants new=1
  boot
  rm "$root/proc/sys/kernel/random/boot_id"
  gate 7
  in_env railhead_try=-
  fault RH-BOOT-TRIAL-OPEN "this boot's id can't be read"
}

@test "power is cut right after the arming, and GRUB reads an earlier file: tried again, and named after an orderly reboot" {
  wants new=1
  boot
  cp "$env" "$BATS_TEST_TMPDIR/earlier"
  gate 8
  cp "$env" "$BATS_TEST_TMPDIR/armed"
  cp "$BATS_TEST_TMPDIR/earlier" "$env" # as GRUB reads XFS, without its log
  boot
  cp "$BATS_TEST_TMPDIR/armed" "$env"
  has old=1
  gate 8
  record_says 'reboots 2'
  "$railhead" apply --settled stop --root "$root"
  boot
  has new=1
  gate 0
  is_in_force new=1
  wants newer=1
  boot
  gate 8
  "$railhead" apply --settled stop --root "$root"
  cp "$env" "$BATS_TEST_TMPDIR/armed"
  sed -i 's/^railhead_try=[ab]/railhead_try=-/' "$env" # for a GRUB that can't write
  boot
  cp "$BATS_TEST_TMPDIR/armed" "$env"
  gate 7
  fault RH-BOOT-ARGS-LOST "GRUB read railhead.env, but took no trial"
}

@test "kargs --reset in a boot of an earlier snippet, whose line has one mark: its arguments are still railhead's" {
  sed -i 's/ railhead\.args//' "$root/proc/cmdline"
  cp "$env" "$BATS_TEST_TMPDIR/env"
  wants ''
  for damage in '' 's/^railhead_sum=./railhead_sum=x/'; do
    sed "$damage" "$BATS_TEST_TMPDIR/env" >"$env"
    "$railhead" kargs --reset --root "$root"
    gate 8
    fault RH-BOOT-ARGS-DIFFER "(-old=1): trial 1"
  done
  boot
  gate 0
  run ! has old=1
}

@test "the profile changes while others are on trial: the next boot tries the new ones" {
  wants new=1
  trial
  wants new=2
  gate 7
  fault RH-BOOT-ARGS-DIFFER "while others are on trial in this boot"
  in_env railhead_try=-
  boot
  has old=1
  gate 8
  boot
  gate 0
  is_in_force new=2
}

@test "a kernel is installed: GRUB counts until its verdict, and leaves the arguments out after two boots without one" {
  mkdir -p "$root/lib/modules/6.99"
  "$railhead" kargs --new-kernel 6.99 --root "$root"
  in_env railhead_begun=0
  boot
  has railhead.begun=1
  gate 0
  in_env railhead_begun=0 # of another kernel
  rmdir "$root/lib/modules/6.99" # removed before it was booted
  boot
  gate 0
  in_env railhead_begun=-
  "$railhead" kargs --new-kernel "" --root "$root"
  boot
  has railhead.begun=1
  boot
  has railhead.begun=2
  boot
  has railhead.slot=-a || has railhead.slot=-b
  gate 8
  fault RH-BOOT-ARGS-DIFFER "GRUB left the earlier arguments out of this boot"
  boot
  gate 0
  is_in_force old=1
}

@test "a kernel is installed, and railhead.env is damaged: the file is named, and left as GRUB reads it" {
  sed -i 's/^railhead_sum=./railhead_sum=?/' "$env"
  before=$(sha256sum "$env")
  run -1 "$railhead" kargs --new-kernel 6.99 --root "$root"
  [[ $output == *"railhead.env is damaged: "*"railhead kargs --reset"* ]]
  [ "$(sha256sum "$env")" = "$before" ]
}

@test "kargs --reset in a boot that has arguments: which of the line are railhead's stays known" {
  "$railhead" kargs --reset --root "$root"
  wants root=/dev/vda2
  gate 8
  fault RH-BOOT-ARGS-DIFFER "kernel arguments differ (-old=1)"
  boot
  gate 0
  # a damaged file, too
  wants new=1
  trial
  gate 0
  boot
  printf x | dd of="$env" bs=1 seek=106 conv=notrunc status=none
  "$railhead" kargs --reset --root "$root"
  wants root=/dev/vda2
  gate 8
  fault RH-BOOT-ARGS-DIFFER "kernel arguments differ (-new=1)"
}

@test "the gate's unit is masked: no trial is armed, since nothing would judge it, and the fault says so" {
  wants new=1
  boot
  mkdir -p "$root/etc/systemd/system"
  ln -s /dev/null "$root/etc/systemd/system/railhead-gate.service"
  gate 7
  in_env railhead_try=-
  fault RH-BOOT-NO-GATE "systemctl unmask railhead-gate.service"
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"state      no-gate: "* ]]
  rm "$root/etc/systemd/system/railhead-gate.service"
  gate 8
}

@test "a kernel is installed, and the image overrules a good argument: boots with a verdict are not counted as without" {
  wants "old=1, keep=1"
  trial
  gate 0
  "$railhead" kargs --new-kernel "" --root "$root"
  for _ in 1 2 3; do
    boot
    has keep=1
    sed -i 's/$/ old=2/' "$root/proc/cmdline"
    gate 7
    fault RH-BOOT-ARGS-CONFLICT "the command line already has old=2"
    in_env railhead_begun=-
  done
}

@test "an armed trial that is not wanted any more is withdrawn, also by a verdict that waits" {
  wants new=1
  boot
  gate 8
  wants old=1 "    link: {run: carrier, on: nics}"
  put "$root/sys/devices/pci0000:00/$PF1/net/eth1/carrier" 0
  run -0 "$railhead" kargs --root "$root"
  [[ $output == *"what next  the next boot would try others, which are armed: the gate disarms them"* ]]
  gate 7
  [ "$(jq -r .verdict "$record")" = waiting ]
  in_env railhead_try=-
  run -0 "$railhead" kargs --root "$root"
  [[ $output == *"what next  each boot has them"* ]]
}

@test "an armed trial that is not wanted any more is withdrawn, also where the wanted one is held" {
  wants new=1
  boot
  gate 8
  wants new=2
  ln -s /var/lib/update "$root/system-update"
  gate 7
  fault RH-BOOT-COUNTED "(+new=2 -old=1)"
  in_env railhead_try=-
}

@test "gates by hand in one boot, with other arguments each time: it makes one reboot, which counts once" {
  boot
  for i in 1 2 3 4 5; do
    wants "new=$i"
    gate 8
    in_env railhead_reboots=1
    record_says "reboots 1"
  done
  boot
  has new=5
  gate 0
}

@test "railhead.env is replaced in a trial: the next boot has the earlier arguments, and kargs says so" {
  wants new=1
  trial
  "$railhead" kargs --reset --root "$root"
  gate 0
  run -0 "$railhead" kargs --root "$root"
  [[ $output == *"The next boot has the earlier arguments"*"what next  the next boot has the earlier arguments, and its gate tries these"* ]]
}

@test "a trial that is shut down in order is not named as the last that died" {
  wants new=1
  trial
  boot
  gate 8
  boot
  "$railhead" kargs --ended stop --root "$root"
  boot
  run -5 "$railhead" kargs --root "$root"
  [[ $output == *"trials     1 of 2 trials died"$'\n'* ]]
}

@test "a long list of arguments leaves room for the reason and the remedy" {
  long=$(seq -s, -f "'m%g.p=0123456789012345678901234567890'" 40)
  wants "$long"
  boot
  ln -s /var/lib/update "$root/system-update"
  gate 7
  fault RH-BOOT-COUNTED "m1.p="
  fault RH-BOOT-COUNTED " more), and railhead does not reboot for them: the next boot installs an offline update (/system-update): let it, or remove the link"
  rm "$root/system-update"
  for _ in 1 2; do
    gate 8
    boot
    boot
  done
  gate 7
  fault RH-BOOT-ARGS-REJECTED "railhead apply --retry"
}

@test "/var can not be written while GRUB counts boots: a verdict ends the count, and the arguments stay" {
  "$railhead" kargs --new-kernel "" --root "$root"
  rm -r "$kept"
  : >"$kept"
  for _ in 1 2 3; do
    boot
    has old=1
    run "$railhead" gate --root "$root"
    in_env railhead_begun=-
  done
}
