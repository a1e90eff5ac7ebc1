#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel arguments that were rejected are tried again after healthy boots. Series of boots with more
# turns are in tests/unit/test_boot_trial.c and test_boot_health.c.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  record=$root/run/railhead/status.json
  env=$root/boot/grub/railhead.env
  width=$root/sys/devices/pci0000:00/$PF0/current_link_width
  mkdir -p "$root/boot/grub"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$root/boot/grub/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  echo 'linux /vmlinuz root=/dev/vda2 ro $railhead_kargs' >>"$root/boot/grub/grub.cfg"
  gated "  checks:
    width: {run: pcie_link, on: nics, width: 16}" "kernel_args: {set: [new=1]}"
  site 'retry_kernel_args_after: 2'
  boots=0
  "$railhead" kargs --reset --root "$root"
}

site() { # LINE
  put "$root/etc/railhead/railhead.conf" $'schema: 1\n'"$1"
}

# GRUB, and the beginning of a boot.
boot() {
  local try slot
  grub-editenv "$env" list >"$BATS_TEST_TMPDIR/list"
  try=$(sed -n 's/^railhead_try=//p' "$BATS_TEST_TMPDIR/list")
  slot=$(sed -n 's/^railhead_good=//p' "$BATS_TEST_TMPDIR/list")
  if [[ $try == [ab] ]]; then
    grub-editenv "$env" set railhead_try=t
    slot=$try
  fi
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro$([[ $try != [ab] ]] || echo " railhead.trial=$try panic=30") $(sed -n "s/^railhead_$slot=//p" "$BATS_TEST_TMPDIR/list") railhead.slot=$slot"
  boots=$((boots + 1))
  put "$root/proc/sys/kernel/random/boot_id" "$(printf '%08d-2222-3333-4444-555555555555' $boots)"
  rm -rf "$root/run/railhead"
}

initrd() { # STATUS
  RAILHEAD_INITRAMFS=1 run "-$1" "$railhead" apply --stage initrd --root "$root"
}

gate() { # STATUS [OPTION...]
  run "-$1" "$railhead" gate --root "$root" "${@:2}"
}

healthy() {
  grub-editenv "$env" list | sed -n 's/^railhead_healthy=//p' | tr -d ' '
}

# Two trials are armed, and end before railhead runs.
rejected() {
  boot
  initrd 8
  boot
  boot
  initrd 8
  boot
  boot
  initrd 9
  [[ $output == *"REJECTED (+new=1)"*"2 trial boots"* ]]
  gate 7
}

# A boot without the arguments; the reason says how many more are to come.
waits() { # HEALTHY-BOOTS
  boot
  initrd 9
  [[ $output == *"; they are tried again after $1 more healthy boot"* ]]
  gate 7
}

@test "two power cuts in trials: after as many healthy boots as the site says, tried again and kept" {
  rejected
  [ "$(healthy)" = 0 ]
  waits 2
  [[ $output == *"this boot counts as healthy"* ]]
  [ "$(healthy)" = 1 ]
  waits 1
  [ "$(healthy)" = 2 ]
  boot
  run "$railhead" kargs --root "$root"
  [[ $output == *"reboot: "*"were rejected: tried again after 2 healthy boots"* ]]
  initrd 8
  [ "$(healthy)" = 0 ]
  boot
  initrd 0
  gate 0
  [ "$(grub-editenv "$env" list | sed -n 's/^railhead_refused=//p' | tr -d ' ')" = "" ]
  # A node that has its arguments writes nothing.
  boot
  initrd 0
  sum=$(sha256sum "$env")
  gate 0
  [ "$(sha256sum "$env")" = "$sum" ]
}

@test "after one healthy boot, in the singular" {
  site 'retry_kernel_args_after: 1'
  rejected
  waits 1
  boot
  run -5 "$railhead" kargs --root "$root"
  [[ $output == *"were rejected: tried again after 1 healthy boot"[!s]* ]]
}

@test "dead again: rejected at once, and as many boots again" {
  rejected
  waits 2
  waits 1
  boot
  initrd 8
  boot
  boot
  initrd 9
  [[ $output == *"REJECTED (+new=1): 3 trial boots"*"tried again after 2 more healthy boots"* ]]
  gate 7
  jq -e '.faults[] | select(.code == "RH-BOOT-ARGS-REJECTED").reason | contains("after 2 more healthy boots")' "$record"
  waits 2
  [[ $(jq -r '.faults[].reason' "$record") == *"3 trial boots"* ]]
}

@test "a boot in which something fails, a gate by hand, a boot without a verdict: none counts" {
  rejected
  put "$width" 8
  waits 2
  put "$width" 16
  [ "$(healthy)" = 0 ]
  gate 7 --again
  gate 7 --again
  [ "$(healthy)" = 1 ]
  boot
  initrd 9
  boot
  initrd 9
  [[ $output == *"after 1 more healthy boot"* ]]
  [ "$(healthy)" = 1 ]
}

@test "0: never, and nothing is written; a file that is not valid: the same" {
  rejected
  site 'retry_kernel_args_after: 0'
  sum=$(sha256sum "$env")
  for _ in 1 2 3; do
    boot
    initrd 9
    [[ $output != *"healthy"* ]]
    gate 7
  done
  [ "$(sha256sum "$env")" = "$sum" ]
  site 'retry_kernel_args_after: 100'
  boot
  run -3 "$railhead" apply --stage initrd --root "$root"
  [[ $output == *"railhead.conf:2:26: retry_kernel_args_after: "* ]]
  [ "$(sha256sum "$env")" = "$sum" ]
}

@test "without a line in railhead.conf: ten" {
  rm "$root/etc/railhead/railhead.conf"
  rejected
  waits 10
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"rejected: "*"tried again after 9 more healthy boots"* ]]
}

@test "--retry tries them at once, twice as before" {
  rejected
  waits 2
  run -8 "$railhead" apply --retry --root "$root"
  [ "$(healthy)" = 0 ]
  boot
  boot
  run "$railhead" kargs --root "$root"
  [[ $output == *"trial 2 of 2"* ]]
}

@test "refused for an item: the reason of the verdict says when they are tried again" {
  boot
  initrd 8
  boot
  initrd 0
  gate 0
  gated "  checks:
    width: {run: pcie_link, on: nics, width: 16}" "kernel_args: {set: [newer=1]}"
  boot
  initrd 8
  boot
  initrd 0
  put "$width" 8
  gate 7
  put "$width" 16
  boot
  initrd 9
  gate 7
  jq -e '.faults[] | select(.code == "RH-BOOT-ARGS-UNFIT").reason | contains("they are tried again after 2 more healthy boots")' "$record"
  waits 2
  waits 1
  boot
  initrd 8
  boot
  initrd 0
  gate 0
}
