#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# survey --html and status --html: the page as text. How pages look is measured in a browser by
# make check-pictures.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/largenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  cd "$BATS_TEST_TMPDIR"
}

# Records that tests have made lack what railhead writes, such as fault codes (tests/lib/uncoded).
teardown() {
  rm -f "$root/run/railhead/status.json"
}

# The page of a verb, checked against the survey; its text is in $text.
page() { # WANTED-EXIT VERB [ROOT]
  local tree=${3:-$root}
  "$railhead" survey --json --root "$tree" >survey.json
  run -"$1" "$railhead" "$2" --html page.html --root "$tree"
  [ -z "$output" ]
  "$BATS_TEST_DIRNAME/lib/html_check.py" page.html survey.json >text
  text=$(cat text)
}

# A record of this boot, made by jq from nothing.
record() { # JQ-PROGRAM [ARGS...]
  local program=$1
  shift
  mkdir -p "$root/run/railhead"
  jq -n "$@" '{schema: 3, boot_id: "11111111-2222-3333-4444-555555555555"} + ('"$program)" \
    >"$root/run/railhead/status.json"
}

says() { # WORDS
  [[ $text == *"$1"* ]] || {
    echo "not in the page: $1" >&2
    return 1
  }
}

link_of() { # WIDTH MAX-WIDTH SPEED MAX-SPEED
  local dev=$root/sys/bus/pci/devices/$PF0
  put "$dev/current_link_width" "$1"
  put "$dev/max_link_width" "$2"
  put "$dev/current_link_speed" "$3 GT/s PCIe"
  put "$dev/max_link_speed" "$4 GT/s PCIe"
}

@test "survey --html: machine, NUMA nodes, memory and huge pages, functions, links, netdevs" {
  put "$root/sys/class/net/eth0/operstate" up
  put "$root/sys/class/net/eth0/speed" 400000
  put "$root/sys/class/net/eth0/mtu" 9000
  put "$root/sys/devices/system/node/node0/cpulist" 0-1
  put "$root/sys/devices/system/node/node1/cpulist" 2-3
  printf 'Node 0 MemTotal: 8388608 kB\nNode 0 MemFree: 4194304 kB\n' >"$root/sys/devices/system/node/node0/meminfo"
  put "$root/sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages" 2
  put "$root/sys/devices/system/node/node0/hugepages/hugepages-1048576kB/free_hugepages" 1
  page 0 survey
  says "Supermicro SYS-821GE-TNHR"
  says "Socket 0 NUMA node 0 CPUs 0-1 8.0G memory 2 huge pages of 1.0G, 1 free in other use 4.0G free"
  says "Socket 1 NUMA node 1 CPUs 2-3"
  says "NIC $PF0 mlx5_core"
  says "PCIe x16, 32.0 GT/s"
  says "netdev eth0 up 400000 Mb/s mtu 9000"
  says "VFs 0 of 8"
  [[ $text != *"blocks"* && $text != *"warning"* ]]
}

@test "every machine that ships as a description has each of its functions in its page" {
  local machine trees=$BATS_TEST_TMPDIR/trees
  "$BATS_TEST_DIRNAME/lib/machine" "$trees" "$BATS_TEST_DIRNAME"/fixtures/machines/*.toml \
    "$BATS_TEST_DIRNAME"/pictures/{guest,numa8,bare}.toml
  for machine in "$trees"/*; do
    echo "# ${machine##*/}"
    page 0 survey "$machine"
    page 7 status "$machine"
  done
}

@test "bridges and system devices that lead to nothing are a list, at their NUMA node" {
  local large=$BATS_TEST_TMPDIR/large
  large_node "$large" 96
  page 0 survey "$large"
  says "88 more functions (bridges, system devices) 0001:00:00.0"
}

@test "a node without PCI, and one without anything, have a page" {
  rm -r "$root/sys/bus" "$root/sys/class/net" "$root/sys/devices/pci0000:00"
  page 0 survey
  says "The node has no PCI functions."
  rm -r "$root/sys" "$root/proc"
  mkdir "$root/sys" "$root/proc"
  page 0 survey
  says "Unknown machine"
  page 7 status
}

