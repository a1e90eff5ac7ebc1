#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# draft: the starter profile passes check, matches its machine, and changes nothing there.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup_file() {
  export MACHINES=$BATS_FILE_TMPDIR/machines
  "$BATS_TEST_DIRNAME/lib/machine" "$MACHINES" "$BATS_TEST_DIRNAME"/fixtures/machines/*.toml
}

setup() {
  root=$BATS_TEST_TMPDIR/root
  file=$BATS_TEST_TMPDIR/starter.yaml
}

draft() { "$railhead" draft --root "$1" starter >"$file" 2>/dev/null; }

# What the issue of a draft is: each of these exits 0 only if it is so.
holds() { # ROOT
  draft "$1"
  run -0 --separate-stderr "$railhead" check "$file"
  [ "${#lines[@]}" -eq 1 ] # no warnings
  run -0 --separate-stderr "$railhead" match --root "$1" "$file"
  [ "$output" = starter ]
  run -0 --separate-stderr "$railhead" plan --root "$1" --profile "$file"
  [[ $output == *converged* ]]
  run -0 --separate-stderr "$railhead" verify --root "$1" --profile "$file"
}

line() { grep "^  $1: " "$file"; }

@test "draft: holds on every fixture machine" {
  local m
  for m in "$MACHINES"/*; do
    holds "$m"
  done
}

@test "draft: names rails, storage, GPUs and the way in" {
  draft "$MACHINES/hgx-h100-cx7"
  [ "$(line rails)" = '  rails: {pci: "15b3:1021", ports: 1, link: ethernet, expect: 8}' ]
  [ "$(line storage)" = '  storage: {pci: "15b3:1021", ports: 2, link: ethernet, expect: 4}' ]
  [ "$(line gpus)" = '  gpus: {pci: "10de:2330", expect: 8}' ]
  [ "$(line mgmt)" = '  mgmt: {pci: "8086:1563", link: ethernet, protect: true}' ]
}

# The generic hosts are one chassis with more or fewer of the same NICs.
@test "draft: no other machine of the fixtures matches it" {
  local m n
  for m in "$MACHINES"/*; do
    draft "$m"
    for n in "$MACHINES"/*; do
      [[ $m == "$n" || ${m##*/}${n##*/} == generic-*generic-* ]] || run -4 "$railhead" match --root "$n" "$file"
    done
  done
}

@test "draft: pages, VFs and modules that are there now are in it, and hold" {
  fake_node "$root"
  local vf dev=$root/sys/devices/pci0000:00
  put "$root/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages" 3
  for pf in "$PF0" "$PF1"; do
    for n in 1 2; do
      vf=${pf%.0}.$n
      mkdir -p "$dev/$vf/net/eth${n}_${pf:5:2}"
      put "$dev/$vf/vendor" 0x15b3
      put "$dev/$vf/device" 0x101e
      put "$dev/$vf/class" 0x020000
      ln -s "../$pf" "$dev/$vf/physfn"
      ln -s "../$vf" "$dev/$pf/virtfn$((n - 1))"
      ln -s "../../../devices/pci0000:00/$vf" "$root/sys/bus/pci/devices/$vf"
      ln -s /sys/bus/pci/drivers/mlx5_core "$dev/$vf/driver"
    done
    put "$dev/$pf/sriov_numvfs" 2
  done
  put "$root/sys/module/mlx5_core/initstate" live
  put "$root/sys/module/ionic_rdma/initstate" live
  holds "$root"
  line 'rails' | grep -q 'expect: 2'
  grep -qx '  rails: {vfs: 2, vf: {driver: netdev}}' "$file"
  grep -qx '  - {size: 1G, nodes: {0: 0, 1: 3}, at: runtime}' "$file"
  grep -qx '    - mlx5_core' "$file"
  grep -qx '    - ionic_rdma' "$file"
}

