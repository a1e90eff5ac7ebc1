#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# simnode has the kernel's rules, and railhead meets them: 8 PFs with 16 VFs each.

bats_require_minimum_version 1.5.0
load lib/simnode
load lib/simnode_each
load lib/clock

# A write by printf: the shell's own message is "... write error: REASON".
write() { printf '%s\n' "$2" >"$1"; } # FILE TEXT

fails() { # REASON COMMAND...
  local reason=$1
  shift
  run -1 "$@"
  [[ $output == *"$reason"* ]] || {
    echo "wanted: $reason; got: $output" >&2
    return 1
  }
}

# --- simnode: the kernel's rules --------------------------------------------------------------

@test "numvfs: an equal number is no change, another is EBUSY, above the total ERANGE" {
  sim_start </dev/null
  write "$(pf 0)/sriov_numvfs" 4
  [ "$(cat "$(pf 0)/sriov_numvfs")" = 4 ]
  [ "$(vfs_of "$(pf 0)")" = 4 ]
  write "$(pf 0)/sriov_numvfs" 4
  [ "$(grep -c "sriov ${PFS[0]}" "$sim/log")" = 1 ] # the driver was not asked again
  fails "Device or resource busy" write "$(pf 0)/sriov_numvfs" 5
  fails "Numerical result out of range" write "$(pf 0)/sriov_numvfs" 17
  for text in x "" -1 65536 "4 4" 0x; do
    fails "Invalid argument" write "$(pf 0)/sriov_numvfs" "$text"
  done
  write "$(pf 0)/sriov_numvfs" 0
  write "$(pf 0)/sriov_numvfs" 0x10
  [ "$(vfs_of "$(pf 0)")" = 16 ]
}

@test "each write is one of its own, wherever in the file it is" {
  sim_start </dev/null
  # 1 and then 6 are not 16: the second finds VFs there
  run -1 python3 -c "import os; f = os.open('$(pf 0)/sriov_numvfs', os.O_WRONLY); os.write(f, b'1'); os.write(f, b'6')"
  [[ $output == *"Device or resource busy"* ]]
  [ "$(cat "$(pf 0)/sriov_numvfs")" = 1 ]
  [[ $(sim_writes) == *"sriov_numvfs 1"*"sriov_numvfs 6"* ]]
}

@test "a PF without a driver has no VFs to give: ENOENT" {
  sim_start </dev/null
  write "$root/sys/bus/pci/drivers/mlx5_core/unbind" "${PFS[0]}"
  fails "No such file or directory" write "$(pf 0)/sriov_numvfs" 4
  write "$root/sys/bus/pci/drivers/mlx5_core/bind" "${PFS[0]}"
  write "$(pf 0)/sriov_numvfs" 4
  write "$root/sys/bus/pci/drivers/mlx5_core/unbind" "${PFS[0]}" # takes its VFs along
  [ "$(vfs_of "$(pf 0)")" = 0 ]
}

@test "a VF has its links, ids, group, config, netdev and RDMA device; 0 takes all away" {
  sim_start </dev/null
  find "$root/sys" "$root/run" | sort >"$sim/before"
  write "$(pf 1)/sriov_numvfs" 9
  vf=$(pf 1)/virtfn8
  [ "$(basename "$(readlink "$vf")")" = 0000:3a:01.1 ] # 8 functions further
  [ "$(basename "$(readlink "$vf/physfn")")" = "${PFS[1]}" ]
  [ "$(cat "$vf/vendor" "$vf/device" "$vf/class" "$vf/numa_node" | xargs)" = "0x15b3 0x101e 0x020000 0" ]
  [ "$(cat "$vf/modalias")" = pci:v000015B3d0000101Esv000015B3sd00000041bc02sc00i00 ]
  [ "$(stat -c %s "$vf/config")" = 4096 ]
  [ "$(od -An -tx1 -N4 "$vf/config")" = " ff ff ff ff" ]
  [ "$(head -n 1 "$vf/resource" | wc -w)" = 3 ]
  [ "$(ls "$vf/iommu_group/devices")" = 0000:3a:01.1 ]
  [ "$(ls "$vf/net")" = enp58s0v8 ]
  [ -d "$root/sys/class/net/enp58s0v8/device" ]
  [ -e "$root/run/udev/data/n$(cat "$vf/net/enp58s0v8/ifindex")" ]
  [ -d "$root/sys/class/infiniband/$(ls "$vf/infiniband")/ports/1" ]
  [ "$(basename "$(readlink "$vf/driver")")" = mlx5_core ]
  write "$(pf 1)/sriov_numvfs" 0
  find "$root/sys" "$root/run" | sort | diff "$sim/before" -
}

@test "autoprobe off: VFs stay without a driver, and only an override lets one in" {
  sim_start </dev/null
  write "$(pf 0)/sriov_drivers_autoprobe" 0
  write "$(pf 0)/sriov_numvfs" 4
  [ "$(bound_of "$(pf 0)")" = 0 ]
  write "$root/sys/bus/pci/drivers_probe" 0000:18:00.1 # succeeds, and does nothing
  [ "$(bound_of "$(pf 0)")" = 0 ]
  fails "No such device" write "$root/sys/bus/pci/drivers/mlx5_core/bind" 0000:18:00.1
  write "$(pf 0)/virtfn0/driver_override" mlx5_core
  write "$root/sys/bus/pci/drivers_probe" 0000:18:00.1
  [ "$(bound_of "$(pf 0)")" = 1 ]
  fails "Invalid argument" write "$(pf 0)/sriov_drivers_autoprobe" maybe
  write "$(pf 0)/sriov_drivers_autoprobe" on
  [ "$(cat "$(pf 0)/sriov_drivers_autoprobe")" = 1 ]
  write "$root/sys/bus/pci/drivers_probe" 0000:18:00.2
  [ "$(bound_of "$(pf 0)")" = 2 ]
  fails "No such device" write "$root/sys/bus/pci/drivers_probe" 0000:18:07.7
}

