/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link above a function: its width, its speed, and the end that limits them. Width and speed
 * are those of sysfs; a VF shows none and has its PF's.
 */
#include <errno.h>
#include <pci/header.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/units.h"
#include "checks/check.h"
#include "checks/looks.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "profile/yaml.h"
#include "sys/pci_link.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

enum { SLOWEST = 25 /* 2.5 GT/s */ };

/* One quantity of a link, and its texts. */
struct quantity {
	enum pci_link_quantity which;
	const char *format; /* of the number, for people */
	double unit;
	const char *remedy; /* if both ends are capable of more */
	enum fault nic, gpu, other;
};

static const struct quantity width = {
	.which = PCI_LINK_WIDTH,
	.format = "x%.0f",
	.unit = 1,
	.remedy = "reseat the card, check the slot and the BIOS bifurcation",
	.nic = FAULT_NIC_LINK_WIDTH,
	.gpu = FAULT_GPU_LINK_WIDTH,
	.other = FAULT_PCI_LINK_WIDTH,
};
static const struct quantity speed = {
	.which = PCI_LINK_SPEED,
	.format = "%.1f GT/s",
	.unit = 10,
	.remedy = "reseat the card, check the riser and the BIOS link speed",
	.nic = FAULT_NIC_LINK_SPEED,
	.gpu = FAULT_GPU_LINK_SPEED,
	.other = FAULT_PCI_LINK_SPEED,
};

static enum fault fault_of_link(const struct kind_ctx *ctx, const struct quantity *q,
				const char *addr)
{
	const struct pci_fn *fn = node_find(ctx->node, addr);

	switch (fn ? fn->class >> 16 : 0) {
	case PCI_BASE_CLASS_NETWORK:
		return q->nic;
	case PCI_BASE_CLASS_DISPLAY:
		return q->gpu;
	default:
		return q->other;
	}
}

/* A VF has its PF's link. */
static int find_ends(const struct kind_ctx *ctx, const struct quantity *q, struct change *c,
		     struct pci_link *ret, struct err *err)
{
	int r;

	pci_link_read(ctx->root, c->on.name, q->which, ret);
	c->now.fault = fault_of_link(ctx, q, ret->addr);
	r = function_gone(ctx->root, ret->addr, err);
	if (r < 0)
		return r;
	if (!ret->now)
		return err_set(err, -EOPNOTSUPP,
			       "%s: the kernel does not know the link (%s): the function has no "
			       "link (a VF in a guest), or the link is down",
			       ret->addr, pci_link_file(q->which, false));
	return 0;
}

static char *say(const struct quantity *q, uint32_t v)
{
	return xasprintf(q->format, v / q->unit);
}

/* Names the end that can't reach the wanted value, or states that both can. */
static void blame(struct change *c, const struct quantity *q, const struct pci_link *e,
		  uint32_t want)
{
	cleanup_free char *now = say(q, e->now), *card = say(q, e->card);
	cleanup_free char *above = say(q, e->above);

	if (e->card && e->card < want)
		change_reason(c,
			      "%s itself is capable of %s at most: the profile is for another "
			      "card, or the card's firmware limits the link",
			      e->addr, card);
	else if (e->above && e->above < want)
		change_reason(c,
			      "port %s above it is capable of %s at most: move the card to another "
			      "slot, or check the BIOS bifurcation and link speed",
			      e->port, above);
	else if (e->card && e->above)
		change_reason(c,
			      "the link trained to %s, and %s and port %s are capable of more: %s",
			      now, e->addr, e->port, q->remedy);
	else
		change_reason(c, "the link trained to %s" TO_MEND "%s", now, q->remedy);
	if (e->card && e->card < want)
		c->now.fault = FAULT_PCI_CARD_LIMIT;
	else if (e->above && e->above < want)
		c->now.fault = FAULT_PCI_SLOT_LIMIT;
}

/*
 * Whether a switch's link proves nothing: its value is unknown or as wanted, or a GPU lowers it
 * while idle, because the switch belongs to the GPU (AMD's GPUs have one, with bridges of their
 * vendor).
 */
static bool passes(const struct kind_ctx *ctx, const struct change *c, const struct quantity *q,
		   const struct pci_link *e)
{
	const struct pci_fn *fn = node_find(ctx->node, c->on.name);
	const struct pci_fn *at = node_find(ctx->node, e->addr);

	if (!e->now || e->now >= pci_link_best(e))
		return true;
	if (q->which != PCI_LINK_SPEED)
		return false;
	return (c->want.type != VALUE_WORD && e->now >= (uint64_t)c->want.number) ||
	       (fn && at && pci_fn_may_idle(fn) && at->vendor == fn->vendor);
}