@test "draft: the NIC below the default route is protected, through a bond as well" {
  fake_node "$root"
  mkdir -p "$root/sys/class/net/bond0" "$root/proc/net"
  ln -s ../eth1 "$root/sys/class/net/bond0/lower_eth1"
  printf 'Iface\tDestination\tGateway\nbond0\t00000000\t0101A8C0\nbond0\t0001A8C0\t00000000\n' >"$root/proc/net/route"
  holds "$root"
  [ "$(line mgmt)" = "  mgmt: {address: \"$PF1\", link: ethernet, protect: true}" ]
  [[ $(line rails) == *'expect: 1}' ]]
}

# A line of /proc/net/ipv6_route: DESTINATION LENGTH NEXT-HOP FLAGS NETDEV
route6() {
  printf '%s %s %032x 00 %s 00000400 00000001 00000000 %s %8s\n' "$1" "$2" 0 "$3" "$4" "$5"
}

zeros=00000000000000000000000000000000
router=fe800000000000000000000000000001

@test "draft: the NIC below an IPv6 default route alone is protected" {
  fake_node "$root"
  mkdir -p "$root/proc/net"
  printf 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n' >"$root/proc/net/route"
  { # a subnet's, the kernel's own for what has none, a rejected one, the way out
    route6 20010db8000000000000000000000000 40 $zeros 00000001 eth0
    route6 $zeros 00 $zeros 00200200 lo
    route6 $zeros 00 $router 00000203 eth0
    route6 $zeros 00 $router 00000003 eth1
  } >"$root/proc/net/ipv6_route"
  holds "$root"
  [ "$(line mgmt)" = "  mgmt: {address: \"$PF1\", link: ethernet, protect: true}" ]
  [[ $(head -n 1 "$file") == "# A starter profile"* ]]
}

@test "draft: a default route by a gateway of the other family counts; half of all addresses do not" {
  fake_node "$root"
  mkdir -p "$root/proc/net"
  { printf 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n'
    printf 'eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000080\n'
    printf 'eth1\t00000000\t00000000\t0001\t0\t0\t0\t00000000\n'; } >"$root/proc/net/route"
  draft "$root"
  [[ $(line mgmt) == *"$PF1"* ]]
}

@test "draft: where the way in is not known, the first line and stderr say so" {
  fake_node "$root"
  run -0 --separate-stderr "$railhead" draft --root "$root" starter
  [[ ${lines[0]} == "# WARNING: no default route leads over a NIC"* ]]
  [[ $stderr == *"warning: no default route leads over a NIC"* ]]
  holds "$root"
  # a route over what is no PCI function protects none either
  mkdir -p "$root/proc/net"
  printf 'Iface\tDestination\tGateway\nusb0\t00000000\t0101A8C0\n' >"$root/proc/net/route"
  run -0 --separate-stderr "$railhead" draft --root "$root" starter
  [[ ${lines[0]} == "# WARNING: "* ]]
}

@test "draft: without DMI the machine is told by its parts" {
  cp -a "$MACHINES/gb200" "$root"
  rm -r "$root/sys/class/dmi"
  holds "$root"
  grep -qx '  arch: aarch64' "$file"
  grep -q '^  pci: \[.*"10de:2941"' "$file"
}

@test "draft: text of the firmware can't become syntax or a pattern" {
  fake_node "$root"
  put "$root/sys/class/dmi/id/product_name" 'a*b [c] "d": #e \f'
  holds "$root"
  put "$root/sys/class/dmi/id/product_name" 'axb c "d": #e \f'
  run -4 "$railhead" match --root "$root" "$file"
}

@test "draft: a tree that says nothing is refused" {
  mkdir -p "$root/proc" "$root/sys"
  run -4 "$railhead" draft --root "$root"
  [[ $output == *"this tree has nothing to match a machine by"* ]]
  run -2 "$railhead" draft --root "$root" Bad/Name
}

@test "draft: on a snapshot as on the machine" {
  fake_node "$root"
  "$railhead" survey --root "$root" --snapshot "$BATS_TEST_TMPDIR/s.tar" 2>/dev/null
  draft "$root"
  cp "$file" "$file.live"
  draft "$BATS_TEST_TMPDIR/s.tar"
  diff "$file.live" "$file"
  holds "$BATS_TEST_TMPDIR/s.tar"
}

