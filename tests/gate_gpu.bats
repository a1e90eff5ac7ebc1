#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The gate's checks of GPUs, with the stand-ins of tests/gpu for NVIDIA's libraries: what
# becomes of their figures, their faults, and of a library that hangs or crashes.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/gate
load lib/clock

setup() {
  gate_setup
  lib=$BATS_TEST_TMPDIR/lib
  a=0000:3b:00.0 b=0000:86:00.0
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
  budget: 240s
  checks:
    health: {run: gpu_health, on: gpus}
    copy: {run: gpu_copy, on: gpus, min: 1GB/s, timeout: 8s}
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

as_before() { :; } # what a gate has changed, and finds for the test

# Again while something else on this machine disturbs what is measured.
gate_ends() { # STATUS VERDICT [OPTION]
  local status again=${3:-}
  for _ in {1..30}; do
    status=0
    as_before
    rm -f "$BATS_TEST_TMPDIR/starts"
    gate --root "$root" ${again:+"$again"} || status=$?
    again=--again # what let work in would stand
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
  sed -i "s/expect: 2/expect: 8/; s/peer: {.*/peer: {run: gpu_peer, on: gpus, min: 1GB\/s, timeout: 8s}/" \
    "$root/etc/railhead/profiles/site.yaml"
}

# What the gate starts notes its words.
with_log() {
  local program=$bench
  bench=$BATS_TEST_TMPDIR/logged
  printf '#!/bin/sh\necho "$@" >>%s/starts\nexec %s "$@"\n' "$BATS_TEST_TMPDIR" "$program" >"$bench"
  chmod +x "$bench"
}

@test "eight GPUs: all loads in one process, which initialises the library once, after a look by NVML alone" {
  eight_gpus
  with_log
  model "cuInit sleeps 1000"
  gate_ends 0 ready
  [ "$(wc -l <"$BATS_TEST_TMPDIR/starts")" = 2 ]
  [ "$(grep -cx "together .*" "$BATS_TEST_TMPDIR/starts")" = 2 ]
  [ "$(grep -c "gpu_copy.*gpu_peer" "$BATS_TEST_TMPDIR/starts")" = 1 ]
  [ "$(jq '[.measurements[] | select(.state == "same")] | length' "$gate_out")" = 24 ]
  jq -e '[.measurements[] | .detail | has("task") or has("started_us") or has("took_us")] | any | not' "$gate_out"
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
  measured "gate/copy/$b" failed "^gpu_copy of $b: no result within 8000 ms, so it was killed; "
}

@test "what only asks the driver has its turn before the load, and after it, which may bring a fault out" {
  with_log
  gate_ends 0 ready
  [[ $(sed -n 1p "$BATS_TEST_TMPDIR/starts") == *gpu_health*gpu_health* ]]
  [[ $(sed -n 1p "$BATS_TEST_TMPDIR/starts") != *gpu_copy* ]]
  sed -n 2p "$BATS_TEST_TMPDIR/starts" | grep -q "gpu_copy.*gpu_peer.*gpu_health"
  jq -e '[.measurements[] | has("looks")] | any | not' "$gate_out"
}

# From the beginning of the load on; NVML alone does not begin it. Each try begins without.
model_under_load() { # LINE
  local program=$bench
  cp "$lib/node" "$lib/node-before"
  as_before() { cat "$lib/node-before" >"$lib/node"; }
  bench=$BATS_TEST_TMPDIR/loaded
  chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
  chmod 666 "$lib/node"
  printf '#!/bin/sh\ncase "$*" in *gpu_copy*) echo "%s" >>%s ;; esac\nexec %s "$@"\n' "$1" "$lib/node" "$program" >"$bench"
  chmod +x "$bench"
}

@test "a fault that stood before the load is told from one that the load brought out" {
  model "$b width 8"
  model_under_load "$b remap_pending 1"
  gate_ends 7 blocked
  measured "gate/health/$b" slow \
    "^gpu_health of $b: its PCIe link has 8 lanes of 16[^;]*; since the load of the benchmarks [(]copy, peer[)]: a row of its memory waits"
  measured "gate/health/$a" same
  measured "gate/copy/$b" same
  # by now both were there before
  as_before() { :; }
  gate_ends 7 blocked --again
  measured "gate/health/$b" slow "^gpu_health of $b: a row of its memory waits"
  jq -e '[.reasons[] | contains("since the load")] | any | not' "$gate_out"
}

@test "more errors than before the load are the load's" {
  model "$b uncorrected 2"
  sed -i 's/health: {/&on_fail: warn, /' "$root/etc/railhead/profiles/site.yaml" # else there is no load
  model_under_load "$b uncorrected 5"
  gate_ends 0 ready
  measured "gate/health/$b" slow "^gpu_health of $b: since the load of the benchmarks [(]copy, peer[)]: 5 uncorrectable memory errors"
}

@test "a fault that is gone after the load came and went" {
  model "$b width 8"
  model_under_load "$b width 16"
  gate_ends 0 ready
  measured "gate/health/$b" intermittent "^gpu_health of $b: slow in one look"
}

@test "a GPU that must be reset or replaced gets no load; a GPU with other faults may" {
  with_log
  while read -r key value code; do
    model "$b $key $value"
    gate_ends 7 blocked --again
    measured "gate/health/$b" slow "reset|replace"
    measured "gate/copy/$b" "cannot measure" \
      "^gpu_copy of $b: not run: $b gets no load until the faults that gate/health/$b reports are mended$"
    measured "gate/peer/$a-$b" "cannot measure" "^gpu_peer between $a and $b: not run: $b gets no load"
    measured "gate/copy/$a" same
    run ! grep -q "gpu_copy --gpu $b" "$BATS_TEST_TMPDIR/starts"
    [ "$(jq -r '[.faults[].code] | join(" ")' "$gate_out")" = "$code" ] # said once
    jq -e --arg b "$b" '[.measurements[] | select(.follows) | .check] == ["copy", "peer"]' "$gate_out"
    sed -i '$d' "$lib/node"
  done <<E2
remap_pending 1 RH-GPU-MEMORY
remap_failed 1 RH-GPU-WORN
uncorrected 1 RH-GPU-MEMORY
E2
  model "$b ecc 0" "$b width 8"
  gate_ends 7 blocked --again
  measured "gate/copy/$b" same
}

@test "a GPU whose fault the profile lets pass takes load" {
  sed -i 's/health: {/&on_fail: warn, /' "$root/etc/railhead/profiles/site.yaml"
  model "$b remap_pending 1"
  gate_ends 0 ready
  measured "gate/health/$b" slow "a row of its memory waits"
  measured "gate/copy/$b" same
}

@test "a driver that does not answer before the load is not asked again, and no load makes it hang" {
  with_log
  sed -i 's/gpu_health, on: gpus/&, timeout: 50s/' "$root/etc/railhead/profiles/site.yaml"
  with_hang gate_ends 7 blocked
  for gpu in "$a" "$b"; do
    measured "gate/health/$gpu" failed "no result within 50000 ms"
    measured "gate/copy/$gpu" "cannot measure" "not run: $gpu gets no load until the faults that gate/health/$gpu reports are mended"
  done
  run ! grep -q gpu_copy "$BATS_TEST_TMPDIR/starts"
}

# NVML hangs, and 50 s are over then.
with_hang() { # COMMAND...
  clock=$lib/clock
  share_clock
  model "nvmlInit_v2 passes 50000" "nvmlInit_v2 hangs 0"
  on_clock "$@"
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
  as_before() { put "$root/sys/devices/pci0000:00/$a/aer_dev_fatal" "TOTAL_ERR_FATAL 0"; }
  gate_ends 7 blocked --again
  as_before() { :; }
  jq -e --arg a "$a" '(.reasons | length == 1) and (.reasons[0]
    | startswith("gate/errors/\($a): found '"'3'"'") and contains("DLP 3")
      and endswith("failed under the load of the benchmarks (copy, peer), and held before"))
    and .faults[0].code == "RH-PCI-ERRORS"' "$gate_out"
  # by now that is so before them
  gate_ends 7 blocked --again
  jq -e '(.reasons | length == 1) and (.reasons[0] | contains("since the load") | not)' "$gate_out"
}

