/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the kernel reads the key of an argument, and, inside this room, an argument split into its
 * parts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum karg_rule {
	KARG_LAST,  /* a plain key, or a parameter of a module: the last occurrence wins */
	KARG_LIST,  /* each occurrence is a comma list, and all lists add up: intel_iommu= */
	KARG_EACH,  /* each occurrence counts by itself: console=, rd.lvm.lv= */
	KARG_PAGES, /* hugepagesz= and hugepages=: pairs in order, the first of a size wins */
	KARG_FIRST, /* the first occurrence wins, later ones are dropped: isolcpus=, nohz_full= */
	KARG_KIND,  /* crashkernel=: the last of each kind wins (plain, ",high", ",low") */
	KARG_FLAG,  /* no value: quiet, ro */
};

enum karg_rule karg_rule(const char *text);
/* Compares the names of two tokens up to '='; '-' and '_' are equal. */
bool karg_same_key(const char *a, const char *b);
/*
 * Compares two tokens as the kernel reads them: '-' == '_' in the name, the value by bytes without
 * quotes.
 */
bool karg_equal(const char *a, const char *b);

/* --- inside this room ----------------------------------------------------------------------- */

/* A token as next_arg() passes it to the handlers, without quotes. */
struct token {
	const char *name;
	size_t name_len;
	const char *value; /* NULL: no '=' */
	size_t value_len;
};

struct token token_of(const char *text);
bool token_name_is(const struct token *t, const char *name, size_t len);
bool token_named(const struct token *t, const char *name);
bool token_value_same(const struct token *a, const struct token *b);
enum karg_rule token_rule(const struct token *t);
/* "module.param": of a module, or of dracut or systemd; "mod.param" alone sets a value too. */
bool token_is_param(const struct token *t);
/* The kind of a crashkernel=: ",high", ",low", ",cma" or "". */
const char *token_kind(const struct token *t);
