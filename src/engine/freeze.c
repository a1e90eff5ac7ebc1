/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/freeze.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/state.h"

#define FILE_NAME "profile"

/* Parses "NAME DIGEST\nGIVEN\n": cuts off the first line, and returns the rest, or "". */
static char *split_record(char *text)
{
	char *given = text + strcspn(text, "\n");

	if (*given)
		*given++ = '\0';
	str_chomp(given);
	return given;
}

int freeze_profile(const struct root *root, const struct profile *profile, const char *given,
		   enum freeze how, char **was, struct err *err)
{
	cleanup_free char *now = xasprintf("%s %s", profile->name, profile->digest);
	cleanup_free char *record =
		xasprintf("%s\n%s%s", now, given ? given : "", given ? "\n" : "");
	cleanup_free char *frozen = NULL;
	int r;

	*was = NULL;
	if (how == FREEZE_IGNORE)
		return 0;
	r = state_read(root, FILE_NAME, &frozen, err);
	if (r == 0 && streq(frozen, record))
		return 0;
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0) {
		split_record(frozen);
		if (!streq(frozen, now) && how == FREEZE_BOOT)
			return err_set(err, -ESTALE,
				       "the profile changed during this boot (was %s, is %s); "
				       "reboot, or run `railhead apply` and `railhead gate`",
				       frozen, now);
		if (how == FREEZE_BOOT)
			return 0;
		if (!streq(frozen, now))
			*was = take_ptr(frozen);
	}
	return state_write(root, FILE_NAME, record, err);
}

void freeze_forget(const struct root *root)
{
	state_remove(root, FILE_NAME, NULL);
}

void frozen_read(const struct root *root, struct frozen *ret)
{
	cleanup_free char *record = NULL;
	const char *given;
	char *digest;

	*ret = (struct frozen){0};
	if (state_read(root, FILE_NAME, &record, NULL) < 0)
		return;
	given = split_record(record);
	digest = strchr(record, ' ');
	if (!digest)
		return;
	*digest++ = '\0';
	ret->name = xstrdup(record);
	ret->digest = xstrdup(digest);
	ret->given = *given ? xstrdup(given) : NULL;
}

void frozen_free(struct frozen *f)
{
	free(f->name);
	free(f->digest);
	free(f->given);
}
