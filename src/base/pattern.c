/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pattern.h"

#include <stdint.h>
#include <string.h>

enum { WEIGHT_LITERAL = 3, WEIGHT_CLASS = 2, WEIGHT_ANY_CHARACTER = 1 };

bool pattern_is(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

size_t pattern_weight(const char *text)
{
	size_t weight = 0;

	if (!pattern_is(text))
		return SIZE_MAX;
	for (const char *p = text; *p; p++) {
		const char *close = *p == '[' && p[1] ? strchr(p + 2, ']') : NULL;

		if (close)
			weight += WEIGHT_CLASS;
		else if (*p == '?')
			weight += WEIGHT_ANY_CHARACTER;
		else if (*p != '*')
			weight += WEIGHT_LITERAL;
		p = close ? close : p;
	}
	return weight;
}
