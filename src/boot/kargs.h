/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel arguments as the kernel sees them: tokens, never substrings. Pure, no I/O.
 *
 * Tokens are split as lib/cmdline.c next_arg() does: at white space outside double quotes,
 * a quote may open anywhere, there is no escape. '-' and '_' are equal in names
 * (kernel/params.c, parameq). What follows a lone "--" is for init.
 * How a repeated key is read depends on its handler (Documentation/admin-guide/
 * kernel-parameters.txt): see enum karg_rule (karg_token.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/karg.h"
#include "base/vec.h"
#include "boot/karg_token.h"

#define KARGS_HASH_LEN 16

struct ynode; /* of profile/yaml.h */

struct karg {
	char *text;		 /* "intel_iommu=on,sm_on" */
	char *origin;		 /* where it is wanted: "profile.yaml:12", or NULL */
	const struct ynode *why; /* that wants it, of the profile; or NULL */
};

/* An ordered list. Zero is empty. */
struct kargs {
	struct karg *v;
	size_t n;
	size_t cap;
};

/* Appends a token as it is. origin may be NULL. Both are copied. */
void kargs_add(struct kargs *l, const char *text, const char *origin);
/* Splits a command line into tokens and appends each; stops at a lone "--". */
void kargs_split(struct kargs *l, const char *line, const char *origin);
void kargs_free(struct kargs *l);
#define cleanup_kargs __attribute__((__cleanup__(kargs_free)))

/* The tokens with one blank between them; "" when empty. Caller frees. */
char *kargs_line(const struct kargs *l);
/* The first 16 hexadecimal digits of the SHA-256 of kargs_line(). */
void kargs_hash(const struct kargs *l, char ret[KARGS_HASH_LEN + 1]);
void kargs_hash_line(const char *line, char ret[KARGS_HASH_LEN + 1]);

/*
 * karg_check() of each; not more than KARGS_MAX of the form key=value without a dot in the key; and
 * the line fits a slot (-E2BIG).
 */
int kargs_check(const struct kargs *l, struct err *err);

/* The value of the last token of that key ("railhead.slot"), NULL if absent. Caller frees. */
char *kargs_value(const char *cmdline, const char *key);

/*
 * Whether a token is in force on a command line. By rule: the last token of a plain key
 * must be it, the first one where the first one wins; every item of a list-valued key must
 * be among the items of the key, and no word that undoes it (base/words.h) may come later;
 * a crashkernel= with ",high" or ",low" counts only where no plain one is (kernel/
 * crash_reserve.c); tokens of hugepages are looked at by kargs_missing(), which knows what
 * they belong to: here one must merely be there.
 */
bool kargs_has(const char *cmdline, const char *token);

/*
 * What of l is not in force on cmdline; appends to *ret. A pair of hugepagesz= and
 * hugepages= counts as one: it is in force if the first count given for that size on
 * cmdline is this one; both of its tokens are missing otherwise.
 */
void kargs_missing(const struct kargs *l, const char *cmdline, struct kargs *ret);

/*
 * What `owned` (a slot that this boot got) gave to cmdline and `wanted` no longer has:
 * an argument that a profile dropped. Appends to *ret.
 */
void kargs_dropped(const struct kargs *owned, const struct kargs *wanted, const char *cmdline,
		   struct kargs *ret);

/* The same tokens in the same order (as karg_equal). */
bool kargs_same(const struct kargs *a, const struct kargs *b);

/*
 * Arguments on the line that are not of `owned` (as kargs_predict() knows them) and
 * contradict one of `wanted`: the same key with another value, a word of a list that undoes
 * a wanted one, a crashkernel= that leaves a wanted one void. Such an argument is the
 * user's: it is reported, never removed. Appends to *ret.
 */
void kargs_conflicts(const struct kargs *wanted, const struct kargs *owned, const char *cmdline,
		     struct kargs *ret);

/*
 * The arguments of ours that the line itself tells: those between the mark of a trial or a count,
 * with what stands right behind that, and the mark of the slot. False: the line has not both marks.
 * Appends to *ret.
 */
bool kargs_between_marks(const char *cmdline, struct kargs *ret);

/*
 * What the next boot's line will be: this boot's without `owned` and railhead's own marks,
 * and `wanted` where ours stood: before the mark railhead.slot= (before each, if the menu
 * entry has the variable twice), at the end if there is no mark. The tokens of owned that
 * stand in their order right before the mark are ours, and what a trial or a count adds, which
 * stands right behind its own mark before them (ENV_TRIAL_EXTRA, ENV_BEGUN_EXTRA; an older
 * snippet's trial stands behind the slot's mark); equal ones elsewhere are the user's and stay, as
 * does all if there is no mark. The marks of the next boot are not part of it. What stands behind
 * "--" is kept; if ours stood there, wanted goes there, where the kernel does not see it. Tokens
 * with one blank between them. Caller frees.
 */
char *kargs_predict(const char *cmdline, const struct kargs *owned, const struct kargs *wanted);