@test "what rises under load and still passes is in the record, before and after" {
  local dev=$root/sys/devices/pci0000:00/$a program=$bench
  put "$dev/aer_dev_fatal" "TOTAL_ERR_FATAL 0"
  put "$dev/aer_dev_nonfatal" "TOTAL_ERR_NONFATAL 0"
  put "$dev/aer_dev_correctable" "BadTLP 2"
  sed -i 's/^  checks:/&\n    errors: {run: pcie_errors, on: gpus, corrected: 100}/' \
    "$root/etc/railhead/profiles/site.yaml"
  bench=$BATS_TEST_TMPDIR/corrected
  chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
  chmod 666 "$dev/aer_dev_correctable"
  printf '#!/bin/sh\necho BadTLP 40 >%s\nexec %s "$@"\n' "$dev/aer_dev_correctable" "$program" >"$bench"
  chmod +x "$bench"
  as_before() { put "$dev/aer_dev_correctable" "BadTLP 2"; }
  gate_ends 0 ready
  jq -e --arg id "gate/errors/$a" '[.. | objects | select(has("id") and has("kind"))] | INDEX(.id)
    | (.["\($id)/corrected"] | .state == "same" and .before == "2" and .observed == "40")
      and (.[$id] | .state == "same" and (has("before") | not))' "$gate_out"
}

