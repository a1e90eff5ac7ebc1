#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What people see: in a terminal of a given size (tmux), and in a pipe. Screens are compared with
# those in fixtures/screens; GOLDEN=1 writes them again: read the diff.

bats_require_minimum_version 1.5.0
load lib/simnode
load lib/clock

screens=$BATS_TEST_DIRNAME/fixtures/screens

setup_file() {
  export MACHINES=$BATS_FILE_TMPDIR/machines
  "$BATS_TEST_DIRNAME/lib/machine" "$MACHINES" "$BATS_TEST_DIRNAME/fixtures/machines/hgx-h100-cx7.toml"
}

setup() {
  root=$BATS_TEST_TMPDIR/node
  cp -a "$MACHINES/hgx-h100-cx7" "$root"
  cd "$BATS_TEST_TMPDIR"
  export LANG=C.UTF-8 TMUX_TMPDIR=$BATS_TEST_TMPDIR
  unset LC_ALL LC_CTYPE NO_COLOR PAGER LESS COLUMNS
}

teardown() {
  sim_stop
  while [ "$terminals" -gt 0 ]; do
    in_tmux kill-server 2>/dev/null || true # one that has ended by itself is as good
    terminals=$((terminals - 1))
  done
}

terminals=0

in_tmux() { # of the last terminal
  tmux -L "terminal$terminals" "$@"
}

# Runs a command in a terminal; what stands there at its end, or once that word does.
in_terminal() { # COLUMNS ROWS [until WORD] COMMAND
  local columns=$1 rows=$2 word=
  shift 2
  if [ "$1" = until ]; then word=$2 && shift 2; fi
  terminals=$((terminals + 1))
  in_tmux -f /dev/null new-session -d -x "$columns" -y "$rows" "$*; echo exit \$?; exec sleep 600"
  eventually shows "${word:-exit [0-9]}"
  in_tmux capture-pane -p ${escapes:+-e} | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

shows() { # PATTERN
  in_tmux capture-pane -p | grep -q "$1"
}

golden() { # NAME: standard input
  cat >"$BATS_TEST_TMPDIR/$1"
  [ -z "${GOLDEN:-}" ] || cp "$BATS_TEST_TMPDIR/$1" "$screens/$1"
  diff -u "$screens/$1" "$BATS_TEST_TMPDIR/$1"
}

memory='memory: {run: memory_bandwidth, per: node, min: 180GB/s}'

# A node on which all is as the profile wants it, but for three things.
three_things() { # [CHECK of the gate]
  cat >sku.yaml <<Y
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices:
  rails: {pci: "15b3:1021", ports: 1, expect: 8}
  gpus: {pci: "10de:2330", expect: 8}
expect: {cpu_sockets: 2, numa_nodes: 2}
sysctl: {vm.max_map_count: 65530, net.core.rmem_max: 212992}
link: {rails: {mtu: 1500}}
pairs: {nics: rails, gpus: gpus, within: pcie_switch}
gate:
  checks:
    links: {run: pcie_link, on: rails, speed: 32GT/s, width: 16}
    rdma: {run: rdma_link, on: rails, speed: 400Gb/s}
    carrier: {run: carrier, on: rails}
$1
Y
  "$railhead" verify --root node --profile sku.yaml
  echo 4096 >node/proc/sys/vm/max_map_count
  echo 9000 >node/sys/bus/pci/devices/0000:9a:00.0/net/*/mtu
  echo 8 >node/sys/bus/pci/devices/0000:18:00.0/current_link_width
}

@test "plan of a bare node of eight NICs: a screen of 100 columns, and the same at 80 and 120" {
  local width
  for width in 80 100 120; do
    in_terminal $width 70 "$railhead plan --root node --profile $BATS_TEST_DIRNAME/../profiles/hgx-h100-cx7.yaml" >screen
    [ "$(wc -l <screen)" -le 61 ] # and the exit status
    golden "plan-bare-$width" <screen
  done
}

@test "three things that are wrong are the first three lines, of plan and of verify" {
  local verb width
  three_things "    $memory"
  for verb in plan verify; do
    for width in 80 120; do
      in_terminal $width 40 "$railhead $verb --root node --profile sku.yaml" >screen
      golden "$verb-three-$width" <screen
      head -n 3 screen >first
      grep -q 'sysctl vm.max_map_count .*4096 → 65530' first
      grep -q 'rails 0000:9a:00.0: link mtu .*9000 → 1500' first
      grep -q 'rails 0000:18:00.0: gate links/width .*8 → 16' first
    done
  done
}

@test "members of a set have their setting's name on a narrow screen, too" {
  three_things >/dev/null
  for address in 18 3a 4e 5d; do echo 9000 >"$(echo node/sys/bus/pci/devices/0000:$address:00.0/net/*/mtu)"; done
  in_terminal 80 40 "$railhead plan --root node --profile sku.yaml" >screen
  grep -q '^differs     5 of 8 rails (0000:18:00.0, .*…): link mtu  *9000 → 1500' screen
}

