#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Something fails in a trial of kernel arguments: what becomes of them, over whole boots. Series of
# boots with more turns are in tests/unit/test_boot_health.c, the node's own reboots in the VM.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench
load lib/trials

setup() {
  trial_node
}

# The boot with the old args that is to show what fails without the new ones.
boot_back() {
  boot
  has old=1
  run -9 initrd
  [[ $output == *"its verdict shows which items fail without the new ones"* ]]
}

@test "an item that held before fails in the trial: one boot back shows it, the args are refused, and named" {
  wants new=1
  trial
  put "$width" 8
  gate 7
  [[ $output == *"a reboot with other kernel arguments is due"* ]]
  fault RH-BOOT-ARGS-DIFFER "gate/width/$PF0"
  in_env railhead_result=l
  in_env railhead_try=-
  put "$width" 16
  boot_back
  gate 7
  [[ $output != *"is due"* ]]
  fault RH-BOOT-ARGS-UNFIT "gate/width/$PF0"
  is_in_force old=1

  boot
  run -9 initrd
  gate 7
  fault RH-BOOT-ARGS-UNFIT "Failed in the trial: gate/width/$PF0"
  [ "$(jq -r '[.faults[].code] | unique | join(" ")' "$record")" = RH-BOOT-ARGS-UNFIT ]
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"state      unfit: "*"REFUSED (+new=1 -old=1)"*"gate/width/$PF0"*"apply --retry"* || $output == *"unfit"*"gate/width/$PF0"* ]]
  run -9 "$railhead" kargs --json --root "$root"
  [ "$(jq -r .state <<<"$output")" = unfit ]

  # Mended: --retry arms, and the trial is kept.
  run -8 "$railhead" apply --retry --root "$root"
  boot
  run -0 initrd
  gate 0
  is_in_force new=1
}

@test "a counter of others is armed by then: the node goes back with its next boot, not by itself" {
  wants new=1
  trial
  put "$width" 8
  { printf '# GRUB Environment Block\nboot_counter=2\nboot_success=0\n' && head -c 900 /dev/zero | tr '\0' '#'; } >"$root/boot/grub/grubenv"
  gate 7
  [[ $output == *"railhead does not reboot for other kernel arguments now: "*greenboot* ]]
  [[ $output != *"is due"* ]]
  in_env railhead_result=l
  in_env railhead_try=-
}

@test "a counter of others is armed by then: --retry in the boot of the failed trial arms no other" {
  wants new=1
  trial
  put "$width" 8
  gate 7
  in_env railhead_try=-
  { printf '# GRUB Environment Block\nboot_counter=2\nboot_success=0\n' && head -c 900 /dev/zero | tr '\0' '#'; } >"$root/boot/grub/grubenv"
  run -9 "$railhead" apply --retry --root "$root"
  [[ $output == *"do not get another trial now: greenboot counts"* ]]
  in_env railhead_try=-
  rm "$root/boot/grub/grubenv"
  run -8 "$railhead" apply --retry --root "$root"
  in_env 'railhead_try=[ab]'
}

@test "the budget of reboots is spent by then: the node goes back with its next boot, not by itself" {
  wants new=1
  trial
  put "$width" 8
  put "$root/etc/railhead/reboots" "reboots=5 boot=x"
  gate 7
  [[ $output == *"railhead does not reboot for other kernel arguments now: railhead has made 5 reboots with no verdict in between"* ]]
  [[ $output != *"is due"* ]]
  in_env railhead_result=l
  grep -q '^reboots=5 ' "$root/etc/railhead/reboots"
}

@test "an item that fails without the args, too: tried once more, and kept, in three reboots" {
  wants new=1
  trial
  put "$width" 8
  gate 7
  boot_back
  gate 7
  [[ $output == *"is due"* ]]
  fault RH-BOOT-ARGS-DIFFER "also fail without the new arguments"
  in_env 'railhead_try=[ab]'
  in_env railhead_result=s
  boot
  run -0 initrd
  gate 7
  [[ $output != *"is due"* ]]
  is_in_force new=1
  [ "$(jq -r '[.faults[].code] | join(" ")' "$record")" = RH-NIC-LINK-WIDTH ]
  boot
  run -0 initrd
  is_in_force new=1
}

@test "reboot: false: the boot before the trial has shown what fails, and the operator's next boot is with the old args" {
  mkdir -p "$root/etc/railhead"
  printf 'schema: 1\nreboot: false\n' >"$root/etc/railhead/railhead.conf"
  wants new=1
  boot
  run -0 initrd
  gate 7
  [ -s "$kept/trial-before" ]
  boot
  run -0 initrd
  has new=1
  put "$width" 8
  gate 7
  [[ $output == *"is due"*"reboot: false"* ]]
  fault RH-BOOT-ARGS-UNFIT "gate/width/$PF0/width failed in their trial and held before; the next boot has"
  gate 7 --again
  fault RH-BOOT-ARGS-UNFIT "the next boot has the earlier arguments"
  put "$width" 16
  gate 7 --again
  boot
  has old=1
  run -9 initrd
  gate 7
  fault RH-BOOT-ARGS-UNFIT "gate/width/$PF0"
  is_in_force old=1
}

@test "the power fails between the refusal and the reboot: GRUB has the old args, and it is said why" {
  wants new=1
  trial
  put "$width" 8
  gate 7
  put "$width" 16
  boot_back
  gate 7
  boot
  boot
  run -9 initrd
  gate 7
  fault RH-BOOT-ARGS-UNFIT "gate/width/$PF0"
  is_in_force old=1
}

