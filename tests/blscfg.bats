#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Arguments that GRUB parses as a script, where grub.cfg has blscfg: refused before they are written.
# shellcheck disable=SC2016 # GRUB's variables

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/pcitree

base="root=UUID=7b2c ro console=ttyS0,115200n8"
ports="pci=config_acs=0000000@0000:02:00.0;0000000@0000:02:01.0"

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
}

snippet() {
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh
}

# Fedora's and RHEL's way instead of Debian's, which fake_node has.
blscfg() {
  rm -rf "$root/boot"
  mkdir -p "$root/boot/grub2" "$root/boot/loader/entries"
  { snippet && printf 'insmod blscfg\nblscfg\n'; } >"$root/boot/grub2/grub.cfg"
  printf 'title Fedora\nlinux /vmlinuz\noptions %s $railhead_kargs\ngrub_class fedora\n' "$base" \
    >"$root/boot/loader/entries/f.conf"
  "$railhead" kargs --reset --root "$root" >/dev/null
}

debian() {
  mkdir -p "$root/boot/grub"
  { snippet && echo 'linux /vmlinuz $railhead_kargs'; } >"$root/boot/grub/grub.cfg"
  "$railhead" kargs --reset --root "$root" >/dev/null
}

wants() { # ARGUMENT...
  profile "$root" sku <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
kernel_args: {set: [$(printf "'%s'," "$@")]}
Y
}

env_sum() { sha256sum <"$root/boot/grub2/railhead.env"; }

# --- what GRUB's parser takes --------------------------------------------------------------------

