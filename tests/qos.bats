#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# qos on a machine of each vendor: the plans in fixtures/qos are the golden ones, GOLDEN=1
# writes them anew (read the diff). And on simnode, which has DOCA-OFED's files with their
# faults: what is written is read again.

bats_require_minimum_version 1.5.0
load lib/simnode

here=$BATS_TEST_DIRNAME
fixtures=$here/fixtures/qos

setup_file() {
  sim_need
  sim_tree "$BATS_FILE_TMPDIR/pristine"
  "$BATS_TEST_DIRNAME/lib/machine" "$BATS_FILE_TMPDIR/vendors" "$BATS_TEST_DIRNAME"/fixtures/qos/*.toml
}

setup() {
  sim=$BATS_TEST_TMPDIR
}

teardown() {
  sim_stop
}

# --- plans ------------------------------------------------------------------------------------

planned() { # VENDOR
  "$railhead" plan --all --root "$BATS_FILE_TMPDIR/vendors/$1" --profile "$fixtures/roce.yaml" || [ $? -eq 5 ]
}

@test "the plan of each vendor's RoCE section is the golden one" {
  for toml in "$fixtures"/*.toml; do
    name=$(basename "$toml" .toml)
    planned "$name" >"$BATS_TEST_TMPDIR/$name.txt"
    [ -z "${GOLDEN:-}" ] || cp "$BATS_TEST_TMPDIR/$name.txt" "$fixtures/$name.txt"
    diff -u "$fixtures/$name.txt" "$BATS_TEST_TMPDIR/$name.txt"
  done
}

@test "a plan changes nothing of a tree, nodes of configfs included" {
  for toml in "$fixtures"/*.toml; do
    name=$(basename "$toml" .toml)
    (cd "$BATS_FILE_TMPDIR/vendors/$name" && find . | sort) >"$BATS_TEST_TMPDIR/before"
    run -5 "$railhead" plan --root "$BATS_FILE_TMPDIR/vendors/$name" --profile "$fixtures/roce.yaml"
    (cd "$BATS_FILE_TMPDIR/vendors/$name" && find . | sort) | diff "$BATS_TEST_TMPDIR/before" -
  done
}

# --- simnode: the files of DOCA-OFED ----------------------------------------------------------

node() {
  cp -a "$BATS_FILE_TMPDIR/pristine/node" "$sim/node"
}

ecn() { echo "$root/sys/class/net/enp24s0/ecn/$1"; } # of the first PF

# A write by printf: the shell's own message is "... write error: REASON".
write() { printf '%s\n' "$2" >"$1"; } # FILE TEXT

refused() { # FILE TEXT
  run -1 write "$1" "$2"
  [[ $output == *"Invalid argument"* ]]
}

@test "simnode: enable takes the lowest bit of a number, and nothing that is none" {
  node
  sim_start </dev/null
  write "$(ecn roce_np/enable/3)" 2
  [ "$(cat "$(ecn roce_np/enable/3)")" = 0 ]
  write "$(ecn roce_np/enable/3)" 3
  [ "$(cat "$(ecn roce_np/enable/3)")" = 1 ]
  refused "$(ecn roce_np/enable/3)" on
  refused "$(ecn roce_np/cnp_dscp)" 64
  refused "$(ecn roce_np/cnp_dscp)" x
  refused "$(ecn roce_rp/rpg_gd)" 12
  write "$(ecn roce_rp/rpg_threshold)" "" # who looks whether it is a number?
  [ "$(cat "$(ecn roce_rp/rpg_threshold)")" = -1430532899 ]
  [ ! -e "$root/sys/class/net/enp24s0/qos/trust" ]
}

@test "simnode: the traffic class is a number with or without its name, and reads as a sentence" {
  local file
  node
  sim_start </dev/null
  file=$root/sys/class/infiniband/mlx5_0/tc/1/traffic_class
  [ -z "$(cat "$file")" ]
  write "$file" 106
  [ "$(cat "$file")" = "Global tclass=106" ]
  write "$file" tclass=8
  [ "$(cat "$file")" = "Global tclass=8" ]
  write "$file" -1
  [ -z "$(cat "$file")" ]
  refused "$file" 256
  refused "$file" dscp
}

@test "simnode: ignore, store and empty are for what can do so" {
  for line in "at /sys/*/sriov_numvfs write ignore" "at /sys/*/ecn/* read ignore" \
    "at /sys/*/ecn/* write empty" "at /sys/*/ecn/* write store"; do
    run -1 "$simnode" --script <(echo "$line") "$BATS_FILE_TMPDIR/pristine/node" "$BATS_TEST_TMPDIR"
    [[ $output == *"only"* || $output == *"which number"* ]]
  done
}

# --- railhead on it ----------------------------------------------------------------------------

dcqcn() {
  node
  sim_profile <<'Y'
qos:
  rails:
    traffic_class: 106
    dcqcn: {priorities: [3], np: {cnp_dscp: 4, min_time_between_cnps: 4us}, rp: {rpg_ai_rate: 80Mb/s}}
Y
}

apply() { "$railhead" apply --root "$root" --stage devices; }

@test "all is written once, in the driver's units, and found by the next run" {
  dcqcn
  sim_start </dev/null
  run -0 apply
  for i in 24 58 78 93 154 188 204 219; do
    [ "$(cat "$root/sys/class/net/enp${i}s0/ecn/roce_np/cnp_dscp")" = 4 ]
    [ "$(cat "$root/sys/class/net/enp${i}s0/ecn/roce_np/min_time_between_cnps")" = 4 ]
    [ "$(cat "$root/sys/class/net/enp${i}s0/ecn/roce_rp/rpg_ai_rate")" = 80 ]
    [ "$(cat "$root/sys/class/net/enp${i}s0"/ecn/roce_*/enable/* | xargs)" = "0 0 0 1 0 0 0 0 0 0 0 1 0 0 0 0" ]
  done
  [ "$(cat "$root"/sys/class/infiniband/*/tc/1/traffic_class | sort -u)" = "Global tclass=106" ]
  # parameters before what they are parameters of, per function
  sim_writes | grep -oE "0000:18:00.0/.*(ecn|tc)/.*" | grep -oE '(cnp_dscp|rpg_ai_rate|enable|traffic_class)' | uniq | xargs >"$sim/order"
  grep -qx "cnp_dscp rpg_ai_rate enable traffic_class" <(sed 's/cnp_dscp cnp_dscp/cnp_dscp/g' "$sim/order") || {
    cat "$sim/order"
    false
  }
  before=$(sim_writes | wc -l)
  run -0 apply
  [ "$(sim_writes | wc -l)" = "$before" ]
  run -0 "$railhead" verify --root "$root" --stage devices
}

