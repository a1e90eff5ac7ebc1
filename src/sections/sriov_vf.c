/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/sriov_vf.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sections/overlay.h"

enum {
	ESWITCH_MS = 60000, /* 3 to 4 s, more where the firmware is busy for a while */
	ADDRESS_MS = 20000, /* milliseconds, once rtnl is free */
	MEGABIT = 125000,   /* bytes/s */
};

/*
 * Drivers that change the mode best when their VFs are there and unbound; with all others there
 * must be none (ice refuses, and the rest is safe that way).
 */
static const char *const vfs_first[] = {"mlx5_core"};

static bool has_vfs_first(const struct pci_fn *pf)
{
	for (size_t i = 0; i < array_len(vfs_first); i++)
		if (pf->driver && streq(pf->driver, vfs_first[i]))
			return true;
	return false;
}

void sriov_emit_eswitch(const struct section_ctx *ctx, const struct ynode *section,
			const struct pci_fn *pf, bool with_vfs, struct plan *plan)
{
	const struct ynode *mode = overlay_value(ctx, section, pf, "mode");
	struct change *c;

	if (!mode || with_vfs != has_vfs_first(pf))
		return;
	c = plan_add(plan, "sriov", &kind_netlink, STAGE_DEVICES,
		     with_vfs ? PHASE_VF_ESWITCH : PHASE_ESWITCH, mode->at, "sriov/%s/eswitch",
		     pf->addr);
	change_target(c, with_vfs ? "eswitch_with_vfs:%s" : "eswitch:%s", pf->addr);
	change_desired(c, "%s", mode->text);
	change_lane(c, "%s", pf->addr);
	c->deadline_ms = ESWITCH_MS;
}

/* --- what the PF sets for a VF --------------------------------------------------------------- */

static void add(struct str *text, const char *key, const char *value)
{
	str_addf(text, "%s%s %s", text->len ? " " : "", key, value);
}

/* "derived", or the VF's own place in a list; NULL: nothing is to be set. */
static const char *address_of(const struct ynode *value, unsigned int vf)
{
	if (!value)
		return NULL;
	if (value->kind == YAML_LIST)
		return vf < value->items.n ? value->items.v[vf]->text : NULL;
	return streq(value->text, "driver") ? NULL : value->text;
}

/*
 * A set may have ports of both sorts. With a rule for each, each has its own; with one alone
 * it is meant for all, and a port that it is not for says so.
 */
static void add_addresses(const struct section_ctx *ctx, const struct ynode *section,
			  const struct pci_fn *pf, unsigned int vf, struct str *text,
			  const struct ynode **at)
{
	const struct ynode *mac = overlay_value(ctx, section, pf, "vf.mac");
	const struct ynode *guid = overlay_value(ctx, section, pf, "vf.guid");
	bool infiniband = pf->class >> 8 == CLASS_INFINIBAND;

	if (mac && guid && infiniband)
		mac = NULL;
	else if (mac && guid)
		guid = NULL;
	if (address_of(mac, vf)) {
		add(text, "mac", address_of(mac, vf));
		*at = mac;
	}
	if (address_of(guid, vf)) {
		add(text, "guid", address_of(guid, vf));
		*at = guid;
	}
}

static void add_rate(const struct ynode *value, const char *key, struct str *text)
{
	uint64_t rate;

	if (ynode_number(value, &rate))
		str_addf(text, "%s%s %llu", text->len ? " " : "", key,
			 (unsigned long long)(rate / MEGABIT));
}

static void add_rest(const struct section_ctx *ctx, const struct ynode *section,
		     const struct pci_fn *pf, struct str *text, const struct ynode **at)
{
	static const struct {
		const char *path, *key;
		enum { PLAIN, SWITCH, RATE } how;
	} rest[] = {
		{"vf.vlan", "vlan", PLAIN},	   {"vf.min_rate", "min_rate", RATE},
		{"vf.max_rate", "max_rate", RATE}, {"vf.spoof_check", "spoof_check", SWITCH},
		{"vf.trust", "trust", SWITCH},	   {"vf.link_state", "link_state", PLAIN},
	};

	for (size_t i = 0; i < array_len(rest); i++) {
		const struct ynode *value = overlay_value(ctx, section, pf, rest[i].path);

		if (!value)
			continue;
		if (!*at)
			*at = value;
		if (rest[i].how == RATE)
			add_rate(value, rest[i].key, text);
		else if (rest[i].how == SWITCH)
			add(text, rest[i].key, ynode_is_true(value) ? "on" : "off");
		else
			add(text, rest[i].key, value->text);
	}
}

void sriov_emit_vf_address(const struct section_ctx *ctx, const struct ynode *section,
			   const struct pci_fn *pf, unsigned int vf, struct plan *plan)
{
	cleanup_str struct str text = {0};
	const struct ynode *at = NULL;
	struct change *c;

	add_addresses(ctx, section, pf, vf, &text, &at);
	add_rest(ctx, section, pf, &text, &at);
	if (!at)
		return;
	c = plan_add(plan, "sriov", &kind_netlink, STAGE_DEVICES, PHASE_VF_ADDRESS, at->at,
		     "sriov/%s/vf%u/address", pf->addr, vf);
	change_target(c, "vf:%s/%u", pf->addr, vf);
	change_desired(c, "%s", text.s);
	change_lane(c, "%s/vf%u", pf->addr, vf);
	c->deadline_ms = ADDRESS_MS;
	c->optional = section_skips_unsupported(ctx); /* not so the VFs or a mode as such */
}

/* --- what waits for what --------------------------------------------------------------------- */

static struct change *find(const struct plan *plan, const struct pci_fn *pf, const char *what)
{
	cleanup_free char *id = xasprintf("sriov/%s/%s", pf->addr, what);

	return plan_find(plan, id);
}

/* Returns the later one, or `on` where there is none. */
static struct change *then(struct change *on, struct change *c)
{
	if (!c)
		return on;
	if (on) {
		change_waits_for(c, "%s", on->id);
		c->remade = true;
	}
	return c;
}

void sriov_order(const struct pci_fn *pf, unsigned int vfs, struct plan *plan)
{
	struct change *numvfs = find(plan, pf, "numvfs"), *eswitch = find(plan, pf, "eswitch");
	struct change *last = has_vfs_first(pf) ? then(numvfs, eswitch) : then(eswitch, numvfs);

	for (unsigned int i = 0; i < vfs; i++) {
		cleanup_free char *address = xasprintf("vf%u/address", i);
		cleanup_free char *driver = xasprintf("vf%u/driver", i);

		then(then(last, find(plan, pf, address)), find(plan, pf, driver));
	}
}
