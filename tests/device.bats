#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# apply --device on simnode: what a device lost is brought back, readiness with it, and
# nothing else is touched.

bats_require_minimum_version 1.5.0
load lib/simnode
load lib/simnode_each

# A node that the gate has let work; the script from stdin.
ready_node() {
  sim_profile <<Y
sriov: {rails: {vfs: 4, wait: 2s, vf: {driver: netdev}}}
sysctl: {vm.swappiness: 10}
Y
  mkdir -p "$sim/node/proc/sys/vm"
  echo 60 >"$sim/node/proc/sys/vm/swappiness"
  sim_start
  "$railhead" apply --root "$root" 2>"$sim/said" || { cat "$sim/said"; return 1; }
  "$railhead" gate --root "$root"
  run_dir=$root/run/railhead
  [ -e "$run_dir/ready" ]
  : >"$sim/log"
}

mlx5() { echo "$2" >"$root/sys/bus/pci/drivers/mlx5_core/$1"; } # bind|unbind ADDRESS

device() { "$railhead" apply --root "$root" --device "$1"; } # ADDRESS

is_ready() {
  [ -e "$run_dir/ready" ]
  run -0 "$railhead" status --root "$root"
  [[ $output == "verdict: ready"* ]]
}

is_lapsed() { # WORDS...
  [ ! -e "$run_dir/ready" ]
  run -7 "$railhead" status --root "$root"
  [[ $output == "verdict: lapsed (work is not admitted)"* ]]
  for words; do [[ $output == *"$words"* ]]; done
  [ "$(jq -r '[.verdict, .admit] | join(" ")' "$run_dir/status.json")" = "lapsed false" ]
}

@test "every function of the sets is watched once the gate admits work, and none on a blocked node" {
  ready_node </dev/null
  [ "$(find "$run_dir" -name 'device-*' | wc -l)" = 16 ] # NICs and GPUs
  [ "$(find "$run_dir" -name 'vf-*' | wc -l)" = 32 ]
  # what udev reads
  [ "$(grep -v '^#' "$run_dir/device-${PFS[1]}")" = ".RAILHEAD_DEVICE=${PFS[1]}" ]
  [ "$(cat "$run_dir/vf-0000:18:00.1")" = ".RAILHEAD_DEVICE=${PFS[0]}" ]
  echo 60 >"$root/proc/sys/vm/swappiness"
  run -7 "$railhead" gate --root "$root" --again
  [ "$(find "$run_dir" -name 'device-*' -o -name 'vf-*' | wc -l)" = 0 ]
  mlx5 unbind "${PFS[0]}"
  : >"$sim/log"
  run -0 device "${PFS[0]}"
  [[ $output == *"nothing done: the verdict is 'blocked'"* ]]
  [ -z "$(sim_writes)" ]
}

@test "other readers are told what the ready file says: when it is made, lost and made again" {
  local metrics=var/lib/prometheus/node-exporter features=etc/kubernetes/node-feature-discovery/features.d
  mkdir -p "$sim/node/$metrics" "$sim/node/$features"
  ready_node </dev/null
  told() { # 0|1 true|false VERDICT
    grep -qx "railhead_ready $1" "$root/$metrics/railhead.prom"
    grep -q "^railhead_info{.*,verdict=\"$3\",boot_id=" "$root/$metrics/railhead.prom"
    grep -v '^#' "$root/$features/railhead" | head -n 2 | diff - <(printf 'railhead.io/%s\n' "ready=$2" "verdict=$3")
  }
  told 1 true ready
  mlx5 unbind "${PFS[2]}"
  run -7 device "${PFS[2]}"
  told 0 false lapsed
  mlx5 bind "${PFS[2]}"
  run -0 device "${PFS[2]}"
  told 1 true ready
  find "$root/$metrics" -type f -printf '%p %i %C@\n' >"$sim/before"
  run -0 device "${PFS[2]}"
  run -0 "$railhead" gate --root "$root"
  find "$root/$metrics" -type f -printf '%p %i %C@\n' | diff "$sim/before" -
  echo 60 >"$root/proc/sys/vm/swappiness"
  run -7 "$railhead" gate --root "$root" --again
  told 0 false blocked
}

@test "where nothing was lost nothing is written, and ready stays the same file" {
  ready_node </dev/null
  find "$run_dir" ! -name lock -printf '%p %i %C@\n' | sort >"$sim/before"
  for addr in "${PFS[0]}" 0000:18:00.1; do
    run -0 device "$addr"
    [ "$output" = "$addr: nothing was lost" ]
  done
  find "$run_dir" ! -name lock -printf '%p %i %C@\n' | sort | diff "$sim/before" -
  [ -z "$(sim_writes)" ]
}

