#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/architecture.md says how a key, a check, a vendor and a benchmark are added: its examples are
# put into a copy of the sources, built, and used. A section: tests/section.bats.

bats_require_minimum_version 1.5.0
load lib/fakenode

page=$BATS_TEST_DIRNAME/../docs/architecture.md

setup() {
  cd "$BATS_TEST_DIRNAME/.." || exit 1
  tree=$BATS_TEST_TMPDIR/tree
}

# Each block "```c FILE" is a new file; "```c FILE: before TEXT" goes in front of the first line of
# FILE that has TEXT.
add_examples() { # TREE
  python3 - "$page" "$1" <<'P'
import re, sys
page, tree = sys.argv[1:]
blocks = re.findall(r"^```c (\S+?)(?:: before ([^\n]*))?\n(.*?)^```$", open(page).read(), re.M | re.S)
for name, before, text in blocks:
    path = f"{tree}/{name}"
    if not before:
        open(path, "x").write(text)
        continue
    old = open(path).read()
    at = old.index(before)
    at = old.rindex("\n", 0, at) + 1
    open(path, "w").write(old[:at] + text + old[at:])
print(len(blocks))
P
}

@test "the examples of architecture.md build, and do what the page says" {
  mkdir "$tree"
  git ls-files -z -- Makefile VERSION src dracut/grub.d | xargs -0 cp -p --parents -t "$tree"
  mkdir "$tree/build"
  cp -a build/release build/railhead build/railhead-bench build/05_railhead build/deps-ok "$tree/build"
  run -0 add_examples "$tree"
  [ "$output" -ge 8 ]
  run -0 timeout 300 make -s -C "$tree" DEV=1 all
  [[ $output != *warning* ]]

  railhead=$tree/build/railhead
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  put "$root/sys/class/net/eth0/group" 0
  put "$root/sys/devices/system/clocksource/clocksource0/current_clocksource" hpet
  for pf in $PF0 $PF1; do
    ln -sfn ../../../bus/pci/drivers/hns3 "$root/sys/devices/pci0000:00/$pf/driver"
  done
  mkdir -p "$root/sys/bus/pci/drivers/hns3"
  profile "$root" sku <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Supermicro}}
devices: {rails: {pci: "15b3:1021"}}
link: {rails: {group: 7, optional: [group]}}
qos: {rails: {dcqcn: {np: {cnp_dscp: 48}}}}
gate:
  checks:
    clock: {run: clocksource}
Y
  # the key and the check
  run -0 "$railhead" check "$root/etc/railhead/profiles/sku.yaml"
  run -0 "$railhead" explain link.rails.group
  [[ $output == *"Group of the netdev."* ]]
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"link/$PF0/group "*"'0' -> '7'"* ]]
  [[ $output == *"gate/clock/node "*"'hpet' -> 'tsc'"*"its log says why"* ]]
  # the vendor
  [[ $output == *"offers no parameters of DCQCN"* ]]
  # the benchmark
  run -0 "$tree/build/railhead-bench" clock_read
  jq -e '.result == "measured" and .unit == "ns" and .value > 0' <<<"$output"
}

@test "the values of architecture.md become the change that its table shows" {
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  {
    printf 'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\n'
    sed -n '/^```yaml$/,/^```$/{/^```/d;p}' "$page"
  } | sed "s/0000:18:00.0/$PF0/" | profile "$root" sku
  run -0 build/railhead check "$root/etc/railhead/profiles/sku.yaml"
  build/railhead plan --json --root "$root" >"$root/plan" || [ $? -eq 5 ] # changes are pending
  run -0 jq -r '.changes[] | select(.id | startswith("link/")) | .id + ": " + .desired' "$root/plan"
  [ "$output" = "link/$PF0/rings: rx 8192 tx 1024
link/$PF1/rings: rx 8192" ]
}

@test "architecture.md has 230 lines at most" {
  [ "$(wc -l <"$page")" -le 230 ]
}
