/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growable arrays: `VEC(struct change *) list = {0}; vec_push(&list, c);`. Zero is empty. */
#pragma once

#include <string.h>

#include "base/mem.h"

#define VEC(type)           \
	struct {            \
		type *v;    \
		size_t n;   \
		size_t cap; \
	}

#define vec_push(vec, item)                                                           \
	do {                                                                          \
		if ((vec)->n == (vec)->cap) {                                         \
			(vec)->cap = (vec)->cap ? (vec)->cap * 2 : 8;                 \
			(vec)->v = xrealloc((vec)->v, (vec)->cap, sizeof(*(vec)->v)); \
		}                                                                     \
		(vec)->v[(vec)->n++] = (item);                                        \
	} while (0)

/* Frees the array, but nothing that the items own. */
#define vec_free(vec)                      \
	do {                               \
		free((vec)->v);            \
		(vec)->v = NULL;           \
		(vec)->n = (vec)->cap = 0; \
	} while (0)

/* A list of owned strings. */
struct strv {
	char **v;
	size_t n;
	size_t cap;
};

void strv_add(struct strv *l, const char *s);
void strv_sort(struct strv *l); /* by bytes, as LC_ALL=C sort does */
int strv_contains(const struct strv *l, const char *s);
/*
 * "a, b and 3 more": names the first `most` and counts the others; "" for an empty list. Caller
 * frees.
 */
char *strv_some(const struct strv *l, size_t most);
void strv_free(struct strv *l);
#define cleanup_strv cleanup(strv_free)
