#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Evidence around the load: counters of errors before the benchmarks of the gate and after them.
# What each counter means is in tests/unit/test_checks_counters.c.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/fakebench

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  record=$root/run/railhead/status.json
  mc=$root/sys/devices/system/edac/mc/mc0
  put "$mc/ue_count" 0
  put "$mc/ce_count" 4
  put "$mc/dimm1/dimm_ue_count" 0
  put "$mc/dimm1/dimm_ce_count" 4
  put "$mc/dimm1/dimm_label" DIMM_B2
  port=$root/sys/devices/pci0000:00/$PF0/infiniband/mlx5_0/ports/1
  put "$port/state" "4: ACTIVE"
  put "$port/counters/link_downed" 2
  put "$port/counters/symbol_error" 7
  mkdir -p "$root/sys/class/infiniband"
  ln -s "../../devices/pci0000:00/$PF0/infiniband/mlx5_0" "$root/sys/class/infiniband/mlx5_0"
  for n in 0 1 2 3; do
    put "$root/sys/devices/system/cpu/cpu$n/thermal_throttle/core_throttle_count" 0
    put "$root/sys/devices/system/cpu/cpu$n/thermal_throttle/package_throttle_count" 1
  done
  heat=$root/sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count
  bench_value 1e9
}

# The checks, beside a benchmark.
checked() { # LINES
  gated "  checks:
    memory: {run: memory_bandwidth, per: node, min: 500MB/s}
$1"
}

# The load brings it out: the benchmark's user writes there.
load_puts() { # FILE VALUE
  chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
  chmod 666 "$1"
  sed -i "s|^cat |echo $2 >$1\n&|" "$BATS_TEST_TMPDIR/bench"
}

gate() { # STATUS [OPTION...]
  run "-$1" with_bench "$railhead" gate --root "$root" "${@:2}"
}

in_record() { # JQ-FILTER
  jq -e "$1" "$record" >/dev/null || {
    echo "does not hold: $1"
    jq '{verdict, reasons, faults, skipped}' "$record"
    return 1
  }
}

change() { # ID: its entry in the record
  jq --arg id "$1" '[.. | objects | select(has("id") and has("kind"))] | INDEX(.id)[$id]' "$record"
}

ALL='    dimms: {run: memory_errors}
    ports: {run: port_errors, on: nics}
    heat: {run: throttling}'

@test "nothing rises: ready, and what was counted before is told" {
  checked "$ALL"
  gate 0
  in_record '.verdict == "ready" and .reasons == []'
  change gate/dimms/memory | jq -e '.state == "same" and .observed == "0" and .desired == "0"'
  change gate/dimms/memory/rise | jq -e '.state == "same" and (has("before") | not) and .desired == "as before the load"
    and .observed == "DIMM_B2 (mc0/dimm1) corrected errors 4"'
  change "gate/ports/$PF0" | jq -e '.state == "same" and .observed == "mlx5_0 port 1 link_downed 2"'
  change "gate/ports/$PF0/rise" | jq -e '.state == "same" and .observed == "mlx5_0 port 1 symbol_error 7"'
  change gate/heat/cpus | jq -e '.state == "same"
    and .observed == "package 0 package_throttle_count 1, package 1 package_throttle_count 1"'
  run -0 "$railhead" verify --root "$root"
}

@test "a DIMM that corrects under load is named: a warning, or what on_rise says; rise lets it pass" {
  checked "$ALL"
  load_puts "$mc/ce_count" 6
  load_puts "$mc/dimm1/dimm_ce_count" 6
  gate 0
  in_record '.verdict == "ready" and (.reasons | length == 1) and .faults[0].code == "RH-MEMORY-CORRECTED"
    and .faults[0].on_fail == "warn" and (.reasons[0] | startswith("gate/dimms/memory/rise: found '"'"'DIMM_B2 (mc0/dimm1) corrected errors 6'"'"'")
    and contains("DIMM_B2 (mc0/dimm1): corrected errors rose by 2 under load, to 6")
    and contains("; the load was that of the benchmarks (memory); "))
    and .faults[0].load == "memory" and (.faults[0].since_load | not)'
  change gate/dimms/memory/rise | jq -e '.before == "DIMM_B2 (mc0/dimm1) corrected errors 4"'
  # by now they are from before
  gate 0 --again
  in_record '.verdict == "ready" and .reasons == []'
  for how in block:7:blocked degrade:7:degraded; do
    IFS=: read -r word status verdict <<<"$how"
    put "$mc/ce_count" 4
    put "$mc/dimm1/dimm_ce_count" 4
    checked "    dimms: {run: memory_errors, on_rise: $word}"
    gate "$status" --again
    in_record ".verdict == \"$verdict\" and .faults[0].code == \"RH-MEMORY-CORRECTED\""
  done
  put "$mc/ce_count" 4
  put "$mc/dimm1/dimm_ce_count" 4
  checked '    dimms: {run: memory_errors, on_rise: block, rise: 2}'
  gate 0 --again
  in_record '.verdict == "ready" and .reasons == []'
  change gate/dimms/memory/rise | jq -e '.desired == "at most 2 more under load"'
}

