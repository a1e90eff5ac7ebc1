/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pciids.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sys/libpci.h"
#include "sys/pci.h"

struct pci_names {
	struct pci_lib lib;
};

struct pci_names *pci_names_open(void)
{
	struct pci_names *names = xnew(struct pci_names);

	pci_lib_open(&names->lib, NULL, NULL); /* without libpci no names are found */
	return names;
}

void pci_names_close(struct pci_names *names)
{
	if (!names)
		return;
	pci_lib_close(&names->lib);
	free(names);
}

static const char *lookup(const struct libpci *pci, struct pci_access *a, enum pci_name what,
			  const struct pci_ids *ids, char *buf, int size)
{
	enum { FLAGS = PCI_LOOKUP_NO_NUMBERS };

	switch (what) {
	case PCI_NAME_CLASS:
		return pci->pci_lookup_name(a, buf, size, PCI_LOOKUP_CLASS | FLAGS,
					    ids->class >> 8);
	case PCI_NAME_VENDOR:
		return pci->pci_lookup_name(a, buf, size, PCI_LOOKUP_VENDOR | FLAGS, ids->vendor);
	case PCI_NAME_DEVICE:
		return pci->pci_lookup_name(a, buf, size, PCI_LOOKUP_DEVICE | FLAGS, ids->vendor,
					    ids->device);
	case PCI_NAME_SUBSYSTEM:
		return pci->pci_lookup_name(
			a, buf, size, PCI_LOOKUP_SUBSYSTEM | PCI_LOOKUP_DEVICE | FLAGS, ids->vendor,
			ids->device, ids->subsystem_vendor, ids->subsystem_device);
	}
	return NULL;
}

struct question {
	enum pci_name what;
	const struct pci_ids *ids;
	char *ret;
	size_t size;
};

static void answer(const struct libpci *pci, struct pci_access *access, void *arg)
{
	struct question *q = arg;
	char buf[256];
	const char *found = lookup(pci, access, q->what, q->ids, buf, sizeof(buf));

	snprintf(q->ret, q->size, "%s", found ? found : "");
}

bool pci_names_get(struct pci_names *names, enum pci_name what, const struct pci_ids *ids,
		   char *ret, size_t size)
{
	struct question q = {what, ids, ret, size};

	*ret = '\0';
	return pci_lib_call(&names->lib, answer, &q, NULL) == 0 && *ret;
}
