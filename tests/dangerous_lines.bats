#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Lines of a profile with which nobody gets in to a node: commands instead of settings, programs that
# the kernel runs as root, files that take hardware away, mounts over the system. All machines here
# are trees.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
}

# A profile with that line.
line() { # FILE LINE
  printf '%s\n' 'schema: 1' 'name: sku' 'match: {dmi: {sys_vendor: Supermicro}}' \
    'devices: {nics: {pci: "15b3:1021"}}' "$2" >"$1"
}

# Commands, as the kernel has them: root alone may write to them, and nobody can read them.
put_commands() {
  local file
  for file in fs/ext4/sda1/trigger_fs_error devices/system/memory/hard_offline_page \
    class/nvme/nvme0/{reset,delete}_controller class/thermal/thermal_zone0/emul_temp; do
    put "$root/sys/$file" before
    chmod 0200 "$root/sys/$file"
  done
}

@test "dangerous lines: each is refused, or is a setting for a given reason" {
  local outcome text reason n=0
  put_commands
  while IFS=$'\t' read -r outcome text reason; do
    [[ $outcome == [a-z]* ]] || continue
    n=$((n + 1))
    line "$BATS_TEST_TMPDIR/sku.yaml" "$text"
    echo "$outcome: $text"
    case $outcome in
      refused)
        run -3 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
        [[ $output == *"sku.yaml:5:"* ]]
        ;;
      node)
        run -0 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
        run -3 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/sku.yaml"
        [[ $output == *"sku.yaml:5:"*"; "* ]]
        ;;
      allowed)
        [ "$reason" ]
        run -0 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/sku.yaml"
        ;;
      *) false ;;
    esac
  done <"$BATS_TEST_DIRNAME/fixtures/dangerous_lines.txt"
  [ "$n" -gt 150 ]
}

@test "dangerous lines: no profile that railhead ships has one, and no force" {
  run -0 "$railhead" check "$BATS_TEST_DIRNAME"/../{profiles,docs/examples/profiles}
  run -1 grep -r 'force:' "$BATS_TEST_DIRNAME"/../{profiles,docs/examples/profiles} --include='*.yaml'
}

# State and reason of the line's change.
seen() { # VERB
  "$railhead" "$1" --json --root "$root" |
    jq -r '.changes[] | select(.id | startswith("sys")) | .state + " " + (.reason // "")'
}

@test "a file that nobody can read: check --root, plan and apply refuse it, and it stays" {
  local file=/sys/class/nvme/nvme0/reset_controller
  put_commands
  profile "$root" sku <<<"$(line /dev/stdout "sysfs: {$file: {value: 1, optional: true, force: true}}")"
  run -3 "$railhead" check --root "$root"
  [[ $output == *"sku.yaml:5:9: sysfs.$file: $file: the file is a command, not a setting; its mode (0200) lets nobody read it back; leave it out"* ]]
  [[ $(seen plan) == "failed $file: the file is a command, not a setting; its mode (0200)"* ]]
  run "$railhead" apply --stage early --root "$root"
  [[ $output == *"its mode (0200) lets nobody read it back"* ]]
  [ "$(cat "$root$file")" = before ]
}

@test "a symbolic link into a guarded tree is that tree: only force writes there" {
  local file=/sys/class/misc/door/memory.high
  put "$root/sys/fs/cgroup/system.slice/memory.high" max
  mkdir -p "$root/sys/class/misc"
  ln -s ../../fs/cgroup/system.slice "$root/sys/class/misc/door"
  profile "$root" sku <<<"$(line /dev/stdout "sysfs: {$file: 1}")"
  run -3 "$railhead" check --root "$root"
  [[ $output == *"sku.yaml:5:9: sysfs.$file: $file (/sys/fs/cgroup/system.slice/memory.high): the files here stop, starve and kill processes"*"force: true"* ]]
  run "$railhead" apply --stage early --root "$root"
  [[ $output == *"/sys/fs/cgroup/system.slice/memory.high"* ]]
  [ "$(cat "$root/sys/fs/cgroup/system.slice/memory.high")" = max ]
  profile "$root" sku <<<"$(line /dev/stdout "sysfs: {$file: {value: 1, force: true}}")"
  run -0 "$railhead" check --root "$root"
  run -0 "$railhead" apply --stage early --root "$root"
  [ "$(cat "$root/sys/fs/cgroup/system.slice/memory.high")" = 1 ]
}

