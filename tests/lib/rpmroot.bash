# SPDX-License-Identifier: GPL-2.0-or-later
# A root for `rpm --root`, with a shell and stand-ins that note how they are called: a machine of
# Fedora's kind, whose GRUB takes its menu from /boot/loader/entries.
# shellcheck shell=bash

# Its /boot is a link: railhead then finds it below a root that is not its own "/", and does not
# ask which file system the tests lie on.
put_program() { # ROOT PROGRAM: with its libraries
  local lib
  install -D -m 755 "$(readlink -f "$(command -v "$2")")" "$1/usr/bin/$(basename "$2")"
  for lib in $(libraries_of "$2"); do
    [ -e "$1/usr/lib/$(basename "$lib")" ] || cp -L "$lib" "$1/usr/lib/"
  done
}

libraries_of() { # PROGRAM
  "${BASH_SOURCE[0]%/*}/libraries" "$(command -v "$1")"
}

stand_in() { # ROOT PATH: its body is on stdin
  { echo '#!/bin/sh'; echo 'echo "${0##*/} $*" >>/log'; cat; } >"$1$2"
  chmod 755 "$1$2"
}

make_rpm_root() { # ROOT PROGRAM-WITH-ITS-LIBRARIES...
  local root=$1 c
  mkdir -p "$root"/{usr/bin,usr/sbin,usr/lib,sbin,etc/grub.d,run/systemd/system,var/lib/rpm,tmp,dev}
  touch "$root/dev/null"
  mkdir -p "$root"/machine/boot/{grub2,loader/entries}
  ln -s usr/bin "$root/bin"
  ln -s usr/lib "$root/lib"
  ln -s usr/lib "$root/lib64"
  ln -s machine/boot "$root/boot"
  for c in sh cat rm rmdir mkdir sha256sum grep sed; do
    put_program "$root" "$c"
  done
  for c in "${@:2}"; do
    cp -L $(libraries_of "$c") "$root/usr/lib/"
  done
  stand_in "$root" /usr/bin/systemctl </dev/null
  stand_in "$root" /usr/bin/dracut </dev/null
  stand_in "$root" /sbin/railhead <<<'exec /usr/sbin/railhead "$@" --root /machine'
  put_grub "$root"
}

# As grub2-mkconfig of Fedora does: what each program in /etc/grub.d prints, between two lines.
put_grub() { # ROOT
  stand_in "$1" /usr/bin/grub2-mkconfig <<'MKCONFIG'
[ "$1" != --help ] || { echo "  --no-grubenv-update  do not update variables in the grubenv file"; exit; }
for file; do :; done
for part in /etc/grub.d/*; do
  case $part in *.rpmsave | *.rpmnew) continue ;; esac
  [ ! -x "$part" ] || { echo "### BEGIN $part ###"; "$part"; echo "### END $part ###"; }
done >"$file"
MKCONFIG
  printf '#!/bin/sh\necho "insmod blscfg"\necho blscfg\n' >"$1/etc/grub.d/10_linux"
  chmod 755 "$1/etc/grub.d/10_linux"
  printf '### BEGIN /etc/grub.d/10_linux ###\ninsmod blscfg\nblscfg\n### END /etc/grub.d/10_linux ###\n' \
    >"$1/boot/grub2/grub.cfg"
}

put_kernel() { # ROOT VERSION OPTIONS
  printf 'title x\nversion %s\nlinux /vmlinuz-%s\noptions %s\ngrub_class fedora\n' "$2" "$2" "$3" \
    >"$1/boot/loader/entries/$2.conf"
  echo image >"$1/boot/initramfs-$2.img"
  mkdir -p "$1/usr/lib/modules/$2"
  touch "$1/usr/lib/modules/$2/modules.dep"
}
