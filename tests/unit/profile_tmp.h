/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A root of its own for each test, with the files that it needs. Include after cmocka.h. */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "profile/profile.h"
#include "profile/search.h"

struct tmp {
	struct root root;
	struct diags diags;
	struct err err;
	char dir[64];
};

static int tmp_setup(void **state)
{
	struct tmp *t = calloc(1, sizeof(*t));

	strcpy(t->dir, "/tmp/railhead-test-XXXXXX");
	if (!mkdtemp(t->dir) || root_init(&t->root, t->dir, &t->err) < 0)
		return -1;
	*state = t;
	return 0;
}

static int tmp_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tmp_teardown(void **state)
{
	struct tmp *t = *state;

	nftw(t->dir, tmp_remove, 16, FTW_DEPTH | FTW_PHYS);
	root_close(&t->root);
	diags_free(&t->diags);
	free(t);
	return 0;
}

/* The path of a file below the test's root; its directories are made. Static buffer. */
static inline const char *tmp_path(const struct tmp *t, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
	for (char *p = path + strlen(t->dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	return path;
}

static inline void tmp_write(const struct tmp *t, const char *name, const char *text)
{
	FILE *f = fopen(tmp_path(t, name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define ETC "etc/railhead/profiles/"
#define RUN "run/railhead/profiles/"
#define USR "usr/lib/railhead/profiles/"

static inline void tmp_print(const struct diags *d)
{
	for (size_t i = 0; i < d->list.n; i++) {
		char *line = diag_format(&d->list.v[i]);

		print_message("%s\n", line);
		free(line);
	}
}

/* Whether a message holds text. */
static inline bool tmp_says(const struct diags *d, const char *text)
{
	bool found = false;

	for (size_t i = 0; i < d->list.n; i++) {
		char *line = diag_format(&d->list.v[i]);

		found |= strstr(line, text) != NULL;
		free(line);
	}
	return found;
}

#define assert_says(d, text)                        \
	do {                                        \
		if (!tmp_says((d), (text)))         \
			tmp_print(d);               \
		assert_true(tmp_says((d), (text))); \
	} while (0)
