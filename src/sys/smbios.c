/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/smbios.h"

#include "sys/read.h"

enum { TABLE_MAX = 1 << 20 };

int smbios_read(const struct root *root, struct smbios *ret)
{
	*ret = (struct smbios){0};
	return read_start(root, TABLE_MAX, &ret->table, &ret->len, NULL,
			  "/sys/firmware/dmi/tables/DMI");
}

/* The size of the structure with its strings, which two zeros end; 0: it is cut. */
static size_t whole_size(const uint8_t *at, const uint8_t *end)
{
	size_t formatted = at[1];
	const uint8_t *p = at + formatted;

	if ((size_t)(end - at) < formatted)
		return 0;
	while (p + 1 < end && (p[0] || p[1]))
		p++;
	return p + 2 <= end ? (size_t)(p + 2 - at) : 0;
}

bool smbios_next(struct smbios *s, uint8_t type)
{
	const uint8_t *table = (const uint8_t *)s->table, *end = table + s->len;

	/* Type, length of the formatted part (4 at least), handle. */
	for (s->at = s->at ? s->at + s->size : table; s->at + 4 <= end && s->at[1] >= 4;
	     s->at += s->size) {
		s->formatted = s->at[1];
		s->size = whole_size(s->at, end);
		if (!s->size)
			return false;
		if (s->at[0] == type)
			return true;
	}
	return false;
}