@test "a warning of the load stays, though no later look finds it; so does what it made of the verdict" {
  local reasons
  checked '    dimms: {run: memory_errors}'
  load_puts "$mc/ce_count" 6
  gate 0
  reasons=$(jq -c .reasons "$record")
  [ "$(jq length <<<"$reasons")" = 1 ]
  run -0 "$railhead" gate --recheck --root "$root"
  [ -z "$output" ]
  # what else happens changes nothing of it
  put "$mc/ue_count" 1
  run -7 "$railhead" gate --recheck --root "$root"
  in_record '.verdict == "lapsed" and (.reasons | length == 2) and ([.faults[].code] | sort == ["RH-MEMORY-CORRECTED", "RH-MEMORY-ERRORS"])'
  put "$mc/ue_count" 0
  run -0 "$railhead" gate --recheck --root "$root"
  [ "$(jq -c .reasons "$record")" = "$reasons" ]
  in_record '.verdict == "ready"'

  # nor does a retry, which has no load either
  put "$mc/ce_count" 4
  put "$root/sys/class/net/eth0/carrier" 0
  checked '    dimms: {run: memory_errors}
    links: {run: carrier, on: nics, timeout: 1s}'
  gate 7 --again
  in_record '.verdict == "waiting" and (.reasons | length == 2)'
  put "$root/sys/class/net/eth0/carrier" 1
  gate 0 --retry
  in_record '.verdict == "ready" and (.reasons | length == 1) and .faults[0].code == "RH-MEMORY-CORRECTED"'

  put "$mc/ce_count" 4
  gated '  admit_degraded: true
  checks:
    memory: {run: memory_bandwidth, per: node, min: 500MB/s}
    dimms: {run: memory_errors, on_rise: degrade}'
  gate 0 --again
  in_record '.verdict == "degraded"'
  run -0 "$railhead" gate --recheck --root "$root"
  in_record '.verdict == "degraded" and (.reasons | length == 1)'
}

@test "memory that lost data blocks, with a load or without; corrected says how many may be corrected" {
  gated '  checks: {dimms: {run: memory_errors, corrected: 3}}'
  put "$mc/ue_count" 1
  put "$mc/dimm1/dimm_ue_count" 1
  gate 7
  in_record '.verdict == "blocked" and ([.faults[].code] == ["RH-MEMORY-ERRORS", "RH-MEMORY-CORRECTED"])
    and (.reasons[0] | contains("DIMM_B2 (mc0/dimm1): uncorrected errors 1 since boot; data was lost: replace the DIMM"))
    and (.reasons[1] | startswith("gate/dimms/memory/corrected: found '"'"'DIMM_B2 (mc0/dimm1) corrected errors 4'"'"', expected '"'"'at most 3'"'"'"))'
}

@test "a link that goes down under load blocks; symbol errors beyond two warn; a reset is said to be one" {
  checked '    ports: {run: port_errors, on: nics}'
  load_puts "$port/counters/link_downed" 3
  gate 7
  in_record '.verdict == "blocked" and .faults[0].code == "RH-RDMA-ERRORS"
    and (.reasons[0] | contains("mlx5_0 port 1: link_downed rose by 1 under load, to 3")) and (.faults[0].remedy | startswith("clean or replace the cable"))'
  put "$port/counters/link_downed" 3
  load_puts "$port/counters/symbol_error" 10
  gate 0 --again
  in_record '.verdict == "ready" and (.reasons | length == 1) and .faults[0].on_fail == "warn"
    and (.reasons[0] | contains("symbol_error rose by 3 under load, to 10"))'
  put "$port/counters/link_downed" 4
  gate 7 --again
  in_record '.verdict == "blocked" and .faults[0].code == "RH-GATE-CANNOT-LOOK"
    and (.reasons[0] | contains("mlx5_0 port 1: link_downed fell from 4 to 3 under load, so that its rise is not known")) and (.faults[0].remedy | startswith("the device or its driver was reset"))'
}

@test "heat under load names CPU and package; on_fail is its consequence" {
  checked '    heat: {run: throttling, on_fail: warn}'
  load_puts "$heat" 5
  gate 0
  in_record '.verdict == "ready" and .faults[0].code == "RH-CPU-THROTTLED" and .faults[0].on_fail == "warn"
    and (.reasons[0] | contains("CPU 3: core_throttle_count rose by 5 under load, to 5")) and (.faults[0].remedy | startswith("the CPU is too hot for its load"))'
  put "$heat" 0
  checked '    heat: {run: throttling}'
  gate 7 --again
  in_record '.verdict == "blocked"'
}

@test "without a benchmark nothing is under load: counters are told" {
  gated "  checks:
$ALL"
  gate 0
  in_record '.verdict == "ready" and .reasons == [] and .numbers.unjudged == ["dimms", "ports", "heat"]'
  run -0 "$railhead" status --root "$root"
  [[ $output == *"numbers: none; no load in this boot, so no rise of counters is judged (dimms, ports, heat)"* ]]
}

