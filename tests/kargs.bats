#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel arguments over a tree: what is written, where, and that it is written once.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/clock

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
kernel_args: {iommu: passthrough, set: [transparent_hugepage=never]}
hugepages: [{size: 1G, per_node: 2, at: boot, default: true}]
Y
  # what update-grub makes of the snippet and the variable
  mkdir -p "$root/boot/grub"
  sed -e '/-x .usr.sbin.railhead/d' "$BATS_TEST_DIRNAME/../build/05_railhead" | sh >"$root/boot/grub/grub.cfg"
  # shellcheck disable=SC2016 # GRUB's variable
  echo 'linux /vmlinuz root=/dev/vda2 ro $railhead_kargs' >>"$root/boot/grub/grub.cfg"
  env=$root/boot/grub/railhead.env
}

extra=$(sed -n 's/^#define ENV_TRIAL_EXTRA "\(.*\)"/\1/p' "$BATS_TEST_DIRNAME/../src/kargs/env_layout.h")
wanted="intel_iommu=on iommu=pt transparent_hugepage=never default_hugepagesz=1G hugepagesz=1G hugepages=0:2,1:2"

@test "kargs --reset makes a file of 4096 bytes that GRUB's editor reads" {
  run -0 "$railhead" kargs --reset --root "$root"
  [ "$(stat -c %s "$env")" = 4096 ]
  head -n 1 "$env" | grep -qx '# GRUB Environment Block'
  grub-editenv "$env" list | grep -qx railhead_try=-
}

@test "the gate arms a trial in place: same inode, the other slot, exit 8" {
  "$railhead" kargs --reset --root "$root"
  inode=$(stat -c %i "$env")
  run -8 "$railhead" gate --root "$root"
  [ "$(stat -c %i "$env")" = "$inode" ]
  [ "$(stat -c %s "$env")" = 4096 ]
  grub-editenv "$env" list >"$BATS_TEST_TMPDIR/list"
  grep -qx railhead_good=a "$BATS_TEST_TMPDIR/list"
  grep -qx railhead_try=b "$BATS_TEST_TMPDIR/list"
  grep -qE "^railhead_b=$wanted *$" "$BATS_TEST_TMPDIR/list"
}

@test "a second gate does not write the file, and says again that a reboot is due" {
  "$railhead" kargs --reset --root "$root"
  run -8 "$railhead" gate --root "$root"
  before=$(stat -c '%y %i' "$env")
  run -8 strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=openat,openat2,pwrite64 "$railhead" gate --again --root "$root"
  [ "$(stat -c '%y %i' "$env")" = "$before" ]
  ! writes_of "$BATS_TEST_TMPDIR/trace" | grep railhead.env
}

@test "the args in force and committed: plan is converged" {
  "$railhead" kargs --reset --root "$root"
  run -8 "$railhead" gate --root "$root"
  # what GRUB does on the trial boot
  grub-editenv "$env" set railhead_try=t
  echo "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro railhead.trial=b $extra $wanted railhead.slot=b" >"$root/proc/cmdline"
  echo 22222222-2222-3333-4444-555555555555 >"$root/proc/sys/kernel/random/boot_id"
  for n in 0 1; do echo 2 >"$root/sys/devices/system/node/node$n/hugepages/hugepages-1048576kB/nr_hugepages"; done
  run -0 "$railhead" gate --root "$root"
  [[ $output == *"verdict: ready"* ]]
  grub-editenv "$env" list | grep -qx railhead_good=b
  run -0 "$railhead" plan --root "$root"
  [[ $output == *converged* ]]
}

@test "args that did not arrive: named, no second write, blocked" {
  "$railhead" kargs --reset --root "$root"
  run -8 "$railhead" gate --root "$root"
  "$railhead" apply --settled stop --root "$root" # as an orderly shutdown does
  echo 22222222-2222-3333-4444-555555555555 >"$root/proc/sys/kernel/random/boot_id"
  before=$(stat -c '%y' "$env")
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"did not arrive"*"railhead.slot="* ]]
  [ "$(stat -c '%y' "$env")" = "$before" ]
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: blocked"* ]]
}

