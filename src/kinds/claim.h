/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of procfs and sysfs that a change has at this moment, where other changes of the
 * profile may set the same files (plan_share_files(), plan_find_contests()).
 */
#pragma once

#include "kinds/kind.h"

/* Precedes contest where the contested file is the only one. */
#define CLAIM_LEFT "left as it is: "

struct claim {
	struct strv files; /* the files that this change sets */
	size_t all;	   /* the number of files that its pattern matches */
	/*
	 * A sentence about a file for which another section wants a different value, with both
	 * lines and the path; or NULL. No change sets a contested file, so files excludes it.
	 */
	char *contest;
	size_t contested; /* the number of contested files */
	char *first;	  /* the contested file that the sentence is about */
};

/*
 * Also sets the note of c, which names the other changes that have, or set as well, some of its
 * files. A path that no other change has is not looked up: its reader sees whether the file exists.
 */
int claim_find(const struct kind_ctx *ctx, struct change *c, struct claim *ret, struct err *err);
void claim_free(struct claim *claim);
#define cleanup_claim cleanup(claim_free)
/* Forgets the files that patterns matched; call it where new files may have come. */
void claims_forget(void);