@test "driver_override: its driver alone; bind and unbind ask for the right one" {
  sim_start </dev/null
  drivers=$root/sys/bus/pci/drivers
  write "$(pf 0)/sriov_numvfs" 2
  vf=$(pf 0)/virtfn0
  [ "$(cat "$vf/driver_override")" = "(null)" ]
  fails "No such device" write "$drivers/vfio-pci/bind" 0000:18:00.1 # it takes nothing unasked
  fails "No such device" write "$drivers/vfio-pci/unbind" 0000:18:00.1
  fails "Device or resource busy" write "$drivers/mlx5_core/bind" 0000:18:00.1
  write "$vf/driver_override" vfio-pci
  write "$vf/driver/unbind" 0000:18:00.1
  [ ! -e "$vf/net" ]
  fails "No such device" write "$drivers/mlx5_core/bind" 0000:18:00.1
  write "$root/sys/bus/pci/drivers_probe" 0000:18:00.1
  [ "$(basename "$(readlink "$vf/driver")")" = vfio-pci ]
  [ ! -e "$vf/net" ]
  write "$vf/driver/unbind" 0000:18:00.1
  write "$vf/driver_override" none
  write "$root/sys/bus/pci/drivers_probe" 0000:18:00.1
  [ ! -e "$vf/driver" ]
  write "$vf/driver_override" "" # a lone newline clears it
  [ "$(cat "$vf/driver_override")" = "(null)" ]
  write "$root/sys/bus/pci/drivers_probe" 0000:18:00.1
  [ "$(basename "$(readlink "$vf/driver")")" = mlx5_core ]
}

@test "MSI-X vectors are for a VF without a driver" {
  sim_start </dev/null
  [ "$(cat "$(pf 0)/sriov_vf_total_msix")" = 1024 ]
  write "$(pf 0)/sriov_numvfs" 1
  fails "Device or resource busy" write "$(pf 0)/virtfn0/sriov_vf_msix_count" 32
  write "$root/sys/bus/pci/drivers/mlx5_core/unbind" 0000:18:00.1
  write "$(pf 0)/virtfn0/sriov_vf_msix_count" 32
  fails "Invalid argument" write "$(pf 0)/virtfn0/sriov_vf_msix_count" -1
  fails "Permission denied" cat "$(pf 0)/virtfn0/sriov_vf_msix_count"
}

@test "what is read-only, unknown or no file to be made says so; other values are kept" {
  sim_start </dev/null
  fails "Permission denied" write "$(pf 0)/sriov_totalvfs" 32
  fails "Permission denied" write "$(pf 0)/nothing_like_it" 1
  fails "Permission denied" cat "$root/sys/bus/pci/drivers_probe"
  fails "No such file or directory" cat "$root/proc/sys/vm/nothing_like_it"
  fails "Operation not permitted" mkdir "$(pf 0)/dir"
  fails "Operation not permitted" rm "$(pf 0)/sriov_numvfs"
  fails "Input/output error" write "$root/proc/cmdline" quiet
  write "$root/proc/sys/net/core/rmem_max" 4242
  [ "$(cat "$root/proc/sys/net/core/rmem_max")" = 4242 ]
  choice=$root/sys/kernel/mm/transparent_hugepage/enabled
  write "$choice" never
  [ "$(cat "$choice")" = "always madvise [never]" ]
  fails "Invalid argument" write "$choice" sometimes
}

@test "hugepages: a node gives what it has, and the write succeeds" {
  sim_start <<<"at /sys/devices/system/node/node1/*/nr_hugepages write short 3"
  node=$root/sys/devices/system/node
  write "$node/node0/hugepages/hugepages-1048576kB/nr_hugepages" 200
  [ "$(cat "$node/node0/hugepages/hugepages-1048576kB/nr_hugepages")" = 200 ]
  write "$node/node0/hugepages/hugepages-2048kB/nr_hugepages" 100000
  [ "$(cat "$node/node0/hugepages/hugepages-2048kB/nr_hugepages")" = $((51 * 512)) ] # of 251G
  write "$node/node1/hugepages/hugepages-2048kB/nr_hugepages" 8
  [ "$(cat "$node/node1/hugepages/hugepages-2048kB/nr_hugepages")" = 5 ]
  fails "Invalid argument" write "$node/node0/hugepages/hugepages-2048kB/nr_hugepages" many
}

# What must not wait is tried beside something that never ends: no test goes by the time.

@test "the global lock: a PF's driver works alone" {
  sim_start <<<"latency enable 200ms"
  write "$(pf 0)/sriov_numvfs" 2 &
  sim_wait "sriov ${PFS[0]} 2" # it is at work
  write "$(pf 1)/sriov_numvfs" 2
  wait $!
  [ "$(sim_events "sriov sriov-end" 2)" = "sriov ${PFS[0]} sriov-end ${PFS[0]} sriov ${PFS[1]} sriov-end ${PFS[1]} " ]
}

@test "without the global lock a PF's driver works while another one hangs" {
  sim_start <<'S'
global_lock no
at /sys/bus/pci/devices/0000:18:00.0/sriov_numvfs write hang
S
  write "$(pf 0)/sriov_numvfs" 2 2>/dev/null &
  sim_wait "hang "
  write "$(pf 1)/sriov_numvfs" 2
  [ "$(bound_of "$(pf 1)")" = 2 ]
}

@test "autoprobe on: VFs are probed one by one, below the locks" {
  sim_start </dev/null
  write "$(pf 0)/sriov_numvfs" 2
  [ "$(sim_events "sriov probe probe-end sriov-end" 1)" = "sriov probe probe-end probe probe-end sriov-end " ]
}

@test "through drivers_probe VFs are probed side by side" {
  sim_start <<<"probe 0000:18:00.1 hang"
  write "$(pf 0)/sriov_drivers_autoprobe" 0
  write "$(pf 0)/sriov_numvfs" 3
  write "$(pf 0)/sriov_drivers_autoprobe" 1
  write "$root/sys/bus/pci/drivers_probe" 0000:18:00.1 2>/dev/null &
  sim_wait "hang "
  write "$root/sys/bus/pci/drivers_probe" 0000:18:00.2
  write "$root/sys/bus/pci/drivers/mlx5_core/bind" 0000:18:00.3
  [ "$(bound_of "$(pf 0)")" = 2 ]
}

@test "a read of numvfs waits for the write of that PF" {
  sim_start <<<"at /sys/*/sriov_numvfs write delay 200ms"
  write "$(pf 0)/sriov_numvfs" 2 &
  sim_wait "sriov ${PFS[0]} 2"
  [ "$(cat "$(pf 1)/sriov_numvfs")" = 0 ]
  [ "$(cat "$(pf 0)/sriov_numvfs")" = 2 ]
  wait $!
}

@test "a VF's netdev comes after its driver, and its name after that" {
  sim_start <<'S'
latency netdev 20ms
latency udev 10m
S
  write "$(pf 0)/sriov_numvfs" 1
  sim_wait "rdma 0000:18:00.1"
  exec 9<"$(pf 0)/virtfn0/net/eth0" # somebody looks at it while it is renamed
  sim_pass 600000
  sim_wait "named 0000:18:00.1"
  [ "$(cat "$(pf 0)/virtfn0/net/enp24s0v0/ifindex")" = 10 ]
  exec 9<&-
  [ "$(sim_events "probe-end netdev rdma named" 3)" = "probe-end 0000:18:00.1 ok netdev 0000:18:00.1 eth0 rdma 0000:18:00.1 mlx5_8 named 0000:18:00.1 enp24s0v0 " ]
  [ ! -e "$root/sys/class/net/eth0" ] && [ -d "$root/sys/class/net/enp24s0v0" ]
}