@test "a link that trained to a lower speed or width than both ends support is a warning in its box, with the remedy" {
  link_of 8 16 16.0 32.0
  page 0 survey
  says "PCIe x8, 16.0 GT/s of x16, 32.0 GT/s"
  says "RH-NIC-LINK-WIDTH pci link: the link trained to x8, both ends support x16 Remedy:"
  says "RH-NIC-LINK-SPEED pci link: the link trained to 16.0 GT/s, both ends support 32.0 GT/s Remedy:"
  link_of 16 16 32.0 32.0
  page 0 survey
  [[ $text != *RH-NIC-LINK* ]]
}

@test "an idle GPU lowers its speed: that is no warning, a missing lane is" {
  local dev=$root/sys/bus/pci/devices/$PF0
  put "$dev/class" 0x030200
  link_of 16 16 2.5 32.0
  page 0 survey
  says "PCIe x16, 2.5 GT/s of x16, 32.0 GT/s (lower while idle)"
  [[ $text != *RH-GPU-LINK* ]]
  link_of 4 16 2.5 32.0
  page 0 survey
  says "RH-GPU-LINK-WIDTH"
}

@test "the port above decides what a link can do" {
  local port=0000:40:01.0 dev=$root/sys/devices/pci0000:00
  put "$dev/$port/class" 0x060400
  put "$dev/$port/vendor" 0x8086
  put "$dev/$port/device" 0x352a
  put "$dev/$port/max_link_width" 8
  put "$dev/$port/max_link_speed" "32.0 GT/s PCIe"
  mv "$dev/$PF0" "$dev/$port/$PF0"
  ln -sfn "../../../devices/pci0000:00/$port" "$root/sys/bus/pci/devices/$port"
  ln -sfn "../../../devices/pci0000:00/$port/$PF0" "$root/sys/bus/pci/devices/$PF0"
  ln -sfn "../../devices/pci0000:00/$port/$PF0/net/eth0" "$root/sys/class/net/eth0"
  link_of 8 16 32.0 32.0
  page 0 survey
  says "root port $port NIC $PF0"
  [[ $text != *RH-NIC-LINK* ]]
  [ "$("$railhead" survey --json --root "$root" | jq -r ".pci[] | select(.address == \"$PF0\").bridge")" = $port ]
}

@test "status --html: each fault that there is, with its sentence and remedy, at its device" {
  local code
  sed -n 's/^| `\(RH-[A-Z0-9-]*\)`.*/\1/p' "$BATS_TEST_DIRNAME/../docs/faults.md" >codes
  [ "$(wc -l <codes)" -gt 100 ]
  record '{verdict: "blocked", admit: false,
    faults: [$codes | to_entries[] | {code: .value, on_fail: "block", id: "link/0000:41:00.0/k\(.key)",
      why: "wrong \(.key)", own_remedy: "do \(.key)"}]}' --argjson codes "$(jq -R . codes | jq -s .)"
  page 7 status
  says "Keep work out: $(wc -l <codes). Warnings: 0. Pending: 0."
  sed -n '/id=node/,/id=timeline/p' page.html >node.html
  while read -r code; do
    grep -qF ">$code<" node.html || {
      echo "not in the drawing: $code" >&2
      return 1
    }
  done <codes
  says "Remedy: do 7"
}