@test "a driver that comes after the verdict takes nothing away, and is missed when it goes" {
  sim_profile <<<"sysctl: {vm.swappiness: 60}"
  mkdir -p "$sim/node/proc/sys/vm"
  echo 60 >"$sim/node/proc/sys/vm/swappiness"
  sim_start </dev/null
  mlx5 unbind "${PFS[1]}"
  "$railhead" apply --root "$root"
  "$railhead" gate --root "$root"
  run_dir=$root/run/railhead
  stat -c '%i %Z' "$run_dir/ready" "$run_dir/status.json" >"$sim/before"
  mlx5 bind "${PFS[1]}"
  run -0 device "${PFS[1]}"
  [ "$output" = "${PFS[1]}: nothing was lost" ]
  stat -c '%i %Z' "$run_dir/ready" "$run_dir/status.json" | diff "$sim/before" -
  grep -q '^#net [1-9]' "$run_dir/device-${PFS[1]}"
  mlx5 unbind "${PFS[1]}"
  run -7 device "${PFS[1]}"
  is_lapsed "${PFS[1]}: it has no driver"
}

@test "a PF loses its driver: ready is withdrawn with its name; it is back: all is again as before" {
  ready_node </dev/null
  mlx5 unbind "${PFS[2]}"
  run -7 device "${PFS[2]}"
  is_lapsed "(work is not admitted): ${PFS[2]}: it has no driver; railhead applies the profile to the device when"
  [ ! -e "$run_dir/vf-0000:4e:00.1" ] # the others of its VFs that go start nothing
  [ -e "$run_dir/vf-0000:18:00.1" ]
  sim_writes | grep -v unbind | diff /dev/null -
  run -7 device "${PFS[2]}" # it stays away
  is_lapsed "${PFS[2]}"
  mlx5 bind "${PFS[2]}"
  : >"$sim/log"
  run -0 device "${PFS[2]}"
  [[ $output == *"${PFS[2]}: "*" set; verdict: ready" ]]
  is_ready
  [[ $output == *"device   ${PFS[2]}  applied again "*" s: its "* ]]
  [ "$(vfs_of "$(pf 2)") $(bound_of "$(pf 2)")" = "4 4" ]
  [ -e "$run_dir/vf-0000:4e:00.1" ]
  # and nothing else was touched
  sim_writes | grep -vE '0000:4e:00|drivers_probe' | diff /dev/null -
  run -0 "$railhead" verify --root "$root"
  : >"$sim/log"
  run -0 device "${PFS[2]}"
  [ -z "$(sim_writes)" ]
}

@test "all NICs are reloaded together: one run brings back all, seven find nothing to do" {
  ready_node </dev/null
  for addr in "${PFS[@]}"; do mlx5 unbind "$addr"; done
  run -7 device "${PFS[3]}"
  for addr in "${PFS[@]}"; do is_lapsed "$addr: it has no driver"; done
  for addr in "${PFS[@]}"; do mlx5 bind "$addr"; done
  for addr in "${PFS[@]}"; do device "$addr" >"$sim/said-$addr" & all+=" $!"; done
  for one in $all; do wait "$one"; done
  [ "$(cat "$sim"/said-* | grep -c 'set; verdict: ready')" = 1 ]
  [ "$(cat "$sim"/said-* | grep -c 'nothing was lost')" = 7 ]
  for i in {0..7}; do [ "$(vfs_of "$(pf $i)") $(bound_of "$(pf $i)")" = "4 4" ]; done
  is_ready
}

@test "one comes back and one stays away: the first is done, and the node is not ready" {
  ready_node </dev/null
  mlx5 unbind "${PFS[0]}"
  mlx5 unbind "${PFS[1]}"
  run -7 device "${PFS[0]}"
  mlx5 bind "${PFS[1]}"
  run -7 device "${PFS[1]}"
  [ "$(bound_of "$(pf 1)")" = 4 ]
  is_lapsed "${PFS[0]}: it has no driver"
  [[ $output != *": ${PFS[1]}: "* ]]
}

@test "VFs that somebody takes away are made again, and those of other PFs left alone" {
  ready_node </dev/null
  echo 0 >"$(pf 5)/sriov_numvfs"
  : >"$sim/log"
  run -0 device "${PFS[5]}"
  [ "$(bound_of "$(pf 5)")" = 4 ]
  [ "$(sim_events sriov 3)" = "sriov ${PFS[5]} 4 " ]
  is_ready
}

