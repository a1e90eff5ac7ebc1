/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI Express capability of a function, read from its config space through libpci: below any
 * root whose tree has a `config` file. Registers and bits are those of include/uapi/linux/
 * pci_regs.h.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

struct pci_express {
	uint16_t vendor, device;
	uint8_t type;	 /* PCI_EXP_TYPE_...: 0 endpoint, 4 root port, 9 integrated endpoint */
	uint32_t devcap; /* bits 2:0: largest payload, 128 << n */
	uint16_t devctl; /* bit 4 relaxed ordering, 7:5 payload, 14:12 read request, 128 << n */
	uint32_t lnkcap; /* bits 11:10: ASPM that the link may have, as in lnkctl */
	uint16_t lnkctl; /* bits 1:0: ASPM, 1 L0s, 2 L1 */
};

/*
 * -ENOENT: no config space there; -EACCES: only 64 bytes of it can be read; -ENXIO: it answers
 * with ones alone, as a device does that fell off; -EOPNOTSUPP: conventional PCI.
 */
int pci_express_read(const struct root *root, const char *addr, struct pci_express *ret,
		     struct err *err);

/* The bridges above a function by their addresses, from the root port down; none: it sits on the
 * root bus. Appends to *ret. */
int pci_ports_above(const struct root *root, const char *addr, struct strv *ret, struct err *err);