@test "draft: a snapshot knows the way in as its machine does" {
  fake_node "$root"
  mkdir -p "$root/sys/class/net/bond0" "$root/proc/net"
  ln -s ../eth1 "$root/sys/class/net/bond0/lower_eth1"
  printf 'Iface\tDestination\tGateway\nbond0\t00000000\t0101A8C0\n' >"$root/proc/net/route"
  "$railhead" survey --root "$root" --snapshot "$BATS_TEST_TMPDIR/s.tar" 2>/dev/null
  [ "$(tar xOf "$BATS_TEST_TMPDIR/s.tar" railhead-snapshot.json | jq -c .uplinks)" = '["bond0","eth1"]' ]
  draft "$root"
  cp "$file" "$file.live"
  draft "$BATS_TEST_TMPDIR/s.tar"
  diff "$file.live" "$file"
  [[ $(line mgmt) == *"$PF1"*"protect: true"* ]]
}

@test "draft: the checks that it leaves commented out are of sets that it names, and valid" {
  local m
  for m in "$MACHINES"/*; do
    draft "$m"
    sed -i -E '/^gate:/,$s/^( +)#/\1/' "$file"
    run -0 --separate-stderr "$railhead" check "$file"
    grep -q "gpus-health: {run: gpu_health, on: gpus}" "$file" || [[ $m != */hgx-* ]]
    grep -q "rails-carrier: {run: carrier" "$file" || ! grep -q "^  rails:.*ethernet" "$file"
  done
}

# Blocks that wait in comments: "#key:" and the lines "#  ..." below it; prose is "# ...".
blocks() { sed -n -E 's/^#([a-z_]+):.*/\1/p' "$file"; }

# uncomment BLOCK|'*': the file with that block, or all of them, as code
uncomment() {
  awk -v want="$1" '/^#[a-z_]+:/ { name = substr($0, 2); sub(/:.*/, "", name); on = want == "*" || name == want }
    !/^#([a-z_]+:|  )/ { on = 0 } { if (on) sub(/^#/, ""); print }' "$file"
}

@test "draft: each block that it proposes is valid once it is uncommented, alone and with all others" {
  local m block out=$BATS_TEST_TMPDIR/out
  mkdir -p "$out"
  for m in "$MACHINES"/*; do
    draft "$m"
    [[ " $(blocks | xargs) " == *" kernel_args "* ]]
    grep -q '^  rails:.*ethernet' "$file" && [[ " $(blocks | xargs) " == *" link qos pcie irq "* ]]
    for block in $(blocks) '*'; do
      uncomment "$block" >"$out/starter.yaml"
      ! cmp -s "$file" "$out/starter.yaml"
      run -0 --separate-stderr "$railhead" check "$out/starter.yaml"
      [ "${#lines[@]}" -eq 1 ] || { echo "$m $block: $output"; return 1; }
    done
  done
}

@test "draft: the profile that fits already is named, and is a base that holds" {
  local out=$BATS_TEST_TMPDIR/out m=$MACHINES/hgx-h100-cx7
  cp -r "$m" "$root"
  mkdir -p "$root/usr/lib/railhead/profiles" "$out"
  cp "$BATS_TEST_DIRNAME"/../profiles/*.yaml "$root/usr/lib/railhead/profiles"
  run --separate-stderr "$railhead" draft --root "$root" starter
  [ "$status" -eq 0 ]
  [[ $stderr == *"note: the profile hgx-h100-cx7 is for this machine already"* ]]
  printf '%s\n' "$output" >"$file"
  grep -qx '#extends: hgx-h100-cx7' "$file"
  uncomment extends >"$out/starter.yaml"
  run -0 --separate-stderr "$railhead" check --bases "$root/usr/lib/railhead/profiles" "$out/starter.yaml"
  # none where none fits
  draft "$MACHINES/generic-e810"
  ! grep -q extends "$file"
}
