#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The packages for Fedora and RHEL: built with rpmbuild, twice, looked at by rpmlint, and installed
# into a root of stand-ins, upgraded and removed there.
# shellcheck disable=SC2016 # GRUB's variables

bats_require_minimum_version 1.5.0
load lib/rpmroot

old=6.12.0-21.el10.x86_64
new=6.12.0-55.el10.x86_64
options="root=UUID=7b2c ro console=ttyS0,115200n8"

# Without optimization, for time's sake. The second tree is the source package's own, elsewhere
# and without git; the third is a later release, with another hook for dracut and GRUB.
setup_file() {
  local top=$BATS_TEST_DIRNAME/.. dir=$BATS_FILE_TMPDIR
  export CFLAGS=-O0
  "$top/packaging/rpm/build" "$dir/one" >/dev/null
  SOURCE_DATE_EPOCH=$(rpm -qp --qf '%{BUILDTIME}' "$dir"/one/railhead-0*.src.rpm 2>/dev/null)
  export SOURCE_DATE_EPOCH
  mkdir -p "$dir/source" "$dir/some/where"
  (cd "$dir/source" && rpm2cpio "$dir"/one/railhead-0*.src.rpm | cpio -i --quiet)
  tar -C "$dir/some/where" --strip-components=1 -xf "$dir"/source/railhead-*.tar.gz
  "$dir/some/where/packaging/rpm/build" "$dir/two" >/dev/null
  sed -i 's/^Release: .*/Release: 2/' "$dir/some/where/packaging/rpm/railhead.spec"
  echo '# later' >>"$dir/some/where/dracut/90railhead/railhead-pre-pivot.sh"
  sed -i 's/^export @ENV_VAR_KARGS@$/&\n# later/' "$dir/some/where/dracut/grub.d/05_railhead.in"
  "$dir/some/where/packaging/rpm/build" "$dir/three" >/dev/null
  make_rpm_root "$dir/root" "$BATS_TEST_DIRNAME/../build/railhead" "$BATS_TEST_DIRNAME/../build/railhead-bench"
}

setup() {
  one=$BATS_FILE_TMPDIR/one
  three=$BATS_FILE_TMPDIR/three
  root=$BATS_TEST_TMPDIR/root
  cp -a "$BATS_FILE_TMPDIR/root" "$root"
  put_kernel "$root" "$old" "$options"
  put_kernel "$root" "$new" "$options"
  put_kernel "$root" 0-rescue-0123 "$options"
  rm -r "$root/usr/lib/modules/0-rescue-0123"
}

# As root, or as one's own root: what it takes to enter another root.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else unshare -r "$@"; fi
}

# Without what Debian's rpm says of being Debian's; and without plugins, one of which wants to
# unshare the network of scripts, for which there may be no privilege here.
on_root() { # RPM-ARGUMENT...
  : >"$root/log"
  as_root rpm --noplugins --root "$root" --dbpath /var/lib/rpm "$@" 2>"$BATS_TEST_TMPDIR/stderr"
  said=$(grep -v '^rpm: ' "$BATS_TEST_TMPDIR/stderr" || :)
  called=$(cat "$root/log")
}

install_all() { # DIR
  on_root -U --nodeps "$1"/railhead-*.x86_64.rpm "$1"/railhead-*.noarch.rpm
}

query() { # FORMAT PACKAGE
  rpm -qp --qf "$1" "$2" 2>/dev/null
}

options_of() { # KERNEL
  sed -n 's/^options //p' "$root/boot/loader/entries/$1.conf"
}

@test "build: three packages and their source, the same bytes from another directory" {
  names="railhead-VERSION.src.rpm railhead-VERSION.x86_64.rpm railhead-gate-VERSION.x86_64.rpm railhead-profiles-VERSION.noarch.rpm"
  [ "$(cd "$one" && echo *.rpm)" = "${names//VERSION/$(cat "$BATS_TEST_DIRNAME/../VERSION")-1}" ]
  for f in "$one"/*.rpm; do
    cmp "$f" "$BATS_FILE_TMPDIR/two/${f##*/}"
    [ "$(query '%{BUILDHOST} %{LICENSE}' "$f")" = "localhost GPL-2.0-or-later" ]
  done
}

@test "build: a version that the spec does not have is refused" {
  cp -r "$BATS_FILE_TMPDIR/some" "$BATS_TEST_TMPDIR/some"
  echo 9.9.9 >"$BATS_TEST_TMPDIR/some/where/VERSION"
  run ! "$BATS_TEST_TMPDIR/some/where/packaging/rpm/build" "$BATS_TEST_TMPDIR/out"
  [[ $output == *"railhead.spec names another version than VERSION (9.9.9)"* ]]
}