@test "faults: an errno for as often as asked, fewer VFs, a failed probe" {
  sim_start <<'S'
at /sys/bus/pci/devices/0000:18:00.0/sriov_numvfs write times 1 error ENOMEM
at /sys/bus/pci/devices/0000:3a:00.0/sriov_numvfs write short 2
probe 0000:4e:00.2 error EIO
at /proc/sys/net/core/rmem_max open after 1 error EPERM
S
  fails "Cannot allocate memory" write "$(pf 0)/sriov_numvfs" 4
  [ "$(vfs_of "$(pf 0)")" = 0 ]
  write "$(pf 0)/sriov_numvfs" 4
  write "$(pf 1)/sriov_numvfs" 4
  [ "$(cat "$(pf 1)/sriov_numvfs") $(vfs_of "$(pf 1)")" = "2 2" ]
  write "$(pf 2)/sriov_numvfs" 4
  [ "$(vfs_of "$(pf 2)") $(bound_of "$(pf 2)")" = "4 3" ]
  write "$root/proc/sys/net/core/rmem_max" 1
  fails "Operation not permitted" write "$root/proc/sys/net/core/rmem_max" 2
}

@test "a PF is pulled out while its VFs are made: the write fails, and all of it is gone" {
  sim_start <<'S'
latency probe 50ms
probe 0000:18:00.3 vanish
vanish 0000:3a:00.0 after 1us
S
  exec 9<"$(pf 0)/sriov_totalvfs"
  fails "Input/output error" write "$(pf 0)/sriov_numvfs" 4
  sim_wait "vanish ${PFS[0]}"
  sim_wait "vanish ${PFS[1]}"
  until [ "$(find "$root/sys" "$root/run" -name '*0000:18:0*' -o -name 'enp24s0*' -o -name '*0000:3a:0*' | wc -l)" = 0 ]; do
    sleep 0.01
  done
  fails "No such device" cat <&9 # it was open when it went
  write "$(pf 2)/sriov_numvfs" 2
}

@test "without /dev/fuse the tests fail, and say why" {
  run -1 unshare -m bash -c "
    mount --bind '$sim/node/proc/cmdline' /dev/fuse
    BATS_TEST_DIRNAME='$BATS_TEST_DIRNAME'
    . '$BATS_TEST_DIRNAME/lib/simnode.bash'
    sim_need"
  [[ $output == "simnode needs /dev/fuse, which can't be opened here: modprobe fuse"* ]]
}

is_stuck() { # PID
  [[ $(ps -o stat= -p "$1") == D* ]]
}

@test "a hang holds the locks until simnode ends, and ends with it" {
  sim_start <<<"at /sys/bus/pci/devices/0000:18:00.0/sriov_numvfs write hang"
  write "$(pf 0)/sriov_numvfs" 4 2>"$sim/first" &
  first=$!
  sim_wait "hang "
  write "$(pf 1)/sriov_numvfs" 4 2>"$sim/second" &
  second=$!
  sim_wait "write .*${PFS[1]}/sriov_numvfs"
  kill -9 $first # as in a stuck driver: it stays, from when it takes the signal on
  eventually is_stuck $first
  [ "$(grep -c 'sriov ' "$sim/log")" = 1 ]
  sim_stop
  if wait $first; then false; fi
  wait $second # the lock is free when the hang ends: its turn comes
  [ "$(cat "$sim/node/sys/bus/pci/devices/${PFS[1]}/sriov_numvfs")" = 4 ]
  [ "$(cat "$sim/node/sys/bus/pci/devices/${PFS[0]}/sriov_numvfs")" = 0 ]
}

@test "killed outright, simnode leaves nobody hanging either" {
  sim_start <<<"at /sys/*/sriov_numvfs write hang"
  write "$(pf 0)/sriov_numvfs" 4 2>/dev/null &
  writer=$!
  sim_wait "hang "
  kill -9 "$SIM_PID"
  if wait $writer; then false; fi
}

@test "a mount goes on with what the last one left" {
  sim_start </dev/null
  write "$(pf 0)/sriov_numvfs" 3
  sim_stop
  sim_start </dev/null
  [ "$(bound_of "$(pf 0)")" = 3 ]
  fails "Device or resource busy" write "$(pf 0)/sriov_numvfs" 4
  write "$(pf 1)/sriov_numvfs" 1
  [ "$(ls "$(pf 1)/virtfn0/infiniband")" = mlx5_11 ] # 8 PFs and 3 VFs were there
  write "$(pf 0)/sriov_numvfs" 0
  [ "$(vfs_of "$(pf 0)")" = 0 ]
}

@test "bad lines of a script are refused, with their number" {
  while IFS='|' read -r line why; do
    run -1 sim_start <<<$'# a comment\n\n'"$line"
    [[ $output == *"$sim/script:3: "*"$why"* ]] || {
      echo "$line: $output" >&2
      return 1
    }
  done <<'S'
nonsense|'nonsense': at, probe, vanish, latency or global_lock is wanted
at sys/x write hang|'sys/x' is no path
at /sys/x chew hang|'chew': open, read or write is wanted
at /sys/x write|'' is no action
at /sys/x write explode|'explode' is no action
at /sys/x write delay 5|'5' is no time
at /sys/x write error EWRONG|'EWRONG' is no errno
at /sys/x write times 0 hang|'0' is no number above 0
at /sys/x write times x hang|'x' is no number above 0
at /sys/x write after 1 times x hang|'x' is no number above 0
at /sys/x write hang on|'on' is too much
at /sys/x write short 2|short is for writes of sriov_numvfs and nr_hugepages only
at /sys/x/sriov_numvfs read short 2|short is for writes
probe|probe of which address?
probe 0000:18:00.1 short 2|short is for writes
latency probes 1s|'probes' has no latency
latency probe soon|'soon' is no time
global_lock perhaps|'perhaps': yes or no is wanted
vanish 0000:18:00.0 at 1s|write: vanish ADDRESS after TIME
vanish 0000:18:00.0 after noon|'noon' is no time
vanish 0000:77:00.0 after 1s|'0000:77:00.0': the tree has no such device
S
}

# --- railhead on it ---------------------------------------------------------------------------

