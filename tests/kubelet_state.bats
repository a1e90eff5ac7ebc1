#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The huge pages that the kubelet's memory manager has written down, against those of the profile.

bats_require_minimum_version 1.5.0
load lib/fakenode

STATE=var/lib/kubelet/memory_manager_state

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  for n in 0 1; do
    put "$root/sys/devices/system/node/node$n/hugepages/hugepages-1048576kB/nr_hugepages" 2
    put "$root/sys/devices/system/node/node$n/hugepages/hugepages-2048kB/nr_hugepages" 512
  done
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
hugepages: [{size: 1G, per_node: 2, at: runtime}, {size: 2M, nodes: {0: 512, 1: 512}, at: runtime}]
Y
}

state() { # POLICY 1G-OF-NODE-0 2M-OF-NODE-1
  put "$root/$STATE" "{\"policyName\":\"$1\",\"machineState\":{
\"0\":{\"numberOfAssignments\":0,\"memoryMap\":{\"hugepages-1Gi\":{\"total\":$2},\"hugepages-2Mi\":{\"total\":1073741824}},\"cells\":[0]},
\"1\":{\"numberOfAssignments\":0,\"memoryMap\":{\"hugepages-1Gi\":{\"total\":2147483648},\"hugepages-2Mi\":{\"total\":$3}},\"cells\":[1]}},
\"entries\":{},\"checksum\":1}"
}

@test "kubelet state: the pages that the profile makes are those recorded, or the file and the remedy are named" {
  state Static 2147483648 1073741824
  run -0 "$railhead" verify --root "$root"
  state Static 1073741824 1073741824
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"hugepages/kubelet_state"*"has recorded 1024M of hugepages-1Gi on NUMA node 0, but the profile makes 2048M: the kubelet will not start"*"remove /var/lib/kubelet/memory_manager_state"* ]]
  state Static 2147483648 0
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"has recorded 0M of hugepages-2Mi on NUMA node 1, but the profile makes 1024M"* ]]
}

@test "kubelet state: with another policy, without a state or without pages of the profile there is nothing to say" {
  run -0 "$railhead" verify --root "$root" --all
  [[ $output != *kubelet_state* ]]
  state None 0 0
  run -0 "$railhead" verify --root "$root"
  sed -i '/^hugepages/d' "$root/etc/railhead/profiles/sku.yaml"
  state Static 0 0
  run -0 "$railhead" verify --root "$root" --all
  [[ $output != *kubelet_state* ]]
}

@test "kubelet state: one that is cut or empty is named" {
  for text in '' '{"policyName":"Static",' '[]'; do
    put "$root/$STATE" "$text"
    run -5 "$railhead" verify --root "$root"
    [[ $output == *"memory_manager_state is not a JSON object"* ]]
  done
}

@test "kubelet state: it keeps no work out" {
  state Static 0 0
  run -0 "$railhead" gate --root "$root"
  [[ $output == *"ready"* ]]
  run -0 "$railhead" status --root "$root"
  [[ $output == *"hugepages/kubelet_state"* ]]
}
