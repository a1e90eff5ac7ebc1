/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link: settings of the netdevs of a set's functions. In a function's lane what makes others anew
 * comes first: mlx5's rx_cqe_moder resets the times of coalescing, channels make all queues again,
 * and both may change how long a ring can be. `up` is last, so that a link that comes up does so
 * once; a link that is up is never taken down for the sake of a setting (some drivers do that by
 * themselves), and down comes first.
 *
 * Its own MTU is set in this phase and those of its VFs in a later one (sections/sriov_net.c), in
 * both directions. Upwards a VF must not be first: ixgbe (82599) stops the reception of a VF whose
 * frames are longer than the PF's (ixgbe_set_vf_lpe()), and mlx5 bounds a vport by its port's MTU,
 * which only the PF sets. Downwards no driver asks that VFs go first: until they follow, what they
 * send too long is dropped by the port instead of by them. A PF that is made anew may reset its VFs
 * (igb, ixgbe); what their lanes hold is looked at again then, since theirs lie below the PF's.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "profile/language.h"
#include "sections/overlay.h"

enum {
	SET_MS = 30000, /* all queues made anew, once rtnl is free; seconds at most */
};

enum how {
	PLAIN,	/* a number, or a map of keys to those below */
	SWITCH, /* on, off */
	USEC,	/* a duration, in microseconds */
	NSEC,	/* ..., in nanoseconds */
	ZERO_OR_ONE,
	UP_OR_DOWN,
};

struct key {
	const char *name;
	enum how how;
};

static const struct part {
	const char *name;
	enum how how;	    /* of a part without keys, and of names that a profile gives */
	bool names;	    /* it is a map of such */
	const char *file;   /* of a netdev in sysfs, which shows it too; or NULL */
	struct key keys[7]; /* of others */
} parts[] = {
	{.name = "private_flags", .how = SWITCH, .names = true},
	{.name = "channels", .keys = {{"combined", PLAIN}, {"rx", PLAIN}, {"tx", PLAIN}}},
	{.name = "rings", .keys = {{"rx", PLAIN}, {"tx", PLAIN}}},
	{.name = "mtu", .how = PLAIN, .file = "mtu"},
	{.name = "coalesce",
	 .keys = {{"adaptive_rx", SWITCH},
		  {"adaptive_tx", SWITCH},
		  {"rx_usecs", USEC},
		  {"tx_usecs", USEC},
		  {"rx_frames", PLAIN},
		  {"tx_frames", PLAIN}}},
	{.name = "pause", .keys = {{"rx", SWITCH}, {"tx", SWITCH}}},
	{.name = "features", .how = SWITCH, .names = true},
	{.name = "tx_queue_len", .how = PLAIN, .file = "tx_queue_len"},
	{.name = "napi_defer_hard_irqs", .how = PLAIN, .file = "napi_defer_hard_irqs"},
	{.name = "gro_flush_timeout", .how = NSEC, .file = "gro_flush_timeout"},
	{.name = "threaded_napi", .how = ZERO_OR_ONE, .file = "threaded"},
};

static void add_value(struct str *text, const struct ynode *value, enum how how)
{
	bool on = ynode_is_true(value);
	uint64_t n = 0;

	switch (how) {
	case PLAIN:
		str_add(text, value->text);
		break;
	case SWITCH:
		str_add(text, on ? "on" : "off");
		break;
	case USEC:
	case NSEC:
		if (ynode_number(value, &n))
			str_addf(text, "%llu",
				 (unsigned long long)(how == NSEC ? n * NSEC_PER_USEC : n));
		break;
	case ZERO_OR_ONE:
		str_add(text, on ? "1" : "0");
		break;
	case UP_OR_DOWN:
		str_add(text, on ? "up" : "down");
		break;
	}
}

static void add_pair(struct str *text, const char *name, const struct ynode *value, enum how how)
{
	str_addf(text, "%s%s ", text->len ? " " : "", name);
	add_value(text, value, how);
}

static struct change *add_change(const struct pci_fn *fn, const char *name, const char *desired,
				 const struct ynode *at, struct plan *plan)
{
	struct change *c = plan_add(plan, "link", &kind_netlink, STAGE_DEVICES, PHASE_PORT, at->at,
				    "link/%s/%s", fn->addr, name);

	change_target(c, "link:%s/%s", fn->addr, name);
	change_desired(c, "%s", desired);
	change_lane(c, "%s", fn->addr);
	c->deadline_ms = SET_MS;
	/*
	 * One at a time: rtnl is one lock for all functions, which each of these holds for as long
	 * as its driver works. So nothing is lost, and who looks meanwhile does not take a lock
	 * that others stand in line for as one that hangs.
	 */
	c->parallel = 1;
	return c;
}

