#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The gate's checks of GPUs, with the stand-ins of tests/gpu for NVIDIA's libraries: what
# becomes of their figures, their faults, and of a library that hangs or crashes.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/gate

setup() {
  gate_need
  root=$BATS_TEST_TMPDIR/root
  gate_out=$BATS_TEST_TMPDIR/out
  lib=$BATS_TEST_TMPDIR/lib
  a=0000:3b:00.0 b=0000:86:00.0
  fake_node "$root"
  gpu "$a" 0
  gpu "$b" 1
  mkdir "$lib"
  cp "$BATS_TEST_DIRNAME"/../build/gpu-standin/*.so.1 "$lib"
  model "$a gpu 1" "$b gpu 0" "$a $b 2000000000" "$b $a 2000000000"
  with_stand_ins
  profile "$root" site <<Y
schema: 1
name: site
version: 1.0.0
match: {dmi: {sys_vendor: Supermicro}}
devices: {gpus: {pci: "10de:2330", expect: 2}}
gate:
  budget: 30s
  checks:
    health: {run: gpu_health, on: gpus}
    copy: {run: gpu_copy, on: gpus, min: 1GB/s, timeout: 4s}
    peer: {run: gpu_peer, on: gpus, min: 1GB/s}
Y
}

gpu() { # ADDRESS IFINDEX
  local dev=$root/sys/devices/pci0000:00/$1
  fake_pf "$root" "$1" 0 "eth$2" "$2"
  rm -r "$dev/net" "$root/sys/class/net/eth$2"
  put "$dev/vendor" 0x10de
  put "$dev/device" 0x2330
  put "$dev/class" 0x030200
  put "$dev/max_link_width" 16
  put "$dev/max_link_speed" "32.0 GT/s PCIe"
}

model() { printf '%s\n' "$@" >>"$lib/node"; }

# The gate gives its children no environment: what it runs gives it to the program.
with_stand_ins() {
  local program=$bench
  bench=$BATS_TEST_TMPDIR/bench
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$lib" "$program" >"$bench"
  chmod +x "$bench"
}

# Again while something else on this machine disturbs what is measured.
gate_ends() { # STATUS VERDICT [OPTION]
  local status
  for _ in {1..10}; do
    status=0
    rm -f "$BATS_TEST_TMPDIR/starts"
    gate --root "$root" ${3:+"$3"} || status=$?
    jq -e '[.measurements[]? | ., .looks[]? | .state == "invalid"] | any' "$gate_out" >/dev/null || break
  done
  [ "$status" -eq "$1" ] && [ "$(jq -r .verdict "$gate_out")" = "$2" ] || {
    jq -c '.verdict, .reasons' "$gate_out"
    return 1
  }
}

@test "healthy GPUs that are fast enough pass" {
  gate_ends 0 ready
  for id in health/$a health/$b copy/$a copy/$b peer/$a-$b; do
    measured "gate/$id" same
  done
  [ "$(jq '.measurements | length' "$gate_out")" = 5 ]
}

# Eight of them, as on an HGX board.
eight_gpus() {
  local i j
  gpus=("$a" "$b" 0000:3c:00.0 0000:3d:00.0 0000:3e:00.0 0000:87:00.0 0000:88:00.0 0000:89:00.0)
  for i in {2..7}; do
    gpu "${gpus[i]}" "$i"
  done
  for i in {0..7}; do
    model "${gpus[i]} gpu $i"
    for j in {0..7}; do
      [ "$i" = "$j" ] || model "${gpus[i]} ${gpus[j]} 2000000000"
    done
  done
  sed -i "s/expect: 2/expect: 8/; s/peer: {.*/peer: {run: gpu_peer, on: gpus, min: 1GB\/s, timeout: 4s}/; s/budget: 30s/budget: 60s/" \
    "$root/etc/railhead/profiles/site.yaml"
}

# What the gate starts notes its words.
with_log() {
  local program=$bench
  bench=$BATS_TEST_TMPDIR/logged
  printf '#!/bin/sh\necho "$@" >>%s/starts\nexec %s "$@"\n' "$BATS_TEST_TMPDIR" "$program" >"$bench"
  chmod +x "$bench"
}

