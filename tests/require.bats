#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# require and optional: what a node must already have, and what a kernel may lack.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
}

want() { # LINES...
  { printf 'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\n'
    printf 'devices: {rails: {pci: "15b3:1021"}}\n'
    printf '%s\n' "$@"; } | profile "$root" sku
}

firmware() { # ADDRESS VERSION
  mkdir -p "$root/sys/bus/pci/devices/$1/infiniband/ib0"
  echo "$2" >"$root/sys/bus/pci/devices/$1/infiniband/ib0/fw_ver"
}

@test "require: kernel, driver and firmware that are new enough are as wanted" {
  mkdir -p "$root/sys/module/mlx5_core" "$root/proc/sys/kernel"
  echo 24.10-1.1.4 >"$root/sys/module/mlx5_core/version"
  echo 6.12.9-generic >"$root/proc/sys/kernel/osrelease"
  firmware "$PF0" 28.39.1002
  firmware "$PF1" 28.40.0950
  want 'require: {kernel: ">=6.9", driver: {mlx5_core: ">=24.10-0.7.0"}, firmware: {rails: ">=28.39.1002"}}'
  run -0 "$railhead" verify --all --root "$root"
  [[ $output == *"require/firmware/rails/$PF1"* ]]
}

@test "require: each one that is too old is named with what is there" {
  mkdir -p "$root/sys/module/mlx5_core" "$root/proc/sys/kernel"
  echo 24.07 >"$root/sys/module/mlx5_core/version"
  echo 6.8.0 >"$root/proc/sys/kernel/osrelease"
  firmware "$PF0" 28.39.1002
  firmware "$PF1" 28.38.1900
  want 'require: {kernel: ">=6.9", driver: {mlx5_core: ">=24.10"}, firmware: {rails: ">=28.39.1002"}}'
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"require/kernel"*"6.8.0"* ]]
  [[ $output == *"require/driver/mlx5_core"*"24.07"* ]]
  [[ $output == *"require/firmware/rails/$PF1"*"28.38.1900"*"flash $PF1"* ]]
  [[ $output == *"3 of "*" differ"* ]]
}

@test "require: a driver that shows no version, one not loaded, no firmware: said so" {
  mkdir -p "$root/sys/module/mlx5_core"
  want 'require: {driver: {mlx5_core: ">=24.10", nvidia: 550.90.07}, firmware: {rails: ">=28"}}'
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"require/driver/mlx5_core"*"the kernel's own"* ]]
  [[ $output == *"require/driver/nvidia"*"not loaded"* ]]
  [[ $output == *"require/firmware/rails/$PF0"*"shows no firmware version"* ]]
}

@test "an option of a module that nothing asks for is listed, and judged once the module is there" {
  want 'modules: {blacklist: [nouveau], options: {nouveau: {modeset: 0}, nfs: {max_session_slots: 180}}}'
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
  jq -e '.skipped == ["modules/options/nouveau/modeset", "modules/options/nfs/max_session_slots"]' "$root/run/railhead/status.json"
  run -0 "$railhead" verify --root "$root"
  [[ $output == *"unsupported"*"modules/options/nfs/max_session_slots"*"takes effect when the module is loaded, which nothing asks for"* ]]
  put "$root/sys/module/nfs/parameters/max_session_slots" 64
  run -7 "$railhead" gate --again --root "$root"
  [[ $output == *"modules/options/nfs/max_session_slots: found '64', expected '180'"* ]]
}

@test "... but an option of a module that the profile or a set needs must be in force" {
  rm "$root/sys/devices/pci0000:00/$PF1/driver" # any network driver may come
  strict() { # MODULE LINES...
    want "${@:2}"
    run -5 "$railhead" verify --root "$root"
    [[ $output == *"waits"*"modules/options/$1/a"*"takes effect when the module is loaded"$'\n'* ]]
  }
  strict nfs 'modules: {load: [nfs], options: {nfs: {a: 1}}}'
  strict nfs 'modules: {options: {nfs: {a: 1}}}' 'require: {driver: {nfs: 4}}'
  strict mlx5-ib 'modules: {options: {mlx5-ib: {a: 1}}}'
  strict bnxt_en 'modules: {options: {bnxt_en: {a: 1}}}'
  want 'modules: {load: [{name: nfs, optional: true}], options: {nfs: {a: 1}}}'
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
  want 'modules: {blacklist: [bnxt_en], options: {bnxt_en: {a: 1}}}'
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" gate --root "$root"
}

@test "a file that the kernel lacks: an error; forgiven where it is optional and its name is known" {
  want 'sysctl: {vm.compaction_proactiveness: 1}'
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"sysctl/vm.compaction_proactiveness"*"no such file"* ]]
  want 'sysctl: {vm.compaction_proactiveness: {value: 1, optional: true}}'
  run -0 "$railhead" verify --root "$root"
  [[ $output == *"unsupported"*"sysctl/vm.compaction_proactiveness"* ]]
  [[ $output != *"all "*" as wanted"* ]]
}

@test "... but not where the name is misspelt, nor a value that the kernel rejects" {
  mkdir -p "$root/sys/class/net/eth0"
  for line in 'sysctl: {vm.compaction_proactivenes: {value: 1, optional: true}}' \
    'sysfs: {/sys/class/net/eth0/thraeded: {value: 1, optional: true}}' \
    'sysfs: {"/sys/class/net/eth0/queues/rx-*/rps_cpu": {value: 1, optional: true}}'; do
    want "$line"
    run -5 "$railhead" verify --root "$root"
    [[ $output == *"failed"*"no kernel has a file of this name, so optional does not apply; is it misspelt?"* ]]
    run -6 "$railhead" apply --root "$root"
    run -7 "$railhead" gate --root "$root"
  done
  # below a device that is not there all may be missing
  want 'sysfs: {/sys/class/net/eth7/thraeded: {value: 1, optional: true}}'
  run -0 "$railhead" verify --root "$root"
}

@test "unsupported: is gone, and its successor is named" {
  want 'unsupported: skip' 'sysctl: {vm.swappiness: 1}'
  run -3 "$railhead" verify --root "$root"
  [[ $output == *"sku.yaml:5:1: unsupported: unknown key; write optional: true, or a list of keys, in the set"* ]]
}

@test "the verdict lists what was skipped, and verify does not say that all is as wanted" {
  want 'sysctl: {vm.compaction_proactiveness: {value: 1, optional: true}, vm.page_lock_unfairness: {value: 1, optional: true}}'
  run -0 "$railhead" gate --root "$root"
  run -0 "$railhead" status --root "$root"
  [[ $output == *"verdict: ready"*$'\n'"without: sysctl: vm.compaction_proactiveness, vm.page_lock_unfairness"$'\n'* ]]
  run -0 "$railhead" status --json --root "$root"
  jq -e '.skipped == ["sysctl/vm.compaction_proactiveness", "sysctl/vm.page_lock_unfairness"]' <<<"$output"
  mkdir -p "$root/proc/sys/vm"
  echo 1 >"$root/proc/sys/vm/compaction_proactiveness"
  echo 1 >"$root/proc/sys/vm/page_lock_unfairness"
  run -0 "$railhead" gate --again --root "$root"
  run -0 "$railhead" status --root "$root"
  [[ $output != *without:* ]]
}
