#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sections cpu and memory on a machine that is a directory tree: keys with a meaning, files of the
# kernel behind them.

bats_require_minimum_version 1.5.0
load lib/fakenode

THP=sys/kernel/mm/transparent_hugepage
CPU=sys/devices/system/cpu

setup() {
  cd "$BATS_TEST_DIRNAME/.." || exit 1
  railhead=$PWD/build/railhead
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  local n
  for n in 0 1; do
    put "$root/$CPU/cpufreq/policy$n/scaling_governor" powersave
    put "$root/$CPU/cpufreq/policy$n/scaling_available_governors" "performance powersave"
    put "$root/$CPU/cpufreq/policy$n/scaling_driver" intel_pstate
    put "$root/$CPU/cpufreq/policy$n/affected_cpus" "$n $((n + 2))"
    put "$root/$CPU/cpufreq/policy$n/energy_performance_preference" balance_performance
    put "$root/$CPU/cpufreq/policy$n/energy_performance_available_preferences" \
      "default performance balance_performance balance_power power"
  done
  put "$root/$CPU/intel_pstate/no_turbo" 1
  for n in 0 1; do
    idle $n 0 0
    idle $n 1 2
    idle $n 2 10
    idle $n 3 133
  done
  put "$root/proc/sys/kernel/numa_balancing" 1
  put "$root/proc/sys/kernel/watchdog" 1
  put "$root/proc/sys/kernel/timer_migration" 1
  put "$root/proc/sys/vm/compaction_proactiveness" 20
  put "$root/proc/sys/vm/zone_reclaim_mode" 1
  put "$root/$THP/defrag" "always defer defer+madvise [madvise] never"
  put "$root/$THP/khugepaged/defrag" 1
  put "$root/$THP/khugepaged/pages_to_scan" 4096
  put "$root/$THP/khugepaged/scan_sleep_millisecs" 10000
  put "$root/sys/kernel/mm/ksm/run" 1
}

idle() { # CPU STATE LATENCY
  put "$root/$CPU/cpu$1/cpuidle/state$2/latency" "$3"
  put "$root/$CPU/cpu$1/cpuidle/state$2/disable" 0
}

sku() { # SECTIONS
  printf 'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\n%s\n' "$1" | profile "$root" sku
}

apply() { # STATUS [STAGE]
  run "-$1" "$railhead" apply --root "$root" --stage "${2:-early}"
}

is() { # FILE VALUE
  [ "$(cat "$root/$1")" = "$2" ] || { echo "$1 is $(cat "$root/$1"), not $2"; return 1; }
}

rejects() { # TEXT...
  run -3 "$railhead" check --root "$root" "$root/etc/railhead/profiles/sku.yaml"
  for text; do
    [[ $output == *"$text"* ]]
  done
}

@test "cpu: each key writes its file, on all CPUs, and once" {
  sku 'cpu: {governor: performance, epp: performance, boost: true, max_cstate_latency: 10us,
  numa_balancing: false, watchdog: false, timer_migration: false}'
  apply 0
  for n in 0 1; do
    is $CPU/cpufreq/policy$n/scaling_governor performance
    is $CPU/cpufreq/policy$n/energy_performance_preference performance
    is $CPU/cpu$n/cpuidle/state0/disable 0
    is $CPU/cpu$n/cpuidle/state2/disable 0
    is $CPU/cpu$n/cpuidle/state3/disable 1
  done
  is $CPU/intel_pstate/no_turbo 0
  is proc/sys/kernel/numa_balancing 0
  is proc/sys/kernel/watchdog 0
  is proc/sys/kernel/timer_migration 0
  run -0 strace -f -e trace=open,openat,openat2 -o "$BATS_TEST_TMPDIR/trace" \
    "$railhead" apply --root "$root" --stage early
  [[ $output == *"0 set"* ]]
  [ -z "$(writes_of "$BATS_TEST_TMPDIR/trace" | grep -E 'cpufreq|cpuidle|kernel/')" ]
  # other limits let deeper states back in, and shut more of them out
  sku 'cpu: {max_cstate_latency: 133us}'
  apply 0
  is $CPU/cpu1/cpuidle/state3/disable 0
  sku 'cpu: {max_cstate_latency: 0us}'
  apply 0
  is $CPU/cpu1/cpuidle/state0/disable 0
  is $CPU/cpu1/cpuidle/state1/disable 1
}

