/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qos: lossless classes and congestion control of each function of a set. All changes of a function
 * are in one lane, in the order of the rows, which the settings need: DCBX, buffers and classes,
 * PFC, trust, DCQCN's parameters, DCQCN itself, and last the marks of RDMA's packets. Sources: IEEE
 * 802.1Q (ETS, PFC), the kernel's dcbnl and drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c. The
 * firmware may reject values within a range (DCQCN); its message is passed on.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/dcb.h"
#include "kinds/roce.h"
#include "node/drivers.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"
#include "sections/members.h"

/* --- DCB: classes ----------------------------------------------------------------------------- */

static const struct spec prio = INT("a priority", 0, DCB_PRIORITIES - 1);
static const struct spec prio_list = LIST_OF("a list of priorities, such as [3]", prio, ITEM_TEXT);
static const struct spec class = INT("a traffic class", 0, DCB_PRIORITIES - 1);
static const struct spec prio_to_class = MAP_OF(
	"PRIORITY", "a map of priorities to traffic classes, such as {0: 0, 3: 3}", prio, class);
static const struct spec scheduling =
	ONE_OF_WORDS("a transmission selection", dcb_scheduling_words,
		     .meanings = WORDS(MEANS("ets", "its share of the bandwidth, ets.bandwidth"),
				       MEANS("strict", "before all classes with a lower number"),
				       MEANS("vendor", "as the NIC's vendor defines it")));
static const struct spec class_scheduling =
	MAP_OF("CLASS", "a map of traffic classes to ets, strict or vendor", class, scheduling);
static const struct spec percent =
	SCALAR("a share such as 50%", value_amount, "^(100|[1-9]?[0-9])%$", .units = &units_percent,
	       .min = 0, .max = 100);
static const struct spec class_shares = MAP_OF(
	"CLASS", "a map of traffic classes to shares, such as {0: 10%, 3: 90%}", class, percent);
static const struct spec ets = MAP(
	"a map (priorities, scheduling, bandwidth)",
	KEY("priorities", &prio_to_class, "Traffic class of each priority.",
	    .item = &dcb_ets_priorities),
	KEY("scheduling", &class_scheduling,
	    "Transmission selection of traffic classes; classes that are not named keep theirs.",
	    .item = &dcb_ets_scheduling),
	KEY("bandwidth", &class_shares, "Share of each traffic class; the sum is 100%.",
	    .item = &dcb_ets_bandwidth));
static const struct spec buffer = INT("a buffer", 0, DCB_PRIORITIES - 1);
static const struct spec prio_to_buffer =
	MAP_OF("PRIORITY", "a map of priorities to buffers, such as {0: 0, 3: 1}", prio, buffer);
static const struct spec buffer_size =
	SIZE("a size such as 256K", 0, 1 << 30, .pattern = "^(0T|" NUMBER_OF "[KMG])$");
static const struct spec buffer_sizes = MAP_OF(
	"BUFFER", "a map of buffers to sizes, such as {0: 128K, 1: 512K}", buffer, buffer_size);
static const struct spec buffers =
	MAP("a map (sizes, priorities)",
	    KEY("sizes", &buffer_sizes, "Size of each receive buffer of the port.",
		.item = &dcb_buffer_sizes),
	    KEY("priorities", &prio_to_buffer, "Receive buffer of each priority.",
		.item = &dcb_buffer_priorities));
/* mlx5 treats values below 1000 as metres and ignores the rest (en_dcbnl.c). */
static const struct spec cable_length =
	SCALAR("a cable's length such as 5m", value_amount, "^[1-9][0-9]{0,2}m$",
	       .units = &units_metres, .min = 1, .max = 999);

/* --- DCB: DSCPs ------------------------------------------------------------------------------- */

static const struct spec dscp = INT("a DSCP", 0, DCB_DSCPS - 1);
static const struct spec dscps = SCALAR(
	"one DSCP or several, such as 26 or 24-31,46", value_numbers,
	"^0*[0-9]{1,2}(-0*[0-9]{1,2})?(,0*[0-9]{1,2}(-0*[0-9]{1,2})?)*$", .max = DCB_DSCPS - 1);
