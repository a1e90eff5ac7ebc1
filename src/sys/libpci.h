/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libpci: library.h. */
#pragma once

#include <pci/pci.h>

#include "sys/library.h"

/* clang-format off */
#define LIBPCI_FUNCTIONS(X) \
	X(pci_alloc) \
	X(pci_cleanup) \
	X(pci_free_name_list) \
	X(pci_lookup_name)
/* clang-format on */

struct libpci {
	LIBPCI_FUNCTIONS(LIBRARY_SLOT)
};

const struct libpci *libpci_get(struct err *err);
