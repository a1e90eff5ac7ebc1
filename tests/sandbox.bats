#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The sandbox that this runs in (tests/lib/sandbox.c): what is out of reach.

bats_require_minimum_version 1.5.0

top=$(realpath "$BATS_TEST_DIRNAME/..")

@test "sandbox: only the work tree and its own memory can be written" {
  for dir in / /etc /usr /var /root /home /boot /opt /sys /proc/sys/kernel; do
    [ -d "$dir" ] || continue
    run -1 touch "$dir/railhead-test"
    [ ! -e "$dir/railhead-test" ]
  done
  for dir in /tmp /var/tmp /run /dev/shm "$top/build"; do
    touch "$dir/railhead-test"
    rm "$dir/railhead-test"
  done
}

@test "sandbox: the kernel's settings stay as they are" {
  for file in /proc/sys/vm/nr_hugepages /proc/sys/kernel/panic /proc/sysrq-trigger /proc/mtrr \
    /proc/irq/default_smp_affinity /sys/kernel/mm/transparent_hugepage/enabled /sys/power/state; do
    [ -e "$file" ] || continue
    run -1 bash -c ': >>"$1"' - "$file"
  done
}

@test "sandbox: no file system can be frozen, and the clock can not be set" {
  for dir in / "$top"; do
    run -1 fsfreeze --freeze "$dir"
    [[ $output == *"Operation not permitted"* ]]
  done
  run -1 date --set "$(date)"
  [[ $output == *"Operation not permitted"* ]]
}

@test "sandbox: neither the machine's processes nor its disks and network are there" {
  [ "$(tr '\0' ' ' </proc/1/cmdline | cut -d' ' -f1)" = "$top/build/sandbox" ]
  run -1 sh -c 'find /dev -type b | grep .'
  [ "$(ls /sys/class/net)" = lo ]
}

@test "sandbox: programs in its temporary directories can be executed" {
  for dir in "$BATS_TEST_TMPDIR" /tmp /var/tmp /dev/shm; do
    printf '#!/bin/sh\n' >"$dir/railhead-test"
    chmod 755 "$dir/railhead-test"
    "$dir/railhead-test"
    rm "$dir/railhead-test"
  done
}

@test "sandbox: the umask is 022, and the settings of tests are passed" {
  [ "$(umask)" = 0022 ]
  # inside, a second sandbox runs the command as it is: so the list is read
  list=$(sed -n '/^static const char .const passed/,/^};/p' "$top/tests/lib/sandbox.c" | grep -o '"[^"]*"' | tr -d '"')
  passes() { # VARIABLE
    for begin in $list; do
      case $1= in "$begin"*) return 0 ;; esac
    done
    return 1
  }
  for name in GOLDEN GRUB_READER_SEED GRUB_READER_FILES GRUB_READER_SCRIPT SUDO_UID DIST; do
    passes "$name"
  done
  run ! passes TMPDIR
}
