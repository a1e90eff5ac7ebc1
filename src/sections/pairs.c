/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs: each NIC must have a GPU of its own nearby. This is topology, so the section judges it
 * itself.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/checks.h"
#include "node/nearness.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "sections/judged.h"
#include "sections/pairs.h"

/* In the order of enum nearness. */
static const struct spec nearness =
	ONE_OF("a nearness", MEANS("pcie_switch", "below one PCIe switch"),
	       MEANS("root_port", "below one root port"), MEANS("numa_node", "at one NUMA node"));
/* In the order of enum p2p_wish. */
static const struct spec p2p_wish = ONE_OF(
	"a path between NIC and GPU",
	MEANS("direct", "directly through the bridges between them: for containers and bare metal"),
	MEANS("translated", "directly, once the IOMMU has translated addresses (ATS)"),
	MEANS("isolated", "through the root complex and the IOMMU: for VMs"));
static const struct spec acs_mode =
	ONE_OF("a way to treat ACS", MEANS("judge", "ACS is checked and never set"),
	       MEANS("set", "a kernel argument sets ACS, in a trial boot"));
static const struct spec keys = MAP(
	"a map such as {nics: rails, gpus: gpus, within: pcie_switch}",
	KEY("nics", &spec_set_name, "Set of NICs.", .flags = FIELD_REQUIRED, .class = KEY_SELECTS),
	KEY("gpus", &spec_set_name, "Set of GPUs.", .flags = FIELD_REQUIRED, .class = KEY_SELECTS),
	KEY("within", &nearness, "Distance within which each NIC must have a GPU of its own.",
	    .flags = FIELD_REQUIRED),
	KEY("p2p", &p2p_wish,
	    "Path that traffic between each NIC and its GPU must take: direct, direct once the "
	    "IOMMU has translated it, or through the IOMMU; default: not judged."),
	KEY("acs", &acs_mode,
	    "Whether a kernel argument sets the ACS of the bridges on the path as p2p requires, or "
	    "ACS is only judged; default: judge.",
	    .class = KEY_SETS));

/* --- changes ------------------------------------------------------------------------------ */

/* The NIC that the GPU is paired with, or NULL. */
static const struct pci_fn *owner_of(const struct pairs *pairs, const struct pci_fn *gpu)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (pairs->v[i].gpu == gpu)
			return pairs->v[i].nic;
	return NULL;
}

static char *remedy(const struct pairs *pairs, const struct pair *p, const char *within)
{
	const struct pci_fn *owner = p->nearest ? owner_of(pairs, p->nearest) : NULL;
	struct str text = {0};

	if (!p->nearest) {
		str_add(&text, "no GPU of the set is on the bus: see `lspci -Dnn`");
		return str_take(&text);
	}
	str_addf(&text, "no GPU within %s is left for %s: the nearest is %s (%s)", within,
		 p->nic->addr, p->nearest->addr, nearness_name(p->nearest_how));
	if (owner && owner != p->nic)
		str_addf(&text, ", which goes with %s", owner->addr);
	if (!p->mover)
		str_add(&text, ", as seen from the NIC: a Data Direct function may move its data, "
			       "and the VPD that would tell cannot be read (run as root)");
	str_add(&text, "; see which slots the cards are in, and `railhead survey` for all pairs");
	return str_take(&text);
}

static void judge(struct plan *plan, const struct ynode *within, const struct pairs *pairs,
		  const struct pair *p)
{
	cleanup_free char *id = xasprintf("pairs/%s", p->nic->addr);
	cleanup_free char *why = remedy(pairs, p, within->text);
	bool data_direct = p->mover && p->mover != p->nic;
	char *observed = p->gpu ? xasprintf("%s, %s%s%s", p->gpu->addr, nearness_name(p->how),
					    data_direct ? " by Data Direct " : "",
					    data_direct ? p->mover->addr : "")
				: xstrdup("no GPU");

	judged(plan, "pairs", within->at, id, within->text, observed, pair_is_near(p, within), why);
}

