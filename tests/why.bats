#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# why: causes that are seeded into a node. Each answer names the line of the profile and the other
# writer, and fits a screen.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/simnode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  put "$root/proc/sys/vm/swappiness" 10
}

teardown() {
  sim_stop
}

want() { # LINES of the profile sku, from line 5 on
  { printf 'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\n'
    printf 'devices: {rails: {pci: "15b3:1021"}}\n'
    printf '%s\n' "$@"; } | profile "$root" sku
}

why() { # [OPTION...] ASKED
  run --separate-stderr -0 "$railhead" why --root "$root" "$@"
  [ "$(wc -l <<<"$output")" -le 24 ] || { echo "more than a screen:"; echo "$output"; return 1; }
}

json() { # FILTER ASKED
  run --separate-stderr -0 "$railhead" why --json --root "$root" "$2"
  jq -e "$1" <<<"$output"
}

says() { # TEXT...: each is part of a line
  local text
  for text in "$@"; do
    grep -qF -- "$text" <<<"$output" || {
      printf 'no "%s" in:\n%s\n' "$text" "$output"
      return 1
    }
  done
}

# --- ten causes ------------------------------------------------------------------------------

@test "cause 1: a file of sysctl.d gives the value that is there; the last of several is in force" {
  want 'sysctl:' '  vm.swappiness: 10'
  run -0 "$railhead" apply --root "$root"
  put "$root/etc/sysctl.d/50-early.conf" 'vm.swappiness = 1'
  put "$root/usr/lib/sysctl.d/99-tuning.conf" $'# by hand\nvm.swappiness=60'
  put "$root/proc/sys/vm/swappiness" 60
  why sysctl.vm.swappiness
  says "sysctl.vm.swappiness: 10" "line:    /etc/railhead/profiles/sku.yaml:6:18 (the profile)" \
    "target:  /proc/sys/vm/swappiness" "also:    /usr/lib/sysctl.d/99-tuning.conf:2: vm.swappiness=60" \
    "/etc/sysctl.d/50-early.conf:1: vm.swappiness = 1" "now:     differs: found 60, expected 10" \
    "remedy:  change /usr/lib/sysctl.d/99-tuning.conf:2, which otherwise sets the value again; \`railhead apply\` sets it"
  for asked in sysctl/vm.swappiness vm.swappiness /proc/sys/vm/swappiness sysctl sysctl.KEY; do
    why "$asked"
    says "99-tuning.conf:2"
  done
}

@test "cause 2: options of modprobe.d" {
  want 'modules: {options: {ib_core: {netns_mode: 0}}}'
  put "$root/sys/module/ib_core/parameters/netns_mode" 1
  put "$root/etc/modprobe.d/rdma.conf" $'options mlx5_core x=1\noptions ib-core send_queue_size=128 netns-mode=1'
  run -0 "$railhead" apply --stage initrd --root "$root"
  why modules.options.ib_core.netns_mode
  says "netns_mode: 0" "sku.yaml:5:43 (the profile)" "found 1, expected 0" \
    "also:    /etc/modprobe.d/rdma.conf:2: options ib-core send_queue_size=128 netns-mode=1" \
    "remedy:  Change /etc/modprobe.d/rdma.conf:2."
  [ "$(grep -c '^also:' <<<"$output")" -eq 1 ] # railhead's own file is the profile
  [[ $output != *modprobe.d/zz-railhead.conf:* ]]
}

@test "cause 3: an argument in /etc/default/grub" {
  want 'kernel_args: {set: [transparent_hugepage=never]}'
  put "$root/etc/default/grub" $'GRUB_TIMEOUT=1\nGRUB_CMDLINE_LINUX="quiet transparent_hugepage=always"'
  put "$root/proc/cmdline" "ro quiet transparent_hugepage=always"
  why transparent_hugepage
  says "kernel_args.set[0]: transparent_hugepage=never" "sku.yaml:5:21 (the profile)" \
    "change:  kernel_args/arrived/transparent_hugepage=never, stage gate" \
    'also:    /etc/default/grub:2: GRUB_CMDLINE_LINUX="quiet transparent_hugepage=always"'
  why kernel_args.set
  says "also:    /etc/default/grub:2:"
  # a file of sysfs that the argument sets, too
  want 'memory: {thp: never}'
  why memory.thp
  says "/etc/default/grub:2:" "found [always] madvise never"
}

