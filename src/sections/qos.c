/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qos: what is lossless and how congestion is met, of each PF of a set. In one lane, in the order
 * that the settings need: who decides, classes and buffers, PFC, trust, DCQCN's parameters and
 * then DCQCN itself, and last what RDMA asks the network for.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/language.h"
#include "sections/overlay.h"

enum { PRIORITIES = 8, DSCPS = 64 };

struct port {
	const struct section_ctx *ctx;
	const struct ynode *section;
	const struct pci_fn *fn;
	struct plan *plan;
};

static const struct ynode *value_of(const struct port *p, const char *path)
{
	return overlay_value(p->ctx, p->section, p->fn, path);
}

static struct change *add(const struct port *p, const struct kind *kind, const struct ynode *at,
			  const char *id)
{
	struct change *c = plan_add(p->plan, "qos", kind, STAGE_DEVICES, PHASE_PORT, at->at,
				    "qos/%s/%s", p->fn->addr, id);

	change_lane(c, "%s", p->fn->addr);
	return c;
}

static void add_dcb(const struct port *p, const struct ynode *at, const char *key,
		    const char *desired)
{
	struct change *c = add(p, &kind_netlink, at, key);

	change_target(c, "dcb:%s/%s", p->fn->addr, key);
	change_desired(c, "%s", desired);
	c->parallel = 1; /* rtnl is one: see link.c */
}

/* --- words ------------------------------------------------------------------------------------ */

/* [3, 0] -> "0 3"; [] -> "none" */
static void add_priorities(const struct ynode *list, struct str *text)
{
	for (unsigned int prio = 0; prio < PRIORITIES; prio++)
		for (size_t i = 0; i < list->items.n; i++)
			if (list->items.v[i]->value.number == prio) {
				str_addf(text, "%s%u", text->len ? " " : "", prio);
				break;
			}
	if (!text->len)
		str_add(text, "none");
}

typedef void (*add_value)(struct str *text, const struct ynode *value);

/* In base units: percent, metres, bytes, microseconds. */
static void as_number(struct str *text, const struct ynode *value)
{
	str_addf(text, "%lld", (long long)value->value.number);
}

/* {24-26: 3} -> "24:3 25:3 26:3" */
static void add_map(const struct ynode *map, struct str *text)
{
	for (unsigned int dscp = 0; dscp < DSCPS; dscp++)
		for (size_t i = 0; i < map->keys.n; i++) {
			if (!cpus_has(ynode_cpus(map->keys.v[i]), dscp))
				continue;
			str_addf(text, "%s%u:", text->len ? " " : "", dscp);
			as_number(text, map->items.v[i]);
			break;
		}
}

static void as_word(struct str *text, const struct ynode *value)
{
	str_add(text, value->text);
}

/* {0: 10%, 3: 90%} -> "bandwidth 0:10 3:90"; the first map's place is the change's. */
static void add_section(const struct port *p, const char *path, const char *name, add_value add_one,
			struct str *text, const struct ynode **at)
{
	const struct ynode *map = value_of(p, path);

	if (!map || !map->keys.n)
		return;
	if (!*at)
		*at = map;
	str_addf(text, "%s%s", text->len ? " " : "", name);
	for (unsigned int key = 0; key < PRIORITIES; key++)
		for (size_t i = 0; i < map->keys.n; i++) {
			if (map->keys.v[i]->value.number != key)
				continue;
			str_addf(text, " %u:", key);
			add_one(text, map->items.v[i]);
		}
}

/* --- DCB -------------------------------------------------------------------------------------- */

static void emit_buffers(const struct port *p)
{
	cleanup_str struct str text = {0};
	const struct ynode *at = NULL;

	add_section(p, "buffers.sizes", "sizes", as_number, &text, &at);
	add_section(p, "buffers.priorities", "priorities", as_number, &text, &at);
	if (at)
		add_dcb(p, at, "buffers", text.s);
}

static void emit_ets(const struct port *p)
{
	cleanup_str struct str text = {0};
	const struct ynode *at = NULL;

	add_section(p, "ets.priorities", "priorities", as_number, &text, &at);
	add_section(p, "ets.scheduling", "scheduling", as_word, &text, &at);
	add_section(p, "ets.bandwidth", "bandwidth", as_number, &text, &at);
	if (at)
		add_dcb(p, at, "ets", text.s);
}

/* bnxt_en does not look at a packet's own mark for RoCE: it is told the one lossless priority. */
static void emit_pfc(const struct port *p)
{
	const struct ynode *cable = value_of(p, "cable_length"), *pfc = value_of(p, "pfc");
	cleanup_str struct str text = {0}, metres = {0};

	if (cable) { /* first: the thresholds of a lossless buffer follow from it */
		as_number(&metres, cable);
		add_dcb(p, cable, "cable_length", metres.s);
	}
	if (!pfc)
		return;
	add_priorities(pfc, &text);
	add_dcb(p, pfc, "pfc", text.s);
	if (pfc->items.n == 1 && p->fn->driver && streq(p->fn->driver, "bnxt_en"))
		add_dcb(p, pfc, "roce_priority", text.s);
}

/* The map first: with its first entry most drivers trust DSCPs, and need no other. */
static void emit_trust(const struct port *p)
{
	const struct ynode *map = value_of(p, "dscp_map"), *trust = value_of(p, "trust");
	cleanup_str struct str text = {0};

	if (map && map->keys.n) {
		add_map(map, &text);
		add_dcb(p, map, "dscp_map", text.s);
	}
	if (trust)
		add_dcb(p, trust, "trust", trust->text);
}

