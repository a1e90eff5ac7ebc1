#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# plan, apply, verify over a machine that is a directory tree.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/clock

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  fake_kernel "$root"
  profile "$root" sku <<'Y'
schema: 1
name: sku
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro, product_name: "SYS-821GE-*"}}
devices:
  rails: {pci: "15b3:1021", expect: 2}
expect: {numa_nodes: 2, cpu_sockets: 2, memory: ">=16G"}
hugepages: [{size: 2M, per_node: 4, at: runtime}]
sriov: {rails: {vfs: 2, vf: {driver: netdev}}}
sysctl: {vm.swappiness: 10, net.core.rmem_max: 268435456}
sysfs: {/sys/kernel/mm/transparent_hugepage/enabled: never}
Y
}

teardown() {
  stop_fake_kernel
}

value() { cat "$root/$1"; }

@test "plan says what would change, exits 5, and opens nothing for writing" {
  run -5 strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=openat,openat2,open,creat,rename,mkdir,mkdirat,unlinkat \
    "$railhead" plan --root "$root"
  [[ $output == *"sysctl/vm.swappiness"*"'60' -> '10'"* ]]
  [[ $output == *"sriov/$PF0/numvfs"*"'0' -> '2'"* ]]
  [ -z "$(grep -E 'O_WRONLY|O_RDWR|O_CREAT|rename|mkdir|unlink' "$BATS_TEST_TMPDIR/trace")" ]
  [ ! -e "$root/run/railhead" ]
}

@test "apply sets every value, and a second apply writes none" {
  run "$railhead" apply --root "$root"
  [ "$(value proc/sys/vm/swappiness)" = 10 ]
  [ "$(value proc/sys/net/core/rmem_max)" = 268435456 ]
  [ "$(value sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages)" = 4 ]
  [ "$(value sys/bus/pci/devices/$PF0/sriov_numvfs)" = 2 ]
  [ "$(value sys/bus/pci/devices/$PF1/sriov_numvfs)" = 2 ]
  [ "$(value sys/bus/pci/devices/$PF0/sriov_drivers_autoprobe)" = 1 ]
  [ -L "$root/sys/bus/pci/devices/$PF1/virtfn1/driver" ]
  [ "$status" -eq 0 ]
  find "$root" -path "$root/run/railhead" -prune -o -type f -printf '%p %T@\n' | sort >"$BATS_TEST_TMPDIR/before"
  run -0 strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=openat,openat2,open,creat,fork,vfork,clone,clone3 \
    "$railhead" apply --root "$root"
  [[ $output != *" set"*"failed"* || $output == *" 0 set, 0 failed"* ]]
  [ -z "$(writes_of "$BATS_TEST_TMPDIR/trace")" ]
  [ -z "$(grep -E 'fork|clone' "$BATS_TEST_TMPDIR/trace")" ] # a converged run forks nothing
  find "$root" -path "$root/run/railhead" -prune -o -type f -printf '%p %T@\n' | sort >"$BATS_TEST_TMPDIR/after"
  diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "whatever the umask of a run by hand: all can read what became of it, and the lock is root's" {
  (umask 077 && "$railhead" apply --root "$root")
  [ -e "$root/run/railhead/status.json" ]
  [ "$(find "$root/run/railhead" ! -perm -004 -printf '%m %P\n')" = "600 lock" ]
}

@test "ids of plan on the bare machine are the ids of verify after apply" {
  run -5 "$railhead" plan --json --root "$root"
  jq -r '.changes[].id' <<<"$output" | sort >"$BATS_TEST_TMPDIR/plan"
  "$railhead" apply --root "$root"
  run -0 "$railhead" verify --json --root "$root"
  jq -r '.changes[].id' <<<"$output" | sort >"$BATS_TEST_TMPDIR/verify"
  diff "$BATS_TEST_TMPDIR/plan" "$BATS_TEST_TMPDIR/verify"
  [ "$(sort -u "$BATS_TEST_TMPDIR/plan" | wc -l)" = "$(wc -l <"$BATS_TEST_TMPDIR/plan")" ]
}

@test "converged: plan exits 0 and says so" {
  "$railhead" apply --root "$root"
  run -0 "$railhead" plan --root "$root"
  [[ $output == *"converged"* ]]
}

@test "a numvfs write that never returns: the PF is named, the other PF is done, the run ends" {
  sed -i 's/vfs: 2,/vfs: 2, timeout: 100s,/' "$root/etc/railhead/profiles/sku.yaml"
  chmod +t "$root/sys/bus/pci/devices/$PF0/sriov_numvfs" # blocks for ever: tests/lib/clock.h
  other_done() { [ "$(cat "$root/sys/bus/pci/devices/$PF1/sriov_numvfs") $(count_processes "$railhead" apply --root "$root" --stage devices)" = "2 2" ]; }
  pass_when 103000 other_done
  run -6 on_clock "$railhead" apply --root "$root" --stage devices
  [[ $output == *"sriov/$PF0/numvfs: failed: "*"has not returned from the kernel"* ]]
  [[ $output == *"sriov/$PF0/vf0/driver: failed: not done: sriov/$PF0/numvfs failed"* ]]
  [ "$(value sys/bus/pci/devices/$PF1/sriov_numvfs)" = 2 ]
  [ "$(value sys/bus/pci/devices/$PF0/sriov_drivers_autoprobe)" = 1 ] # the steady value all the same
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: blocked"* ]]
  [[ $output == *"$PF0"* ]]
}

@test "a run killed between autoprobe off and on is repaired by the next" {
  "$railhead" apply --root "$root"
  echo 0 >"$root/sys/bus/pci/devices/$PF0/sriov_drivers_autoprobe"
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"sriov/$PF0/autoprobe "*"'0' -> '1'"* ]]
  [[ $output != *autoprobe_hold* ]]
  run -0 "$railhead" apply --root "$root"
  [ "$(value sys/bus/pci/devices/$PF0/sriov_drivers_autoprobe)" = 1 ]
}

