/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/pci.h"

#include <errno.h>
#include <pci/header.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/function.h"
#include "plan/change.h"
#include "sys/machine.h"

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
		change_reason(c, "%s" TO_MEND "capture the machine as root", why.text);
		c->now.state = CHANGE_DIFFERS;
		return 1;
	}
	return r < 0 ? err_copy(err, r, &why) : 0;
}

/* --- the kernel's own arguments ----------------------------------------------------------- */

char *pci_argument(const char *cmdline, const char *name)
{
	cleanup_free char *copy = xstrdup(cmdline);
	char *rest = copy, *token, *option, *found = NULL;

	while ((token = strsep(&rest, " \t\n"))) {
		if (!str_starts(token, "pci="))
			continue;
		token += strlen("pci=");
		while ((option = strsep(&token, ",")))
			if (str_starts(option, name)) {
				free(found);
				found = xasprintf("pci=%s", option);
			}
	}
	return found;
}

char *acs_argument(const char *cmdline)
{
	char *arg = pci_argument(cmdline, "disable_acs_redir=");

	return arg ? arg : pci_argument(cmdline, "config_acs=");
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

int pci_refuse_disordered(const struct kind_ctx *ctx, const struct change *c, struct err *err)
{
	cleanup_strv struct strv ports = {0};
	struct pci_express x;

	if (!c->want.number || pci_ports_above(ctx->root, c->on.name, &ports, NULL) < 0 ||
	    !ports.n || pci_express_read(ctx->root, ports.v[0], &x, NULL) < 0)
		return 0;
	for (size_t i = 0; i < array_len(disordered); i++)
		if (x.vendor == disordered[i].vendor && x.device >= disordered[i].first &&
		    x.device <= disordered[i].last)
			return err_set(err, -EOPNOTSUPP,
				       "%s: root port %s (%04x:%04x, %s) handles relaxed ordering "
				       "incorrectly, so the kernel has turned it off for all "
				       "functions below it" TO_MEND
				       "write relaxed_ordering: false for this "
				       "set, or use another slot",
				       c->on.name, ports.v[0], x.vendor, x.device,
				       disordered[i].name);
	return 0;
}

/* --- bits of a register ------------------------------------------------------------------ */

static unsigned int lowest_bit(uint16_t mask)
{
	return mask & -mask;
}

int pci_bits_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct pci_setting *setting = c->on.item;
	struct pci_express x;
	unsigned int number;
	int r = pci_read(ctx, c, c->on.name, &x, err);

	if (r == 0 && setting->reg + 2 > x.size)
		r = err_set(err, -EOPNOTSUPP,
			    "%s does not have this setting: its PCI Express capability is of an "
			    "early version, without a register at CAP_EXP+%02x",
			    c->on.name, setting->reg);
	if (r == 0 && setting->refuse)
		r = setting->refuse(ctx, c, err);
	if (r)
		return r < 0 ? r : 0;
	number = (pci_express_word(&x, setting->reg) & setting->mask) / lowest_bit(setting->mask);
	change_found(c, number);
	return 0;
}

int pci_bits_set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct pci_setting *setting = c->on.item;

	return machine_pci_express(ctx->root, c->on.name, setting->reg, setting->mask,
				   (uint16_t)(c->want.number * lowest_bit(setting->mask)), err);
}

/* Blocks, because the access wakes a sleeping function and trains its link again. */
const struct kind kind_pci = {.name = "pci", .blocks = true, .look = item_look, .set = item_set};
