#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What a run on a converged node may cost, counted in system calls: these bounds hold on any
# machine, however slow. tests/bench/converged has the whole table.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/largenode
load lib/trials

setup() {
  root=$BATS_TEST_TMPDIR/root
  summary=$BATS_TEST_TMPDIR/summary
}

teardown() {
  stop_fake_kernel
}

calls_of() { # NAMES, a pattern
  awk -v names="^($1)\$" '$NF ~ names { n += $4 } END { print n + 0 }' "$summary"
}

opens() { calls_of 'open|openat|openat2'; }

functions() { find "$root/sys/bus/pci/devices" -type l | wc -l; }

changes() { "$railhead" plan --json --root "$root" | jq '.changes | length'; }

# Counts the calls of a verb that finds everything as wanted.
count() { # VERB...
  run -0 strace -f -c -o "$summary" "$railhead" "$@" --root "$root"
  [ "$(calls_of 'fork|vfork|clone|clone3')" -eq 0 ]
  [ "$(calls_of 'total')" -gt 100 ] # the summary could be read
}

# Counts the calls of a second apply, which is converged.
converged_apply() { # VFS-PER-PF
  fake_node "$root"
  sriov_profile "$root" "$1"
  fake_kernel "$root"
  run -0 "$railhead" apply --root "$root"
  count apply
}

@test "a converged apply forks nothing and opens fewer than 10 files for each change" {
  converged_apply 2
  echo "$(opens) opens for $(changes) changes"
  [ "$(opens)" -lt $((10 * $(changes))) ]
}

# How often a run looked at the functions.
surveys() {
  run -0 strace -f -e trace=openat2 -o "$summary" "$railhead" apply --root "$root"
  echo $(($(grep -c '"modalias"' "$summary") / $(functions)))
}

@test "stages share a survey until one of them sets anything" {
  fake_node "$root"
  sriov_profile "$root" 0
  [ "$(surveys)" -eq 3 ] # initrd sets huge pages, early sysctls
  [ "$(surveys)" -eq 1 ]
  echo 60 >"$root/proc/sys/vm/swappiness"
  [ "$(surveys)" -eq 2 ]
}

@test "each profile of another machine is read once, without its bases" {
  fake_node "$root"
  sriov_profile "$root" 0
  mkdir -p "$root/usr/lib/railhead/profiles"
  cp "$BATS_TEST_DIRNAME"/../profiles/*.yaml "$root/usr/lib/railhead/profiles"
  run -0 strace -e trace=openat2 -o "$summary" "$railhead" match --root "$root"
  files=$(grep -v O_PATH "$summary" | grep -o '"[^"]*lib/railhead/profiles/[^"]*yaml"')
  [ "$(wc -l <<<"$files")" -ge 20 ]
  sort <<<"$files" | uniq -d | diff /dev/null -
}

@test "one more VF costs fewer than 15 opens of a converged apply" {
  converged_apply 2
  few=$(opens)
  stop_fake_kernel
  rm -rf "$root"
  converged_apply 6
  echo "$few opens with 4 VFs, $(opens) with 12"
  [ "$(opens)" -gt "$few" ]
  [ $(($(opens) - few)) -lt $((15 * 8)) ]
}

# Without CAP_SYS_ADMIN there is no copy of the tree's mount on which the kernel opens no device:
# each file that is opened is looked at.
looks() {
  local cap
  cap=$(sed -n 's/^CapEff:\t/0x/p' /proc/self/status)
  [ $((cap >> 21 & 1)) = 1 ] && echo 0 || opens
}

frugal() { # MOST
  echo "$(calls_of total) calls, $(opens) of them opens, for $functions functions"
  [ "$functions" -ge 256 ]
  [ "$(calls_of 'fork|vfork|clone|clone3')" -eq 0 ]
  [ "$(calls_of 'fcntl')" -le 2 ] # none by opendir(3), which has three
  [ "$(calls_of total)" -lt $(($1 * functions + $(looks))) ]
}

@test "a large node: plan, verify and a second apply make at most 16 calls for each PCI function" {
  large_node "$root"
  sriov_profile "$root" 4
  functions=$(functions)
  run -5 strace -f -c -o "$summary" "$railhead" plan --root "$root"
  frugal 15
  fake_kernel "$root"
  run -0 "$railhead" apply --root "$root"
  functions=$(functions)
  [ "$functions" -eq 288 ] # with their VFs
  count verify
  frugal 16
  count apply
  frugal 16
}

@test "a setting as wanted costs its open, its read and its close, and 55 of them 6 calls each" {
  local record=8 # verify and plan read the record of the boot, too
  settings_node "$root" 40
  count verify
  echo "verify: $(calls_of total)"
  [ "$(calls_of total)" -lt $((6 * 55 + record + $(looks))) ]
  count apply --stage early
  echo "apply: $(calls_of total)"
  [ "$(calls_of total)" -lt $((8 * 55 + $(looks))) ]
  count plan --stage early
  [ "$(calls_of total)" -lt $((6 * 55 + record + $(looks))) ]
  reads=$(calls_of pread64) all=$(($(calls_of total) - $(looks)))
  settings_node "$root" 140
  count plan --stage early
  echo "$reads reads of $all calls for 55 settings, $(calls_of pread64) of $(calls_of total) for 155"
  [ "$(calls_of pread64)" -ge $((reads + 100)) ] # each of them was read
  [ "$(calls_of total)" -lt $((all + 3 * 100 + 20 + $(looks))) ] # and what the longer profile costs
}

@test "a boot that has its kernel arguments opens railhead.env in the gate alone, and writes nothing to it" {
  local stage
  trial_node
  for stage in initrd early devices; do
    strace -f -o "$BATS_TEST_TMPDIR/$stage" -P "$env" -P "${env#"$root"}" "$railhead" apply --stage "$stage" --root "$root" || :
  done
  strace -f -o "$BATS_TEST_TMPDIR/gate" -P "$env" -P "${env#"$root"}" "$railhead" gate --root "$root"
  cd "$BATS_TEST_TMPDIR"
  grep -qE 'read(64)?\(' gate # the trace could be read
  run -1 grep -hE '\(' initrd early devices
  run -1 grep -hoE 'p?write[v0-9]*\(.*|f(data)?sync\(.*' gate
}

# In an initramfs nobody has seeded the kernel's random numbers yet: who asks for them waits, or
# makes the kernel gather them, for up to a second.
@test "no run waits for the kernel's random numbers" {
  fake_node "$root"
  sriov_profile "$root" 2
  fake_kernel "$root"
  run -0 strace -f -e trace=getrandom,open,openat -o "$summary" "$railhead" apply --root "$root"
  [ -s "$root/run/railhead/status.json" ] # JSON was made
  run -1 grep -E '/dev/u?random|getrandom\(.*, 0\)' "$summary"
}
