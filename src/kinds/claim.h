/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files of procfs and sysfs a change has at this moment, where other changes of the profile
 * may be about the same ones (plan_share_files(), plan_find_contests()).
 */
#pragma once

#include "kinds/kind.h"

#define CLAIM_LEFT "left as it is: " /* before contest, where that is the only file */

struct claim {
	struct strv files; /* those that are its own */
	size_t all;	   /* how many its pattern matches */
	/*
	 * A file for which another section wants a different value: a sentence with both lines and
	 * the file; or NULL. Nobody sets such a file: it is none of files.
	 */
	char *contest;
	size_t contested; /* how many */
	char *first;	  /* of these files, which the sentence is about */
};

/*
 * Also sets the note of c: who has, or sets as well, some of its files. A path that no other change
 * has is not looked at: its reader sees whether the file is there.
 */
int claim_find(const struct kind_ctx *ctx, struct change *c, struct claim *ret, struct err *err);
void claim_free(struct claim *claim);
#define cleanup_claim cleanup(claim_free)
/* Which files there are is remembered until then: where new ones may have come. */
void claims_forget(void);
