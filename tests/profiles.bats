#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The shipped profiles, each on a fixture machine of its SKU: it alone is chosen there, and
# its plan is the golden one in fixtures/plans. GOLDEN=1 writes those anew: read the diff.

bats_require_minimum_version 1.5.0
load lib/disks
load lib/fakenode

here=$BATS_TEST_DIRNAME
profiles=$here/../profiles
plans=$here/fixtures/plans

setup_file() {
  local m
  export MACHINES=$BATS_FILE_TMPDIR/machines
  "$BATS_TEST_DIRNAME/lib/machine" "$MACHINES" "$BATS_TEST_DIRNAME"/fixtures/machines/*.toml
  for m in "$MACHINES"/*; do
    mkdir -p "$m/usr/lib/railhead/profiles"
    cp "$BATS_TEST_DIRNAME"/../profiles/*.yaml "$m/usr/lib/railhead/profiles"
    # the package's installation has made it
    "${RAILHEAD:-$BATS_TEST_DIRNAME/../build/railhead}" kargs --reset --root "$m" >/dev/null
  done
}

concrete() { # names of the profiles that are no base
  local f
  for f in "$profiles"/*.yaml; do
    grep -q '^abstract: true' "$f" || basename "$f" .yaml
  done
}

# The plan, with what is as wanted; arguments and the sets' members.
golden() { # MACHINE
  "$railhead" plan --all --root "$MACHINES/$1" || [ $? -eq 5 ]
  "$railhead" show "$1" --resolved --root "$MACHINES/$1" | sed -n '/^# Derived settings/,$p'
}

@test "check: all shipped profiles, without a warning" {
  run -0 "$railhead" check "$profiles"/*.yaml
  [ "${#lines[@]}" -eq "$(find "$profiles" -name '*.yaml' | wc -l)" ]
  for line in "${lines[@]}"; do
    [[ $line == *": ok, profile "* ]]
  done
}

@test "each profile that is no base has a machine and a plan, and there are no others" {
  concrete >"$BATS_TEST_TMPDIR/profiles"
  diff "$BATS_TEST_TMPDIR/profiles" <(cd "$here/fixtures/machines" && ls | sed 's/\.toml$//')
  diff "$BATS_TEST_TMPDIR/profiles" <(cd "$plans" && ls | sed 's/\.txt$//')
}

@test "each machine says whether it is real or synthetic" {
  for f in "$here"/fixtures/machines/*.toml; do
    head -n 1 "$f" | grep -qE '^# (real|synthetic): '
  done
}

@test "each machine matches its own profile, of all that are shipped" {
  for name in $(concrete); do
    run -0 "$railhead" match --root "$MACHINES/$name"
    [ "$output" = "$name" ] || { echo "$name: $output"; false; }
  done
}

@test "what else matches a machine is generic, and yields by its priority" {
  for name in $(concrete); do
    run -0 "$railhead" match --json --root "$MACHINES/$name"
    others=$(jq -r '.candidates[] | select(.result == "matches") | .name' <<<"$output")
    [ -z "$(grep -v '^generic-' <<<"$others")" ] || { echo "$name: $others"; false; }
  done
}

@test "the plan of each profile on its machine is the golden one" {
  for name in $(concrete); do
    golden "$name" >"$BATS_TEST_TMPDIR/$name.txt"
    [ -z "${GOLDEN:-}" ] || cp "$BATS_TEST_TMPDIR/$name.txt" "$plans/$name.txt"
    diff -u "$plans/$name.txt" "$BATS_TEST_TMPDIR/$name.txt"
  done
}

# Of the A100 NVML knows no state (nvml.h: Hopper and later); an AMD GPU has none.
@test "GPUs with an NVLink fabric are judged by its state, each in the mode of its machine" {
  local name mode
  for name in $(concrete); do
    case $name in
      hgx-* | dgx-h100 | azure-nd-h100-v5) mode=node ;;
      gb200) mode=multinode ;;
      *) mode=null ;;
    esac
    run -0 --separate-stderr "$railhead" show "$name" --json --root "$MACHINES/$name"
    jq -e --arg mode "$mode" '[.. | objects | select(.run? == "gpu_fabric") | .mode] ==
      (if $mode == "null" then [] else [$mode] end)' <<<"$output" || { echo "$name: not $mode"; false; }
  done
}

@test "nothing is planned or judged for a protected function" {
  # the machine, and the part of it that its profile protects
  while read -r name addr; do
    [ -e "$MACHINES/$name/sys/bus/pci/devices/$addr" ]
    grep -q "^#     mgmt: .*$addr" "$plans/$name.txt"
    [ "$(grep -cF "$addr" "$plans/$name.txt")" = 1 ]
  done <<'E'
hgx-h100-cx7 0000:02:00.0
hgx-h100-cx7-amd 0000:02:00.0
hgx-h200-cx7 0000:02:00.1
dgx-h100 0000:0b:00.0
mi300x-cx7 0000:a1:00.0
azure-nd-h100-v5 b4a5:00:02.0
E
}

@test "VFs that a guest was given are members of a set like any function" {
  for name in azure-nd-h100-v5 azure-nd-a100-v4; do
    [ -e "$MACHINES/$name/sys/bus/pci/devices/0101:00:00.0" ]
    [ ! -e "$MACHINES/$name/sys/bus/pci/devices/0101:00:00.0/physfn" ]
    run "$railhead" plan --json --root "$MACHINES/$name"
    [ "$(jq -r '.changes[] | select(.id == "devices/rails/expect") | .observed' <<<"$output")" = 8 ]
  done
}

@test "a tree names what the kernel and udev would: the table of the DGX H100 user guide" {
  while read -r netdev ibdev; do
    [ -d "$MACHINES/dgx-h100/sys/class/net/$netdev/device/infiniband/$ibdev" ]
  done <<'E'
ibp24s0 mlx5_0
ibp64s0 mlx5_3
ibp79s0 mlx5_4
ibp94s0 mlx5_5
ibp154s0 mlx5_6
ibp192s0 mlx5_9
ibp206s0 mlx5_10
ibp220s0 mlx5_11
E
}

@test "pages go to nodes that have CPUs, not to a GPU's memory" {
  [ "$(cat "$MACHINES/gb200/sys/devices/system/node/has_memory")" = 0-2,10,18,26 ]
  run "$railhead" plan --json --root "$MACHINES/gb200"
  [ "$(jq -r '.changes[] | select(.step == "hugepages") | .id' <<<"$output" | xargs)" = \
    "hugepages/512M/node0 hugepages/512M/node1" ]
}

@test "what waits in comments is sound, but for being not implemented yet" {
  local waiting=0
  for f in "$profiles"/*.yaml; do
    "$here/lib/uncomment" "$f" >"$BATS_TEST_TMPDIR/${f##*/}"
    cmp -s "$f" "$BATS_TEST_TMPDIR/${f##*/}" || waiting=$((waiting + 1))
  done
  [ "$waiting" -gt 0 ] # or this test has lost its matter
  run "$railhead" check "$BATS_TEST_TMPDIR"/*.yaml
  grep -v ': ok, profile ' <<<"$output" || return 0
  false
}

@test "each threshold has its arithmetic in a comment: the paper, the share, the smallest loss" {
  local all
  # the lab's figures mean nothing
  mapfile -t all < <(find "$profiles" -name '*.yaml' ! -name soft-roce-lab.yaml | sort)
  run -0 "$here/lib/thresholds" "${all[@]}"
  [ -z "$output" ]
}

@test "arithmetic in a comment that is wrong, or is not there, is found" {
  local profile=$BATS_TEST_TMPDIR/p.yaml
  while IFS='|' read -r from edit complaint; do
    sed "$edit" "$profiles/$from.yaml" >"$profile"
    run -1 "$here/lib/thresholds" "$profile"
    [[ $output == *"$complaint"* ]] || { echo "$edit: $output"; false; }
  done <<'E'
hgx-h100-cx7|s/min: 180GB/min: 280GB/|memory: no '280GB/s is ...% of ... GB/s on paper'
hgx-h100-cx7|s/59% of 307/58% of 307/|memory: 180GB/s is 59% of 307, not 58%
hgx-h100-cx7|s/Finds 3 of 8/Finds 2 of 8/|memory: no smallest loss that 180GB/s finds is named
hgx-h100-cx7|s/Finds 3 of 8/Finds 4 of 8/|memory: no smallest loss that 180GB/s finds is named
hgx-h100-cx7|s/Passes 2 of 8/And 2 of 8/|memory: its comment has no 'passes'
hgx-h100-cx7|s/Finds 8 of 16/Finds 9 of 16/|gpu-rdma: no threshold finds 9 16 lanes and no less
metal-base|s/95% of set/90% of set/|memory-even: no threshold finds 1 12 channels and no less
metal-base|s/or more in the half/no more in the half/; s/Finds one stop/One stop/|jitter: its comment has no 'finds'
cx7-base|s/90% of line/40% of line/|rails: no smallest loss that 40% of line finds is named
gb200|s/Finds 35% lost/Finds 25% lost/|memory: no smallest loss that 300GB/s finds is named
E
}

# A figure that nobody has measured on the machine may not keep work out.
@test "latency, jitter, nodes compared with each other, and GPUDirect of metal machines only warn" {
  local name
  for name in $(concrete); do
    run -0 --separate-stderr "$railhead" show "$name" --json --root "$MACHINES/$name"
    jq -e '[.. | objects | select(.run? | IN("jitter", "memory_latency")), (.. | objects |
        select(.run? == "memory_bandwidth" and .floor?))] | all(.on_fail == "warn")' <<<"$output" ||
      { echo "$name"; false; }
    # a SKU that has pairs has their GPUDirect measured, but for AMD's GPUs, which no benchmark is for
    jq -e '[.. | objects | select(.run? == "gpu_rdma") | [.on, .with, .on_fail]] ==
      (if .profile.pairs and ([.. | objects | .gpus?.pci?] | tostring | contains("10de:"))
       then [["gpus", "rails", "warn"]] else [] end)' <<<"$output" || [[ $name == azure-* ]] ||
      { echo "$name"; false; }
  done
}

# 380 (H100), 360 (H200, GB200) and 180 (A100) are what check_ib_bw_gdr of azurehpc-health-checks has.
@test "no more is asked of a rail than what somebody passes a machine of its SKU at" {
  local name
  for name in $(concrete); do
    run -0 --separate-stderr "$railhead" show "$name" --json --root "$MACHINES/$name"
    jq -e --arg name "$name" '[.. | objects | select(.run? == "rdma_loopback") | .min] - ["90% of line"] |
      . == ({"azure-nd-h100-v5": ["380Gb/s"], "azure-nd-a100-v4": ["180Gb/s"]}[$name] // [])' <<<"$output" ||
      { echo "$name: $output" | tail -c 300; false; }
  done
}

@test "the example of profiles/README.md is a profile" {
  cp "$profiles"/*.yaml "$BATS_TEST_TMPDIR"
  sed -n 's/^      //p' "$profiles/README.md" >"$BATS_TEST_TMPDIR/xe9680-h100.yaml"
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/xe9680-h100.yaml"
  [[ $output == *": ok, profile xe9680-h100 "* ]]
}

@test "machine: an unknown key of a description is an error that names it" {
  for key in 'serial = "x"' $'[[node]]\ncpu = "0-3"' $'[[pci]]\npart = "a"\nnuma = 0\nat = ["0000:01:00.0"]\nslot = 1'; do
    { printf 'arch = "x86_64"\ncpu = "intel"\nkernel = "6.1"\nmem_total = "1G"\n'
      printf '%s\n' "$key"
      [[ $key == *node* ]] || printf '[[node]]\ncpus = "0"\nmemory = "1G"\n'; } >"$BATS_TEST_TMPDIR/x.toml"
    run ! "$here/lib/machine" "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/x.toml"
    [[ $output == *"x.toml"*"unknown key"* ]]
    rm -rf "$BATS_TEST_TMPDIR/out"
  done
}

# What the machine's description has no words for: SMT siblings, and two NVMe drives.
has_cores_and_drives() { # ROOT
  local root=$1 cpu thread
  for cpu in {0..111}; do
    for thread in $cpu $((cpu + 112)); do
      put "$root/sys/devices/system/cpu/cpu$thread/topology/core_cpus_list" "$cpu,$((cpu + 112))"
    done
  done
  controller 0000:01:00.0 nvme 0x010802
  controller 0000:02:00.0 nvme 0x010802
  disk nvme0n1 259:0 pci0000:00/0000:01:00.0/nvme/nvme0
  disk nvme1n1 259:1 pci0000:00/0000:02:00.0/nvme/nvme1
  mkdir -p "$root/proc/self"
  mounted "22 1 259:1 / / rw shared:1 - ext4 /dev/nvme1n1 rw"
}

@test "docs/examples: each profile has a sentence to each line, passes check, and makes a plan" {
  examples=$BATS_TEST_DIRNAME/../docs/examples/profiles
  python3 "$here/lib/machine" "$BATS_TEST_TMPDIR/machines" "$here"/fixtures/machines/{hgx-h100-cx7,azure-nd-h100-v5,generic-cx6dx}.toml
  on() { case $1 in gpudirect-nfs | roce-host | low-jitter | iommu-isolated) echo hgx-h100-cx7 ;;
    aks-infiniband) echo azure-nd-h100-v5 ;; *) echo generic-cx6dx ;; esac; }
  has_cores_and_drives "$BATS_TEST_TMPDIR/machines/hgx-h100-cx7"
  for file in "$examples"/*.yaml; do
    name=$(basename "$file" .yaml)
    run -0 "$railhead" check --root "$BATS_TEST_TMPDIR/machines/$(on "$name")" "$file"
    [[ $output != *warning* ]] || { echo "$output"; false; }
    run -5 "$railhead" plan --json --root "$BATS_TEST_TMPDIR/machines/$(on "$name")" --profile "$file"
    jq -e '[.changes[] | select(.state == "failed")] == []' <<<"$output"
    # each section has changes, and the sets have as many members as the example says
    for step in $(grep -oE '^(devices|modules|sriov|link|qos|irq|block|kernel_args|hugepages|cpu|memory|limits|mounts|sysctl|expect)\b' "$file"); do
      jq -e --arg step "$step" '[.changes[] | select(.id | startswith($step + "/"))] | length > 0' <<<"$output" ||
        { echo "$name: nothing of $step"; false; }
    done
    jq -e '[.changes[] | select(.id | test("^(devices/.*/)?expect")).state] | length > 0 and all(. == "same")' <<<"$output"
    # a comment stands before each line, but for the inside of a map
    run ! awk '/^ *#/ { said = 1; next } /^$/ { said = 0; next }
      /^    [a-z]*:/ && inside { next } { inside = 0 }
      !said && !/^[a-z_]+:$/ && !/^  [a-z_]+:$/ { print FILENAME ":" FNR ": " $0; bad = 1 }
      { said = 0; inside = /:$/ } END { exit !bad }' "$file"
  done
}