static const struct spec dscp_map =
	MAP_OF("DSCPS", "a map of DSCPs to priorities, such as {26: 3, 48: 6}", dscps, prio);
static const struct spec trust = ONE_OF_WORDS(
	"a trust mode", dcb_trust_words,
	.meanings = WORDS(
		MEANS("dscp", "the DSCP of the IP header, by dscp_map: RoCE v2 that is routed"),
		MEANS("pcp", "the priority of the VLAN tag")));

/* --- RDMA ------------------------------------------------------------------------------------- */

/* The whole byte, with the ECN bits: DSCP 26 with ECT(0) is 106. */
static const struct spec tos = INT("a ToS byte", 0, 255);
static const struct spec interval = DURATION("a duration such as 4us", 0, UINT32_MAX);
static const struct spec rtt = DURATION("a duration such as 1us", 1, 131071);
static const struct spec rate =
	SCALAR("a rate such as 50Mb/s", value_amount, "^" NUMBER_OF "[MG][Bb]/s$",
	       .units = &units_rate, .min = 0, .max = 1600 * GIGABIT);

/*
 * A parameter of DCQCN: keys are DOCA-OFED's names, inbox is the file of the kernel's own mlx5.
 * Files are in microseconds, percent and Mb/s. Where no range is published it is the field's range.
 */