/* A value of each name that any of the sets says something of. */
static void emit_names(const struct section_ctx *ctx, const struct ynode *section,
		       const struct pci_fn *fn, const struct part *part, struct plan *plan)
{
	cleanup_str struct str text = {0};
	struct strv names = {0};
	const struct ynode *at = NULL;

	overlay_keys(ctx, section, fn, part->name, &names);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *path = xasprintf("%s.%s", part->name, names.v[i]);
		const struct ynode *value = overlay_value(ctx, section, fn, path);

		at = at ? at : value;
		add_pair(&text, names.v[i], value, part->how);
	}
	strv_free(&names);
	if (at)
		add_change(fn, part->name, text.s, at, plan);
}

static void emit_keys(const struct section_ctx *ctx, const struct ynode *section,
		      const struct pci_fn *fn, const struct part *part, struct plan *plan)
{
	cleanup_str struct str text = {0};
	const struct ynode *at = NULL;

	for (const struct key *key = part->keys; key->name; key++) {
		cleanup_free char *path = xasprintf("%s.%s", part->name, key->name);
		const struct ynode *value = overlay_value(ctx, section, fn, path);

		if (!value)
			continue;
		at = at ? at : value;
		add_pair(&text, key->name, value, key->how);
	}
	if (at)
		add_change(fn, part->name, text.s, at, plan);
}

static void emit_value(const struct section_ctx *ctx, const struct ynode *section,
		       const struct pci_fn *fn, const struct part *part, struct plan *plan)
{
	cleanup_str struct str text = {0};
	const struct ynode *value = overlay_value(ctx, section, fn, part->name);
	struct change *c;

	if (!value)
		return;
	add_value(&text, value, part->how);
	c = add_change(fn, part->name, str_get(&text), value, plan);
	if (part->file)
		change_file(c, "/sys/bus/pci/devices/%s/net/*/%s", fn->addr, part->file);
}

static void emit_up(const struct section_ctx *ctx, const struct ynode *section,
		    const struct pci_fn *fn, const char *when, struct plan *plan)
{
	static const struct part part = {.name = "up", .how = UP_OR_DOWN};
	const struct ynode *up = overlay_value(ctx, section, fn, part.name);

	if (up && streq(up->text, when))
		emit_value(ctx, section, fn, &part, plan);
}

/* A VF's MTU is nothing to try while its PF's could not be set. */
static void order_vfs(const struct section_ctx *ctx, const struct pci_fn *fn, struct plan *plan)
{
	unsigned int vfs = overlay_vfs(ctx, fn);
	cleanup_free char *mtu = xasprintf("link/%s/mtu", fn->addr);

	for (unsigned int i = 0; plan_find(plan, mtu) && i < vfs; i++) {
		cleanup_free char *id = xasprintf("sriov/%s/vf%u/mtu", fn->addr, i);
		struct change *c = plan_find(plan, id);

		if (c)
			change_needs(c, "%s", mtu);
	}
}

static void emit_function(const struct section_ctx *ctx, const struct ynode *section,
			  const struct pci_fn *fn, struct plan *plan)
{
	emit_up(ctx, section, fn, "false", plan);
	for (size_t i = 0; i < array_len(parts); i++) {
		const struct part *part = &parts[i];

		if (part->names)
			emit_names(ctx, section, fn, part, plan);
		else if (part->keys[0].name)
			emit_keys(ctx, section, fn, part, plan);
		else
			emit_value(ctx, section, fn, part, plan);
	}
	emit_up(ctx, section, fn, "true", plan);
	order_vfs(ctx, fn, plan);
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	struct fn_list fns = {0};

	(void)err;
	overlay_functions(ctx, section, &fns);
	for (size_t i = 0; i < fns.n; i++)
		emit_function(ctx, section, fns.v[i], plan);
	vec_free(&fns);
	return 0;
}

const struct section section_link = {
	.name = "link",
	.spec = &spec_link,
	.help = "Netdevs of the members of a set, as ethtool(8) shows them.",
	.class = KEY_SETS,
	.awaits_netdevs = true,
	.knobs = true,
	.emit = emit,
};
