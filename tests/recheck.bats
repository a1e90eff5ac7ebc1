#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# gate --recheck: a node is looked at after its verdict; what changed lapses it, what healed restores it.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/clock

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  put "$root/proc/sys/vm/swappiness" 10
  put "$root/sys/class/net/eth0/carrier" 1
  want 'sysctl: {vm.swappiness: 10}'
}

want() { # SECTIONS...
  { printf 'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\n'
    printf 'devices: {rails: {pci: "15b3:1021"}}\n'
    printf '%s\n' "$@"; } | profile "$root" sku
}

ready() {
  run -0 "$railhead" gate --root "$root"
}

recheck() { # STATUS VERDICT
  run "-$1" "$railhead" gate --recheck --root "$root"
  [ "$(jq -r .verdict "$root/run/railhead/status.json")" = "$2" ]
  if [ "$2" = ready ]; then [ -e "$root/run/railhead/ready" ]; else [ ! -e "$root/run/railhead/ready" ]; fi
}

@test "a node as it was judged: the time of the look is written, and nothing is said" {
  local record=$root/run/railhead/status.json metrics=$root/var/lib/prometheus/node-exporter/railhead.prom
  mkdir -p "${metrics%/*}"
  ready
  jq '.last_look.unix_time = 1' "$record" >"$BATS_TEST_TMPDIR/record"
  cp "$BATS_TEST_TMPDIR/record" "$record"
  files() { find "$root" ! -name lock ! -path '*/run/railhead*' ! -path '*/node-exporter*' -printf '%p %T@ %s\n' | sort; }
  files >"$BATS_TEST_TMPDIR/before"
  recheck 0 ready
  [ -z "$output" ]
  files | diff "$BATS_TEST_TMPDIR/before" -
  diff <(jq 'del(.last_look)' "$BATS_TEST_TMPDIR/record") <(jq 'del(.last_look)' "$record")
  [ "$(cat "$root/proc/sys/vm/swappiness")" = 10 ]
  local at=$(jq .last_look.unix_time "$record")
  [ $(($(date +%s) - at)) -lt 600 ]
  grep -qx "railhead_looked_timestamp_seconds $at" "$metrics"
  grep -q '^railhead_info{.*boot_id="[0-9a-f-]*"} 1$' "$metrics"
}

long_ago() { # as if nothing had looked at the node since it booted
  local record=$root/run/railhead/status.json
  jq '.last_look.at_usec = 1 | .last_look.interval_usec = 1000' "$record" >"$BATS_TEST_TMPDIR/record"
  cp "$BATS_TEST_TMPDIR/record" "$record"
}

@test "a claim that nothing has looked at for four intervals of the timer is too old" {
  ready
  run -0 "$railhead" status --root "$root"
  [[ $output != *age:* ]]
  long_ago
  run -7 "$railhead" status --root "$root"
  [[ $output == *"ready"*"work is not admitted"*"age:"*"nothing has looked at the node for "*"railhead-recheck.timer"* ]]
  run -7 "$railhead" status --json --root "$root"
  jq -e '.verdict == "ready" and .not_looked_at_minutes >= 0' <<<"$output"
  # admit does not say that work is admitted already
  run -7 "$railhead" admit --for 1h --reason test --root "$root"
  [[ $output == *"admit: nothing has looked at the node for "*"gate --recheck"* ]]
  run -7 "$railhead" status --root "$root"
  recheck 0 ready
  run -0 "$railhead" status --root "$root"
  [[ $output != *age:* ]]
}

@test "an interval of the timer may be years" {
  local record=$root/run/railhead/status.json
  ready
  jq '.last_look.at_usec = 1 | .last_look.interval_usec = 4611686018427387904' "$record" >"$BATS_TEST_TMPDIR/record"
  cp "$BATS_TEST_TMPDIR/record" "$record"
  run -0 "$railhead" status --root "$root"
}

