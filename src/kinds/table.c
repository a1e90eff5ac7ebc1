/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"
#include "kinds/kind.h"

static const struct kind *const kinds[KIND_COUNT] = {
	[KIND_ATTR] = &kind_attr,     [KIND_FILE] = &kind_file, [KIND_BOOTENV] = &kind_bootenv,
	[KIND_MODULE] = &kind_module, [KIND_VF] = &kind_vf,	[KIND_NETLINK] = &kind_netlink,
	[KIND_ROCE] = &kind_roce,     [KIND_PCI] = &kind_pci,	[KIND_IRQ] = &kind_irq,
	[KIND_CHECK] = &kind_check,
};

const struct kind *kind_get(enum kind_id id)
{
	return kinds[id];
}

void kinds_forget(const struct change *c)
{
	for (size_t i = 0; i < array_len(kinds); i++)
		if (kinds[i]->forget)
			kinds[i]->forget(c);
}
