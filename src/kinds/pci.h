/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PCI Express settings of a function. They are in registers of its config space, and are lost with
 * a reset of the function or a reboot.
 */
#pragma once

#include "kinds/target.h"
#include "sys/pci_express.h"

/*
 * The target of a change of kind_pci: on.item; on.name is the function's address. Most settings are
 * bits of a register (<pci/header.h>) that hold the number of the wanted value: a
 * boolean, the index of a word of its spec, or the number itself.
 */
struct pci_setting {
	struct target_item sort;
	unsigned int reg; /* PCI_EXP_DEVCTL, PCI_EXP_DEVCTL2 or PCI_EXP_LNKCTL: 16 bits */
	uint16_t mask;
	/*
	 * Returns 0, or -EOPNOTSUPP for a function that cannot have the wanted value. May be NULL.
	 */
	int (*refuse)(const struct kind_ctx *ctx, const struct change *c, struct err *err);
	const char *files; /* a pattern of the device's files that show the value; or NULL */
};

int pci_bits_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int pci_bits_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
#define PCI_BITS(at, bits, ...)                                                          \
	(&(const struct pci_setting){                                                    \
		.sort = {.kind = &kind_pci, .look = pci_bits_look, .set = pci_bits_set}, \
		.reg = (at),                                                             \
		.mask = (bits),                                                          \
		__VA_ARGS__})

/* Rejects relaxed ordering below root ports that do it wrong. */
int pci_refuse_disordered(const struct kind_ctx *ctx, const struct change *c, struct err *err);

/* pci_aspm.c, for the link above the function; the wanted number is 1 for L0s plus 2 for L1. */
extern const struct pci_setting pci_aspm;

/*
 * For a look. 1: a captured tree lacks the registers, and the change reports it. An error: the
 * machine itself cannot be read.
 */
int pci_read(const struct kind_ctx *ctx, struct change *c, const char *addr,
	     struct pci_express *ret, struct err *err);

/*
 * "pci=NAMEVALUE" of a command line, with this option alone: the last option of that name, because
 * the last one is in force (drivers/pci/pci.c, pci_setup()). NULL: there is none. The caller frees.
 */
char *pci_argument(const char *cmdline, const char *name);
/* The same for the argument that sets bits of ACS. */
char *acs_argument(const char *cmdline);
