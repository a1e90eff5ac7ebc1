#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/tutorials.md says what railhead does about each statement, and messages name its sections.

bats_require_minimum_version 1.5.0
load lib/fakenode

page=$BATS_TEST_DIRNAME/../docs/tutorials.md
names=$BATS_TEST_DIRNAME/../src/profile/tutorials.h

# What check says of a profile that takes a statement at its word.
says() { # STATUS YAML
  printf 'schema: 1\nname: x\nabstract: true\n%s\n' "$2" >"$BATS_TEST_TMPDIR/x.yaml"
  run "-$1" "$railhead" check "$BATS_TEST_TMPDIR/x.yaml"
}

@test "docs/tutorials.md: 25 sections in order, each with what railhead does" {
  [ "$(sed -n 's/^## \([0-9]*\)\. .*/\1/p' "$page" | xargs)" = "$(seq -s ' ' 25)" ]
  [ "$(grep -c '^railhead: ' "$page")" -eq 25 ]
}

@test "docs/tutorials.md: each number that a message ends with is a section, and each is used" {
  [ "$(sed -n 's/^#define TUTORIAL_[A-Z_]* TUTORIALS(\([0-9]*\))$/\1/p' "$names" | wc -l)" -ge 12 ]
  while read -r name number; do
    grep -q "^## $number\. " "$page" || { echo "$name: no section $number"; false; }
    grep -qr --include='*.c' "\b$name\b" "$BATS_TEST_DIRNAME/../src" || { echo "$name: unused"; false; }
  done < <(sed -n 's/^#define \(TUTORIAL_[A-Z_]*\) TUTORIALS(\([0-9]*\))$/\1 \2/p' "$names")
}

@test "check: what tutorials say is rejected or warned of, with the section that has the reason" {
  rails='devices: {rails: {pci: "15b3:1021"}}'
  while IFS='|' read -r number status level yaml; do
    says "$status" "${yaml//;/$'\n'}"
    [[ $output == *"(docs/tutorials.md, $number)"* ]] || { echo "$number: $output"; false; }
    [[ $level == error || $output == *"warning: "*"(docs/tutorials.md, $number)"* ]]
  done <<Y
1|3|error|kernel_args: {set: ["amd_iommu=on"]}
2|3|error|kernel_args: {set: ["iommu=on"]}
2|3|error|kernel_args: {set: ["iommu=strict"]}
2|3|error|kernel_args: {set: ["intel_iommu=off", "amd_iommu=off", "iommu=on"]}
3|3|error|kernel_args: {iommu: passthrough, set: ["intel_iommu=off"]}
4|3|error|sysfs: {/sys/kernel/iommu_groups/5/type: passthrough}
6|3|error|kernel_args: {iommu: disabled};$rails;sriov: {rails: {vfs: 8, vf: {driver: vfio-pci}}}
8|3|error|modules: {options: {nvidia-peermem: {peermem_enabled: 1}}}
9|3|error|modules: {load: [dmabuf]}
9|3|error|modules: {load: [dma_buf]}
10|3|error|modules: {load: [rpcrdma_core]}
11|0|warning|devices: {rails: {pci: "15b3:101e"}};sriov: {rails: {vfs: 8}}
16|3|error|sysfs: {/sys/class/net/enp1s0/device/sriov_numvfs: 32}
17|3|error|kernel_args: {set: ["default_hugepagesz=1G"]}
17|3|error|kernel_args: {set: ["hugepages=64"]}
19|3|error|kernel_args: {set: ["isolcpus=0-31"]}
19|3|error|kernel_args: {isolate_cpus: 0-31}
19|0|warning|kernel_args: {set: ["nohz_full=2-31", "rcu_nocbs=2-31"]}
22|3|error|modules: {load: [ib_ucm]}
Y
}

@test "check: what is right near a statement passes without a word" {
  rails='devices: {rails: {pci: "15b3:1021", link: ethernet}}'
  while read -r yaml; do
    says 0 "${yaml//;/$'\n'}"
    [[ $output == *": ok, "* && $output != *warning* ]] || { echo "$yaml: $output"; false; }
  done <<Y
kernel_args: {iommu: passthrough}
kernel_args: {iommu: disabled};$rails;sriov: {rails: {vfs: 8, vf: {driver: netdev}}}
$rails;pcie: {rails: {relaxed_ordering: true}}
modules: {load: [rpcrdma, xprtrdma, svcrdma, rdma_ucm]}
devices: {rails: {pci: "15b3:1021"}, guest: {pci: "15b3:101e"}};sriov: {rails: {vfs: 8}, guest: {vfs: 0}}
$rails;qos: {rails: {trust: dscp, dscp_map: {26: 3}, pfc: [3]}}
kernel_args: {set: [transparent_hugepage=never]};hugepages: [{size: 1G, per_node: 32}]
kernel_args: {set: ["isolcpus=2-31", "nohz_full=2-31"]}
limits: {memlock: unlimited, units: [containerd.service]}
modules: {options: {nvidia_uvm: {uvm_disable_hmm: 1}, gpu_sched: {sched_policy: 1}}}
kernel_args: {set: ["pci=noats"]}
Y
}

@test "explain: adaptive_rx is for the netdev's traffic, which is not RDMA" {
  run -0 "$railhead" explain link.rails.coalesce.adaptive_rx
  [[ $output == *"netdev's traffic; RDMA traffic does not count"* ]]
}