@test "a real gate: what is wrong stands in the box of its device, its VF, its NUMA node or the machine" {
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {rails: {pci: "15b3:1021"}}
hugepages: [{size: 2M, per_node: 4, at: runtime}]
sysctl: {vm.swappiness: 10}
gate: {checks: {links: {run: pcie_link, on: rails, width: 16}}}
Y
  link_of 8 16 32.0 32.0
  run -7 "$railhead" gate --root "$root"
  page 7 status
  says "blocked work is not admitted Profile sku"
  sed -n "/data-pci=\"$PF0\"/,/<.article>/p" page.html >box
  grep -q RH-NIC-LINK-WIDTH box
  grep -q "found &#39;8&#39;, expected &#39;16&#39;" box
  grep -q "reseat the card" box
  sed -n '/id="numa-1"/,/<.section>/p' page.html | grep -q RH-MEMORY-PAGES-DIFFER
  sed -n '/id=node/,/class=sockets/p' page.html | grep -q "railhead apply. sets the value of sku.yaml:6"
  says "This boot"
  says "gate at"
  [ "$(grep -c RH-NIC-LINK-WIDTH box)" = 1 ] # the survey's own sentence would say it again
}

@test "changes that failed or wait before the gate has run are in the page" {
  record '{stages: {devices: {started_usec: 2000000, duration_usec: 500000, counts: {failed: 1, waits: 1},
    changes: [
      {id: "sriov/0000:41:00.0/numvfs", step: "sriov", kind: "vf", stage: "devices", state: "failed",
       reason: "no such luck; try again", fault: "RH-NIC-VF-FAILED", started_usec: 2100000, duration_usec: 200000},
      {id: "link/0000:81:00.0/mtu", step: "link", kind: "netlink", stage: "devices", state: "waits",
       reason: "waits for a reboot"}]}}}'
  page 7 status
  says "waiting railhead has not run in this boot"
  sed -n "/data-pci=\"$PF0\"/,/<.article>/p" page.html | grep -q RH-NIC-VF-FAILED
  sed -n "/data-pci=\"$PF1\"/,/<.article>/p" page.html | grep -q "waits for a reboot"
  says "Stage devices, 500.0 ms"
  says "sriov/0000:41:00.0/numvfs (failed) 100.0 ms 200.0 ms"
}

@test "measurements of the gate are lanes, by check or device; each run is a bar" {
  record '{verdict: "blocked", admit: false, reasons: [],
    stages: {gate: {started_usec: 2000000, duration_usec: 500000, counts: {same: 1}, changes: []}},
    measurements: [
      {id: "gate/memory/node0", check: "memory", state: "same", started_usec: 2010000, duration_usec: 100000},
      {id: "gate/memory/node1", check: "memory", state: "slow", started_usec: 2020000, duration_usec: 150000,
       timings: [{started_usec: 2020000, duration_usec: 50000}, {started_usec: 2200000, duration_usec: 100000}]},
      {id: "gate/loop/0000:41:00.0", check: "loop", state: "same", started_usec: 2300000, duration_usec: 200000}]}'
  page 7 status
  says "Stage gate, 500.0 ms"
  says "3 measurements"
  says "memory gate/memory/node0 10.0 ms 100.0 ms memory gate/memory/node1 (failed) 20.0 ms 50.0 ms memory gate/memory/node1 (failed) 200.0 ms 100.0 ms"
  says "0000:41:00.0 gate/loop/0000:41:00.0 300.0 ms 200.0 ms"
  [ "$(grep -o '<rect class="sort-measurement" x=' page.html | wc -l)" = 2 ]
  # of an earlier railhead, an earlier boot, or a gate before the one of the stage: none
  for times in '{duration_usec: 100000}' '{started_usec: 1900000, duration_usec: 100000}'; do
    record '{verdict: "blocked", admit: false, reasons: [],
      stages: {gate: {started_usec: 2000000, duration_usec: 500000, counts: {same: 1}, changes: []}},
      measurements: [{id: "gate/memory/node0", check: "memory", state: "same"} + '"$times]}"
    page 7 status
    [[ $text == *"gate at 2.000 s"* && $text != *"Stage gate"* ]]
  done
}