@test "netdevs that come late are waited for; that do not come are named" {
  ready_node <<<"latency netdev 300ms"
  mlx5 unbind "${PFS[0]}"
  mlx5 bind "${PFS[0]}"
  run -0 device "${PFS[0]}"
  is_ready
  sim_stop
  sim_start <<<"latency netdev 10m"
  mlx5 unbind "${PFS[0]}"
  mlx5 bind "${PFS[0]}"
  run -7 timeout 300 "$railhead" apply --root "$root" --device "${PFS[0]}"
  is_lapsed "${PFS[0]}: " "the driver has not made the netdev or RDMA device"
}

@test "what can't be applied again is the reason, until it can" {
  # the first is of the boot, the second takes the VFs away
  ready_node <<<"at /sys/bus/pci/devices/${PFS[6]}/sriov_numvfs write after 2 error EIO"
  echo 0 >"$(pf 6)/sriov_numvfs"
  run -6 device "${PFS[6]}"
  is_lapsed "sriov/${PFS[6]}/numvfs: " "${PFS[6]}: its VFs went away" "mend the failures above"
  sim_stop
  sim_start </dev/null
  run -0 device "${PFS[6]}"
  is_ready
}

@test "a VF that a guest has is no loss, and is left to it when its PF's neighbour comes back" {
  ready_node </dev/null
  vf=$(basename "$(readlink "$(pf 0)/virtfn1")")
  mlx5 unbind "$vf"
  run -0 device "${PFS[0]}"
  [[ $output == *"nothing was lost" ]]
  mlx5 unbind "${PFS[1]}"
  mlx5 bind "${PFS[1]}"
  run -0 device "${PFS[1]}"
  is_ready
  [ "$(bound_of "$(pf 0)")" = 3 ]
  # given back, it gets its settings again
  mlx5 bind "$vf"
  run -0 device "$vf"
  is_ready
  [[ $output == *"device   ${PFS[0]}  applied again "*"a driver was bound again to its VFs"* ]]
}

@test "a value of the function that does not hold is set; one of the node's is not, and is named" {
  ready_node </dev/null
  echo 0 >"$(pf 4)/sriov_drivers_autoprobe"
  echo 60 >"$root/proc/sys/vm/swappiness"
  run -0 device "${PFS[3]}"
  [[ $output == *"nothing was lost" ]]
  is_ready
  : >"$sim/log"
  run -7 device "${PFS[4]}"
  [ "$(cat "$(pf 4)/sriov_drivers_autoprobe")" = 1 ]
  [ "$(cat "$root/proc/sys/vm/swappiness")" = 60 ]
  is_lapsed "sysctl/vm.swappiness: found '60', expected '10'"
  echo 10 >"$root/proc/sys/vm/swappiness"
  run -0 device "${PFS[4]}" # it is looked at again
  is_ready
}

@test "one that comes and goes without end is given up, until the gate is run" {
  ready_node </dev/null
  for _ in 1 2 3 4 5; do
    mlx5 unbind "${PFS[7]}"
    mlx5 bind "${PFS[7]}"
    run -0 device "${PFS[7]}"
  done
  mlx5 unbind "${PFS[7]}"
  mlx5 bind "${PFS[7]}"
  : >"$sim/log"
  run -7 device "${PFS[7]}"
  [ -z "$(sim_writes)" ]
  is_lapsed "${PFS[7]}: " "the device came back too often in ten minutes" "railhead gate"
  [ ! -e "$run_dir/device-${PFS[7]}" ] # udev starts nothing for it any more
  run -7 device "${PFS[6]}"
  is_lapsed "${PFS[7]}: "
  "$railhead" apply --root "$root" 2>/dev/null
  run -0 "$railhead" gate --root "$root"
  is_ready
  [ -e "$run_dir/device-${PFS[7]}" ]
}

@test "apply by hand makes VFs anew: that is no loss" {
  ready_node </dev/null
  sim_profile <<<"sriov: {rails: {vfs: 3, vf: {driver: netdev}}}"
  run -0 "$railhead" apply --root "$root"
  : >"$sim/log"
  run -0 device "${PFS[0]}"
  [ -z "$(sim_writes)" ]
}

@test "a profile that changed in this boot brings nothing back, and the reason says so" {
  ready_node </dev/null
  sim_profile <<<"sriov: {rails: {vfs: 3, vf: {driver: netdev}}}"
  run -0 device "${PFS[0]}" # nothing is lost: nothing is said of it
  is_ready
  echo 0 >"$(pf 0)/sriov_numvfs"
  run -3 device "${PFS[0]}"
  [ "$(vfs_of "$(pf 0)")" = 0 ]
  is_lapsed "the profile changed during this boot"
}

@test "--device takes a function that is watched, and no other option" {
  ready_node </dev/null
  run -2 device 0000:00:00.0
  [[ $output == *"no device set has the function"* ]]
  run -2 "$railhead" apply --root "$root" --device "${PFS[0]}" --stage devices
  [[ $output == *"--device accepts only --root and --json"* ]]
}
