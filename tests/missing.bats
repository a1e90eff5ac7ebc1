#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A part that is missing is named: the address that the last boot with it had, in the reason, in why and
# in the page. Where the name could be wrong there is none.

bats_require_minimum_version 1.5.0
load lib/fakenode

GPUS=(0000:19:00.0 0000:3b:00.0 0000:4f:00.0 0000:5e:00.0 0000:9b:00.0 0000:bd:00.0 0000:cd:00.0 0000:dc:00.0)
THAT="the boot of 2026-11-27 14:02Z still had"

setup() {
  sim=$BATS_TEST_TMPDIR
  python3 "$BATS_TEST_DIRNAME/lib/machine" "$sim" "$BATS_TEST_DIRNAME/simnode/node.toml"
  root=$sim/node
  store=$root/var/lib/railhead/history.json
  profile "$root" sim <<<'schema: 1
name: sim
match: {dmi: {sys_vendor: Simulated}}
devices:
  rails: {pci: "15b3:1021", expect: 8}
  gpus: {pci: "10de:2330", expect: 8}'
  put "$root/sys/class/dmi/id/product_serial" THIS
  boot 2026-11-20T10:00 0
  boot 2026-11-27T14:02 0
}

# A boot whose gate exits so, and whose verdict is of that time.
boot() { # TIME EXIT
  rm -rf "$root/run/railhead"
  put "$root/proc/sys/kernel/random/boot_id" "$(cat /proc/sys/kernel/random/uuid)"
  run "-$2" "$railhead" gate --root "$root"
  jq -c --argjson time "$(date -u -d "$1" +%s)" '.boots[-1].time = $time' "$store" >"$sim/edited"
  cp "$sim/edited" "$store"
}

device() { readlink -f "$root/sys/bus/pci/devices/$1"; } # ADDRESS

lose() { # ADDRESS...
  local address
  for address; do
    rm -r "$(device "$address")" "$root/sys/bus/pci/devices/$address"
  done
}

