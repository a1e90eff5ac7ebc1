#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Several lines of a profile that match one file: a rule and its exception.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/eventually

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  for i in all default eth0 eth1; do put "$root/proc/sys/net/ipv4/conf/$i/rp_filter" 0; done
  for i in sda nvme0n1 nvme1n1; do
    put "$root/sys/devices/pci0000:00/block/$i/queue/scheduler" "[mq-deadline] none"
    mkdir -p "$root/sys/block" "$root/sys/class/block"
    ln -s "../devices/pci0000:00/block/$i" "$root/sys/block/$i"
    ln -s "../../devices/pci0000:00/block/$i" "$root/sys/class/block/$i"
  done
}

sku() { # writes the profile from standard input, with the fields that each has
  { printf 'schema: 1\nname: sku\nmatch: {arch: x86_64}\n'; cat; } >"$BATS_TEST_TMPDIR/sku.yaml"
}

on() { # VERB... on the machine with the profile
  run "$railhead" "$@" --root "$root" --profile "$BATS_TEST_TMPDIR/sku.yaml"
}

filters() { (cd "$root/proc/sys/net/ipv4/conf" && grep -r . --include=rp_filter | sed 's,/rp_filter,,' | sort | xargs); }

schedulers() { (cd "$root/sys/devices/pci0000:00/block" && grep -r . --include=scheduler | sed 's,/queue/scheduler,,' | sort | xargs); }

