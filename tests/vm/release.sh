# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # of those that read this file, which set "here"
#
# Which release of Debian the guest is (DIST), and where what it is made from is kept:
# a directory for each, beside that of Debian 12. QEMU is the same for all (get-qemu).

dist=${DIST:-bookworm}
build=${RAILHEAD_VM_BUILD:-$here/../../build/vm}
case $dist in
  bookworm) ;;
  trixie) build=$build-$dist ;;
  *)
    echo "$0: DIST=$dist: bookworm and trixie can be guests" >&2
    exit 2
    ;;
esac
build=$(realpath -m "$build")

is_release_of_this_machine() {
  grep -qx "VERSION_CODENAME=$dist" /etc/os-release
}
