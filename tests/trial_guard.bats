#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# units/trial-guard over a fake /sys, /proc and /dev: which watchdog is armed, which is left, and that
# what was armed is stopped. That a real one resets is seen in the VM (tests/vm/cases/hangs.py).

bats_require_minimum_version 1.5.0

setup() {
  here=$BATS_TEST_DIRNAME
  fake=$BATS_TEST_TMPDIR/fake
  mkdir -p "$fake"/{sys/class/watchdog,sys/bus/pci/devices,proc/sys/kernel,dev,run,bin}
  script=$fake/trial-guard
  sed -e "s#^sys=/sys#sys=$fake/sys#; s#^dev=/dev#dev=$fake/dev#; s#^proc=/proc#proc=$fake/proc#" \
    -e "s#^state=.*#state=$fake/run#; s#-c \"\$dev#-e \"\$dev#g" "$here/../units/trial-guard" >"$script"
  chmod 755 "$script"
  : >"$fake/dev/kmsg"
  cmdline "ro railhead.trial=a"
  # Sets the time as a driver does that takes at most $most.
  cat >"$fake/bin/wdctl" <<EOF
#!/bin/sh
[ "\$2" -gt "\$(cat "$fake/most")" ] || echo "\$2" >"$fake/sys/class/watchdog/\${3##*/}/timeout"
EOF
  printf '#!/bin/sh\necho "$*" >>"%s/modprobe"\n' "$fake" >"$fake/bin/modprobe"
  chmod 755 "$fake"/bin/*
  PATH=$fake/bin:$PATH
}

cmdline() { echo "$1" >"$fake/proc/cmdline"; }

watchdog() { # NUMBER STATE NOWAYOUT MOST
  local dir=$fake/sys/class/watchdog/watchdog$1
  mkdir -p "$dir"
  echo "$2" >"$dir/state"
  echo "$3" >"$dir/nowayout"
  echo 30 >"$dir/timeout"
  echo "$4" >"$fake/most"
  echo untouched >"$fake/dev/watchdog$1"
}

esb() { # VALUE-OF-THE-LOCK-REGISTER
  local dir=$fake/sys/bus/pci/devices/0000:00:05.0
  mkdir -p "$dir"
  echo 0x8086 >"$dir/vendor"
  echo 0x25ab >"$dir/device"
  head -c 256 /dev/zero >"$dir/config"
  # shellcheck disable=SC2059 # an escape
  printf "\\$1" | dd of="$dir/config" bs=1 seek=104 conv=notrunc status=none
}

lock() { od -An -tu1 -j104 -N1 "$fake/sys/bus/pci/devices/0000:00:05.0/config" | tr -d ' '; }

said() { cat "$fake/dev/kmsg"; }

@test "guard: a watchdog is armed above the trial's ten minutes, and stopped again" {
  watchdog 0 inactive 0 2046
  run -0 "$script" arm
  [ "$output" = "" ]
  [ ! -s "$fake/dev/watchdog0" ] # opened, and closed without a V
  [ "$(cat "$fake/run/trial-watchdog")" = watchdog0 ]
  [[ $(said) == *"the watchdog watchdog0 resets this trial"*"in 660 s"* ]]
  run -0 "$script" disarm
  [ "$(cat "$fake/dev/watchdog0")" = V ]
  [ ! -e "$fake/run/trial-watchdog" ]
  echo untouched >"$fake/dev/watchdog0"
  run -0 "$script" disarm # twice
  [ "$(cat "$fake/dev/watchdog0")" = untouched ]
}

@test "guard: the blacklist counts for arming" {
  run -0 "$script" arm
  grep -q -e '-b.* i6300esb .*iTCO_wdt' "$fake/modprobe"
}

@test "guard: iTCO, which takes 614 s, is armed; one that takes less than the timer's time is not" {
  watchdog 0 inactive 0 614
  run -0 "$script" arm
  [[ $(said) == *"in 614 s"* ]]
  run -0 "$script" disarm
  watchdog 0 inactive 0 600
  : >"$fake/dev/kmsg"
  run -0 "$script" arm
  [ "$(cat "$fake/dev/watchdog0")" = untouched ]
  [ ! -e "$fake/run/trial-watchdog" ]
  [[ $(said) == *"watchdog0 is not armed"*"can't set its time to 610 s"* ]]
}

@test "guard: nowayout, or a kernel that does not say, is not armed; the next one is" {
  watchdog 0 inactive 1 2046
  run -0 "$script" arm
  [ "$(cat "$fake/dev/watchdog0")" = untouched ]
  [[ $(said) == *"could not stop it again (nowayout)"* ]]
  rm "$fake/sys/class/watchdog/watchdog0/nowayout"
  run -0 "$script" arm
  [ "$(cat "$fake/dev/watchdog0")" = untouched ]
  watchdog 1 inactive 0 2046
  run -0 "$script" arm
  [ "$(cat "$fake/run/trial-watchdog")" = watchdog1 ]
}

@test "guard: one that has an owner is left to it, and no other is armed" {
  watchdog 0 active 0 2046
  watchdog 1 inactive 0 2046
  run -0 "$script" arm
  [ "$(cat "$fake/dev/watchdog0")" = untouched ]
  [ "$(cat "$fake/dev/watchdog1")" = untouched ]
  [[ $(said) == *"another program uses the watchdog watchdog0"* ]]
  run -0 "$script" disarm
  [ "$(cat "$fake/dev/watchdog0")" = untouched ]
}

@test "guard: one that does not stop is reported loudly" {
  watchdog 0 inactive 0 2046
  run -0 "$script" arm
  echo active >"$fake/sys/class/watchdog/watchdog0/state"
  run -0 "$script" disarm
  [[ $(said) == *"<2>railhead: the watchdog watchdog0 does not stop"* ]]
}

@test "guard: an operator's boot and a crash kernel are not armed, and what GRUB armed is stopped" {
  for word in railhead=off single rescue emergency systemd.unit=rescue.target rd.break rd.break=pre-mount break=top init=/bin/sh 1 s S -b; do
    watchdog 0 inactive 0 2046
    esb 002
    cmdline "ro railhead.trial=a $word"
    run -0 "$script" arm
    [ "$(cat "$fake/dev/watchdog0")" = untouched ]
    [ "$(lock)" = 0 ]
  done
  watchdog 0 inactive 0 2046
  for word in init=/sbin/init init=/usr/lib/systemd/systemd singles systemd.unit=multi-user.target; do
    cmdline "ro railhead.trial=a $word"
    run -0 "$script" arm
    [ ! -s "$fake/dev/watchdog0" ]
    run -0 "$script" disarm
  done
  echo untouched >"$fake/dev/watchdog0"
  cmdline "ro railhead.trial=a"
  : >"$fake/proc/vmcore"
  esb 002
  run -0 "$script" arm
  [ "$(cat "$fake/dev/watchdog0")" = untouched ]
  [ "$(lock)" = 0 ]
}

@test "guard: what GRUB armed and no driver takes over runs on through the trial, and is stopped after it" {
  esb 002
  run -0 "$script" arm
  [ "$(lock)" = 2 ]
  [[ $(said) == *"0000:00:05.0, armed by GRUB, has no driver"* ]]
  run -0 "$script" disarm
  grep -qx -e '-q i6300esb' "$fake/modprobe" # whatever the blacklist says
  [ "$(lock)" = 0 ]
  [[ $(said) != *"<2>"* ]]
}

@test "guard: a driver's, an idle and another device are left alone" {
  for change in "mkdir driver" "true" "echo 0x1234 >device" "echo 0x10de >vendor"; do
    rm -rf "$fake"/sys/bus/pci/devices/*
    esb "$([ "$change" = true ] && echo 001 || echo 002)"
    before=$(lock)
    (cd "$fake/sys/bus/pci/devices/0000:00:05.0" && eval "$change")
    run -0 "$script" disarm
    [ "$(lock)" = "$before" ]
  done
}

@test "guard: a locked-down kernel that lets nobody stop what GRUB armed is reported" {
  esb 002
  # as root, whom no mode holds back
  printf '#!/bin/sh\nexit 1\n' >"$fake/bin/dd"
  chmod 755 "$fake/bin/dd"
  run -0 "$script" disarm
  [ "$(lock)" = 2 ]
  [[ $(said) == *"<2>railhead: the watchdog 0000:00:05.0, armed by GRUB, can't be stopped"* ]]
}

@test "guard: the detectors' words of the line, for a kernel before 5.8: once, in their order" {
  extra=$(sed -n 's/^#define ENV_TRIAL_EXTRA "\(.*\)"$/\1/p' "$here/../src/boot/env_layout.h")
  [ -n "$extra" ]
  cmdline "ro sysctl.kernel.panic=7 railhead.trial=a $extra"
  for name in watchdog_thresh hung_task_timeout_secs softlockup_panic panic_on_rcu_stall hung_task_panic panic; do
    echo 10 >"$fake/proc/sys/kernel/$name"
  done
  run -0 "$script" arm
  cd "$fake/proc/sys/kernel"
  run -0 paste -sd ' ' watchdog_thresh hung_task_timeout_secs softlockup_panic panic_on_rcu_stall hung_task_panic panic
  [ "${lines[*]}" = "60 300 1 1 1 10" ]
  [ ! -e "$fake/proc/sys/kernel/hardlockup_panic" ] # a kernel without it
  # the times before what panics
  [[ $extra == *watchdog_thresh=*softlockup_panic=* && $extra == *hung_task_timeout_secs=*hung_task_panic=* ]]
  echo 0 >"$fake/proc/sys/kernel/hung_task_panic" # by sysctl.d, since
  run -0 "$script" arm
  [ "$(cat "$fake/proc/sys/kernel/hung_task_panic")" = 0 ]
}

@test "guard: no watchdog, tools that fail, nothing in /sys: nothing is armed, and nothing fails" {
  rm -rf "$fake/sys"
  printf '#!/bin/sh\nexit 1\n' | tee "$fake/bin/modprobe" >"$fake/bin/wdctl"
  run -0 "$script" arm
  run -0 "$script" disarm
  [ "$output" = "" ]
  run -2 "$script" else
}