converges() { # the first apply sets, the second writes nothing, and all that looks agrees
  on apply
  echo "$output"
  [ "$status" -eq 0 ]
  find "$root/proc" "$root/sys" -type f -printf '%p %T@\n' | sort >"$BATS_TEST_TMPDIR/before"
  for verb in apply plan verify gate; do
    on $verb
    echo "$verb: $output"
    [ "$status" -eq 0 ]
  done
  find "$root/proc" "$root/sys" -type f -printf '%p %T@\n' | sort >"$BATS_TEST_TMPDIR/after"
  diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "a sysctl for all and one for one: each file has one owner, in either order" {
  local rule='net.ipv4.conf.*.rp_filter: 2' exception='net.ipv4.conf.eth0.rp_filter: 1' order
  for order in "$rule"$'\n  '"$exception" "$exception"$'\n  '"$rule"; do
    for i in all default eth0 eth1; do put "$root/proc/sys/net/ipv4/conf/$i/rp_filter" 0; done
    sku <<<"sysctl:"$'\n  '"$order"
    converges
    [ "$(filters)" = "all:2 default:2 eth0:1 eth1:2" ]
  done
  on verify --all
  [[ $output == *"sysctl/net.ipv4.conf.*.rp_filter"*"'2'"*$'\n'*" 1 of 4 files belong to sysctl/net.ipv4.conf.eth0.rp_filter"* ]]
  on verify --json
  [ "$(jq -r '.changes[] | select(.id | endswith("*.rp_filter")).note' <<<"$output")" = \
    "1 of 4 files belong to sysctl/net.ipv4.conf.eth0.rp_filter ($BATS_TEST_TMPDIR/sku.yaml:5:3)" ]
}

@test "only the exception differs: only it is written" {
  sku <<<'sysctl: {net.ipv4.conf.*.rp_filter: 2, net.ipv4.conf.eth0.rp_filter: 1}'
  for i in all default eth0 eth1; do put "$root/proc/sys/net/ipv4/conf/$i/rp_filter" 2; done
  on plan
  [ "$status" -eq 5 ]
  [[ $output == *"differs     sysctl/net.ipv4.conf.eth0.rp_filter "*"'2' -> '1'"* ]]
  [[ $output != *"differs     sysctl/net.ipv4.conf.*"* ]]
  converges
  [ "$(filters)" = "all:2 default:2 eth0:1 eth1:2" ]
}

@test "a narrower pattern wins over a wider one, a path over both, by whatever name of sysfs" {
  sku <<'Y'
sysfs:
  /sys/block/nvme1n1/queue/scheduler: mq-deadline
  /sys/class/block/nvme*/queue/scheduler: none
  /sys/block/*/queue/scheduler: bfq
Y
  for i in sda nvme0n1 nvme1n1; do put "$root/sys/devices/pci0000:00/block/$i/queue/scheduler" kyber; done
  converges
  [ "$(schedulers)" = "nvme0n1:none nvme1n1:mq-deadline sda:bfq" ]
}

@test "between equals the later line wins, and the other says that no file is its own" {
  sku <<'Y'
sysctl:
  net.ipv4.conf.eth?.rp_filter: 1
  net.ipv4.conf.?th0.rp_filter: 2
  net.ipv4.conf.al[l].rp_filter: 1
  net.ipv4.conf.all.rp_filter: 2
Y
  converges
  [ "$(filters)" = "all:2 default:0 eth0:2 eth1:1" ]
  on verify --all
  [[ $output == *"sysctl/net.ipv4.conf.al[l].rp_filter"*"'no file of its own'"*$'\n'*" 1 of 1 files belong to sysctl/net.ipv4.conf.all.rp_filter"* ]]
}

@test "an exception for what is not there fails by itself, and the rule holds" {
  sku <<<'sysctl: {net.ipv4.conf.*.rp_filter: 2, net.ipv4.conf.eth7.rp_filter: 1}'
  on apply
  [ "$status" -eq 6 ]
  [[ $output == *"eth7/rp_filter: no such file"* ]]
  [ "$(filters)" = "all:2 default:2 eth0:2 eth1:2" ]
}

# --- two sections -------------------------------------------------------------------------------

values() { # of the netdevs, of the file that these tests are about
  local net
  for net in "$@"; do echo "$(cat "$root/sys/class/net/$net/napi_defer_hard_irqs")"; done | xargs
}

nets() { # FILE TEXT: a file of both NICs' netdevs
  local net
  for net in eth0 eth1; do put "$root/sys/class/net/$net/$1" "$2"; done
}

# What the line of sysfs and the key of link say of eth0, which the node alone knows.
two_sections() { # LINE VALUE VALUE
  sku <<<"devices: {rails: {pci: \"15b3:1021\"}}
sysfs: {\"$1\": $2}
link: {rails: {napi_defer_hard_irqs: $3}}"
}

@test "two sections want one file to be different: both fail, name both lines, and leave it" {
  local line=/sys/class/net/eth0/napi_defer_hard_irqs one other file
  nets napi_defer_hard_irqs 0
  two_sections "$line" 2 5
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
  on plan
  echo "$output"
  [ "$status" -ne 0 ]
  file=/sys/bus/pci/devices/$PF0/net/eth0/napi_defer_hard_irqs
  one="left as it is: $line: this line (*sku.yaml:5:9) sets '2', link/$PF0/napi_defer_hard_irqs (*sku.yaml:6:38) sets '5'"
  other="left as it is: $file: this line (*sku.yaml:6:38) sets '5', sysfs/$line (*sku.yaml:5:9) sets '2'"
  # shellcheck disable=SC2053 # they are patterns
  [[ $output == *"failed      sysfs/$line "*"'0' -> '2'"*$one"; drop one of the two"*"failed      link/$PF0/"*"'0' -> '5'"*$other"; drop one of the two"* ]]
  on apply
  [ "$status" -eq 6 ]
  [ "$(values eth0 eth1)" = "0 5" ]
  on gate
  [ "$status" -eq 7 ]
  [[ $output == *"verdict: blocked"*"sets '2', link/$PF0"* ]]
}

@test "... also where optional forgives what a driver lacks, and whatever the file reads" {
  nets napi_defer_hard_irqs 5
  two_sections /sys/class/net/eth0/napi_defer_hard_irqs "{value: 2, optional: true}" "5, optional: true"
  on apply
  [ "$status" -eq 6 ]
  on gate
  [ "$status" -eq 7 ]
  [ "$(values eth0)" = 5 ]
}

@test "a pattern sets its other files, and fails for the contested one" {
  nets napi_defer_hard_irqs 0
  put "$root/sys/class/net/lo/napi_defer_hard_irqs" 0
  sku <<Y
devices: {one: {address: "$PF0"}}
sysfs: {"/sys/class/net/[el]*/napi_defer_hard_irqs": 2}
link: {one: {napi_defer_hard_irqs: 5}}
Y
  on apply
  echo "$output"
  [ "$status" -eq 6 ]
  [ "$(values lo eth0 eth1)" = "2 0 2" ]
  on verify
  [[ $output == *"failed      sysfs/"*"'0 in /sys/class/net/eth0/napi_defer_hard_irqs' -> '2'"*" 1 of 3 files left as they are, /sys/class/net/eth0/"*"failed      link/$PF0/"* ]]
}

@test "equal values of two sections merge, and each names the other" {
  nets napi_defer_hard_irqs 0
  two_sections "/sys/class/net/*/napi_defer_hard_irqs" 5 5
  converges
  [ "$(values eth0 eth1)" = "5 5" ]
  on verify --all
  [[ $output == *"2 of 2 files have the same value from link/$PF0/napi_defer_hard_irqs ("*"sku.yaml:6:38), link/$PF1/"* ]]
  [[ $output == *"1 of 1 files have the same value from sysfs/"*"sku.yaml:5:9)"* ]]
}

@test "the exception of a rule may be what the other section wants" {
  nets napi_defer_hard_irqs 0
  sku <<Y
devices: {one: {address: "$PF0"}}
sysfs:
  /sys/class/net/*/napi_defer_hard_irqs: 2
  /sys/class/net/eth0/napi_defer_hard_irqs: 5
link: {one: {napi_defer_hard_irqs: 5}}
Y
  converges
  [ "$(values eth0 eth1)" = "5 2" ]
}

@test "an mtu of link and one of sysfs, by the device's own path, and that of a VF" {
  nets mtu 1500
  sku <<Y
devices: {rails: {pci: "15b3:1021"}}
sysfs: {"/sys/devices/pci0000:00/$PF1/net/eth1/mtu": 1500}
link: {rails: {mtu: 9000}}
Y
  on plan
  [[ $output == *"failed      link/$PF1/mtu"*"sets '9000', sysfs//sys/devices/pci0000:00/$PF1/net/eth1/mtu"* ]]
  [[ $output == *"differs     link/$PF0/mtu"* ]]
}

@test "keys that have several files, or words of their own for them: any line of sysfs fails with them" {
  local dev=$root/sys/devices/pci0000:00/$PF0
  put "$dev/net/eth0/ecn/roce_np/enable/3" 0
  put "$dev/link/l1_aspm" 1
  sku <<Y
devices: {one: {address: "$PF0"}}
qos: {one: {dcqcn: {priorities: [3]}}}
pcie: {one: {aspm: disabled}}
sysfs: {/sys/class/net/eth0/ecn/roce_np/enable/3: 0, "/sys/bus/pci/devices/*/link/l1_aspm": 1}
Y
  for verb in plan apply; do
    on $verb
    echo "$verb: $output"
    [[ $output == *"sysfs//sys/class/net/eth0/ecn/roce_np/enable/3"*"left as it is: "*"qos/$PF0/dcqcn/priorities"* ]]
    [[ $output == *"pcie/$PF0/aspm"*"left as it is: "* ]]
  done
  [ "$status" -eq 6 ]
  [ "$(cat "$dev/net/eth0/ecn/roce_np/enable/3" "$dev/link/l1_aspm" | xargs)" = "0 1" ]
}

@test "check refuses files that a section has, also by a pattern" {
  local path
  for path in '/sys/bus/pci/devices/*/sriov_num*' '/sys/class/infiniband/mlx*/tc/1/traffic_class' \
    '/sys/kernel/mm/hugepages/*/nr_huge*'; do
    sku <<<"sysfs: {\"$path\": 4}"
    run -3 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
    [[ $output == *"sku.yaml:4:9: sysfs.$path: "*"; write "* ]]
  done
}

@test "check refuses only what holds on any node" {
  local pattern
  sku <<'Y' # no VF has an MTU
devices: {rails: {pci: "15b3:1021"}}
sysfs: {/sys/class/net/*/mtu: 9000}
sriov: {rails: {vfs: 0, vf: {mtu: 1500}}}
Y
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
  sku <<'Y' # another function of that address
devices: {rails: {address: "0000:41:0*"}}
sysfs: {"/sys/bus/pci/devices/0000:41:0[1-9]*/net/*/mtu": 9000}
link: {rails: {mtu: 1500}}
Y
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
  sku <<'Y' # the driver's line may have all of them
devices: {rails: {pci: "15b3:1021"}}
sysfs: {/sys/class/net/*/mtu: 9000, "/sys/bus/pci/drivers/mlx5_core/*/net/*/mtu": 1500}
link: {rails: {mtu: 1500}}
Y
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
  for pattern in '[!e]*' '?' 'e*' '?*[0-9]' '[!l]*' '[^z]*'; do
    sku <<<"devices: {rails: {pci: \"15b3:1021\"}}
sysfs: {\"/sys/class/net/$pattern/mtu\": 1500}
link: {rails: {mtu: 9000}}"
    run -0 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
  done
  sku <<'Y' # all rails are of the narrower set
devices: {rails: {pci: "15b3:1021"}, sub: {in: rails, driver: mlx5_core}}
sysfs: {/sys/class/net/*/mtu: 1500}
link: {rails: {mtu: 9000}, sub: {mtu: 1500}}
Y
  run -0 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
  for expect in '">=1"' 2; do
    sku <<<"devices: {rails: {pci: \"15b3:1021\", expect: $expect}}
sysfs: {/sys/class/net/*/mtu: 1500}
link: {rails: {mtu: 9000}}"
    run -3 "$railhead" check "$BATS_TEST_TMPDIR/sku.yaml"
  done
}

@test "of three lines each note names the one that has the file" {
  sku <<<'sysctl: {net.ipv4.conf.*.rp_filter: 0, net.ipv4.conf.e*.rp_filter: 1, net.ipv4.conf.eth0.rp_filter: 2}'
  converges
  [ "$(filters)" = "all:0 default:0 eth0:2 eth1:1" ]
  on verify --all
  [[ $output == *"2 of 4 files belong to sysctl/net.ipv4.conf.eth0.rp_filter ("*"), sysctl/net.ipv4.conf.e*.rp_filter ("* ]]
}

@test "a backslash quotes nothing: such a line leaves the rule its files" {
  nets mtu 1500
  sku <<'Y'
sysfs: {"/sys/class/net/eth*/mtu": 1700, "/sys/class/net/\\eth0/mtu": {value: 1600, optional: true}}
Y
  on apply
  [ "$(cat "$root/sys/class/net/eth0/mtu")" = 1700 ]
}

# --- one file by many names ---------------------------------------------------------------------

cpufreq() { # CPUs 0 and 1 share a policy
  local i dir=$root/sys/devices/system/cpu
  for i in 0 2; do put "$dir/cpufreq/policy$i/energy_performance_preference" balance_power; done
  for i in 0 1 2; do ln -s "../cpufreq/policy$((i / 2 * 2))" "$dir/cpu$i/cpufreq"; done
}

preferences() { (cd "$root/sys/devices/system/cpu/cpufreq" && grep -h . policy{0,2}/energy_performance_preference | xargs); }

@test "the CPUs' frequencies and their policies: a rule and its exception" {
  local rule='/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference: performance' exception
  for exception in cpufreq/policy0 cpu1/cpufreq 'cpufreq/policy[01]'; do
    rm -f "$root"/sys/devices/system/cpu/cpu*/cpufreq
    cpufreq
    sku <<<"sysfs:"$'\n  '"$rule"$'\n  '"/sys/devices/system/cpu/$exception/energy_performance_preference: power"
    converges
    [ "$(preferences)" = "power performance" ]
  done
}

@test "a NIC's file by its driver, and by the device of its netdev" {
  local path
  ln -s "../../../../devices/pci0000:00/$PF1" "$root/sys/bus/pci/drivers/mlx5_core/$PF1"
  ln -s "../../../$PF1" "$root/sys/devices/pci0000:00/$PF1/net/eth1/device"
  for path in '/sys/bus/pci/drivers/mlx5_core/*/net/*/mtu' /sys/class/net/eth1/device/net/eth1/mtu; do
    nets mtu 1500
    sku <<Y
devices: {rails: {pci: "15b3:1021"}}
sysfs: {"$path": 1500}
link: {rails: {mtu: 9000}}
Y
    on plan
    [[ $output == *"failed      sysfs/$path "*"failed      link/$PF1/mtu "* ]]
    [[ $output == *"differs     link/$PF0/mtu "* ]]
    sku <<<"sysfs: {\"/sys/class/net/*/mtu\": 9000, \"$path\": 1500}"
    nets mtu 1500
    converges
    [ "$(grep -h . "$root"/sys/class/net/eth{0,1}/mtu | xargs)" = "9000 1500" ]
  done
}

@test "a VF's file by the VF's own address" {
  local vf=0000:81:00.1
  nets mtu 1500
  fake_pf "$root" $vf 1 eth2 4
  ln -s ../$PF1 "$root/sys/devices/pci0000:00/$vf/physfn"
  ln -s "../$vf" "$root/sys/devices/pci0000:00/$PF1/virtfn0"
  put "$root/sys/devices/pci0000:00/$PF1/sriov_numvfs" 1
  put "$root/sys/class/net/eth2/mtu" 1500
  sku <<Y
devices: {one: {address: "$PF1"}}
sysfs: {"/sys/bus/pci/devices/$vf/net/*/mtu": 1500}
sriov: {one: {vfs: 1, vf: {driver: netdev, mtu: 9000}}}
Y
  on plan
  echo "$output"
  [[ $output == *"failed      sriov/$PF1/vf0/mtu "*"left as it is: "*"/virtfn0/net/eth2/mtu: this line"* ]]
}

@test "link is about the uplink alone: a pattern may set the representors" {
  local dev=$root/sys/devices/pci0000:00/$PF0
  nets mtu 1500
  put "$dev/net/eth0/phys_port_name" p0
  for i in 0 1; do
    put "$dev/net/rep$i/phys_port_name" pf0vf$i
    put "$dev/net/rep$i/ifindex" $((10 + i))
    put "$dev/net/rep$i/mtu" 1500
    ln -s "../../devices/pci0000:00/$PF0/net/rep$i" "$root/sys/class/net/rep$i"
  done
  sku <<Y
devices: {one: {address: "$PF0"}}
sysfs: {"/sys/class/net/rep*/mtu": 2000}
link: {one: {mtu: 9000}}
Y
  on plan
  echo "$output"
  [[ $output == *"differs     sysfs/"*"2 of 2 files differ"*"differs     link/$PF0/mtu "* ]]
  [[ $output != *"left as it is"* ]]
  sku <<Y # the line's pattern is that of the uplink's files
devices: {rails: {pci: "15b3:1021"}}
sysfs: {"/sys/bus/pci/devices/$PF0/net/*/mtu": 2000}
link: {rails: {mtu: 9000}}
Y
  on apply
  echo "$output"
  [ "$(grep -h . "$dev"/net/*/mtu | xargs)" = "1500 2000 2000" ]
}

@test "which of two names is more specific goes by the device, not by the directory" {
  sku <<'Y'
sysfs:
  /sys/class/block/nvme*/queue/scheduler: none
  /sys/block/nvme0*/queue/scheduler: kyber
Y
  converges
  [ "$(schedulers)" = "nvme0n1:kyber nvme1n1:none sda:[mq-deadline] none" ]
  nets mtu 1500
  sku <<'Y'
sysfs: {/sys/class/net/eth1*/mtu: 3000, /sys/devices/*/*/net/*/mtu: 5000, /sys/bus/pci/devices/*/net/*/mtu: 4000}
Y
  converges
  [ "$(grep -h . "$root"/sys/class/net/eth{0,1}/mtu | xargs)" = "4000 3000" ]
}

@test "digits in the name of a driver, module or bridge name no device; of equals the later line counts" {
  local i rule
  nets mtu 1500
  for i in "$PF0" "$PF1"; do
    ln -s "../../../../devices/pci0000:00/$i" "$root/sys/bus/pci/drivers/mlx5_core/$i"
  done
  for rule in '/sys/bus/pci/drivers/mlx5_core/*/net' '/sys/devices/pci0000:00/*/net'; do
    sku <<<"sysfs: {/sys/class/net/eth1*/mtu: 3000, $rule/*/mtu: 9000}"
    converges
    [ "$(grep -h . "$root"/sys/class/net/eth{0,1}/mtu | xargs)" = "9000 3000" ]
  done
  for i in none kyber; do
    sku <<<"sysfs: {/sys/class/block/sd*/queue/scheduler: mq-deadline, /sys/block/sd*/queue/scheduler: $i}"
    converges
    [ "$(schedulers)" = "nvme0n1:[mq-deadline] none nvme1n1:[mq-deadline] none sda:$i" ]
  done
}

has_written() { [ "$(cat "$root/proc/sys/x/k20")" = 1 ]; }

goes_on() { # PID of strace, until it has ended
  pkill -CONT -P "$1" || :
  ! kill -0 "$1" 2>/dev/null
}

@test "a file that comes while stage early sets others is set, and nothing has undone it" {
  local k
  for k in {1..40}; do put "$root/proc/sys/x/k$k" 0; done
  {
    echo 'sysfs: {"/sys/block/sd*/queue/scheduler": none}'
    echo 'sysctl:'
    printf '  x.k%s: 1\n' {1..40}
  } | sku
  echo none >"$root/sys/devices/pci0000:00/block/sda/queue/scheduler"
  # The program stops when it has written the twentieth.
  strace -f -o "$BATS_TEST_TMPDIR/calls" -e trace=write -P "$root/proc/sys/x/k20" -P /proc/sys/x/k20 -e inject=write:signal=STOP:when=1 \
    "$railhead" apply --root "$root" --profile "$BATS_TEST_TMPDIR/sku.yaml" >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
  eventually has_written
  [ "$(cat "$root"/proc/sys/x/k* | grep -c 0)" -ge 1 ]
  # as a driver does that was loaded a moment before
  put "$root/sys/devices/pci0000:00/block/sdb/queue/scheduler" bfq
  ln -s ../devices/pci0000:00/block/sdb "$root/sys/block/sdb"
  eventually goes_on $!
  status=0
  wait $! || status=$?
  output=$(<"$BATS_TEST_TMPDIR/said")
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output != *"undone"* ]]
  [ "$(cat "$root/sys/devices/pci0000:00/block/sdb/queue/scheduler")" = none ]
}