@test "each parameter goes to the file that has it, in DOCA-OFED's sysfs as in debugfs" {
  for vendor in mlx5-ofed mlx5-upstream; do
    cp -a "$BATS_FILE_TMPDIR/vendors/$vendor" "$sim/node"
    sim_start </dev/null
    run -0 "$railhead" apply --root "$root" --profile "$fixtures/roce.yaml" --stage devices
    run -5 "$railhead" plan --root "$root" --profile "$fixtures/roce.yaml" --stage devices
    [ "$(grep -cE '^ +differs +[^ ]*/dcqcn/' <<<"$output")" = 0 ]
    sim_stop
    (cd "$sim/node/sys" && grep -rE . kernel/debug/mlx5 class/net/*/ecn/roce_np/[cm]* class/net/*/ecn/roce_rp/[cdir]* 2>/dev/null) |
      sed 's|.*/||' | sort >"$sim/$vendor"
    rm -rf "$sim/node"
  done
  # the names differ, the values do not: upstream has a mode besides
  grep -v np_cnp_prio_mode "$sim/mlx5-upstream" | sed 's/.*://' | sort | diff <(sed 's/.*://' "$sim/mlx5-ofed" | sort) -
  [ "$(wc -l <"$sim/mlx5-ofed")" = 19 ]
  grep -qx rpg_max_rate:200000 "$sim/mlx5-ofed"
  grep -qx rp_max_rate:200000 "$sim/mlx5-upstream"
}

@test "bnxt is told which priority is RoCE's, where there is one" {
  sed 's/pfc: .*/pfc: [3]/' "$fixtures/roce.yaml" >"$sim/roce.yaml"
  run -5 "$railhead" plan --root "$BATS_FILE_TMPDIR/vendors/bnxt" --profile "$sim/roce.yaml"
  [[ $output == *"qos/0000:18:00.0/roce_priority "*"'unknown' -> '3'"* ]]
  run -5 "$railhead" plan --root "$BATS_FILE_TMPDIR/vendors/mlx5-ofed" --profile "$sim/roce.yaml"
  [[ $output != *roce_priority* ]]
}