/* Where the first of these keys stands; NULL: DCB is left alone. */
static const struct ynode *dcb_of(const struct port *p)
{
	static const char *const keys[] = {"trust", "dscp_map", "pfc",
					   "ets",   "buffers",	"cable_length"};
	const struct ynode *at = NULL;

	for (size_t i = 0; !at && i < array_len(keys); i++)
		at = value_of(p, keys[i]);
	return at;
}

static void emit_dcb(const struct port *p)
{
	const struct ynode *at = dcb_of(p);

	if (!at)
		return;
	add_dcb(p, at, "dcbx", "host");
	emit_buffers(p);
	emit_ets(p);
	emit_pfc(p);
	emit_trust(p);
}

/* A program that may have a word of its own harms nothing by being there: see what is read. */
static void emit_lldpad(const struct ynode *at, struct plan *plan)
{
	struct change *c = plan_add(plan, "qos", &kind_netlink, STAGE_DEVICES, PHASE_PORT, at->at,
				    "qos/lldpad");

	change_target(c, "lldpad");
	change_desired(c, "absent");
	c->optional = true;
}

/* --- RDMA ------------------------------------------------------------------------------------- */

static void as_mbit(struct str *text, const struct ynode *value)
{
	str_addf(text, "%lld", (long long)(value->value.number / MEGABIT));
}

/* In the units of the drivers' files. */
static const struct {
	const char *path;
	add_value how;
} params[] = {
	{"np.cnp_dscp", as_number},
	{"np.cnp_802p_prio", as_number},
	{"np.min_time_between_cnps", as_number},
	{"rp.clamp_tgt_rate", as_number},
	{"rp.clamp_tgt_rate_after_time_inc", as_number},
	{"rp.rpg_time_reset", as_number},
	{"rp.rpg_byte_reset", as_number},
	{"rp.rpg_threshold", as_number},
	{"rp.rpg_max_rate", as_mbit},
	{"rp.rpg_ai_rate", as_mbit},
	{"rp.rpg_hai_rate", as_mbit},
	{"rp.rpg_min_dec_fac", as_number},
	{"rp.rpg_min_rate", as_mbit},
	{"rp.rate_to_set_on_first_cnp", as_mbit},
	{"rp.dce_tcp_g", as_number},
	{"rp.dce_tcp_rtt", as_number},
	{"rp.rate_reduce_monitor_period", as_number},
	{"rp.initial_alpha_value", as_number},
	{"rp.rpg_gd", as_number},
};

static void emit_param(const struct port *p, const char *path, add_value how)
{
	cleanup_free char *full = xasprintf("dcqcn.%s", path);
	cleanup_free char *id = xasprintf("dcqcn/%.2s/%s", path, path + 3);
	const struct ynode *value = value_of(p, full);
	cleanup_str struct str text = {0};
	struct change *c;

	if (!value)
		return;
	how(&text, value);
	c = add(p, &kind_roce, value, id);
	change_target(c, "dcqcn:%s/%s", p->fn->addr, id + strlen("dcqcn/"));
	change_desired(c, "%s", text.s);
	/* of DOCA-OFED's mlx5 */
	change_file(c, "/sys/bus/pci/devices/%s/net/*/ecn/roce_%s", p->fn->addr,
		    id + strlen("dcqcn/"));
}

static void emit_dcqcn(const struct port *p)
{
	const struct ynode *priorities = value_of(p, "dcqcn.priorities");
	cleanup_str struct str text = {0};
	struct change *c;

	for (size_t i = 0; i < array_len(params); i++)
		emit_param(p, params[i].path, params[i].how);
	if (!priorities)
		return;
	add_priorities(priorities, &text);
	c = add(p, &kind_roce, priorities, "dcqcn/priorities");
	change_target(c, "dcqcn:%s/priorities", p->fn->addr);
	change_desired(c, "%s", text.s);
	change_file(c, "/sys/bus/pci/devices/%s/net/*/ecn/roce_*/enable/*", p->fn->addr);
}

static void emit_byte(const struct port *p, const char *key, const char *target)
{
	const struct ynode *value = value_of(p, key);
	cleanup_str struct str text = {0};
	struct change *c;

	if (!value)
		return;
	as_number(&text, value);
	c = add(p, &kind_roce, value, key);
	change_target(c, "%s:%s", target, p->fn->addr);
	change_desired(c, "%s", text.s);
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	const struct ynode *dcb = NULL;
	struct fn_list fns = {0};

	(void)err;
	overlay_functions(ctx, section, &fns);
	for (size_t i = 0; i < fns.n; i++) {
		struct port p = {ctx, section, fns.v[i], plan};

		if (!dcb && (dcb = dcb_of(&p)))
			emit_lldpad(dcb, plan);
		emit_dcb(&p);
		emit_dcqcn(&p);
		emit_byte(&p, "roce_tos", "tos");
		emit_byte(&p, "traffic_class", "traffic_class");
	}
	vec_free(&fns);
	return 0;
}

const struct section section_qos = {
	.name = "qos",
	.spec = &spec_qos,
	.help = "Priorities, lossless classes and congestion control of Ethernet ports.",
	.class = KEY_SETS,
	.awaits_netdevs = true,
	.knobs = true,
	.emit = emit,
};
