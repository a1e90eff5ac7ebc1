#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Menu entries as Fedora and RHEL have them: kargs --mend, the check at the gate, and the hooks that
# run when a kernel is installed.
# shellcheck disable=SC2016 # GRUB's variables

bats_require_minimum_version 1.5.0
load lib/fakenode

mid=0123456789abcdef0123456789abcdef
new=6.12.0-55.el10.x86_64
old=6.12.0-21.el10.x86_64
base="root=UUID=7b2c ro console=ttyS0,115200n8"
wanted="intel_iommu=on iommu=pt transparent_hugepage=never"
trial="railhead.slot=b railhead.trial=b $(sed -n 's/^#define ENV_TRIAL_EXTRA "\(.*\)"$/\1/p' "$BATS_TEST_DIRNAME/../src/kargs/env_layout.h")"

entry() { # NAME OPTIONS: as 20-grub.install writes it
  cat >"$entries/$1.conf" <<EOF
title Red Hat Enterprise Linux ($1) 10.0 (Coughlan)
version $1
linux /vmlinuz-$1
initrd /initramfs-$1.img \$tuned_initrd
options $2
grub_users \$grub_users
grub_arg --unrestricted
grub_class rhel
EOF
}

options_of() { # NAME
  sed -n 's/^options //p' "$entries/$1.conf"
}

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  profile "$root" sku <<'EOF'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
kernel_args: {iommu: passthrough, set: [transparent_hugepage=never]}
EOF
  entries=$root/boot/loader/entries
  mkdir -p "$root/boot/grub2" "$entries"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$root/boot/grub2/grub.cfg"
  printf 'set default="${saved_entry}"\ninsmod blscfg\nblscfg\n' >>"$root/boot/grub2/grub.cfg"
  grub-editenv "$root/boot/grub2/grubenv" create
  entry "$mid-$old" "$base"
  entry "$mid-$new" "$base"
  entry "$mid-0-rescue" "$base"
  "$railhead" kargs --reset --root "$root" >/dev/null
}

# Takes the node through its trial boot: the arguments are in force and committed.
in_force() {
  "$railhead" kargs --mend --root "$root" >/dev/null
  run -8 "$railhead" gate --root "$root"
  grub-editenv "$root/boot/grub2/railhead.env" set railhead_try=t
  echo "BOOT_IMAGE=/vmlinuz $base $wanted $trial" >"$root/proc/cmdline"
  echo 22222222-2222-3333-4444-555555555555 >"$root/proc/sys/kernel/random/boot_id"
  run -0 "$railhead" gate --root "$root"
  [[ $output == *"verdict: ready"* ]]
}