@test "a node that railhead.conf admits without a verdict keeps its label, and has no age and no profile that changed" {
  local record=$root/run/railhead/status.json metrics=$root/var/lib/prometheus/node-exporter/railhead.prom
  local features=$root/etc/kubernetes/node-feature-discovery/features.d
  mkdir -p "${metrics%/*}" "$features"
  put "$root/etc/railhead/railhead.conf" $'schema: 1\nadmit_none: true\nadmit_off: true'
  for verdict in none off; do
    want 'sysctl: {vm.swappiness: 10}'
    put "$root/proc/cmdline" ro
    run -0 "$railhead" gate --again --root "$root"
    grep -q '^railhead_looked_timestamp_seconds' "$metrics"
    if [ $verdict = none ]; then rm "$root/etc/railhead/profiles/sku.yaml"; else put "$root/proc/cmdline" 'ro railhead=off'; fi
    run -0 "$railhead" gate --again --root "$root"
    run ! grep -q '^railhead_looked_timestamp_seconds' "$metrics"
    sed -i 's/expiry-time=.*/expiry-time=2000-01-01T00:00:00Z/' "$features/railhead"
    run -0 "$railhead" gate --recheck --root "$root"
    [ -z "$output" ]
    [[ $(head -n 1 "$features/railhead") == "# +expiry-time="* && $(head -n 1 "$features/railhead") != *=2000* ]]
    run -0 "$railhead" status --root "$root"
    [[ $output != *RH-PROFILE-CHANGED* && $output != *age:* ]]
  done
  # a profile that comes is news
  put "$root/proc/cmdline" ro
  rm "$root/etc/railhead/profiles/sku.yaml"
  run -0 "$railhead" gate --again --root "$root"
  want 'sysctl: {vm.swappiness: 10}'
  run -0 "$railhead" gate --recheck --root "$root"
  [[ $output == *"the profile has changed; run "* ]]
}

@test "a boot in which railhead cannot start claims nothing of the boot before" {
  local metrics=$root/var/lib/prometheus/node-exporter features=$root/etc/kubernetes/node-feature-discovery/features.d
  mkdir -p "$metrics" "$features"
  ready
  [ -e "$metrics/railhead.prom" ] && [ -e "$features/railhead" ]
  systemd-tmpfiles --root="$root" --remove "$BATS_TEST_DIRNAME/../units/railhead.tmpfiles"
  [ -e "$metrics/railhead.prom" ]
  systemd-tmpfiles --root="$root" --boot --remove "$BATS_TEST_DIRNAME/../units/railhead.tmpfiles"
  [ -z "$(ls -A "$metrics" "$features" | grep railhead)" ]
}

@test "railhead.conf ends the looks by recheck: off, and status and metrics say so" {
  local metrics=$root/var/lib/prometheus/node-exporter/railhead.prom
  mkdir -p "${metrics%/*}"
  ready
  grep -qx 'railhead_recheck_interval_seconds 300' "$metrics"
  put "$root/etc/railhead/railhead.conf" $'schema: 1\nrecheck: off'
  long_ago
  put "$root/proc/sys/vm/swappiness" 60
  recheck 0 ready
  grep -qx 'railhead_recheck_interval_seconds 0' "$metrics"
  run -0 "$railhead" status --root "$root"
  [[ $output == *"age:"*"nothing looks at the node again (railhead.conf: recheck: off)"* ]]
  # any other word is a mistake: nobody looks, and nobody wanted that
  put "$root/etc/railhead/railhead.conf" $'schema: 1\nrecheck: never'
  recheck 0 ready
  [[ $output == *"railhead.conf, or a drop-in of it, is invalid"* ]]
  run -7 "$railhead" status --root "$root"
  rm "$root/etc/railhead/railhead.conf"
  recheck 7 lapsed
}

@test "a value that another program set lapses the node, and is not set again; the node heals with it" {
  ready
  put "$root/proc/sys/vm/swappiness" 60
  recheck 7 lapsed
  [[ $output == *"verdict: lapsed"*"sysctl/vm.swappiness: found '60', expected '10'; changed since the verdict: another program set it"* ]]
  [ "$(cat "$root/proc/sys/vm/swappiness")" = 60 ]
  jq -e '.faults[0].code == "RH-KERNEL-SYSCTL-DIFFERS"' "$root/run/railhead/status.json"
  # the same once more is no news
  recheck 7 lapsed
  [ -z "$output" ]
  put "$root/proc/sys/vm/swappiness" 10
  recheck 0 ready
  [[ $output == *"verdict: ready"* ]]
  recheck 0 ready
  [ -z "$output" ]
}

@test "an id that begins as another one does is another item: its writer is looked for, too" {
  local dir=$root/etc/sysctl.d
  want 'sysctl: {kernel.panic_on_oops: 1, kernel.panic: 10}'
  put "$root/proc/sys/kernel/panic_on_oops" 1
  put "$root/proc/sys/kernel/panic" 10
  ready
  put "$root/proc/sys/kernel/panic_on_oops" 0
  recheck 7 lapsed
  put "$dir/90-other.conf" 'kernel.panic = 30'
  put "$root/proc/sys/kernel/panic" 30
  recheck 7 lapsed
  jq -e '[.faults[] | [.id, (.drifted // false), (.by // "" | contains("90-other.conf"))]]
    == [["sysctl/kernel.panic_on_oops", true, false], ["sysctl/kernel.panic", false, false]]' "$root/run/railhead/status.json"
}

