/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link: settings of the netdevs of a set's functions. In a function's lane, settings that reset
 * others come first: mlx5's rx_cqe_moder resets the coalescing times, changing channels creates all
 * queues again, and both may change the maximum ring length. `up` is last, so that a link comes up
 * once; down comes first. A link that is up is never taken down to change a setting, though some
 * drivers do so themselves.
 *
 * A PF's MTU is set in this phase and its VFs' MTUs in a later one (sections/sriov.c), whether the
 * MTU grows or shrinks. When it grows, a VF must not be first: ixgbe (82599) stops the reception of
 * a VF whose frames are longer than the PF's (ixgbe_set_vf_lpe()), and mlx5 limits a vport to its
 * port's MTU, which only the PF sets. When it shrinks, no driver requires VFs to be first: until
 * they follow, the port drops their longer frames. A PF that is initialized again may reset its VFs
 * (igb, ixgbe); the VFs' lanes are then looked at again, because they are below the PF's lane.
 */
#include <linux/ethtool_netlink.h>
#include <linux/if_link.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "kinds/link.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"
#include "sections/link_memory.h"
#include "sections/members.h"

enum {
	SET_MS = 30000, /* creates all queues again, once rtnl is free; seconds at most */
};

static const struct spec interval = DURATION("a duration such as 8us", 0, SECOND);
static const struct spec feature_name =
	TEXT("a feature's name such as rx-gro-hw", "^[A-Za-z0-9_-]+$",
	     "use the name that ethtool shows, of letters, digits, _ and -",
	     .bytes = 31 /* ETH_GSTRING_LEN - 1 */);
static const struct spec switches =
	MAP_OF("NAME", "a map of names to true or false", feature_name, spec_bool);

/* Isolated CPUs are excluded. kinds/queues.c has the order of the words. */
static const struct spec queue_cpus =
	SCALAR("local_node, none or a CPU list such as 2-17", value_cpus, CPUS,
	       .meanings = WORDS(MEANS("local_node", "the CPUs of the member's NUMA node"),
				 MEANS("none", "no CPUs: the kernel's default")));

/* Ethtool's netlink supports these since Linux 5.7. */
#define NUMBER(key, of, help, group, attr, max) \
	KEY(key, of, help, .item = LINK_NUMBER(group, attr, max), .since = KERNEL(5, 7))
#define SWITCH(key, help, group, attr) \
	KEY(key, &spec_bool, help, .item = LINK_SWITCH(group, attr), .since = KERNEL(5, 7))
#define GROUP(key, of, help, which) \
	KEY(key, of, help, .item = LINK(LINK_ETHTOOL, .group = (which)), .since = KERNEL(5, 7))

static const struct spec rings =
	MAP("a map such as {rx: 8192, tx: 8192}",
	    NUMBER("rx", A_NUMBER_OF("descriptors", 1, 1 << 20), "Receive descriptors of a queue.",
		   ETH_RINGS, ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX),
	    NUMBER("tx", A_NUMBER_OF("descriptors", 1, 1 << 20), "Transmit descriptors of a queue.",
		   ETH_RINGS, ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX));
static const struct spec channels = MAP(
	"a map such as {combined: 32}",
	NUMBER("combined", A_NUMBER_OF("channels", 1, 8192), "Queues that receive and send.",
	       ETH_CHANNELS, ETHTOOL_A_CHANNELS_COMBINED_COUNT, ETHTOOL_A_CHANNELS_COMBINED_MAX),
	NUMBER("rx", A_NUMBER_OF("channels", 1, 8192),
	       "Queues that receive only; few drivers have them.", ETH_CHANNELS,
	       ETHTOOL_A_CHANNELS_RX_COUNT, ETHTOOL_A_CHANNELS_RX_MAX),
	NUMBER("tx", A_NUMBER_OF("channels", 1, 8192),
	       "Queues that send only; few drivers have them.", ETH_CHANNELS,
	       ETHTOOL_A_CHANNELS_TX_COUNT, ETHTOOL_A_CHANNELS_TX_MAX));