orderly_reboot() {
  "$railhead" gate --keep --root "$root"
  rm -rf "$root/run/railhead"
  put "$root/proc/sys/kernel/random/boot_id" "$(cat /proc/sys/kernel/random/uuid)"
}

reusing() { # LINES
  checked "$1"
  sed -i 's/^gate:/&\n  reuse: 24h/' "$root/etc/railhead/profiles/sku.yaml"
}

@test "figures of an earlier boot: no load, so that no rise is judged, which is said; what stands is judged" {
  reusing "    dimms: {run: memory_errors, corrected: 10}
    ports: {run: port_errors, on: nics}
    heat: {run: throttling}"
  gate 0
  in_record '.numbers.boots_ago == 0 and (.numbers | has("unjudged") | not)'
  orderly_reboot
  load_puts "$mc/ce_count" 6 # nothing puts it there
  gate 0
  in_record '.verdict == "ready" and .numbers.boots_ago == 1 and .numbers.unjudged == ["dimms", "ports", "heat"]'
  run -0 "$railhead" status --root "$root"
  [[ $output == *"numbers: measured "*" ago, in the boot before"*"; no load in this boot, so no rise of counters is judged (dimms, ports, heat)"* ]]
  run -0 "$railhead" gate --recheck --root "$root"
  in_record '.numbers.unjudged == ["dimms", "ports", "heat"]'

  bench_value 1e9 # what puts it there is gone
  for how in "ue_count:RH-MEMORY-ERRORS:uncorrected errors 1 since boot" "ce_count:RH-MEMORY-CORRECTED:corrected errors 11"; do
    IFS=: read -r file code said <<<"$how"
    orderly_reboot
    put "$mc/$file" "$([ "$file" = ue_count ] && echo 1 || echo 15)"
    put "$mc/dimm1/dimm_$file" "$([ "$file" = ue_count ] && echo 1 || echo 11)"
    gate 7
    in_record ".verdict == \"blocked\" and .numbers.boots_ago > 0 and .faults[0].code == \"$code\" and (.reasons[0] | contains(\"$said\"))"
    put "$mc/$file" 0
    put "$mc/dimm1/dimm_$file" 0
    run -0 with_bench "$railhead" gate --root "$root" # a pass again
  done
}

@test "figures beside which a counter rose serve no other boot, which would not say so" {
  local link=$root/sys/devices/pci0000:00/$PF0
  reusing '    dimms: {run: memory_errors}'
  load_puts "$mc/ce_count" 6
  gate 0
  in_record '.verdict == "ready" and (.reasons | length == 1)'
  [ ! -e "$root/run/railhead/pass.json" ]
  gate 0 --again # nothing rises any more
  in_record '.reasons == []'
  [ -e "$root/run/railhead/pass.json" ]

  put "$link/aer_dev_fatal" "TOTAL_ERR_FATAL 0"
  put "$link/aer_dev_nonfatal" "TOTAL_ERR_NONFATAL 0"
  put "$link/aer_dev_correctable" "BadTLP 2"
  reusing '    errors: {run: pcie_errors, on: nics, corrected: 5, on_fail: warn}'
  load_puts "$link/aer_dev_correctable" "BadTLP 40"
  gate 0 --again
  in_record '.verdict == "ready" and (.reasons | length == 1) and (.reasons[0] | contains("failed under the load of the benchmarks (memory)"))'
  [ ! -e "$root/run/railhead/pass.json" ]
  # before the load that was so, too: the next boot finds it by itself
  gate 0 --again
  in_record '.verdict == "ready" and (.reasons | length == 1)'
  [ -e "$root/run/railhead/pass.json" ]
}

@test "what a captured tree does not hold is listed, and a node without a drive has nothing to check" {
  rm -r "$root/sys/devices/system/edac"
  gated '  checks: {dimms: {run: memory_errors, corrected: 3}}'
  gate 0
  in_record '.verdict == "ready" and (.skipped | sort == ["gate/dimms/memory", "gate/dimms/memory/corrected", "gate/dimms/memory/rise"])'
  gated '  checks: {drives: {run: nvme_health, wear: 90}}'
  gate 7
  in_record '.faults[0].code == "RH-PROFILE-CHECKS-NOTHING"'
  fake_pf "$root" 0000:c1:00.0 0 eth9 9
  put "$root/sys/devices/pci0000:00/0000:c1:00.0/class" 0x010802
  gate 0 --again
  in_record '.verdict == "ready" and (.skipped | sort == ["gate/drives/0000:c1:00.0", "gate/drives/0000:c1:00.0/rise", "gate/drives/0000:c1:00.0/wear"])'
  run -0 "$railhead" plan --json --root "$root"
  [ "$(jq -c '[.changes[] | select(.id | startswith("gate/drives/")) | [.on_fail, .desired]]' <<<"$output")" = \
    '[[null,"0"],["warn","as before the load"],["warn","at most 90"]]' ] || {
    jq -c '.changes[] | select(.id | startswith("gate/drives/"))' <<<"$output" >&2
    return 1
  }
}
