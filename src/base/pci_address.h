/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

/*
 * The length of the PCI address at the beginning of s, "0000:18:00.0", as the kernel writes it:
 * lower case, a domain of 4 to 8 digits. 0: there is none.
 */
size_t pci_address_len(const char *s);
