/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link above a function: how wide and fast it trained, and what either end is capable
 * of, as sysfs says (Documentation/ABI/testing/sysfs-bus-pci). A VF shows none and has its
 * PF's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/root.h"

enum pci_link_quantity {
	PCI_LINK_WIDTH, /* lanes */
	PCI_LINK_SPEED, /* 0.1 GT/s */
};

struct pci_link {
	char *addr, *port;    /* of the PF of a VF; port: NULL where there is none */
	uint32_t now;	      /* 0: unknown, and so with the others */
	uint32_t card, above; /* the most that either end is capable of */
};

/* As the files write it. -EINVAL: not a number, or that the kernel does not know it. */
int pci_link_parse(enum pci_link_quantity q, const char *text, uint32_t *ret);
/* "current_link_width", or its maximum's file, for messages. */
const char *pci_link_file(enum pci_link_quantity q, bool max);
/* What can't be read is 0. The result is to be freed. */
void pci_link_read(const struct root *root, const char *addr, enum pci_link_quantity q,
		   struct pci_link *ret);
/* The same of the switch that the function, or another switch's upstream port, is below, if any. */
bool pci_link_read_switch(const struct root *root, const char *addr, enum pci_link_quantity q,
			  struct pci_link *ret);
void pci_link_free(struct pci_link *link);
#define cleanup_pci_link cleanup(pci_link_free)

/* What both ends are capable of; 0: unknown. */
uint32_t pci_link_best(const struct pci_link *link);

/*
 * What the link of a function could carry one way, in bytes/s without packet headers, if it trained
 * as both its ends are capable of; 0: not known.
 */
double pci_link_ceiling(const struct root *root, const char *addr);
