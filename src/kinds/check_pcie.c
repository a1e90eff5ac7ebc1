/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link above a function: how wide and fast it trained, and which end keeps it from more.
 * Width and speed are sysfs's; a VF shows none and has its PF's.
 */
#include <errno.h>
#include <pci/pci.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "kinds/checks.h"
#include "kinds/function.h"
#include "kinds/pci.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

enum { CLASS_DISPLAY = 0x03, CLASS_ACCELERATOR = 0x12, SLOWEST = 25 /* 2.5 GT/s */ };

/* One quantity of a link, as sysfs names it. */
struct quantity {
	const char *current, *max;
	int (*parse)(const char *text, uint32_t *ret);
	const char *format; /* of a number, for people */
	double unit;
	const char *remedy; /* where both ends are capable of more */
};

static int parse_width(const char *text, uint32_t *ret)
{
	uint64_t v;
	int r = parse_u64(text, &v);

	/* 255, 0: the kernel does not know (PCIE_LNK_WIDTH_UNKNOWN) */
	if (r < 0 || v == 0 || v > 64)
		return -EINVAL;
	*ret = (uint32_t)v;
	return 0;
}

static const struct quantity width = {
	.current = "current_link_width",
	.max = "max_link_width",
	.parse = parse_width,
	.format = "x%.0f",
	.unit = 1,
	.remedy = "reseat the card, check the slot and the BIOS bifurcation",
};
static const struct quantity speed = {
	.current = "current_link_speed",
	.max = "max_link_speed",
	.parse = parse_gts,
	.format = "%.1f GT/s",
	.unit = 10,
	.remedy = "reseat the card, check the riser and the BIOS link speed",
};

struct ends {
	char *addr, *port;    /* port: NULL where there is none */
	uint32_t now;	      /* 0: unknown, and so with the others */
	uint32_t card, above; /* the most that either end is capable of */
};

static void ends_free(struct ends *e)
{
	free(e->addr);
	free(e->port);
}
#define cleanup_ends cleanup(ends_free)

static uint32_t read_quantity(const struct root *root, const struct quantity *q, const char *addr,
			      const char *file)
{
	cleanup_free char *text = NULL;
	uint32_t v = 0;

	if (read_text(root, &text, NULL, DEV "%s/%s", addr, file) < 0 || q->parse(text, &v) < 0)
		return 0;
	return v;
}

/* The function whose link it is: a VF's PF. */
static char *owner_of(const struct root *root, const char *arg)
{
	cleanup_free char *addr = xstrndup(arg, strcspn(arg, "/"));
	char *pf = NULL;

	return read_link_name(root, &pf, NULL, DEV "%s/physfn", addr) == 0 ? pf : take_ptr(addr);
}

static int find_ends(const struct root *root, const struct quantity *q, const char *arg,
		     struct ends *ret, struct err *err)
{
	cleanup_strv struct strv ports = {0};
	int r;

	ret->addr = owner_of(root, arg);
	r = function_gone(root, ret->addr, err);
	if (r < 0)
		return r;
	pci_ports_above(root, ret->addr, &ports, NULL);
	if (ports.n) {
		ret->port = xstrdup(ports.v[ports.n - 1]);
		ret->above = read_quantity(root, q, ret->port, q->max);
	}
	ret->now = read_quantity(root, q, ret->addr, q->current);
	ret->card = read_quantity(root, q, ret->addr, q->max);
	if (!ret->now)
		return err_set(err, -EOPNOTSUPP,
			       "%s: the kernel does not know its link (%s): it has none, as a VF "
			       "that a guest was given, or it is down",
			       ret->addr, q->current);
	return 0;
}

/* What both ends are capable of; 0: unknown. */
static uint32_t best_of(const struct ends *e)
{
	if (!e->card || !e->above)
		return e->card ? e->card : e->above;
	return e->card < e->above ? e->card : e->above;
}

static char *say(const struct quantity *q, uint32_t v)
{
	return xasprintf(q->format, v / q->unit);
}

