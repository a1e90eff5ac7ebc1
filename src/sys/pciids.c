/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pciids.h"

#include <pci/pci.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct pci_names {
	struct pci_access *access;
	bool broken; /* libpci could not read its database; do not ask again */
};

/* libpci's error handler must not return, and its own exits; only main() may do that. */
static __thread jmp_buf *on_error;

static void __attribute__((noreturn)) give_up(char *msg, ...)
{
	(void)msg;
	longjmp(*on_error, 1);
}

static void ignore(char *msg, ...)
{
	(void)msg;
}

struct pci_names *pci_names_open(void)
{
	struct pci_names *names = xnew(struct pci_names);

	/* No pci_init(): that would look for a way to the bus, and only the names are wanted. */
	names->access = pci_alloc();
	names->access->error = give_up;
	names->access->warning = ignore;
	names->access->debug = ignore;
	return names;
}

void pci_names_close(struct pci_names *names)
{
	if (!names)
		return;
	pci_free_name_list(names->access);
	pci_cleanup(names->access);
	free(names);
}

static const char *lookup(struct pci_access *a, enum pci_name what, const struct pci_ids *ids,
			  char *buf, int size)
{
	enum { FLAGS = PCI_LOOKUP_NO_NUMBERS };

	switch (what) {
	case PCI_NAME_CLASS:
		return pci_lookup_name(a, buf, size, PCI_LOOKUP_CLASS | FLAGS, ids->class >> 8);
	case PCI_NAME_VENDOR:
		return pci_lookup_name(a, buf, size, PCI_LOOKUP_VENDOR | FLAGS, ids->vendor);
	case PCI_NAME_DEVICE:
		return pci_lookup_name(a, buf, size, PCI_LOOKUP_DEVICE | FLAGS, ids->vendor,
				       ids->device);
	case PCI_NAME_SUBSYSTEM:
		return pci_lookup_name(
			a, buf, size, PCI_LOOKUP_SUBSYSTEM | PCI_LOOKUP_DEVICE | FLAGS, ids->vendor,
			ids->device, ids->subsystem_vendor, ids->subsystem_device);
	}
	return NULL;
}

bool pci_names_get(struct pci_names *names, enum pci_name what, const struct pci_ids *ids,
		   char *ret, size_t size)
{
	char buf[256];
	const char *found;
	jmp_buf env;

	*ret = '\0';
	if (names->broken)
		return false;
	on_error = &env;
	if (setjmp(env)) {
		names->broken = true;
		return false;
	}
	found = lookup(names->access, what, ids, buf, sizeof(buf));
	if (!found || !*found)
		return false;
	snprintf(ret, size, "%s", found);
	return true;
}
