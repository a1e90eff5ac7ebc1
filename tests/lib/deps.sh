#!/bin/sh
# Install the Debian packages that a part of the tree needs, and only those
# that are missing.
#
#   tests/lib/deps.sh [--upgrade] build|test|arm64|bench|pictures|vm ...
#   tests/lib/deps.sh libraries: what the programs and their unit tests are
#     linked with; prints the names, for tests/lib/sysroot
#
# Runs on a machine with nothing but git, make and a compiler. It never
# changes apt's configuration and never removes a package. A package that is
# installed already is upgraded only with --upgrade: libsystemd-dev, say,
# demands the libsystemd0 of its own version.
set -eu

libraries="libc6-dev libyaml-dev libkmod-dev libpci-dev libblkid-dev
  libmount-dev libsystemd-dev libmnl-dev libjansson-dev libarchive-dev
  libibverbs-dev"
unit_libraries="libcmocka-dev"
build_packages="gcc make pkg-config $libraries debhelper dpkg-dev"
test_packages="$unit_libraries rpm rpmlint cpio libfuse3-dev fuse3 bats pciutils bzip2 xz-utils
  shellcheck strace jq procps mandoc udev systemd
  grub-common grub-emu e2fsprogs dosfstools mtools xfsprogs
  fdisk python3 python3-jsonschema python3-yaml clang-format lintian zsh fish man-db tmux less"
arm64_packages="make pkg-config gcc-aarch64-linux-gnu qemu-user"
bench_packages="jq mbw rt-tests fio"
pictures_packages="$test_packages chromium fonts-dejavu-core"
vm_packages="mmdebstrap binutils python3 fdisk e2fsprogs grub-common
  grub-efi-amd64-bin ovmf dosfstools mtools xfsprogs ca-certificates"

usage() {
  echo "usage: $0 [--upgrade] build|test|arm64|bench|pictures|vm ... | libraries" >&2
  exit 2
}

packages_of() {
  case $1 in
    build) echo "$build_packages" ;;
    test) echo "$test_packages" ;;
    arm64) echo "$arm64_packages" ;;
    bench) echo "$bench_packages" ;;
    pictures) echo "$pictures_packages" ;;
    vm) echo "$build_packages $vm_packages" ;;
    *) usage ;;
  esac
}

missing_of() {
  # shellcheck disable=SC2016,SC2086 # fields of dpkg's; package names have no blanks
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $1 2>/dev/null |
    sed -n 's/ installed$//p')
  for package in $1; do
    echo "$installed" | grep -qxF "$package" || echo "$package"
  done | sort -u
}

# A fresh machine has no package lists, an old one has lists that name files
# which the mirror no longer has: so update when a plain install fails too.
install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  try_install "$@" || { apt-get update -q && try_install "$@"; }
}

try_install() { # PACKAGE...
  if [ -z "$upgrade" ]; then
    plan=$(apt-get install -s -q --no-install-recommends --no-remove "$@") || return 1
    # "Inst NAME [INSTALLED] (NEW ...)"
    upgrades=$(echo "$plan" | awk '$1 == "Inst" && $3 ~ /^\[/ { print $2 }')
    if [ -n "$upgrades" ]; then
      echo "$0: to install $*, apt-get would upgrade:" >&2
      echo "$upgrades" >&2
      echo "Upgrade the machine first, or allow it: $0 --upgrade $wanted_parts" >&2
      exit 1
    fi
  fi
  apt-get install -y -q --no-install-recommends --no-remove -o DPkg::Lock::Timeout=300 "$@"
}

upgrade=
if [ "${1:-}" = --upgrade ]; then
  upgrade=yes
  shift
fi
[ $# -gt 0 ] || usage
wanted_parts=$*
if [ "$*" = libraries ]; then
  echo "$libraries $unit_libraries" | xargs -n 1
  exit
fi
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
if [ "$(id -u)" -ne 0 ]; then
  echo "$0: these Debian packages are missing: $missing" >&2
  echo "Run this first: sudo $0 $wanted_parts" >&2
  exit 1
fi
echo "# installing: $missing"
# shellcheck disable=SC2086 # package names have no blanks
install_packages $missing >&2