/*
 * A switch whose own link trained below the capability of both ends slows everything below the
 * switch.
 */
static void judge_switches(const struct kind_ctx *ctx, struct change *c, const struct quantity *q,
			   const char *addr)
{
	struct pci_link e cleanup_pci_link = {0};
	cleanup_free char *now = NULL, *best = NULL, *was = NULL;

	if (!pci_link_read_switch(ctx->root, addr, q->which, &e))
		return;
	if (passes(ctx, c, q, &e)) {
		judge_switches(ctx, c, q, e.addr);
		return;
	}
	now = say(q, e.now);
	best = say(q, pci_link_best(&e));
	was = take_ptr(c->now.found);
	change_observe(c, "%s, but %s above switch %s", was, now, e.addr);
	change_reason(c,
		      "the link of switch %s above it trained to %s, and both ends are capable of "
		      "%s: reseat the switch's board or its cable, and check the BIOS; if all "
		      "boards of this kind are wired in this way, write switches: false",
		      e.addr, now, best);
	c->now.fault = fault_of_link(ctx, q, e.addr);
	c->now.state = CHANGE_DIFFERS;
}

static int judge(const struct kind_ctx *ctx, struct change *c, const struct quantity *q,
		 const struct pci_link *e, uint32_t now, struct err *err)
{
	bool most = c->want.type == VALUE_WORD;
	uint32_t want = most ? pci_link_best(e) : (uint32_t)c->want.number;

	if (most && !want)
		return err_set(
			err, -EOPNOTSUPP,
			"%s: the kernel does not show the capability of its link (%s)" TO_MEND
			"write a number in the check",
			e->addr, pci_link_file(q->which, true));
	c->now.state = now >= want ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_DIFFERS)
		blame(c, q, e, want);
	else if (ynode_bool(c->on.node, "switches", true))
		judge_switches(ctx, c, q, e->addr);
	return 0;
}

static int look_width(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct pci_link e cleanup_pci_link = {0};
	int r = find_ends(ctx, &width, c, &e, err);

	if (r < 0)
		return r;
	change_observe(c, "%u", e.now);
	return judge(ctx, c, &width, &e, e.now, err);
}

const struct target_item pcie_width_item = {.kind = &kind_check, .look = look_width};

static int look_speed(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct pci_link e cleanup_pci_link = {0};
	cleanup_free char *text = NULL, *best = NULL;
	const struct pci_fn *fn;
	bool idle;
	int r = find_ends(ctx, &speed, c, &e, err);

	if (r < 0)
		return r;
	r = read_attr(ctx->root, &text, err, DEV "%s/%s", e.addr,
		      pci_link_file(PCI_LINK_SPEED, false));
	if (r < 0)
		return r;
	fn = node_find(ctx->node, e.addr);
	idle = e.now == SLOWEST && pci_link_best(&e) > e.now && fn && pci_fn_may_idle(fn);
	best = say(&speed, pci_link_best(&e));
	change_observe(c, idle ? "%s, idle; both ends are capable of %s" : "%s", text, best);
	return judge(ctx, c, &speed, &e, idle ? pci_link_best(&e) : e.now, err);
}

const struct target_item pcie_speed_item = {.kind = &kind_check, .look = look_speed};

/* The minimum of lanes, and of tenths of GT/s; the word max is the most that both ends can do. */
static void emit(const struct checked *t, struct subject of)
{
	const struct ynode *want_width = ynode_get(t->map, "width");
	const struct ynode *want_speed = ynode_get(t->map, "speed");
	bool both = !want_width && !want_speed;
	struct change *c;

	if (want_width || both) {
		c = check_look_wanting(t, of, "/width", &pcie_width_item, "pcie-width", want_width,
				       "max");
		c->compare = COMPARE_AT_LEAST;
		c->on.node = t->map;
		if (want_width) /* x1, x2, x4: a power of two */
			c->want = (struct value){.type = VALUE_NUMBER,
						 .number = INT64_C(1) << want_width->value.number};
	}
	if (want_speed || both) {
		c = check_look_wanting(t, of, "/speed", &pcie_speed_item, "pcie-speed", want_speed,
				       "max");
		c->on.node = t->map;
	}
}

CHECK(pcie_link, .required = {"on"}, .optional = {"speed", "width", "switches"}, .look = emit);