@test "eight GPUs: all checks in one process, which initialises the library once" {
  eight_gpus
  with_log
  model "cuInit sleeps 1000"
  gate_ends 0 ready
  [ "$(wc -l <"$BATS_TEST_TMPDIR/starts")" = 1 ]
  grep -qx "together .*" "$BATS_TEST_TMPDIR/starts"
  [ "$(jq '[.measurements[] | select(.state == "same")] | length' "$gate_out")" = 24 ]
  jq -e '[.measurements[] | .detail | has("task") or has("took_us")] | any | not' "$gate_out"
}

@test "eight GPUs, of which one hangs: it is named, and all others have their figures" {
  eight_gpus
  with_log
  model "$b context_us 600000000"
  gate_ends 7 blocked
  for gpu in "${gpus[@]}"; do
    measured "gate/health/$gpu" same
    [ "$gpu" = "$b" ] || measured "gate/copy/$gpu" same
  done
  measured "gate/copy/$b" failed "^gpu_copy of $b: no result within 4000 ms; killed$"
}

@test "what only asks the driver has its turn after the load, which may bring a fault out" {
  with_log
  gate_ends 0 ready
  grep -q "gpu_copy.*gpu_peer.*gpu_health" "$BATS_TEST_TMPDIR/starts"
}

# The program's user must be able to write there.
with_errors_under_load() { # FILE
  local program=$bench
  bench=$BATS_TEST_TMPDIR/erring
  chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
  chmod 666 "$1"
  printf '#!/bin/sh\nprintf "DLP 3\\nTOTAL_ERR_FATAL 3\\n" >%s\nexec %s "$@"\n' "$1" "$program" >"$bench"
  chmod +x "$bench"
}

@test "an error of the link that the load brings out is seen, and names the benchmarks" {
  local dev
  for dev in "$a" "$b"; do
    put "$root/sys/devices/pci0000:00/$dev/aer_dev_fatal" "TOTAL_ERR_FATAL 0"
    put "$root/sys/devices/pci0000:00/$dev/aer_dev_nonfatal" "TOTAL_ERR_NONFATAL 0"
  done
  sed -i 's/^  checks:/&\n    errors: {run: pcie_errors, on: gpus}/' "$root/etc/railhead/profiles/site.yaml"
  gate_ends 0 ready
  with_errors_under_load "$root/sys/devices/pci0000:00/$a/aer_dev_fatal"
  gate_ends 7 blocked --again
  jq -e --arg a "$a" '(.reasons | length == 1) and (.reasons[0]
    | startswith("gate/errors/\($a): found '"'3'"'") and contains("DLP 3")
      and endswith("so since the load of the benchmarks (copy, peer): it was well before them"))
    and .faults[0].code == "RH-PCI-ERRORS"' "$gate_out"
  # by now that is so before them
  gate_ends 7 blocked --again
  jq -e '(.reasons | length == 1) and (.reasons[0] | contains("since the load") | not)' "$gate_out"
}

@test "a slow one is named with its figure, both wanted and measured, and what may be the cause" {
  put "$root/sys/devices/pci0000:00/$a/current_link_width" 4
  model "$a d2h 500000000"
  gate_ends 7 blocked
  measured "gate/copy/$a" slow \
    "^gpu_copy of $a: measured 500.0 MB/s, required at least 1GB/s; likely: PCIe width of $a is 4 lanes"
  measured "gate/copy/$b" same
}

@test "faults are told in full, each with what to do" {
  model "$b remap_pending 1" "$b width 8"
  gate_ends 7 blocked
  measured "gate/health/$b" slow "^gpu_health of $b: a row .* reset the GPU.*; its PCIe link has 8 lanes of 16"
  [ "$(jq -r ".faults[].code" "$gate_out")" = RH-GPU-LINK-WIDTH ]
  measured "gate/health/$a" same
}

@test "a benchmark that is told that its time is over: the figure that it has counts" {
  cat >"$bench" <<'S'
#!/bin/sh
[ "$1" != together ] || exit 1
trap 'echo "{\"bench\":\"$1\",\"result\":\"measured\",\"value\":2e9,\"unit\":\"B/s\"}"; exit 0' TERM
[ "$1" != gpu_health ] || exec echo '{"bench":"gpu_health","result":"measured","value":0,"unit":"faults","faults":[]}'
sleep 60 &
wait
S
  sed -i 's/peer: {run: gpu_peer, on: gpus, min: 1GB\/s}/peer: {run: gpu_peer, on: gpus, min: 3GB\/s, timeout: 2s}/' \
    "$root/etc/railhead/profiles/site.yaml"
  gate_ends 7 blocked
  measured "gate/copy/$a" same
  measured "gate/peer/$a-$b" slow "measured 2.0 GB/s, required at least 3GB/s"
}