# What the gate starts notes when it runs; memory and storage take their time.
with_turns() {
  local program=$bench
  bench=$BATS_TEST_TMPDIR/turns.sh
  cat >"$bench" <<S
#!/bin/sh
echo "begins \$1" >>$BATS_TEST_TMPDIR/turns
case \$1 in
memory_* | storage_*)
  sleep 0.3
  echo '{"result":"measured","value":100000000000,"unit":"B/s"}'
  ;;
*) $program "\$@" ;;
esac
echo "ends \$1" >>$BATS_TEST_TMPDIR/turns
S
  chmod +x "$bench"
}

@test "drivers start after memory and storage were measured, not at the same time" {
  with_turns
  model "nvmlInit_v2 sleeps 300" "cuInit sleeps 300"
  for gpus in "health peer" health; do
    profile "$root" site <<Y
schema: 1
name: site
match: {dmi: {sys_vendor: Supermicro}}
devices: {gpus: {pci: "10de:2330", expect: 2}}
gate:
  checks:
    health: {run: gpu_health, on: gpus}
    disk: {run: storage_read, path: /dev/null, min: 1GB/s}
    $([[ $gpus != *peer* ]] || echo 'peer: {run: gpu_peer, on: gpus, min: 1GB/s}')
    memory: {run: memory_bandwidth, per: node, min: 1GB/s}
Y
    as_before() { rm -f "$BATS_TEST_TMPDIR/turns"; }
    gate_ends 0 ready --again
    # both nodes at the same time, then the disk, then what starts the driver: before a load, too
    [ "$(sed 's/^[a-z]* //' "$BATS_TEST_TMPDIR/turns" | uniq -c | xargs)" = \
      "4 memory_bandwidth 2 storage_read $([[ $gpus == *peer* ]] && echo 4 || echo 2) together" ] || {
      cat "$BATS_TEST_TMPDIR/turns" >&2
      return 1
    }
  done
}

@test "a slow one is named with its figure, both wanted and measured, and what may be the cause" {
  put "$root/sys/devices/pci0000:00/$a/current_link_width" 4
  model "$a d2h 500000000"
  gate_ends 7 blocked
  measured "gate/copy/$a" slow \
    "^gpu_copy of $a: measured 500.0 MB/s, required at least 1GB/s; likely: PCIe width of $a is 4 lanes"
  measured "gate/copy/$b" same
}

@test "a slow one that another process uses was not measured, and the process is named" {
  sleep 600 &
  local user=$!
  model "$a d2h 500000000" "$a user $user"
  gate --root "$root" || [ $? -eq 7 ]
  kill "$user"
  measured "gate/copy/$a" invalid "disturbed: another process uses the GPU [(]sleep, PID $user[)]"
}

@test "one that is fast enough passes, whatever else uses it" {
  model "$a user 1"
  gate_ends 0 ready
  measured "gate/copy/$a" same
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
sleep 600 &
truncate -s +48000 CLOCK # of 50 s
wait
S
  sed -i "s,CLOCK,$clock," "$bench"
  sed -i 's/timeout: 8s/timeout: 50s/; s/peer: {run: gpu_peer, on: gpus, min: 1GB\/s}/peer: {run: gpu_peer, on: gpus, min: 3GB\/s, timeout: 50s}/' \
    "$root/etc/railhead/profiles/site.yaml"
  share_clock
  on_standing_clock gate_ends 7 blocked
  measured "gate/copy/$a" same
  measured "gate/peer/$a-$b" slow "measured 2.0 GB/s, required at least 3GB/s"
}