@test "a damaged railhead.env is named with the remedy; where the args are in force it is made again" {
  "$railhead" kargs --reset --root "$root"
  truncate -s 1000 "$env"
  before=$(sha256sum "$env")
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"1000 bytes long instead of 4096"*"railhead kargs --reset"* ]]
  [ "$(sha256sum "$env")" = "$before" ]
  echo "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro $wanted" >"$root/proc/cmdline"
  for n in 0 1; do echo 2 >"$root/sys/devices/system/node/node$n/hugepages/hugepages-1048576kB/nr_hugepages"; done
  run -0 "$railhead" gate --root "$root"
  [ "$(stat -c %s "$env")" = 4096 ]
  grub-editenv "$env" list | grep -q '^railhead_try=-$'
  grub-editenv "$env" list | grep -qE "=$wanted *$"
}

@test "a link, a directory and a pipe in the place of railhead.env are damage, with the remedy that works" {
  local what
  for what in 'ln -s /etc/passwd' mkdir mkfifo; do
    rm -rf "$env"
    $what "$env"
    run -7 "$railhead" gate --root "$root"
    [[ $output == *"railhead.env is damaged: it is "*"railhead kargs --reset"* ]]
    jq -e '.faults[0].code == "RH-BOOT-ENV-DAMAGED"' "$root/run/railhead/status.json"
    if [ -d "$env" ]; then
      [[ $output == *"somebody must remove first"* ]]
      rmdir "$env"
    fi
    "$railhead" kargs --reset --root "$root"
    [ -f "$env" ] && [ ! -L "$env" ]
    [ "$(stat -c %s "$env")" = 4096 ]
  done
}

@test "a directory in the place of a record: no reboot, and the first reason says to remove it" {
  local name
  for name in kernel-args trial-end; do
    mkdir -p "$root/var/lib/railhead/$name"
    run -7 "$railhead" gate --root "$root"
    [[ ${lines[*]} == *"verdict: blocked"*"/var/lib/railhead/$name is no regular file; remove it"* ]]
    [[ $output != *"is due"* && $output != *RH-BOOT-ARGS-DIFFER* ]]
    [ ! -e "$env" ] || ! grub-editenv "$env" list | grep '^railhead_try=[ab]$' || false
    rmdir "$root/var/lib/railhead/$name"
  done
  run -8 "$railhead" gate --root "$root"
}

@test "arguments typed in GRUB's menu become good at a verdict that holds, not before" {
  echo "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro $wanted" >"$root/proc/cmdline"
  for n in 0 1; do echo 2 >"$root/sys/devices/system/node/node$n/hugepages/hugepages-1048576kB/nr_hugepages"; done
  echo 'sysctl: {vm.swappiness: 10}' >>"$root/etc/railhead/profiles/sku.yaml"
  put "$root/proc/sys/vm/swappiness" 60
  run -7 "$railhead" gate --root "$root"
  [ ! -e "$env" ] || ! grub-editenv "$env" list | grep "^railhead_[ab]=." || false
  put "$root/proc/sys/vm/swappiness" 10
  run -0 "$railhead" plan --root "$root"
  run -5 "$railhead" kargs --root "$root"
  [[ $output == *"at a verdict that a trial would pass"* ]]
  run -0 "$railhead" gate --again --root "$root"
  grub-editenv "$env" list | grep -qE "^railhead_[ab]=$wanted *$"
}

@test "an empty railhead.env, as a power cut leaves it on vfat, is made anew" {
  "$railhead" kargs --reset --root "$root"
  truncate -s 0 "$env"
  run -8 "$railhead" gate --root "$root"
  [ "$(stat -c %s "$env")" = 4096 ]
  grub-editenv "$env" list | grep -q '^railhead_try=[ab]$'
}

