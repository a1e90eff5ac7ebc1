#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# isolate_cpus on a machine that is a directory tree: two NUMA nodes of two cores with two threads
# each, and a third node of memory alone.

bats_require_minimum_version 1.5.0
load lib/fakenode

KEPT="0,2,4,6" ISOLATED="1,3,5,7"

setup() {
  cd "$BATS_TEST_DIRNAME/.." || exit 1
  railhead=$PWD/build/railhead
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  local cpu node cpus=$root/sys/devices/system/cpu
  put "$cpus/present" 0-7
  put "$cpus/online" 0-7
  for cpu in 0 1 2 3 4 5 6 7; do
    put "$cpus/cpu$cpu/topology/thread_siblings_list" "$((cpu % 4)),$((cpu % 4 + 4))"
    put "$cpus/cpu$cpu/topology/physical_package_id" $((cpu % 4 / 2))
  done
  put "$root/sys/devices/system/node/online" 0-2
  put "$root/sys/devices/system/node/node0/cpulist" 0-1,4-5
  put "$root/sys/devices/system/node/node1/cpulist" 2-3,6-7
  put "$root/sys/devices/system/node/node2/cpulist" ""
  isolate '{keep: 1 per node}'
}

isolate() { # VALUE
  printf 'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\nkernel_args: {isolate_cpus: %s}\n' "$1" |
    profile "$root" sku
}

# As the kernel is after the boot with these arguments.
booted() { # [ISOLATED [NOHZ_FULL [WORKQUEUES]]]
  put "$root/proc/cmdline" "isolcpus=$ISOLATED nohz_full=$ISOLATED irqaffinity=$KEPT"
  put "$root/sys/devices/system/cpu/isolated" "${1-$ISOLATED}"
  put "$root/sys/devices/system/cpu/nohz_full" "${2-$ISOLATED}"
  put "$root/sys/devices/virtual/workqueue/cpumask" "${3-55}"
}

change() { # ID FIELD; of the plan
  jq -r --arg id "$1" --arg field "$2" '.changes[] | select(.id == $id) | .[$field]' "$BATS_TEST_TMPDIR/plan"
}

plan() { # [ARGUMENT...]
  "$railhead" plan --json --root "$root" "$@" >"$BATS_TEST_TMPDIR/plan" || [ $? -eq 5 ]
}

@test "keep: first cores of each node stay with their siblings, and the plan names which and why" {
  plan
  [ "$(change kernel_args/next_boot desired)" = "isolcpus=$ISOLATED nohz_full=$ISOLATED irqaffinity=$KEPT" ]
  [ "$(change kernel_args/isolate_cpus/isolated desired)" = "CPUs $ISOLATED; node 0 keeps 0,4, node 1 keeps 2,6" ]
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"CPUs $ISOLATED; node 0 keeps 0,4, node 1 keeps 2,6"* ]]
}

@test "keep: a snapshot gives the plan of its machine" {
  "$railhead" survey --root "$root" --snapshot "$BATS_TEST_TMPDIR/node.tar"
  plan --root "$BATS_TEST_TMPDIR/node.tar" --profile "$root/etc/railhead/profiles/sku.yaml"
  [ "$(change kernel_args/next_boot desired)" = "isolcpus=$ISOLATED nohz_full=$ISOLATED irqaffinity=$KEPT" ]
}

@test "keep: a node without cores to isolate, and CPUs of which the kernel tells too little, are named" {
  isolate '{keep: 2 per node}'
  run -3 "$railhead" plan --root "$root"
  [[ $output == *"isolate_cpus.keep: NUMA node 0 has 2 cores (CPUs 0-1,4-5), and keeping 2 of them leaves none to isolate; keep fewer"* ]]
  isolate '{keep: 1 per node}'
  rm "$root/sys/devices/system/cpu/cpu3/topology/thread_siblings_list"
  rm "$root/sys/devices/system/cpu/cpu7/topology/thread_siblings_list"
  run -3 "$railhead" plan --root "$root"
  [[ $output == *"isolate_cpus.keep: CPU 3 has no list of SMT siblings"*"name the CPUs to isolate in a list"* ]]
}

