/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link above a function: its trained width and speed, and the capabilities of both ends, from
 * sysfs (Documentation/ABI/testing/sysfs-bus-pci). A VF has no link of its own and uses its PF's.
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
	char *addr, *port; /* of the PF if the function is a VF; port: NULL if there is no port */
	uint32_t now;	   /* 0: unknown, also in card and above */
	uint32_t card, above; /* maximum of either end */
};

/* Parses the text of a file. -EINVAL: not a number, or unknown to the kernel. */
int pci_link_parse(enum pci_link_quantity q, const char *text, uint32_t *ret);
/* "current_link_width", or the file of the maximum, for messages. */
const char *pci_link_file(enum pci_link_quantity q, bool max);
/* Values that cannot be read are 0. The caller frees the result with pci_link_free(). */
void pci_link_read(const struct root *root, const char *addr, enum pci_link_quantity q,
		   struct pci_link *ret);
/*
 * The same for the link of the switch above the function, or above another switch's upstream port;
 * false: no switch.
 */
bool pci_link_read_switch(const struct root *root, const char *addr, enum pci_link_quantity q,
			  struct pci_link *ret);
void pci_link_free(struct pci_link *link);
#define cleanup_pci_link cleanup(pci_link_free)

/* The most that both ends are capable of; 0: unknown. */
uint32_t pci_link_best(const struct pci_link *link);

/*
 * The rate of a function's link in one direction, in bytes/s without packet headers, if trained to
 * the most that both ends are capable of; 0: unknown.
 */
double pci_link_ceiling(const struct root *root, const char *addr);
