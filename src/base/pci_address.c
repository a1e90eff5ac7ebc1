/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pci_address.h"

#include <string.h>

#define HEX "0123456789abcdef"

size_t pci_address_len(const char *s)
{
	size_t domain = strspn(s, HEX);
	const char *rest = s + domain;

	if (domain < 4 || domain > 8 || rest[0] != ':' || strspn(rest + 1, HEX) != 2 ||
	    rest[3] != ':' || strspn(rest + 4, HEX) != 2 || rest[6] != '.' || rest[7] < '0' ||
	    rest[7] > '7')
		return 0;
	return domain + strlen(":18:00.0");
}