static void add_way(struct plan *plan, const struct ynode *section, const struct pairs *pairs,
		    const struct pair *p)
{
	const struct ynode *within = ynode_get(section, "within");
	const struct ynode *p2p = ynode_get(section, "p2p");
	struct change *c = plan_add(plan, "pairs", &kind_check, STAGE_GATE, PHASE_CHECK, p2p->at,
				    "pairs/%s/p2p", p->nic->addr);

	change_on(c, p->nic->addr, &p2p_item);
	if (pairs_set_acs(section))
		c->on.node = ynode_get(section, "acs");
	change_want(c, p2p);
	change_target(c, "p2p:%s,%s", p->nic->addr, p->gpu->addr);
	c->of_args = true;
	for (size_t i = 0; i < pairs->n; i++) {
		const struct pair *of = &pairs->v[i];

		if (!pair_is_near(of, within))
			continue;
		change_part(c, of->nic->addr, NULL, NULL);
		change_part(c, of->mover ? of->mover->addr : "", NULL, NULL);
		change_part(c, of->gpu->addr, NULL, NULL);
	}
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	const struct device_set *nics =
		device_sets_find(ctx->sets, ynode_text(section, "nics", ""));
	const struct device_set *gpus =
		device_sets_find(ctx->sets, ynode_text(section, "gpus", ""));
	const struct ynode *within = ynode_get(section, "within");
	const struct ynode *p2p = ynode_get(section, "p2p");
	struct pairs pairs = {0};

	if (!nics || !gpus || !within) /* check has rejected the profile */
		return;
	if (!gpus->fn.n && device_set_holds(gpus)) /* its expect: allows an empty set */
		return;
	pairs_find(ctx->root, ctx->node, nics->fn.v, nics->fn.n, gpus->fn.v, gpus->fn.n, &pairs);
	for (size_t i = 0; i < pairs.n; i++) {
		judge(plan, within, &pairs, &pairs.v[i]);
		if (p2p && pair_is_near(&pairs.v[i], within))
			add_way(plan, section, &pairs, &pairs.v[i]);
	}
	vec_free(&pairs);
}

/* --- rules -------------------------------------------------------------------------------- */

static void pairs_are_of_two(struct ruling *r)
{
	const struct ynode *pairs = section(r, "pairs"), *gpus = ynode_get(pairs, "gpus");

	if (*scalar(gpus) && streq(gpus->text, ynode_text(pairs, "nics", "")))
		rule_error(r, gpus, "pairs.gpus", "nics: names the same set; name the GPUs' set");
}

/* Only the root complex joins two root ports. */
static void straight_needs_a_bridge(struct ruling *r)
{
	const struct ynode *pairs = section(r, "pairs"), *p2p = ynode_get(pairs, "p2p");

	if (!text_is(pairs, "within", "numa_node") ||
	    !(text_is(pairs, "p2p", "direct") || text_is(pairs, "p2p", "translated")))
		return;
	rule_error(r, p2p, "pairs.p2p",
		   "%s: only a bridge above both can send traffic directly, and within: numa_node "
		   "accepts pairs without one; write within: pcie_switch, or p2p: isolated",
		   p2p->text);
}

static void isolation_needs_an_iommu(struct ruling *r)
{
	const struct ynode *pairs = section(r, "pairs"), *p2p = ynode_get(pairs, "p2p");
	const struct ynode *iommu = ynode_get(section(r, "kernel_args"), "iommu");

	if (!*scalar(p2p) || streq(p2p->text, "direct") || !streq(scalar(iommu), "disabled"))
		return;
	rule_error(r, p2p, "pairs.p2p",
		   "%s: needs the IOMMU that kernel_args.iommu at %s turns off; write iommu: "
		   "lazy, strict or passthrough",
		   p2p->text, seen(r, iommu));
}

/* Whether a kernel argument of the profile sets ACS bits. */
static bool sets_acs(struct ruling *r)
{
	const struct ynode *set = set_list(r);

	for (size_t i = 0; i < count(set, YAML_LIST); i++) {
		const char *arg = scalar(set->items.v[i]);

		if (arg_is(arg, "pci") &&
		    (strstr(arg, "config_acs=") || strstr(arg, "disable_acs_redir=")))
			return true;
	}
	return false;
}

/*
 * With an IOMMU the kernel sets source validation, redirects and upstream forwarding on each port
 * that supports them (pci_request_acs() of drivers/iommu/intel/dmar.c and drivers/iommu/amd/init.c,
 * pci_std_enable_acs() of drivers/pci/pci.c), even where iommu=pt passes DMA through untranslated.
 */