@test "GRUB without our snippet: nothing is written, the reason says update-grub" {
  echo 'linux /vmlinuz root=/dev/vda2 ro' >"$root/boot/grub/grub.cfg"
  run "$railhead" gate --root "$root"
  [ ! -e "$env" ]
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"update-grub"* ]]
}

@test "pages that landed on another node are a named failure" {
  echo "ro $wanted" >"$root/proc/cmdline"
  echo 1 >"$root/sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages"
  echo 3 >"$root/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages"
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"differs"*"hugepages/1G/node0"*"'1' -> '2'"* ]]
  [[ $output == *"node0=1 node1=3"* ]]
}

@test "kargs --reset and --mend wait for the railhead that is at work, and leave all as it is" {
  local option
  "$railhead" kargs --reset --root "$root"
  sum=$(sha256sum "$env")
  mkfifo "$BATS_TEST_TMPDIR/held" "$BATS_TEST_TMPDIR/until"
  mkdir -p "$root/run/railhead"
  python3 -c 'import fcntl, os, sys, time
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
lock.write("4242")
lock.flush()
open(sys.argv[2], "w").close()
sys.stdin.read()' "$root/run/railhead/lock" "$BATS_TEST_TMPDIR/held" >/dev/null <"$BATS_TEST_TMPDIR/until" 3>&- &
  holder=$!
  exec 9>"$BATS_TEST_TMPDIR/until" # it ends with the test
  read -r <"$BATS_TEST_TMPDIR/held" || :
  for option in --reset --mend "--mend --undo"; do
    # shellcheck disable=SC2086 # words
    on_standing_clock "$railhead" kargs $option --root "$root" >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
    eventually sleeps $!
    pass 10000
    status=0
    wait $! || status=$?
    [ "$status" -eq 1 ]
    output=$(<"$BATS_TEST_TMPDIR/said")
    [[ $output == *"another railhead is at work (pid 4242)"* ]]
  done
  kill "$holder"
  [ "$(sha256sum "$env")" = "$sum" ]
  run -0 "$railhead" kargs --reset --root "$root"
}

@test "kargs --reset and --mend report that their output can't be written" {
  local option
  for option in --reset --mend; do
    run -1 bash -c '"$1" kargs "$2" --root "$3" >/dev/full' - "$railhead" $option "$root"
    [[ $output == *"standard output: "* ]]
  done
}

@test "a unified kernel image: blocked with the remedy, no file is named, nothing is written" {
  mkdir -p "$root/sys/firmware/efi/efivars"
  printf '\6\0\0\0s y s t e m d - s t u b ' | tr ' ' '\0' \
    >"$root/sys/firmware/efi/efivars/StubInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
  run -9 "$railhead" kargs --root "$root"
  [[ $output == *"a unified kernel image, which contains the command line, booted this machine ("*"): build the image again"*"kargs --format=line"* ]]
  [[ $output == *"Wanted: $wanted"* ]]
  grep -qxE 'file +\(none\)' <<<"$output"
  run -9 "$railhead" kargs --json --root "$root"
  jq -e 'has("file") | not' <<<"$output"
  run -0 "$railhead" apply --root "$root"
  [ ! -e "$env" ]
}

@test "no NUMA node has any of the pages: their arguments came to nothing, and no memory is short" {
  "$railhead" kargs --reset --root "$root"
  run -8 "$railhead" gate --root "$root"
  grub-editenv "$env" set railhead_try=t
  echo "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro railhead.trial=b $extra $wanted railhead.slot=b" >"$root/proc/cmdline"
  run ! "$railhead" verify --root "$root"
  [[ $output == *"node 0 has 0 pages, expected 2 (now node0=0 node1=0); no NUMA node has any: Linux before 5.16 "*"at: runtime"* ]]
  # One node has its pages: the other is short.
  echo 2 >"$root/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages"
  run ! "$railhead" verify --root "$root"
  [[ $output == *"node 0 has 0 pages, expected 2 (now node0=0 node1=2); the kernel moves a shortage"* ]]
}