@test "a library that hangs: its deadline, and nothing of the others is lost" {
  model "cuMemcpyHtoDAsync_v2 hangs 0"
  gate_ends 7 blocked
  for gpu in $a $b; do
    measured "gate/copy/$gpu" failed "^gpu_copy of $gpu: no result within 8000 ms, so it was killed; "
    measured "gate/health/$gpu" same
  done
  measured "gate/peer/$a-$b" same
}

@test "a library that crashes: what the kernel said of it" {
  model "cuMemHostAlloc crashes 0"
  gate_ends 7 blocked
  measured "gate/copy/$a" failed "exit status 1 \\(output: gpu_copy: killed by signal 11"
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

@test "no way to each other, whatever NVML calls the reason, is not the rate that is required" {
  model "$a $b 0" "$b $a 0"
  for p in 1 2 3 5; do
    model "$a p2p $p" "$b p2p $p"
    gate_ends 7 blocked --again
    measured "gate/peer/$a-$b" unsupported "the profile requires 1GB/s"
    [ "$(jq -r ".faults[].code" "$gate_out")" = RH-GATE-UNSUPPORTED ]
  done
}

# --- what a GPU must show ------------------------------------------------------------------------

# The only check: no load, so that it is quick.
checks_only() { # LINE OF gate.checks
  sed -i '/^    /d' "$root/etc/railhead/profiles/site.yaml"
  printf '    %s\n' "$@" >>"$root/etc/railhead/profiles/site.yaml"
}

# Measured again in the same boot, be it after a pass.
ends() { gate_ends "$1" "$2" --again; } # STATUS VERDICT

fault_is() { # CODE
  jq -e --arg code "$1" '[.faults[].code] | unique == [$code]' "$gate_out" >/dev/null || {
    jq -c .faults "$gate_out"
    return 1
  }
}

# As a GPU of that device id.
models() { # DEVICE-ID
  local gpu
  for gpu in "$a" "$b"; do put "$root/sys/devices/pci0000:00/$gpu/device" "0x$1"; done
  sed -i "s/10de:[0-9a-f]*/10de:$1/" "$root/etc/railhead/profiles/site.yaml"
}

shows_nothing() {
  local f
  for f in PersistenceMode EccMode TotalEccErrors RemappedRows RetiredPagesPendingStatus CurrPcieLinkWidth \
    CurrPcieLinkGeneration CurrentClocksEventReasons CurrentClocksThrottleReasons GpuFabricInfo GpuFabricInfoV \
    MigMode; do
    model "nvmlDeviceGet$f fails $1"
  done
}

@test "a GPU that answers no question of its health is not healthy, whatever its model" {
  checks_only 'health: {run: gpu_health, on: gpus}'
  shows_nothing 3
  ends 7 blocked
  measured "gate/health/$a" slow "^gpu_health of $a: does not show ECC mode, ECC errors, remapped rows, PCIe width, clocks' reasons, so the health is unknown; install a driver"
  fault_is RH-GPU-NOT-SHOWN
  shows_nothing 13 # symbols that the library has, and the driver has not
  ends 7 blocked
  fault_is RH-GPU-NOT-SHOWN
  models 2204 # GeForce RTX 3090: no model of the list
  ends 7 blocked
  measured "gate/health/$b" slow "answers none of the health queries"
  fault_is RH-GPU-NOT-SHOWN
}

@test "what must be shown goes by the model, and healthy GPUs of each pass" {
  checks_only 'health: {run: gpu_health, on: gpus}'
  model "$a ecc -1" "$a uncorrected -1" "$a rows_corrected -1"
  models 2204 # of a GPU for games, one answer
  ends 0 ready
  models 1eb8 # T4: retired pages in place of remapped rows
  ends 7 blocked
  measured "gate/health/$b" slow "does not show retired pages, so the health"
  measured "gate/health/$a" slow "does not show ECC mode, ECC errors, retired pages, so the health"
  model "$a ecc 1" "$a uncorrected 0" "$a retire_pending 0" "$b retire_pending 0"
  ends 0 ready
  models 2941 # GB200: by NVLink-C2C, so that PCIe is not asked for
  ends 7 blocked
  measured "gate/health/$a" slow "does not show remapped rows, so the health"
  model "$a rows_corrected 0" "$a width -1" "$b width -1" "$a generation -1" "$b generation -1"
  ends 0 ready
  models 2342 # GH200 report one lane of one
  model "$a width 1" "$b width 1" "$a width_max 1" "$b width_max 1"
  ends 0 ready
  model "$a width -1"
  models 2901 # B200
  ends 7 blocked
  measured "gate/health/$a" slow "does not show PCIe width, so the health"
}

@test "remapped rows of a GPU with MIG, and errors where ECC is off, can't be shown" {
  checks_only 'health: {run: gpu_health, on: gpus}'
  model "$a mig 1" "$a rows_corrected -1"
  ends 0 ready
  model "$a mig 0"
  ends 7 blocked
  measured "gate/health/$a" slow "does not show remapped rows, so the health"
  model "$a rows_corrected 0" "$a ecc 0" "$a uncorrected -1"
  ends 7 blocked
  fault_is RH-GPU-ECC-OFF
}

@test "MIG mode: judged where the profile says which" {
  checks_only 'health: {run: gpu_health, on: gpus}'
  model "$a mig 1" "$a rows_corrected -1"
  ends 0 ready
  checks_only 'health: {run: gpu_health, on: gpus, mig: false}'
  ends 7 blocked
  fault_is RH-GPU-MIG
  measured "gate/health/$a" slow 'it is in MIG mode: run `nvidia-smi -mig 0`, then reset the GPU'
  model "$a mig_next 0"
  ends 7 blocked
  measured "gate/health/$a" slow "already requested"
  checks_only 'health: {run: gpu_health, on: gpus, mig: true}'
  ends 7 blocked
  measured "gate/health/$a" slow "its next reset turns off MIG mode"
  measured "gate/health/$b" slow "it is not in MIG mode:"
}

@test "MIG mode that the driver can't tell is not taken for off; a driver without it has none" {
  checks_only 'health: {run: gpu_health, on: gpus, mig: false}'
  ends 0 ready
  model "nvmlDeviceGetMigMode fails 999"
  ends 7 blocked
  measured "gate/health/$a" slow "MIG mode: NVML error 999"
  model "nvmlDeviceGetMigMode fails 3" # not supported
  ends 0 ready
}

@test "a driver without the symbol of what must be shown" {
  checks_only 'health: {run: gpu_health, on: gpus}'
  cp "$BATS_TEST_DIRNAME"/../build/gpu-standin/old/libnvidia-ml.so.1 "$lib"
  ends 7 blocked
  measured "gate/health/$a" slow "does not show remapped rows, so the health"
  fault_is RH-GPU-NOT-SHOWN
}

@test "the profile says by must_show what a virtual GPU shows" {
  shows_nothing 3
  checks_only 'health: {run: gpu_health, on: gpus, must_show: []}'
  ends 0 ready
  checks_only 'health: {run: gpu_health, on: gpus, must_show: [clocks]}'
  ends 7 blocked
  measured "gate/health/$a" slow "does not show clocks' reasons, so the health"
  model "nvmlDeviceGetCurrentClocksEventReasons fails 0"
  ends 0 ready
}

# --- the NVLink fabric ---------------------------------------------------------------------------

fabric() { checks_only "fabric: {run: gpu_fabric, on: gpus, mode: $1}"; }

# What a GPU says of the fabric that a healthy one of that mode says; all from public reports.
healthy_fabric() { # MODE
  local gpu
  for gpu in "$a" "$b"; do
    case $1 in
      none) model "$gpu fabric 0" ;;
      node) model "$gpu fabric 3" "$gpu fabric_status 0" "$gpu clique 0" "$gpu cluster 0" ;;
      multinode) model "$gpu fabric 3" "$gpu fabric_status 0" "$gpu clique 4026" "$gpu cluster 77" ;;
    esac
    model "$gpu fabric_health 0" "$gpu fabric_summary 0"
  done
}