# 8 PFs of so many VFs; a numvfs write is given up when its time is over.
rails() { # VFS [DRIVER [TIMEOUT]]
  sim_profile <<Y
sriov: {rails: {vfs: $1, timeout: ${3:-30s}, vf: {driver: ${2:-netdev}}}}
Y
}

at_work() { count_processes "$railhead" apply --root "$root" --stage devices; }

# How often the log has an event.
count_of() { grep -cE "^[0-9.]+ $1" "$sim/log" || :; } # PATTERN

# apply, in whose eyes so much time passes at once when that holds.
apply_until() { # MILLISECONDS CONDITION
  pass_when "$1" "$2"
  on_clock "$railhead" apply --root "$root" --stage devices
}

# Every PF but those named by their index has all its VFs, bound, and autoprobe is on.
all_well_but() { # VFS INDEX...
  local vfs=$1 i
  shift
  for i in {0..7}; do
    case " $* " in *" $i "*) continue ;; esac
    [ "$(vfs_of "$(pf "$i")") $(bound_of "$(pf "$i")")" = "$vfs $vfs" ] || {
      echo "${PFS[i]}: $(vfs_of "$(pf "$i")") VFs, $(bound_of "$(pf "$i")") bound" >&2
      return 1
    }
    [ "$(cat "$(pf "$i")/sriov_drivers_autoprobe")" = 1 ]
  done
}

@test "plan opens nothing for writing" {
  rails 16
  sim_start </dev/null
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"sriov/${PFS[7]}/numvfs"*"'0' -> '16'"* ]]
  [[ $output == *"sriov/${PFS[7]}/vf15/driver"* ]]
  run -5 "$railhead" verify --root "$root"
  [ ! -s "$sim/log" ]
}

@test "apply makes 8 x 16 VFs with their drivers; the second apply writes nothing" {
  rails 16
  sim_start <<'S'
latency probe 20ms
latency netdev 10ms
latency udev 10ms
S
  run -0 "$railhead" apply --root "$root" --stage devices
  all_well_but 16
  [ "$(sim_events sriov 1 | wc -w)" = 8 ]        # one write of numvfs for each PF
  [ "$(sim_events probe-end 1 | wc -w)" = 128 ] # and no VF probed twice
  # ... none of them below the lock that numvfs writes share
  [[ $(sim_events "sriov sriov-end probe" 1) != *"sriov probe"* ]]
  : >"$sim/log"
  run -0 "$railhead" apply --root "$root" --stage devices
  [ -z "$(sim_writes)" ]
  run -0 "$railhead" plan --root "$root" --stage devices
  run -0 "$railhead" verify --root "$root"
}

@test "lines that held, or had no file, before there were VFs are set for their netdevs, too" {
  sim_profile <<Y
sriov: {rails: {vfs: 2, vf: {driver: netdev}}}
sysfs:
  /sys/class/net/*/mtu: 1500
  /sys/bus/pci/devices/${PFS[0]}/virtfn0/net/*/mtu: 1400
  /sys/bus/pci/devices/${PFS[0]}/virtfn1/net/*/mtu: {value: 1400, optional: true}
Y
  for net in "$sim"/node/sys/class/net/*/mtu; do echo 9000 >"$net"; done # a new netdev's, too
  sim_start </dev/null
  for net in "$root"/sys/class/net/*/mtu; do write "$net" 1500; done
  run -0 "$railhead" apply --root "$root" --stage devices
  [ "$(cat "$root"/sys/class/net/*/mtu | sort | uniq -c | xargs)" = "2 1400 22 1500" ]
  [ "$(cat "$(pf 0)"/virtfn[01]/net/*/mtu | xargs)" = "1400 1400" ]
  [[ $output != *": failed"* && $output != *": unsupported"* ]]
  run -0 "$railhead" verify --root "$root"
}

@test "VFs for vfio-pci and for no driver; another driver later" {
  rails 2 vfio-pci
  sim_start </dev/null
  run -0 "$railhead" apply --root "$root" --stage devices
  [ "$(basename "$(readlink "$(pf 7)/virtfn1/driver")")" = vfio-pci ]
  [ ! -e "$(pf 7)/virtfn1/net" ]
  rails 2 none
  run -0 "$railhead" apply --root "$root" --stage devices
  [ "$(bound_of "$(pf 7)") $(cat "$(pf 7)/virtfn1/driver_override")" = "0 none" ]
  rails 2
  run -0 "$railhead" apply --root "$root" --stage devices
  [ "$(basename "$(readlink "$(pf 7)/virtfn1/driver")")" = mlx5_core ]
  [ "$(sim_events sriov 1 | wc -w)" = 8 ] # the VFs stayed all the while
  run -0 "$railhead" plan --root "$root" --stage devices
}

@test "another number of VFs: 0 comes first, and nothing is EBUSY" {
  rails 4
  sim_start </dev/null
  for i in {0..7}; do write "$(pf $i)/sriov_numvfs" 2; done
  : >"$sim/log"
  run -5 "$railhead" plan --root "$root" --stage devices
  # the VFs of now have their drivers, but they go with the change of their number
  for i in {0..7}; do
    for vf in 0 1; do
      [[ $output =~ waits\ +sriov/${PFS[i]}/vf$vf/driver ]]
      [[ $output == *"waits for sriov/${PFS[i]}/numvfs"* ]]
    done
  done
  run -0 "$railhead" apply --root "$root" --stage devices
  all_well_but 4
  [ "$(sim_events "sriov sriov-end" 3 | grep -oE "${PFS[3]} [0-9o]k?" | xargs)" = "${PFS[3]} 0 ${PFS[3]} ok ${PFS[3]} 4 ${PFS[3]} ok" ]
}

# The lines of $output that begin so ("sriov/PF/numvfs: failed: "), without that.
said_of() { # BEGINNING
  sed -n "s|^devices: $1||p" <<<"$output"
}

failures_of() { # PART of an id
  grep -c "^devices: sriov/[^ ]*$1[^ ]*: failed" <<<"$output" || :
}

