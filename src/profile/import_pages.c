/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments about page pools, as hugepagesz_setup(), default_hugepagesz_setup() and
 * hugepages_setup() of mm/hugetlb.c read them: a count belongs to the size before it, or to the
 * default size where no size comes before it; the first count of a size wins.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "profile/import.h"
#include "profile/language.h"

#define POOLS "page pools have a section of their own: hugepages: "

struct pool {
	const char *size; /* static, one of a profile's words; NULL: the default size */
	char *count;	  /* as the argument gives it; NULL: no argument does */
	bool is_default;
};

struct pools {
	VEC(struct pool) list;
	size_t *of;	   /* by setting: the index of its pool, or one of the marks below */
	const char *size;  /* of vm.nr_hugepages: the last default_hugepagesz=, or NULL */
	size_t first;	   /* pool of this command line: that of the default size */
	size_t cur;	   /* the pool that the next count belongs to */
	unsigned int line; /* the command line that is read */
	bool valid;	   /* the next count counts */
};

#define NO_SIZE SIZE_MAX
#define VOID_COUNT (SIZE_MAX - 1)
#define LATER_COUNT (SIZE_MAX - 2)

/* As memparse() of the kernel: 1G, 1024M, 0x40000000. NULL: no page size of a profile. */
static const char *page_size(const char *text)
{
	char *end;
	unsigned long long number;
	uint64_t known;
	unsigned int shift;

	errno = 0;
	number = strtoull(text, &end, 0);
	shift = size_shift(*end);
	if (errno || !isdigit((unsigned char)*text) || (*end && (!shift || end[1])) ||
	    number > ULLONG_MAX >> shift)
		return NULL;
	for (const char *const *word = spec_page_size.words; *word; word++)
		if (parse_size(*word, &known) == 0 && known == number << shift)
			return *word;
	return NULL;
}

static size_t pool_of(struct pools *p, const char *size)
{
	for (size_t i = p->first; i < p->list.n; i++)
		if (p->list.v[i].size && streq(p->list.v[i].size, size))
			return i;
	vec_push(&p->list, (struct pool){.size = size});
	return p->list.n - 1;
}

static size_t read_size(struct pools *p, const char *text)
{
	const char *size = page_size(text);

	p->valid = size;
	if (size)
		p->cur = pool_of(p, size);
	return size ? p->cur : NO_SIZE;
}

/* Gives the pool of the default size its size. The kernel ignores a second default size. */
static size_t read_default(struct pools *p, const char *text)
{
	struct pool *first = &p->list.v[p->first];
	const char *size = page_size(text);
	bool again = first->size;

	p->valid = size && !again;
	if (!p->valid)
		return size ? p->first : NO_SIZE;
	for (size_t i = p->first + 1; i < p->list.n; i++)
		if (streq(p->list.v[i].size, size)) {
			p->list.v[i].is_default = true;
			p->size = size;
			return p->cur = i;
		}
	first->size = p->size = size;
	return p->cur = p->first;
}

static size_t read_count(struct pools *p, const char *text)
{
	struct pool *pool = &p->list.v[p->cur];
	bool valid = p->valid;

	p->valid = true;
	if (!valid)
		return VOID_COUNT;
	if (pool->count)
		return LATER_COUNT;
	pool->count = xstrdup(text);
	return p->cur;
}

static size_t read_argument(struct pools *p, const struct imported *one)
{
	const char *value = strchr(one->said, '=') + 1;

	if (one->pages_line != p->line) {
		p->line = one->pages_line;
		p->first = p->cur = p->list.n;
		p->valid = true;
		vec_push(&p->list, (struct pool){.is_default = true});
	}
	if (str_starts(one->said, "hugepagesz="))
		return read_size(p, value);
	if (str_starts(one->said, "default_hugepagesz="))
		return read_default(p, value);
	return read_count(p, value);
}

/* "0:32,1:16" -> "0: 32, 1: 16"; NULL: it is no list of nodes. The caller frees. */
static char *nodes_of(const char *count)
{
	cleanup_free char *copy = xstrdup(count);
	cleanup_str struct str out = {0};
	char *rest = copy, *part;

	while ((part = strsep(&rest, ","))) {
		char *pages = strchr(part, ':');
		uint64_t node, n;

		if (!pages)
			return NULL;
		*pages++ = '\0';
		if (parse_u64(part, &node) < 0 || parse_u64(pages, &n) < 0)
			return NULL;
		str_addf(&out, "%s%s: %s", out.len ? ", " : "", part, pages);
	}
	return str_take(&out);
}

static char *describe(const struct pool *pool, const char *fallback)
{
	const char *size = pool->size ? pool->size : fallback;
	const char *def = pool->size && pool->is_default ? ", default: true" : "";
	cleanup_free char *nodes = pool->count ? nodes_of(pool->count) : NULL;
	uint64_t all;

	if (nodes)
		return xasprintf(POOLS "[{size: %s, nodes: {%s}%s}]", size, nodes, def);
	if (pool->count && parse_u64(pool->count, &all) == 0)
		return xasprintf(POOLS "[{size: %s, per_node: N%s}], where N is %s divided by the "
				       "number of NUMA nodes",
				 size, def, pool->count);
	return xasprintf(POOLS "[{size: %s, per_node: ...%s}]", size, def);
}

static char *reason(const struct pools *p, const struct imported *one, size_t of)
{
	const struct pool any = {.size = NULL};

	if (one->pages_line == IMPORT_PAGES_SYSCTL)
		return describe(&any, p->size ? p->size : "2M");
	if (of == NO_SIZE)
		return xstrdup("x86-64 and arm64 have no such page size; the kernel ignores this "
			       "argument and the hugepages= after it");
	if (of == VOID_COUNT)
		return xstrdup("the kernel ignores this count, because it rejects the page size "
			       "before it");
	if (of == LATER_COUNT)
		return xstrdup("the kernel ignores this count, because an earlier hugepages= sets "
			       "the pool of this page size");
	return describe(&p->list.v[of], "2M");
}

void import_explain_pages(struct import *im)
{
	struct pools p = {.of = xcalloc(im->list.n + 1, sizeof(size_t))};

	for (size_t i = 0; i < im->list.n; i++)
		if (im->list.v[i].pages_line && im->list.v[i].pages_line != IMPORT_PAGES_SYSCTL)
			p.of[i] = read_argument(&p, &im->list.v[i]);
	for (size_t i = 0; i < im->list.n; i++) {
		struct imported *one = &im->list.v[i];

		if (!one->pages_line)
			continue;
		free(one->note);
		one->note = reason(&p, one, p.of[i]);
	}
	for (size_t i = 0; i < p.list.n; i++)
		free(p.list.v[i].count);
	vec_free(&p.list);
	free(p.of);
}