@test "fabric: healthy GPUs pass in their mode, with a health mask and without, by drivers of any age" {
  local version mode
  for mode in none node multinode; do
    fabric $mode
    healthy_fabric $mode
    ends 0 ready
    measured "gate/fabric/$a" same
    measured "gate/fabric/$b" same
    for version in 2 1; do # 1: the call is there, and knows no struct of ours
      model "driver fabric_version $version"
      ends 0 ready
    done
    model "nvmlDeviceGetGpuFabricInfoV fails 13"
    ends 0 ready
    model "nvmlDeviceGetGpuFabricInfoV fails 0" "driver fabric_version 3"
  done
  # each field "false", bandwidth full, configuration right, partition assigned; healthy
  model "$a fabric_health $((0x11aa))" "$a fabric_summary 1"
  ends 0 ready
  jq -e --arg a "$a" '.measurements[] | select(.id == "gate/fabric/\($a)") | .detail | .fabric == "completed"
    and .clique == 4026 and .health.bandwidth == "full" and .health_mask == 4522' "$gate_out"
}

@test "fabric: that is not supported passes in mode none alone" {
  local mode
  for mode in node multinode; do
    fabric $mode
    healthy_fabric $mode
    model "$b fabric 0"
    ends 7 blocked
    measured "gate/fabric/$a" same
    measured "gate/fabric/$b" slow "^gpu_fabric of $b: it reports an NVLink fabric as not supported.*mode: $mode"
    fault_is RH-GPU-FABRIC-DOWN
    model "$b fabric -1" # NVML_ERROR_NOT_SUPPORTED, as of an A100
    ends 7 blocked
    fault_is RH-GPU-FABRIC-DOWN
  done
  fabric none
  ends 0 ready
}

