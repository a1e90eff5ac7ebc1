/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pattern.h"

#include <stdint.h>
#include <string.h>

enum { WEIGHT_LITERAL = 3, WEIGHT_CLASS = 2, WEIGHT_ANY_CHARACTER = 1 };

bool pattern_is(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* In text, the end of the directory of sysfs that lists devices; its begin if it has none. */
static const char *after_listing(const char *text)
{
	static const char *const listings[] = {"/sys/class/*/", "/sys/bus/*/devices/",
					       "/sys/bus/*/drivers/", "/sys/block/",
					       "/sys/devices/"};

	for (size_t i = 0; i < sizeof(listings) / sizeof(*listings); i++) {
		const char *t = text, *l = listings[i];

		for (; *l && (*l == '*' || *l == *t); l++)
			t += *l == '*' ? strcspn(t, "/") : 1;
		if (!*l)
			return t;
	}
	return text;
}

size_t pattern_weight(const char *text)
{
	size_t weight = 0;

	if (!pattern_is(text))
		return SIZE_MAX;
	for (const char *p = after_listing(text); *p; p++) {
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
