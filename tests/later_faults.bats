#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Faults after the verdict that no value of the profile shows: counters that stand still in health, and
# what only a GPU's driver knows (the stand-ins of tests/gpu).

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/gate
load lib/clock

setup() {
  gate_setup
  record=$root/run/railhead/status.json
  lib=$BATS_TEST_TMPDIR/lib
}

want() { # CHECKS
  profile "$root" site <<Y
schema: 1
name: site
match: {dmi: {sys_vendor: Supermicro}}
devices: {rails: {pci: "15b3:1021"}, gpus: {pci: "10de:2330"}}
gate: {checks: {$1}}
Y
}

becomes() { # STATUS VERDICT COMMAND...
  local status=0
  "${@:3}" || status=$?
  [ "$status" -eq "$1" ] && [ "$(jq -r .verdict "$record")" = "$2" ] || {
    echo "exit status $status" >&2
    jq -c '.verdict, .reasons' "$record" >&2
    return 1
  }
}

recheck() { # STATUS VERDICT
  becomes "$1" "$2" gate --recheck --root "$root"
}

names() { # CODE PATTERN
  jq -e --arg code "$1" --arg pattern "$2" '[.faults[] | select(.code == $code and (.reason | test($pattern)))] | length == 1' "$record" >/dev/null || {
    jq -c .faults "$record" >&2
    return 1
  }
}

# --- counters -------------------------------------------------------------------------

with_port() {
  local dev=$root/sys/devices/pci0000:00/$PF0
  port=$dev/infiniband/mlx5_0/ports/1
  put "$port/state" "4: ACTIVE"
  mkdir -p "$root/sys/class/infiniband"
  ln -s "../../devices/pci0000:00/$PF0/infiniband/mlx5_0" "$root/sys/class/infiniband/mlx5_0"
  put "$port/counters/link_downed" 3
  put "$port/counters/symbol_error" 7
}

@test "a link that went down more than once between looks lapses the node, which is ready again when it stays up" {
  with_port
  want 'e: {run: port_errors, on: rails, optional: true}'
  becomes 0 ready gate --root "$root"
  recheck 0 ready
  put "$port/counters/symbol_error" 900 # may rise in health
  put "$port/counters/link_downed" 4 # planned work: once
  recheck 0 ready
  recheck 0 ready
  put "$port/counters/link_downed" 503
  recheck 7 lapsed
  names RH-RDMA-ERRORS "mlx5_0 port 1: link_downed rose by 500 after the verdict, to 503; .*cable"
  [ ! -e "$root/run/railhead/ready" ]
  recheck 0 ready
  [ -e "$root/run/railhead/ready" ]
}

@test "a link that keeps going down: after four lapses the node stays out for an hour" {
  with_port
  want 'e: {run: port_errors, on: rails, optional: true}'
  becomes 0 ready gate --root "$root"
  for lapse in 1 2 3; do
    put "$port/counters/link_downed" "${lapse}0"
    recheck 7 lapsed
    recheck 0 ready
  done
  put "$port/counters/link_downed" 40
  recheck 7 lapsed
  recheck 7 lapsed
  names RH-HOST-FLAPS "too often"
}

@test "a counter that starts again is no fault, and is compared with what it starts from" {
  with_port
  put "$port/counters/link_downed" 200
  want 'e: {run: port_errors, on: rails, optional: true}'
  becomes 0 ready gate --root "$root"
  put "$port/counters/link_downed" 0 # the driver was loaded again
  recheck 0 ready
  put "$port/counters/link_downed" 1
  recheck 0 ready
  put "$port/counters/link_downed" 2
  recheck 7 lapsed
  names RH-RDMA-ERRORS "rose by 2 after the verdict, to 2"
}

@test "a counter of a device that a container has, and gives back, is no fault" {
  with_port
  want 'e: {run: port_errors, on: rails, optional: true}'
  becomes 0 ready gate --root "$root"
  rm "$root/sys/class/infiniband/mlx5_0"
  recheck 0 ready
  put "$port/counters/link_downed" 9
  ln -s "../../devices/pci0000:00/$PF0/infiniband/mlx5_0" "$root/sys/class/infiniband/mlx5_0"
  recheck 0 ready
}

@test "a rise with on_fail: warn keeps no work out" {
  with_port
  want 'e: {run: port_errors, on: rails, optional: true, on_fail: warn}'
  becomes 0 ready gate --root "$root"
  put "$port/counters/link_downed" 9
  recheck 0 ready
  names RH-RDMA-ERRORS "rose by 6 after the verdict"
  recheck 0 ready
  [ "$(jq '.faults | length' "$record")" = 0 ]
}

@test "a new gate counts from what it finds" {
  with_port
  want 'e: {run: port_errors, on: rails, optional: true}'
  becomes 0 ready gate --root "$root"
  put "$port/counters/link_downed" 9
  becomes 0 ready gate --again --root "$root"
  recheck 0 ready
}

@test "a carrier that was lost twice and is there again lapses the node; one that came back after a lapse does not" {
  local net=$root/sys/class/net/eth0
  put "$net/carrier_changes" 2
  want 'c: {run: carrier, on: rails, timeout: 1s}'
  becomes 0 ready gate --root "$root"
  recheck 0 ready
  put "$net/carrier_changes" 4 # a loss and a return
  recheck 0 ready
  put "$net/carrier_changes" 6
  recheck 7 lapsed
  names RH-NIC-CARRIER "eth0 of $PF0 has its carrier, and has lost it more than once after the verdict \\(carrier_changes rose by 4, to 6\\)"
  recheck 0 ready
  # seen while it is away: it heals with the first look that finds it
  put "$net/carrier" 0
  put "$net/carrier_changes" 7
  recheck 7 lapsed
  names RH-NIC-CARRIER "up, and has no carrier"
  put "$net/carrier" 1
  put "$net/carrier_changes" 8
  recheck 0 ready
  # a kernel or driver that counts none
  rm "$net/carrier_changes"
  recheck 0 ready
}