static const struct spec coalesce =
	MAP("a map such as {adaptive_rx: true}",
	    SWITCH("adaptive_rx",
		   "Whether the driver adapts rx_usecs and rx_frames to the netdev's traffic; RDMA "
		   "traffic does not count.",
		   ETH_COALESCE, ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX),
	    SWITCH("adaptive_tx",
		   "Whether the driver adapts tx_usecs and tx_frames to the netdev's traffic; RDMA "
		   "traffic does not count.",
		   ETH_COALESCE, ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX),
	    NUMBER("rx_usecs", &interval, "Time that a receive interrupt waits for more packets.",
		   ETH_COALESCE, ETHTOOL_A_COALESCE_RX_USECS, 0),
	    NUMBER("tx_usecs", &interval, "Time that a transmit interrupt waits for more packets.",
		   ETH_COALESCE, ETHTOOL_A_COALESCE_TX_USECS, 0),
	    NUMBER("rx_frames", A_NUMBER_OF("frames", 0, 65535),
		   "Number of packets that a receive interrupt waits for.", ETH_COALESCE,
		   ETHTOOL_A_COALESCE_RX_MAX_FRAMES, 0),
	    NUMBER("tx_frames", A_NUMBER_OF("frames", 0, 65535),
		   "Number of packets that a transmit interrupt waits for.", ETH_COALESCE,
		   ETHTOOL_A_COALESCE_TX_MAX_FRAMES, 0));
static const struct spec pause_frames =
	MAP("a map such as {rx: false, tx: false}",
	    SWITCH("rx", "Whether the port obeys global pause frames; excludes PFC.", ETH_PAUSE,
		   ETHTOOL_A_PAUSE_RX),
	    SWITCH("tx", "Whether the port sends global pause frames; excludes PFC.", ETH_PAUSE,
		   ETHTOOL_A_PAUSE_TX));

/*
 * A row for each key, with its place in the kernel, in the order of setting. A map is one change
 * and one message.
 */
static const struct spec keys = MAP(
	"a map such as {mtu: 9000, rings: {rx: 8192}}",
	KEY("up", &spec_bool, "Whether the netdev is administratively up.", .item = LINK(LINK_UP)),
	GROUP("private_flags", &switches,
	      "Private flags by the names that `ethtool --show-priv-flags` shows.",
	      ETH_PRIVATE_FLAGS),
	GROUP("channels", &channels, "Numbers of queues.", ETH_CHANNELS),
	GROUP("rings", &rings, "Numbers of descriptors of each queue.", ETH_RINGS),
	KEY("mtu", &spec_mtu, "MTU of the netdev.",
	    .item = LINK(LINK_ATTR, .attr = IFLA_MTU, .max = IFLA_MAX_MTU, .file = "mtu")),
	GROUP("coalesce", &coalesce, "Interrupt coalescing.", ETH_COALESCE),
	GROUP("pause", &pause_frames, "Global pause (802.3x flow control).", ETH_PAUSE),
	GROUP("features", &switches, "Features by the names that `ethtool -k` shows.",
	      ETH_FEATURES),
	KEY("tx_queue_len", A_NUMBER_OF("packets", 0, 1000000),
	    "Packets that wait in the kernel for transmission.",
	    .item = LINK(LINK_ATTR, .attr = IFLA_TXQLEN, .file = "tx_queue_len")),
	KEY("napi_defer_hard_irqs", A_NUMBER_OF("polls", 0, INT32_MAX),
	    "Number of empty polls before interrupts are enabled again.",
	    .item = LINK(LINK_FILE, .file = "napi_defer_hard_irqs"), .since = KERNEL(5, 8)),
	KEY("gro_flush_timeout", &interval,
	    "Time after which GRO passes on the packets that it holds.",
	    .item = LINK(LINK_FILE, .file = "gro_flush_timeout", .scale = NSEC_PER_USEC)),
	KEY("threaded_napi", &spec_bool,
	    "Whether kernel threads poll, which the scheduler can place.",
	    .item = LINK(LINK_FILE, .file = "threaded"), .since = KERNEL(5, 12)),
	KEY("rps", &queue_cpus,
	    "CPUs that share the received packets of each queue (RDMA has none there); none: the "
	    "CPU of the queue's interrupt.",
	    .item = LINK_QUEUE("rx", "rps_cpus")),
	KEY("rps_flows", A_NUMBER_OF("flows", 0, 1 << 20),
	    "Flows that each receive queue steers to the CPUs of their readers (RFS).",
	    .item = LINK_QUEUE("rx", "rps_flow_cnt")),
	KEY("xps", &queue_cpus,
	    "CPUs that are assigned to the transmit queues in turn; none: a hash selects the "
	    "queue.",
	    .item = LINK_QUEUE("tx", "xps_cpus", .in_turn = true)),
	GOVERNING_KEYS(keys));