@test "fabric: a driver that can't say is no pass, but in mode none" {
  local old=$BATS_TEST_DIRNAME/../build/gpu-standin/old/libnvidia-ml.so.1 mode
  cp "$old" "$lib"
  for mode in node multinode; do
    fabric $mode
    ends 7 blocked
    measured "gate/fabric/$a" slow "^gpu_fabric of $a: the driver .* does not report .*nvmlDeviceGetGpuFabricInfoV"
    fault_is RH-GPU-NOT-SHOWN
  done
  fabric none
  ends 0 ready
  cp "${old/old\//}" "$lib"
  fabric node
  model "nvmlDeviceGetGpuFabricInfoV fails 13" "nvmlDeviceGetGpuFabricInfo fails 26" # dropped as deprecated
  ends 7 blocked
  fault_is RH-GPU-NOT-SHOWN
}

@test "fabric: not there yet is waited for, half of the GPUs or all; it comes, or it blocks with its own code" {
  local mode state
  for mode in node multinode; do
    healthy_fabric $mode
    fabric $mode
    for state in 1 2; do
      model "$b fabric $state"
      ends 7 waiting
      measured "gate/fabric/$a" same
      measured "gate/fabric/$b" "not yet" "^gpu_fabric of $b: not in .*(not started|in progress).*(fabricmanager|NMX-C)"
      fault_is RH-GATE-NOT-YET
    done
    model "$b fabric 3"
    gate_ends 0 ready --retry
  done
  model "$a fabric 2" "$b fabric 2"
  ends 7 waiting
  jq '.waiting.until_usec = 1' "$root/run/railhead/status.json" >"$BATS_TEST_TMPDIR/record"
  cp "$BATS_TEST_TMPDIR/record" "$root/run/railhead/status.json"
  gate_ends 7 blocked --retry
  jq -e '[.faults[].code] == ["RH-GPU-FABRIC-DOWN", "RH-GPU-FABRIC-DOWN", "RH-GATE-WAIT-OVER"]' "$gate_out"
  jq -e '.reasons[0] | contains("journalctl -u nvidia-imex")' "$gate_out"
}

# The profile says that there is none; CUDA says 802 until it is complete.
@test "fabric: in mode none a GPU that waits for one is not ready either" {
  fabric none
  model "$a fabric 2"
  ends 7 waiting
  measured "gate/fabric/$a" "not yet" "mode: none"
  model "$a fabric 3" # whatever its clique
  ends 0 ready
  model "$a fabric_status 999"
  ends 7 blocked
  fault_is RH-GPU-FABRIC
}

@test "fabric: one that has rejected a GPU, and what it says of its health" {
  local mask summary words mode=node
  fabric $mode
  healthy_fabric $mode
  model "$b fabric_status 23"
  ends 7 blocked
  measured "gate/fabric/$b" slow "has not accepted the GPU .*stand-in's 23.*journalctl -u nvidia-fabricmanager"
  fault_is RH-GPU-FABRIC
  model "$b fabric_status 0"
  while read -r mask summary words; do
    model "$b fabric_health $((mask))" "$b fabric_summary $summary"
    ends 7 blocked
    measured "gate/fabric/$b" slow "$words"
    fault_is RH-GPU-FABRIC-HEALTH
  done <<'END'
0x1 0 bandwidth is degraded
0x4 0 recovers a route
0x10 0 route is unhealthy
0x40 0 recovers from an access timeout
0x500 0 too few NVLinks
0xf00 0 configured wrongly \(15\)
0x2 2 unhealthy for an unknown reason
0xaa 3 limited capacity
0x15 2 bandwidth is degraded.*recovers a route.*route is unhealthy
END
  # too old for a summary: the mask still counts
  model "driver fabric_version 2" "$b fabric_health 16"
  ends 7 blocked
  fault_is RH-GPU-FABRIC-HEALTH
}

