/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Catches the errors of libpci, because its own handler exits, and only main() may exit. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

struct libpci;	   /* sys/libpci.h */
struct pci_access; /* of libpci */

struct pci_lib {
	const struct libpci *fn;
	struct pci_access *access;
	bool broken; /* missing, or failed in the middle of a call: no further calls */
};

/*
 * root NULL: only names, without access to the bus. -ELIBACC: libpci is missing; -EIO: libpci gave
 * up. After an error nothing needs closing.
 */
int pci_lib_open(struct pci_lib *ret, const struct root *root, struct err *err);
void pci_lib_close(struct pci_lib *lib);

/*
 * Calls fn(pci, access, arg), which may return early inside any function of libpci; its earlier
 * allocations then leak. -EIO if this call or an earlier call returned early.
 */
typedef void pci_lib_fn(const struct libpci *pci, struct pci_access *access, void *arg);
int pci_lib_call(struct pci_lib *lib, pci_lib_fn *fn, void *arg, struct err *err);

/* The readable part of a function's config space. */
enum pci_reach {
	PCI_REACH_NONE,	    /* no such function, or a tree without config space */
	PCI_REACH_HEADER,   /* 64 bytes: the kernel shows users other than root no more */
	PCI_REACH_STANDARD, /* 256: conventional PCI, or a kernel without extended access */
	PCI_REACH_ALL,
};

struct pci_dev; /* of libpci */

/*
 * The function at that address ("0000:3b:00.0") with its capabilities listed; the caller frees it
 * with pci_free_dev(). NULL if addr is not an address. For use inside of fn above.
 */
struct pci_dev *pci_lib_function(const struct libpci *pci, struct pci_access *access,
				 const char *addr, enum pci_reach *reach);

/*
 * Vectors in the MSI-X table of a function, 1..2048; 0: no table. -EACCES: only 64 bytes of its
 * config space are readable; -ENOENT: no config space.
 */
int pci_msix_vectors(const struct root *root, const char *addr, unsigned int *ret, struct err *err);
