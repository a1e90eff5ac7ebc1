/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libpci: library.h. */
#pragma once

#include <pci/pci.h>

#include "sys/library.h"

/* clang-format off */
#define LIBPCI_FUNCTIONS(X) \
	X(pci_alloc) \
	X(pci_cleanup) \
	X(pci_fill_info) \
	X(pci_find_cap) \
	X(pci_free_dev) \
	X(pci_free_name_list) \
	X(pci_get_dev) \
	X(pci_init) \
	X(pci_lookup_name) \
	X(pci_read_block) \
	X(pci_read_byte) \
	X(pci_read_long) \
	X(pci_read_word) \
	X(pci_set_param) \
	X(pci_write_word)
/* clang-format on */

struct libpci {
	LIBPCI_FUNCTIONS(LIBRARY_SLOT)
};

const struct libpci *libpci_get(struct err *err);
