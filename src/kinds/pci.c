/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's own PCI Express settings. They live in registers of its config space, and are gone
 * with a reset of the function or a new boot.
 */
#include "kinds/pci.h"

#include <errno.h>
#include <pci/pci.h>
#include <stdlib.h>

#include "base/str.h"
#include "kinds/function.h"
#include "kinds/target.h"
#include "sys/machine.h"
#include "sys/pci_express.h"

int pci_read(const struct kind_ctx *ctx, struct change *c, const char *addr,
	     struct pci_express *ret, struct err *err)
{
	struct err why = {0};
	int r = function_gone(ctx->root, addr, err);

	if (r < 0)
		return r;
	r = pci_express_read(ctx->root, addr, ret, &why);
	if (!ctx->root->live && (r == -ENOENT || r == -EACCES)) {
		change_observe(c, "unknown");
		change_reason(c, "%s; capture the machine as root", why.text);
		c->state = CHANGE_DIFFERS;
		return 1;
	}
	return r < 0 ? err_set(err, r, "%s", why.text) : 0;
}

/* --- largest read request ---------------------------------------------------------------- */

enum { READRQ_SHIFT = 12, SMALLEST = 128, LARGEST_CODE = 5 };

static int look_read_request(const struct kind_ctx *ctx, struct change *c, const char *addr,
			     struct err *err)
{
	struct pci_express x;
	unsigned int code;
	int r = pci_read(ctx, c, addr, &x, err);

	if (r)
		return r < 0 ? r : 0;
	code = (x.devctl & PCI_EXP_DEVCTL_READRQ) >> READRQ_SHIFT;
	if (code > LARGEST_CODE)
		change_observe(c, "reserved value %u", code);
	else
		change_observe(c, "%u", SMALLEST << code);
	change_judge(c);
	return 0;
}

static int set_read_request(const struct kind_ctx *ctx, struct change *c, const char *addr,
			    struct err *err)
{
	unsigned long want = strtoul(c->desired, NULL, 10);
	unsigned int code = 0;

	while (code < LARGEST_CODE && (unsigned long)SMALLEST << code < want)
		code++;
	return machine_pci_express(ctx->root, addr, PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_READRQ,
				   (uint16_t)(code << READRQ_SHIFT), err);
}

/* --- relaxed ordering -------------------------------------------------------------------- */

/*
 * Root ports below which the kernel clears the bit when it finds a function, because they break
 * the ordering or lose credits (quirk_relaxedordering_disable() in drivers/pci/quirks.c).
 */
static const struct {
	uint16_t vendor, first, last;
	const char *name;
} disordered[] = {
	{0x8086, 0x2f01, 0x2f0e, "Xeon E5 v3"},
	{0x8086, 0x6f01, 0x6f0e, "Xeon E5 v4"},
	{0x1022, 0x1a00, 0x1a02, "AMD A1100"},
};

/* 0, or the -EOPNOTSUPP of a function below such a port. */
static int refuse_disordered(const struct root *root, const char *addr, struct err *err)
{
	cleanup_strv struct strv ports = {0};
	struct pci_express x;

	if (pci_ports_above(root, addr, &ports, NULL) < 0 || !ports.n ||
	    pci_express_read(root, ports.v[0], &x, NULL) < 0)
		return 0;
	for (size_t i = 0; i < array_len(disordered); i++)
		if (x.vendor == disordered[i].vendor && x.device >= disordered[i].first &&
		    x.device <= disordered[i].last)
			return err_set(
				err, -EOPNOTSUPP,
				"%s: root port %s (%04x:%04x, %s) does relaxed ordering wrong, and "
				"the kernel has switched it off for all that is below it; write "
				"relaxed_ordering: false for this set, or use another slot",
				addr, ports.v[0], x.vendor, x.device, disordered[i].name);
	return 0;
}

static int look_relaxed(const struct kind_ctx *ctx, struct change *c, const char *addr,
			struct err *err)
{
	struct pci_express x;
	int r = pci_read(ctx, c, addr, &x, err);

	if (r == 0 && streq(c->desired, "true"))
		r = refuse_disordered(ctx->root, addr, err);
	if (r)
		return r < 0 ? r : 0;
	change_observe(c, "%s", x.devctl & PCI_EXP_DEVCTL_RELAXED ? "true" : "false");
	change_judge(c);
	return 0;
}

static int set_relaxed(const struct kind_ctx *ctx, struct change *c, const char *addr,
		       struct err *err)
{
	return machine_pci_express(ctx->root, addr, PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_RELAXED,
				   streq(c->desired, "true") ? PCI_EXP_DEVCTL_RELAXED : 0, err);
}

/* ----------------------------------------------------------------------------------------- */

static const struct target_sort targets[] = {
	{"max_read_request:", look_read_request, set_read_request, NULL},
	{"relaxed_ordering:", look_relaxed, set_relaxed, NULL},
	{"aspm:", pci_look_aspm, pci_set_aspm, NULL},
	{NULL, NULL, NULL, NULL},
};

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return target_look(targets, "pci", ctx, c, err);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return target_set(targets, "pci", ctx, c, err);
}

/* A function that sleeps is woken for it, and its link trained anew. */
const struct kind kind_pci = {.name = "pci", .blocks = true, .look = look, .set = set};
