/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a function has answered to one sort of question, kept for the other looks of a run: a PF
 * is asked once for all that is to be known of it.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "plan/change.h"
#include "sys/root.h"

struct heard {
	char *addr;
	int result; /* 0, or of ask, with its words: info is NULL then */
	struct err err;
	void *info;
};

struct hearing {
	/*
	 * Asks the function of that address, with a deadline. -ETIMEDOUT: a lock that all functions
	 * share is held; the others are not asked then, until all is forgotten.
	 */
	int (*ask)(const struct root *root, const char *addr, void **ret, struct err *err);
	void (*free)(void *info);
	VEC(struct heard *) memory;
	struct err held;
};

/* Never NULL; it is the table's own, and valid until it is forgotten. */
const struct heard *hear(struct hearing *table, const struct root *root, const char *addr);
/* For the forget() of struct kind: what that change may have altered; NULL: all. */
void hearing_forget(struct hearing *table, const struct change *c);