@test "a value with a semicolon is no remedy, and a cause is none either" {
  want 'sysctl: {kernel.core_pattern: "core; and more"}'
  put "$root/proc/sys/kernel/core_pattern" 'core; and more'
  ready
  put "$root/proc/sys/kernel/core_pattern" 'other; or less'
  recheck 7 lapsed
  run -7 "$railhead" status --root "$root"
  [[ $output == *"remedy:  \`railhead apply\` sets the value of sku.yaml:5; then run \`railhead gate\`"* ]]
  jq -e '.faults[0] | .drifted and (.remedy | startswith("Run `railhead apply`"))' "$root/run/railhead/status.json"
}

@test "a value that comes and goes: after four lapses the node is ready when all has held for an hour, or by a gate" {
  ready
  for lapse in 1 2 3 4; do
    put "$root/proc/sys/vm/swappiness" 60
    recheck 7 lapsed
    put "$root/proc/sys/vm/swappiness" 10
    [ "$lapse" = 4 ] || recheck 0 ready
  done
  [[ $(jq -r '.reasons | join(" ")' "$root/run/railhead/status.json") == *"found '60'"*"lapsed too often since the gate"* ]]
  [ "$(jq -r '.faults[].code' "$root/run/railhead/status.json" | sort -u | paste -sd,)" = RH-HOST-FLAPS,RH-KERNEL-SYSCTL-DIFFERS ]
  recheck 7 lapsed
  [ -z "$output" ]
  # the hour begins again with each look that finds it so, which is no news
  status() { # FILTER
    jq "$1" "$root/run/railhead/status.json" >"$BATS_TEST_TMPDIR/status"
    cp "$BATS_TEST_TMPDIR/status" "$root/run/railhead/status.json"
  }
  status '.drift.quiet_usec -= 1000000'
  quiet=$(jq .drift.quiet_usec "$root/run/railhead/status.json")
  recheck 7 lapsed
  [ "$(jq .drift.quiet_usec "$root/run/railhead/status.json")" = "$quiet" ]
  put "$root/proc/sys/vm/swappiness" 60
  recheck 7 lapsed
  [ -z "$output" ]
  [ "$(jq .drift.quiet_usec "$root/run/railhead/status.json")" -gt "$quiet" ]
  # another fault is news
  put "$root/proc/sys/vm/swappiness" 61
  recheck 7 lapsed
  [[ $output == *"found '61'"* ]]
  # the two in turns are not
  put "$root/proc/sys/vm/swappiness" 60
  recheck 7 lapsed
  [ -z "$output" ]
  put "$root/proc/sys/vm/swappiness" 10
  status '.drift.quiet_usec -= 3600000000'
  recheck 0 ready
  # once more, and the hour begins at once
  put "$root/proc/sys/vm/swappiness" 60
  recheck 7 lapsed
  put "$root/proc/sys/vm/swappiness" 10
  recheck 7 lapsed
  run -0 "$railhead" gate --root "$root"
  [ "$(jq .drift "$root/run/railhead/status.json")" = null ]
}

@test "who changed it is named where the node's own files say so" {
  ready
  put "$root/proc/sys/vm/swappiness" 60
  put "$root/usr/lib/sysctl.d/99-site.conf" "vm.swappiness = 60" # hidden
  put "$root/etc/sysctl.d/99-site.conf" "# vm.swappiness=60"$'\n'$'\n'"-vm/swappiness=10"
  recheck 7 lapsed
  [[ $output == *"another program set it"* && $output != *sysctl.d* ]]
  put "$root/etc/sysctl.d/90-kubelet.conf" "vm.dirty_ratio=60"$'\n'"; x"$'\n'"vm.swappiness = 60 "
  recheck 7 lapsed
  [[ $output == *"another program set it (/etc/sysctl.d/90-kubelet.conf:3 gives it that value)"* ]]
  rm -r "$root/etc/sysctl.d" "$root/usr/lib/sysctl.d"
  put "$root/run/tuned/tuned.pid" 1
  put "$root/etc/tuned/active_profile" throughput-performance
  recheck 7 lapsed
  [[ $output == *"another program set it (tuned runs, with profile throughput-performance)"* ]]
}

@test "on_drift: warn keeps no work out, and says so once; before the verdict it blocks all the same" {
  want 'sysctl: {vm.swappiness: {value: 10, on_drift: warn}}'
  ready
  put "$root/proc/sys/vm/swappiness" 60
  recheck 0 ready
  [[ $output == *"verdict: ready"*"sysctl/vm.swappiness: found '60', expected '10'"* ]]
  recheck 0 ready
  [ -z "$output" ]
  put "$root/proc/sys/vm/swappiness" 10
  recheck 0 ready
  [[ $output == *"verdict: ready (work is admitted)"* && $output != *swappiness* ]]
  put "$root/proc/sys/vm/swappiness" 60
  run -7 "$railhead" gate --again --root "$root"
}