@test "status: may the node take work, each cause, the remedy of the first, where to look next" {
  local width
  three_things
  run -7 "$railhead" gate --root node --profile sku.yaml
  [[ ${lines[0]} == "verdict: blocked (work is not admitted): link/0000:9a:00.0/mtu: found '9000', expected '1500'" ]]
  [[ ${lines[1]} == "and:     sysctl/vm.max_map_count: found '4096', expected '65530'" ]]
  [[ ${lines[2]} == "and:     gate/links/0000:18:00.0/width: found '8', expected '16'; the link trained to x8; "* ]]
  [[ ${lines[3]} == "remedy:  \`railhead apply\` sets the value of sku.yaml:9; then run \`railhead gate\`" ]]
  for width in 80 100; do
    in_terminal $width 40 "$railhead status --root node" >screen
    sed -E '/^profile:/d; /sku.yaml\)$/d; s/ [0-9.]+ s /   TIME s /' screen | golden "status-three-$width"
  done
  head -n 1 screen | grep -q 'rails 0000:9a:00.0: link mtu: '
  # the same of all: one line
  for width in node/sys/bus/pci/devices/*/net; do echo 9000 >"$(echo "$width"/*/mtu)"; done
  run -7 "$railhead" gate --again --root node --profile sku.yaml
  [ "$(grep -c 'link/.*/mtu: found' <<<"$output")" -eq 8 ]
  in_terminal 100 40 "$railhead status --root node" >screen
  head -n 1 screen | grep -q ': rails ×8: link mtu: '
  in_terminal 100 60 "$railhead status --all --root node" >screen
  [ "$(grep -c 'link/.*/mtu: found' screen)" -eq 8 ]
}

@test "status of a record that is damaged, or that an older railhead wrote: no crash, and each cause" {
  local how
  three_things
  run -7 "$railhead" gate --root node --profile sku.yaml
  cp node/run/railhead/status.json whole
  for how in 'del(.sets)' '.sets = {rails: [1, null], gpus: 5}' '.sets = []' '.reasons[0] = 1' \
    '.measurements = [7, {"id": 3}]' '.stages.gate.changes = [null]' '.warnings = [null]'; do
    jq "$how" whole >node/run/railhead/status.json
    in_terminal 100 40 "$railhead status --root node" >screen
    grep -q "^exit 7" screen
    grep -q "vm.max_map_count: found '4096'" screen
    run -7 "$railhead" status --root node
    [[ $output == *"vm.max_map_count: found '4096'"* ]]
  done
}

@test "an empty set is named once by apply on a terminal" {
  three_things
  sed 's/15b3:1021/15b3:1023/' sku.yaml >empty.yaml
  sed -i 's/^name: sku/name: empty/' empty.yaml
  in_terminal 120 40 "$railhead apply --root node --profile empty.yaml" >screen
  cat screen
  [ "$(grep -c "no function matches pci 15b3:1023" screen)" -eq 1 ]
}

@test "in a pipe each of them is a line of its own, whole and without colour" {
  three_things "    $memory"
  run -5 "$railhead" verify --root node --profile sku.yaml
  [ "${#lines[@]}" -eq 4 ]
  [[ ${lines[0]} == "  differs     sysctl/vm.max_map_count "*" '4096' -> '65530'" ]]
  [[ ${lines[1]} == "  differs     link/0000:9a:00.0/mtu "*" '9000' -> '1500'" ]]
  [[ ${lines[2]} == "  differs     gate/links/0000:18:00.0/width "*" '8' -> '16'"* ]]
  [[ ${lines[3]} == "profile sku: 3 of "*" differ, "*" match (--all lists them); 2 to measure (railhead gate)" ]]
  [[ $output != *$'\e'* ]]
  "$railhead" plan --root node --profile "$BATS_TEST_DIRNAME/../profiles/hgx-h100-cx7.yaml" >bare || [ $? -eq 5 ]
  [ "$(grep -c 'sriov/.*/vf[0-7]/driver' bare)" -eq 64 ]
}

@test "--all: what is as wanted, too, a line each, stage by stage" {
  three_things "    $memory"
  run -5 "$railhead" verify --all --root node --profile sku.yaml
  [[ $output == *$'\n'"  same        link/0000:18:00.0/mtu "* ]]
  [[ $output == *$'\n'"  differs     link/0000:9a:00.0/mtu "* ]]
  [[ $output == *"gate"$'\n'*"  to measure  gate/memory/node0 "* ]]
}

@test "apply on a terminal: what is waited for, since when, until when at most; then what was set" {
  sim=$BATS_TEST_TMPDIR/sim
  sim_need
  sim_tree "$sim"
  sim_profile <<<'sriov: {rails: {vfs: 2, vf: {driver: netdev}}}'
  sim_start <<<'latency create 1500ms'
  in_terminal 100 30 until "waiting for sriov/0000:[0-9a-f:.]*/numvfs and [1-7] more: \([2-9]\|[1-9][0-9]\) s, at most [0-9a-z ]*" \
    "$railhead apply --root $root --stage devices" >screen
  [ "$(grep -c "waiting for" screen)" -eq 1 ]
  eventually shows "^exit 0"
  in_tmux capture-pane -p >screen
  run ! grep "waiting for" screen
  grep -qE '^set +rails ×8: sriov numvfs +0 → 2 ' screen
  grep -qE '^set +16 vfs of rails: sriov driver +none → netdev ' screen
  # in a pipe: each change when it is done
  run -0 "$railhead" apply --root "$root" --stage devices
  [[ $output != *"waiting for"* ]]
}

