#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What each of railhead's services may still do, as `systemd-analyze security` counts it, and what it
# must be able to do. The guests run the units (tests/vm/cases).

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/../units" || exit 1
}

# Tenths of systemd-analyze's points, 95 of which are a service without a line. A retry measures, as
# the gate does. The services of a trial are what ends it in the worst case: they have the common part.
limits() {
  cat <<'END'
railhead-settled 55
railhead-admit-end 55
railhead-maintain-end 55
railhead-recheck 55
railhead-early 70
railhead-devices 70
railhead-device@ 71
railhead-gate 80
railhead-retry 80
railhead-trial 83
railhead-trial-stop 83
END
}

@test "each service is within its limit of systemd-analyze security" {
  local unit limit bad=0
  diff <(limits | sed 's/ .*//' | sort) <(basename -as .service -- *.service | sort)
  while read -r unit limit; do
    systemd-analyze security --offline=true --no-pager --threshold="$limit" "$PWD/$unit.service" >"$BATS_TEST_TMPDIR/said" 2>&1 && continue
    cat "$BATS_TEST_TMPDIR/said"
    bad=1
  done < <(limits)
  [ $bad -eq 0 ]
  # Without the common part what does most is over it.
  mkdir "$BATS_TEST_TMPDIR/alone"
  cp ./*.service "$BATS_TEST_TMPDIR/alone"
  while read -r unit limit; do
    run ! systemd-analyze security --offline=true --no-pager --threshold="$limit" "$BATS_TEST_TMPDIR/alone/$unit.service"
  done < <(limits | grep ' [78].$')
}

# A namespace that can't be made, or that hangs at a dead NFS server, would be a verdict or a mark that
# is not written.
@test "no service has mounts of its own; all have devices and openat2" {
  local unit own='^(Protect(System|Home|Clock|Proc|Kernel[A-Z][a-z]*|ControlGroups)|Private[A-Z][a-z]*|Read(Write|Only)Paths|InaccessiblePaths|BindPaths|TemporaryFileSystem|ProcSubset|MountFlags|DevicePolicy|DeviceAllow)='
  for unit in *.service railhead-.service.d/*.conf; do
    run ! grep -nE "$own" "$unit"
  done
  run ! grep -rn '^RestrictSUIDSGID=\|^DynamicUser=' .
  grep -q '^SystemCallErrorNumber=EPERM$' railhead-.service.d/hardening.conf # SIGSYS would look like a crash
}

deadline() { # UNIT-FILE: seconds
  sed -n 's/^Timeout\(Start\)\?Sec=//p' "$1"
}

@test "docs/operating.md has the deadlines of what a boot waits for, and their sums" {
  local page=../docs/operating.md unit file seconds sum=0
  for unit in initrd early devices gate; do
    file=railhead-$unit.service
    [ -e "$file" ] || file=../dracut/90railhead/$file
    seconds=$(deadline "$file")
    grep -qE "^\| railhead-$unit\.service[^|]* \| $seconds s[ ;]" $page
    sum=$((sum + seconds))
    case $unit in
      early) grep -qF "| sysinit.target | $((sum / 60)) min |" $page ;;
      devices) grep -qF "| the network | $((sum / 60)) min |" $page ;;
      gate) grep -qF "| multi-user.target | $((sum / 60)) min |" $page ;;
    esac
  done
  [ $((sum % 60)) -eq 0 ]
  # limit, grace and the last look of the script for initramfs-tools
  eval "$(grep -E '^(limit|grace)=' ../packaging/initramfs-tools/railhead)"
  grep -qF "| the script of initramfs-tools, in its place | $((limit + grace + 1)) s |" $page
  # those that nothing waits for
  grep -qF "| $(for unit in settled recheck device@; do
    echo "$(deadline "railhead-$unit.service") s,"
  done | paste -sd' ' | sed 's/,$//') |" $page
  grep -qF "railhead-trial-stop.service $(deadline railhead-trial-stop.service) s |" $page
  [ -z "$(grep -L '^TimeoutStopSec=5$' railhead-{early,devices,gate}.service ../dracut/90railhead/railhead-initrd.service)" ]
}