# --- GPUs -----------------------------------------------------------------------------

gpu() { # ADDRESS
  local dev=$root/sys/devices/pci0000:00/$1
  fake_pf "$root" "$1" 0 ethx 9
  rm -r "$dev/net" "$root/sys/class/net/ethx"
  put "$dev/device" 0x2330
  put "$dev/vendor" 0x10de
  put "$dev/class" 0x030200
}

model() { printf '%s\n' "$@" >>"$lib/node"; }

with_gpus() { # CHECKS: ready with them
  local program=$bench
  a=0000:3b:00.0 b=0000:86:00.0
  gpu $a
  gpu $b
  mkdir "$lib"
  cp "$BATS_TEST_DIRNAME"/../build/gpu-standin/*.so.1 "$lib"
  model "$a gpu 1" "$b gpu 0"
  bench=$BATS_TEST_TMPDIR/bench
  asked=$BATS_TEST_TMPDIR/asked
  printf '#!/bin/sh\necho >>%s\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$asked" "$lib" "$program" >"$bench"
  chmod +x "$bench"
  share_clock
  want "$1"
  becomes 0 ready on_clock gate --root "$root"
  rm "$asked"
}

hour() { pass 3600000; }

recheck_gpus() { # STATUS VERDICT
  becomes "$1" "$2" on_clock gate --recheck --root "$root"
}

@test "a GPU that got sick after the verdict is found within the hour, and lapses the node until it is well" {
  with_gpus 'h: {run: gpu_health, on: gpus}'
  model "$b remap_pending 1"
  recheck_gpus 0 ready
  [ ! -e "$asked" ]
  hour
  recheck_gpus 7 lapsed
  names RH-GPU-MEMORY "$b: a row of its memory waits to be remapped: reset the GPU"
  # it is asked at each look until it is well
  model "$b remap_pending 0"
  recheck_gpus 0 ready
  rm "$asked"
  recheck_gpus 0 ready
  [ ! -e "$asked" ]
  hour
  recheck_gpus 0 ready
  [ -e "$asked" ]
}

@test "memory errors that ECC can't correct, and a GPU that the driver lost, lapse the node" {
  with_gpus 'h: {run: gpu_health, on: gpus}'
  model "$a uncorrected 2"
  hour
  recheck_gpus 7 lapsed
  names RH-GPU-MEMORY "$a: 2 uncorrectable memory errors"
  model "$a uncorrected 0" "nvmlDeviceGetHandleByPciBusId_v2 fails 15"
  recheck_gpus 7 lapsed
  jq -e '.faults | map(.code) | unique == ["RH-GPU-OFF-BUS"]' "$record"
}

@test "a driver that hangs is no fault of a GPU: not looked at, said once, and asked again in an hour" {
  with_gpus 'h: {run: gpu_health, on: gpus}'
  clock=$lib/clock
  cp "$BATS_TEST_TMPDIR/clock" "$clock"
  chmod 666 "$clock"
  hour
  model "nvmlInit_v2 passes 50000" "nvmlInit_v2 hangs 0"
  recheck_gpus 0 ready
  names RH-GATE-CANNOT-LOOK "gate/h/$a: not looked at since the last answer: .*no result"
  names RH-GATE-CANNOT-LOOK "gate/h/$b: not looked at since the last answer: .*no result"
  [ -e "$root/run/railhead/ready" ]
  rm "$asked"
  recheck_gpus 0 ready
  [ ! -e "$asked" ]
  names RH-GATE-CANNOT-LOOK "gate/h/$a: not looked at"
  hour
  sed -i /nvmlInit/d "$lib/node"
  recheck_gpus 0 ready
  [ "$(jq '.faults | length' "$record")" = 0 ]
}

@test "a library that is not there is not looked at; a driver that answers with an error is a fault" {
  with_gpus 'h: {run: gpu_health, on: gpus}'
  mv "$lib/libnvidia-ml.so.1" "$BATS_TEST_TMPDIR"
  hour
  recheck_gpus 0 ready
  names RH-GATE-CANNOT-LOOK "gate/h/$a: not looked at since the last answer: "
  mv "$BATS_TEST_TMPDIR/libnvidia-ml.so.1" "$lib"
  hour
  model "nvmlInit_v2 fails 18"
  recheck_gpus 7 lapsed
  names RH-GPU-DRIVER "gate/h/$a.*different versions"
}

@test "clocks that a job's load holds down are no fault after the verdict" {
  with_gpus 'h: {run: gpu_health, on: gpus}'
  model "$a clocks 64"
  hour
  recheck_gpus 0 ready
  [ -e "$asked" ]
  [ "$(jq '.faults | length' "$record")" = 0 ]
  becomes 7 blocked on_clock gate --again --root "$root"
}

@test "a sick GPU of a check with on_fail: warn warns, and of a node without such a check nobody asks" {
  with_gpus 'h: {run: gpu_health, on: gpus, on_fail: warn}'
  model "$b remap_pending 1"
  hour
  recheck_gpus 0 ready
  names RH-GPU-MEMORY "$b: a row of its memory"
  rm "$asked"
  recheck_gpus 0 ready # the answer stays until the next question
  [ ! -e "$asked" ]
  names RH-GPU-MEMORY "$b: a row of its memory"
  want 'c: {run: carrier, on: rails, timeout: 1s}'
  becomes 0 ready on_clock gate --again --root "$root"
  hour
  rm -f "$asked"
  recheck_gpus 0 ready
  [ ! -e "$asked" ]
}