#define PARAM(side, key, of, help, inbox, ...)                                            \
	KEY(key, of, help,                                                                \
	    .item = ROCE(ROCE_PARAM, .name = side "/" key, .shows = "roce_" side "/" key, \
			 .file[CC_DOCA].name = "roce_" side "/" key,                      \
			 .file[CC_INBOX].name = (inbox), ##__VA_ARGS__))
#define RATE(key, help, inbox) PARAM("rp", key, &rate, help, inbox, .scale = MEGABIT)

static const struct spec np =
	MAP("a map such as {cnp_dscp: 48}",
	    PARAM("np", "cnp_dscp", &dscp, "DSCP of congestion notification packets.",
		  "np_cnp_dscp", .file[CC_BNXT].name = "cnp_dscp"),
	    /*
	     * Writing it sets np_cnp_prio_mode to 0, which puts it into effect
	     * (mlx5_ib_set_cc_params()).
	     */
	    PARAM("np", "cnp_802p_prio", &prio, "VLAN priority of congestion notification packets.",
		  "np_cnp_prio", .file[CC_INBOX].guard = "np_cnp_prio_mode",
		  .file[CC_BNXT].name = "cnp_prio"),
	    PARAM("np", "min_time_between_cnps", &interval,
		  "Least time between two congestion notification packets of a flow.",
		  "np_min_time_between_cnps"));
static const struct spec rp = MAP(
	"a map of parameters of the reaction point",
	PARAM("rp", "clamp_tgt_rate", &spec_bool,
	      "Whether each notification lowers the target rate to the current rate.",
	      "rp_clamp_tgt_rate"),
	PARAM("rp", "clamp_tgt_rate_after_time_inc", &spec_bool,
	      "Whether a notification lowers the target rate after the timer raised the rate, too.",
	      "rp_clamp_tgt_rate_ati"),
	PARAM("rp", "rpg_time_reset", &interval,
	      "Time between two increases of the rate without a notification.", "rp_time_reset"),
	PARAM("rp", "rpg_byte_reset", A_NUMBER_OF("the firmware's byte units", 0, INT32_MAX),
	      "Amount sent between two increases of the rate without a notification.",
	      "rp_byte_reset"),
	PARAM("rp", "rpg_threshold", A_NUMBER_OF("rounds", 1, 31),
	      "Increases by time or bytes after which additive increase begins.", "rp_threshold"),
	RATE("rpg_max_rate", "Highest rate of a flow; 0Mb/s is the line rate.", "rp_max_rate"),
	RATE("rpg_ai_rate", "Step of additive increase.", "rp_ai_rate"),
	RATE("rpg_hai_rate", "Step of hyper-active increase.", "rp_hai_rate"),
	PARAM("rp", "rpg_min_dec_fac", &percent,
	      "Smallest part of the rate that one decrease may leave.", "rp_min_dec_fac"),
	RATE("rpg_min_rate", "Lowest rate of a flow.", "rp_min_rate"),
	RATE("rate_to_set_on_first_cnp",
	     "Rate of a flow after its first notification; 0Mb/s keeps the rate.",
	     "rp_rate_to_set_on_first_cnp"),
	PARAM("rp", "dce_tcp_g", A_NUMBER_OF("1024ths", 0, 1023),
	      "Weight of a new sample in the estimate of congestion, alpha.", "rp_dce_tcp_g"),
	PARAM("rp", "dce_tcp_rtt", &rtt, "Time between two updates of alpha.", "rp_dce_tcp_rtt"),
	PARAM("rp", "rate_reduce_monitor_period", &interval,
	      "Least time between two decreases of the rate.", "rp_rate_reduce_monitor_period"),
	PARAM("rp", "initial_alpha_value", A_NUMBER_OF("1024ths", 1, 1023),
	      "Alpha of a flow at its first notification.", "rp_initial_alpha_value"),
	PARAM("rp", "rpg_gd", A_NUMBER_OF("bits of the gain", 10, 11),
	      "Weight of alpha in a decrease, as an exponent of 2.", "rp_gd"));
static const struct spec dcqcn = MAP(
	"a map such as {priorities: [3], np: {cnp_dscp: 48}}",
	KEY("np", &np, "Parameters of the notification point."),
	KEY("rp", &rp, "Parameters of the reaction point."),
	KEY("priorities", &prio_list, "Priorities on which DCQCN is on; it is off on all others.",
	    .item = ROCE(ROCE_PRIORITIES, .shows = "roce_*/enable/*")));

/*
 * A row with an item is one change and one message; a map without an item contains such rows. trust
 * comes after dscp_map, because most drivers trust DSCPs from the map's first entry on.
 * cable_length comes before pfc, because it determines the thresholds of a lossless buffer.
 */
static const struct spec keys = MAP(
	"a map such as {trust: dscp, pfc: [3]}",
	KEY("buffers", &buffers, "Receive buffers of the port.", .item = &dcb_buffers),
	KEY("ets", &ets, "Enhanced transmission selection (802.1Qaz).", .item = &dcb_ets),
	KEY("cable_length", &cable_length,
	    "Length of the cable, from which mlx5 computes the headroom of a lossless buffer.",
	    .item = &dcb_cable_length),
	KEY("pfc", &prio_list, "Lossless priorities (PFC); all other priorities are lossy.",
	    .item = &dcb_pfc),
	KEY("dscp_map", &dscp_map, "Priority of each DSCP; DSCPs that are not named keep theirs.",
	    .item = &dcb_dscp_map),
	KEY("trust", &trust, "Packet field that determines the priority.", .item = &dcb_trust),
	KEY("dcqcn", &dcqcn, "Congestion control of RoCE."),
	KEY("roce_tos", &tos,
	    "ToS byte that RDMA-CM gives new connections: the DSCP times four, plus two bits of "
	    "ECN.",
	    .item = ROCE(ROCE_TOS)),
	KEY("traffic_class", &tos, "ToS byte that is forced upon all queue pairs.",
	    .item = ROCE(ROCE_CLASS, .file[CC_BNXT] = {.name = "roce_dscp", .shift = 2})),
	GOVERNING_KEYS(keys));
static const struct spec by_set = BY_SET(keys, ", such as {rails: {trust: dscp, pfc: [3]}}");

/* --- changes ---------------------------------------------------------------------------------- */

static bool is_about(const struct ynode *key, unsigned int index)
{
	const struct cpus *several = ynode_cpus(key);
	uint64_t number;

	return several ? cpus_has(several, index) : ynode_number(key, &number) && number == index;
}

/* Adds the entries of a map or list, sorted by priority, class, buffer or DSCP. */
static void add_entries(struct change *c, const char *name, const void *table,
			const struct ynode *of)
{
	for (unsigned int index = 0; index < DCB_DSCPS; index++)
		for (size_t i = 0; i < of->items.n; i++)
			if (is_about(of->kind == YAML_MAP ? of->keys.v[i] : of->items.v[i],
				     index)) {
				change_part(c, name, table, of->items.v[i])->index = index;
				break;
			}
}

static void extend(const struct section_ctx *ctx, const struct member *m, struct change *c)
{
	const char *addr = m->fn->addr, *path = c->id + strlen("qos/") + strlen(addr) + 1;
	const char *own = str_starts(path, "roce_") ? path + strlen("roce_") : path;
	size_t len = strcspn(own, "/");
	const struct roce_item *item = c->on.item;

	(void)ctx;
	if (c->kind == &kind_netlink) {
		change_target(c, "dcb:%s/%s", addr, path);
		c->parallel = 1; /* rtnl is one lock: see link.c */
		return;
	}
	/* "dcqcn/np/cnp_dscp": "dcqcn:ADDR/np/cnp_dscp"; "roce_tos": "tos:ADDR" */
	change_target(c, "%.*s:%s%s", (int)len, own, addr, own + len);
	if (item->shows)
		change_file(c, "/sys/bus/pci/devices/%s/net/*/ecn/%s", addr, item->shows);
}

static const struct settings settings = {add_entries, extend};

/* A change that follows from keys, and has no key of its own: the one of that name. */
static struct change *emit_more(const struct section_ctx *ctx, const struct member *m,
				const char *name, const struct dcb_item *item,
				const struct ynode *at, struct plan *plan)
{
	const struct field row = {.name = name, .item = item};
	struct change *c = setting_begin(ctx, m, &row, name, at->at, plan);

	extend(ctx, m, c);
	return c;
}

/* The one lossless priority, for a driver that ignores the mark of RoCE's packets. */
static void emit_roce_priority(const struct section_ctx *ctx, const struct member *m,
			       struct plan *plan)
{
	const struct ynode *pfc = member_value(m, "pfc");
	struct change *c;

	if (!pfc || pfc->items.n != 1 || !driver_find(m->fn->driver)->roce_by_app)
		return;
	c = emit_more(ctx, m, "roce_priority", &dcb_roce_priority, pfc, plan);
	c->want = pfc->items.v[0]->value;
	member_govern(m, "pfc", c);
	item_desired(c);
}

static bool is_dcb(const struct field *row)
{
	const struct target_item *item = row->item;

	return item && item->kind == &kind_netlink;
}

/* The DCB key that comes first in its file; NULL: no DCB key. */
static const struct ynode *dcb_of(const struct member *m)
{
	const struct ynode *first = NULL;

	for (const struct field *row = keys.fields; row->name; row++) {
		const struct ynode *n = is_dcb(row) ? member_value(m, row->name) : NULL;

		if (n &&
		    (!first || (streq(n->at.file, first->at.file) &&
				(n->at.line < first->at.line ||
				 (n->at.line == first->at.line && n->at.col < first->at.col)))))
			first = n;
	}
	return first;
}

/* Optional, because lldpad may run without changing these ports; the settings are read back. */
static void emit_lldpad(const struct ynode *at, struct plan *plan)
{
	struct change *c = plan_add(plan, "qos", &kind_netlink, STAGE_DEVICES, PHASE_PORT, at->at,
				    "qos/lldpad");

	change_on(c, NULL, &dcb_lldpad);
	change_target(c, "lldpad");
	item_desired(c);
	c->optional = true;
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	cleanup(members_free) struct members members = {0};
	bool any_dcb = false;

	members_find(ctx, section, &members);
	for (size_t i = 0; i < members.list.n; i++) {
		const struct member *m = &members.list.v[i];
		const struct ynode *dcb = dcb_of(m);

		if (dcb && !any_dcb)
			emit_lldpad(dcb, plan);
		any_dcb |= dcb != NULL;
		if (dcb)
			item_desired(emit_more(ctx, m, "dcbx", &dcb_dcbx, dcb, plan));
		for (const struct field *row = keys.fields; row->name; row++) {
			setting_emit(ctx, m, row, plan);
			if (row->item == &dcb_pfc)
				emit_roce_priority(ctx, m, plan);
		}
	}
}

/* --- rules: the ports that qos applies to ------------------------------------------------- */

static void dcb_is_of_ethernet(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	if (set_is_infiniband(r, s) && tree_get(view, "qos"))
		set_error(r, s, view, "qos",
			  "these are InfiniBand ports, and DCB applies to Ethernet only; set "
			  "service levels in the subnet manager");
}

/* --- rules: DSCPs ------------------------------------------------------------------------- */

static void trust_uses_the_map(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	const struct ynode *said = tree_get(view, "qos.trust");

	if (ynode_is_word(said, DCB_TRUST_PCP) && count(tree_get(view, "qos.dscp_map"), YAML_MAP))
		set_error(r, s, view, "qos.dscp_map",
			  "with trust: pcp (at %s) the DSCP of a packet is ignored; write trust: "
			  "dscp or drop the map",
			  seen(r, said));
}

/*
 * The node of the priority that dscp_map gives a DSCP, or NULL. Skips invalid priorities, which the
 * schema has rejected.
 */
static const struct ynode *mapped(const struct ynode *map, unsigned int number, size_t before)
{
	for (size_t i = 0; i < count(map, YAML_MAP) && i < before; i++) {
		const struct cpus *several = ynode_cpus(map->keys.v[i]);
		uint64_t to;

		if (several && cpus_has(several, number) && ynode_number(map->items.v[i], &to))
			return map->items.v[i];
	}
	return NULL;
}

/* Of two lines that name one DSCP, that of a narrower set is meant as an exception. */
static bool is_exception(const struct ruling *r, const struct ynode *line, const struct ynode *from)
{
	const struct selector *narrow = set_with_value(r, "qos.dscp_map", line);
	const struct selector *wide = set_with_value(r, "qos.dscp_map", from);

	return narrow != wide && set_is_within(r, narrow, wide);
}

static void dscps_go_one_way(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	const struct ynode *map = tree_get(view, "qos.dscp_map");

	for (size_t i = 0; i < count(map, YAML_MAP); i++) {
		const struct cpus *several = ynode_cpus(map->keys.v[i]);
		const struct selector *of = set_with_value(r, "qos.dscp_map", map->items.v[i]);
		cleanup_free char *key = xasprintf("qos.%.64s.dscp_map", (of ? of : s)->name);
		uint64_t to, before;

		if (!ynode_number(map->items.v[i], &to))
			continue;
		for (int d = several ? cpus_next(several, -1) : -1; d >= 0 && d < DCB_DSCPS;
		     d = cpus_next(several, d)) {
			const struct ynode *first = mapped(map, (unsigned int)d, i);

			if (!ynode_number(first, &before) || before == to ||
			    is_exception(r, first, map->items.v[i]))
				continue;
			rule_error(r, map->keys.v[i], key,
				   "DSCP %d goes to priority %llu already at %s; name it once", d,
				   (unsigned long long)before, seen(r, first));
			break;
		}
	}
}

static bool lists(const struct ynode *list, uint64_t number)
{
	uint64_t one;

	for (size_t i = 0; i < count(list, YAML_LIST); i++)
		if (ynode_number(list->items.v[i], &one) && one == number)
			return true;
	return false;
}

/* Whether the profile shows, by PCI ids or driver, that the default priority of a DSCP is known. */
static bool has_known_default(const struct ruling *r, const struct selector *s)
{
	for (size_t i = 0; s && i <= r->p->devices.n; i++, s = find_set(r, s->in))
		if (s->vendor == VENDOR_MELLANOX || driver_find(s->driver)->eighth_of_dscp)
			return true;
	return false;
}

/* The priority of RDMA's own packets, and its origin. */
struct rdma_priority {
	uint64_t dscp, number;
	const struct ynode *map; /* its line of dscp_map; NULL: the default */
};

/*
 * A DSCP in dscp_map gets the priority there. Other DSCPs get an eighth of their value on mlx5 and
 * most switches (att/netarbiter has mlnx_qos print them); with trust: pcp the DSCP is ignored.
 */
static bool rdma_priority(const struct ynode *view, const char *path, struct rdma_priority *ret)
{
	const struct ynode *map = tree_get(view, "qos.dscp_map");
	uint64_t byte;

	if (!ynode_number(tree_get(view, path), &byte))
		return false;
	ret->dscp = byte >> 2;
	ret->number = ret->dscp >> 3;
	ret->map = mapped(map, (unsigned int)ret->dscp, SIZE_MAX);
	if (ret->map)
		return ynode_number(ret->map, &ret->number);
	return ynode_is_word(tree_get(view, "qos.trust"), DCB_TRUST_DSCP);
}

/*
 * If the list has priorities, it must have this one. Only warns for an unknown driver, whose
 * default may differ.
 */
static void want_listed(struct ruling *r, const struct selector *s, const struct ynode *view,
			const char *path, const char *list)
{
	const struct ynode *allowed = tree_get(view, list);
	struct rdma_priority p;
	void (*tell)(struct ruling *, const struct selector *, const struct ynode *, const char *,
		     const char *, ...);

	if (!count(allowed, YAML_LIST) || !rdma_priority(view, path, &p) ||
	    lists(allowed, p.number))
		return;
	tell = has_known_default(r, s) || (p.map && streq(list, "qos.pfc")) ? set_error : set_warn;
	if (p.map)
		tell(r, s, view, path,
		     "its DSCP, %llu, goes to priority %llu by dscp_map (at %s), which %s (at "
		     "%s) does not list; make the three agree",
		     (unsigned long long)p.dscp, (unsigned long long)p.number, seen(r, p.map),
		     list + strlen("qos."), seen(r, allowed));
	else
		tell(r, s, view, path,
		     "its DSCP, %llu, goes to priority %llu by default (an eighth of the DSCP), "
		     "which %s (at %s) does not list; make the two agree, or write dscp_map: "
		     "{%llu: %.10s}",
		     (unsigned long long)p.dscp, (unsigned long long)p.number,
		     list + strlen("qos."), seen(r, allowed), (unsigned long long)p.dscp,
		     scalar(allowed->items.v[0]));
}

/* RDMA's DSCP must map to a priority that PFC makes lossless and DCQCN controls. */
static void rdma_is_lossless(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	static const char *const marks[] = {"qos.roce_tos", "qos.traffic_class"};

	for (size_t i = 0; i < array_len(marks); i++) {
		want_listed(r, s, view, marks[i], "qos.pfc");
		want_listed(r, s, view, marks[i], "qos.dcqcn.priorities");
	}
}

/*
 * If the profile does not mark RDMA's packets: whichever priority they have, PFC or DCQCN is
 * missing.
 */
static void dcqcn_meets_pfc(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	const struct ynode *pfc = tree_get(view, "qos.pfc");
	const struct ynode *slowed = tree_get(view, "qos.dcqcn.priorities");
	uint64_t number;

	if (!count(pfc, YAML_LIST) || !count(slowed, YAML_LIST) || tree_get(view, "qos.roce_tos") ||
	    tree_get(view, "qos.traffic_class"))
		return;
	for (size_t i = 0; i < slowed->items.n; i++)
		if (!ynode_number(slowed->items.v[i], &number) || lists(pfc, number))
			return;
	set_warn(r, s, view, "qos.dcqcn.priorities",
		 "no priority here is in pfc (at %s): RoCE is lossless on one priority and slowed "
		 "down on another; make the two agree",
		 seen(r, pfc));
}

static void traffic_class_forces_all(struct ruling *r, const struct selector *s,
				     const struct ynode *view)
{
	const struct ynode *forced = tree_get(view, "qos.traffic_class");
	uint64_t all, offered;

	if (ynode_number(forced, &all) && ynode_number(tree_get(view, "qos.roce_tos"), &offered) &&
	    all != offered)
		set_warn(r, s, view, "qos.roce_tos",
			 "traffic_class: %.10s (at %s) is forced upon all queue pairs, so that "
			 "this default is never used; drop one of the two",
			 forced->text, seen(r, forced));
}

/* --- rules: classes and buffers ----------------------------------------------------------- */

/* The value of a numeric key; NULL: missing, or rejected by the schema. */
static const struct ynode *entry(const struct ynode *map, const struct ynode *key)
{
	uint64_t number, one;

	for (size_t i = 0; ynode_number(key, &number) && i < count(map, YAML_MAP); i++)
		if (ynode_number(map->keys.v[i], &one) && one == number)
			return map->items.v[i];
	return NULL;
}

static void bandwidth_is_of_ets(struct ruling *r, const struct selector *s,
				const struct ynode *view)
{
	const struct ynode *shares = tree_get(view, "qos.ets.bandwidth");
	cleanup_free char *key = set_key(r, s, view, "qos.ets.bandwidth");

	for (size_t i = 0; i < count(shares, YAML_MAP); i++) {
		const struct ynode *how =
			entry(tree_get(view, "qos.ets.scheduling"), shares->keys.v[i]);
		uint64_t share;

		if (how && how->value.type == VALUE_WORD &&
		    how->value.number != DCB_SCHEDULING_ETS &&
		    ynode_number(shares->items.v[i], &share) && share)
			rule_error(r, shares->items.v[i], key,
				   "class %.10s is %.10s, which has no share; write 0%% or "
				   "scheduling: ets",
				   shares->keys.v[i]->text, how->text);
	}
}

static void bandwidth_is_all(struct ruling *r, const struct selector *s, const struct ynode *view)
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
			  "the shares add up to %llu%%; drivers accept 100%% only",
			  (unsigned long long)sum);
}