@test "mend: every entry gets the variable once, but for the rescue entry; twice writes nothing" {
  before=$(cat "$entries/$mid-0-rescue.conf")
  run -0 "$railhead" kargs --mend --root "$root"
  [ "${lines[0]}" = "/boot/loader/entries/$mid-$old.conf: added \$railhead_kargs" ]
  [ "${lines[1]}" = "/boot/loader/entries/$mid-$new.conf: added \$railhead_kargs" ]
  [ "${#lines[@]}" = 2 ]
  [ "$(options_of "$mid-$new")" = "$base \$railhead_kargs" ]
  [ "$(cat "$entries/$mid-0-rescue.conf")" = "$before" ]
  inodes=$(stat -c '%i %y' "$entries"/*)
  run -0 strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=openat,openat2,renameat,pwrite64 "$railhead" kargs --mend --root "$root"
  [ "$output" = "menu entries of GRUB's: 2, all correct" ]
  [ "$(stat -c '%i %y' "$entries"/*)" = "$inodes" ]
  [ -z "$(writes_of "$BATS_TEST_TMPDIR/trace")" ]
}

@test "mend: what kernel-install copied from a trial's command line goes, the user's own stays" {
  in_force
  entry "$mid-$new" "$base iommu=pt $wanted $trial quiet panic=30"
  run -0 "$railhead" kargs --mend --root "$root"
  [ "$output" = "/boot/loader/entries/$mid-$new.conf: took out '$wanted $trial', added \$railhead_kargs" ]
  cp "$entries/$mid-$new.conf" "$BATS_TEST_TMPDIR/mended"
  entry "$mid-$new" "$base iommu=pt quiet panic=30 \$railhead_kargs"
  diff "$BATS_TEST_TMPDIR/mended" "$entries/$mid-$new.conf"
}

@test "mend: mode and owner stay; a killed run's leftover goes" {
  chmod 600 "$entries/$mid-$new.conf"
  [ "$(id -u)" != 0 ] || chown 4321:1234 "$entries/$mid-$new.conf"
  before=$(stat -c '%a %u %g' "$entries/$mid-$new.conf")
  echo left >"$entries/$mid-$new.conf.new"
  "$railhead" kargs --mend --root "$root"
  [ "$(options_of "$mid-$new")" = "$base \$railhead_kargs" ]
  [ "$(stat -c '%a %u %g' "$entries/$mid-$new.conf")" = "$before" ]
  [ "$(find "$entries" -type f | wc -l)" = 3 ]
}

@test "mend: no railhead.env: the marker goes, and it is said that arguments may be left" {
  rm "$root/boot/grub2/railhead.env"
  entry "$mid-$new" "$base iommu=pt railhead.slot=a"
  run -0 "$railhead" kargs --mend --root "$root"
  [ "$(options_of "$mid-$new")" = "$base iommu=pt \$railhead_kargs" ]
  [[ $output == *"can't tell which other arguments it gave (there is no railhead.env)"* ]]
  "$railhead" kargs --reset --root "$root"
  truncate -s 1000 "$root/boot/grub2/railhead.env"
  entry "$mid-$new" "$base iommu=pt railhead.slot=a"
  run -0 "$railhead" kargs --mend --root "$root"
  [[ $output == *"which other arguments it gave (railhead.env is"* ]]
}

@test "mend: entries of systemd-boot, other files and rescue entries are left alone" {
  rm "$entries"/*
  printf 'title x\nlinux /v\noptions ro railhead.slot=a\n' >"$entries/sd.conf"
  printf 'title x\noptions ro\ngrub_class x\n' >"$entries/README"
  entry "$mid-0-rescue" "$base"
  before=$(cat "$entries"/*)
  run -0 "$railhead" kargs --mend --root "$root"
  [ "$output" = "no menu entries of GRUB's; railhead leaves the entries of other boot loaders alone" ]
  [ "$(cat "$entries"/*)" = "$before" ]
}

@test "mend: a link, a zero byte, too much, an open quote: refused by name, the others are mended" {
  mv "$entries/$mid-$old.conf" "$BATS_TEST_TMPDIR/elsewhere"
  ln -s "$BATS_TEST_TMPDIR/elsewhere" "$entries/$mid-$old.conf"
  printf 'options ro\ngrub_class x\n\0' >"$entries/zero.conf"
  head -c 70000 /dev/zero | tr '\0' a >"$entries/huge.conf"
  entry quote "$base x=\"a"
  mkdir "$entries/dir.conf"
  printf 'title x\ngrub_class x\n' >"$entries/bare.conf"
  before=$(cat "$BATS_TEST_TMPDIR/elsewhere" "$entries/quote.conf" "$entries/bare.conf")
  run -6 --separate-stderr "$railhead" kargs --mend --root "$root"
  [[ $stderr == *"entries/$mid-$old.conf is a symbolic link"* ]]
  [[ $stderr == *"entries/zero.conf has a zero byte"* ]]
  [[ $stderr == *"entries/huge.conf can't be read: File too large"* ]]
  [[ $stderr == *"entries/quote.conf has an options line with an open quote"* ]]
  [[ $output == *"entries/dir.conf: is not a regular file"* ]]
  [[ $output == *"entries/bare.conf: has no options line"*'$default_kernelopts'* ]]
  [[ $output == *"entries/$mid-$new.conf: added"* ]]
  [ -L "$entries/$mid-$old.conf" ]
  [ "$(cat "$BATS_TEST_TMPDIR/elsewhere" "$entries/quote.conf" "$entries/bare.conf")" = "$before" ]
}

@test "mend: nothing to mend is said, and is no failure" {
  rm -r "$root/boot/loader"
  run -0 "$railhead" kargs --mend --root "$root"
  [ "$output" = "there is no /boot/loader/entries: no menu entries to mend" ]
  rm -r "$root/boot"
  run -0 "$railhead" kargs --mend --root "$root"
  [ "$output" = "there is no /boot: no menu entries to mend" ]
}

@test "mend: ostree's entries are its own, in the image as well" {
  mkdir -p "$root/ostree/repo"
  run -0 "$railhead" kargs --mend --root "$root"
  [[ $output == *"ostree or bootc"*"--format=bootc"* ]]
  [ "$(options_of "$mid-$new")" = "$base" ]
}

@test "undo: every entry is as it was before railhead, arguments of a trial left out" {
  before=$(cat "$entries"/*)
  in_force
  [ "$(cat "$entries"/*)" != "$before" ]
  entry "$mid-$old" "$base $wanted $trial"
  run -0 "$railhead" kargs --mend --undo --root "$root"
  [ "${lines[0]}" = "/boot/loader/entries/$mid-$old.conf: took out '$wanted $trial'" ]
  [ "${lines[1]}" = "/boot/loader/entries/$mid-$new.conf: took out '\$railhead_kargs'" ]
  [ "$(cat "$entries"/*)" = "$before" ]
  run -0 "$railhead" kargs --mend --undo --root "$root"
  [ "$output" = "menu entries of GRUB's: 2, railhead has changed none of them" ]
}

@test "undo: what it can't take out is named, what is not there is no trouble" {
  entry "$mid-$old" "$base \$railhead_kargs x=\"a"
  printf 'title x\ngrub_class x\n' >"$entries/bare.conf"
  entry quote "$base x=\"a"
  run -6 "$railhead" kargs --mend --undo --root "$root"
  [ "$output" = "railhead: kargs --mend: /boot/loader/entries/$mid-$old.conf has an options line with an open quote: mend it by hand" ]
  run -2 "$railhead" kargs --undo --root "$root"
  [[ $output == *"--undo requires --mend"* ]]
}

@test "mend: an archive is refused; so is --reset beside it" {
  tar -C "$root" -cf "$BATS_TEST_TMPDIR/node.tar" .
  run -2 "$railhead" kargs --mend --root "$BATS_TEST_TMPDIR/node.tar"
  [[ $output == *"writes"*"unpack the archive"* ]]
  run -2 "$railhead" kargs --mend --reset --root "$root"
  [[ $output == *"one after the other"* ]]
}

@test "mend: RHEL 8, where kernelopts is in grubenv" {
  grub-editenv "$root/boot/grub2/grubenv" set "kernelopts=$base"
  entry "$mid-$new" '$kernelopts $tuned_params'
  "$railhead" kargs --mend --root "$root"
  [ "$(options_of "$mid-$new")" = '$kernelopts $tuned_params $railhead_kargs' ]
  grub-editenv "$root/boot/grub2/grubenv" set "kernelopts=$base iommu=pt railhead.slot=a"
  run -6 "$railhead" kargs --mend --root "$root"
  [[ $output == *"takes \$kernelopts"*"grub2-editenv"* ]]
}

@test "gate: no trial is armed while the default entry lacks the variable; once mended, one is" {
  run "$railhead" gate --root "$root"
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"no-loader"*"/boot/loader/entries/$mid-"*"kargs --mend"* ]]
  grub-editenv "$root/boot/grub2/railhead.env" list | grep -qx railhead_try=-
  "$railhead" kargs --mend --root "$root"
  run -8 "$railhead" gate --root "$root"
  grub-editenv "$root/boot/grub2/railhead.env" list | grep -qx railhead_try=b
}

@test "verify: grubby's flattening is found on a node whose arguments are in force, and blocks nothing" {
  in_force
  run -0 "$railhead" verify --all --root "$root"
  [[ $output == *"kernel_args/loader"* ]]
  entry "$mid-$new" "$base $wanted railhead.slot=b"
  run -5 "$railhead" verify --root "$root"
  grep 'kernel_args/loader' <<<"$output" | grep -q "differs"
  [[ $output == *"$mid-$new.conf"*"kargs --mend"* ]]
  # the gate says so and admits work
  run -0 "$railhead" gate --again --root "$root"
  [[ $output == *"verdict: ready"* ]]
  run -0 "$railhead" status --root "$root"
  [[ $output == *"kernel_args/loader: "*"$mid-$new.conf"* ]]
  # another entry is the default: the one that boots counts
  grub-editenv "$root/boot/grub2/grubenv" set "saved_entry=$mid-$old"
  run -0 "$railhead" verify --root "$root"
  grub-editenv "$root/boot/grub2/grubenv" set "next_entry=$mid-$new"
  run -5 "$railhead" verify --root "$root"
  "$railhead" kargs --mend --root "$root"
  run -0 "$railhead" verify --root "$root"
}

@test "verify: a machine that GRUB does not boot has no warning of entries" {
  echo "$base $wanted" >"$root/proc/cmdline"
  rm -r "$root/boot"
  run -0 "$railhead" verify --root "$root"
  mkdir "$root/boot"
  run -0 "$railhead" verify --all --root "$root"
  grep 'kernel_args/loader' <<<"$output" | grep -q "same"
}

# --- the hooks of a kernel's installation ------------------------------------------------------

plugin=$BATS_TEST_DIRNAME/../packaging/rpm/95-railhead.install
hook=$BATS_TEST_DIRNAME/../packaging/deb/zz-railhead

call() { # HOOK ARGUMENT...: with railhead for this root
  local bin=$BATS_TEST_TMPDIR/bin
  mkdir -p "$bin"
  printf '#!/bin/sh\nexec "%s" "$@" --root "%s"\n' "${stub:-$railhead}" "$root" >"$bin/railhead"
  chmod +x "$bin/railhead"
  KERNEL_INSTALL_LAYOUT=other KERNEL_INSTALL_MACHINE_ID=$mid PATH=$bin:$PATH "$@"
}

plugin() { # ARGUMENT...: as kernel-install calls it
  call "$plugin" "$@"
}

# As the postinst of Debian's kernels: one hook that fails ends the installation.
run_parts() { # the plugin lies there
  local dir=$BATS_TEST_TMPDIR/postinst.d
  mkdir -p "$dir"
  sed "s|/usr/lib/kernel/install.d/|${1:-${plugin%/*}}/|" "$hook" >"$dir/${hook##*/}"
  chmod +x "$dir/${hook##*/}"
  call run-parts --report --exit-on-error --arg="$new" --arg="/boot/vmlinuz-$new" "$dir"
}

