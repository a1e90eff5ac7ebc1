/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answers of functions to one sort of question, kept for the other looks of a run: a PF is
 * asked once for all values that looks need.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "sys/root.h"

struct change; /* of plan/change.h */

struct cached {
	char *addr;
	int result; /* 0, or the error of ask() with its text in err: info is then NULL */
	struct err err;
	void *info;
};

/* A static variable; the first look-up adds the cache to the list of caches_forget(). */
struct cache {
	/*
	 * Asks the function at addr, with a deadline. -ETIMEDOUT: a lock that all functions share
	 * is held; the other functions get the same error without being asked, until all answers
	 * are forgotten.
	 */
	int (*ask)(const struct root *root, const char *addr, void **ret, struct err *err);
	void (*free)(void *info);
	VEC(struct cached *) entries;
	struct err held;
	struct cache *next;
	bool listed;
};

/* Never NULL. The cache owns the answer, which is valid until it is forgotten. */
const struct cached *cache_get(struct cache *cache, const struct root *root, const char *addr);
/* Sets err to "CONTEXT: error" for a result that is a failure. Returns the result. */
int cached_failure(const struct cached *c, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Forgets, in all caches, the answers that the change may have altered; NULL: all answers. */
void caches_forget(const struct change *c);