static void buffers_have_sizes(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	const struct ynode *to = tree_get(view, "qos.buffers.priorities");
	const struct ynode *sizes = tree_get(view, "qos.buffers.sizes");
	cleanup_free char *key = set_key(r, s, view, "qos.buffers.priorities");
	uint64_t number;

	for (size_t i = 0; count(sizes, YAML_MAP) && i < count(to, YAML_MAP); i++)
		if (ynode_number(to->items.v[i], &number) && !entry(sizes, to->items.v[i]))
			rule_error(r, to->items.v[i], key,
				   "buffer %.10s has no size; add it to sizes: (at %s)",
				   to->items.v[i]->text, seen(r, sizes));
}

static void rates_of_dcqcn_are_in_order(struct ruling *r, const struct selector *s,
					const struct ynode *view)
{
	set_in_order(r, s, view, "qos.dcqcn.rp.rpg_min_rate", "qos.dcqcn.rp.rpg_max_rate");
}

static const struct set_rule set_rules[] = {
	{"dcb-is-of-ethernet", dcb_is_of_ethernet},
	{"trust-uses-the-map", trust_uses_the_map},
	{"dscps-go-one-way", dscps_go_one_way},
	{"rdma-is-lossless", rdma_is_lossless},
	{"dcqcn-meets-pfc", dcqcn_meets_pfc},
	{"traffic-class-forces-all", traffic_class_forces_all},
	{"bandwidth-is-of-ets", bandwidth_is_of_ets},
	{"bandwidth-is-all", bandwidth_is_all},
	{"buffers-have-sizes", buffers_have_sizes},
	{"rates-of-dcqcn-are-in-order", rates_of_dcqcn_are_in_order},
	NO_MORE_SET_RULES,
};

const struct section section_qos = {
	.name = "qos",
	.spec = &by_set,
	.help = "Priorities, lossless classes and congestion control of Ethernet ports.",
	.class = KEY_SETS,
	.differs = FAULT_NIC_QOS_DIFFERS,
	.failed = FAULT_NIC_QOS_FAILED,
	.set_rules = set_rules,
	.awaits_netdevs = true,
	.emit = emit,
	.settings = &settings,
};
