/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ASPM of the link above a function. There are two ways to set it:
 *
 * - If the kernel manages the link, it has files for it (link/l0s_aspm and link/l1_aspm, Linux 5.5,
 *   drivers/pci/pcie/aspm.c), and would overwrite values that other programs write to config space.
 *   The kernel's policy (pcie_aspm.policy=) limits the states that it turns on.
 * - Otherwise (pcie_aspm=off, or firmware that keeps ASPM to itself), railhead writes Link Control
 *   of both ends. L1 must be on in the port above before it is on below, and off below before it is
 *   off above (PCI Express Base Specification, "ASPM Configuration").
 *
 * In both cases the look reads Link Control of both ends.
 */
#include <errno.h>
#include <pci/header.h>
#include <string.h>

#include "kargs/kargs.h"
#include "kinds/pci.h"
#include "plan/change.h"
#include "profile/value.h"
#include "sys/machine.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"
#define POLICY "/sys/module/pcie_aspm/parameters/policy"

enum { CAP_SHIFT = 10, L0S = 1, L1 = 2 };

static const struct {
	unsigned int bit;
	const char *file, *name;
} states[] = {{L0S, "l0s_aspm", "L0s"}, {L1, "l1_aspm", "L1"}};

struct link {
	char *port; /* the port above; caller frees */
	struct pci_express up, down;
};

static unsigned int wanted(const struct change *c)
{
	return (unsigned int)c->want.number;
}

static unsigned int has(const struct pci_express *x)
{
	return pci_express_word(x, PCI_EXP_LNKCTL) & PCI_EXP_LNKCTL_ASPM;
}

static unsigned int can(const struct pci_express *x)
{
	return (pci_express_long(x, PCI_EXP_LNKCAP) & PCI_EXP_LNKCAP_ASPM) >> CAP_SHIFT;
}

/* 1: see pci_read() */
static int read_ends(const struct kind_ctx *ctx, struct change *c, const char *addr,
		     struct link *ret, struct err *err)
{
	cleanup_strv struct strv ports = {0};
	int r = pci_read(ctx, c, addr, &ret->down, err);

	if (r == 0)
		r = pci_ports_above(ctx->root, addr, &ports, err);
	if (r)
		return r;
	if (!ports.n)
		return err_set(err, -EOPNOTSUPP,
			       "%s has no link: it sits on the root bus, in the CPU's package or "
			       "in a virtual machine" TO_MEND "leave aspm out for this set",
			       addr);
	r = pci_read(ctx, c, ports.v[ports.n - 1], &ret->up, err);
	if (r == 0)
		ret->port = xstrdup(ports.v[ports.n - 1]);
	return r;
}

/* Reports the end that lacks a wanted state: 0, or -EOPNOTSUPP. */
static int refuse_lacking(const struct link *l, const char *addr, unsigned int want,
			  struct err *err)
{
	for (size_t i = 0; i < array_len(states); i++) {
		bool up = can(&l->up) & states[i].bit, down = can(&l->down) & states[i].bit;

		if (want & states[i].bit && !(up && down))
			return err_set(err, -EOPNOTSUPP,
				       "%s: %s is not capable of %s (Link Capabilities): a limit "
				       "of the hardware or of a BIOS option for ASPM" TO_MEND
				       "leave it out",
				       addr, down ? l->port : addr, states[i].name);
	}
	return 0;
}

/* The kernel's policy, "[default] performance powersave powersupersave": the chosen word. */
static char *policy_of(const struct root *root)
{
	cleanup_free char *text = NULL;
	const char *open;

	if (read_attr(root, &text, NULL, POLICY) < 0)
		return NULL;
	open = strchr(text, '[');
	return open ? xstrndup(open + 1, strcspn(open + 1, "]")) : NULL;
}

static void explain(const struct kind_ctx *ctx, struct change *c, const char *addr,
		    unsigned int lacks)
{
	cleanup_free char *policy = policy_of(ctx->root);
	bool managed = root_exists(ctx->root, DEV "%s/link", addr);

	if (lacks && managed && policy)
		change_reason(c,
			      "the kernel turns on only the states that its policy (%s, "
			      "pcie_aspm.policy=; default is the firmware's setting) and the "
			      "latencies of the devices allow",
			      policy);
	else if (!managed && kargs_has(ctx->node->cmdline, "pcie_aspm=off"))
		change_reason(c, "with pcie_aspm=off the kernel keeps the firmware's ASPM, and "
				 "only config space changes it");
}

static void observe(struct change *c, const struct link *l)
{
	cleanup_free char *down = value_text(&c->want, has(&l->down));
	cleanup_free char *up = value_text(&c->want, has(&l->up));

	if (has(&l->up) == has(&l->down))
		change_observe(c, "%s", down);
	else
		change_observe(c, "%s, %s at port %s", down, up, l->port);
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *addr = c->on.name;
	struct link l = {0};
	cleanup_free char *port = NULL;
	unsigned int want = wanted(c);
	int r = read_ends(ctx, c, addr, &l, err);

	port = l.port;
	if (r == 0)
		r = refuse_lacking(&l, addr, want, err);
	if (r)
		return r < 0 ? r : 0;
	observe(c, &l);
	c->now.state = has(&l.up) == want && has(&l.down) == want ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_DIFFERS)
		explain(ctx, c, addr, want & ~(has(&l.up) & has(&l.down)));
	return 0;
}

/* The kernel keeps the order of the two ends itself. */
static int set_by_kernel(const struct kind_ctx *ctx, const char *addr, unsigned int want,
			 struct err *err)
{
	for (int on = 0; on <= 1; on++)
		for (size_t i = 0; i < array_len(states); i++) {
			cleanup_free char *path = xasprintf(DEV "%s/link/%s", addr, states[i].file);
			int r = 0;

			if (!!(want & states[i].bit) == on && root_exists(ctx->root, "%s", path))
				r = machine_write_attr(ctx->root, path, on ? "1" : "0", err);
			if (r < 0)
				return r;
		}
	return 0;
}

static bool kernel_manages(const struct kind_ctx *ctx, const char *addr)
{
	for (size_t i = 0; i < array_len(states); i++)
		if (root_exists(ctx->root, DEV "%s/link/%s", addr, states[i].file))
			return true;
	return false;
}

static int write_end(const struct kind_ctx *ctx, const char *addr, unsigned int bits,
		     struct err *err)
{
	return machine_pci_express(ctx->root, addr, PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_ASPM,
				   (uint16_t)bits, err);
}

/*
 * Two passes: first turns states off, below before above; then turns states on, above before below.
 */
static int set_by_hand(const struct kind_ctx *ctx, const char *addr, const struct link *l,
		       unsigned int want, struct err *err)
{
	int r = write_end(ctx, addr, has(&l->down) & want, err);

	if (r == 0)
		r = write_end(ctx, l->port, has(&l->up) & want, err);
	if (r == 0 && want)
		r = write_end(ctx, l->port, want, err);
	if (r == 0 && want)
		r = write_end(ctx, addr, want, err);
	return r;
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *addr = c->on.name;
	struct link l = {0};
	cleanup_free char *port = NULL;
	int r = read_ends(ctx, c, addr, &l, err);

	port = l.port;
	if (r)
		return r < 0 ? r : 0;
	return kernel_manages(ctx, addr) ? set_by_kernel(ctx, addr, wanted(c), err)
					 : set_by_hand(ctx, addr, &l, wanted(c), err);
}

const struct pci_setting pci_aspm = {.sort = {.kind = &kind_pci, .look = look, .set = set},
				     .files = "link/l*_aspm"};
