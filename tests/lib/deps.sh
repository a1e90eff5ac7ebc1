#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Install the Debian packages that a part of the tree needs, and only those that are missing.
#
#   tests/lib/deps.sh build|deb|rpm|sim|test|arm64|bench|fuzz|pictures|vm ...
#   tests/lib/deps.sh libraries: what the programs and their unit tests are
#     linked with; prints the names, for tests/lib/sysroot
#   tests/lib/deps.sh names PART: prints the names of a part, for a tree of another release
#
# As `apt-get install` does, it upgrades what a wanted package needs in another version
# (libsystemd-dev, say, demands the libsystemd0 of its own), and says so before. It never removes or
# downgrades a package, and never changes apt's configuration.
#
#   RAILHEAD_DEPS=check    install nothing, and fail where something is missing
#
# One line says what is missing, why it can't be installed, and what to run.
set -eu

libraries="libc6-dev libyaml-dev libkmod-dev libpci-dev libblkid-dev
  libmount-dev libsystemd-dev libmnl-dev libjansson-dev libarchive-dev
  libibverbs-dev"
unit_libraries="libcmocka-dev"
build_packages="gcc make pkg-config $libraries"
deb_packages="debhelper dpkg-dev"
rpm_packages="rpm"
sim_packages="libfuse3-dev fuse3 python3"
test_packages="$unit_libraries $deb_packages $rpm_packages $sim_packages rpmlint cpio bats pciutils
  bzip2 xz-utils shellcheck strace jq procps mandoc udev systemd
  grub-common grub-emu e2fsprogs dosfstools mtools xfsprogs
  fdisk python3-jsonschema python3-yaml clang-format lintian zsh fish man-db tmux less"
arm64_packages="gcc-aarch64-linux-gnu qemu-user"
bench_packages="strace jq procps kmod systemd mbw rt-tests fio"
fuzz_packages="clang libclang-rt-dev"
pictures_packages="chromium fonts-dejavu-core"
vm_packages="$deb_packages mmdebstrap binutils python3 fdisk e2fsprogs grub-common
  grub-efi-amd64-bin ovmf dosfstools mtools xfsprogs ca-certificates"

usage() {
  echo "usage: $0 build|deb|rpm|sim|test|arm64|bench|fuzz|pictures|vm ... | libraries | names PART" >&2
  exit 2
}

packages_of() {
  case $1 in
    build) echo "$build_packages" ;;
    deb) echo "$build_packages $deb_packages" ;;
    rpm) echo "$build_packages $rpm_packages" ;;
    sim) echo "$build_packages $sim_packages" ;;
    test) echo "$build_packages $test_packages" ;;
    arm64) echo "make pkg-config $arm64_packages" ;;
    bench) echo "$build_packages $sim_packages $bench_packages" ;;
    fuzz) echo "$build_packages $fuzz_packages" ;;
    pictures) echo "$build_packages $test_packages $pictures_packages" ;;
    vm) echo "$build_packages $vm_packages" ;;
    *) usage ;;
  esac
}

missing_of() {
  # shellcheck disable=SC2016,SC2086 # fields of dpkg's; package names have no blanks
  installed=$(dpkg-query -W -f '${Package} ${Architecture} ${db:Status-Status}\n' $1 2>/dev/null |
    sed -nE "s/ (all|$(dpkg --print-architecture)) installed\$//p")
  for package in $1; do
    echo "$installed" | grep -qxF "$package" || echo "$package"
  done | sort -u
}

# The command that an administrator types; a container often has no sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    echo "$0 $parts"
  elif command -v sudo >/dev/null; then
    echo "sudo $0 $parts"
  else
    echo "su -c '$0 $parts'"
  fi
}

give_up() { # [REASON]
  echo "$0: Debian packages are missing: ${missing% }${1:+ ($1)}; run: $(as_root)" >&2
  exit 1
}

run_apt() { # VERB ARG...
  apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::http::Timeout=60 -o Acquire::https::Timeout=60 "$@"
}

# What apt-get would do: "Inst NAME [INSTALLED] (NEW ...)", "Remv NAME ...".
plan_installation() {
  # shellcheck disable=SC2086 # package names have no blanks
  run_apt install -s --no-install-recommends $missing >"$work/plan" 2>>"$work/log"
}

check_plan() {
  removed=$(awk '$1 == "Remv" { printf "%s ", $2 }' "$work/plan")
  upgraded=$(awk '$1 == "Inst" && $3 ~ /^\[/ { printf "%s ", $2 }' "$work/plan")
  [ -z "$removed" ] || give_up "apt-get would remove ${removed% }"
  [ -z "$upgraded" ] || echo "# upgrading what these packages need in another version: ${upgraded% }"
}

# The configuration files of an upgraded package stay as the machine has them.
install_missing() {
  plan_installation || return 1
  check_plan
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive run_apt install -y --no-install-recommends --no-remove \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold $missing \
    >>"$work/log" 2>&1 </dev/null
}

# apt-get's reason: a mirror that can't be reached comes before what follows from it.
reason() {
  { grep -hm 1 -E '^(E|W): Failed to fetch' "$work/log" || grep -hm 1 '^E: ' "$work/log" ||
    echo "E: apt-get failed"; } | sed 's/^[EW]: //; s/[[:space:]]*$//'
}

[ $# -gt 0 ] || usage
parts=$*
if [ "$parts" = libraries ]; then
  echo "$libraries $unit_libraries" | xargs -n 1
  exit
fi
if [ "$1" = names ]; then
  packages_of "${2:?part}" | xargs -n 1
  exit
fi
case ${RAILHEAD_DEPS:-} in
  "" | check) ;;
  *)
    echo "$0: RAILHEAD_DEPS=$RAILHEAD_DEPS: the one value is check, which installs nothing" >&2
    exit 2
    ;;
esac
wanted=
for part in "$@"; do
  packages=$(packages_of "$part") || exit 2
  wanted="$wanted $packages"
done
command -v dpkg-query >/dev/null || {
  echo "# no Debian: the packages that this names as missing are yours to install"
  exit 0
}
missing=$(missing_of "$wanted")
[ -n "$missing" ] || exit 0
missing=$(echo "$missing" | tr '\n' ' ')
if [ "${RAILHEAD_DEPS:-}" = check ] || [ "$(id -u)" -ne 0 ]; then give_up; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
begin=$(date +%s)
echo "# installing, which can take some minutes: ${missing% }"
# A fresh machine has no package lists, an old one has lists that name files which the mirror no
# longer has: so update when a plain installation fails.
install_missing || { : >"$work/log"; run_apt update >"$work/log" 2>&1 || :; install_missing; } ||
  give_up "$(reason)"
echo "# installed in $(($(date +%s) - begin)) s"