/* Which end can't do as much as wanted, or that both can. */
static void blame(struct change *c, const struct quantity *q, const struct ends *e, uint32_t want)
{
	cleanup_free char *now = say(q, e->now), *card = say(q, e->card);
	cleanup_free char *above = say(q, e->above);

	if (e->card && e->card < want)
		change_reason(c,
			      "%s itself is capable of %s at most: this is another card than the "
			      "profile is for, or its firmware limits it",
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
		change_reason(c, "the link trained to %s; %s", now, q->remedy);
}

static int judge(struct change *c, const struct quantity *q, const struct ends *e, uint32_t now,
		 struct err *err)
{
	uint32_t want = best_of(e);

	if (streq(c->desired, "max") && !want)
		return err_set(err, -EOPNOTSUPP,
			       "%s: the kernel does not show what its link is capable of (%s); "
			       "name a number in the check",
			       e->addr, q->max);
	if (!streq(c->desired, "max") && q->parse(c->desired, &want) < 0)
		return err_set(err, -EINVAL, "%s: what is wanted can't be read", c->desired);
	c->state = now >= want ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->state == CHANGE_DIFFERS)
		blame(c, q, e, want);
	return 0;
}

int check_pcie_width(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err)
{
	struct ends e cleanup_ends = {0};
	int r = find_ends(ctx->root, &width, arg, &e, err);

	if (r < 0)
		return r;
	change_observe(c, "%u", e.now);
	return judge(c, &width, &e, e.now, err);
}

/* GPUs and accelerators let their links sleep at the lowest speed; the width stays. */
static bool may_idle(const struct kind_ctx *ctx, const char *addr)
{
	const struct pci_fn *fn = node_find(ctx->node, addr);

	return fn && (fn->class >> 16 == CLASS_DISPLAY || fn->class >> 16 == CLASS_ACCELERATOR);
}

int check_pcie_speed(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err)
{
	struct ends e cleanup_ends = {0};
	cleanup_free char *text = NULL, *best = NULL;
	bool idle;
	int r = find_ends(ctx->root, &speed, arg, &e, err);

	if (r < 0)
		return r;
	r = read_text(ctx->root, &text, err, DEV "%s/%s", e.addr, speed.current);
	if (r < 0)
		return r;
	idle = e.now == SLOWEST && best_of(&e) > e.now && may_idle(ctx, e.addr);
	best = say(&speed, best_of(&e));
	change_observe(c, idle ? "%s, idle; both ends are capable of %s" : "%s", text, best);
	return judge(c, &speed, &e, idle ? best_of(&e) : e.now, err);
}

/* --- payload ----------------------------------------------------------------------------- */

enum { PAYLOAD_SHIFT = 5, SMALLEST = 128 };

static unsigned int payload_limit(const struct pci_express *x)
{
	return SMALLEST << (x->devcap & PCI_EXP_DEVCAP_PAYLOAD);
}

/* The first on the way to the root that is capable of less than wanted; its limit, or 0. */
static unsigned int find_limit(const struct kind_ctx *ctx, const char *addr,
			       const struct pci_express *own, unsigned int want, char **ret)
{
	cleanup_strv struct strv path = {0};
	struct pci_express x = *own;

	pci_ports_above(ctx->root, addr, &path, NULL);
	strv_add(&path, addr);
	for (size_t i = path.n; i-- > 0;) {
		if (!streq(path.v[i], addr) && pci_express_read(ctx->root, path.v[i], &x, NULL) < 0)
			continue;
		if (payload_limit(&x) >= want)
			continue;
		*ret = xstrdup(path.v[i]);
		return payload_limit(&x);
	}
	return 0;
}

int check_pcie_payload(const struct kind_ctx *ctx, struct change *c, const char *addr,
		       struct err *err)
{
	unsigned int want = (unsigned int)strtoul(c->desired, NULL, 10), limit;
	cleanup_free char *at = NULL;
	struct pci_express x;
	int r = pci_read(ctx, c, addr, &x, err);

	if (r)
		return r < 0 ? r : 0;
	change_observe(c, "%u", SMALLEST << ((x.devctl & PCI_EXP_DEVCTL_PAYLOAD) >> PAYLOAD_SHIFT));
	change_judge(c);
	if (c->state == CHANGE_SAME)
		return 0;
	limit = find_limit(ctx, addr, &x, want, &at);
	if (limit)
		change_reason(c, "%s is capable of %u at most: that is the hardware; ask for %u",
			      at, limit, limit);
	else
		change_reason(c, "all on the way to the root are capable of it, and the kernel "
				 "left what the firmware had set: name pci=pcie_bus_safe (or "
				 "pci=pcie_bus_perf, which lowers read requests) in "
				 "kernel_args.set, or set Max Payload Size in the BIOS");
	return 0;
}
