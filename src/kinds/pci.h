/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: targets of kind pci that have a file of their own. Those of pci.c are
 * "max_read_request:ADDR", 128 to 4096, and "relaxed_ordering:ADDR", true or false.
 */
#pragma once

#include "kinds/kind.h"
#include "sys/pci_express.h"

/*
 * For a look. 1: a captured tree that lacks it, and the change says so; an error where the
 * machine itself can't be read.
 */
int pci_read(const struct kind_ctx *ctx, struct change *c, const char *addr,
	     struct pci_express *ret, struct err *err);

/* pci_aspm.c, "aspm:ADDR": disabled, l0s, l1 or l0s_l1, of the link above the function. */
int pci_look_aspm(const struct kind_ctx *ctx, struct change *c, const char *addr, struct err *err);
int pci_set_aspm(const struct kind_ctx *ctx, struct change *c, const char *addr, struct err *err);
