/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/err.h"
#include "profile/profile.h"
#include "sys/root.h"

enum freeze {
	FREEZE_IGNORE, /* plan, verify: look at the files as they are */
	FREEZE_BOOT,   /* a unit of this boot: the first one freezes, the others must agree */
	FREEZE_ANEW,   /* apply and gate by hand */
};

/*
 * /run/railhead/profile holds name and digest of the profile that this boot acts on, and in a
 * second line what --profile said where a person gave one: the units of this boot then take
 * that profile too, instead of matching.
 *
 * given: a name or an absolute path, or NULL. -ESTALE with a sentence if another profile is
 * frozen there (FREEZE_BOOT only). *was: the name and digest that were frozen before, where
 * that was another (FREEZE_ANEW), else NULL; the caller frees it.
 */
int freeze_profile(const struct root *root, const struct profile *profile, const char *given,
		   enum freeze how, char **was, struct err *err);
/* For a new user space: the profile is matched, or given by a person, again. */
void freeze_forget(const struct root *root);

struct frozen {
	char *name, *digest; /* NULL: no profile is frozen */
	char *given;	     /* what --profile said; NULL: the profile was matched */
};

void frozen_read(const struct root *root, struct frozen *ret);
void frozen_free(struct frozen *f);
