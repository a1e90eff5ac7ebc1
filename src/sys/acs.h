/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access Control Services of PCI functions, from config space through libpci, judged as the
 * kernel judges them when it forms IOMMU groups (pci_acs_enabled() in drivers/pci/pci.c,
 * pci_device_group() and REQ_ACS_FLAGS in drivers/iommu/iommu.c). Quirks, by which the kernel
 * knows better of some devices, are not seen here: ask only of functions that do share a group.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

enum acs_state {
	ACS_APART,	  /* keeps apart what is below it, or need not: an upstream port */
	ACS_MISSING,	  /* no ACS capability */
	ACS_OFF,	  /* able to, and not told to */
	ACS_CONVENTIONAL, /* PCI, or a bridge to it: there is nothing to keep apart by */
	ACS_SHORT,	  /* no extended config space can be read, in which ACS would be */
	ACS_HEADER,	  /* only 64 bytes can be read, as by others than root */
	ACS_UNREADABLE,	  /* no config space at all, as in a tree without it */
};

struct acs_port {
	char addr[20];
	enum acs_state state;
	uint16_t can, does, needs; /* capability, control, and the bits control must have */
};

struct acs; /* opaque; what was read of each function, so that each is read once */

struct acs *acs_new(const struct root *root);
void acs_free(struct acs *acs);

/* Of one function or bridge; belongs to acs. NULL: libpci gave up (-EIO), or no address. */
const struct acs_port *acs_port(struct acs *acs, const char *addr, struct err *err);

/* The bridges above a function, the one next to the root first. */
struct acs_ports {
	const struct acs_port **v;
	size_t n;
	size_t cap;
};
int acs_ports_above(struct acs *acs, const char *addr, struct acs_ports *ret, struct err *err);