offline() { # SIBLING ONLINE CPULIST; of node 1: a CPU whose sibling is alone then
  put "$root/sys/devices/system/cpu/online" "$2"
  put "$root/sys/devices/system/cpu/cpu$1/topology/thread_siblings_list" "$1"
  put "$root/sys/devices/system/node/node1/cpulist" "$3"
}

@test "keep: what is offline stays where this boot has it, so that the arguments stay the same" {
  offline 3 0-6 2-3,6
  plan
  [ "$(change kernel_args/next_boot desired)" = "isolcpus=1,3,5 nohz_full=1,3,5 irqaffinity=0,2,4,6-7" ]
  booted
  plan
  [ "$(change kernel_args/next_boot state)" = same ]
  [ "$(looks)" = "isolated same tickless same workqueues same " ]
  # nosmt, or a sibling of a core that stays
  put "$root/proc/cmdline" "isolcpus=domain,$ISOLATED nohz_full=$ISOLATED irqaffinity=$KEPT nosmt"
  put "$root/sys/devices/system/cpu/online" 0-3
  put "$root/sys/devices/system/node/node0/cpulist" 0-1
  put "$root/sys/devices/system/node/node1/cpulist" 2-3
  for cpu in 0 1 2 3; do
    put "$root/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list" $cpu
  done
  plan
  [ "$(change kernel_args/next_boot desired)" = "isolcpus=$ISOLATED nohz_full=$ISOLATED irqaffinity=$KEPT" ]
}

# The states of the looks at what the kernel shows.
looks() {
  plan
  jq -r '.changes[] | select(.id | startswith("kernel_args/isolate_cpus/")) | "\(.id | split("/")[2]) \(.state)"' \
    "$BATS_TEST_TMPDIR/plan" | tr '\n' ' '
}

@test "isolation is judged by what the kernel shows: isolated, nohz_full, workqueues" {
  booted
  [ "$(looks)" = "isolated same tickless same workqueues same " ]
  booted 1,3
  [ "$(looks)" = "isolated differs tickless same workqueues same " ]
  [ "$(change kernel_args/isolate_cpus/isolated observed)" = "CPUs 1,3" ]
  [ "$(change kernel_args/isolate_cpus/isolated fault)" = RH-CPU-ISOLATION ]
  booted 1,3,5-7 # a cpuset isolates one more
  [ "$(looks)" = "isolated same tickless same workqueues same " ]
  booted "$ISOLATED" "(null)"
  [ "$(looks)" = "isolated same tickless differs workqueues same " ]
  [ "$(change kernel_args/isolate_cpus/tickless observed)" = none ]
  booted "$ISOLATED" "$ISOLATED" 00000000,000000ff
  [ "$(looks)" = "isolated same tickless same workqueues differs " ]
  [ "$(change kernel_args/isolate_cpus/workqueues observed)" = "CPUs 0-7" ]
  [ "$(change kernel_args/isolate_cpus/workqueues on_fail)" = warn ]
  booted "$ISOLATED" "$ISOLATED" xyz
  [ "$(looks)" = "isolated same tickless same workqueues failed " ]
}

@test "isolation: a kernel that shows none of it is none of the node's faults" {
  booted
  rm "$root/sys/devices/system/cpu/"{isolated,nohz_full} "$root/sys/devices/virtual/workqueue/cpumask"
  [ "$(looks)" = "isolated unsupported tickless unsupported workqueues unsupported " ]
  [[ $(change kernel_args/isolate_cpus/tickless reason) == *CONFIG_NO_HZ_FULL* ]]
}

