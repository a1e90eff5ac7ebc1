/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/dropins.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sys/read.h"

static int by_base_name(const void *a, const void *b)
{
	const char *x = strrchr(*(char *const *)a, '/'), *y = strrchr(*(char *const *)b, '/');

	return strcmp(x, y);
}

void dropins_find(const struct root *root, const char *const *dirs, size_t n, const char *pattern,
		  struct strv *ret)
{
	cleanup_strv struct strv seen = {0};
	size_t before = ret->n;

	for (size_t d = 0; d < n; d++) {
		cleanup_free char *path = xasprintf("%s/%s", dirs[d], pattern);
		cleanup_strv struct strv files = {0};

		read_glob(root, path, &files, NULL);
		for (size_t i = 0; i < files.n; i++) {
			const char *name = files.v[i] + strlen(dirs[d]);

			if (strv_contains(&seen, name))
				continue;
			strv_add(&seen, name);
			strv_add(ret, files.v[i]);
		}
	}
	if (ret->n > before)
		qsort(ret->v + before, ret->n - before, sizeof(*ret->v), by_base_name);
}