@test "cpu: boost is cpufreq's own file where the driver has it" {
  put "$root/$CPU/cpufreq/boost" 1
  sku 'cpu: {boost: false}'
  apply 0
  is $CPU/cpufreq/boost 0
  is $CPU/intel_pstate/no_turbo 1
  rm "$root/$CPU/cpufreq/boost"
  sku 'cpu: {boost: false}'
  apply 0
  is $CPU/intel_pstate/no_turbo 1
}

@test "cpu: workqueues go to the CPUs that isolate_cpus leaves" {
  put "$root/sys/devices/virtual/workqueue/cpumask" 00000000,0000000f
  sku 'kernel_args: {isolate_cpus: 1-2}
cpu: {workqueue_cpus: housekeeping}'
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"cpu/workqueue_cpus "*"'00000000,0000000f' -> '9'"* ]]
  put "$root/sys/devices/virtual/workqueue/cpumask" 00000000,00000009
  run -5 "$railhead" plan --root "$root" --json
  [ "$(jq -r '.changes[] | select(.id == "cpu/workqueue_cpus").state' <<<"$output")" = same ]
  sku 'cpu: {workqueue_cpus: housekeeping}'
  rejects "cpu.workqueue_cpus: no CPU is isolated; write kernel_args: {isolate_cpus: ...}"
}

@test "memory: each key writes its file, in the file's own words" {
  sku 'memory: {thp: never, thp_defrag: defer+madvise, ksm: unmerge, compaction_proactiveness: 0,
  zone_reclaim: false, khugepaged: {defrag: false, pages_to_scan: 512, scan_sleep: 60s}}'
  apply 0
  is $THP/enabled never
  is $THP/defrag defer+madvise
  is $THP/khugepaged/defrag 0
  is $THP/khugepaged/pages_to_scan 512
  is $THP/khugepaged/scan_sleep_millisecs 60000
  is sys/kernel/mm/ksm/run 2
  is proc/sys/vm/compaction_proactiveness 0
  is proc/sys/vm/zone_reclaim_mode 0
}

@test "a word that the driver has not is named, with those that it has" {
  sku 'cpu: {governor: ondemand}'
  apply 6
  [[ $output == *"policy0/scaling_governor: the driver (intel_pstate) has no 'ondemand'; expected one of: performance powersave"* ]]
  is $CPU/cpufreq/policy0/scaling_governor powersave
  run "$railhead" apply --root "$root" --stage early --json
  [[ $output == *RH-CPU-SETTING-FAILED* ]]
}

@test "the governor of all CPUs: a CPU that is online and has no policy is named, an offline one is not missed" {
  local dir=$root/$CPU/cpufreq
  sku 'cpu: {governor: performance, optional: true}'
  put "$dir/policy1/affected_cpus" 1
  apply 6
  [[ $output == *"cpu/governor"*"CPUs 3 are online and have no policy of cpufreq; see cpufreq in the kernel log"* ]]
  put "$root/$CPU/online" 0-2
  apply 0
  put "$root/$CPU/online" 0-3
  mkdir "$dir/policy3"
  put "$dir/policy3/scaling_governor" performance
  apply 0
  # without lists a policy is that of the CPU of its name
  rm -r "$dir"/policy*/affected_cpus "$dir/policy3"
  apply 6
  [[ $output == *"CPUs 2-3 are online and have no policy"* ]]
  # a tree that lists the CPUs of some policies alone does not tell
  put "$dir/policy1/affected_cpus" 1
  apply 0
}