counts() { # what railhead.env and the record say of the boots of a new kernel
  grub-editenv "$root/boot/grub2/railhead.env" list | sed -n 's/^railhead_begun=//p'
  sed -n 's/^new-kernel //p' "$root/var/lib/railhead/kernel-args" 2>/dev/null || :
}

@test "plugin: add mends the entry that 20-grub.install made, has the new kernel counted, and says nothing" {
  in_force
  entry "$mid-$new" "$base $wanted $trial"
  [ "$(counts)" = - ]
  run -0 plugin add "$new" "/boot/$mid/$new" "/lib/modules/$new/vmlinuz"
  [ -z "$output" ]
  [ "$(options_of "$mid-$new")" = "$base \$railhead_kargs" ]
  [ "$(counts)" = "0"$'\n'"$new" ]
  entry "$mid-$new" "$base"
  export KERNEL_INSTALL_VERBOSE=1
  run -0 plugin add "$new" "/boot/$mid/$new" "/lib/modules/$new/vmlinuz" # counted already
  [ "${lines[*]}" = "/boot/loader/entries/$mid-$new.conf: added \$railhead_kargs" ]
  entry "$mid-$new" "$base"
  "$railhead" kargs --reset --root "$root"
  run -0 plugin add "$new" "/boot/$mid/$new" "/lib/modules/$new/vmlinuz"
  [[ $output == *"GRUB counts boots until a verdict with the kernel $new"* ]]
  [[ $output == *"$mid-$new.conf: added"* ]]
}