static const struct spec by_set = BY_SET(keys, ", such as {rails: {mtu: 9000}}");

/* --- changes ------------------------------------------------------------------------------ */

/* A part for each value; flags and features are named by their keys. */
static void add(struct change *c, const char *name, const void *item, const struct ynode *value)
{
	if (value->kind == YAML_SCALAR)
		change_part(c, name, item, value);
	for (size_t i = 0; i < value->keys.n; i++)
		change_part(c, value->keys.v[i]->text, NULL, value->items.v[i]);
}

static void extend(const struct section_ctx *ctx, const struct member *m, struct change *c)
{
	const struct link_item *item = c->on.item;
	const char *addr = m->fn->addr;

	if (!c->parts.n)
		add(c, c->on.key, NULL, member_value(m, c->on.key));
	c->on.node = ynode_get(profile_section(ctx->profile, "kernel_args"), "isolate_cpus");
	if (item->file)
		change_file(c, "/sys/bus/pci/devices/%s/net/*/%s", addr, item->file);
	if (item->how == LINK_QUEUES)
		change_file(c, "/sys/bus/pci/devices/%s/net/*/queues/%s-*/%s", addr, item->queues,
			    item->of_queue);
	c->deadline_ms = SET_MS;
	/*
	 * One at a time, because all functions share the rtnl lock, and a change holds it for as
	 * long as its driver works. Serial changes lose no time, and a look that waits for the lock
	 * is not mistaken for one that hangs.
	 */
	c->parallel = 1;
}

static void emit_up(const struct section_ctx *ctx, const struct member *m, bool up,
		    struct plan *plan)
{
	const struct ynode *value = member_value(m, keys.fields->name);

	if (value && ynode_is_true(value) == up)
		setting_emit(ctx, m, keys.fields, plan);
}

/* Makes a VF's MTU depend on its PF's: trying it is pointless if the PF's could not be set. */
static void order_vfs(const struct section_ctx *ctx, const struct pci_fn *fn, struct plan *plan)
{
	unsigned int vfs = function_vfs(ctx, fn);
	cleanup_free char *mtu = xasprintf("link/%s/mtu", fn->addr);

	for (unsigned int i = 0; plan_find(plan, mtu) && i < vfs; i++) {
		cleanup_free char *id = xasprintf("sriov/%s/vf%u/mtu", fn->addr, i);
		struct change *c = plan_find(plan, id);

		if (c)
			change_needs(c, "%s", mtu);
	}
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	cleanup(members_free) struct members members = {0};

	members_find(ctx, section, &members);
	for (size_t i = 0; i < members.list.n; i++) {
		const struct member *m = &members.list.v[i];

		emit_up(ctx, m, false, plan);
		for (const struct field *row = keys.fields + 1; row->item; row++)
			setting_emit(ctx, m, row, plan);
		emit_up(ctx, m, true, plan);
		order_vfs(ctx, m->fn, plan);
	}
}

