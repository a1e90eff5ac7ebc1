/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: what a command line says of huge pages. */
#pragma once

#include <stdint.h>

#include "boot/kargs.h"

/*
 * As hugepagesz_setup(), default_hugepagesz_setup() and hugepages_setup() of mm/hugetlb.c
 * read it: a count belongs to the size parsed last, the first count of a size wins, a size
 * given twice or unknown makes the count that follows it void.
 */
enum { PAGE_SIZES_MAX = 8, PAGES_OF_DEFAULT = -1, PAGES_OF_NONE = -2 };

struct pages {
	struct {
		uint64_t size;
		char *count; /* NULL: none */
	} of[PAGE_SIZES_MAX];
	size_t n;
	uint64_t def;	 /* default_hugepagesz=, 0: not given */
	char *def_count; /* a count before any size */
	int cur;	 /* index of the size that the next count belongs to, or PAGES_OF_DEFAULT */
	int last;	 /* the same, of the count that was taken last */
	bool valid;	 /* the next count counts */
};

void pages_parse(struct pages *p, const struct kargs *l);
void pages_free(struct pages *p);
#define cleanup_pages __attribute__((__cleanup__(pages_free)))
/* The count of a size, "" if the size is given without one, NULL if it is not given. */
const char *pages_of(const struct pages *p, uint64_t size);
/*
 * Calls each token of l that speaks of huge pages right or wrong by what `other` holds,
 * and appends those that are wrong. A size and its count go together.
 */
void pages_compare(const struct kargs *l, const struct pages *other, struct kargs *ret);