static void an_iommu_redirects(struct ruling *r)
{
	const struct ynode *p2p = ynode_get(section(r, "pairs"), "p2p");
	const struct ynode *iommu = ynode_get(section(r, "kernel_args"), "iommu");

	if (!text_is(section(r, "pairs"), "p2p", "direct") || !*scalar(iommu) ||
	    streq(scalar(iommu), "disabled") || sets_acs(r) || pairs_set_acs(section(r, "pairs")))
		return;
	rule_warn(r, p2p, "pairs.p2p",
		  "direct: with iommu: %s at %s the kernel turns ACS redirect on at each port "
		  "that has it; write acs: set, or the argument that `railhead verify` on the node "
		  "prints to kernel_args.set",
		  scalar(iommu), seen(r, iommu));
}

/* Ports that do not redirect do not isolate (REQ_ACS_FLAGS in drivers/iommu/iommu.c). */
static void straight_shares_groups(struct ruling *r)
{
	const struct ynode *pairs = section(r, "pairs");
	const struct ynode *checks = ynode_get(section(r, "gate"), "checks");

	if (!text_is(pairs, "p2p", "direct") || !text_is(pairs, "within", "pcie_switch"))
		return;
	for (size_t i = 0; i < count(checks, YAML_MAP); i++) {
		const struct ynode *check = checks->items.v[i];
		bool vfs;
		const char *set = set_name_in(ynode_text(check, "on", ""), &vfs);

		if (!text_is(check, "run", "iommu_groups") ||
		    !ynode_bool(check, "isolated", false) ||
		    !(text_is(pairs, "nics", set) || text_is(pairs, "gpus", set)))
			continue;
		rule_error(
			r, ynode_get(check, "isolated"), "gate.checks",
			"isolated: pairs.p2p: direct at %s puts each function below a switch "
			"into the IOMMU group of its port; write p2p: translated or isolated, or "
			"drop isolated",
			seen(r, ynode_get(pairs, "p2p")));
	}
}

/*
 * The set needs an exact or minimum size, because a lost function must not change the arguments and
 * so reboot the node.
 */
static void set_is_counted(struct ruling *r, const struct ynode *pairs, const char *key)
{
	const char *name = ynode_text(pairs, key, "");
	const struct selector *set = find_set(r, name);

	if (set && set->expect < 0)
		rule_error(r, ynode_get(pairs, "acs"), "pairs.acs",
			   "set: requires a known number of %s; write it in devices.%s.expect", key,
			   name);
}

static void setting_acs_needs(struct ruling *r)
{
	const struct ynode *pairs = section(r, "pairs"), *acs = ynode_get(pairs, "acs");

	if (!pairs_set_acs(pairs))
		return;
	if (!ynode_get(pairs, "p2p"))
		rule_error(r, acs, "pairs.acs",
			   "set: p2p is missing, which selects the ACS bits; write p2p: direct, "
			   "translated or isolated");
	if (sets_acs(r))
		rule_error(r, acs, "pairs.acs",
			   "set: kernel_args.set has an argument for ACS, too, and the kernel uses "
			   "only the last; drop one of the two");
	set_is_counted(r, pairs, "nics");
	set_is_counted(r, pairs, "gpus");
}

static const struct rule rules[] = {
	RULE("pairs-are-of-two", pairs_are_of_two),
	RULE("pairs-p2p-needs-a-bridge", straight_needs_a_bridge),
	RULE_OF_WHOLE("pairs-p2p-needs-an-iommu", isolation_needs_an_iommu),
	RULE("pairs-p2p-shares-groups", straight_shares_groups),
	RULE_OF_WHOLE("pairs-p2p-and-an-iommu", an_iommu_redirects),
	RULE_OF_WHOLE("pairs-acs-needs", setting_acs_needs),
	NO_MORE_RULES,
};

const struct section section_pairs = {
	.name = "pairs",
	.spec = &keys,
	.help = "NICs, and the GPUs that must be near them.",
	.class = KEY_JUDGES,
	.differs = FAULT_PCI_PAIRS,
	.failed = FAULT_PCI_PAIRS,
	.rules = rules,
	.emit = emit,
	.kargs = pairs_kargs,
	.needs = pairs_needs,
};
