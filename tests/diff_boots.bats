#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# diff of boots that the history keeps.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  store=$root/var/lib/railhead/history.json
  mkdir -p "${store%/*}"
  boots 100 101 100 99 100 101 100 99 100 101 100
}

# A boot for each figure, in GB/s; each has another id, time and duration of the gate.
boots() { # GB/S...
  local n=0 value
  for value; do
    n=$((n + 1))
    jq -nc --arg n "$(printf %02d $n)" --argjson i $n --argjson value "$value" '{
      boot_id: "ab\($n)0000-1111-2222-3333-444455556666", time: (1790000000 + 86400 * $i),
      verdict: "ready", admit: true, faults: [], reason: "", kernel: "6.1.0-18", railhead: "0",
      profile: {name: "sku", version: "1", digest: "ab"}, stages_usec: {gate: (60000000 + $i * 1000000 % 3)},
      judged_usec: 90000000, parts: {BIOS: "1.1", "model of 0000:41:00.0": "15b3:1021",
        "firmware of 0000:41:00.0": "28.39", "link width of 0000:41:00.0": "x16",
        "link speed of 0000:41:00.0": "32.0 GT/s PCIe"},
      figures: [{check: "memory", subject: "node0", key: "min", unit: "B/s", value: (1e9 * $value),
        fresh: true}]}'
  done | jq -c -s '{schema: 1, boots: .}' >"$store"
}

edit() { # JQ-FILTER
  jq -c "$1" "$store" >"$store.new"
  mv "$store.new" "$store"
}

boot_diff() { # STATUS SIDE SIDE [OPTION...]
  run --separate-stderr "-$1" env LC_ALL=C "$railhead" diff --root "$root" "${@:2}"
}

holds() { # JQ-FILTER
  jq -e "$1" <<<"$output" >/dev/null || { echo "does not hold: $1"; echo "$output"; return 1; }
}

@test "a boot and itself are equal; one within the noise is, too, and its figure is marked as noise" {
  boot_diff 0 boot boot
  [[ $output != *noise* && $output == *$'\n'"equal: all "* ]]
  boot_diff 0 boot:-1 boot
  [[ ${lines[0]} == "A:  boot ab100000-1111-2222-3333-444455556666: 2026-"*", ready, profile sku, kernel 6.1.0-18" ]]
  [[ $output == *"  noise       figures/memory/node0/min "*" '101.0 GB/s' -> '100.0 GB/s': -1.0%"* ]]
  [[ ${lines[-1]} == "equal, but for noise: all "* ]]
  boot_diff 0 boot:-1 boot --json
  holds '.equal and .a.kind == "boot" and [.differences[] | [.key, .noise]] == [["figures/memory/node0/min", true]]'
  holds '.differences[0].percent | . < -0.9 and . > -1.1'
}

@test "what differs: verdict, faults, kernel, profile, firmware, and figures and times beyond their noise" {
  edit '.boots[-1] |= (.verdict = "blocked" | .admit = false | .faults = ["RH-NIC-LINK-WIDTH"] | .kernel = "6.8.0-1"
    | .profile.version = "2" | .profile.digest = "cd" | .parts["firmware of 0000:41:00.0"] = "28.40"
    | .parts["link speed of 0000:41:00.0"] = "16.0 GT/s PCIe"
    | .figures[0].value = 80e9 | .stages_usec.gate = 240000000)'
  boot_diff 5 boot:-1 boot
  [[ $output == *"  differs     verdict "*" 'ready' -> 'blocked'"$'\n'* ]]
  [[ $output == *"  only in B   faults "*" 'RH-NIC-LINK-WIDTH'"$'\n'* ]]
  [[ $output == *"  differs     kernel "*" '6.1.0-18' -> '6.8.0-1'"$'\n'* ]]
  [[ $output == *"  differs     profile/version "*" '1' -> '2'"$'\n'* ]]
  [[ $output == *"  differs     parts/0000:41:00.0/firmware "*" '28.39' -> '28.40'"$'\n'* ]]
  [[ $output == *"  differs     parts/0000:41:00.0/link speed "*" '32.0 GT/s PCIe' -> '16.0 GT/s PCIe'"$'\n'* ]]
  [[ $output != *"link width"* ]]
  [[ $output == *"  differs     figures/memory/node0/min "*" '101.0 GB/s' -> '80.0 GB/s': -20.8%"$'\n'* ]]
  [[ $output == *"  differs     time/gate "*": +300.0%"$'\n'* ]]
  [[ ${lines[-1]} == "10 of "*" differ" ]]
  boot_diff 5 boot boot:-1 --json
  holds '.equal == false and all(.differences[]; .noise == false)'
  holds '[.differences[] | select(.key == "figures/memory/node0/min")][0].percent | . > 26'
  holds '[.differences[] | select(.key == "kernel")][0].percent == null'
}