@test "a line for a function that was never there does not send anybody to its slot" {
  local addr
  for addr in 0000:aa:00.0 000:41:00.0; do
    sku <<<"sysfs: {\"/sys/bus/pci/devices/$addr/net/*/mtu\": 2000}"
    on apply
    echo "$output"
    [ "$status" -eq 6 ]
    [[ $output == *"there is no PCI function $addr: is its address misspelt"* && $output != *reseat* ]]
  done
}

@test "a value that another line has undone is a failure, optional or not" {
  ln -s swappiness "$root/proc/sys/vm/swp"
  for line in 'vm.swp: 10' 'vm.swp: {value: 10, optional: true}'; do
    sku <<<"sysctl: {vm.swappiness: {value: 60, optional: true}, $line}"
    on apply
    [ "$status" -eq 6 ]
    [[ $output == *"another change has undone it"* ]]
  done
}

@test "a plan in which nothing is left to be done does not wait for what an optional line is about" {
  sku <<<'sysctl: {vm.swappiness: 10, net.core.optmem_max: {value: 1, optional: true}}'
  on plan
  [ "$status" -eq 5 ]
  [[ $output == *"waits       sysctl/net.core.optmem_max "*"railhead tries again once devices are up"* ]]
  on apply
  [ "$status" -eq 0 ]
  on plan
  [ "$status" -eq 0 ]
  [[ $output == *"unsupported sysctl/net.core.optmem_max "* ]]
}
