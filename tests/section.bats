#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A section is one file and one line of a table: in a copy of the sources and of what was built of
# them, a section with one key is added, as docs/architecture.md says.

bats_require_minimum_version 1.5.0
load lib/fakenode
load lib/simnode

setup_file() { sim_need; }

teardown() { sim_stop; }

setup() {
  cd "$BATS_TEST_DIRNAME/.." || exit 1
  sim=$BATS_TEST_TMPDIR
  tree=$BATS_TEST_TMPDIR/tree
  mkdir "$tree"
  git ls-files -z -- Makefile VERSION src dracut/grub.d tests/lint/keys docs/evidence.md \
    packaging/man/railhead.profile.5 | xargs -0 cp -p --parents -t "$tree"
  mkdir "$tree/build"
  cp -a build/release build/railhead build/railhead-bench build/05_railhead build/deps-ok "$tree/build"
  cp -a "$tree/src" "$BATS_TEST_TMPDIR/before"
}

write_section() {
  cat >"$tree/src/sections/cpufreq.c" <<'C'
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpufreq: the governor of all CPUs. */
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "profile/yaml.h"

static const struct spec governor =
	ONE_OF_WORDS("a governor", WORDS("performance", "powersave"));
static const struct spec keys =
	MAP("a map such as {governor: performance}",
	    KEY("governor", &governor, "Governor of all CPUs."));

static void emit(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan)
{
	const struct ynode *value = ynode_get(node, "governor");
	struct change *c;

	(void)ctx;
	if (!value)
		return;
	c = plan_add(plan, "cpufreq", &kind_attr, STAGE_EARLY, PHASE_SYSFS, value->at,
		     "cpufreq/governor");
	change_target(c, "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor");
	change_desired(c, "%s", value->text);
}

const struct section section_cpufreq = {
	.name = "cpufreq",
	.spec = &keys,
	.help = "Frequencies of CPUs.",
	.class = KEY_SETS,
	.emit = emit,
};
C
  sed -i '/^\tX(sysfs)/{h;s/sysfs/cpufreq/;G}' "$tree/src/sections/table.c"
}

@test "a new section with one key: one file, one line, checked, explained, planned and applied" {
  touch "$BATS_TEST_TMPDIR/stamp"
  write_section
  run -0 timeout 300 make -s -C "$tree" DEV=1 all
  [[ $output != *warning* ]]

  # nothing else was written, and nothing else compiled
  run -1 diff -rq "$BATS_TEST_TMPDIR/before" "$tree/src"
  [ "${#lines[@]}" -eq 2 ]
  [ "$(diff "$BATS_TEST_TMPDIR/before/sections/table.c" "$tree/src/sections/table.c" | grep -c '^[<>]')" -eq 1 ]
  run -0 find "$tree/build" -name '*.o' -newer "$BATS_TEST_TMPDIR/stamp" -printf '%f\n'
  [ "$(sort <<<"$output" | tr '\n' ' ')" = "cpufreq.o table.o " ]

  railhead=$tree/build/railhead
  root=$BATS_TEST_TMPDIR/root
  fake_node "$root"
  for n in 0 1; do
    put "$root/sys/devices/system/cpu/cpufreq/policy$n/scaling_governor" powersave
  done
  profile "$root" sku <<<$'schema: 1\nname: sku\nmatch: {dmi: {sys_vendor: Supermicro}}\ncpufreq: {governor: performance}'
  run -0 "$railhead" check "$root/etc/railhead/profiles/sku.yaml"
  run -0 "$railhead" explain cpufreq.governor
  [[ $output == *"Governor of all CPUs."*"performance, powersave"* ]]
  "$railhead" check --schema | jq -e '.properties.cpufreq.properties.governor.enum | index("performance")'
  run -5 "$railhead" plan --root "$root"
  [[ $output == *"cpufreq/governor"*powersave*performance* ]]
  run -0 "$railhead" apply --stage early --root "$root"
  [ "$(cat "$root/sys/devices/system/cpu/cpufreq/policy1/scaling_governor")" = performance ]
  run -0 "$railhead" apply --stage early --root "$root"
  [[ $output == *"0 set"* ]]

  sed -i 's/performance/perfomance/' "$root/etc/railhead/profiles/sku.yaml"
  run -3 "$railhead" check "$root/etc/railhead/profiles/sku.yaml"
  [[ $output == *"cpufreq.governor: "*"did you mean 'performance'?"* ]]
}

# Puts the rows from stdin in front of the line that a pattern matches.
add_rows() { # FILE PATTERN
  local rows
  rows=$(cat)
  awk -v pattern="$2" -v rows="$rows" '!done && $0 ~ pattern { print rows; done = 1 } { print }' \
    "$tree/src/sections/$1" >"$BATS_TEST_TMPDIR/new"
  cp "$BATS_TEST_TMPDIR/new" "$tree/src/sections/$1"
}

