/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pciids.h"

#include <setjmp.h>
#include <stdio.h>

#include "base/mem.h"
#include "sys/libpci.h"

/*
 * libpci's own handler of errors, such as a damaged database, exits, and only main() may exit. So
 * an error leaves the lookup, whose memory then leaks, and there are no names from then on.
 */
struct pci_names {
	const struct libpci *pci;
	struct pci_access *access; /* NULL: no names */
};

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

	names->pci = libpci_get(NULL);
	if (!names->pci)
		return names;
	names->access = names->pci->pci_alloc();
	names->access->error = give_up;
	names->access->warning = ignore;
	names->access->debug = ignore;
	return names;
}

void pci_names_close(struct pci_names *names)
{
	if (!names)
		return;
	if (names->access) {
		names->pci->pci_free_name_list(names->access);
		names->pci->pci_cleanup(names->access);
	}
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

bool pci_names_get(struct pci_names *names, enum pci_name what, const struct pci_ids *ids,
		   char *ret, size_t size)
{
	char buf[256];
	const char *found;
	jmp_buf env;

	*ret = '\0';
	if (!names->access)
		return false;
	on_error = &env;
	if (setjmp(env)) {
		names->access = NULL;
		return false;
	}
	found = lookup(names->pci, names->access, what, ids, buf, sizeof(buf));
	snprintf(ret, size, "%s", found ? found : "");
	return *ret;
}
