/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access Control Services of PCI functions, from config space (sys/pci.h), judged as the kernel
 * judges them when it forms IOMMU groups (pci_acs_enabled() in drivers/pci/pci.c,
 * pci_device_group() and REQ_ACS_FLAGS in drivers/iommu/iommu.c). The kernel's quirks for some
 * devices are not visible here, so ask only about functions that share a group. Callers that judge
 * the path between two functions also get the registers, and the register of Address Translation
 * Services (include/uapi/linux/pci_regs.h; PCI Express Base Specification, sections 6.12 and 10).
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

enum acs_state {
	ACS_APART,	  /* isolates the functions below it, or need not: an upstream port */
	ACS_MISSING,	  /* no ACS capability */
	ACS_OFF,	  /* has the capability, but ACS is off */
	ACS_CONVENTIONAL, /* PCI, or a bridge to PCI, which cannot isolate */
	ACS_SHORT,	  /* the extended config space, which would hold ACS, cannot be read */
	ACS_HEADER,	  /* only 64 bytes can be read, as by users other than root */
	ACS_UNREADABLE,	  /* no config space, as in a tree without it */
};

enum acs_role { ACS_ROOT_PORT, ACS_SWITCH_DOWN, ACS_SWITCH_UP, ACS_OTHER };

/* Address Translation Services: the function asks the IOMMU for addresses, and caches them. */
enum ats_state {
	ATS_UNKNOWN, /* the extended config space cannot be read */
	ATS_NONE,    /* no such capability */
	ATS_OFF,
	ATS_ON,
};

struct acs_port {
	char addr[20];
	enum acs_state state;
	enum acs_role role; /* also ACS_OTHER if the role cannot be read */
	enum ats_state ats;
	uint16_t can, does; /* capability and control; 0 without an ACS capability */
	uint16_t needs;	    /* bits that the control register must have for isolation */
};

struct acs; /* opaque; caches the registers, so that each function is read once */

struct acs *acs_new(const struct root *root);
void acs_free(struct acs *acs);

/*
 * The port of one function or bridge; belongs to acs. NULL: addr is not an address (-EINVAL).
 */
const struct acs_port *acs_port(struct acs *acs, const char *addr, struct err *err);

/* The bridges above a function, from the root port down. */
struct acs_ports {
	const struct acs_port **v;
	size_t n;
	size_t cap;
};
int acs_ports_above(struct acs *acs, const char *addr, struct acs_ports *ret, struct err *err);