# Each printable character in a word, at its ends and alone, as far as a profile may have it. Each
# with a name of its own.
words() {
  local c code
  for code in $(seq 33 126); do
    printf -v c "\\x$(printf %x "$code")"
    case $c in [\"\'\\\`\$]) continue ;; esac
    printf '%s\n' "x$code${c}y" "y$code=$c" "z$code$c$c"
    case $c in [#=*/\(]) continue ;; esac
    printf '%s\n' "$c${code}x" "$c$c$c"
  done
  printf '%s\n' '[' ']' '[[' ']]' 'x[[' '[[x' '!' '?' '~' if then fi for in do done while until case \
    esac select time elif else function menuentry
}

# The same words before GRUB's script engine (grub-emu), as arguments of a function.
engine() { # FILE-OF-WORDS: prints those that arrive
  local dir=$BATS_TEST_TMPDIR/emu
  mkdir -p "$dir/grub" "$dir/tree"
  { printf '# GRUB Environment Block\n' && head -c 16000 /dev/zero | tr '\0' '#'; } >"$dir/tree/found"
  mke2fs -q -t ext4 -b 1024 -O ^metadata_csum_seed,^orphan_file -d "$dir/tree" "$dir/found.img" 16M >/dev/null
  {
    echo 'function f { n=$#; w="$2"; }'
    awk '{ printf "f a %s b\nif [ \"$n\" = 3 -a \"$w\" = \x27%s\x27 ]; then good=\"$good %d\"; fi\n", $0, $0, NR }' "$1"
    echo 'save_env -f (hd0)/found good'
    echo exit
  } >"$dir/grub/grub.cfg"
  echo "(hd0) $dir/found.img" >"$dir/grub/device.map"
  timeout 300 grub-emu -m "$dir/grub/device.map" -d "$dir/grub" -r host </dev/null >"$dir/screen" 2>&1
  debugfs -R "cat /found" "$dir/found.img" 2>/dev/null | sed -n 's/^good=//p' | tr ' ' '\n' |
    while read -r n; do [ -z "$n" ] || sed -n "${n}p" "$1"; done
}

# Prints the words that a check for the tree refuses for this reason.
refused() { # FILE-OF-WORDS
  local files=()
  split -l 20 -d "$1" "$BATS_TEST_TMPDIR/part."
  for part in "$BATS_TEST_TMPDIR"/part.*; do
    {
      printf 'schema: 1\nname: %s\nmatch: {dmi: {sys_vendor: x}}\nkernel_args:\n  set:\n' "${part##*/}"
      sed "s/.*/  - '&'/" "$part"
    } >"$part.yaml"
    files+=("$part.yaml")
  done
  "$railhead" check --root "$root" --json "${files[@]}" >"$BATS_TEST_TMPDIR/json" || [ $? = 3 ]
  jq -r '.files[].diagnostics[].message | select(contains("parse arguments as a script")) | split(": GRUB would")[0]' \
    "$BATS_TEST_TMPDIR/json"
}

@test "check refuses the words that GRUB's parser breaks, and no others" {
  blscfg
  words >"$BATS_TEST_TMPDIR/words"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/words")" -gt 430 ]
  run -0 refused "$BATS_TEST_TMPDIR/words"
  jq -r '.files[].diagnostics[] | select(.severity == "error" and .code != "kernel-arguments").message' \
    "$BATS_TEST_TMPDIR/json" | diff /dev/null -
  printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/refused"
  [ ${#lines[@]} = 37 ]
  grep -vxFf "$BATS_TEST_TMPDIR/refused" "$BATS_TEST_TMPDIR/words" >"$BATS_TEST_TMPDIR/passed"
  engine "$BATS_TEST_TMPDIR/passed" | diff "$BATS_TEST_TMPDIR/passed" -
  while read -r word; do
    printf 'linux /vmlinuz root=x %s quiet\ninitrd /i\n' "$word" >"$BATS_TEST_TMPDIR/script"
    # GRUB parses `;`, and takes the rest for another command
    if grub-script-check "$BATS_TEST_TMPDIR/script" 2>/dev/null; then [[ $word == *\;* ]] || fail_with "$word"; fi
  done <"$BATS_TEST_TMPDIR/refused"
}

fail_with() {
  echo "passes: $1"
  return 1
}

# --- where it is refused -------------------------------------------------------------------------

@test "check --root: refused with place and remedy where grub.cfg has blscfg, and not where it has none" {
  wants quiet 'a=1;b' 'x=y&z'
  debian
  p=$root/etc/railhead/profiles/sku.yaml
  run -0 "$railhead" check --root "$root" "$p"
  run -0 "$railhead" check --root "$root"
  blscfg
  run -3 "$railhead" check --root "$root" "$p"
  [[ $output == *"$p:4:14: kernel_args: a=1;b: "*"blscfg"*"in which ; is no part of a word; leave the argument out"* ]]
  [[ $output == *"$p:4:14: kernel_args: x=y&z: "* ]]
  run -3 "$railhead" check --root "$root"
  # without a tree the author's machine says nothing of the node's
  run -0 "$railhead" check "$p"
}

@test "check --root: an image without grub.cfg yet: Fedora's GRUB will have blscfg, Debian's not" {
  rm -rf "$root"
  mkdir -p "$root/usr/sbin" "$root/boot"
  wants 'x=y&z'
  run -0 "$railhead" check --root "$root"
  put "$root/usr/sbin/grub-mkconfig" "#!/bin/sh"
  run -0 "$railhead" check --root "$root"
  put "$root/usr/sbin/grub2-mkconfig" "#!/bin/sh"
  run -3 "$railhead" check --root "$root"
  [[ $output == *"x=y&z: "*"blscfg"* ]]
}

@test "check --root: RHEL 8's grub.cfg on the EFI system partition counts" {
  blscfg
  wants 'x=y&z'
  mkdir -p "$root/boot/efi/EFI/redhat"
  mv "$root/boot/grub2/grub.cfg" "$root/boot/efi/EFI/redhat/grub.cfg"
  rmdir "$root/boot/grub2" 2>/dev/null || rm -r "$root/boot/grub2"
  run -3 "$railhead" check --root "$root"
  [[ $output == *"blscfg"* ]]
}

@test "gate: no trial is armed for such a word; the reason names word and remedy" {
  wants quiet 'a=1;b'
  blscfg
  before=$(env_sum)
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"kernel arguments can't come into force"*"a=1;b: "*"in which ; is no part of a word"* ]]
  [ "$(env_sum)" = "$before" ]
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"state      conflict: "*"sku.yaml:4: a=1;b"* ]]
  # Debian's GRUB passes it
  rm -r "$root/boot"
  debian
  run -8 "$railhead" gate --root "$root"
  grep -q 'a=1;b' "$root/boot/grub/railhead.env"
}