@test "of a function that is gone its model alone is told, and another model is told" {
  edit '.boots[-1].parts |= del(.["model of 0000:41:00.0", "firmware of 0000:41:00.0"])'
  boot_diff 5 boot:-1 boot --json
  holds '[.differences[] | select(.key | startswith("parts/")) | [.key, .a, .b]] == [["parts/0000:41:00.0", "15b3:1021", null]]'
  edit '.boots[-1].parts["model of 0000:41:00.0"] = "15b3:1023"'
  boot_diff 5 boot:-1 boot --json
  holds 'any(.differences[]; .key == "parts/0000:41:00.0/model" and .b == "15b3:1023")'
}

@test "a figure that was taken over is compared with nothing" {
  edit '.boots[-1].figures[0] |= (.fresh = false | .value = 1e9)'
  boot_diff 0 boot:-1 boot --json
  holds '.differences == []'
}

@test "boots are named as journalctl names them: counted from the latest or the first, or by their id" {
  for name in boot:0 boot:-0 boot:11 boot:+11 boot:ab11 boot:AB110000 boot:ab110000-1111 boot:ab11000011112222; do
    boot_diff 0 "$name" boot --json
    holds '.a.title | startswith("boot ab110000-")'
  done
  boot_diff 0 boot:-10 boot:1 --json
  holds '.a.title == .b.title and (.a.title | startswith("boot ab010000-"))'
}

@test "a boot that the history lacks: which there are, and 2" {
  edit '.boots[0].boot_id = "ab110000-9999"'
  for name in boot:-11 boot:12 boot:abcd boot:x boot: boot:-x boot:99999999999999999999; do
    boot_diff 2 boot "$name"
    [[ $stderr == "railhead: diff $name: the history has no such boot; give boot:-10 to boot:-0 "* ]]
  done
  boot_diff 2 boot $'boot:\e[31m'
  [[ $stderr != *$'\e'* ]]
  boot_diff 2 boot:ab110000 boot
  [[ $stderr == "railhead: diff boot:ab110000: the ids of 2 boots begin with these characters; give more characters" ]]
  rm "$store"
  boot_diff 2 boot boot
  [[ $stderr == "railhead: diff boot: no gate has ended here since railhead keeps a history "* ]]
}

@test "a history that is damaged, of a newer railhead, or root's: its name and a remedy, and 1" {
  echo '{' >"$store"
  boot_diff 1 boot boot
  [[ $stderr == "railhead: /var/lib/railhead/history.json: damaged at line "* ]]
  echo '{"schema": 99}' >"$store"
  boot_diff 1 boot boot
  [[ $stderr == *"schema 99"*"upgrade railhead"* ]]
  boots 1
  chmod 0600 "$store"
  open=$(mktemp -d) # which another user may enter
  cp -a "$root" "$open/root"
  cp "$railhead" "$open/railhead"
  chmod 755 "$open" "$open/root"
  run --separate-stderr -1 setpriv --reuid=65534 --regid=65534 --clear-groups "$open/railhead" diff --root "$open/root" boot boot
  rm -rf "$open"
  [[ $stderr == *"history.json: "*"ermission denied; run railhead as root" ]]
}

@test "a boot and anything else: refused, with what to compare, and 2" {
  profile "$root" sku <<<$'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\nsysctl: {vm.swappiness: 10}'
  for other in node sku "$root/"; do
    boot_diff 2 boot "$other"
    [[ $stderr == "railhead: diff: a boot can be compared with another boot only, and "*" is not a boot; \`railhead diff boot:-1 boot\` "* ]]
    boot_diff 2 "$other" boot
    [[ $stderr == *"railhead: diff: a boot can be compared with another boot only, "* ]]
  done
  boot_diff 2 --profile sku boot boot
  [[ $stderr == *"but boot is a boot; leave out --profile" ]]
}
