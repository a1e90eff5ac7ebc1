# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # railhead, PF0: lib/fakenode
# A fake node whose GRUB is a function, for series of boots. Load lib/fakenode before. The node has
# the args old=1, and $root, $env (railhead.env), $record, $kept and $width are set.

trial_node() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  record=$root/run/railhead/status.json
  env=$root/boot/grub/railhead.env
  kept=$root/var/lib/railhead
  width=$root/sys/devices/pci0000:00/$PF0/current_link_width
  mkdir -p "$root/boot/grub"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$root/boot/grub/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  echo 'linux /vmlinuz root=/dev/vda2 ro $railhead_kargs' >>"$root/boot/grub/grub.cfg"
  wants old=1
  boots=0
  "$railhead" kargs --reset --root "$root"
  gate 8
  boot
  gate 0
  is_in_force old=1
  boot
}

wants() { # ARGUMENT [MORE-OF-CHECKS] [DEVICES]
  gated "  checks:
    width: {run: pcie_link, on: nics, width: 16}${2:+$'\n'$2}" "kernel_args: {set: [$1]}"
  [ -z "${3:-}" ] || sed -i "s/^devices: {/&$3, /" "$root/etc/railhead/profiles/sku.yaml"
}

# GRUB, and the beginning of a boot.
boot() {
  local list try slot begun before=
  grub-editenv "$env" list >"$BATS_TEST_TMPDIR/list"
  try=$(sed -n 's/^railhead_try=//p' "$BATS_TEST_TMPDIR/list")
  slot=$(sed -n 's/^railhead_good=//p' "$BATS_TEST_TMPDIR/list")
  if [[ $try == [ab] ]]; then
    grub-editenv "$env" set railhead_try=t
    slot=$try
  fi
  list=$(sed -n "s/^railhead_$slot=//p" "$BATS_TEST_TMPDIR/list")
  begun=$(sed -n 's/^railhead_begun=//p' "$BATS_TEST_TMPDIR/list")
  if [[ $try != [ab] && $begun == 2 ]]; then
    slot=-$slot list=
  elif [[ $try != [ab] && $begun == [01] ]]; then
    grub-editenv "$env" set "railhead_begun=$((begun + 1))"
    before="railhead.begun=$((begun + 1)) panic=30"
  elif [[ $try == [ab] ]]; then
    before="railhead.trial=$try $(sed -n 's/^#define ENV_TRIAL_EXTRA "\(.*\)"/\1/p' "$BATS_TEST_DIRNAME/../src/kargs/env_layout.h")"
  fi
  put "$root/proc/cmdline" "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro $before railhead.args $list railhead.slot=$slot"
  boots=$((boots + 1))
  put "$root/proc/sys/kernel/random/boot_id" "$(printf '%08d-2222-3333-4444-555555555555' $boots)"
  rm -rf "$root/run/railhead"
}

gate() { # STATUS [OPTION...]
  run "-$1" "$railhead" gate --root "$root" "${@:2}"
}

in_env() { # LINE
  grub-editenv "$env" list | grep -qxE -- "$1"
}

has() { # ARGUMENT
  [[ " $(cat "$root/proc/cmdline") " == *" $1 "* ]]
}

is_in_force() { # ARGUMENT; and for the next boot, too
  has "$1"
  in_env 'railhead_try=-'
  in_env "railhead_$(grub-editenv "$env" list | sed -n 's/^railhead_good=//p')=$1 *"
}

fault() { # CODE WORDS
  jq -e --arg code "$1" --arg words "$2" 'any(.faults[]; .code == $code and (.reason | contains($words)))' "$record" >/dev/null || {
    cat "$record"
    return 1
  }
}

# The args are armed by the gate of one boot, and the next one is their trial.
trial() {
  boot
  gate 8
  boot
  has railhead.trial=a || has railhead.trial=b
}
