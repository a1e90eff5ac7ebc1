/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contradictions: qos of one set. Facts: IEEE 802.1Q (ETS, PFC), the kernel's dcbnl
 * and drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c.
 */
#include "profile/rules.h"

#include <string.h>

enum { DSCPS = 64 };

#define EACH(name) \
	static void name(struct ruling *r, const struct selector *s, const struct ynode *view)

static unsigned long long line_of(const struct ynode *n)
{
	return n ? n->at.line : 0;
}

/* --- qos: what it applies to -------------------------------------------------------------- */

EACH(dcb_is_of_ethernet)
{
	if (set_is_infiniband(r, s) && tree_get(view, "qos"))
		set_error(r, s, view, "qos",
			  "these are InfiniBand ports, and DCB is Ethernet's; the subnet manager "
			  "has their service levels");
}

/* --- qos: DSCPs --------------------------------------------------------------------------- */

EACH(trust_uses_the_map)
{
	const struct ynode *trust = tree_get(view, "qos.trust");

	if (streq(scalar(trust), "pcp") && count(tree_get(view, "qos.dscp_map"), YAML_MAP))
		set_error(
			r, s, view, "qos.dscp_map",
			"with trust: pcp (line %llu) nobody looks at a packet's DSCP; write trust: "
			"dscp or drop the map",
			line_of(trust));
}

/* What dscp_map makes of a DSCP: the value's node, or NULL. */
static const struct ynode *mapped(const struct ynode *map, unsigned int dscp, size_t before)
{
	for (size_t i = 0; i < count(map, YAML_MAP) && i < before; i++) {
		const struct cpus *dscps = ynode_cpus(map->keys.v[i]);

		if (dscps && cpus_has(dscps, dscp))
			return map->items.v[i];
	}
	return NULL;
}

EACH(dscps_go_one_way)
{
	const struct ynode *map = tree_get(view, "qos.dscp_map");
	cleanup_free char *key = set_key(r, s, "qos.dscp_map");

	for (size_t i = 0; i < count(map, YAML_MAP); i++) {
		const struct cpus *dscps = ynode_cpus(map->keys.v[i]);

		for (int d = dscps ? cpus_next(dscps, -1) : -1; d >= 0 && d < DSCPS;
		     d = cpus_next(dscps, d)) {
			const struct ynode *first = mapped(map, (unsigned int)d, i);

			if (!first || streq(scalar(first), scalar(map->items.v[i])))
				continue;
			rule_error(r, map->keys.v[i], key,
				   "DSCP %d goes to priority %.10s already at %u:%u; name it once",
				   d, scalar(first), first->at.line, first->at.col);
			break;
		}
	}
}

/* RDMA's own DSCP must come out in a priority that PFC stops, if PFC is there at all. */
static void want_lossless(struct ruling *r, const struct selector *s, const struct ynode *view,
			  const char *path)
{
	const struct ynode *pfc = tree_get(view, "qos.pfc"), *to;
	uint64_t tos;

	if (!count(pfc, YAML_LIST) || !ynode_number(tree_get(view, path), &tos))
		return;
	to = mapped(tree_get(view, "qos.dscp_map"), (unsigned int)(tos >> 2), SIZE_MAX);
	if (*scalar(to) && !list_has(pfc, to->text))
		set_error(r, s, view, path,
			  "its DSCP, %llu, goes to priority %.10s by dscp_map (line %llu), which "
			  "pfc (line %llu) does not list; make the three agree",
			  (unsigned long long)(tos >> 2), to->text, line_of(to), line_of(pfc));
}

EACH(rdma_is_lossless)
{
	want_lossless(r, s, view, "qos.roce_tos");
	want_lossless(r, s, view, "qos.traffic_class");
}

EACH(traffic_class_forces_all)
{
	const struct ynode *forced = tree_get(view, "qos.traffic_class");
	const struct ynode *tos = tree_get(view, "qos.roce_tos");

	if (*scalar(forced) && *scalar(tos) && !streq(forced->text, tos->text))
		set_warn(r, s, view, "qos.roce_tos",
			 "traffic_class: %.10s (line %llu) is forced upon all queue pairs, so that "
			 "this default is never used; drop one of the two",
			 forced->text, line_of(forced));
}