@test "a value that the firmware silently does not store is found" {
  dcqcn
  sim_start <<<"at /sys/bus/pci/devices/0000:18:00.0/net/*/ecn/roce_np/cnp_dscp write ignore"
  run -6 apply
  [[ $output == *"qos/0000:18:00.0/dcqcn/np/cnp_dscp: failed: "*"cnp_dscp: 4 was accepted but reads back 48"* ]]
  [ "$(grep -c ': failed' <<<"$output")" = 1 ]
}

@test "a value that the firmware makes another is found, a priority that stays on too" {
  dcqcn
  sim_start <<'S'
at /sys/bus/pci/devices/0000:18:00.0/net/*/ecn/roce_rp/rpg_ai_rate write store 16
at /sys/bus/pci/devices/0000:3a:00.0/net/*/ecn/roce_np/enable/5 write ignore
at /sys/bus/pci/devices/0000:4e:00.0/*/traffic_class write ignore
S
  run -6 apply
  [[ $output == *"rpg_ai_rate: 80 was accepted but reads back 16"* ]]
  [[ $output == *"qos/0000:3a:00.0/dcqcn/priorities: failed: "*"enable/5: 0 was accepted but reads back 1"* ]]
  [[ $output == *"qos/0000:4e:00.0/traffic_class: failed: was set, but reads back 'unset'"* ]]
  [ "$(grep -c ': failed' <<<"$output")" = 3 ]
}

@test "a value that the firmware refuses is told with its own word" {
  dcqcn
  sim_start <<<"at /sys/bus/pci/devices/0000:18:00.0/*/roce_np/cnp_dscp write error EINVAL"
  run -6 apply
  [[ $output == *"qos/0000:18:00.0/dcqcn/np/cnp_dscp: failed: the driver or its firmware rejects the value: "*"writing '4': Invalid argument"* ]]
  [ "$(grep -c ': failed' <<<"$output")" = 1 ]
}

@test "a query that the firmware fails reads empty: nothing is written, and it is named" {
  dcqcn
  sim_start <<'S'
at /sys/bus/pci/devices/0000:18:00.0/*/roce_np/cnp_dscp read empty
at /sys/bus/pci/devices/0000:3a:00.0/*/roce_rp/enable/0 read after 2 empty
S
  run -6 apply
  [[ $output == *"qos/0000:18:00.0/dcqcn/np/cnp_dscp: failed: "*"cnp_dscp reads empty: the firmware failed the driver's query"* ]]
  [[ $output == *"qos/0000:3a:00.0/dcqcn/priorities: failed: "*"enable/0 reads empty"* ]]
  [ "$(grep -c ': failed' <<<"$output")" = 2 ]
  [ -z "$(sim_writes | grep 0000:18:00.0 | grep cnp_dscp)" ]
}

@test "debugfs of a kernel that is locked down is no mystery" {
  cp -a "$BATS_FILE_TMPDIR/vendors/mlx5-upstream" "$sim/node"
  mkdir -p "$sim/node/sys/kernel/security"
  echo "none [integrity] confidentiality" >"$sim/node/sys/kernel/security/lockdown"
  sim_start <<<"at /sys/kernel/debug/* read error EPERM"
  run -5 "$railhead" plan --root "$root" --profile "$fixtures/roce.yaml"
  [[ $output == *"unsupported qos/0000:18:00.0/dcqcn/np/cnp_dscp "*"np_cnp_dscp: this kernel is locked down (Secure Boot), which closes debugfs to root too; install DOCA-OFED"* ]]
}

@test "debugfs takes parameters, and the priority of notifications makes its mode" {
  cp -a "$BATS_FILE_TMPDIR/vendors/mlx5-upstream" "$sim/node"
  sim_start </dev/null
  echo 1 >"$root/sys/kernel/debug/mlx5/0000:18:00.0/cc_params/np_cnp_prio_mode"
  run -5 "$railhead" plan --root "$root" --profile "$fixtures/roce.yaml"
  [[ $output == *"qos/0000:18:00.0/dcqcn/np/cnp_802p_prio "*"'6, unused: np_cnp_prio_mode is 1' -> '6'"* ]]
  run -0 "$railhead" apply --root "$root" --profile "$fixtures/roce.yaml" --stage devices
  [ "$(cat "$root/sys/kernel/debug/mlx5/0000:18:00.0/cc_params/np_cnp_prio_mode")" = 0 ]
  [ "$(cat "$root/sys/kernel/debug/mlx5/0000:18:00.0/cc_params/rp_time_reset")" = 1000 ]
}
