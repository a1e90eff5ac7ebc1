# SPDX-License-Identifier: GPL-2.0-or-later
# What apt would install into a minimal root, by the package lists of this machine; nothing is
# installed or fetched. Source of the test that counts the packages.

minimal_apt() { # PROGRAM STATUS ARG...
  local program=$1 status=$2
  shift 2
  "$program" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Debug::NoLocking=1 \
    -o Dir::State::status="$status" "$@"
}

new_packages() { # STATUS PACKAGE...: "NAME=VERSION", one a line
  local plan
  plan=$(minimal_apt apt-get "$1" -s -q install "${@:2}") || return 1
  sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p' <<<"$plan"
}

# The state of dpkg of a root as mmdebstrap --variant=minbase makes one that can boot, without
# kernel and generator of an initramfs.
write_minimal_status() { # FILE
  local names
  : >"$1"
  mapfile -t names < <(new_packages "$1" --no-install-recommends '?or(?essential, ?priority(required))' apt systemd-sysv \
    udev dbus iproute2 kmod)
  if [ ${#names[@]} -lt 50 ]; then
    echo "apt has no package lists of a Debian here: run apt-get update" >&2
    return 1
  fi
  minimal_apt apt-cache "$1" show "${names[@]}" |
    sed 's/^Package: .*/&\nStatus: install ok installed/' >"$1.new"
  mv "$1.new" "$1"
}