@test "the refusal can't be written down: no reboot, and GRUB goes back by itself, as from a trial that died" {
  wants new=1
  trial
  put "$width" 8
  run -7 strace -f -o /dev/null -P "$env" -P "${env#"$root"}" -e trace=pwrite64 -e inject=pwrite64:error=EIO "$railhead" gate --root "$root"
  [[ $output != *"is due"* ]]
  fault RH-BOOT-TRIAL-OPEN "Input/output error"
  in_env railhead_try=t
  boot
  has old=1
  run -8 initrd
  [[ $(grub-editenv "$env" list) == *$'\n'"railhead_deaths=1"* ]]
}

@test "what was known of another profile, or is torn, counts for nothing" {
  local text
  for text in "$(printf 'railhead health 1\nprofile 0123\nkernel \nargs 0123456789abcdef\nrefused no\nfailed gate/width/%s\nend 1' $PF0)" torn ""; do
    mkdir -p "$kept"
    put "$kept/trial-before" "$text"
    wants "new=${#text}"
    trial
    put "$width" 8
    gate 7
    in_env railhead_result=l
    put "$width" 16
    boot_back
    gate 7
    fault RH-BOOT-ARGS-UNFIT "gate/width/$PF0"
  done
}

@test "nothing can be kept: refused, and it is said why" {
  wants new=1
  rm -rf "$kept"
  put "$kept" "a file in the place of the directory"
  trial
  put "$width" 8
  gate 7
  fault RH-BOOT-ARGS-UNFIT "railhead can't tell which items fail without these arguments: /var/lib/railhead"
  boot
  run -9 initrd
  gate 7
  fault RH-BOOT-ARGS-UNFIT "held before"
  is_in_force old=1
}

@test "what waits, what is measured, what only warns and what depends on the args: no reason to go back" {
  wants new=1 "    links: {run: carrier, on: nics}
    memory: {run: memory_bandwidth, per: node, min: 1GB/s}
    warned: {run: pcie_link, on: nics, width: 32, on_fail: warn}
    groups: {run: iommu_groups, on: nics}"
  trial
  put "$root/sys/devices/pci0000:00/$PF1/net/eth1/carrier" 0
  bench_value 1e6
  run -7 with_bench "$railhead" gate --root "$root"
  jq -e '[.faults[].code] | any(. == "RH-MEMORY-SLOW" or startswith("RH-MEMORY"))' "$record"
  is_in_force new=1
}

@test "only waiting: kept at the first verdict, as before" {
  wants new=1 "    links: {run: carrier, on: nics}"
  trial
  put "$root/sys/devices/pci0000:00/$PF1/net/eth1/carrier" 0
  gate 7
  jq -e '.verdict == "waiting"' "$record"
  is_in_force new=1
}

@test "an uplink that had a carrier and has none in the trial: refused; one that is dead without them, too: kept" {
  printf 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\neth1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n' >"$root/proc/net-route"
  mkdir -p "$root/proc/net"
  mv "$root/proc/net-route" "$root/proc/net/route"
  gate 0 --again
  [ "$(cat "$kept/uplinks")" = "railhead uplinks 1
$PF1" ]
  before=$(stat -c %y "$kept/uplinks")
  gate 0 --again
  [ "$(stat -c %y "$kept/uplinks")" = "$before" ]
  carrier=$root/sys/devices/pci0000:00/$PF1/net/eth1/carrier

  wants new=1
  trial
  put "$carrier" 0
  gate 7
  fault RH-BOOT-ARGS-DIFFER "uplink/$PF1"
  put "$carrier" 1
  boot_back
  gate 7
  fault RH-BOOT-ARGS-UNFIT "uplink/$PF1"

  wants newer=1
  trial
  put "$carrier" 0
  gate 7
  boot_back
  gate 7
  boot
  run -0 initrd
  gate 0
  is_in_force newer=1
  # It is remembered while its function is there.
  [ "$(stat -c %y "$kept/uplinks")" = "$before" ]
}

@test "a protected set's netdev is a way out, too; with its driver gone the args are refused" {
  put "$root/sys/devices/pci0000:00/$PF1/device" 0x1019
  wants old=1 "" 'mgmt: {pci: "15b3:1019", protect: true}'
  boot
  run -0 initrd
  gate 0
  grep -qx "$PF1" "$kept/uplinks"
  wants new=1 "" 'mgmt: {pci: "15b3:1019", protect: true}'
  trial
  mv "$root/sys/devices/pci0000:00/$PF1/net" "$BATS_TEST_TMPDIR/net"
  gate 7
  fault RH-BOOT-ARGS-DIFFER "uplink/$PF1"
  mv "$BATS_TEST_TMPDIR/net" "$root/sys/devices/pci0000:00/$PF1/net"
  boot_back
  gate 7
  fault RH-BOOT-ARGS-UNFIT "uplink/$PF1"
  is_in_force old=1
}

@test "a list of uplinks that is torn or misspelt is no reason to go back" {
  mkdir -p "$kept"
  printf 'railhead uplinks 1\n0000:ff\n\n../../etc\n' >"$kept/uplinks"
  wants new=1
  trial
  gate 0
  is_in_force new=1
}

@test "a boot that has its args keeps nothing but its line of the history, whatever fails" {
  put "$width" 8
  gate 7 --again
  [ "$(ls "$kept")" = history.json ]
}