@test "EBUSY, too many, too few, EIO, a PF that vanishes: each is named, the others are done" {
  rails 4 netdev 120s
  echo 3 >"$sim/node/sys/bus/pci/devices/${PFS[1]}/sriov_totalvfs"
  sim_start <<'S'
at /sys/bus/pci/devices/0000:18:00.0/sriov_numvfs write error EBUSY
at /sys/bus/pci/devices/0000:4e:00.0/sriov_numvfs write short 1
at /sys/bus/pci/devices/0000:5d:00.0/sriov_numvfs write error EIO
at /sys/bus/pci/devices/0000:9a:00.0/sriov_numvfs write vanish
at /sys/bus/pci/devices/0000:bc:00.0/sriov_numvfs write error ENOMEM
at /sys/bus/pci/devices/0000:cc:00.0/sriov_numvfs write error EINVAL
S
  run -6 timeout 100 "$railhead" apply --root "$root" --stage devices # no deadline is waited out
  [[ $(said_of "sriov/${PFS[0]}/numvfs: failed: ") == "the PF has VFs that are in use"*"Device or resource busy; look for VMs"*"other programs that write sriov_numvfs"* ]]
  [[ $(said_of "sriov/${PFS[1]}/numvfs: failed: ") == "4 VFs requested, 3 possible"* ]]
  [[ $(said_of "sriov/${PFS[2]}/numvfs: failed: ") == "4 VFs requested, 3 created, none bound; "*"kernel log"*"${PFS[2]}"* ]]
  [[ $(said_of "sriov/${PFS[3]}/numvfs: failed: ") == "the PF did not answer its driver"*"Input/output error"* ]]
  [[ $(said_of "sriov/${PFS[4]}/numvfs: failed: ") == "${PFS[4]} is gone from the bus: "*"reseat it"* ]]
  [[ $(said_of "sriov/${PFS[4]}/autoprobe: failed: ") == "${PFS[4]} is gone from the bus: "* ]]
  [[ $(said_of "sriov/${PFS[5]}/numvfs: failed: ") == "no room for the VFs' memory"*"Cannot allocate memory"* ]]
  [[ $(said_of "sriov/${PFS[6]}/numvfs: failed: ") == "the driver rejected the number"*"Invalid argument"* ]]
  [ "$(failures_of numvfs)" = 7 ]
  [ "$(said_of "sriov/${PFS[2]}/vf0/driver: failed: ")" = "not done: sriov/${PFS[2]}/numvfs failed" ]
  [ ! -e "$(pf 4)" ]
  all_well_but 4 0 1 2 3 4 5 6
  for i in 0 1 2 3 5 6; do [ "$(cat "$(pf $i)/sriov_drivers_autoprobe")" = 1 ]; done
  run -7 "$railhead" status --root "$root"
  [[ $output == *"verdict: blocked"* ]]
}

@test "a PF without a driver: its VFs can't come, and why" {
  rails 2
  sim_start </dev/null
  write "$root/sys/bus/pci/drivers/mlx5_core/unbind" "${PFS[5]}"
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $(said_of "sriov/${PFS[5]}/numvfs: failed: ") == "${PFS[5]} has no driver; is its module in modules.load"* ]]
  all_well_but 2 5
}

@test "a VF is ready when its netdev is there and named, and its RDMA device" {
  rails 2
  sim_start <<'S'
latency netdev 100ms
latency udev 200ms
S
  run -0 "$railhead" apply --root "$root" --stage devices
  # nothing was called done before udev had done its part
  for i in {0..7}; do
    for vf in 0 1; do
      [[ $(ls "$(pf $i)/virtfn$vf/net") == enp*v$vf ]]
      [ -d "$(pf $i)/virtfn$vf/infiniband" ]
    done
  done
  run -0 "$railhead" plan --root "$root" --stage devices
}

@test "a VF that lacks its netdev or its name is one failure, with which of them lacks" {
  all_bound() { [ "$(count_of probe-end) $(at_work)" = "16 1" ]; }
  sim_profile <<<"sriov: {rails: {vfs: 2, vf: {driver: netdev, timeout: 100s}}}"
  sim_start <<<"latency netdev 10m"
  run -6 apply_until 100000 all_bound
  [[ $(said_of "sriov/${PFS[7]}/vf1/driver: failed: ") == "VF 0000:db:00.2 of ${PFS[7]} (driver: mlx5_core) is not ready after "*" s: no netdev; "* ]]
  [ "$(failures_of driver)" = 16 ]
  run -5 "$railhead" plan --root "$root" --stage devices # and it is no state to be content with
  [[ $output == *"'mlx5_core, no netdev' -> 'netdev'"* ]]
  sim_stop
  sim_start <<<"latency udev 10m"
  for i in {0..7}; do write "$(pf $i)/sriov_numvfs" 0; done
  : >"$sim/log"
  run -6 apply_until 100000 all_bound
  [[ $(said_of "sriov/${PFS[7]}/vf1/driver: failed: ") == *"(driver: mlx5_core) is not ready after "*" s: udev has not named its netdev; "*systemd-udevd* ]]
}