@test "drift is found by verify, with what was found and what is wanted" {
  "$railhead" apply --root "$root"
  echo 33 >"$root/proc/sys/vm/swappiness"
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"differs"*"sysctl/vm.swappiness"*"'33' -> '10'"* ]]
}

@test "more VFs than the PF has: refused with both numbers, the other PF is done" {
  echo 1 >"$root/sys/devices/pci0000:00/$PF0/sriov_totalvfs"
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"sriov/$PF0/numvfs: failed: 2 VFs requested, 1 possible"* ]]
  [ "$(value sys/bus/pci/devices/$PF0/sriov_numvfs)" = 0 ]
  [ "$(value sys/bus/pci/devices/$PF1/sriov_numvfs)" = 2 ]
}

@test "a missing sysctl waits in early, and is an error by name in devices" {
  rm "$root/proc/sys/vm/swappiness"
  run -0 "$railhead" apply --root "$root" --stage early
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"sysctl/vm.swappiness: failed: /proc/sys/vm/swappiness: no such file"* ]]
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: blocked"*"sysctl/vm.swappiness"* ]]
}

@test "seven of eight: a missing function is a fault, never another profile" {
  rm "$root/sys/bus/pci/devices/$PF1"
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"differs"*"devices/rails/expect"*"'1' -> '2'"* ]]
}

@test "a link in the tree that points outside stays inside" {
  echo secret >"$BATS_TEST_TMPDIR/outside"
  rm "$root/proc/sys/vm/swappiness"
  ln -s "$BATS_TEST_TMPDIR/outside" "$root/proc/sys/vm/swappiness"
  run "$railhead" apply --root "$root" --stage early
  [ "$(cat "$BATS_TEST_TMPDIR/outside")" = secret ]
}