@test "draft: offers to keep cores where each node has more" {
  run -0 "$railhead" draft --root "$root"
  [[ $output != *isolate_cpus* ]]
  for node in 0 1; do
    put "$root/sys/devices/system/node/node$node/cpulist" 0-7
  done
  put "$root/sys/devices/system/node/online" 0
  run -0 "$railhead" draft --root "$root"
  [[ $output == *"#  isolate_cpus: {keep: 2 per node} "* ]]
}

# The state of the look at another program's files, and why.
said() { # NAME
  plan
  jq -r --arg id "kernel_args/isolate_cpus/$1" \
    '.changes[] | select(.id == $id) | "\(.state) \(.on_fail) \(.fault // "-"): \(.reason // "")"' "$BATS_TEST_TMPDIR/plan"
}

kubelet() { # FILE; the keys from stdin
  put "$root/$1" "$(printf 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n%s' "$(cat)")"
}

@test "others: of programs that are not there, and of files that divide no CPUs, nothing is said" {
  [ -z "$(said kubelet)$(said systemd)$(said tuned)" ]
  put "$root/etc/systemd/system.conf" $'[Manager]\n#CPUAffinity=\nLogLevel=info'
  put "$root/etc/tuned/active_profile" throughput-performance
  put "$root/etc/tuned/cpu-partitioning-variables.conf" "isolated_cores=1"
  # kubeadm's kubeconfig has a name that is that of a configuration elsewhere
  put "$root/etc/kubernetes/kubelet.conf" $'apiVersion: v1\nkind: Config\nclusters: []'
  put "$root/etc/kubernetes/kubelet/notes.conf" '{ no YAML: ['
  [ -z "$(said kubelet)$(said systemd)$(said tuned)" ]
}

@test "kubelet: reserved CPUs that are those that stay, pinned pods: agrees" {
  kubelet var/lib/kubelet/config.yaml <<<$'reservedSystemCPUs: "0,2,4,6"\ncpuManagerPolicy: static\ntopologyManagerPolicy: restricted'
  [ "$(said kubelet)" = "same warn -: " ]
}

@test "kubelet: what disagrees is named with both files and lines, and keeps no work out" {
  kubelet var/lib/kubelet/config.yaml <<<$'cpuManagerPolicy: static\nreservedSystemCPUs: 0-1\ntopologyManagerPolicy: single-numa-node'
  run -0 said kubelet
  [[ $output == "differs warn RH-CPU-ISOLATION-CONFLICT: "* ]]
  [[ $output == *"/var/lib/kubelet/config.yaml:4: reservedSystemCPUs has CPUs 1, which isolate_cpus (/etc/railhead/profiles/sku.yaml:4) isolates"* ]]
  [[ $output == *"config.yaml:4: reservedSystemCPUs lacks CPUs 2,4,6, which isolate_cpus (/etc/railhead/profiles/sku.yaml:4) keeps"* ]]
  [[ $output == *"write \"0,2,4,6\""* ]]
  [[ $output != *Policy* ]]

  kubelet var/lib/kubelet/config.yaml </dev/null
  run -0 said kubelet
  [[ $output == *"/var/lib/kubelet/config.yaml: no reservedSystemCPUs: "*"write \"0,2,4,6\""* ]]
  [[ $output == *"/var/lib/kubelet/config.yaml: cpuManagerPolicy is none: "* ]]

  kubelet var/lib/kubelet/config.yaml <<<$'reservedSystemCPUs: first two\ncpuManagerPolicy: static'
  run -0 said kubelet
  [[ $output == *"config.yaml:3: reservedSystemCPUs 'first two' is not a list of CPUs"* ]]
  [[ $output == *"config.yaml: topologyManagerPolicy is none: "* ]]
}