@test "apply: arguments that come by another way are in force, and are not written to GRUB's file" {
  blscfg
  wants quiet "$ports"
  before=$(env_sum)
  echo "BOOT_IMAGE=/vmlinuz $base quiet $ports" >"$root/proc/cmdline"
  run -0 "$railhead" kargs --root "$root"
  [[ $output == *"state      same: all kernel arguments are in force; they do not come from railhead"* ]]
  run "$railhead" gate --root "$root"
  [ "$(env_sum)" = "$before" ]
}

@test "a trial of such a word that an earlier version armed is named for what it is" {
  wants quiet 'a=1;b'
  debian
  run -8 "$railhead" gate --root "$root"
  mv "$root/boot/grub/railhead.env" "$BATS_TEST_TMPDIR/armed"
  blscfg
  cp "$BATS_TEST_TMPDIR/armed" "$root/boot/grub2/railhead.env"
  grub-editenv "$root/boot/grub2/railhead.env" set railhead_try=t
  # the line ends at the semicolon, before the slot's mark
  echo "BOOT_IMAGE=(hd0)/vmlinuz $base railhead.trial=b quiet a=1" >"$root/proc/cmdline"
  echo 22222222-2222-3333-4444-555555555555 >"$root/proc/sys/kernel/random/boot_id"
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"state      conflict: "*"a=1;b: "* ]]
  [[ $output != *update-grub* ]]
}

@test "acs: set with two ports is refused with the remedy, with one port it is not" {
  up=sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0
  bridge "$root/${up%/*}" 4 0x5f 0x1d
  bridge "$root/$up" 5
  bridge "$root/$up/0000:02:00.0" 6 0x5f 0x1d
  bridge "$root/$up/0000:02:01.0" 6 0x5f 0x1d
  mv "$root/sys/devices/pci0000:00/$PF0" "$root/$up/0000:02:00.0/$PF0"
  put "$root/$up/0000:02:01.0/0000:45:00.0/vendor" 0x10de
  put "$root/$up/0000:02:01.0/0000:45:00.0/device" 0x2330
  put "$root/$up/0000:02:01.0/0000:45:00.0/class" 0x030200
  put "$root/$up/0000:02:01.0/0000:45:00.0/numa_node" 0
  ln -sfn "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/$PF0" "$root/sys/bus/pci/devices/$PF0"
  ln -sfn "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:45:00.0" "$root/sys/bus/pci/devices/0000:45:00.0"
  put "$root/proc/sys/kernel/osrelease" 6.12.40
  profile "$root" sku <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {nics: {address: "$PF0", expect: 1}, gpus: {pci: "10de:2330", expect: 1}}
pairs: {nics: nics, gpus: gpus, within: pcie_switch, p2p: direct, acs: set}
Y
  run -0 "$railhead" check --root "$root"
  run -0 "$railhead" kargs --format=line --root "$root"
  [ "$output" = "$ports" ]
  blscfg
  run -3 "$railhead" check --root "$root"
  [[ $output == *"sku.yaml:5:8: pairs: $ports: "*"set the other ports in the BIOS, and write acs: judge"* ]]
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"conflict: "*"acs: judge"* ]]
  sed -i 's/p2p: direct/p2p: translated/' "$root/etc/railhead/profiles/sku.yaml"
  run -0 "$railhead" check --root "$root"
  run -0 "$railhead" kargs --format=line --root "$root"
  [ "$output" = "pci=config_acs=1011101@0000:02:00.0" ]
}

@test "bake: refused before anything is written, also for bootc's menu entries" {
  rm -rf "$root"
  mkdir -p "$root/usr/sbin" "$root/etc/grub.d" "$root/boot/grub2" "$root/usr/lib/bootc"
  touch "$root/etc/grub.d/05_railhead"
  wants 'x=y&z'
  find "$root" >"$BATS_TEST_TMPDIR/before"
  run -3 "$railhead" bake --root "$root" --profile sku
  [[ $output == *"bake: sku: "*"sku.yaml:4: x=y&z: "*"blscfg"* ]]
  rmdir "$root/usr/lib/bootc"
  run -3 "$railhead" bake --root "$root" --profile sku
  mkdir "$root/usr/lib/bootc"
  find "$root" | diff "$BATS_TEST_TMPDIR/before" -
}