@test "a symbolic link out of the files of the kernel: neither checked as one, nor written to" {
  put "$root/etc/e/level" 0
  put "$root/sys/class/misc/door/level" 0
  mkdir -p "$root/sys/class/misc" "$root/proc/sys/net"
  ln -s ../../../etc/e "$root/sys/class/misc/e"
  ln -s ../../../etc/e "$root/proc/sys/net/e"
  ln -s ../../../sys/class/misc/door "$root/proc/sys/net/sys"
  profile "$root" sku <<<"$(line /dev/stdout 'sysfs:
  /sys/class/misc/e/level: {value: 1, force: true}
  "/sys/class/misc/[e]/level": {value: 1, force: true}
sysctl: {net.e.level: {value: 1, force: true}, net.sys.level: 1}')"
  run -3 "$railhead" check --root "$root"
  [[ $output == *"sku.yaml:6:"*"/sys/class/misc/e/level leads to /etc/e/level, which is no setting of the kernel; leave it out"* ]]
  [[ $output == *"/proc/sys/net/e/level leads to /etc/e/level"*"/proc/sys/net/sys/level leads to /sys/class/misc/door/level"* ]]
  run "$railhead" apply --stage early --root "$root"
  [[ $output == *"leads to /etc/e/level"* ]]
  [ "$(cat "$root/etc/e/level" "$root/sys/class/misc/door/level")" = $'0\n0' ]
}

@test "a pattern that leads to one guarded file among others sets none" {
  put "$root/sys/class/misc/a/level" 0
  put "$root/sys/class/misc/b/level" 0
  chmod 0200 "$root/sys/class/misc/b/level"
  profile "$root" sku <<<"$(line /dev/stdout 'sysfs: {"/sys/class/misc/*/level": 1}')"
  run "$railhead" apply --stage early --root "$root"
  [[ $output == *"/sys/class/misc/b/level: the file is a command"* ]]
  [ "$(cat "$root"/sys/class/misc/{a,b}/level)" = $'0\n0' ]
}

@test "a TPM behind another device, and the memory of a PCI function by its netdev" {
  put "$root/sys/devices/pnp0/00:05/tpm/tpm0/ppi/request" 0
  mkdir -p "$root/sys/bus/acpi/devices/MSFT0101:00"
  ln -s ../../../../devices/pnp0/00:05 "$root/sys/bus/acpi/devices/MSFT0101:00/physical_node"
  ln -s tpm/tpm0/ppi "$root/sys/devices/pnp0/00:05/ppi"
  put "$root/sys/devices/pci0000:00/$PF0/resource0" 0
  ln -s ../../../"$PF0" "$root/sys/devices/pci0000:00/$PF0/net/eth0/device"
  profile "$root" sku <<<"$(line /dev/stdout 'sysfs: {"/sys/bus/acpi/devices/MSFT0101:00/physical_node/ppi/request": 5, /sys/class/net/eth0/device/resource0: 1}')"
  run -3 "$railhead" check --root "$root"
  [[ $output == *"(/sys/devices/pnp0/00:05/tpm/tpm0/ppi/request): the files here change the TPM"* ]]
  [[ $output == *"(/sys/devices/pci0000:00/$PF0/resource0): the file is binary data"* ]]
}

@test "a mount point that leads to the system by symbolic links" {
  mkdir -p "$root/usr/sbin"
  ln -s usr/sbin "$root/tools"
  for point in /tools /tools/new; do
    line "$BATS_TEST_TMPDIR/sku.yaml" "mounts: {$point: {type: tmpfs}}"
    run -0 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
    run -3 "$railhead" check --root "$root" "$BATS_TEST_TMPDIR/sku.yaml"
    [[ $output == *"mounts.$point: leads to /usr/sbin${point#/tools} by symbolic links, and the system uses /usr/sbin"* ]]
  done
}

@test "import leaves out what check refuses, with its reason" {
  mkdir -p "$BATS_TEST_TMPDIR/sysctl.d"
  printf '%s\n' 'kernel.core_pattern=|/usr/bin/crash %p' 'kernel.poweroff_cmd=/x' 'vm.swappiness=1' \
    >"$BATS_TEST_TMPDIR/sysctl.d/a.conf"
  run -0 --separate-stderr "$railhead" import "$BATS_TEST_TMPDIR/sysctl.d/a.conf"
  [[ $output == *'vm.swappiness: 1'* ]]
  [[ $output == *'kernel.core_pattern=|/usr/bin/crash %p: '*'the kernel runs the program that this file names, as root'* ]]
  [[ $output == *'kernel.poweroff_cmd=/x: '*'the kernel runs the program'* ]]
  echo 'GRUB_CMDLINE_LINUX="sysctl/kernel.core_pattern=|/x url=http://e/x cc:{a} skew_tick=1"' >"$BATS_TEST_TMPDIR/grub"
  run -0 --separate-stderr "$railhead" import "$BATS_TEST_TMPDIR/grub"
  [[ $output == *'- "skew_tick=1"'* && $(grep -c '^ *- ' <<<"$output") -eq 1 ]]
  [[ $output == *'sysctl/kernel.core_pattern=|/x: '*'the kernel runs the program that this file names'* ]]
  [[ $output == *'url=http://e/x: '*'the node then runs as root what this argument names'* ]]
}