@test "an optional value that was absent when the node was judged, and comes with another one, warns" {
  local file=$root/proc/sys/net/netfilter/nf_conntrack_max without='["sysctl/net.netfilter.nf_conntrack_max"]'
  want 'sysctl: {net.netfilter.nf_conntrack_max: {value: 1048576, optional: true}}'
  ready
  put "$file" 65536
  recheck 0 ready
  [[ $output == *"verdict: ready"*"nf_conntrack_max: found '65536', expected '1048576'; it was absent when the node was judged"* ]]
  jq -e ".skipped == $without and .faults[0].on_fail == \"warn\" and (.faults[0] | has(\"drifted\") | not)" "$root/run/railhead/status.json"
  recheck 0 ready
  [ -z "$output" ]
  # also while a device is away and after it is back
  rm "$root/sys/bus/pci/devices/$PF1/driver"
  run -7 "$railhead" apply --device "$PF1" --root "$root"
  jq -e ".verdict == \"lapsed\" and .skipped == $without" "$root/run/railhead/status.json"
  ln -s /sys/bus/pci/drivers/mlx5_core "$root/sys/bus/pci/devices/$PF1/driver"
  run -0 "$railhead" apply --device "$PF1" --root "$root"
  jq -e ".verdict == \"ready\" and .skipped == $without" "$root/run/railhead/status.json"
  # as the profile has it, it held
  put "$file" 1048576
  recheck 0 ready
  jq -e '.skipped == [] and .faults == []' "$root/run/railhead/status.json"
  put "$file" 65536
  recheck 7 lapsed
  [[ $output == *"changed since the verdict: another program set it"* ]]
  # before a verdict it is a fault as any other
  run -7 "$railhead" gate --again --root "$root"
}

@test "a check that fails later lapses the node; of a set, on_drift: warn only warns" {
  put "$root/sys/bus/pci/devices/$PF0/aer_dev_fatal" "DLP 0"$'\n'"TOTAL_ERR_FATAL 0"
  put "$root/sys/bus/pci/devices/$PF1/aer_dev_fatal" "DLP 0"$'\n'"TOTAL_ERR_FATAL 0"
  want 'gate: {checks: {errors: {run: pcie_errors, on: rails}}}'
  ready
  put "$root/sys/bus/pci/devices/$PF1/aer_dev_fatal" "DLP 2"$'\n'"TOTAL_ERR_FATAL 2"
  recheck 7 lapsed
  [[ $output == *"gate/errors/$PF1: found '2', expected '0'"* ]]
  put "$root/sys/bus/pci/devices/$PF1/aer_dev_fatal" "DLP 0"$'\n'"TOTAL_ERR_FATAL 0"
  recheck 0 ready
  want 'gate: {checks: {errors: {run: pcie_errors, on: rails, on_drift: warn}}}'
  run -0 "$railhead" gate --root "$root"
  put "$root/sys/bus/pci/devices/$PF1/aer_dev_fatal" "DLP 2"$'\n'"TOTAL_ERR_FATAL 2"
  recheck 0 ready
  [[ $output == *"gate/errors/$PF1: found '2'"* ]]
}

@test "nothing is looked at before a verdict, while a run is at work, or on a node that is kept out" {
  run -0 "$railhead" gate --recheck --root "$root"
  [ ! -e "$root/run/railhead/ready" ]
  put "$root/proc/sys/vm/swappiness" 60
  run -7 "$railhead" gate --root "$root"
  put "$root/proc/sys/vm/swappiness" 10
  run -0 "$railhead" gate --recheck --root "$root" # the gate's to judge
  [ "$(jq -r .verdict "$root/run/railhead/status.json")" = blocked ]
  ready
}

lock_state() { # waits until nobody has it, holds it until $BATS_TEST_TMPDIR/free is there
  python3 -c 'if True:
    import fcntl, os, sys, time
    lock = open(sys.argv[1], "r+")
    fcntl.lockf(lock, fcntl.LOCK_EX)
    open(sys.argv[2] + "/locked", "w")
    while not os.path.exists(sys.argv[2] + "/free"):
        time.sleep(0.05)' "$root/run/railhead/lock" "$BATS_TEST_TMPDIR" 3>&- &
  eventually [ -e "$BATS_TEST_TMPDIR/locked" ]
}

@test "a recheck that finds another run at work waits for that, and then looks" {
  ready
  put "$root/proc/sys/vm/swappiness" 60
  lock_state
  on_standing_clock "$railhead" gate --recheck --root "$root" >"$BATS_TEST_TMPDIR/said" 3>&- &
  local looks=$!
  eventually sleeps $looks
  [ -e "$root/run/railhead/ready" ]
  : >"$BATS_TEST_TMPDIR/free"
  wait $looks && status=0 || status=$?
  [ "$status" -eq 7 ]
  grep "verdict: lapsed" "$BATS_TEST_TMPDIR/said"
}

