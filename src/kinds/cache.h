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

struct cached {
	char *addr;
	int result; /* 0, or of ask, with its words: info is NULL then */
	struct err err;
	void *info;
};

/* static; its first look-up lists it among those that are forgotten */
struct cache {
	/*
	 * Asks the function of that address, with a deadline. -ETIMEDOUT: a lock that all functions
	 * share is held; the others are not asked then, until all is forgotten.
	 */
	int (*ask)(const struct root *root, const char *addr, void **ret, struct err *err);
	void (*free)(void *info);
	VEC(struct cached *) entries;
	struct err held;
	struct cache *next;
	bool listed;
};

/* Never NULL; it is the cache's own, and valid until it is forgotten. */
const struct cached *cache_get(struct cache *cache, const struct root *root, const char *addr);
/* Of a result that is a failure: "CONTEXT: what happened". Returns it. */
int cached_failure(const struct cached *c, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* In all caches what that change may have altered; NULL: all. */
void caches_forget(const struct change *c);