# As the kernel names what it finds behind another bus number.
move() { # ADDRESS ADDRESS
  local from to
  from=$(device "$1")
  to=${from%/*}/$2
  mv "$from" "$to"
  rm "$root/sys/bus/pci/devices/$1"
  ln -s "../../../${to#"$root/sys/"}" "$root/sys/bus/pci/devices/$2"
}

reason() { # TEXT: how the reason of the gate goes on after the count
  local why
  why=$("$railhead" status --json --root "$root" | jq -r '.faults[] | select(.id == "devices/gpus/expect").why')
  [[ $why == "gpus: "*" of 8 functions; $1" ]] || { echo "$why"; return 1; }
}

unnamed() {
  reason 'see `lspci -Dnn`: a function that is gone from the bus needs a reseat or an RMA'
  "$railhead" status --json --root "$root" | jq -e 'has("missing") | not'
}

@test "the reason names what is gone, with a remedy; a second boot without it keeps the date" {
  lose 0000:3b:00.0
  boot 2026-11-28T09:10 7
  reason "$THAT 0000:3b:00.0"
  "$railhead" status --json --root "$root" | jq -e '.faults[0].code == "RH-PCI-MISSING" and
    (.faults[0].remedy | startswith("reseat the card")) and
    .missing == [{address: "0000:3b:00.0", ids: ["devices/gpus/expect"], model: "10de:2330 10de:16c1",
      root_port: "0000:37:01.0", numa_node: "0", last_seen: "2026-11-27 14:02Z"}]'
  boot 2026-11-29T08:00 7
  reason "$THAT 0000:3b:00.0"
  "$railhead" status --json --root "$root" | jq -e '.missing[0] | .last_seen == "2026-11-27 14:02Z" and
    .gone_since == "2026-11-28 09:10Z"'
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"$THAT 0000:3b:00.0; reseat the card"* ]]
}

@test "a card that is lost between two gates of one boot: that boot had it, and it is gone since then" {
  boot 2026-11-28T09:10 0
  lose 0000:3b:00.0
  for seen in 09:10 12:50; do
    run -7 "$railhead" gate --again --root "$root"
    reason "the boot of 2026-11-28 ${seen}Z still had 0000:3b:00.0"
    jq -c '.boots[-1].time = 1795870200' "$store" >"$sim/edited" # 2026-11-28 12:50
    cp "$sim/edited" "$store"
  done
  boot 2026-11-29T08:00 7
  "$railhead" status --json --root "$root" | jq -e '.missing[0] |
    .last_seen == "2026-11-28 12:50Z" and .gone_since == "2026-11-28 12:50Z"'
}

@test "four are named and the others counted; of different boots, the last that had them all" {
  lose "${GPUS[@]:1:6}"
  boot 2026-11-28T09:10 7
  reason "$THAT 0000:3b:00.0, 0000:4f:00.0, 0000:5e:00.0, 0000:9b:00.0 and 2 more"
  "$railhead" status --json --root "$root" | jq -e '.missing | length == 6'
  lose "${GPUS[0]}"
  boot 2026-11-29T08:00 7
  reason "$THAT 0000:19:00.0, 0000:3b:00.0, 0000:4f:00.0, 0000:5e:00.0 and 3 more"
  "$railhead" status --json --root "$root" | jq -e '.missing | map(select(.last_seen == "2026-11-28 09:10Z").address) == ["0000:19:00.0"]'
}

@test "all that a set had: they are named in place of functions that resemble them" {
  lose "${GPUS[@]}"
  boot 2026-11-28T09:10 7
  run -7 "$railhead" status --root "$root"
  [[ $output == *"gpus: 0 of 8 functions; $THAT 0000:19:00.0, "*" and 4 more; reseat"* ]]
}

@test "of two sets, each names what it lacks" {
  lose 0000:3a:00.0 0000:3b:00.0
  boot 2026-11-28T09:10 7
  run -7 "$railhead" status --root "$root"
  [[ $output == *"gpus: 7 of 8 functions; $THAT 0000:3b:00.0;"* && $output == *"rails: 7 of 8 functions; $THAT 0000:3a:00.0;"* ]]
}

@test "no history, a damaged one, one of an older railhead or of another machine: no name" {
  cp "$store" "$sim/kept"
  lose 0000:3b:00.0
  rm "$store"
  boot 2026-11-28T09:10 7
  unnamed
  boot 2026-11-29T08:00 7 # that history has no boot with it
  unnamed
  head -c 200 "$sim/kept" >"$store"
  boot 2026-11-28T09:10 7
  unnamed
  jq -c '.boots[].parts |= (. // {} | with_entries(select(.key | startswith("set of ") | not)))' "$sim/kept" >"$store"
  boot 2026-11-28T09:10 7
  unnamed
  cp "$sim/kept" "$store"
  put "$root/sys/class/dmi/id/product_serial" OTHER
  boot 2026-11-28T09:10 7
  unnamed
  cp "$sim/kept" "$store"
  put "$root/sys/class/dmi/id/product_serial" THIS
  boot 2026-11-28T09:10 7
  reason "$THAT 0000:3b:00.0"
}

@test "a card at a new address may be the one that is gone: no name" {
  lose 0000:3b:00.0
  move 0000:5e:00.0 0000:5f:00.0
  boot 2026-11-28T09:10 7
  unnamed
}

@test "addresses that move up hide which card is gone: the root ports tell, and there is no name" {
  lose 0000:3b:00.0
  move 0000:4f:00.0 0000:3b:00.0
  boot 2026-11-28T09:10 7
  unnamed
}

@test "a function that is still there, and no longer matches, is not called gone" {
  sed -i s/2330/2331/ "$(device 0000:3b:00.0)"/{device,modalias}
  boot 2026-11-28T09:10 7
  unnamed
}

@test "why: what an address of an earlier boot was, and since when it is gone" {
  run -0 "$railhead" why --root "$root" 0000:3b:00.0
  [[ $output == "0000:3b:00.0: 10de:2330, nvidia, "* ]]
  lose 0000:3b:00.0
  run -0 "$railhead" why --root "$root" 0000:3b:00.0
  [[ ${lines[0]} == "0000:3b:00.0: 10de:2330 10de:16c1, not on the bus: last seen in the boot of 2026-11-27 14:02Z, gone since this boot" ]]
  boot 2026-11-28T09:10 7
  boot 2026-11-29T08:00 7
  for asked in 0000:3b:00.0 3b:00.0; do
    run -0 "$railhead" why --root "$root" "$asked"
    [[ ${lines[0]} == *"last seen in the boot of 2026-11-27 14:02Z, gone since the boot of 2026-11-28 09:10Z" ]]
    [[ $output == *"devices.gpus: "*"change:  devices/gpus/expect"*"$THAT 0000:3b:00.0"*"fault:   RH-PCI-MISSING (reseat)"* ]]
  done
  "$railhead" why --json --root "$root" 3b:00.0 | jq -e '.missing.gone_since == "2026-11-28 09:10Z" and
    .missing.address == "0000:3b:00.0" and .keys[0].changes[0].id == "devices/gpus/expect"'
  # one that never was
  run -2 "$railhead" why --root "$root" 0000:3c:00.0
  [[ $output == *"no change, key or device '0000:3c:00.0'; did you mean "* ]]
}

@test "why: also where no set lacks it any more" {
  lose 0000:3b:00.0
  sed -i 's/gpus: .*/gpus: {pci: "10de:2330", expect: 7}/' "$root/etc/railhead/profiles/sim.yaml"
  boot 2026-11-28T09:10 0
  run -0 "$railhead" why --root "$root" 0000:3b:00.0
  [[ $output == *"last seen in the boot of 2026-11-27 14:02Z, gone since the boot of 2026-11-28 09:10Z"* ]]
  [[ $output != *wrong:* ]]
}

@test "a boot whose profile has no such set says nothing of its members" {
  cp "$root/etc/railhead/profiles/sim.yaml" "$sim/kept.yaml"
  sed -i '/gpus:/d' "$root/etc/railhead/profiles/sim.yaml"
  boot 2026-11-28T09:10 0
  cp "$sim/kept.yaml" "$root/etc/railhead/profiles/sim.yaml"
  lose 0000:3b:00.0
  boot 2026-11-29T08:00 7
  boot 2026-11-29T09:00 7
  run -0 "$railhead" why --root "$root" 0000:3b:00.0
  [[ ${lines[0]} == *"last seen in the boot of 2026-11-27 14:02Z, gone since the boot of 2026-11-29 08:00Z" ]]
}

@test "the page has an empty box at its NUMA node, and a link to it; not once it is there again" {
  cp -a "$root/sys" "$sim/sys"
  lose 0000:bd:00.0
  boot 2026-11-28T09:10 7
  boot 2026-11-29T08:00 7
  "$railhead" survey --json --root "$root" >"$sim/survey.json"
  run -7 "$railhead" status --html "$sim/page.html" --root "$root"
  run -0 "$BATS_TEST_DIRNAME/lib/html_check.py" "$sim/page.html" "$sim/survey.json"
  [[ $output == *"in the drawing: 0000:bd:00.0"* ]]
  sed -n '/id="numa-1"/,/<.section>/p' "$sim/page.html" >"$sim/numa"
  grep -A3 'class="fn gone" id="pci-0000-bd-00-0"' "$sim/numa" >"$sim/box"
  grep -q '10de:2330' "$sim/box"
  grep -q 'last seen in the boot of 2026-11-27 14:02Z, gone since the boot of 2026-11-28 09:10Z' "$sim/box"
  rm -r "$root/sys"
  mv "$sim/sys" "$root/sys"
  "$railhead" survey --json --root "$root" >"$sim/survey.json"
  run -7 "$railhead" status --html "$sim/page.html" --root "$root"
  run -0 "$BATS_TEST_DIRNAME/lib/html_check.py" "$sim/page.html" "$sim/survey.json"
  ! grep -q 'fn gone' "$sim/page.html"
  # of a NUMA node that the node no longer has
  lose 0000:bd:00.0
  jq '.missing[].numa_node = "7"' "$root/run/railhead/status.json" >"$sim/edited"
  cp "$sim/edited" "$root/run/railhead/status.json"
  "$railhead" survey --json --root "$root" >"$sim/survey.json"
  run -7 "$railhead" status --html "$sim/page.html" --root "$root"
  run -0 "$BATS_TEST_DIRNAME/lib/html_check.py" "$sim/page.html" "$sim/survey.json"
  [[ $output == *"Elsewhere NUMA node unknown"*"missing 0000:bd:00.0"* ]]
}

@test "the history is read only where a set is short" {
  reads() {
    strace -f -o "$sim/calls" "$railhead" verify --root "$root" >/dev/null || :
    grep -c 'history\.json' "$sim/calls"
  }
  [ "$(reads)" = 0 ]
  lose 0000:3b:00.0
  [ "$(reads)" -gt 0 ]
}

@test "functions on the root bus have no port to tell: an address that is new to the set is enough" {
  root=$sim/small
  fake_node "$root"
  printf 'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\ndevices: {nics: {pci: "15b3:1021", expect: 2}}\n' |
    profile "$root" sku
  store=$root/var/lib/railhead/history.json
  boot 2026-11-27T14:02 0
  lose $PF1
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"nics: 1 of 2 functions; $THAT $PF1"* ]]
  move $PF0 0000:42:00.0
  run -5 "$railhead" verify --root "$root"
  [[ $output == *"nics: 1 of 2 functions; see"* ]]
}
