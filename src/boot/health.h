/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What failed in a boot, kept for the boots after it, so that a trial of kernel arguments is judged
 * by what failed without them: an item that fails in both is no fault of theirs.
 *
 * Two are kept in /var/lib/railhead, each of one profile (its digest), one kernel and one set of
 * arguments. One that is absent, torn or of another form is as if it had never been.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "boot/kargs.h"
#include "sys/root.h"

/* So many ids are kept; where more failed, nothing is. So many are named to people. */
enum { HEALTH_ITEMS_MAX = 2048, HEALTH_NAMED = 3 };

enum health_of {
	HEALTH_OF_TRIAL, /* with the arguments on trial */
	HEALTH_BEFORE,	 /* with the earlier ones */
};

struct health {
	char *profile;		       /* digest */
	char *kernel;		       /* release; "" where it is not known */
	char args[KARGS_HASH_LEN + 1]; /* of those that railhead gave to the boot */
	bool refused;		       /* of a trial: failed are the items it was refused for */
	struct strv failed;	       /* ids of items; each once */
};

void health_free(struct health *h);
#define cleanup_health cleanup(health_free)

/* An id once, and without characters that the file has a use for. */
void health_add(struct strv *failed, const char *id);

/* The text of the file; NULL: too many items. Caller frees. */
char *health_render(const struct health *h);
/* -EBADMSG: nothing of it is taken. */
int health_parse(const char *text, struct health *ret);

/* Nothing is written where the same is kept already. */
int health_keep(const struct root *root, enum health_of which, const struct health *h,
		struct err *err);
/* True: one of this profile (NULL: of any), this kernel and these arguments is kept. */
bool health_kept(const struct root *root, enum health_of which, const char *profile,
		 const char *kernel, const char *args, struct health *ret);

/* Those that fail now and did not before. Returns how many they are. */
size_t health_news(const struct strv *now, const struct strv *before, struct strv *ret);
