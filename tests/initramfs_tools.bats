#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The script for initramfs-tools, in a mount namespace of its own: the real root is a tmpfs with
# a shell and a stand-in for railhead, /run and the kernel's log are the test's, and reboot is a
# stand-in before all others in PATH.

bats_require_minimum_version 1.5.0

script=$BATS_TEST_DIRNAME/../packaging/initramfs-tools/railhead

# What the stand-in needs, with its libraries, below $1.
copy_programs() {
  local program
  for program in sh sleep; do
    cp --parents -L "$(command -v "$program")" \
      $(ldd "$(command -v "$program")" | grep -o '/[^ ]*') "$1"
  done
  [ -e "$1/bin/sh" ] || ln -s usr/bin "$1/bin"
}

setup() {
  case_dir=$BATS_TEST_TMPDIR
  real=$case_dir/real kmsg=$case_dir/kmsg
  : >"$kmsg"
  mkdir -p "$real" "$case_dir/files/usr/sbin" "$case_dir/stubs"
  mkdir "$case_dir/files/dev" "$case_dir/files/proc" "$case_dir/files/sys" "$case_dir/files/run"
  copy_programs "$case_dir/files"
  cp "$script" "$case_dir/script"
  stub sync 'echo sync >>'"$case_dir/calls"
  stub reboot 'echo "reboot $*, root is $(findmnt -nr -o OPTIONS '"$real"' | cut -d, -f1)" >>'"$case_dir/calls"
}

stub() { # NAME TEXT
  printf '#!/bin/sh\n%s\n' "$2" >"$case_dir/stubs/$1"
  chmod 755 "$case_dir/stubs/$1"
}

# The stand-in for the real root's railhead; the script is read from standard input.
railhead_is() {
  { echo '#!/bin/sh'; cat; } >"$case_dir/files/usr/sbin/railhead"
  chmod 755 "$case_dir/files/usr/sbin/railhead"
}

# Runs the script as initramfs-tools does; then what is left mounted below the real root, and what
# is in /run/railhead, are in files of these names.
boot() { # [COMMAND before the script]
  run -0 timeout 300 unshare -m sh -ec '
    mount -t tmpfs root "$1/real"
    cp -a "$1/files/." "$1/real/"
    mount -t tmpfs run /run
    mount --bind "$1/kmsg" /dev/kmsg
    eval "$2"
    status=0
    rootmnt=$1/real PATH=$1/stubs:$PATH sh "$1/script" || status=$?
    findmnt -nr -o TARGET | grep "^$1/real/" >"$1/mounted" || :
    cp -r /run/railhead "$1/state" 2>/dev/null || :
    exit $status
  ' - "$case_dir" "${1:-:}"
}

@test "initramfs-tools: asked for its order it does nothing" {
  run -0 sh "$script" prereqs
  [ "$output" = "" ]
}

@test "initramfs-tools: the real root's own program runs, with its devices, and is heard" {
  railhead_is <<'S'
echo "called with: $* ($RAILHEAD_INITRAMFS)"
for file in /dev/null /proc/self/status /sys/kernel /run/railhead; do
  [ -e "$file" ] || echo "no $file"
done
echo "railhead: to standard error" >&2
S
  boot
  [ "$output" = "" ]
  run -0 cat "$kmsg"
  [ "${lines[0]}" = "<5>railhead: called with: apply --stage initrd (1)" ]
  [ "${lines[1]}" = "<5>railhead: to standard error" ]
  [ ${#lines[@]} -eq 2 ]
  [ ! -e "$case_dir/calls" ]
  [ ! -s "$case_dir/mounted" ]
}

@test "initramfs-tools: a program that fails is named, and the boot goes on" {
  railhead_is <<'S'
echo "no newline at its end" | { read -r line; printf '%s' "$line"; }
exit 6
S
  boot
  run -0 cat "$kmsg"
  [ "${lines[0]}" = "<5>railhead: no newline at its end" ]
  [ "${lines[1]}" = "<5>railhead: the initrd stage failed (status 6)" ]
  [ ! -e "$case_dir/calls" ]
  [ ! -s "$case_dir/mounted" ]
}

@test "initramfs-tools: a program that hangs is named every 5 s, killed at the deadline, and the boot goes on" {
  sed -i 's/^limit=120$/limit=6/; s/^grace=5$/grace=1/' "$case_dir/script"
  grep -qx limit=6 "$case_dir/script" && grep -qx grace=1 "$case_dir/script"
  railhead_is <<'S'
trap '' TERM
echo before it hangs
while :; do sleep 1; done
S
  boot
  run -0 cat "$kmsg"
  [ "${lines[0]}" = "<5>railhead: the initrd stage runs, for 5 s more at most" ]
  [ "${lines[1]}" = "<5>railhead: the initrd stage did not end within 6 s, and is killed; the boot goes on" ]
  [ "${lines[2]}" = "<5>railhead: before it hangs" ]
  [[ ${lines[3]} == "<5>railhead: the initrd stage failed (status "*")" ]]
  [ ! -e "$case_dir/calls" ]
  [ ! -s "$case_dir/mounted" ]
  run -1 kill -0 "$(cat "$case_dir/state/initramfs.pid")"
}

@test "initramfs-tools: without the program it says so, and in a crash kernel it does nothing" {
  boot
  run -0 cat "$kmsg"
  [ "$output" = "<5>railhead: $real/usr/sbin/railhead is not there; skipped" ]
  : >"$kmsg"
  railhead_is <<<'echo here'
  boot 'mount -t tmpfs proc /proc && : >/proc/vmcore'
  [ ! -s "$kmsg" ]
}

@test "initramfs-tools: a directory that can't be bound leaves none bound" {
  rmdir "$case_dir/files/sys"
  railhead_is <<<'echo here'
  boot
  grep -q "a directory of $real can't be bound; skipped" "$kmsg"
  run -1 grep here "$kmsg"
  [ ! -s "$case_dir/mounted" ]
}