@test "a netdev that a container has taken is not missing: its VF is left alone" {
  rails 2
  sim_start </dev/null
  run -0 "$railhead" apply --root "$root" --stage devices
  sim_stop
  # seen from here the directory is there, and empty
  vf=$(echo "$sim"/node/sys/devices/*/*/0000:18:00.1 "$sim"/node/sys/devices/*/*/*/0000:18:00.1 "$sim"/node/sys/devices/*/*/*/*/0000:18:00.1 | tr ' ' '\n' | grep -v '\*')
  rm -r "${vf:?}"/net/*
  sim_start </dev/null
  run -0 "$railhead" plan --root "$root" --stage devices
  run -0 "$railhead" survey --root "$root" --snapshot "$sim/snapshot.tar" # where it is seen too
  run "$railhead" plan --root "$sim/snapshot.tar" --profile "$sim/node/etc/railhead/profiles/sim.yaml" --stage devices
  [[ $output != *vf0/driver* ]]
  rmdir "$vf/net" # no netdev at all, but an RDMA device that somebody may use
  run -5 "$railhead" plan --root "$root" --stage devices
  [[ $output == *"sriov/${PFS[0]}/vf0/driver"*"'mlx5_core, no netdev' -> 'netdev'"* ]]
  sim_profile <<<"sriov: {rails: {vfs: 2, vf: {driver: netdev, timeout: 1s}}}"
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $(said_of "sriov/${PFS[0]}/vf0/driver: failed: ") == *"(driver: mlx5_core) is not ready after "*"no netdev"* ]]
  [ -z "$(sim_writes)" ]
  rm -r "$vf/infiniband"
  rails 2
  run -0 "$railhead" apply --root "$root" --stage devices # nobody can have it: bound anew
  [ "$(ls "$(pf 0)/virtfn0/net")" = enp24s0v0 ]
}

@test "probes that fail or hang: those VFs are lost and named, all others are done" {
  others_done() { [ "$(count_of hang) $(count_of named) $(at_work)" = "1 30 2" ]; }
  sim_profile <<<"sriov: {rails: {vfs: 4, vf: {driver: netdev, timeout: 100s}}}"
  sim_start <<'S'
probe 0000:3a:00.2 error EIO
probe 0000:5d:00.3 hang
S
  run -6 apply_until 103000 others_done
  [[ $(said_of "sriov/${PFS[1]}/vf1/driver: failed: ") == "VF 0000:3a:00.2 of ${PFS[1]}: the probe of mlx5_core failed; the kernel log "* ]]
  [[ $(said_of "sriov/${PFS[3]}/vf2/driver: failed: ") == *"driver:${PFS[3]}/2"*"has not returned from the kernel"* ]]
  [ "$(grep -c ': failed: ' <<<"$output")" = 2 ]
  all_well_but 4 1 3
  [ "$(bound_of "$(pf 1)") $(bound_of "$(pf 3)")" = "3 3" ]
}

@test "PFs that are pulled out while their VFs are bound: gone in all they have to do" {
  rails 4
  sim_start <<'S'
latency probe 50ms
probe 0000:18:00.3 vanish
probe 0000:5d:00.1 vanish
S
  run -6 "$railhead" apply --root "$root" --stage devices
  for i in 0 3; do
    [ ! -e "$(pf $i)" ]
    for id in numvfs autoprobe vf0/driver vf1/driver vf2/driver vf3/driver; do
      [[ $(said_of "sriov/${PFS[i]}/$id: failed: ") == "${PFS[i]} is gone from the bus: "* ]]
    done
  done
  [ "$(grep -c ': failed: ' <<<"$output")" = 12 ]
  all_well_but 4 0 3
}

# As long as the kernel sleeps behind them (sriov_disable()) the VFs seem not to be there yet.
@test "a PF is pulled out, and its VFs go before it does: they do not wait for ever" {
  sim_profile <<<"sriov: {rails: {vfs: 4, workers: 1, vf: {driver: netdev}}}"
  sim_start <<'S'
latency probe 40ms
latency disable 600ms
probe 0000:18:00.1 vanish 0000:3a:00.0
S
  run -6 "$railhead" apply --root "$root" --stage devices
  for id in numvfs autoprobe vf0/driver vf1/driver vf2/driver vf3/driver; do
    [[ $(said_of "sriov/${PFS[1]}/$id: failed: ") == "${PFS[1]} is gone from the bus: "* ]]
  done
  [ "$(grep -c ': failed: ' <<<"$output")" = 6 ]
  all_well_but 4 1
}

# The most probes that were under way at the same time, by the log.
most_probes() {
  awk '$2 == "probe" && ++n > most { most = n } $2 == "probe-end" { n-- } END { print most + 0 }' "$sim/log"
}

# apply, where so many probes are awaited before one ends, each time but the last.
probes_end_when() { # NUMBER
  local run probed=0
  "$railhead" apply --root "$root" --stage devices >"$sim/out" 3>&- &
  run=$!
  under_way() { [ "$(count_of 'probe ')" -ge $((probed + $1)) ] || ! kill -0 $run 2>/dev/null; }
  while eventually under_way "$1" && kill -0 $run 2>/dev/null; do
    probed=$(count_of 'probe ')
    sim_pass 600000
    eventually ended "$probed"
  done
  wait $run
}

ended() { [ "$(count_of probe-end)" -ge "$1" ]; } # NUMBER

@test "no process is kept for what comes behind a bind: netdev and name are waited for together" {
  all_bound() { [ "$(count_of netdev) $(at_work)" = "16 1" ]; }
  rails 2
  sim_start <<<"latency udev 10m"
  "$railhead" apply --root "$root" --stage devices >"$sim/out" 3>&- &
  eventually all_bound
  sim_pass 600000
  wait $!
  all_well_but 2
}

@test "workers: no more VFs are probed at the same time than the profile says" {
  sim_profile <<<"sriov: {rails: {vfs: 4, workers: 2, vf: {driver: netdev}}}"
  sim_start <<<"latency probe 10m"
  probes_end_when 2
  all_well_but 4
  [ "$(most_probes)" = 2 ]
}

@test "as many VFs are bound at the same time as there are" {
  rails 6
  sim_start <<<"latency probe 10m"
  probes_end_when 48
  all_well_but 6
  [ "$(most_probes)" = 48 ]
}

@test "fewer descriptors than VFs: as many at a time as there are descriptors for" {
  rails 16
  sim_start <<<"latency probe 200ms"
  run -0 bash -c 'ulimit -n 48; exec "$@"' - "$railhead" apply --root "$root" --stage devices
  all_well_but 16
  [ "$(most_probes)" -le 48 ]
}

@test "a PF is pulled out while its VFs' netdevs are waited for: it is gone, and no file is missing" {
  all_bound() { [ "$(count_of probe-end) $(at_work)" = "16 1" ]; }
  rails 2
  sim_start <<'S'
latency netdev 10m
latency disable 600ms
vanish 0000:3a:00.0 after 5m
S
  {
    eventually all_bound
    sim_pass 300000
    sim_wait "vanish ${PFS[1]}"
    sim_pass 300000
  } 3>&- &
  run -6 "$railhead" apply --root "$root" --stage devices
  for i in 0 1; do
    [[ $(said_of "sriov/${PFS[1]}/vf$i/driver: failed: ") == "${PFS[1]} is gone from the bus: "* ]]
  done
  all_well_but 2 1
}

@test "PFs that hang: without the global lock their own lanes are lost, and no other" {
  others_made() { [ "$(count_of hang) $(count_of sriov-end) $(at_work)" = "2 6 3" ]; }
  rails 4 netdev 60s
  sim_start <<'S'
global_lock no
at /sys/bus/pci/devices/0000:9a:00.0/sriov_numvfs write hang
at /sys/bus/pci/devices/0000:cc:00.0/sriov_numvfs write hang
S
  run -6 apply_until 63000 others_made
  for i in 4 6; do
    [[ $(said_of "sriov/${PFS[i]}/numvfs: failed: ") == *"has not returned from the kernel"*"the worker is in sim_wait_for_firmware"* ]]
    [ "$(cat "$(pf $i)/sriov_drivers_autoprobe")" = 1 ]
  done
  [[ $output != *"lock for VF creation"* ]]
  [ "$(failures_of numvfs)" = 2 ]
  all_well_but 4 4 6
  # the next run ends too, and does not wait for ever behind what still hangs
  rails 4 netdev 2s
  run -6 "$railhead" apply --root "$root" --stage devices
  [ "$(failures_of numvfs)" = 2 ]
  [[ $(said_of "sriov/${PFS[4]}/numvfs: failed: ") == *"another program, a hotplug event or a hung write of an earlier run holds"* ]]
}

@test "a PF that hangs below the global lock: the holder is named, and those behind it" {
  local holder said
  all_stuck() { [ "$(grep -l sim_wait_for_firmware "$sim"/node/proc/*/stack | wc -l) $(cat "$sim"/node/proc/*/stack | grep -c sriov_numvfs_store)" = "1 8" ]; }
  rails 4 netdev 100s
  sim_start <<<"at /sys/*/sriov_numvfs write times 1 hang" # whichever has the lock first
  run -6 apply_until 103000 all_stuck
  holder=$(sim_events sriov 2 | awk '{ print $2 }')
  said=$(said_of "sriov/$holder/numvfs: failed: ")
  [[ $said == *"has not returned from the kernel"*"the worker is in sim_wait_for_firmware"* ]]
  [[ $said == *"the worker holds the kernel's lock for VF creation, and "*" wait behind it"* ]]
  for pf in "${PFS[@]}"; do
    [ "$(cat "$root/sys/bus/pci/devices/$pf/sriov_drivers_autoprobe")" = 1 ]
    [ "$pf" != "$holder" ] || continue
    [[ $said == *"$pf"* ]]
    [[ $(said_of "sriov/$pf/numvfs: failed: ") == *"the worker waits behind $holder, which holds the kernel's lock for VF creation" ]]
  done
  run -7 "$railhead" status --root "$root"
  # one for the holder, none for those behind it: 7 PFs, and the VFs of all 8
  [ "$(grep -cE '^(verdict|and): +.*sriov/' <<<"$output")" = 1 ]
  [[ $output == *" sriov/$holder/numvfs: setting "*" (and 39 more that wait for it)"* ]]
  [ "$(grep -cE '^  vfs +0000:[0-9a-f:.]+  4 VFs  numvfs failed after [0-9.]+ s  4 failed$' <<<"$output")" = 8 ]
  run -7 "$railhead" gate --root "$root"
  jq -e --arg id "sriov/$holder/numvfs: setting " \
    '[.faults[] | .code, (.reason | startswith($id))] == ["RH-KERNEL-STUCK", true]' "$root/run/railhead/status.json"
}

# A healthy PF that stands in line is not given up: its time begins when those before it are done.
@test "8 PFs in line below the global lock, longer than the time that each of them has" {
  local n
  rails 1 netdev 20s
  sim_start <<<"latency enable 10m"
  begun() { [ "$(count_of 'sriov ')" = "$1" ]; }
  for n in {1..8}; do # 5 s each
    eventually begun "$n"
    pass 5000
    sim_pass 600000
  done 3>&- &
  run -0 on_clock "$railhead" apply --root "$root" --stage devices
  all_well_but 1
}

@test "how long the VFs of each PF took: a line for each in status, numbers in its JSON" {
  rails 2
  sim_start <<S
latency probe 20ms
latency netdev 100ms
S
  run -0 "$railhead" apply --root "$root" --stage devices
  run "$railhead" status --root "$root"
  for pf in "${PFS[@]}"; do
    grep -qE "^  vfs +$pf  2 VFs  numvfs [0-9]+\.[0-9]{2} s  bind [0-9.]+\.\.[0-9.]+ s$" <<<"$output"
  done
  python3 - "$sim/node/run/railhead/status.json" <<'P'
import json, sys
devices = json.load(open(sys.argv[1]))["stages"]["devices"]
vfs = devices["vfs"]
assert len(vfs) == 8, vfs
for v in vfs:
    assert v["vfs"] == 2 and v["bound"] == 2 and v["failed"] == 0, v
    assert v["bind_max_usec"] >= v["bind_min_usec"] >= 20000, v
    assert v["numvfs_usec"] > 0, v
    parts = v["timeline"]
    assert [p["part"] for p in parts] == ["numvfs", "vfs_seen", "bind", "ready", "look_again"], parts
    took = {p["part"]: p["to_usec"] - p["from_usec"] for p in parts}
    assert took["bind"] >= 20000 and took["ready"] >= 100000 and min(took.values()) >= 0, took
    assert [p["from_usec"] for p in parts] == sorted(p["from_usec"] for p in parts), parts
    assert parts[0]["from_usec"] > 0 and parts[-1]["to_usec"] <= devices["duration_usec"], parts
P
  run -0 "$railhead" apply --root "$root" --stage devices # nothing is made: nothing is said
  run "$railhead" status --root "$root"
  [[ $output != *vfs* ]]
}

# railhead is killed while the kernel is at a write, the next run makes all well.
@test "killed at a write: the next run converges" {
  written() { [ "$(grep -cE "write $file" "$sim/log")" -ge $after ]; }
  rails 2
  while read -r where; do
    file=${where%% *} after=1
    [[ $where != *after* ]] || after=$((${where##*after } + 1))
    for delay in 100 1000 10000; do # longer where this test was too late
      sim_stop
      rm -rf "$sim/node/sys"
      cp -a "$BATS_FILE_TMPDIR/pristine/node/sys" "$sim/node/sys"
      sim_start <<<"at $where delay ${delay}ms"
      "$railhead" apply --root "$root" --stage devices >/dev/null 2>&1 3>&- &
      until written; do
        kill -0 $! 2>/dev/null || break
        sleep 0.01
      done
      written || {
        echo "railhead has ended with fewer than $after writes of $file"
        return 1
      }
      killed=
      kill -9 $! 2>/dev/null && killed=yes
      run wait $!
      [ -z "$killed" ] || break
    done
    [ "$killed" ]
    run -0 "$railhead" apply --root "$root" --stage devices
    all_well_but 2
    run -0 "$railhead" plan --root "$root" --stage devices
  done <<'S'
/sys/bus/pci/devices/0000:9a:00.0/sriov_drivers_autoprobe write
/sys/bus/pci/devices/0000:18:00.0/sriov_numvfs write
/sys/bus/pci/devices/0000:db:00.0/sriov_numvfs write
/sys/bus/pci/devices/0000:bc:00.0/sriov_drivers_autoprobe write after 1
/sys/bus/pci/drivers_probe write
/sys/bus/pci/drivers_probe write after 9
S
}

@test "hugepages that are not all there: how many, on which node" {
  sim_profile <<'Y'
hugepages: [{size: 2M, per_node: 16, at: runtime}]
Y
  sim_start <<<"at /sys/devices/system/node/node1/*/nr_hugepages write short 3"
  run -6 "$railhead" apply --root "$root"
  [[ $output == *"hugepages/2M/node0: set"* ]]
  [[ $output == *"hugepages/2M/node1: failed: "*"'13'"* ]]
}

# Vectors of a VF as its config space says it: the MSI-X capability holds one less.
vectors_of() { # VF-DIR
  local size
  size=$(od -An -tu2 -j $((0x9e)) -N 2 --endian=little "$1/config")
  echo $((size + 1))
}

all_vfs() { # MTU VECTORS: every VF of every PF is bound and has these
  local i vf
  for i in {0..7}; do
    for vf in "$(pf "$i")"/virtfn*; do
      [ "$(cat "$vf"/net/*/mtu) $(vectors_of "$vf")" = "$1 $2" ] || {
        echo "$vf: $(cat "$vf"/net/*/mtu) $(vectors_of "$vf")" >&2
        return 1
      }
      [ -L "$vf/driver" ]
    done
  done
}

@test "MTU and MSI-X vectors of VFs; a VF whose count changes is bound anew, and no VF made anew" {
  sim_profile <<<"sriov: {rails: {vfs: 2, vf: {mtu: 9000, msix: 32}}}"
  sim_start </dev/null
  run -5 "$railhead" plan --root "$root" --stage devices
  run -0 "$railhead" apply --root "$root" --stage devices
  all_vfs 9000 32
  # before the VF's driver reads it, so that nothing is unbound
  run ! grep "write /sys/bus/pci/drivers/.*/unbind" "$sim/log"
  run -0 "$railhead" verify --root "$root" --stage devices
  : >"$sim/log"
  run -0 "$railhead" apply --root "$root" --stage devices
  [ -z "$(sim_writes)" ]

  sim_profile <<<"sriov: {rails: {vfs: 2, vf: {mtu: 9000, msix: 16}}}"
  run -0 "$railhead" apply --root "$root" --stage devices
  all_vfs 9000 16
  [[ $output == *"sriov/${PFS[3]}/vf1/msix: set"* && $output != *numvfs* ]]
  [ "$(grep -c "^[0-9.]* write .*/unbind" "$sim/log")" = 16 ]
  [ "$(grep -c "^[0-9.]* write .*/mtu 9000" "$sim/log")" = 16 ] # its netdev is a new one
  run ! grep "write .*numvfs" "$sim/log"
}

@test "MSI-X vectors: more than the PF has, or a driver that gives none, leaves the VFs bound" {
  rails 2
  sim_start </dev/null
  run -0 "$railhead" apply --root "$root" --stage devices
  sim_profile <<<"sriov: {rails: {vfs: 2, vf: {msix: 513}}}"
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"${PFS[0]}: 513 MSI-X vectors for each of its 2 VFs, and 1024 for all of them"* ]]
  all_well_but 2
  sim_stop
  printf '0\n' >"$(find "$sim/node/sys/devices" -path "*/${PFS[0]}/sriov_vf_total_msix")"
  sim_profile <<<"sriov: {rails: {vfs: 2, vf: {msix: 512}}}"
  sim_start </dev/null
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"sriov/${PFS[0]}/vf0/msix: failed: "*"its firmware does not share MSI-X vectors among VFs"*DYNAMIC_VF_MSIX_TABLE* ]]
  all_well_but 2
}

