#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is installed for grub-mkconfig: the drop-in of /etc/default/grub.d and the snippet.
# shellcheck disable=SC2016 # GRUB's variables

bats_require_minimum_version 1.5.0

here=$BATS_TEST_DIRNAME
cfg=$here/../dracut/grub.d/railhead.cfg

# What grub-mkconfig's shell has after /etc/default/grub (the given text) and the drop-in: as
# Debian's does it, in each shell that /bin/sh may be.
sourced() { # TEXT [TIMES]: prints LINUX|DEFAULT|TIMEOUT
  local shell first
  for shell in sh dash "bash --posix"; do
    # shellcheck disable=SC2086
    run -0 env -i PATH="$PATH" $shell -c 'set -e
      eval "$1"
      for i in $(seq "$2"); do . "$3"; done
      echo "${GRUB_CMDLINE_LINUX-unset}|${GRUB_CMDLINE_LINUX_DEFAULT-unset}|${GRUB_RECORDFAIL_TIMEOUT-unset}"' sh "$1" "${2:-1}" "$cfg"
    [ "$output" = "${first:-$output}" ] || { echo "$shell: $output; $first"; return 1; }
    first=$output
  done
}

is() {
  [ "$output" = "$1" ] || { echo "is     $output"; echo "wanted $1"; return 1; }
}

@test "drop-in: the variable goes to the end of what the user has, unexpanded" {
  sourced 'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash"; GRUB_CMDLINE_LINUX="console=ttyS0"'
  is 'console=ttyS0|quiet splash $railhead_kargs|5'
}

@test "drop-in: nothing is there, or it is empty" {
  sourced ':'
  is 'unset|$railhead_kargs|5'
  sourced 'GRUB_CMDLINE_LINUX_DEFAULT=; GRUB_CMDLINE_LINUX='
  is '|$railhead_kargs|5'
  # a stricter shell than grub-mkconfig's
  sourced 'set -u'
  is 'unset|$railhead_kargs|5'
}

@test "drop-in: sourced twice, or put there by hand: once all the same" {
  sourced 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"' 3
  is 'unset|quiet $railhead_kargs|5'
  sourced 'GRUB_CMDLINE_LINUX_DEFAULT="quiet \$railhead_kargs"'
  is 'unset|quiet $railhead_kargs|5'
  sourced 'GRUB_CMDLINE_LINUX_DEFAULT="\$railhead_kargs	quiet"'
  is 'unset|$railhead_kargs	quiet|5'
  sourced 'GRUB_CMDLINE_LINUX_DEFAULT="quiet \${railhead_kargs}"'
  is 'unset|quiet ${railhead_kargs}|5'
  # in all entries, recovery too: the user wants it so
  sourced 'GRUB_CMDLINE_LINUX="\$railhead_kargs"; GRUB_CMDLINE_LINUX_DEFAULT=quiet'
  is '$railhead_kargs|quiet|5'
}

@test "drop-in: what only looks like the variable is none" {
  for x in '$railhead_kargs_old' 'x$railhead_kargs' 'railhead_kargs' '\$railhead_kargs' '$railhead_kargsx'; do
    sourced "GRUB_CMDLINE_LINUX_DEFAULT='$x'"
    is "unset|$x \$railhead_kargs|5"
  done
}

@test "drop-in: odd values of the user's stay as they are" {
  for x in '  two  blanks ' "a=\"b c\"" '*' '-n' 'tab	bed'; do
    sourced "GRUB_CMDLINE_LINUX_DEFAULT='$x'"
    is "unset|$x \$railhead_kargs|5"
  done
}

@test "drop-in: the user's recordfail timeout wins, before and after" {
  for t in 0 -1 30 ''; do
    sourced "GRUB_RECORDFAIL_TIMEOUT='$t'"
    is "unset|\$railhead_kargs|$t"
  done
}

@test "drop-in: grub-mkconfig's own way brings it to the scripts, with the timeout" {
  command -v grub-mkconfig >/dev/null
  # what it exports is what the scripts of /etc/grub.d get
  for v in GRUB_CMDLINE_LINUX_DEFAULT GRUB_RECORDFAIL_TIMEOUT; do
    grep -qE "^ *$v\b" "$(command -v grub-mkconfig)"
  done
  run -1 grep -E '^set .*-[a-z]*u' "$(command -v grub-mkconfig)"
}

# --- the snippet -------------------------------------------------------------------------------

snippet() { # with no other probes than probe()'s, as where railhead is installed
  local bin=$BATS_TEST_TMPDIR/bin
  mkdir -p "$bin"
  ln -sf "$(command -v cat)" "$bin/cat"
  sed -e '/-x .usr.sbin.railhead/d' "$here/../build/05_railhead" >"$BATS_TEST_TMPDIR/05"
  PATH=$bin /bin/sh "$BATS_TEST_TMPDIR/05"
}

probe() { # NAME: a grub-probe that says it is fat
  mkdir -p "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\ncase $1 in *=fs) echo fat;; *) echo AB-%s;; esac\n' "$1" >"$BATS_TEST_TMPDIR/bin/$1"
  chmod +x "$BATS_TEST_TMPDIR/bin/$1"
}

@test "snippet: the EFI system partition is found with grub2-probe where there is no grub-probe" {
  [ -d /boot ] # one of those that it looks at
  probe grub2-probe
  run -0 snippet
  [[ $output == *'set railhead_esp="AB-grub2-probe"'* ]]
  probe grub-probe
  run -0 snippet
  [[ $output == *'set railhead_esp="AB-grub-probe"'* ]]
}

@test "snippet: without either GRUB looks nowhere on EFI, and the menu is made all the same" {
  run -0 snippet
  [[ $output == *"no EFI system partition was mounted"* ]]
  [[ $output == *"export railhead_kargs"* ]]
}