@test "kubelet: later files and flags are over earlier files; JSON is read; comments are none" {
  kubelet var/lib/kubelet/config.yaml <<<$'reservedSystemCPUs: 0-1\ncpuManagerPolicy: none'
  put "$root/etc/kubernetes/kubelet/config.json" \
    '{"kind": "KubeletConfiguration", "cpuManagerPolicy": "static", "topologyManagerPolicy": "restricted"}'
  run -0 said kubelet
  [[ $output == *"config.yaml:3: reservedSystemCPUs has CPUs 1,"* && $output != *"cpuManagerPolicy"* ]]
  put "$root/etc/systemd/system/kubelet.service.d/20-cpus.conf" \
    $'[Service]\n# --reserved-cpus=7\nEnvironment="KUBELET_EXTRA_ARGS=--cpu-manager-policy-options=x=true --reserved-cpus=0,2,4,6"'
  [ "$(said kubelet)" = "same warn -: " ]
  put "$root/etc/default/kubelet" 'KUBELET_EXTRA_ARGS="--cpu-manager-policy none"'
  run -0 said kubelet
  [[ $output == *"/etc/default/kubelet:1: cpuManagerPolicy is none: "* ]]
}

@test "kubelet: a file that is no YAML is named with its line, and the node goes on" {
  put "$root/var/lib/kubelet/config.yaml" $'kind: KubeletConfiguration\nreservedSystemCPUs: [0'
  run -0 said kubelet
  [[ $output == "differs warn "*"/var/lib/kubelet/config.yaml:"[23]:*"kubelet does not start with such a file" ]]
  put "$root/var/lib/kubelet/config.yaml" ""
  run -0 said kubelet
  [[ $output == "differs warn "*"/var/lib/kubelet/config.yaml"* ]]
}

@test "systemd: CPUAffinity= with isolated CPUs is named; lists are merged, empty ones and hidden files drop out" {
  put "$root/etc/systemd/system.conf" $'[Manager]\nCPUAffinity=0 2'
  [ "$(said systemd)" = "same warn -: " ]
  put "$root/usr/lib/systemd/system.conf.d/50-cpus.conf" $'[Manager]\n\nCPUAffinity=1, 3-4'
  run -0 said systemd
  [[ $output == *"/usr/lib/systemd/system.conf.d/50-cpus.conf:3: CPUAffinity= lets services run on CPUs 1,3, which isolate_cpus (/etc/railhead/profiles/sku.yaml:4) isolates"* ]]
  [ "$(change kernel_args/isolate_cpus/systemd observed)" = "CPUAffinity=0,2,1,3-4" ]
  put "$root/etc/systemd/system.conf.d/50-cpus.conf" $'[Manager]\nCPUAffinity=\nCPUAffinity=4'
  [ "$(said systemd)" = "same warn -: " ]
  [ "$(change kernel_args/isolate_cpus/systemd observed)" = "CPUAffinity=4" ]
  put "$root/etc/systemd/system.conf.d/60-cpus.conf" $'[Manager]\nCPUAffinity=all'
  run -0 said systemd
  [[ $output == *"/etc/systemd/system.conf.d/60-cpus.conf:2: CPUAffinity=4,all is not a list of CPUs"* ]]
}

@test "tuned: isolated_cores of the active profile is the same list" {
  put "$root/etc/tuned/active_profile" cpu-partitioning
  put "$root/etc/tuned/cpu-partitioning-variables.conf" $'# isolated_cores=2\nisolated_cores = 1,3,5,7'
  [ "$(said tuned)" = "same warn -: " ]
  put "$root/etc/tuned/cpu-partitioning-variables.conf" 'isolated_cores=2-7'
  run -0 said tuned
  [[ $output == *"/etc/tuned/cpu-partitioning-variables.conf:1: isolated_cores=2-7, and isolate_cpus (/etc/railhead/profiles/sku.yaml:4) isolates 1,3,5,7"* ]]
  # tuned computes it itself: only the kernel tells then
  put "$root/etc/tuned/cpu-partitioning-variables.conf" 'isolated_cores=${f:calc_isolated_cores:2}'
  [ -z "$(said tuned)" ]
}
