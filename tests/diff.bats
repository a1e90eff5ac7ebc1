#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# diff: profiles, nodes and snapshots against each other.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/eventually

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  cd "$BATS_TEST_TMPDIR"
  printf 'schema: 1\nname: base\nabstract: true\nsysctl: {vm.swappiness: 60}\n' >base.yaml
  doc a 'extends: base' 'link: {rails: {mtu: 9000}}' 'modules: {load: [mlx5_core, mlx5_ib]}'
  doc b 'version: 2' 'sysctl: {vm.swappiness: 10}' 'link: {rails: {mtu: 9000}}' 'modules: {load: [mlx5_core]}'
}

teardown() {
  tmux -L diff kill-server 2>/dev/null || true # that of one test, if it failed
}

doc() { # NAME LINES...
  { printf 'schema: 1\nname: %s\nmatch: {dmi: {sys_vendor: Supermicro}}\n' "$1"
    printf 'devices: {rails: {pci: "15b3:1021", expect: ">=1"}}\n'
    shift
    printf '%s\n' "$@"; } >"$1.yaml"
}

differs() { # FILTER of --json SIDE...
  local filter=$1
  shift
  run --separate-stderr -5 "$railhead" diff --json "$@"
  jq -e ".equal == false and ($filter)" <<<"$output"
}

@test "two profiles: by key, both values, each with its line; name and version are no difference" {
  run -5 "$railhead" diff a.yaml b.yaml
  [[ ${lines[0]} == "A:  profile a ("*", a.yaml)" && ${lines[1]} == "B:  profile b 2 ("*", b.yaml)" ]]
  [[ $output == *"  differs     sysctl.vm.swappiness "*" '60' -> '10': base.yaml:4 b.yaml:6"$'\n'* ]]
  [[ $output == *"  differs     modules.load "*" '[mlx5_core, mlx5_ib]' -> '[mlx5_core]': a.yaml:7 b.yaml:8"$'\n'* ]]
  [ "${lines[-1]}" = "2 of 7 differ" ]
  differs '.differences[0] == {key: "sysctl.vm.swappiness", a: "60", b: "10",
    a_origin: "base.yaml:4:25", b_origin: "b.yaml:6:25", percent: null, noise: false} and .compared == 7' a.yaml b.yaml
  # in other words and order, the same
  cp a.yaml c.yaml
  sed -i 's/^name: a$/name: c/; s/\[mlx5_core, mlx5_ib\]/["mlx5_core", mlx5_ib]/' c.yaml
  run -0 "$railhead" diff a.yaml c.yaml
  [ "${lines[-1]}" = "equal: all 7" ]
  # a key that one alone has, and items of a list of maps
  doc c 'hugepages: [{size: 2M, per_node: 1}]'
  doc d 'hugepages: [{size: 2M, per_node: 2}]' 'gate: {wait: 60s}'
  run -5 "$railhead" diff c.yaml d.yaml
  [[ $output == *"  differs     hugepages[0].per_node "*"'1' -> '2': c.yaml:5 d.yaml:5"* ]]
  [[ $output == *"  only in B   gate "*" '{wait: 60s}': d.yaml:6"* ]]
}

@test "a profile and the node: what plan would change, in either order; equal once it was applied" {
  profile "$root" sku <<<$'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\nsysctl: {vm.swappiness: 10, net.core.rmem_max: 212992}'
  run -5 "$railhead" diff --root "$root" sku node
  [[ ${lines[1]} == "B:  node $root: Supermicro SYS-821GE-TNHR, kernel "* ]]
  [[ ${lines[2]} == "  differs     sysctl/vm.swappiness "*" '10' -> '60': sku.yaml:4" ]]
  [ "${lines[3]}" = "1 of 3 differ" ]
  run -5 "$railhead" diff --root "$root" node sku
  [[ ${lines[2]} == *" '60' -> '10': sku.yaml:4" ]]
  [ "$("$railhead" plan --root "$root" --json | jq '[.changes[] | select(.state == "differs")] | length')" -eq 1 ]
  run -0 "$railhead" apply --root "$root"
  run -0 "$railhead" diff --root "$root" sku node
  [ "${lines[-1]}" = "equal: all 3" ]
}

