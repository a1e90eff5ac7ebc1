/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the items that failed in a boot for later boots, so that a trial of kernel arguments is
 * compared with a boot without them: items that fail in both are not the arguments' fault.
 *
 * Two records are kept in /var/lib/railhead, each for one profile (its digest), one kernel and one
 * set of arguments. A record that is absent, torn or in another format counts as absent.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "boot/kargs.h"
#include "sys/root.h"

/*
 * The maximum number of ids in a record; if more items failed, no record is kept. The number of
 * items that a message names.
 */
enum { HEALTH_ITEMS_MAX = 2048, HEALTH_NAMED = 3 };

enum health_of {
	HEALTH_OF_TRIAL, /* the boot with the arguments on trial */
	HEALTH_BEFORE,	 /* the boot with the earlier arguments */
};

struct health {
	char *profile;		       /* digest */
	char *kernel;		       /* release; "" if unknown */
	char args[KARGS_HASH_LEN + 1]; /* of the arguments that railhead gave to the boot */
	bool refused; /* of a trial: its arguments were rejected because of the items in failed */
	struct strv failed; /* ids of items, each once */
};

void health_free(struct health *h);
#define cleanup_health cleanup(health_free)

/* Adds an id once, without the characters that the file format uses. */
void health_add(struct strv *failed, const char *id);

/* The text of the file; NULL if there are too many items. Caller frees. */
char *health_render(const struct health *h);
/* -EBADMSG: the text is damaged; no part of it is used. */
int health_parse(const char *text, struct health *ret);

/* Writes the record, unless the same record is kept already. */
int health_keep(const struct root *root, enum health_of which, const struct health *h,
		struct err *err);
/* True: a record of this profile (NULL: of any), this kernel and these arguments is kept. */
bool health_kept(const struct root *root, enum health_of which, const char *profile,
		 const char *kernel, const char *args, struct health *ret);

/* Appends the items that fail now and did not fail before. Returns their number. */
size_t health_news(const struct strv *now, const struct strv *before, struct strv *ret);
