/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pattern.h"

#include <fnmatch.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	WEIGHT_LITERAL = 3,
	WEIGHT_CLASS = 2,
	WEIGHT_ANY_CHARACTER = 1,
	WEIGHT_NAMES = 1 << 16, /* more than the weight of any path */
};

bool pattern_is(const char *text)
{
	return strpbrk(text, PATTERN_CHARACTERS) != NULL;
}

bool patterns_meet(const char *a, const char *b)
{
	if (pattern_is(a) && pattern_is(b))
		return true;
	return pattern_is(a) ? fnmatch(a, b, FNM_PERIOD | FNM_NOESCAPE) == 0
			     : fnmatch(b, a, FNM_PERIOD | FNM_NOESCAPE) == 0;
}

static size_t weigh(const char *begin, const char *end)
{
	size_t weight = 0;

	for (const char *p = begin; p < end; p++) {
		const char *close =
			*p == '[' && p + 1 < end ? memchr(p + 2, ']', (size_t)(end - p - 2)) : NULL;

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

/*
 * Whether a part names a device or has a pattern. Buses, classes and drivers do not count, although
 * many have digits.
 */
static bool is_name(const char *before, const char *part, size_t len)
{
	if (strcspn(part, "*?[") < len || !part[len])
		return true;
	if (str_starts(before, "drivers/") || str_starts(before, "module/") ||
	    str_starts(before, "devices/pci"))
		return false;
	return strcspn(part, "0123456789") < len;
}

size_t pattern_weight(const char *text)
{
	bool sysfs = str_starts(text, "/sys/");
	const char *before = "";
	size_t names = 0, all = 0;

	if (!pattern_is(text))
		return SIZE_MAX;
	while (*text) {
		size_t len = strcspn(text, "/"), weight = weigh(text, text + len);

		all += weight;
		names += is_name(before, text, len) ? weight : 0;
		before = text;
		text += len + (text[len] == '/');
	}
	/* A file of sysfs has many paths, so the choice of the path does not count. */
	return sysfs ? names : names * WEIGHT_NAMES + all;
}

/* The next component of a path, or "" at its end. Caller frees. */
static char *next_part(const char **path)
{
	const char *begin = *path + strspn(*path, "/");
	size_t len = strcspn(begin, "/");

	*path = begin + len;
	return xstrndup(begin, len);
}

bool paths_meet(const char *a, const char *b)
{
	for (;;) {
		cleanup_free char *pa = next_part(&a), *pb = next_part(&b);

		if (!*pa && !*pb)
			return true;
		if (!*pa || !*pb || !patterns_meet(pa, pb))
			return false;
	}
}
