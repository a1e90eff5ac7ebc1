/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: the huge pages that a command line asks for. */
#pragma once

#include <stdint.h>

#include "kargs/kargs.h"

/*
 * Parsed as in hugepagesz_setup(), default_hugepagesz_setup() and hugepages_setup() of
 * mm/hugetlb.c: a count belongs to the size parsed last; the first count of a size wins; a repeated
 * or unknown size makes the count that follows it void.
 */
enum { PAGE_SIZES_MAX = 8, PAGES_OF_DEFAULT = -1, PAGES_OF_NONE = -2 };

struct pages {
	struct {
		uint64_t size;
		char *count; /* NULL: none */
	} of[PAGE_SIZES_MAX];
	size_t n;
	uint64_t def;	 /* default_hugepagesz=, 0: absent */
	char *def_count; /* a count before any size */
	int cur;	 /* index of the size that the next count belongs to, or PAGES_OF_DEFAULT */
	int last;	 /* the same for the count that was accepted last */
	bool valid;	 /* the next count is not void */
};

void pages_parse(struct pages *p, const struct kargs *l);
void pages_free(struct pages *p);
#define cleanup_pages __attribute__((__cleanup__(pages_free)))
/* The count of a size; "" if the size has no count, NULL if the size is absent. */
const char *pages_of(const struct pages *p, uint64_t size);
/*
 * Compares each huge-page token of l with `other` and appends the tokens that differ. A size and
 * its count go together.
 */
void pages_compare(const struct kargs *l, const struct pages *other, struct kargs *ret);
