/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the largest packet that a function may send, and finds the device on its way to the root
 * that limits the packet.
 */
#include <pci/header.h>

#include "kinds/checks.h"
#include "kinds/pci.h"
#include "plan/change.h"
#include "sys/pci_link.h"

enum { PAYLOAD_SHIFT = 5, SMALLEST = 128 };

static unsigned int payload_limit(const struct pci_express *x)
{
	return SMALLEST << (pci_express_long(x, PCI_EXP_DEVCAP) & PCI_EXP_DEVCAP_PAYLOAD);
}

/*
 * Finds the first device on the way to the root that is capable of less than want. Returns its
 * limit, or 0.
 */
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

static int look_payload(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *addr = c->on.name;
	unsigned int want = SMALLEST << c->want.number, have, limit;
	cleanup_free char *at = NULL;
	struct pci_express x;
	int r = pci_read(ctx, c, addr, &x, err);

	if (r)
		return r < 0 ? r : 0;
	have = SMALLEST << ((pci_express_word(&x, PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_PAYLOAD) >>
			    PAYLOAD_SHIFT);
	change_observe(c, "%u", have);
	c->now.state = have >= want ? CHANGE_SAME : CHANGE_DIFFERS;
	if (c->now.state == CHANGE_SAME)
		return 0;
	limit = find_limit(ctx, addr, &x, want, &at);
	if (limit)
		change_reason(c,
			      "%s is capable of at most %u, a limit of the hardware" TO_MEND
			      "write %u",
			      at, limit, limit);
	else
		change_reason(c, "all devices on the way to the root are capable of it, but the "
				 "kernel kept the firmware's value: name pci=pcie_bus_safe (or "
				 "pci=pcie_bus_perf, which lowers read requests) in "
				 "kernel_args.set, or set Max Payload Size in the BIOS");
	return 0;
}

const struct target_item pcie_payload_item = {
	.kind = &kind_check, .look = look_payload, .fault = FAULT_PCI_PAYLOAD};
