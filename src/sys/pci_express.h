/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI Express capability of a function, read from its config space (sys/pci.h). Registers and
 * bits are those of include/uapi/linux/pci_regs.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

enum { PCI_EXPRESS_SIZE = 0x3c };

struct pci_express {
	uint16_t vendor, device;
	size_t size; /* of the capability, which has more registers since version 2 */
	uint8_t bytes[PCI_EXPRESS_SIZE];
};

/* A register by its offset, such as PCI_EXP_DEVCTL; 0 if the capability lacks the register. */
uint16_t pci_express_word(const struct pci_express *x, unsigned int reg);
uint32_t pci_express_long(const struct pci_express *x, unsigned int reg);

/*
 * -ENOENT: no config space; -EBADFD: its file is not a regular file; -EACCES: only 64 bytes are
 * readable; -ENXIO: all bits read as ones, as after a device fell off the bus; -EOPNOTSUPP:
 * conventional PCI.
 */
int pci_express_read(const struct root *root, const char *addr, struct pci_express *ret,
		     struct err *err);

/*
 * Addresses of the bridges above a function, from the root port down; none for a function on the
 * root bus. Appends to *ret.
 */
int pci_ports_above(const struct root *root, const char *addr, struct strv *ret, struct err *err);
