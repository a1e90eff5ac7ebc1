/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from this machine's pci.ids database, through libpci; never from the network. Without a
 * database there are no names, and callers print ids.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pci_names; /* opaque; keeps the database open */

struct pci_names *pci_names_open(void);
void pci_names_close(struct pci_names *names);

struct pci_ids {
	uint32_t class; /* 24 bits */
	uint16_t vendor, device, subsystem_vendor, subsystem_device;
};

enum pci_name { PCI_NAME_CLASS, PCI_NAME_VENDOR, PCI_NAME_DEVICE, PCI_NAME_SUBSYSTEM };

/* False if the database lacks the name; ret is "" then. */
bool pci_names_get(struct pci_names *names, enum pci_name what, const struct pci_ids *ids,
		   char *ret, size_t size);
