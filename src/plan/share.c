/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of several lines of a section has a file that all of them match. */
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/change.h"

/* The next component of a path, or "" at its end. Caller frees. */
static char *next_part(const char **path)
{
	const char *begin = *path + strspn(*path, "/");
	size_t len = strcspn(begin, "/");

	*path = begin + len;
	return xstrndup(begin, len);
}

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* Whether a name can match both. Of two patterns that is assumed. */
static bool parts_meet(const char *a, const char *b)
{
	if (is_pattern(a) && is_pattern(b))
		return true;
	return is_pattern(a) ? fnmatch(a, b, FNM_PERIOD) == 0 : fnmatch(b, a, FNM_PERIOD) == 0;
}

/*
 * Sysfs has a device below /sys/devices, and links to it below /sys/class, /sys/block and
 * /sys/bus: paths that part in these first directories may be of one file if it has the same
 * name in both. /proc/sys has no links.
 */
enum { LINKED_DEPTH = 2 };

static bool names_meet(const char *a, const char *b)
{
	return parts_meet(strrchr(a, '/') + 1, strrchr(b, '/') + 1);
}

/* Whether the two may match one file; *ret_alias: by different names. */
static bool targets_meet(const char *a, const char *b, bool *ret_alias)
{
	const char *at = a, *bt = b;

	*ret_alias = false;
	for (int depth = 0;; depth++) {
		cleanup_free char *pa = next_part(&at), *pb = next_part(&bt);

		if (!*pa && !*pb)
			return true;
		if (*pa && *pb && parts_meet(pa, pb))
			continue;
		*ret_alias = depth > 0 && depth <= LINKED_DEPTH && str_starts(a, "/sys/");
		return *ret_alias && names_meet(a, b);
	}
}

/* How narrow a pattern is: what is literal in it, then what takes the fewest characters. */
static size_t weight(const char *target)
{
	size_t n = 0;

	if (!is_pattern(target))
		return SIZE_MAX;
	for (const char *p = target; *p; p++) {
		const char *close = *p == '[' && p[1] ? strchr(p + 2, ']') : NULL;

		n += close ? 2 : *p == '?' ? 1 : *p == '*' ? 0 : 3;
		p = close ?: p;
	}
	return n;
}

static void yield(struct change *c, const struct change *to, bool alias)
{
	struct rival rival = {.id = xstrdup(to->id), .target = xstrdup(to->target), .alias = alias};

	vec_push(&c->yields_to, rival);
}

void plan_share_files(struct plan *plan, size_t from)
{
	for (size_t i = from; i < plan->list.n; i++)
		for (size_t j = i + 1; j < plan->list.n; j++) {
			struct change *a = plan->list.v[i], *b = plan->list.v[j];
			bool alias;

			if (!targets_meet(a->target, b->target, &alias))
				continue;
			if (weight(a->target) > weight(b->target))
				yield(b, a, alias);
			else
				yield(a, b, alias);
		}
}