@test "two snapshots: a device that is gone, firmware, kernel, and what is set where a profile fits" {
  put "$root/sys/class/infiniband/mlx5_0/fw_ver" 28.39.a
  put "$root/proc/sys/kernel/osrelease" 6.12.0-a
  ln -sfn ../../../kernel/iommu_groups/7 "$root/sys/devices/pci0000:00/$PF0/iommu_group"
  run -0 "$railhead" survey --root "$root" --snapshot a.tar
  put "$root/sys/class/infiniband/mlx5_0/fw_ver" 28.39.b
  put "$root/proc/sys/kernel/osrelease" 6.12.0-b
  ln -sfn ../../../kernel/iommu_groups/8 "$root/sys/devices/pci0000:00/$PF0/iommu_group"
  put "$root/proc/sys/vm/swappiness" 99
  rm -r "${root:?}/sys/devices/pci0000:00/$PF1" "$root/sys/bus/pci/devices/$PF1" "$root/sys/class/net/eth1"
  run -0 "$railhead" survey --root "$root" --snapshot b.tar
  differs '[.differences[] | select(.key == "pci/0000:81:00.0")][0] | .a == "15b3:1021 mlx5_core" and .b == null' a.tar b.tar
  differs 'any(.differences[]; .key == "rdma/mlx5_0/fw_ver" and .a == "28.39.a" and .b == "28.39.b")' a.tar b.tar
  differs 'any(.differences[]; .key == "kernel")' a.tar b.tar
  # of a device that is gone nothing else; and no number that the kernel gives in the order of a boot
  differs 'all(.differences[]; .key | contains("iommu_group") | not)' a.tar b.tar
  differs 'all(.differences[]; .key | startswith("pci/0000:81:00.0/") | not)' a.tar b.tar
  differs 'all(.differences[]; .key | startswith("value/") | not)' a.tar b.tar
  differs 'any(.differences[]; .key == "value/sysctl/vm.swappiness" and .a == "60" and .b == "99")' \
    --profile b.yaml a.tar b.tar
  run -5 "$railhead" diff b.tar a.tar
  [[ $output == *"  only in B   pci/0000:81:00.0 "*" '15b3:1021 mlx5_core'"* ]]
  [[ $output == *"note: set values are not compared: "*"; --profile names a profile"* ]]
  run -0 "$railhead" diff a.tar a.tar
  # a directory with a slash is a machine, too; node is that of --root
  run -0 "$railhead" diff --root b.tar node b.tar
  run -0 "$railhead" diff ./root "$root"
}

ended() {
  tmux -L diff capture-pane -p >screen
  grep -q '^exit' screen
}

@test "on a terminal: one screen, folded over sets" {
  "$BATS_TEST_DIRNAME/lib/machine" "$BATS_TEST_TMPDIR/machines" "$BATS_TEST_DIRNAME/fixtures/machines/hgx-h100-cx7.toml"
  tmux -L diff -f /dev/null new-session -d -x 100 -y 50 \
    "LANG=C.UTF-8 $railhead diff --no-pager --root machines/hgx-h100-cx7 $BATS_TEST_DIRNAME/../profiles/hgx-h100-cx7.yaml node >/dev/tty; echo exit \$?; exec sleep 600"
  eventually ended
  tmux -L diff kill-server
  cat screen
  grep -q '^exit 5' screen
  grep -qE '^differs +rails ×8: sriov numvfs +8 → 0 ' screen
  [ "$(grep -c . screen)" -le 48 ]
}

@test "what is no side: its name and what to do, and 2; a profile that is invalid: 3" {
  run -2 "$railhead" diff a.yaml
  run -2 "$railhead" diff a.yaml b.yaml a.yaml
  run -2 "$railhead" diff gone.tar a.tar
  [[ $output == *"gone.tar: No such file or directory"* ]]
  echo text >text
  run -2 "$railhead" diff text a.yaml
  [[ $output == *"text"* ]]
  run -3 "$railhead" diff nothing a.yaml
  [[ $output == *"no profile 'nothing' in "* ]]
  echo 'sysctl: 1' >bad.yaml
  run -3 "$railhead" diff a.yaml bad.yaml
  [[ $output == *"bad.yaml:1:9: sysctl: "* ]]
  run -2 "$railhead" diff --profile a.yaml a.yaml ./root
  [[ $output == *"diff: --profile selects the values to compare on two machines, but a.yaml is a profile; leave out --profile" ]]
}