@test "plugin: remove, and other commands, do nothing" {
  for c in remove inspect ""; do
    run -0 plugin "$c" "$new" "/boot/$mid/$new"
    [ -z "$output" ]
    [ "$(options_of "$mid-$new")" = "$base" ]
    [ "$(counts)" = - ]
  done
}

@test "plugin: what can't be mended is said on stderr, and the kernel's installation goes on" {
  ln -s nowhere "$entries/link.conf"
  run -0 --separate-stderr plugin add "$new" "/boot/$mid/$new" "/lib/modules/$new/vmlinuz"
  [ -z "$output" ]
  [[ $stderr == *"link.conf is a symbolic link"*"run railhead kargs --mend"* ]]
  # a program that dies
  stub=/bin/false
  run -0 --separate-stderr plugin add "$new" "/boot/$mid/$new"
  [[ $stderr == *"run railhead kargs --new-kernel $new"*"$new may boot without railhead's kernel arguments"* ]]
}

@test "plugin: a node whose GRUB reads no railhead.env has nothing to count, which is no failure" {
  rm "$root/boot/grub2/railhead.env"
  run -0 plugin add "$new" "/boot/$mid/$new"
  [ -z "$output" ]
  [ ! -e "$root/boot/grub2/railhead.env" ]
  rm -r "$root/boot"
  run -0 plugin add "$new" "/boot/$mid/$new"
  [ -z "$output" ]
}