@test "fabric: of several nodes, one cluster and one clique, neither of them zero" {
  fabric multinode
  healthy_fabric multinode
  gpu 0000:3c:00.0 2
  sed -i 's/expect: 2/expect: 3/' "$root/etc/railhead/profiles/site.yaml"
  model "0000:3c:00.0 gpu 2" "0000:3c:00.0 fabric 3" "0000:3c:00.0 clique 4026" "0000:3c:00.0 cluster 77"
  ends 0 ready
  model "$b clique 4027"
  ends 7 blocked
  measured "gate/fabric/$a" same
  measured "gate/fabric/$b" slow "clique 4027 .*0000:3b:00.0.* clique 4026"
  fault_is RH-GPU-FABRIC-CLIQUE
  model "$b clique 4026" "$b cluster 78"
  ends 7 blocked
  measured "gate/fabric/$a" same
  measured "gate/fabric/$b" slow "is in cluster 00000000-0000-0000-0000-00000000004e"
  fault_is RH-GPU-FABRIC-CLIQUE
  model "$b cluster 0"
  ends 7 blocked
  measured "gate/fabric/$b" slow "cluster UUID is zero"
  fault_is RH-GPU-FABRIC-CLIQUE
  model "$b cluster 77" "$b clique 0"
  ends 7 blocked
  measured "gate/fabric/$b" slow "clique id is 0"
  fault_is RH-GPU-FABRIC-CLIQUE
  model "$b clique 4026" "$b fabric_health $((0x2000))"
  ends 7 blocked
  measured "gate/fabric/$b" slow "no NVLink partition"
  fault_is RH-GPU-FABRIC-CLIQUE
  # one that is not there yet has none to compare
  model "$b fabric 2" "$b clique 0" "$b cluster 0" "$b fabric_health 0"
  ends 7 waiting
  measured "gate/fabric/$a" same
}

@test "fabric: it is asked in every boot, and after the load" {
  sed -i 's/  budget: 240s/&\n  reuse: 24h/; s/^    health:.*/&\n    fabric: {run: gpu_fabric, on: gpus, mode: node}/' \
    "$root/etc/railhead/profiles/site.yaml"
  healthy_fabric node
  with_log
  gate_ends 0 ready
  grep -q "gpu_copy.*gpu_peer.*gpu_fabric" "$BATS_TEST_TMPDIR/starts"
  reused
  model "$b fabric_health 1"
  gate_ends 7 blocked
  measured "gate/copy/$a" same
  fault_is RH-GPU-FABRIC-HEALTH
}

@test "fabric: without a mode the profile is rejected, with the words" {
  checks_only 'fabric: {run: gpu_fabric, on: gpus}'
  run -3 --separate-stderr "$railhead" check "$root/etc/railhead/profiles/site.yaml"
  [[ $stderr$output == *"gate.checks.fabric.mode: missing; gpu_fabric requires it: none, node or multinode"* ]]
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
  sed -i 's/  budget: 240s/&\n  reuse: 24h/' "$root/etc/railhead/profiles/site.yaml"
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
  sed -i 's/  budget: 240s/&\n  reuse: 24h/; s/gpu_health, on: gpus/&, timeout: 50s/' \
    "$root/etc/railhead/profiles/site.yaml"
  gate_ends 0 ready
  reused
  with_hang gate_ends 7 blocked
  measured "gate/health/$a" failed "no result within 50000 ms"
  measured "gate/copy/$a" same
}

@test "reuse: a profile whose benchmarks need no load has nothing to take over" {
  sed -i 's/  budget: 240s/&\n  reuse: 24h/; /copy:/d; /peer:/d' "$root/etc/railhead/profiles/site.yaml"
  gate_ends 0 ready
  reused
  [ ! -e "$root/var/lib/railhead/pass.json" ]
  gate_ends 0 ready
  numbers '.numbers.boots_ago == 0'
}