@test "a VF that its MSI-X count was refused for is bound again all the same" {
  rails 1
  sim_start <<<"at /sys/bus/pci/devices/0000:18:00.1/sriov_vf_msix_count write error EINVAL"
  run -0 "$railhead" apply --root "$root" --stage devices
  sim_profile <<<"sriov: {rails: {vfs: 1, vf: {msix: 16}}}"
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"sriov/${PFS[0]}/vf0/msix: failed: "*"its firmware rejects 16 MSI-X vectors"* ]]
  [ "$(grep -c 'msix: failed' <<<"$output")" = 1 ]
  all_well_but 1
}

@test "an MTU that the VF's driver refuses is told with the PF's" {
  sim_profile <<<"sriov: {rails: {vfs: 2, vf: {mtu: 9000}}}"
  sim_start <<<"at /sys/bus/pci/devices/0000:18:00.1/net/*/mtu write error EINVAL"
  run -6 "$railhead" apply --root "$root" --stage devices
  [[ $output == *"sriov/${PFS[0]}/vf0/mtu: failed: "*"VF 0 of ${PFS[0]}: an MTU of 9000 is more than its driver or the PF's port accepts (the PF has 1500)"* ]]
  [ "$(grep -c 'mtu: failed' <<<"$output")" = 1 ]
  [ "$(cat "$(pf 0)"/virtfn1/net/*/mtu)" = 9000 ]
}

