/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/*
 * The length of the PCI address at the start of s, "0000:18:00.0", as the kernel writes it: lower
 * case, with a domain of 4 to 8 digits. 0: no address.
 */
size_t pci_address_len(const char *s);
