/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs: each NIC is to have a GPU of its own, and near. Topology, so the section judges it itself.
 */
#include "base/mem.h"
#include "base/str.h"
#include "node/nearness.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "sections/judged.h"

/* In the order of enum nearness. */
static const struct spec nearness = {
	.what = "a nearness",
	.check = value_word,
	.words = WORDS("pcie_switch", "root_port", "numa_node"),
};
static const struct spec keys = {
	.kind = SPEC_MAP,
	.what = "a map such as {nics: rails, gpus: gpus, within: pcie_switch}",
	.fields = FIELDS(KEY("nics", &spec_set_name, "Set of NICs.", .flags = FIELD_REQUIRED,
			     .class = KEY_SELECTS),
			 KEY("gpus", &spec_set_name, "Set of GPUs.", .flags = FIELD_REQUIRED,
			     .class = KEY_SELECTS),
			 KEY("within", &nearness,
			     "Distance within which each NIC must have a GPU of its own.",
			     .flags = FIELD_REQUIRED)),
};

/* --- changes ------------------------------------------------------------------------------ */

/* Whose own a GPU is, or NULL. */
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
	str_add(&text, "; see which slots the cards are in, and `railhead survey` for all pairs");
	return str_take(&text);
}

static void judge(struct plan *plan, const struct ynode *within, const struct pairs *pairs,
		  const struct pair *p)
{
	cleanup_free char *id = xasprintf("pairs/%s", p->nic->addr);
	cleanup_free char *why = remedy(pairs, p, within->text);
	char *observed = p->gpu ? xasprintf("%s, %s", p->gpu->addr, nearness_name(p->how))
				: xstrdup("no GPU");

	judged(plan, "pairs", within->at, id, within->text, observed,
	       p->gpu && p->how <= (enum nearness)within->value.number, why);
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	const struct device_set *nics =
		device_sets_find(ctx->sets, ynode_text(section, "nics", ""));
	const struct device_set *gpus =
		device_sets_find(ctx->sets, ynode_text(section, "gpus", ""));
	const struct ynode *within = ynode_get(section, "within");
	struct pairs pairs = {0};

	(void)err;
	if (!nics || !gpus || !within) /* the profile's check has refused it */
		return 0;
	if (!gpus->fn.n && device_set_holds(gpus)) /* its expect lets it be absent */
		return 0;
	pairs_find(ctx->root, nics->fn.v, nics->fn.n, gpus->fn.v, gpus->fn.n, &pairs);
	for (size_t i = 0; i < pairs.n; i++)
		judge(plan, within, &pairs, &pairs.v[i]);
	vec_free(&pairs);
	return 0;
}

/* --- rules -------------------------------------------------------------------------------- */

static void pairs_are_of_two(struct ruling *r)
{
	const struct ynode *pairs = section(r, "pairs"), *gpus = ynode_get(pairs, "gpus");

	if (*scalar(gpus) && streq(gpus->text, ynode_text(pairs, "nics", "")))
		rule_error(r, gpus, "pairs.gpus", "nics: names the same set; name the GPUs' set");
}

static const struct rule rules[] = {
	RULE("pairs-are-of-two", pairs_are_of_two),
	NO_MORE_RULES,
};

const struct section section_pairs = {
	.name = "pairs",
	.spec = &keys,
	.help = "NICs and the GPUs that they must be near to.",
	.class = KEY_JUDGES,
	.differs = FAULT_PCI_PAIRS,
	.failed = FAULT_PCI_PAIRS,
	.rules = rules,
	.emit = emit,
};