@test "cause 4: a udev rule writes the attribute; one that compares does not" {
  want 'sriov: {rails: {vfs: 2, vf: {driver: netdev}}}'
  put "$root/etc/udev/rules.d/80-vfs.rules" \
    $'ATTR{device/sriov_numvfs}=="0", GOTO="end"\nSUBSYSTEM=="net", ACTION=="add", ATTR{device/sriov_numvfs}="8"'
  put "$root/usr/lib/udev/rules.d/80-vfs.rules" 'ATTR{device/sriov_numvfs}="4"' # hidden by the one in /etc
  why sriov/$PF0/numvfs
  says "sriov.rails.vfs: 2" "sku.yaml:5:22" "target:  /sys/bus/pci/devices/$PF0/sriov_numvfs" \
    'also:    /etc/udev/rules.d/80-vfs.rules:2: SUBSYSTEM=="net", ACTION=="add", ATTR{device/sriov_numvfs}="8"' \
    "now:     differs: found 0, expected 2"
  [[ $output != *rules:1:* && $output != *'"4"'* ]]
}

@test "cause 5: tuned's active profile, by a profile that it includes" {
  want 'sysctl: {vm.swappiness: 10}'
  put "$root/proc/sys/vm/swappiness" 30
  put "$root/etc/tuned/active_profile" site
  put "$root/etc/tuned/site/tuned.conf" $'[main]\ninclude=throughput-performance\n[cpu]\ngovernor=performance'
  put "$root/usr/lib/tuned/throughput-performance/tuned.conf" $'[sysctl]\nvm.swappiness = 30'
  why vm.swappiness
  says "sku.yaml:5:25" "also:    /usr/lib/tuned/throughput-performance/tuned.conf:2: vm.swappiness = 30" \
    "change /usr/lib/tuned/throughput-performance/tuned.conf:2"
  rm "$root/usr/lib/tuned/throughput-performance/tuned.conf"
  put "$root/run/tuned/tuned.pid" 7
  why vm.swappiness
  says "also:    tuned runs, with profile site"
}

@test "cause 6: a unit, rc.local or tmpfiles.d that writes the file" {
  want 'sysctl: {vm.swappiness: 10}' 'memory: {thp: never}'
  put "$root/proc/sys/vm/swappiness" 60
  put "$root/etc/systemd/system/tune.service" $'[Service]\nDescription=vm.swappiness\nExecStart=/sbin/sysctl -w vm.swappiness=60'
  put "$root/etc/rc.local" 'echo 60 > /proc/sys/vm/swappiness_not'
  why vm.swappiness
  says "sku.yaml:5:25" "also:    /etc/systemd/system/tune.service:3: ExecStart=/sbin/sysctl -w vm.swappiness=60" \
    "change /etc/systemd/system/tune.service:3"
  [[ $output != *rc.local* && $output != *tune.service:2* ]]
  put "$root/etc/rc.local" $'#!/bin/sh\necho always > /sys/kernel/mm/transparent_hugepage/enabled'
  put "$root/etc/tmpfiles.d/thp.conf" 'w /sys/kernel/mm/transparent_hugepage/enabled - - - - madvise'
  why memory
  says "sku.yaml:6:15" "also:    /etc/rc.local:2: echo always >" "/etc/tmpfiles.d/thp.conf:1: w /sys/" \
    "change /etc/rc.local:2"
}

@test "cause 7: a drop-in of the site overrides, appends to or deletes what the profile says" {
  want 'sysctl: {vm.swappiness: 60, vm.max_map_count: 1}' 'kernel_args: {set: [pci=realloc, quiet]}'
  put "$root/proc/sys/vm/max_map_count" 65530
  put "$root/etc/railhead/profiles/sku.d/site.yaml" \
    $'schema: 1\nsysctl: {vm.swappiness: 10, vm.max_map_count: ~}\nkernel_args: {set+: [pci=noats]}'
  why sysctl.vm.swappiness
  says "line:    /etc/railhead/profiles/sku.d/site.yaml:2:25 (drop-in site.yaml)" \
    "over:    60 at /etc/railhead/profiles/sku.yaml:5:25 (the profile)" "now:     same: 10"
  why sysctl.vm.max_map_count
  says "line:    deleted at /etc/railhead/profiles/sku.d/site.yaml:2:29 (drop-in site.yaml)" \
    "over:    1 at /etc/railhead/profiles/sku.yaml:5:47 (the profile)" "change:  none"
  why "kernel_args.set[0]"
  says "kernel_args.set[0]: pci=noats" "over:    kernel_args.set: pci=realloc at /etc/railhead/profiles/sku.yaml:6:21"
  json '.keys[0].overrides == [{key: "sysctl.vm.swappiness", value: "60", deleted: false,
    origin: "/etc/railhead/profiles/sku.yaml:5:25", by: "/etc/railhead/profiles/sku.d/site.yaml:2:25"}]' sysctl.vm.swappiness
}