@test "the timeline has stages, waiting, reboots, the verdict and devices that came back" {
  local reboots=$root/var/lib/railhead/kernel-args
  record '{verdict: "ready", admit: true, reasons: [], judged_usec: 90000000,
    waiting: {since_usec: 20000000, until_usec: 620000000, looked_usec: 80000000},
    stages: {early: {started_usec: 3000000, duration_usec: 1500000, counts: {same: 3}, changes: [], lacks: "the initrd stage"}},
    devices: {"0000:41:00.0": {lost: "it has no driver", lost_usec: 95000000, applied_usec: 99000000, duration_usec: 40000}}}'
  put "$root/run/railhead/ready" ""
  page 0 status
  [[ $text != *reboot* ]]
  put "$reboots" "$(printf 'railhead kernel-args 1\nreboots 2\ntried 0123456789abcdef 6.1 sku 1\narmed no another\ndeaths 0\nend')"
  page 0 status
  says "2 reboots by railhead since the last settled verdict 3.000 s from the kernel's start early at 3.000 s, took 1.500 s 3 same; lacked: the initrd stage"
  sed -i -e 's/^reboots 2/reboots 1/' -e 's/^armed .*/armed yes 11111111-2222-3333-4444-555555555555/' "$reboots"
  page 0 status
  says "1 reboot by railhead since the last settled verdict; this boot has asked for the last"
  says "waiting at 20.000 s, took 1 min"
  says "verdict at 1 min 30 s ready"
  says "0000:41:00.0 at 1 min 39 s, took 40.0 ms came back and was set up again: it has no driver"
}

@test "figures: measured, required, state, what else was read, and earlier boots beside it" {
  local measured='{id: "gate/memory/node0", check: "memory", state: "same", desired: "180GB/s",
    observed: "211.4 GB/s", duration_usec: 812000, readings: {min: 211400000000, p99: 2000000}, told: ["p99"]}'
  record "{verdict: \"ready\", admit: true, reasons: [], numbers: {measured: 1, boots_ago: 0}, measurements: [$measured,
    {id: \"gate/memory/node1\", check: \"memory\", state: \"slow\", desired: \"180GB/s\", observed: \"99.0 GB/s\",
     on_fail: \"degrade\", reason: \"too slow; see the DIMMs\", fault: \"RH-MEMORY-BANDWIDTH\", readings: {min: 99000000000}}]}"
  put "$root/run/railhead/ready" ""
  page 0 status
  says "memory node0 211.4 GB/s p99 2.00 ms, not judged 180GB/s holds 812.0 ms"
  says "memory node1 99.0 GB/s 180GB/s slow"
  sed -n '/id="numa-1"/,/<.section>/p' page.html | grep -q RH-MEMORY-BANDWIDTH
  [[ $text != *"boots,"* ]]
  mkdir -p "$root/var/lib/railhead"
  echo garbage >"$root/var/lib/railhead/history.json"
  run -0 "$railhead" status --html page.html --root "$root" # a page without history is a page
  [[ $output == *"the page has no history"* ]]
}

@test "foreign names are text: no tag, no attribute, no control character comes through" {
  local bad="<script>alert(1)</script>\"'&amp;<b onload=x>"
  put "$root/sys/class/dmi/id/product_name" "$bad"
  printf 'BIOS \033[31m\342\200\256 \377\n' >"$root/sys/class/dmi/id/bios_version"
  put "$root/proc/cmdline" "a=</style><script>x</script> b=https$bad"
  mv "$root/sys/bus/pci/drivers/mlx5_core" "$root/sys/bus/pci/drivers/<i>\"x"
  ln -sfn "/sys/bus/pci/drivers/<i>\"x" "$root/sys/devices/pci0000:00/$PF0/driver"
  mkdir "$root/sys/devices/pci0000:00/$PF0/net/<u>'\"&"
  ln -s "../../devices/pci0000:00/$PF0/net/<u>'\"&" "$root/sys/class/net/<u>'\"&"
  record '{verdict: "blocked", admit: false, faults: [{id: "sysctl/<s>\"", desired: "", observed: "<x>", own_remedy: "<em>do</em>"}, {why: $bad}],
    profile: {name: $bad, version: $bad, digest: $bad, file: $bad}, warnings: [$bad],
    stages: {early: {started_usec: 1, duration_usec: 9, changes: [
      {id: "sysctl/\($bad)", step: $bad, kind: $bad, state: "set", started_usec: 2, duration_usec: 3}]}},
    measurements: [{id: "gate/\($bad)/\($bad)", check: $bad, state: "slow", desired: $bad, observed: $bad, reason: $bad}],
    devices: {($bad): {lost: $bad, lost_usec: 1, applied_usec: 2, duration_usec: 3}}}' --arg bad "$bad"
  page 7 status
  says "$bad"
  says "<u>'\"&"
  says "sysctl <s>\": found '<x>'"
  [[ $text == *'a=</style><script>x</script>'* ]]
}