static const struct settings settings = {add, extend};

/* --- rules -------------------------------------------------------------------------------- */

static void pause_excludes_pfc(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	static const char *const ways[] = {"link.pause.rx", "link.pause.tx"};
	const struct ynode *pfc = tree_get(view, "qos.pfc");

	for (size_t i = 0; count(pfc, YAML_LIST) && i < array_len(ways); i++)
		if (ynode_is_true(tree_get(view, ways[i])))
			set_error(r, s, view, ways[i],
				  "a port pauses all traffic or single priorities, never both, and "
				  "qos (at %s) turns on PFC; write false",
				  seen(r, pfc));
}

static void adaptive_moves_the_rest(struct ruling *r, const struct selector *s,
				    const struct ynode *view)
{
	static const struct {
		const char *adaptive, *fixed;
	} pairs[] = {
		{"link.coalesce.adaptive_rx", "link.coalesce.rx_usecs"},
		{"link.coalesce.adaptive_rx", "link.coalesce.rx_frames"},
		{"link.coalesce.adaptive_tx", "link.coalesce.tx_usecs"},
		{"link.coalesce.adaptive_tx", "link.coalesce.tx_frames"},
	};

	for (size_t i = 0; i < array_len(pairs); i++)
		if (ynode_is_true(tree_get(view, pairs[i].adaptive)) &&
		    tree_get(view, pairs[i].fixed))
			set_warn(r, s, view, pairs[i].fixed,
				 "%s (at %s) adapts this value; keep one of the two",
				 strrchr(pairs[i].adaptive, '.') + 1,
				 seen(r, tree_get(view, pairs[i].adaptive)));
}

static void queues_have_cpus(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	static const char *const paths[] = {"link.rps", "link.xps"};

	for (size_t i = 0; i < array_len(paths); i++) {
		const struct ynode *list = tree_get(view, paths[i]);
		cleanup_free char *key = set_key(r, s, view, paths[i]);

		want_cpus(r, list, key, ynode_cpus(list));
	}
}

/* store_rps_dev_flow_table_cnt() of net/core/net-sysfs.c */
static void flows_are_a_power(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	const struct ynode *flows = tree_get(view, "link.rps_flows");
	uint64_t n;

	if (ynode_number(flows, &n) && n & (n - 1))
		set_error(r, s, view, "link.rps_flows",
			  "the kernel rounds %.20s up to a power of two; write a power of two",
			  flows->text);
}

static const struct rule rules[] = {
	RULE_OF_WHOLE("rings-fit-the-memory", rings_fit_the_memory),
	NO_MORE_RULES,
};
static const struct set_rule set_rules[] = {
	{"pause-excludes-pfc", pause_excludes_pfc},
	{"adaptive-moves-the-rest", adaptive_moves_the_rest},
	{"queues-have-cpus", queues_have_cpus},
	{"flows-are-a-power", flows_are_a_power},
	NO_MORE_SET_RULES,
};

static void files(const struct section *section, struct strv *ret)
{
	(void)section;
	for (const struct field *row = keys.fields; row->item; row++) {
		const struct link_item *item = row->item;
		cleanup_free char *path =
			item->file ? xasprintf("/sys/class/net/*/%s", item->file) : NULL;

		if (path)
			strv_add(ret, path);
	}
}

const struct section section_link = {
	.name = "link",
	.spec = &by_set,
	.help = "Netdevs of the members of a set, as ethtool(8) shows them.",
	.class = KEY_SETS,
	.differs = FAULT_NIC_SETTING_DIFFERS,
	.failed = FAULT_NIC_SETTING_FAILED,
	.rules = rules,
	.set_rules = set_rules,
	.awaits_netdevs = true,
	.files = files,
	.emit = emit,
	.settings = &settings,
};