@test "cause 8: a base, and the base below, are overridden" {
  printf 'schema: 1\nname: low\nabstract: true\nsysctl: {vm.swappiness: 1, net.core.rmem_max: 7}\n' | profile "$root" low
  printf 'schema: 1\nname: high\nabstract: true\nextends: low\nsysctl: {vm.swappiness: 2}\n' | profile "$root" high
  want 'extends: high' 'sysctl: {vm.swappiness: 10}'
  why sysctl.vm.swappiness
  says "sku.yaml:6:25 (the profile)" "over:    2 at /etc/railhead/profiles/high.yaml:5:25 (base high)" \
    "         1 at /etc/railhead/profiles/low.yaml:4:25 (base low)"
  why net.core.rmem_max
  says "line:    /etc/railhead/profiles/low.yaml:4:47 (base low)"
  [[ $output != *over:* ]]
}

@test "cause 9: drift: what was set in the boot is another value now, without a file that says so" {
  put "$root/proc/sys/vm/swappiness" 60
  want 'sysctl: {vm.swappiness: 10}'
  why vm.swappiness
  says "boot:    railhead has not run in this boot: there is no record"
  run -0 "$railhead" apply --root "$root"
  why vm.swappiness
  says "after boot, in " ": 60 -> 10" "now:     same: 10"
  [[ $output != *drift:* && $output != *remedy:* ]]
  put "$root/proc/sys/vm/swappiness" 42
  why vm.swappiness
  says "boot:    set by stage early" "now:     differs: found 42, expected 10" "sku.yaml:5:25" \
    "drift:   held when stage early ended: another program set it since" \
    "remedy:  \`railhead apply\` sets it" "fault:   RH-KERNEL-SYSCTL-DIFFERS (retry)"
  json '.recorded and (.keys[0].changes[0] | .drifted and .boot.before == "60" and .boot.after == "10"
    and .boot.state == "set" and .boot.duration_usec > 0 and .observed == "42")' vm.swappiness
}

@test "cause 10: the kernel refused what the profile wants" {
  sim=$BATS_TEST_TMPDIR/sim
  sim_need
  sim_tree "$sim"
  sim_profile <<<'sriov: {rails: {vfs: 2, vf: {driver: netdev}}}'
  sim_start <<<'at /sys/bus/pci/devices/0000:18:00.0/sriov_numvfs write error ENOMEM'
  run -6 "$railhead" apply --root "$root" --stage devices
  why sriov/0000:18:00.0/numvfs
  says "sriov.rails.vfs: 2" "(the profile)" "boot:    failed in stage devices: 0; " "Cannot allocate memory"
}

@test "cause 11: the kubelet's configuration divides the CPUs otherwise; a limit of logins" {
  want 'kernel_args: {isolate_cpus: "1,3"}' 'limits: {memlock: unlimited}'
  put "$root/var/lib/kubelet/config.yaml" $'kind: KubeletConfiguration\ncpuManagerPolicy: static\nreservedSystemCPUs: 0-1'
  why kernel_args/isolate_cpus/kubelet
  says "kernel_args.isolate_cpus: 1,3" "sku.yaml:5:29" \
    "wrong:   /var/lib/kubelet/config.yaml:3: reservedSystemCPUs has CPUs 1, which isolate_cpus"
  put "$root/etc/security/limits.d/90-user.conf" '* hard memlock 64'
  why limits
  says "sku.yaml:6" "also:    /etc/security/limits.d/90-user.conf:1: * hard memlock 64"
}

# --- what may be asked -----------------------------------------------------------------------