@test "rpmlint: no error, no warning" {
  run -0 rpmlint -c "$BATS_TEST_DIRNAME/../packaging/rpm/rpmlint.toml" "$one"/*.rpm \
    "$BATS_TEST_DIRNAME/../packaging/rpm/railhead.spec"
  [[ $output == *"4 packages and 1 specfiles checked; 0 errors, 0 warnings"* ]]
}

# What one of the makefile's targets installs, but for what has no meaning there.
installed_by() { # TARGET
  make -s -C "$BATS_TEST_DIRNAME/.." "$1" DESTDIR="$BATS_TEST_TMPDIR/$1" >/dev/null
  (cd "$BATS_TEST_TMPDIR/$1" && find . ! -type d -printf '%M /%P\n') |
    sed -e '\|/etc/default/grub.d/|d' -e 's|^\(.*/man/.*\)$|\1.gz|' | LC_ALL=C sort -k2
}

packed_in() { # PACKAGE
  query '[%{FILEMODES:perms} %{FILENAMES}\n]' "$1" | grep -v '^d' |
    sed -e '\|/usr/lib/.build-id/|d' -e '\|/usr/share/doc/|d' -e '\|/usr/share/licenses/|d' | LC_ALL=C sort -k2
}

@test "files: each package has what its target installs, of the same modes, and is root's" {
  diff <(installed_by install-railhead) <(packed_in "$one"/railhead-0*.x86_64.rpm)
  diff <(installed_by install-gate) <(packed_in "$one"/railhead-gate*)
  diff <(installed_by install-profiles) <(packed_in "$one"/railhead-profiles*)
  for f in "$one"/*.x86_64.rpm "$one"/*.noarch.rpm; do
    [ "$(query '[%{FILEUSERNAME}:%{FILEGROUPNAME}\n]' "$f" | sort -u)" = root:root ]
  done
}

@test "files: README, all documents and all examples are in the package" {
  diff <(query '[%{FILEMODES:perms} %{FILENAMES}\n]' "$one"/railhead-0*.x86_64.rpm |
    sed -n 's#^-.*/usr/share/doc/railhead[^/]*/##p' | sort) \
    <({ cd "$BATS_TEST_DIRNAME/.." && ls README.md && cd docs && ls ./*.md && find examples ! -type d &&
      echo selinux.md; } | sed 's#^\./##' | sort)
}

@test "needs: libraries by their names, the benchmarks' none of the program's" {
  run -0 query '[%{REQUIRES}\n]' "$one"/railhead-0*.x86_64.rpm
  for library in $("$BATS_TEST_DIRNAME/lib/libraries" --opened "$BATS_TEST_DIRNAME/../build/railhead" |
    grep -v libarchive); do
    [[ $output == *"$library()(64bit)"* ]]
  done
  [[ $output != *libibverbs* && $output != *dracut* && $output != *grub* ]]
  run -0 query '[%{RECOMMENDS}\n]' "$one"/railhead-0*.x86_64.rpm
  [ "$(sort <<<"$output" | tr '\n' ' ')" = "libarchive(x86-64) railhead-gate railhead-profiles " ]
  run -0 query '[%{REQUIRES}\n]' "$one"/railhead-gate*
  [[ $output == *"libibverbs.so.1()(64bit)"* ]]
}

@test "install: enables, makes the menu, its file, entries and initramfs, and starts nothing" {
  install_all "$one"
  [ -z "$said" ]
  diff - <(echo "$called") <<EOF
systemctl --no-reload preset railhead-early.service railhead-devices.service railhead-ready.target
grub2-mkconfig --help
grub2-mkconfig --no-grubenv-update -o /boot/grub2/grub.cfg
railhead kargs --reset
railhead kargs --mend
dracut --force --quiet /boot/initramfs-$old.img $old
dracut --force --quiet /boot/initramfs-$new.img $new
EOF
  grep -q 'export railhead_kargs' "$root/boot/grub2/grub.cfg"
  [ "$(stat -c %s "$root/boot/grub2/railhead.env")" = 4096 ]
  [ "$(options_of "$new")" = "$options \$railhead_kargs" ]
  [ "$(options_of 0-rescue-0123)" = "$options" ]
  [ "$(stat -c %a "$root/etc/grub.d")" = 700 ]
  [ ! -e "$root/etc/default" ]
  [ ! -e "$root/var/lib/rpm-state/railhead" ]
}

@test "install: the programs run there, railhead without the other two as well" {
  on_root -U --nodeps "$one"/railhead-0*.x86_64.rpm
  [ ! -e "$root/usr/lib/railhead" ]
  cp "$BATS_TEST_DIRNAME/../profiles/metal-base.yaml" "$root/tmp/"
  run -0 as_root chroot "$root" /usr/sbin/railhead check /tmp/metal-base.yaml
  install_all "$three"
  run -0 as_root chroot "$root" /usr/sbin/railhead check /usr/lib/railhead/profiles/dgx-h100.yaml
  run -0 as_root chroot "$root" /usr/libexec/railhead/railhead-bench --help
}

@test "install: in a container, without GRUB and images, nothing is made" {
  rm -r "$root"/boot/*
  install_all "$one"
  [ -z "$said" ]
  [ "$called" = "systemctl --no-reload preset railhead-early.service railhead-devices.service railhead-ready.target" ]
  [ -z "$(ls "$root/boot/")" ]
  on_root -e railhead railhead-gate railhead-profiles
  [ -z "$said" ]
  [[ $called != *dracut* && $called != *grub2* ]]
}

@test "install: what fails is said with what to do, and the installation goes on" {
  printf '#!/bin/sh\nexit 1\n' >"$root/usr/bin/grub2-mkconfig"
  cp "$root/usr/bin/grub2-mkconfig" "$root/usr/bin/dracut"
  cp "$root/usr/bin/grub2-mkconfig" "$root/sbin/railhead"
  install_all "$one"
  [[ $said == *"grub2-mkconfig failed: run grub2-mkconfig -o /boot/grub2/grub.cfg before the next boot"* ]]
  [[ $said == *"no environment file for GRUB yet: run railhead kargs --reset"* ]]
  [[ $said == *"when that is mended, run railhead kargs --mend"* ]]
  [[ $said == *"dracut failed for kernel $new: run dracut --force /boot/initramfs-$new.img $new"* ]]
  [ -x "$root/usr/sbin/railhead" ]
}

@test "again: the same package calls nothing, and an entry that somebody changed stays" {
  install_all "$one"
  put_kernel "$root" "$new" "$options quiet"
  on_root -U --nodeps --replacepkgs "$one"/railhead-0*.x86_64.rpm
  [ -z "$said$called" ]
  [ "$(options_of "$new")" = "$options quiet" ]
}

@test "upgrade, downgrade: what changed is made anew; no unit is touched, what is in force stays" {
  install_all "$one"
  env=$root/boot/grub2/railhead.env
  sed -i 's/^railhead_a= /railhead_a=x/' "$env"
  before=$(sha256sum "$env")
  for to in "$three" "$one"; do
    on_root -U --nodeps --oldpackage "$to"/railhead-*.x86_64.rpm "$to"/railhead-*.noarch.rpm
    [ -z "$said" ]
    diff - <(echo "$called") <<EOF
grub2-mkconfig --help
grub2-mkconfig --no-grubenv-update -o /boot/grub2/grub.cfg
railhead kargs --mend
dracut --force --quiet /boot/initramfs-$old.img $old
dracut --force --quiet /boot/initramfs-$new.img $new
EOF
    [ "$(sha256sum "$env")" = "$before" ]
    [ "$(options_of "$new")" = "$options \$railhead_kargs" ]
  done
  [ "$(on_root -q railhead)" = "railhead-$(cat "$BATS_TEST_DIRNAME/../VERSION")-1.x86_64" ]
}

@test "upgrade: a snippet that somebody changed is kept aside, and is no part of the menu" {
  install_all "$one"
  sed -i '2i echo "# mine"' "$root/etc/grub.d/05_railhead"
  install_all "$three"
  [[ $said == *"05_railhead saved as /etc/grub.d/05_railhead.rpmsave"* ]]
  grep -q '^# later' "$root/boot/grub2/grub.cfg"
  run ! grep -q '^# mine' "$root/boot/grub2/grub.cfg"
}

@test "erase: the menu, its entries and the initramfs have nothing of ours, and no work is stopped" {
  find "$root" ! -type d | LC_ALL=C sort >"$BATS_TEST_TMPDIR/before"
  install_all "$one"
  mkdir -p "$root"/var/lib/railhead "$root"/var/lib/prometheus/node-exporter "$root"/etc/railhead/profiles
  touch "$root/var/lib/railhead/pass.json" "$root/var/lib/prometheus/node-exporter/railhead.prom"
  mine=$root/etc/railhead/profiles/mine.yaml
  touch "$mine"
  on_root -e railhead railhead-gate railhead-profiles
  [ -z "$said" ]
  diff - <(echo "$called") <<EOF
systemctl --no-reload disable railhead-early.service railhead-devices.service railhead-ready.target
systemctl stop railhead-admit-end.timer railhead-maintain-end.timer
railhead kargs --mend --undo
railhead bake --root / --undo
systemctl --no-reload disable --now railhead-recheck.timer railhead-retry.timer railhead-trial.timer
grub2-mkconfig --help
grub2-mkconfig --no-grubenv-update -o /boot/grub2/grub.cfg
dracut --force --quiet /boot/initramfs-$old.img $old
dracut --force --quiet /boot/initramfs-$new.img $new
EOF
  # what a machine's owner wrote stays
  rm "$mine"
  diff <(grep -v -e /log -e /var/lib/rpm "$BATS_TEST_TMPDIR/before") \
    <(find "$root" ! -type d | LC_ALL=C sort | grep -v -e /log -e /var/lib/rpm)
  [ -z "$(find "$root" -name '*railhead*' ! -path "$root/sbin/railhead" ! -path "$root/etc/railhead")" ]
  run ! grep -rq railhead "$root/boot/" "$root/etc/grub.d"
  [ "$(options_of "$new")" = "$options" ]
}
