/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/cache.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/change.h"

static struct cache *caches;

const struct cached *cache_get(struct cache *cache, const struct root *root, const char *addr)
{
	struct cached *e;

	if (!cache->listed) {
		cache->next = caches;
		caches = cache;
		cache->listed = true;
	}
	for (size_t i = 0; i < cache->entries.n; i++)
		if (streq(cache->entries.v[i]->addr, addr))
			return cache->entries.v[i];
	e = xnew(struct cached);
	e->addr = xstrdup(addr);
	if (cache->held.code) {
		e->err = cache->held;
		e->result = cache->held.code;
	} else {
		e->result = cache->ask(root, addr, &e->info, &e->err);
	}
	if (e->result < 0 && e->info) {
		cache->free(e->info);
		e->info = NULL;
	}
	if (e->result == -ETIMEDOUT)
		cache->held = e->err;
	vec_push(&cache->entries, e);
	return e;
}

int cached_failure(const struct cached *c, struct err *err, const char *fmt, ...)
{
	cleanup_str struct str context = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&context, fmt, ap);
	va_end(ap);
	err_copy(err, c->result, &c->err);
	err_wrap(err, "%s", str_get(&context));
	return c->result;
}

/*
 * Whether the change is about the function or one of its VFs. The target of an attribute is its
 * path.
 */
static bool concerns(const struct change *c, const char *addr)
{
	return !c || (c->on.name && streq(c->on.name, addr)) || str_starts(c->lane, addr) ||
	       (c->kind == &kind_attr && strstr(c->target, addr));
}

static void forget(struct cache *cache, const struct change *c)
{
	size_t kept = 0;

	if (!c)
		cache->held.code = 0;
	for (size_t i = 0; i < cache->entries.n; i++) {
		struct cached *e = cache->entries.v[i];

		if (concerns(c, e->addr)) {
			if (e->info)
				cache->free(e->info);
			free(e->addr);
			free(e);
		} else {
			cache->entries.v[kept++] = e;
		}
	}
	cache->entries.n = kept;
	if (!kept)
		vec_free(&cache->entries);
}

void caches_forget(const struct change *c)
{
	for (struct cache *cache = caches; cache; cache = cache->next)
		forget(cache, c);
}