@test "a recheck that could not look says so" {
  ready
  lock_state
  on_standing_clock "$railhead" gate --recheck --root "$root" >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
  local looks=$!
  eventually sleeps $looks
  pass 100000
  wait $looks && status=0 || status=$?
  : >"$BATS_TEST_TMPDIR/free"
  [ "$status" -eq 1 ]
  grep "railhead could not look at the node: another railhead is at work (pid [0-9]*)" "$BATS_TEST_TMPDIR/said"
}

@test "what a container has is no drift: a netdev, an RDMA device, the sysctls of an interface" {
  mkdir -p "$root/proc/sys/net/ipv4/conf/eth1"
  put "$root/proc/sys/net/ipv4/conf/eth1/rp_filter" 2
  for pf in "$PF0" "$PF1"; do
    dev=$(realpath "$root/sys/bus/pci/devices/$pf")
    put "$dev/infiniband/mlx5_$pf/ports/1/state" "4: ACTIVE"
    mkdir -p "$root/sys/class/infiniband"
    ln -sr "$dev/infiniband/mlx5_$pf" "$root/sys/class/infiniband/mlx5_$pf"
    put "$(echo "$dev"/net/*)/carrier" 1
    put "$(echo "$dev"/net/*)/flags" 0x1003
    put "$(echo "$dev"/net/*)/operstate" up
  done
  for pf in "$PF0" "$PF1"; do
    put "$root/sys/bus/pci/devices/$pf/aer_dev_fatal" "DLP 0"$'\n'"TOTAL_ERR_FATAL 0"
  done
  want 'sysctl: {net.ipv4.conf.eth1.rp_filter: 2}' 'gate: {checks: {c: {run: carrier, on: rails, timeout: 1s}, r: {run: rdma_link, on: rails, timeout: 1s}, e: {run: pcie_errors, on: rails}}}'
  ready
  rm -r "$root/sys/class/infiniband/mlx5_$PF1" "$dev"/net/* "$dev"/infiniband/* "$root/sys/class/net/eth1" "$root/proc/sys/net/ipv4/conf/eth1"
  recheck 0 ready
  # what else is about that function is judged as before
  put "$root/sys/bus/pci/devices/$PF1/aer_dev_fatal" "DLP 2"$'\n'"TOTAL_ERR_FATAL 2"
  recheck 7 lapsed
  jq -e '.faults | map(.code) == ["RH-PCI-ERRORS"]' "$root/run/railhead/status.json"
  put "$root/sys/bus/pci/devices/$PF1/aer_dev_fatal" "DLP 0"$'\n'"TOTAL_ERR_FATAL 0"
  recheck 0 ready
  put "$(echo "$(realpath "$root/sys/bus/pci/devices/$PF0")"/net/*)/carrier" 0
  recheck 7 lapsed
  jq -e '.faults | map(.code) == ["RH-NIC-CARRIER"]' "$root/run/railhead/status.json"
}

# --- what is gone ---------------------------------------------------------------------

# The reason of the only fault, which is that something is gone.
gone() { # WORDS
  recheck 7 lapsed
  jq -e '.faults | map(.code) == ["RH-HOST-GONE"]' "$root/run/railhead/status.json"
  [[ $(jq -r '.reasons[0]' "$root/run/railhead/status.json") == *"$1 was there when the node was judged; bring it back"* ]]
}

virtual_netdev() { # NAME IFINDEX [IFLINK]
  put "$root/sys/devices/virtual/net/$1/ifindex" "$2"
  put "$root/sys/devices/virtual/net/$1/iflink" "${3:-$2}"
  put "$root/sys/devices/virtual/net/$1/tx_queue_len" 1000
  ln -sfn "../../devices/virtual/net/$1" "$root/sys/class/net/$1"
  put "$root/proc/sys/net/ipv4/conf/$1/rp_filter" 0
}

end_netdev() { # NAME
  rm -r "$root/sys/class/net/$1" "$root/sys/devices/virtual/net/$1" "$root/proc/sys/net/ipv4/conf/$1"
}

@test "the netdev of a sysctl that is gone lapses the node, and it heals when that is back" {
  virtual_netdev bond0 77
  virtual_netdev bond1 78
  want 'sysctl: {net.ipv4.conf.bond0.rp_filter: 0, net.ipv4.conf.bond1.rp_filter: {value: 0, on_drift: warn}}'
  ready
  recheck 0 ready
  [ -z "$output" ]
  end_netdev bond1
  recheck 0 ready
  [[ $output == *"verdict: ready"*"sysctl/net.ipv4.conf.bond1.rp_filter: /proc/sys/net/ipv4/conf/bond1/rp_filter was there when"* ]]
  virtual_netdev bond1 78
  recheck 0 ready
  end_netdev bond0
  gone "sysctl/net.ipv4.conf.bond0.rp_filter: /proc/sys/net/ipv4/conf/bond0/rp_filter"
  recheck 7 lapsed
  [ -z "$output" ]
  virtual_netdev bond0 79
  recheck 0 ready
  [[ $output == *"verdict: ready"* ]]
  end_netdev bond0
  recheck 7 lapsed
  run -7 "$railhead" gate --again --root "$root" # it is still a line of the profile
}

@test "one of the files of a pattern that is gone lapses the node, whatever the others have" {
  virtual_netdev bond0 77
  put "$root/sys/class/net/eth0/tx_queue_len" 1000
  put "$root/sys/class/net/eth1/tx_queue_len" 1000
  want 'sysfs: {"/sys/class/net/*/tx_queue_len": 1000}'
  ready
  end_netdev bond0
  gone "/sys/class/net/bond0/tx_queue_len"
  run -0 "$railhead" gate --again --root "$root" # the node is to be so
  recheck 0 ready
  # a netdev of a function that lost it, not to a container
  rm -r "$root/sys/class/net/eth1" "$(realpath "$root/sys/bus/pci/devices/$PF1")/net"
  recheck 0 ready # its loss is that of the device's own unit
  run -0 "$railhead" gate --again --root "$root"
  put "$root/sys/class/net/eth0/tx_queue_len" 500
  recheck 7 lapsed
  jq -e '.faults | map(.code) == ["RH-KERNEL-SYSFS-DIFFERS"]' "$root/run/railhead/status.json"
}

