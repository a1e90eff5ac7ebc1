/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

size_t utf8_expected(char first)
{
	unsigned char c = (unsigned char)first;

	return c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

size_t utf8_len(const char *s, size_t left)
{
	const unsigned char *b = (const unsigned char *)s;
	size_t n = utf8_expected(*s);

	if (n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((b[i] & 0xc0) != 0x80)
			return 0;
	if (n > 2 && ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
		      (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f)))
		return 0;
	return n;
}

uint32_t utf8_code(const char *s, size_t *ret_len)
{
	const unsigned char *b = (const unsigned char *)s;
	size_t len = *b < 0x80 ? 1 : *b < 0xe0 ? 2 : *b < 0xf0 ? 3 : 4;
	uint32_t c = len == 1 ? *b : *b & (0xffu >> (len + 1));

	for (size_t i = 1; i < len && b[i]; i++)
		c = c << 6 | (b[i] & 0x3fu);
	*ret_len = len;
	return c;
}