@test "vfs: max on a PF without SR-IOV is an error, not zero VFs" {
  rm "$root/sys/devices/pci0000:00/$PF0/sriov_totalvfs"
  sed -i 's/vfs: 2,/vfs: max,/' "$root/etc/railhead/profiles/sku.yaml"
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"sriov/$PF0/numvfs: failed: the PF offers no SR-IOV"* ]]
  [ "$(value sys/bus/pci/devices/$PF1/sriov_numvfs)" = 8 ]
}

# ConnectX-7 as some come from the factory: SRIOV_EN=0 on every card.
@test "no PF offers SR-IOV: a fault of the machine; all else is applied, and the firmware's remedy told" {
  rm "$root"/sys/devices/pci0000:00/*/sriov_* # as without the capability
  run -0 "$railhead" check --root "$root" "$root/etc/railhead/profiles/sku.yaml"
  [[ $output == *"warning: sriov.rails.vfs: $PF0 has no SR-IOV capability"*"$PF1 has no SR-IOV capability"* ]]
  run -0 "$railhead" apply --root "$root" --stage early
  [ "$(value proc/sys/vm/swappiness)" = 10 ]
  run -6 "$railhead" apply --root "$root"
  for pf in "$PF0" "$PF1"; do
    [[ $output == *"sriov/$pf/numvfs: failed: the PF offers no SR-IOV"*"mlxconfig -d $pf set SRIOV_EN=1 NUM_OF_VFS=2"* ]]
  done
  [ "$(value sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages)" = 4 ]
  [ "$(value sys/kernel/mm/transparent_hugepage/enabled)" = never ]
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: blocked"*"numvfs: the PF offers no SR-IOV"*"mlxconfig -d $PF0 set"*"mlxconfig -d $PF1 set"*"RH-NIC-VF-FAILED (site, 2 times)"* ]]
  [[ $output != *invalid* && $output != *autoprobe* ]]
  # none asked for, none missed
  sed -i 's/vfs: 2, vf: {driver: netdev}/vfs: 0/' "$root/etc/railhead/profiles/sku.yaml"
  run -0 "$railhead" apply --root "$root"
}

@test "every PF's firmware has too few VFs: the machine's fault, too" {
  for pf in "$PF0" "$PF1"; do echo 1 >"$root/sys/devices/pci0000:00/$pf/sriov_totalvfs"; done
  run -6 "$railhead" apply --root "$root"
  [[ $output == *"sriov/$PF1/numvfs: failed: 2 VFs requested, 1 possible"*"NUM_OF_VFS=2"* ]]
  [ "$(value proc/sys/vm/swappiness)" = 10 ]
}

@test "a NUMA node lacks a DIMM: its pages are not asked of it, all else is applied, the node is blocked" {
  put "$root/sys/devices/system/node/node0/meminfo" "Node 0 MemTotal:        12582912 kB"
  put "$root/sys/devices/system/node/node1/meminfo" "Node 1 MemTotal:        6144 kB"
  run -0 "$railhead" check --root "$root" "$root/etc/railhead/profiles/sku.yaml"
  [[ $output == *"warning: hugepages: the pages need 8M on NUMA node 1, but this machine has 6M of memory there; check for a missing DIMM"* ]]
  run -5 "$railhead" plan --root "$root"
  run -6 "$railhead" apply --root "$root"
  [[ $output == *"hugepages/2M/node1: failed: the pages need 8M on NUMA node 1, but this machine has 6M"* ]]
  [ "$(value proc/sys/vm/swappiness)" = 10 ]
  [ "$(value sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages)" = 4 ]
  [ "$(value sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages)" = 0 ]
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"blocked"*"hugepages/2M/node1"* && $output != *invalid* ]]
  # none left at all is no less known
  put "$root/sys/devices/system/node/node1/meminfo" "Node 1 MemTotal:        0 kB"
  run -6 "$railhead" apply --root "$root"
  [[ $output == *"the pages need 8M on NUMA node 1, but this machine has 0M of memory there"* ]]
  # pages that are there are no less there
  put "$root/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages" 4
  run -0 "$railhead" apply --root "$root"
}

@test "killed at any write: the next run converges" {
  cp -a "$root" "$BATS_TEST_TMPDIR/pristine"
  for n in 1 2 3 4 6 8 11; do
    stop_fake_kernel
    rm -rf "$root"
    cp -a "$BATS_TEST_TMPDIR/pristine" "$root"
    fake_kernel "$root"
    # the N-th write or rename of a process of the run is its last
    run strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=write,renameat \
      -e inject=write,renameat:signal=SIGKILL:when=$n "$railhead" apply --root "$root"
    grep -q 'killed by SIGKILL' "$BATS_TEST_TMPDIR/trace"
    run -0 "$railhead" apply --root "$root"
    run -0 "$railhead" plan --root "$root"
  done
}

# What was told to others outlives a boot: it is on the disk.
publish_dirs() {
  metrics=$root/var/lib/prometheus/node-exporter
  features=$root/etc/kubernetes/node-feature-discovery/features.d
  mkdir -p "$metrics" "$features"
}

@test "a FIFO in the place of a file for others is not opened, and replaced, as the warning has it" {
  publish_dirs
  "$railhead" apply --root "$root"
  rm "$metrics/railhead.prom"
  mkfifo "$metrics/railhead.prom"
  run -0 "$railhead" gate --root "$root"
  [[ $output == *"/railhead.prom is not a regular file, so nothing was read from it or written to it: put the file back, if railhead has not replaced it"* ]]
  grep -qx "railhead_ready 1" "$metrics/railhead.prom"
}

@test "the boot after a ready one: others are told that it is not ready, and why" {
  publish_dirs
  "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
  grep -qx "railhead_ready 1" "$metrics/railhead.prom"
  grep -qx "railhead.io/ready=true" "$features/railhead"
  put "$root/proc/sys/kernel/random/boot_id" 99999999-2222-3333-4444-555555555555
  rm "$root/etc/railhead/profiles/sku.yaml"
  run -4 "$railhead" apply --root "$root" --stage early
  grep -qx "railhead_ready 0" "$metrics/railhead.prom"
  grep -qx "railhead.io/ready=false" "$features/railhead"
  grep -qx "railhead.io/verdict=none" "$features/railhead"
}

@test "the boot after a ready one: that others are told of it is the first thing written" {
  publish_dirs
  "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
  put "$root/proc/sys/kernel/random/boot_id" 99999999-2222-3333-4444-555555555555
  strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=renameat,renameat2,rename \
    "$railhead" apply --root "$root" --stage early
  # told before the record of this boot is begun
  [[ $(grep -oE '"[^"]*"\) += 0' "$BATS_TEST_TMPDIR/trace" | head -n 2 | tr -d '\n') == \
    '"railhead.prom") = 0"railhead") = 0' ]]
  grep -qx "railhead.io/verdict=waiting" "$features/railhead"
}

@test "a second apply leaves what was told to others alone" {
  publish_dirs
  "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
  find "$metrics" "$features" -printf '%p %i %C@\n' | sort >"$BATS_TEST_TMPDIR/before"
  run -0 "$railhead" apply --root "$root"
  find "$metrics" "$features" -printf '%p %i %C@\n' | sort | diff "$BATS_TEST_TMPDIR/before" -
}

@test "a file for others that can't be written: one sentence names it, and the verdict is as it is" {
  publish_dirs
  mkdir "$features/railhead"
  run -0 --separate-stderr "$railhead" apply --root "$root"
  [ "$(grep -c "features.d/railhead: .*may be out of date" <<<"$stderr")" = 1 ]
  run -0 --separate-stderr "$railhead" gate --root "$root"
  [ "$(grep -c "features.d/railhead: .*may be out of date" <<<"$stderr")" = 1 ]
  [ -e "$root/run/railhead/ready" ]
  grep -qx "railhead_ready 1" "$metrics/railhead.prom"
}