@test "an optional value that was there is missed, and one that was not there is not" {
  put "$root/proc/sys/net/netfilter/nf_conntrack_max" 4096
  want 'sysctl: {net.netfilter.nf_conntrack_max: {value: 4096, optional: true}, fs.nfs.nfs_callback_tcpport: {value: 1, optional: true}}'
  ready
  recheck 0 ready
  rm -r "$root/proc/sys/net/netfilter"
  gone "/proc/sys/net/netfilter/nf_conntrack_max"
}

@test "a netdev that a container has is not gone: its function still has a directory for netdevs" {
  local dev
  put "$root/proc/sys/net/ipv4/conf/eth0/rp_filter" 2
  put "$root/proc/sys/net/ipv4/conf/eth1/rp_filter" 2
  put "$root/sys/class/net/eth0/tx_queue_len" 1000
  put "$root/sys/class/net/eth1/tx_queue_len" 1000
  want 'sysctl: {net.ipv4.conf.eth1.rp_filter: 2}' 'sysfs: {"/sys/class/net/*/tx_queue_len": 1000}'
  ready
  dev=$(realpath "$root/sys/bus/pci/devices/$PF1")
  rm -r "$root/sys/class/net/eth1" "$root/proc/sys/net/ipv4/conf/eth1" "$dev/net/eth1"
  recheck 0 ready
  [ -z "$output" ]
}

@test "pods come and go: their netdevs are neither a fault nor missed, whatever they have" {
  local n i
  virtual_netdev veth1 88 3 # of a pod that runs when the node is judged
  put "$root/sys/class/net/eth0/tx_queue_len" 1000
  put "$root/sys/class/net/eth1/tx_queue_len" 1000
  put "$root/proc/sys/net/ipv4/conf/eth0/rp_filter" 0
  put "$root/proc/sys/net/ipv4/conf/eth1/rp_filter" 0
  want 'sysfs: {"/sys/class/net/*/tx_queue_len": 1000}' 'sysctl: {"net.ipv4.conf.*.rp_filter": 0}'
  ready
  end_netdev veth1
  for ((n = 0; n < 20; n++)); do
    for ((i = 0; i < 8; i++)); do
      virtual_netdev "veth$n-$i" $((100 + i)) 3
      put "$root/sys/class/net/veth$n-$i/tx_queue_len" "$i"
      put "$root/proc/sys/net/ipv4/conf/veth$n-$i/rp_filter" 1
    done
    recheck 0 ready
    [ -z "$output" ]
    for ((i = n % 3; i < 8; i++)); do end_netdev "veth$n-$i"; done
  done
  # ... and a netdev that is plugged in is judged
  fake_pf "$root" 0000:82:00.0 1 eth9 9
  put "$root/sys/class/net/eth9/tx_queue_len" 500
  recheck 7 lapsed
  [[ $output == *"1 of 3 files differ"* ]]
}

nvme() { # ADDRESS
  local dev=$root/sys/devices/pci0000:00/$1
  put "$dev/vendor" 0x144d
  put "$dev/device" 0xa80a
  put "$dev/class" 0x010802
  ln -sfn "../../../devices/pci0000:00/$1" "$root/sys/bus/pci/devices/$1"
}

