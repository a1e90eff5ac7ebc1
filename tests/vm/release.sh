# shellcheck shell=sh
# shellcheck disable=SC2034 # of those that read this file
#
# Which release of Debian the guest is (DIST), and where what it is made from is kept (cache.py):
# what railhead is no part of in $cache, with the release in its name, and the guests' disks in
# $build, a directory for each content of them.

dist=${DIST:-bookworm}
case $dist in
  bullseye | bookworm | trixie | forky) ;;
  *)
    echo "$0: DIST=$dist: bullseye, bookworm, trixie and forky can be guests" >&2
    exit 2
    ;;
esac
cache=${RAILHEAD_VM_CACHE:?the directory of the cache}
build=${RAILHEAD_VM_IMAGE:?the directory for the disks}

is_release_of_this_machine() {
  grep -qx "VERSION_CODENAME=$dist" /etc/os-release
}