@test "plugin: without railhead it does nothing, in silence" {
  mkdir -p "$BATS_TEST_TMPDIR/empty"
  # the plugin looks there too
  sed "s|:/usr/sbin:/sbin||" "$plugin" >"$BATS_TEST_TMPDIR/plugin"
  PATH=$BATS_TEST_TMPDIR/empty run -0 /bin/sh "$BATS_TEST_TMPDIR/plugin" add "$new"
  [ -z "$output" ]
}

@test "postinst.d: a kernel of Debian's is counted; a railhead that fails, or is gone, is no failure of it" {
  run -0 run_parts
  [ -z "$output" ]
  [ "$(counts)" = "0"$'\n'"$new" ]
  stub=/bin/false
  run -0 run_parts
  [[ $output == *"run railhead kargs --new-kernel $new"* ]]
  # removed, and not purged: the hook is a conffile
  run -0 run_parts /nowhere
  [ -z "$output" ]
}

@test "make install puts the plugin where kernel-install looks, behind those that write entries" {
  [ "$(printf '%s\n' 95-railhead.install 92-crashkernel.install 20-grub.install | LC_ALL=C sort | tail -n 1)" = 95-railhead.install ]
  make -s -C "$BATS_TEST_DIRNAME/.." install DESTDIR="$BATS_TEST_TMPDIR/dest" >/dev/null
  [ -x "$BATS_TEST_TMPDIR/dest/usr/lib/kernel/install.d/95-railhead.install" ]
}