@test "a drive of a check of all drives that is gone lapses the node; on_fail: warn warns" {
  local check='d: {run: nvme_health, wear: 90'
  nvme 0000:03:00.0
  nvme 0000:04:00.0
  want "gate: {checks: {$check}}}"
  ready
  recheck 0 ready
  rm "$root/sys/bus/pci/devices/0000:04:00.0"
  recheck 7 lapsed
  jq -e '.faults | map([.id, .code, .on_fail]) == [["gate/d/0000:04:00.0", "RH-HOST-GONE", "block"],
    ["gate/d/0000:04:00.0/rise", "RH-HOST-GONE", "warn"], ["gate/d/0000:04:00.0/wear", "RH-HOST-GONE", "warn"]]' "$root/run/railhead/status.json"
  nvme 0000:04:00.0
  recheck 0 ready
  want "gate: {checks: {$check, on_fail: warn}}}"
  ready
  rm "$root/sys/bus/pci/devices/0000:04:00.0"
  recheck 0 ready
  [[ $output == *"gate/d/0000:04:00.0: found 'gone', expected 'there'; it was there when the node was judged; bring it back"* ]]
}

@test "a memory controller, or a DIMM, whose counters are gone lapses the node" {
  local mc=sys/devices/system/edac/mc
  for n in 0 1; do
    put "$root/$mc/mc$n/ue_count" 0
    put "$root/$mc/mc$n/ce_count" 0
    put "$root/$mc/mc$n/dimm0/dimm_ue_count" 0
  done
  want 'gate: {checks: {m: {run: memory_errors}}}'
  ready
  recheck 0 ready
  [ -z "$output" ]
  mv "$root/$mc/mc1" "$root/away"
  gone "gate/m/memory: /$mc/mc1 (corrected errors), /$mc/mc1 (uncorrected errors), /$mc/mc1/dimm0 (uncorrected errors)"
  mv "$root/away" "$root/$mc/mc1"
  recheck 0 ready
  rm -r "$root/$mc/mc0/dimm0"
  gone "/$mc/mc0/dimm0 (uncorrected errors)"
}

@test "a device that comes back does not hide that another part is gone" {
  virtual_netdev bond0 77
  want 'sysctl: {net.ipv4.conf.bond0.rp_filter: 0}' 'link: {rails: {mtu: 1500}}'
  put "$root/sys/class/net/eth0/mtu" 1500
  put "$root/sys/class/net/eth1/mtu" 1500
  ready
  end_netdev bond0
  recheck 7 lapsed
  run -7 "$railhead" apply --device $PF0 --root "$root"
  [ "$(jq -r .verdict "$root/run/railhead/status.json")" = lapsed ]
}

@test "the record of an older railhead, which does not say what held, misses nothing" {
  virtual_netdev bond0 77
  put "$root/sys/class/net/eth0/tx_queue_len" 1000
  want 'sysfs: {"/sys/class/net/*/tx_queue_len": 1000}'
  put "$root/sys/class/net/eth1/tx_queue_len" 1000
  ready
  jq -e '.held["sysfs//sys/class/net/*/tx_queue_len"].covers | length == 3' "$root/run/railhead/status.json"
  jq 'del(.held)' "$root/run/railhead/status.json" >"$BATS_TEST_TMPDIR/status"
  cp "$BATS_TEST_TMPDIR/status" "$root/run/railhead/status.json"
  end_netdev bond0
  recheck 0 ready
}

@test "a ready file that somebody removed is a gate's to make again" {
  ready
  rm "$root/run/railhead/ready"
  run -0 "$railhead" gate --recheck --root "$root"
  [ ! -e "$root/run/railhead/ready" ]
}

@test "a state that can't be locked is an error, and not taken for a run at work" {
  ready
  rm "$root/run/railhead/lock"
  mkdir "$root/run/railhead/lock"
  run ! "$railhead" gate --recheck --root "$root"
  [[ $output == *lock* ]]
}

# Looks by the profile of the verdict, although its files say otherwise.
goes_on() { # WORDS
  recheck 0 ready
  [[ $output == *"verdict: ready"*"$1; railhead goes on looking at the node by the profile of the verdict; run"* ]]
  jq -e '.faults | map([.code, .on_fail]) == [["RH-PROFILE-CHANGED", "warn"]]' "$root/run/railhead/status.json"
  recheck 0 ready
  [ -z "$output" ]
  put "$root/proc/sys/vm/swappiness" 60
  recheck 7 lapsed
  [[ $output == *"sysctl/vm.swappiness: found '60', expected '10'"* ]]
  put "$root/proc/sys/vm/swappiness" 10
  recheck 0 ready
}

