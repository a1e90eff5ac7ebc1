#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The boots that railhead leaves alone: the program (src/base/words.c, src/boot/mode.c) and the
# conditions of a trial's timer, as systemd evaluates them, go by the same words.

bats_require_minimum_version 1.5.0
load lib/fakenode

units=$BATS_TEST_DIRNAME/../units

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
sysctl: {vm.swappiness: 10}
Y
}

# The rows of the table, with a value where a row stands for any.
table() {
  sed -n '/^static const struct boot_word without_gate/,/^};/s/.*{"\([^"]*\)", .*/\1/p' \
    "$BATS_TEST_DIRNAME/../src/base/words.c" | sed 's/\*$/pre-mount/'
  grep -o '"railhead=[a-z0-9]*"' "$BATS_TEST_DIRNAME/../src/boot/mode.c" | tr -d '"' | sort -u
}

# What a trial's own line has, and what looks like a word of the table.
ordinary() {
  sed -n 's/^#define ENV_TRIAL_EXTRA "\(.*\)"$/\1/p' "$BATS_TEST_DIRNAME/../src/kargs/env_layout.h" | tr ' ' '\n'
  printf '%s\n' quiet 2 3 5 systemd.unit=multi-user.target systemd.unit=graphical.target railhead=on \
    rd.systemd.unit=initrd.target foo=single rescued rd.shell systemd.debug_shell x.break
}

program_leaves() { # WORD...
  put "$root/proc/cmdline" "railhead.trial=a $*"
  run "$railhead" apply --stage early --root "$root"
  [[ $output == "railhead: "*" ("*")" || $output == "railhead: railhead=off on the kernel command line" ]] && return 0
  [[ $output == *"early/vm.swappiness"* || $output == *"early: "* ]] && return 1
  echo "what does that mean: $output"
  return 2
}

timer_leaves() { # WORD...
  local lines
  # the files of this machine say nothing of the node's
  mapfile -t lines < <(grep '^ConditionKernelCommandLine=' "$units/railhead-trial.timer")
  [ ${#lines[@]} -gt 30 ]
  ! SYSTEMD_PROC_CMDLINE="railhead.trial=a $*" systemd-analyze condition "${lines[@]}" >"$BATS_TEST_TMPDIR/conditions" 2>&1
}

agree() { # yes|no WORD...
  local want=$1 who got
  shift
  for who in program timer; do
    got=yes
    "${who}_leaves" "$@" || got=no
    [ "$got" = "$want" ] || { echo "$who: $*: left alone: $got"; failed=1; }
  done
}

@test "each word of the table: the program and the timer leave the boot alone" {
  table >"$BATS_TEST_TMPDIR/words"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/words")" -gt 35 ]
  failed=
  while read -r word <&3; do agree yes "$word"; done 3<"$BATS_TEST_TMPDIR/words"
  [ -z "$failed" ]
}

@test "other words, and a trial's own line: neither does" {
  failed=
  while read -r word <&3; do agree no "$word"; done 3< <(ordinary)
  # shellcheck disable=SC2046 # words
  agree no $(ordinary)
  [ -z "$failed" ]
}

@test "behind --, where systemd reads words as well" {
  failed=
  agree yes -- single
  agree yes quiet -- systemd.unit=rescue.target
  [ -z "$failed" ]
}

@test "each word of the timer's conditions is one of the table" {
  sed -n 's/^ConditionKernelCommandLine=|*!//p' "$units/railhead-trial.timer" >"$BATS_TEST_TMPDIR/conditions"
  table | sed 's/=pre-mount$//' | sort -u | diff - <(sort "$BATS_TEST_TMPDIR/conditions")
}

@test "the timer starts with the gate and counts from local-fs.target; nothing else pulls it" {
  grep -qx 'Wants=railhead-trial.timer' "$units/railhead-gate.service"
  grep -qx 'After=local-fs.target' "$units/railhead-trial.timer"
  grep -q '^Conflicts=.*initrd-switch-root.target' "$units/railhead-trial.timer"
  run -0 make -s -C "$BATS_TEST_DIRNAME/.." -o build/railhead -o build/05_railhead install-railhead DESTDIR="$BATS_TEST_TMPDIR/tree"
  run -0 find "$BATS_TEST_TMPDIR/tree" -name railhead-trial.timer
  [ ${#lines[@]} = 1 ]
}
