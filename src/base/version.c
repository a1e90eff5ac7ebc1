/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/version.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
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

static int compare_parts(const char *a, const char *b)
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

/*
 * The candidate's name in a kernel's release: "rc1" of 6.8.0-rc1, of
 * Ubuntu's 6.8.0-060800rc1-generic and of Fedora's 6.8.0-0.rc1.8.fc40; else NULL.
 */
static const char *find_candidate(const char *version)
{
	const char *dash = strchr(version, '-');

	for (const char *rc = dash; rc && (rc = strstr(rc, "rc")); rc++)
		if (!isalpha((unsigned char)rc[-1]) && isdigit((unsigned char)rc[2]))
			return rc;
	return NULL;
}

/* "6.8" of 6.8.0-18-amd64. The caller frees. */
static char *release_of(const char *version)
{
	size_t len = strcspn(version, "-");

	while (len > 2 && strncmp(version + len - 2, ".0", 2) == 0)
		len -= 2;
	return xstrndup(version, len);
}

int version_compare(const char *a, const char *b)
{
	const char *of_a = find_candidate(a), *of_b = find_candidate(b);
	cleanup_free char *release_a = NULL, *release_b = NULL;
	int r;

	if (!of_a && !of_b)
		return compare_parts(a, b);
	release_a = release_of(a);
	release_b = release_of(b);
	r = compare_parts(release_a, release_b);
	if (r || (of_a && of_b))
		return r ?: compare_parts(of_a, of_b);
	return of_a ? -1 : 1;
}

bool version_fits(const char *want, const char *have)
{
	size_t len = strlen(want);

	if (!*have)
		return false;
	if (str_starts(want, ">="))
		return version_compare(have, want + 2) >= 0;
	if (find_candidate(have) && !find_candidate(want))
		return false;
	return strncmp(have, want, len) == 0 && !isdigit((unsigned char)have[len]);
}