@test "a profile that is edited, broken or removed after the verdict: the looks go on by that of the verdict" {
  local file=$root/etc/railhead/profiles/sku.yaml
  ready
  cp "$file" "$BATS_TEST_TMPDIR/sku.yaml"
  printf '# a comment\n' >>"$file"
  recheck 0 ready
  [ -z "$output" ]
  want 'sysctl: {vm.swappiness: 20}'
  goes_on "the profile has changed"
  printf 'schema: [\n' >"$file"
  goes_on "sku.yaml: 1 error"
  rm "$file"
  goes_on "the file of the profile is gone"
  cp "$BATS_TEST_TMPDIR/sku.yaml" "$file"
  recheck 0 ready
  [[ $output == *"verdict: ready (work is admitted)"* ]]
  jq -e '.faults == []' "$root/run/railhead/status.json"
}

@test "a base that an upgrade changes, and a file that a person gave: that of the verdict as well" {
  local file=$BATS_TEST_TMPDIR/mine.yaml
  mkdir -p "$root/usr/lib/railhead/profiles"
  printf 'schema: 1\nname: base\nabstract: true\nsysctl: {vm.swappiness: 10}\n' >"$root/usr/lib/railhead/profiles/base.yaml"
  want 'extends: base'
  ready
  sed -i 's/sysctl: {/&vm.dirty_ratio: 10, /' "$root/usr/lib/railhead/profiles/base.yaml"
  goes_on "the profile has changed"
  printf 'schema: 1\nname: mine\nmatch: {dmi: {sys_vendor: Supermicro}}\nsysctl: {vm.swappiness: 10}\n' >"$file"
  run -0 "$railhead" gate --profile "$file" --root "$root"
  echo 'memory: {ksm: stop}' >>"$file"
  goes_on "the profile has changed"
}

@test "without the frozen text, which an older railhead did not write, a changed profile stops the looks, with a warning" {
  ready
  rm "$root/run/railhead/profile.yaml"
  want 'sysctl: {vm.swappiness: 20}'
  recheck 0 ready
  [[ $output == *"railhead has not looked at the node since the verdict: the profile changed during this boot"* ]]
  recheck 0 ready
  [ -z "$output" ]
}

@test "it goes with no other option of gate" {
  for option in --again --retry --keep; do
    run -2 "$railhead" gate --recheck "$option" --root "$root"
  done
}

# --- the kernel's log -----------------------------------------------------------------

log_is() { # "NUMBER TEXT"...
  mkdir -p "$root/dev"
  printf '%s\n' "$@" | sed 's/ /,0,-;/; s/^/6,/' >"$root/dev/kmsg"
}

@test "an Xid is a record of the driver; what a user names so is none, and hides none" {
  want 'gate: {checks: {x: {run: gpu_xid, on: rails}}}'
  log_is '0 Linux version 6.1.0' "1 a[27]: segfault at 0 ip 0 sp 0 error 6 in NVRM: Xid (PCI:${PF0%.*}): 79, x[115b,+1000]"
  ready
  log_is '0 Linux version 6.1.0' "1 NVRM: Xid (PCI:${PF0%.*}): 79, GPU has fallen off the bus." \
    "2 a[27]: segfault at 0 in NVRM: Xid (PCI:${PF0%.*}): 154, GPU recovery action changed from 0x1 (x) to 0x0 (None)"
  recheck 7 lapsed
  [ "$(jq -r '.faults[0].code' "$root/run/railhead/status.json")" = RH-GPU-OFF-BUS ]
}

@test "a log that lost records says nothing: blocked at the gate, and after the verdict no lapse" {
  want 'gate: {checks: {x: {run: gpu_xid, on: rails}}}'
  log_is '40 x' '41 y'
  run -7 "$railhead" gate --root "$root"
  [[ $output == *"has overwritten 40 records of its log"*"log_buf_len=4M"* ]]
  [ "$(jq -r '.faults[0].code' "$root/run/railhead/status.json")" = RH-GATE-LOG-LOST ]
  [ ! -e "$root/run/railhead/kernel-log" ]
  log_is '0 Linux version 6.1.0' '1 x'
  ready
  log_is '2 x' '3 y' # no record is missing since then
  recheck 0 ready
  ready
  log_is '6 x' '7 y'
  recheck 0 ready
  run -7 "$railhead" gate --again --root "$root"
  [[ $output == *"has overwritten 2 records"* ]]
}

@test "an Xid is found again by each gate until the driver takes it back, also after it was overwritten" {
  want 'gate: {checks: {x: {run: gpu_xid, on: rails}}}'
  log_is '0 Linux version 6.1.0' '1 x' "2 NVRM: Xid (PCI:${PF0%.*}): 79, GPU has fallen off the bus." '3 y'
  run -7 "$railhead" gate --root "$root"
  log_is '3 y'
  run -7 "$railhead" gate --again --root "$root"
  [[ $output == *"has overwritten 1 records"* ]]
}