@test "a library that hangs: its deadline, and nothing of the others is lost" {
  model "cuMemcpyHtoDAsync_v2 hangs 0"
  gate_ends 7 blocked
  for gpu in $a $b; do
    measured "gate/copy/$gpu" failed "^gpu_copy of $gpu: no result within 4000 ms; killed$"
    measured "gate/health/$gpu" same
  done
  measured "gate/peer/$a-$b" same
  [ "$gate_ms" -lt 20000 ] # both copies use node 0: one after the other
}

@test "a library that crashes: what the kernel said of it" {
  model "cuMemHostAlloc crashes 0"
  gate_ends 7 blocked
  measured "gate/copy/$a" failed "exit status 1; it said: gpu_copy: killed by signal 11"
  measured "gate/peer/$a-$b" same
}

@test "a fabric manager that has not finished is not yet there, which is no fault of the GPU" {
  model "cuInit fails 802"
  gate_ends 7 waiting
  measured "gate/copy/$a" "not yet" "nvidia-fabricmanager"
  measured "gate/health/$a" same
}

@test "without a way to each other by design, or without libraries, nothing is proven" {
  model "$a $b 0" "$b $a 0" "$a p2p 2"
  gate_ends 7 blocked
  measured "gate/peer/$a-$b" unsupported "unsupported .*this model of GPU.*, and the profile requires .*B/s; .* optional: true"
  rm "$lib"/*.so.1
  gate_ends 7 blocked --again
  measured "gate/copy/$a" "cannot measure" "^gpu_copy of $a: libcuda.so.1: .* install NVIDIA's driver"
}

# --- a pass that is used again -------------------------------------------------------------------

reused() { # after an orderly reboot, from now on
  "$railhead" gate --keep --root "$root"
  rm -rf "$root/run/railhead"
  put "$root/proc/sys/kernel/random/boot_id" "$(cat /proc/sys/kernel/random/uuid)"
}

numbers() { # JQ-FILTER
  jq -e "$1" "$gate_out" >/dev/null || {
    jq -c .numbers "$gate_out"
    return 1
  }
}

@test "reuse: what a GPU knows to be wrong is asked in every boot, and only copies are taken over" {
  sed -i 's/  budget: 30s/&\n  reuse: 24h/' "$root/etc/railhead/profiles/site.yaml"
  gate_ends 0 ready
  numbers '.numbers.boots_ago == 0 and (.numbers | has("this_boot") | not)'
  reused
  jq '.measured -= 3600' "$root/var/lib/railhead/pass.json" >"$root/x"
  mv "$root/x" "$root/var/lib/railhead/pass.json"
  model "$a h2d 500000000" # nobody copies
  gate_ends 0 ready
  numbers '.numbers.boots_ago == 1 and .numbers.this_boot == ["health"] and (.measurements | length) == 5'
  run -0 "$railhead" status --root "$root"
  [[ $output == *"numbers: measured 1 h ago, in the boot before (in this boot: health)"* ]]
  reused
  model "$b remap_pending 1" "$b width 8"
  gate_ends 7 blocked
  numbers '.numbers.boots_ago == 2'
  measured "gate/health/$b" slow "^gpu_health of $b: a row .*; its PCIe link has 8 lanes of 16"
  measured "gate/health/$a" same
  measured "gate/copy/$a" same
  gate_ends 7 blocked --again
  measured "gate/copy/$a" slow
}

@test "reuse: a library that hangs at the looks is no pass, and the numbers stay what they were" {
  sed -i 's/  budget: 30s/&\n  reuse: 24h/; s/gpu_health, on: gpus/&, timeout: 2s/' \
    "$root/etc/railhead/profiles/site.yaml"
  gate_ends 0 ready
  reused
  model "nvmlInit_v2 hangs 0"
  gate_ends 7 blocked
  measured "gate/health/$a" failed "no result within 2000 ms"
  measured "gate/copy/$a" same
}

@test "reuse: a profile whose benchmarks need no load has nothing to take over" {
  sed -i 's/  budget: 30s/&\n  reuse: 24h/; /copy:/d; /peer:/d' "$root/etc/railhead/profiles/site.yaml"
  gate_ends 0 ready
  reused
  [ ! -e "$root/var/lib/railhead/pass.json" ]
  gate_ends 0 ready
  numbers '.numbers.boots_ago == 0'
}