@test "many VFs: each is in its NIC's box, and the one that is wrong is marked" {
  local i dev
  for i in 1 2 3; do
    dev=$root/sys/devices/pci0000:00/0000:41:00.$i
    put "$dev/vendor" 0x15b3
    put "$dev/device" 0x101e
    put "$dev/class" 0x020000
    put "$dev/numa_node" 0
    mkdir -p "$dev/net/eth0v$i" "$root/sys/kernel/iommu_groups/$i/devices/0000:41:00.$i"
    ln -s "../$PF0" "$dev/physfn"
    ln -s "../../../kernel/iommu_groups/$i" "$dev/iommu_group"
    ln -s "../../../devices/pci0000:00/0000:41:00.$i" "$root/sys/bus/pci/devices/0000:41:00.$i"
  done
  ln -s /sys/bus/pci/drivers/vfio-pci "$root/sys/devices/pci0000:00/0000:41:00.1/driver"
  record '{verdict: "blocked", admit: false, faults: [{id: "sriov/0000:41:00.0/vf1/driver", why: "found \u0027none\u0027"}]}'
  page 7 status
  says "VFs 3 of 8, several drivers 41:00.1 g 1 41:00.2 no driver g 2 blocks 41:00.3 no driver g 3"
  says "0000:41:00.2 no driver eth0v2"
}

@test "--html: to a file as a whole, to standard output, and what can't be written is an error" {
  run -0 "$railhead" survey --html - --root "$root"
  [[ $output == "<!DOCTYPE html>"* && $output == *"</html>" ]]
  echo old >page.html
  run -0 "$railhead" survey --html page.html --root "$root"
  [ "$(head -c 15 page.html)" = "<!DOCTYPE html>" ]
  [ "$(stat -c %a page.html)" = 644 ]
  run -1 "$railhead" survey --html nowhere/page.html --root "$root"
  [[ $output == "railhead: --html: nowhere/page.html"*"No such file or directory" ]]
  mkdir directory
  run -1 "$railhead" status --html directory --root "$root"
  [[ $output == "railhead: --html: directory: "* ]]
  [ "$(find . -maxdepth 1 -name '*.??????' | grep -vc html)" = 0 ] # no half page is left
  run -1 "$railhead" status --html '' --root "$root"
  [[ $output == "railhead: --html: the name of the file is empty" ]]
  run -2 "$railhead" survey --html page.html --json --root "$root"
  [[ $output == *"leave out --snapshot, --json and --all"* ]]
  run -2 "$railhead" status --html page.html --all --root "$root"
  [[ $output == *"leave out --json, --all and --watch"* ]]
  run -2 "$railhead" plan --html page.html --root "$root"
}

@test "the page of a snapshot is the page of the node" {
  run -0 "$railhead" survey --snapshot node.tar --root "$root"
  page 0 survey
  mv page.html node.html
  page 0 survey node.tar
  diff node.html page.html
}

@test "--html and --snapshot: a pipe or a device is written to, and stays what it is" {
  mkfifo pipe
  for option in --html --snapshot; do
    timeout 300 cat pipe >read &
    run -0 "$railhead" survey $option pipe --root "$root"
    wait $!
    [ -p pipe ] && [ -s read ]
  done
  run -1 "$railhead" survey --html /dev/full --root "$root"
  [[ $output == "railhead: --html: /dev/full: the page was cut short: is the disk full?" && -c /dev/full ]]
}
