/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/version.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

/* '~' sorts before the end of the text, and the end before any other character. */
static int weight(char c)
{
	return c == '~' ? -1 : (unsigned char)c;
}

/* Two runs of digits, of any length; moves both past them. */
static int compare_numbers(const char **a, const char **b)
{
	size_t na, nb;
	int r;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	na = strspn(*a, "0123456789");
	nb = strspn(*b, "0123456789");
	r = na != nb ? (na > nb) - (na < nb) : strncmp(*a, *b, na);
	*a += na;
	*b += nb;
	return r;
}

int version_compare(const char *a, const char *b)
{
	while (*a || *b) {
		int r;

		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			r = compare_numbers(&a, &b);
		} else {
			r = weight(*a) - weight(*b);
			a += *a != '\0';
			b += *b != '\0';
		}
		if (r)
			return r;
	}
	return 0;
}

bool version_fits(const char *want, const char *have)
{
	size_t len = strlen(want);

	if (!*have)
		return false;
	if (str_starts(want, ">="))
		return version_compare(have, want + 2) >= 0;
	return strncmp(have, want, len) == 0 && !isdigit((unsigned char)have[len]);
}
