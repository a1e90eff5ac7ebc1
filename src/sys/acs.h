/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access Control Services of PCI functions, from config space through libpci, judged as the
 * kernel judges them when it forms IOMMU groups (pci_acs_enabled() in drivers/pci/pci.c,
 * pci_device_group() and REQ_ACS_FLAGS in drivers/iommu/iommu.c). Quirks, by which the kernel
 * knows better of some devices, are not seen here: ask only of functions that do share a group.
 * The registers themselves, and that of Address Translation Services, are there for those who judge
 * the way between two functions (include/uapi/linux/pci_regs.h; PCI Express Base Specification,
 * sections 6.12 and 10).
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

enum acs_role { ACS_ROOT_PORT, ACS_SWITCH_DOWN, ACS_SWITCH_UP, ACS_OTHER };

/* Address Translation Services: the function asks the IOMMU for addresses, and keeps them. */
enum ats_state {
	ATS_UNKNOWN, /* its extended config space can't be read */
	ATS_NONE,    /* no such capability */
	ATS_OFF,
	ATS_ON,
};

struct acs_port {
	char addr[20];
	enum acs_state state;
	enum acs_role role; /* ACS_OTHER, too, where it can't be read */
	enum ats_state ats;
	uint16_t can, does; /* capability and control; 0 without an ACS capability */
	uint16_t needs;	    /* the bits that its control must have to keep apart */
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