@test "gate on a terminal: which measurement is at work" {
  three_things "    slow: {run: command, command: [/bin/sleep, "1000"], timeout: 50s}"
  in_terminal 120 30 until 'gate: waiting for .*: [1-9][0-9]* s, at most 50 s' \
    "LD_PRELOAD=$clock_library TEST_CLOCK=$clock $railhead gate --root node --profile sku.yaml" >screen
  pass 50000
  eventually shows "^exit 7"
  run ! shows "waiting for"
}

@test "colour: on a terminal, unless NO_COLOR or --color=never; elsewhere with --color=always" {
  local red=$'\e[33m'
  three_things
  escapes=yes in_terminal 100 40 "$railhead verify --root node --profile sku.yaml" >screen
  grep -qF "${red}differs" screen
  NO_COLOR=1 escapes=yes in_terminal 100 40 "$railhead verify --root node --profile sku.yaml" >screen
  run ! grep $'\e\\[33m' screen
  escapes=yes in_terminal 100 40 "$railhead verify --color=never --root node --profile sku.yaml" >screen
  run ! grep $'\e\\[33m' screen
  run -5 "$railhead" verify --color=auto --root node --profile sku.yaml
  [[ $output != *$'\e'* ]]
  run -2 "$railhead" verify --color=blue --root node --profile sku.yaml
  [[ $output == *"--color blue: expected one of: auto, always, never"* ]]
}

@test "without a locale of UTF-8 a terminal gets ASCII" {
  three_things
  LANG=C in_terminal 80 40 "$railhead verify --root node --profile sku.yaml" >screen
  grep -q '4096 -> 65530' screen
  LC_ALL=C run ! grep '[^ -~]' screen
}

@test "a pager: for what fills more than a screen; what it is missing prints as it is" {
  three_things
  in_terminal 100 10 until 'lines 1-9' "LESS=x $railhead plan --all --root node --profile sku.yaml" >screen
  run ! grep "^exit" screen
  in_tmux send-keys q
  eventually shows "^exit 5"
  in_terminal 100 40 "$railhead verify --root node --profile sku.yaml" >screen # one screen: ends by itself
  grep -q "^exit 5" screen
  PAGER=cat in_terminal 100 10 "$railhead plan --all --root node --profile sku.yaml" >screen
  in_terminal 100 10 "$railhead plan --all --no-pager --root node --profile sku.yaml" >screen
  grep -q "^exit 5" screen
}

@test "a pager: for root only less; for others PAGER, which is no command of sh" {
  local open
  three_things
  open=$(mktemp -d) # which another user may enter
  cp -a "$railhead" node sku.yaml "$open"
  printf '#!/bin/sh\nhead -n 1\necho "by mine $1"\n' >"$open/mine"
  chmod -R go+rX "$open"
  chmod 777 "$open"
  chmod +x "$open/mine"
  plan="$open/railhead plan --all --root $open/node --profile $open/sku.yaml"
  for pager in "$open/mine" "less; touch $open/shell" "no-such-pager"; do
    PAGER=$pager in_terminal 100 10 until 'lines 1-9' "$plan" >screen
  done
  plan="setpriv --reuid=65534 --regid=65534 --clear-groups $plan"
  PAGER="$open/mine now" in_terminal 100 10 "$plan" >screen # whoever reads may quit
  grep -q "^by mine now" screen
  grep -q "^exit 5" screen
  for pager in "no-such-pager -x" "less; touch $open/shell"; do
    PAGER=$pager in_terminal 100 10 "$plan" >screen
    grep -q "^profile sku: 3 of" screen
  done
  [ ! -e "$open/shell" ]
  rm -r "$open"
}

@test "escape sequences and characters that change the order of text are not printed" {
  local verb hidden=$'SYS-821GE\e]0;pwn\a\e[31mX\u202eY\u009bZ\x80'
  printf '%s\n' "$hidden" >node/sys/class/dmi/id/product_name
  printf 'ro \e[2J \u202e x\n' >node/proc/cmdline
  for verb in "survey" "survey --all" "match --explain" "draft" "show hgx-h100-cx7" "plan --profile hgx-h100-cx7" "status"; do
    # shellcheck disable=SC2086
    "$railhead" $verb --root node >out 2>&1 || true # what it prints is looked at, whatever it ends in
    echo "$verb"
    [ -s out ]
    run ! grep -P '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae|\xc2\x9b' out
  done
  "$railhead" survey --root node >out
  grep -q 'Supermicro SYS-821GE?]0;pwn??\[31mX?Y?Z?$' out
  # JSON holds what was found
  [ "$("$railhead" survey --json --root node | jq -r .dmi.product_name | head -c 18)" = $'SYS-821GE\e]0;pwn\a\e' ]
}