@test "a key is one row: a file of a netdev, a number of ethtool's, a parameter of DCQCN, a setting of VFs, bits of config space" {
  add_rows link.c 'GROUP."private_flags"' <<'C'
		KEY("group", A_NUMBER_OF("groups", 0, 1000), "Group of the netdev.", .item = LINK(LINK_FILE, .file = "group")),
C
  add_rows link.c 'NUMBER."tx", A_NUMBER_OF."descriptors"' <<'C'
			 NUMBER("rx_jumbo", A_NUMBER_OF("descriptors", 1, 4096), "Descriptors for jumbo frames.", ETH_RINGS, ETHTOOL_A_RINGS_RX_JUMBO, ETHTOOL_A_RINGS_RX_JUMBO_MAX),
C
  add_rows qos.c 'PARAM."rp", "clamp_tgt_rate", ' <<'C'
		PARAM("rp", "hai_rounds", A_NUMBER_OF("rounds", 1, 31), "Rounds of hyper-active increase.", "rp_hai_rounds"),
C
  add_rows sriov.c 'KEY."msix"' <<'C'
		KEY("rss_query", &spec_bool, "Whether a VF may ask for its RSS key.", .item = VF_SETTING(VF_SWITCH, IFLA_VF_RSS_QUERY_EN)),
C
  add_rows pcie.c 'SETTING."aspm"' <<'C'
		SETTING("completion_timeout", A_NUMBER_OF("ranges", 0, 14), "Range of the completion timeout.", PCI_BITS(PCI_EXP_DEVCTL2, PCI_EXP_DEVCTL2_TIMEOUT_VALUE(15))),
C
  touch "$BATS_TEST_TMPDIR/stamp"
  run -0 timeout 300 make -s -C "$tree" DEV=1 all
  [[ $output != *warning* ]]
  run -0 find "$tree/build" -name '*.o' -newer "$BATS_TEST_TMPDIR/stamp" -printf '%f\n'
  [ "$(sort <<<"$output" | tr '\n' ' ')" = "link.o pcie.o qos.o sriov.o " ]

  # a machine with the kernel's rules, its files beside those that it has
  railhead=$tree/build/railhead
  sim_tree "$sim"
  for netdev in "$sim"/node/sys/class/net/*; do
    put "$netdev/group" 0
    put "$netdev/ecn/roce_rp/hai_rounds" 5
  done
  sku=$sim/node/etc/railhead/profiles/sku.yaml
  mkdir -p "$(dirname "$sku")"
  cat >"$sku" <<'Y'
schema: 1
name: sku
match: {dmi: {sys_vendor: Simulated}}
devices: {rails: {pci: "15b3:1021"}}
link: {rails: {group: 7, rings: {rx_jumbo: 512}}}
pcie: {rails: {completion_timeout: 6}}
qos: {rails: {dcqcn: {rp: {hai_rounds: 9}}}}
Y
  pf=${PFS[0]}
  sim_start </dev/null
  run -0 "$railhead" check "$sku"
  for key in link.rails.group link.rails.rings.rx_jumbo pcie.rails.completion_timeout \
    qos.rails.dcqcn.rp.hai_rounds; do
    run -0 "$railhead" explain "$key"
  done
  "$railhead" check --schema | jq -e '[.. | .rx_jumbo?, .completion_timeout? | select(.) | .maximum] == [4096, 14]'
  "$railhead" survey --root "$root" --snapshot "$BATS_TEST_TMPDIR/node.tar"
  for node in "$BATS_TEST_TMPDIR/node.tar" "$root"; do
    run -5 "$railhead" plan --root "$node" --profile "$sku"
    [[ $output == *"link/$pf/group "*"'0' -> '7'"*"link/$pf/rings "*"'unknown' -> 'rx_jumbo 512'"* ]]
    [[ $output == *"pcie/$pf/completion_timeout "*"'0' -> '6'"* ]]
    [[ $output == *"qos/$pf/dcqcn/rp/hai_rounds "*"'5' -> '9'"* ]]
  done
  # rings go by netlink, which answers for the running machine alone
  run -0 "$railhead" apply --stage devices --root "$root"
  for pf in "${PFS[@]}"; do
    [ "$(cat "$root/sys/bus/pci/devices/$pf"/net/*/group)" = 7 ]
    [ "$(cat "$root/sys/bus/pci/devices/$pf"/net/*/ecn/roce_rp/hai_rounds)" = 9 ]
    [ "$(od -An -tx2 -j 104 -N 2 "$root/sys/bus/pci/devices/$pf/config")" = " 0006" ]
  done
  written=$(sim_writes | wc -l)
  run -0 "$railhead" apply --stage devices --root "$root"
  [[ $output == *"0 set"* ]]
  [ "$(sim_writes | wc -l)" = "$written" ]
  sim_stop
  echo 'sriov: {rails: {vfs: 1, vf: {rss_query: true}}}' >>"$sku"
  run -5 "$railhead" plan --root "$sim/node"
  [[ $output == *"sriov/${PFS[0]}/vf0/address "*"'rss_query on'"* ]]

  run -1 "$tree/tests/lint/keys"
  [[ $output == *"make keys"* ]]
  run -0 "$tree/tests/lint/keys" --write
  [ "$(grep -A 2 '^\.It Cm link\.SET\.group$' "$tree/packaging/man/railhead.profile.5" | tail -n 2)" = \
    $'Group of the netdev.\nA number of groups, 0 to 1000.' ]
  grep -qF '| sriov.SET.vf.rss_query | none | |' "$tree/docs/evidence.md"
  run -0 "$tree/tests/lint/keys"

  sed -i 's/completion_timeout: 6/completion_timeout: 15/' "$sku"
  run -3 "$railhead" check "$sku"
  [[ $output == *"pcie.rails.completion_timeout: "*"must be 0 to 14"* ]]
}