@test "a device: by address, by name, a VF by its PF's change, a set; its network manager" {
  want 'link: {rails: {mtu: 9000}}' 'sriov: {rails: {vfs: 2, vf: {driver: netdev}}}' \
    'gate: {checks: {links: {run: carrier, on: rails}}}'
  put "$root/sys/devices/pci0000:00/$PF0/net/eth0/mtu" 1500
  put "$root/sys/devices/pci0000:00/$PF1/net/eth1/mtu" 9000
  put "$root/run/NetworkManager/devices/2" $'[device]\nmanaged=true'
  put "$root/etc/NetworkManager/system-connections/rail.nmconnection" $'[ethernet]\nmtu=1500'
  for asked in $PF0 ${PF0#0000:} eth0; do
    why "$asked"
    says "$PF0: 15b3:1021, mlx5_core, eth0, in rails" "rails $PF0: link mtu" "rails $PF0: sriov numvfs" \
      "gate links" "/etc/NetworkManager/system-connections/rail.nmconnection:2: mtu=1500" "NetworkManager manages eth0"
    [[ $output != *$PF1* ]]
  done
  why rails
  says "device set rails: $PF0, $PF1" "link mtu" "sku.yaml:5"
  # a VF that is there
  mkdir -p "$root/sys/devices/pci0000:00/0000:41:00.2"
  put "$root/sys/devices/pci0000:00/0000:41:00.2/vendor" 0x15b3
  put "$root/sys/devices/pci0000:00/0000:41:00.2/device" 0x101e
  put "$root/sys/devices/pci0000:00/0000:41:00.2/class" 0x020000
  ln -s "../$PF0" "$root/sys/devices/pci0000:00/0000:41:00.2/physfn"
  ln -s ../../../devices/pci0000:00/0000:41:00.2 "$root/sys/bus/pci/devices/0000:41:00.2"
  ln -s ../0000:41:00.1 "$root/sys/devices/pci0000:00/$PF0/virtfn0"
  ln -s ../0000:41:00.2 "$root/sys/devices/pci0000:00/$PF0/virtfn1"
  why 0000:41:00.2
  says "VF 1 of $PF0, PF in rails" "sriov.rails.vf.driver: netdev" "sriov/$PF0/vf1/driver"
  [[ $output != *vf0* ]]
}

@test "a key that makes no change, a check, a benchmark, a key of every set" {
  want 'gate: {wait: 90s, checks: {links: {run: carrier, on: rails}, memory: {run: memory_bandwidth, per: node, min: 1GB/s}}}' \
    'link: {rails: {mtu: 9000}}'
  why gate.wait
  says "gate.wait: 90s" "sku.yaml:5:14" "change:  none"
  why gate.checks.memory
  says "gate memory" "1GB/s"
  put "$root/sys/devices/pci0000:00/$PF0/net/eth0/carrier" 0
  why gate/links/$PF0
  says "gate.checks.links" "now:     differs: found" "fault:   RH-NIC-CARRIER"
  for asked in link.mtu link.SET.mtu; do
    why $asked
    says "link.rails.mtu: 9000"
  done
}

@test "what nothing is known of: what may be meant, and 2; without a profile the code of match" {
  want 'sysctl: {vm.swappiness: 10}'
  run -2 "$railhead" why --root "$root" sysctl.vm.swapiness
  [ "$output" = "railhead: profile sku has no change, key or device 'sysctl.vm.swapiness'; did you mean sysctl.vm.swappiness?" ]
  run -2 "$railhead" why --root "$root" swappiness
  [[ $output == *"did you mean sysctl.vm.swappiness?" ]]
  for asked in vm.swapines swapines; do
    run -2 "$railhead" why --root "$root" $asked
    [ "$output" = "railhead: profile sku has no change, key or device '$asked'; did you mean sysctl.vm.swappiness?" ]
  done
  for asked in sysctl/vm.swapiness /proc/sys/vm/swapiness; do
    run -2 "$railhead" why --root "$root" $asked
    [[ $output == *"did you mean sysctl/vm.swappiness?" ]]
  done
  run -2 "$railhead" why --root "$root" 41:00.9
  [[ $output == *"did you mean $PF0?" ]]
  run -2 "$railhead" why --root "$root" railz
  [[ $output == *"did you mean rails?" ]]
  run -2 "$railhead" why --root "$root" 0000:41:00.9
  [[ $output == *"did you mean $PF0?" ]]
  run -2 "$railhead" why --root "$root" link.rails.up
  [[ $output == *"profile sku does not set 'link.rails.up', so railhead leaves it alone; \`railhead explain\` describes the key" ]]
  run -2 "$railhead" why --root "$root" nothing.like.this
  [[ $output == *"has no change, key or device 'nothing.like.this'; \`railhead plan --all\` lists"* ]]
  run -2 "$railhead" why --root "$root" $'\e[31m\xff'
  [[ $output == *"profile sku has no change, key or device '?[31m?'; \`railhead plan --all\` lists"* ]]
  run -2 "$railhead" why --root "$root" ""
  run -2 "$railhead" why --root "$root"
  run -2 "$railhead" why --root "$root" a b
  rm "$root/etc/railhead/profiles/sku.yaml"
  run -4 "$railhead" why --root "$root" vm.swappiness
}

@test "of a machine that was captured, and of a node of eight NICs: a screen" {
  want 'sysctl: {vm.swappiness: 60}'
  run -0 "$railhead" survey --root "$root" --snapshot "$BATS_TEST_TMPDIR/node.tar"
  root=$BATS_TEST_TMPDIR/node.tar
  why --profile "$BATS_TEST_TMPDIR/root/etc/railhead/profiles/sku.yaml" vm.swappiness
  says "found 10, expected 60"
  "$BATS_TEST_DIRNAME/lib/machine" "$BATS_TEST_TMPDIR/machines" "$BATS_TEST_DIRNAME/fixtures/machines/hgx-h100-cx7.toml"
  root=$BATS_TEST_TMPDIR/machines/hgx-h100-cx7
  for asked in sriov link kernel_args gate 0000:18:00.0 sysctl; do
    COLUMNS=120 why --profile "$BATS_TEST_DIRNAME/../profiles/hgx-h100-cx7.yaml" $asked
  done
}
