/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/err.h"
#include "profile/profile.h"
#include "sys/root.h"

enum freeze {
	FREEZE_IGNORE, /* plan, verify: ignore the frozen profile, and read the files as they are */
	FREEZE_BOOT,   /* a unit of this boot: the first unit freezes, the others must agree */
	FREEZE_LATER,  /* a look after the verdict: by the frozen profile, whatever its files say */
	FREEZE_ANEW,   /* apply and gate by hand */
};

/*
 * /run/railhead/profile holds name and digest of the profile that this boot acts on. If a person
 * gave --profile, a second line holds its value: the units of this boot then use that profile too,
 * instead of matching. /run/railhead/profile.yaml holds the whole profile, with its bases and
 * drop-ins merged in, for looks after the verdict.
 *
 * given: a name or an absolute path, or NULL. Returns -ESTALE with a sentence if the file names
 * another profile (FREEZE_BOOT only). *was: the name and digest frozen before, if they differ
 * (FREEZE_ANEW), else NULL; the caller frees it.
 */
int freeze_profile(const struct root *root, const struct profile *profile, const char *given,
		   enum freeze how, char **was, struct err *err);
/* For a new user space: its first run matches the profile again, or a person gives it again. */
void freeze_forget(const struct root *root);

struct frozen {
	char *name, *digest; /* NULL: no profile is frozen */
	char *given;	     /* the value of --profile; NULL: the profile was matched */
};

void frozen_read(const struct root *root, struct frozen *ret);
/*
 * The whole profile; NULL if its text is not there or is that of another digest. The caller frees:
 * profile_free().
 */
struct profile *frozen_profile(const struct root *root, const struct frozen *f);
void frozen_free(struct frozen *f);
