/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/mounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct line {
	int id;
	const char *dir;  /* still escaped */
	const char *rest; /* behind the separator " - ": type, source, options */
};

/* "36 35 98:0 /root /dir options [tag:...] - type source super-options"; cuts the text. */
static bool parse_line(char *text, struct line *ret)
{
	char *separator = strstr(text, " - "), *rest = text, *field[5];

	if (!separator)
		return false;
	*separator = '\0';
	for (size_t i = 0; i < array_len(field); i++) {
		field[i] = strsep(&rest, " ");
		if (!field[i])
			return false;
	}
	ret->id = atoi(field[0]);
	ret->dir = field[4];
	ret->rest = separator + strlen(" - ");
	return true;
}

/* Spaces, tabs, newlines and backslashes are written as \ooo (fs/proc_namespace.c, mangle()). */
static bool same_path(const char *escaped, const char *path)
{
	while (*escaped) {
		char c = *escaped;

		if (c == '\\' && strspn(escaped + 1, "01234567") >= 3) {
			char octal[4] = {escaped[1], escaped[2], escaped[3]};

			c = (char)strtol(octal, NULL, 8);
			escaped += 3;
		}
		escaped++;
		if (c != *path++)
			return false;
	}
	return !*path;
}

/* "rw,vers=4.2,proto=rdma,port=20049": the value of a key; "" without it. */
static void find_option(const char *options, const char *key, char *ret, size_t size)
{
	cleanup_free char *copy = xstrdup(options);
	char *rest = copy, *word;

	ret[0] = '\0';
	while ((word = strsep(&rest, ", ")))
		if (str_starts(word, key))
			snprintf(ret, size, "%s", word + strlen(key));
}

/* Calls for each line; the text is copied, since lines are cut. */
static bool each_line(const char *mountinfo, bool (*fits)(const struct line *l, const void *arg),
		      const void *arg, struct mount *ret)
{
	cleanup_free char *copy = xstrdup(mountinfo);
	char *rest = copy, *text;

	while ((text = strsep(&rest, "\n"))) {
		struct line l;

		if (!parse_line(text, &l) || !fits(&l, arg))
			continue;
		if (ret && sscanf(l.rest, "%31s %255s", ret->type, ret->source) == 2)
			find_option(l.rest, "proto=", ret->transport, sizeof(ret->transport));
		return true;
	}
	return false;
}

static bool has_id(const struct line *l, const void *arg)
{
	return l->id == *(const int *)arg;
}

static bool has_dir(const struct line *l, const void *arg)
{
	return same_path(l->dir, arg);
}

bool mounts_find(const char *mountinfo, int id, struct mount *ret)
{
	*ret = (struct mount){.type = ""};
	return each_line(mountinfo, has_id, &id, ret);
}

bool mounts_has(const char *mountinfo, const char *dir)
{
	return each_line(mountinfo, has_dir, dir, NULL);
}

char *mounts_cause(const struct mount *m, const char *want)
{
	/* rdma6 is the same over IPv6 */
	if (!m->transport[0] || !*want || str_starts(m->transport, want))
		return NULL;
	return xasprintf("%s is reached over %s, not %s: the server has no %s, or the module that "
			 "brings it (rpcrdma) was not there when it was mounted",
			 m->source, m->transport, want, want);
}
