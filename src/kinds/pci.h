/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's own PCI Express settings. They live in registers of its config space, and are gone
 * with a reset of the function or a new boot.
 */
#pragma once

#include "kinds/kind.h"
#include "sys/pci_express.h"

/*
 * What a change of kind_pci is about: on.item; on.name is the function's address. Most are bits of
 * a register (<pci/header.h> of libpci) that hold the number of the wanted value: a boolean,
 * which word of its spec, or itself.
 */
struct pci_setting {
	unsigned int reg; /* PCI_EXP_DEVCTL, PCI_EXP_DEVCTL2 or PCI_EXP_LNKCTL: 16 bits */
	uint16_t mask;
	/* NULL, or: 0, or the -EOPNOTSUPP of a function that can't have the wanted value. */
	int (*refuse)(const struct kind_ctx *ctx, const struct change *c, struct err *err);
	/* Of one that is more than bits of the function; else NULL. */
	int (*look)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	int (*set)(const struct kind_ctx *ctx, struct change *c, struct err *err);
	const char *files; /* of the device, in which the value shows: a pattern; or NULL */
};

#define PCI_BITS(at, bits, ...) \
	(&(const struct pci_setting){.reg = (at), .mask = (bits), __VA_ARGS__})

/* Of relaxed ordering: below some root ports it does harm. */
int pci_refuse_disordered(const struct kind_ctx *ctx, const struct change *c, struct err *err);

/* pci_aspm.c, of the link above the function; the value's number: 1 for L0s, plus 2 for L1. */
extern const struct pci_setting pci_aspm;

/*
 * For a look. 1: a captured tree that lacks it, and the change says so; an error where the
 * machine itself can't be read.
 */
int pci_read(const struct kind_ctx *ctx, struct change *c, const char *addr,
	     struct pci_express *ret, struct err *err);

/*
 * "pci=NAMEVALUE" of a command line, with the one option alone: the last one that has it, as that
 * is the one in force (drivers/pci/pci.c, pci_setup()). NULL: none has. The caller frees.
 */
char *pci_argument(const char *cmdline, const char *name);
/* The argument that sets bits of ACS; the same. */
char *acs_argument(const char *cmdline);