@test "what a kernel lacks is named with its cause, waits for devices, and is forgiven where it is optional" {
  rm -r "$root/$CPU/cpufreq" "$root/$CPU/intel_pstate" "$root/sys/kernel/mm/ksm" "$root/$CPU/cpu0/cpuidle" \
    "$root/$CPU/cpu1/cpuidle" "$root/proc/sys/kernel/numa_balancing"
  local keys='governor: performance, boost: true, max_cstate_latency: 10us, numa_balancing: false'
  sku "cpu: {$keys}
memory: {ksm: stop}"
  apply 0
  apply 6 devices
  [[ $output == *"cpu/governor"*"no driver sets frequencies here, as in most virtual machines"* ]]
  [[ $output == *"cpu/boost"*"no driver sets frequencies here"* ]]
  [[ $output == *"cpu/max_cstate_latency"*"no driver of idle states runs here"* ]]
  [[ $output == *"cpu/numa_balancing"*"without CONFIG_NUMA_BALANCING"* ]]
  [[ $output == *"memory/ksm"*"without CONFIG_KSM: leave the key out, or make it optional"* ]]
  sku "cpu: {$keys, optional: true}
memory: {ksm: stop, optional: [ksm]}"
  apply 0 devices
  sku "cpu: {$keys, optional: [governor, boost]}"
  apply 6 devices
  [[ $output != *"no driver sets frequencies"* && $output == *"without CONFIG_NUMA_BALANCING"* ]]
}

@test "a raw line or an argument for the same file: the same value is a warning, another one an error" {
  sku 'cpu: {numa_balancing: false}
memory: {thp: never}
sysctl: {kernel.numa_balancing: 0}
sysfs: {/sys/kernel/mm/transparent_hugepage/enabled: never}'
  run -0 "$railhead" check --root "$root" "$root/etc/railhead/profiles/sku.yaml"
  [[ $output == *"6:"*"warning: sysctl.kernel.numa_balancing: cpu.numa_balancing at 4:"*" sets the same; leave this line out"* ]]
  [[ $output == *"warning: sysfs./sys/kernel/mm/transparent_hugepage/enabled: memory.thp at 5:"* ]]
  sku 'cpu: {numa_balancing: true, max_cstate_latency: 5us}
memory: {thp: never, khugepaged: {defrag: true}}
kernel_args: {set: [transparent_hugepage=madvise, numa_balancing=disable]}
sysctl: {kernel.numa_*: 0}
sysfs:
  /sys/kernel/mm/transparent_hugepage/khugepaged/defrag: 0
  /sys/devices/system/cpu/cpu*/cpuidle/state2/disable: 1'
  rejects "sysctl.kernel.numa_*: cpu.numa_balancing at 4:23 sets the same file to a different value, 1; drop one" \
    "khugepaged/defrag: memory.khugepaged.defrag at 5:" \
    "state2/disable: cpu.max_cstate_latency at 4:" \
    "memory.thp: transparent_hugepage=madvise at 6:" \
    "cpu.numa_balancing: numa_balancing=disable at 6:"
}

@test "a raw line by another name of the file: neither is set, and both are named" {
  ln -s ../cpufreq/policy0 "$root/$CPU/cpu0/cpufreq"
  sku 'cpu: {governor: performance}
sysfs: {/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor: powersave}'
  apply 6
  [[ $output == *RH-PROFILE-CONFLICT* || $output == *"drop one of the two"* ]]
  is $CPU/cpufreq/policy0/scaling_governor powersave
}

@test "epp under the governor that holds it is an error" {
  sku 'cpu: {governor: performance, epp: balance_power}'
  rejects "cpu.epp: balance_power: governor: performance (at 4:" "write governor: powersave"
}

@test "a snapshot has the files of all keys" {
  sku 'cpu: {governor: performance, epp: performance, boost: true, max_cstate_latency: 10us}
memory: {thp_defrag: never, khugepaged: {pages_to_scan: 512}, ksm: stop, zone_reclaim: false}'
  "$railhead" survey --root "$root" --snapshot "$BATS_TEST_TMPDIR/node.tar"
  run -5 "$railhead" plan --root "$root" --json
  wanted=$(jq -c '[.changes[] | [.id, .state, .observed]]' <<<"$output")
  run -5 "$railhead" plan --root "$BATS_TEST_TMPDIR/node.tar" --profile "$root/etc/railhead/profiles/sku.yaml" --json
  [ "$(jq -c '[.changes[] | [.id, .state, .observed]]' <<<"$output")" = "$wanted" ]
}
