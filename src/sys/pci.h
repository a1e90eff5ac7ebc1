/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The config space of a PCI function, from the file `config` of sysfs
 * (Documentation/ABI/testing/sysfs-bus-pci), below any root. Registers and bits have the names of
 * <pci/header.h>; words are little-endian, and come in the CPU's order.
 *
 * Apart from the header, only registers that a caller asks for are read, because each word is a
 * transaction on the bus, and a read of others has effects on some devices (lspci(8), -xxx).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/root.h"

/* The readable part of a function's config space. */
enum pci_reach {
	PCI_REACH_NONE,	    /* no such function, or a tree without config space */
	PCI_REACH_HEADER,   /* 64 bytes: the kernel shows users other than root no more */
	PCI_REACH_STANDARD, /* 256 bytes, or more: see pci_config_is_extended() */
};

enum {
	PCI_STANDARD_SIZE = 0x100,
	PCI_HEADER_READ = 0x44, /* bytes: the header, and the first word behind it */
};

struct pci_config {
	int fd; /* of a regular file below the root; -1: none */
	enum pci_reach reach;
	uint8_t header[PCI_HEADER_READ]; /* as it was at the open; ones beyond the end */
};

/*
 * addr: "0000:3b:00.0". write: also for pci_config_write(). 0, or a negative errno: -ENOENT if the
 * tree has no such file, -EBADFD if the file is not a regular file. The caller closes the result.
 */
int pci_config_open(const struct root *root, const char *addr, bool write, struct pci_config *ret,
		    struct err *err);
void pci_config_close(struct pci_config *c);
#define cleanup_pci_config cleanup(pci_config_close)

/* Reads len bytes at `at`, or fewer at the end of the readable part; returns how many. */
size_t pci_config_read(const struct pci_config *c, unsigned int at, void *ret, size_t len);
/* A register; all ones if it cannot be read, as a function that is gone answers. */
uint16_t pci_config_word(const struct pci_config *c, unsigned int at);
/* 0, or a negative errno. */
int pci_config_write(const struct pci_config *c, unsigned int at, uint16_t value);

/*
 * Where the first capability PCI_CAP_ID_... is, 0x40..0xfc; 0: none, or it cannot be read. The list
 * is walked as the kernel walks it (__pci_find_next_cap_ttl() of drivers/pci/pci.c): never back
 * into the header, and not for ever.
 */
unsigned int pci_config_find(const struct pci_config *c, uint8_t id);
/*
 * Whether `least` (HEADER or STANDARD) can be read: 0; -ENOENT: nothing; -EACCES: only the 64 bytes
 * of the header.
 */
int pci_config_reaches(const struct pci_config *c, const char *addr, enum pci_reach least,
		       struct err *err);
/* Whether the extended part, 0x100..0xfff, can be read. */
bool pci_config_is_extended(const struct pci_config *c);
/*
 * Where the first extended capability PCI_EXT_CAP_ID_... is, 0x100..0xffc; 0: none, or it cannot be
 * read. Functions without PCI Express have none (pci_find_next_ext_capability()).
 */
unsigned int pci_config_find_extended(const struct pci_config *c, uint16_t id);

/*
 * Vectors in the MSI-X table of a function, 1..2048; 0: no table. -EACCES: only 64 bytes of its
 * config space are readable; -ENOENT: no config space.
 */
int pci_msix_vectors(const struct root *root, const char *addr, unsigned int *ret, struct err *err);
