/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libpci with its errors caught: its own handler exits, and only main() may do that. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

struct libpci;	   /* sys/libpci.h */
struct pci_access; /* of libpci */

struct pci_lib {
	const struct libpci *fn;
	struct pci_access *access;
	bool broken; /* missing, or it gave up in the middle of something: it is not asked again */
};

/*
 * root NULL: for names alone, no way to the bus is looked for. -ELIBACC: it is missing; -EIO: it
 * gave up. Nothing needs closing then.
 */
int pci_lib_open(struct pci_lib *ret, const struct root *root, struct err *err);
void pci_lib_close(struct pci_lib *lib);

/*
 * Calls fn(pci, access, arg), which may return early inside any function of libpci: what it
 * allocated before is then lost. -EIO when it did, or did in an earlier call.
 */
typedef void pci_lib_fn(const struct libpci *pci, struct pci_access *access, void *arg);
int pci_lib_call(struct pci_lib *lib, pci_lib_fn *fn, void *arg, struct err *err);

/* How much of a function's config space could be read. */
enum pci_reach {
	PCI_REACH_NONE,	    /* no such function, or a tree without config space */
	PCI_REACH_HEADER,   /* 64 bytes: all that the kernel shows to others than root */
	PCI_REACH_STANDARD, /* 256: conventional PCI, or a kernel without extended access */
	PCI_REACH_ALL,
};

struct pci_dev; /* of libpci */

/*
 * The function of that address ("0000:3b:00.0") with its capabilities listed, to be freed
 * with pci_free_dev(); NULL if that is no address. For use inside of fn above.
 */
struct pci_dev *pci_lib_function(const struct libpci *pci, struct pci_access *access,
				 const char *addr, enum pci_reach *reach);

/*
 * Vectors in the MSI-X table of a function, 1..2048; 0: it has none. -EACCES: only 64 bytes
 * of its config space can be read; -ENOENT: none.
 */
int pci_msix_vectors(const struct root *root, const char *addr, unsigned int *ret, struct err *err);