/* --- qos: classes and buffers ------------------------------------------------------------- */

static const char *scheduling_of(const struct ynode *view, const char *class)
{
	const struct ynode *map = tree_get(view, "qos.ets.scheduling");

	return map && map->kind == YAML_MAP ? ynode_text(map, class, "") : "";
}

EACH(bandwidth_is_of_ets)
{
	const struct ynode *shares = tree_get(view, "qos.ets.bandwidth");
	cleanup_free char *key = set_key(r, s, "qos.ets.bandwidth");

	for (size_t i = 0; i < count(shares, YAML_MAP); i++) {
		const char *class = shares->keys.v[i]->text;
		const char *how = scheduling_of(view, class);

		if (*how && !streq(how, "ets") && !streq(scalar(shares->items.v[i]), "0%"))
			rule_error(r, shares->items.v[i], key,
				   "class %.10s is %.10s, which has no share; write 0%% or "
				   "scheduling: ets",
				   class, how);
	}
}

EACH(bandwidth_is_all)
{
	const struct ynode *shares = tree_get(view, "qos.ets.bandwidth");
	uint64_t sum = 0, share;

	for (size_t i = 0; i < count(shares, YAML_MAP); i++) {
		if (!ynode_number(shares->items.v[i], &share))
			return;
		sum += share;
	}
	if (count(shares, YAML_MAP) && sum != 100)
		set_error(r, s, view, "qos.ets.bandwidth",
			  "the shares sum up to %llu%%; drivers take 100%% and nothing else",
			  (unsigned long long)sum);
}

EACH(buffers_have_sizes)
{
	const struct ynode *to = tree_get(view, "qos.buffers.priorities");
	const struct ynode *sizes = tree_get(view, "qos.buffers.sizes");
	cleanup_free char *key = set_key(r, s, "qos.buffers.priorities");

	for (size_t i = 0; sizes && i < count(to, YAML_MAP); i++)
		if (*scalar(to->items.v[i]) && !ynode_get(sizes, to->items.v[i]->text))
			rule_error(r, to->items.v[i], key,
				   "buffer %.10s has no size; add it to sizes: (line %llu)",
				   to->items.v[i]->text, line_of(sizes));
}

EACH(rates_of_dcqcn_are_in_order)
{
	uint64_t min, max;

	if (!ynode_number(tree_get(view, "qos.dcqcn.rp.rpg_min_rate"), &min) ||
	    !ynode_number(tree_get(view, "qos.dcqcn.rp.rpg_max_rate"), &max))
		return;
	/* 0 is the line's rate */
	if (max && min > max)
		set_error(r, s, view, "qos.dcqcn.rp.rpg_min_rate", "above rpg_max_rate: %.40s",
			  scalar(tree_get(view, "qos.dcqcn.rp.rpg_max_rate")));
}

static const struct set_rule each_set[] = {
	{"dcb-is-of-ethernet", dcb_is_of_ethernet},
	{"trust-uses-the-map", trust_uses_the_map},
	{"dscps-go-one-way", dscps_go_one_way},
	{"rdma-is-lossless", rdma_is_lossless},
	{"traffic-class-forces-all", traffic_class_forces_all},
	{"bandwidth-is-of-ets", bandwidth_is_of_ets},
	{"bandwidth-is-all", bandwidth_is_all},
	{"buffers-have-sizes", buffers_have_sizes},
	{"rates-of-dcqcn-are-in-order", rates_of_dcqcn_are_in_order},
	NO_MORE_SET_RULES,
};

static void sets_are_consistent(struct ruling *r)
{
	rule_each_set(r, each_set);
}

const struct rule rules_network[] = {
	RULE_OF_WHOLE("sets-are-consistent", sets_are_consistent),
	NO_MORE_RULES,
};
