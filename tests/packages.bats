#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is shipped: the tree of `make dist` and Debian's packages. They are built twice, here and
# from a copy of the tree elsewhere, and must be the same to the byte. What the maintainer scripts
# do is seen in the VM (tests/vm/cases/package.py).

bats_require_minimum_version 1.5.0
load lib/minimalroot

top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)

setup_file() {
  local top copy=$BATS_FILE_TMPDIR/elsewhere/a/tree
  top=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
  export DEBS="$BATS_FILE_TMPDIR/debs" AGAIN="$BATS_FILE_TMPDIR/again"
  mkdir -p "$copy" "$DEBS"
  # build/deb is used as it is where it is of this tree: build/deb/key says so.
  "$top/packaging/deb/build" >"$BATS_FILE_TMPDIR/paths" || return 1
  cp "$top"/build/deb/railhead* "$DEBS/"
  # Outside of git the date is that of the files, as make dist leaves it.
  (cd "$top" && cp -a LICENSE Makefile README.md VERSION docs dracut packaging profiles src units "$copy/")
  touch -d "@$(git -C "$top" log -1 --format=%ct)" "$copy/VERSION"
  (umask 027 && cd / && TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$copy/packaging/deb/build") >/dev/null || return 1
  mv "$copy/build/deb" "$AGAIN"
}

deb() { echo "$DEBS/$1"_[0-9]*.deb; }

files() { # PACKAGE
  dpkg-deb --fsys-tarfile $(deb "$1") | tar -t | grep -v '/$' | sed 's/^\.//' | sort
}

@test "make deb: the same bytes from another directory, umask and time zone" {
  run -0 cat "$BATS_FILE_TMPDIR/paths"
  [ ${#lines[@]} -eq 3 ]
  for file in "$DEBS"/*.deb; do
    cmp "$file" "$AGAIN/${file##*/}"
  done
  [ "$(cd "$DEBS" && ls ./*.deb)" = "$(cd "$AGAIN" && ls ./*.deb)" ]
}

@test "make deb: what is there of this tree is not built again" {
  before=$(stat -c '%i %y' "$top"/build/deb/*.deb)
  run -0 "$top/packaging/deb/build"
  [ "$output" = "$(cat "$BATS_FILE_TMPDIR/paths")" ]
  [ "$(stat -c '%i %y' "$top"/build/deb/*.deb)" = "$before" ]
}

@test "make dist: the same bytes twice, the tracked files, one date, nobody's names" {
  dist=$(umask 022 && "$top/packaging/dist" 2>/dev/null)
  first=$(sha256sum <"$dist")
  rm "$dist"
  (umask 077 && TZ=Asia/Tokyo "$top/packaging/dist" >/dev/null 2>&1)
  [ "$(sha256sum <"$dist")" = "$first" ]
  diff <(tar -tf "$dist" | grep -v '/$' | sed 's#^[^/]*/##' | sort) \
    <(git -C "$top" ls-tree -r --name-only HEAD | sort)
  run -0 sh -c 'tar -tvf "$1" --full-time | awk "{ print \$2, \$4, \$5 }" | sort -u' - "$dist"
  [ "$output" = "root/root $(TZ=UTC git -C "$top" log -1 --date=format-local:'%Y-%m-%d %H:%M:%S' --format=%cd)" ]
}

@test "deb: three packages, each with its own files" {
  run -0 files railhead-gate
  [ "$output" = "/usr/libexec/railhead/railhead-bench
/usr/share/doc/railhead-gate/changelog.gz
/usr/share/doc/railhead-gate/copyright
/usr/share/man/man8/railhead-bench.8.gz" ]
  # All profiles and their schema, and no program.
  diff <(files railhead-profiles | grep -v ^/usr/share/doc/) \
    <(cd "$top/profiles" && ls ./*.yaml ./*.schema.json | sed 's#^\.#/usr/lib/railhead/profiles#' | sort)
  run -0 files railhead
  for file in /usr/sbin/railhead /etc/grub.d/05_railhead /usr/share/man/man8/railhead.8.gz \
    /usr/lib/dracut/modules.d/90railhead/module-setup.sh /usr/lib/udev/rules.d/90-railhead.rules \
    /usr/share/initramfs-tools/scripts/init-bottom/railhead /usr/share/doc/railhead/tutorials.md.gz \
    /usr/share/railhead/node-problem.json /usr/share/railhead/node-feature-rule.yaml \
    /usr/share/railhead/prometheus-rules.yaml; do
    [[ $'\n'$output$'\n' == *$'\n'"$file"$'\n'* ]] || { echo "no $file"; return 1; }
  done
  # Nothing is left of a /usr/local, a build directory, or what another package has.
  run -1 grep -E '^/(usr/local|build|home|tmp)|railhead-bench|/lib/railhead/' <<<"$output"
}

@test "deb: all is root's, nobody else can write, and programs alone can be run" {
  for package in railhead railhead-gate railhead-profiles; do
    dpkg-deb -c $(deb $package) | awk '{ print $1, $2, $6 }'
  done >"$BATS_TEST_TMPDIR/all"
  run -1 grep -vE '^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--|lrwxrwxrwx) root/root ' "$BATS_TEST_TMPDIR/all"
  run -0 sh -c 'grep "^-rwx" "$1" | grep -v /examples/ | cut -d" " -f3 | sort' - "$BATS_TEST_TMPDIR/all"
  [ "$output" = "./etc/grub.d/05_railhead
./etc/kernel/postinst.d/zz-railhead
./usr/lib/dracut/modules.d/90railhead/module-setup.sh
./usr/lib/dracut/modules.d/90railhead/railhead-pre-pivot.sh
./usr/lib/kernel/install.d/95-railhead.install
./usr/lib/systemd/system-generators/railhead-generator
./usr/libexec/railhead/irqbalance-policy
./usr/libexec/railhead/node-problem
./usr/libexec/railhead/railhead-bench
./usr/libexec/railhead/slurm-health
./usr/sbin/railhead
./usr/share/initramfs-tools/scripts/init-bottom/railhead" ]
}

@test "deb: what an operator may edit is kept, and is all that lies in /etc" {
  run -0 dpkg-deb -I $(deb railhead) conffiles
  [ "$output" = "/etc/default/grub.d/railhead.cfg
/etc/grub.d/05_railhead
/etc/kernel/postinst.d/zz-railhead" ]
  [ "$(files railhead | grep ^/etc/)" = "$output" ]
}

@test "deb: railhead forces neither part nor initramfs, the gate brings RDMA's providers" {
  run -0 dpkg-deb -f $(deb railhead) Depends
  [[ $output != *ibverbs* && $output != *dracut* && $output != *initramfs* && $output != *railhead* ]]
  [ "$(tr ',' '\n' <<<"$output" | sed -n 's/^ *\(lib[a-z]*[0-9]\) .*/\1/p' | LC_ALL=C sort | tr '\n' ' ')" = \
    "libblkid1 libc6 libjansson4 libkmod2 libmnl0 libmount1 libpci3 libsystemd0 " ]
  run -0 dpkg-deb -f $(deb railhead) Recommends
  [ "$output" = "railhead-gate, railhead-profiles, libarchive13" ]
  [ "$(dpkg-deb -f $(deb railhead) Suggests)" = "dracut | linux-initramfs-tool" ]
  run -0 dpkg-deb -f $(deb railhead-gate) Depends
  [[ $output == *libibverbs1* && $output == *ibverbs-providers* ]]
  [ "$(dpkg-deb -f $(deb railhead-profiles) Architecture)" = all ]
}

# With the libraries that a root may lack and RDMA's providers, as apt installs by default.
@test "deb: a minimal root gets neither a generator nor a server, and few packages" {
  state=$BATS_TEST_TMPDIR/status
  write_minimal_status "$state"
  for recommends in no yes; do
    new_packages "$state" -o APT::Install-Recommends=$recommends \
      $(deb railhead) $(deb railhead-gate) $(deb railhead-profiles) | sed 's/=.*//' >"$state.$recommends"
    run ! grep -E '^(dracut.*|initramfs-tools.*|exim.*|mdadm|lvm2|cryptsetup.*)$' "$state.$recommends"
    grep -c railhead "$state.$recommends" | grep -qx 3
  done
  [ "$(wc -l <"$state.no")" -le 13 ]
  run -0 comm -13 <(sort "$state.no") <(sort "$state.yes")
  echo "$output"
  # libarchive's own libraries, and names and data that libraries recommend.
  [ ${#lines[@]} -le 6 ]
}

# A root without package lists must not look like one that gets nothing.
@test "deb: the count of packages fails where apt has no lists" {
  mkdir "$BATS_TEST_TMPDIR/lists"
  echo "Dir::State::lists \"$BATS_TEST_TMPDIR/lists\";" >"$BATS_TEST_TMPDIR/apt.conf"
  export APT_CONFIG=$BATS_TEST_TMPDIR/apt.conf
  run write_minimal_status "$BATS_TEST_TMPDIR/status"
  [ "$status" -eq 1 ]
  [[ $output == *"apt has no package lists of a Debian here: run apt-get update"* ]]
}

# Documents over 4 kB are compressed; examples are not, and scripts among them can be run.
@test "deb: README, all documents and all examples are in the package" {
  diff <(files railhead | sed -n 's#^/usr/share/doc/railhead/##p' | sed 's/\.md\.gz$/.md/') \
    <({ cd "$top" && ls README.md && cd docs && ls ./*.md && find examples ! -type d &&
      printf '%s\n' changelog.gz copyright; } | sed 's#^\./##' | sort)
}

@test "deb: lintian has neither errors nor warnings" {
  run lintian --allow-root --fail-on error,warning "$DEBS"/*.changes
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$output" = "" ]
}

@test "deb: hardened programs that hold no path of where they were built" {
  for package in railhead railhead-gate; do
    dpkg-deb -x $(deb $package) "$BATS_TEST_TMPDIR/x"
  done
  for program in usr/sbin/railhead usr/libexec/railhead/railhead-bench; do
    run -0 "$top/tests/lint/hardening" "$BATS_TEST_TMPDIR/x/$program"
    run -1 grep -cF "$top" "$BATS_TEST_TMPDIR/x/$program"
  done
}

@test "deb: preinst and postinst mean the same files of the initramfs" {
  for script in preinst postinst; do
    dpkg-deb -I $(deb railhead) $script | sed -n '/^initramfs_digest()/,/^}/p' >"$BATS_TEST_TMPDIR/$script"
    [ -s "$BATS_TEST_TMPDIR/$script" ]
  done
  diff "$BATS_TEST_TMPDIR/preinst" "$BATS_TEST_TMPDIR/postinst"
  # Those that the dracut module takes from the package.
  units=$(grep -o 'systemdsystemunitdir/railhead-[a-z.-]*' "$top/dracut/90railhead/module-setup.sh" | sort -u)
  [ "$units" = "systemdsystemunitdir/railhead-initrd.service
systemdsystemunitdir/railhead-trial.service
systemdsystemunitdir/railhead-trial.timer" ]
  grep -q 'system/railhead-trial\* ' "$BATS_TEST_TMPDIR/postinst"
}

# Whatever the machine's firmware, and however often it is run: what is in force stays.
@test "deb: postinst makes railhead.env where there is none, and leaves each other alone" {
  root=$BATS_TEST_TMPDIR/root
  mkdir -p "$root/boot/grub" "$root/bin"
  printf '#!/bin/sh\necho "railhead $*"\n' >"$root/bin/railhead"
  chmod +x "$root/bin/railhead"
  { dpkg-deb -I $(deb railhead) postinst | sed -n '/^make_environment()/,/^}/p' |
    sed -E "s# (/boot|/efi)# $root\1#g" && echo make_environment; } >"$root/script"
  PATH=$root/bin:$PATH run -0 sh -e "$root/script"
  [ "$output" = "railhead kargs --reset" ]
  for at in /boot/grub /boot/efi/EFI/railhead /boot/efi/EFI/railhead/1234-01 /efi/EFI/railhead/1234-01 \
    /boot/EFI/railhead/1234-01; do
    mkdir -p "$root$at"
    : >"$root$at/railhead.env"
    PATH=$root/bin:$PATH run -0 sh -e "$root/script"
    [ -z "$output" ]
    rm "$root$at/railhead.env"
  done
  rm -r "$root/boot/grub" # no GRUB
  PATH=$root/bin:$PATH run -0 sh -e "$root/script"
  [ -z "$output" ]
}

# The package of 0.1.0 had the files of all three.
@test "deb: the new packages take over the files of the old single one" {
  old=$BATS_TEST_TMPDIR/old root=$BATS_TEST_TMPDIR/root
  mkdir -p "$old/DEBIAN" "$old/usr/libexec/railhead" "$old/usr/lib/railhead/profiles" \
    "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  printf 'Package: railhead\nVersion: 0.1.0\nArchitecture: %s\nMaintainer: nobody <nobody@example.org>\nDescription: old\n' \
    "$(dpkg --print-architecture)" >"$old/DEBIAN/control"
  echo old | tee "$old/usr/libexec/railhead/railhead-bench" >"$old/usr/lib/railhead/profiles/dgx-h100.yaml"
  dpkg-deb --root-owner-group -b "$old" "$old.deb" >/dev/null
  : >"$root/var/lib/dpkg/status"
  dpkg --root="$root" --log=/dev/null -i "$old.deb"
  run -0 dpkg --root="$root" --log=/dev/null --auto-deconfigure --force-depends --unpack \
    $(deb railhead-gate) $(deb railhead-profiles)
  echo "$output"
  for path in /usr/libexec/railhead/railhead-bench /usr/lib/railhead/profiles/dgx-h100.yaml; do
    run -0 dpkg-query --admindir="$root/var/lib/dpkg" -S "$path"
    [[ $output == railhead-gate:* || $output == railhead-profiles:* ]]
  done
}
