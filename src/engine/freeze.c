/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/freeze.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/emit.h"
#include "sys/state.h"

#define FILE_NAME "profile"
#define TEXT_NAME "profile.yaml"

/* Parses "NAME DIGEST\nGIVEN\n": cuts off the first line, and returns the rest, or "". */
static char *split_record(char *text)
{
	char *given = text + strcspn(text, "\n");

	if (*given)
		*given++ = '\0';
	str_chomp(given);
	return given;
}

/* Before the file that names its digest. */
static int write_text(const struct root *root, const struct profile *profile, struct err *err)
{
	cleanup_str struct str text = {0};

	profile_emit(profile, &text);
	return state_write(root, TEXT_NAME, str_get(&text), err);
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
		if (!streq(frozen, now) && how != FREEZE_ANEW)
			return err_set(err, -ESTALE,
				       "the profile changed during this boot (was %s, is %s); "
				       "reboot, or run `railhead apply` and `railhead gate`",
				       frozen, now);
		if (how != FREEZE_ANEW)
			return 0;
		if (!streq(frozen, now))
			*was = take_ptr(frozen);
	}
	r = write_text(root, profile, err);
	return r < 0 ? r : state_write(root, FILE_NAME, record, err);
}

void freeze_forget(const struct root *root)
{
	state_remove(root, FILE_NAME, NULL);
	state_remove(root, TEXT_NAME, NULL);
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

struct profile *frozen_profile(const struct root *root, const struct frozen *f)
{
	cleanup_free char *text = NULL;
	struct profile *p = NULL;
	struct diags diags = {0};

	if (f->digest && state_read(root, TEXT_NAME, &text, NULL) == 0)
		profile_check_text(root, STATE_DIR "/" TEXT_NAME, text, &p, &diags);
	diags_free(&diags);
	if (!p || streq(p->digest, f->digest))
		return p;
	profile_free(p);
	return NULL;
}

void frozen_free(struct frozen *f)
{
	free(f->name);
	free(f->digest);
	free(f->given);
}