@test "network managers are kept from the VFs by a rule per PF, where the profile asks" {
  local rules=$sim/root/run/udev/rules.d/70-railhead-vf.rules
  sim_profile <<'Y'
sriov:
  rails: {vfs: 1}
  some: {vf: {unmanaged: true}}
Y
  sed -i 's/^  gpus:.*/&\n  some: {in: rails, numa: 1}/' "$sim/node/etc/railhead/profiles/sim.yaml"
  sim_start </dev/null
  run -0 "$railhead" apply --root "$root" --stage devices
  diff "$rules" - <<'R'
# Written by railhead for profile sim; made anew at each boot.
ACTION=="remove", GOTO="railhead_vf_end"
SUBSYSTEM!="net", GOTO="railhead_vf_end"
ATTR{device/physfn/uevent}=="*PCI_SLOT_NAME=0000:9a:00.0*", ENV{NM_UNMANAGED}="1", ENV{RAILHEAD_UNMANAGED}="1"
ATTR{device/physfn/uevent}=="*PCI_SLOT_NAME=0000:bc:00.0*", ENV{NM_UNMANAGED}="1", ENV{RAILHEAD_UNMANAGED}="1"
ATTR{device/physfn/uevent}=="*PCI_SLOT_NAME=0000:cc:00.0*", ENV{NM_UNMANAGED}="1", ENV{RAILHEAD_UNMANAGED}="1"
ATTR{device/physfn/uevent}=="*PCI_SLOT_NAME=0000:db:00.0*", ENV{NM_UNMANAGED}="1", ENV{RAILHEAD_UNMANAGED}="1"
LABEL="railhead_vf_end"
R
  diff "$root/run/systemd/network/00-railhead-vf.network" - <<'N'
# Written by railhead for profile sim; made anew at each boot.
[Match]
Property=RAILHEAD_UNMANAGED=1

[Link]
Unmanaged=yes
N
  run -0 "$railhead" verify --root "$root" --stage devices

  rails 1 # a profile that does not ask for it takes the rules away
  run -5 "$railhead" plan --root "$root" --stage devices
  [[ $output == *"sriov/unmanaged/udev"*" -> ''"* ]]
  run -0 "$railhead" apply --root "$root" --stage devices
  [ ! -e "$rules" ]
  run -0 "$railhead" plan --root "$root" --stage devices
  [[ $output != *unmanaged* ]]
}
