/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel arguments as the kernel sees them: tokens, never substrings. Pure, no I/O.
 *
 * Tokens are split as in lib/cmdline.c next_arg(): at white space outside double quotes; a quote
 * may open anywhere, and there is no escape. '-' and '_' are equal in names (kernel/params.c,
 * parameq). Words after a lone "--" are for init. The handler of a key decides how a repeated key
 * is read (Documentation/admin-guide/kernel-parameters.txt): see enum karg_rule (karg_token.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/karg.h"
#include "base/stored.h"
#include "base/vec.h"
#include "kargs/token.h"

#define KARGS_HASH_LEN 16

struct ynode; /* of profile/yaml.h */

struct karg {
	char *text;		 /* "intel_iommu=on,sm_on" */
	char *origin;		 /* the place that wants it: "profile.yaml:12", or NULL */
	const struct ynode *why; /* the node of the profile that wants it; or NULL */
};

/* An ordered list. Zero is empty. */
struct kargs {
	struct karg *v;
	size_t n;
	size_t cap;
};

/* Appends a token unchanged. origin may be NULL. Both are copied. */
void kargs_add(struct kargs *l, const char *text, const char *origin);
/* Splits a command line into tokens and appends each; stops at a lone "--". */
void kargs_split(struct kargs *l, const char *line, const char *origin);
/* The same with "--" and the words behind it. */
void kargs_split_all(struct kargs *l, const char *line);
void kargs_free(struct kargs *l);
/* The arguments as an array of texts, for JSON. */
extern const struct stored kargs_stored[];
#define cleanup_kargs __attribute__((__cleanup__(kargs_free)))

/* The tokens, separated by single blanks; "" when empty. Caller frees. */
char *kargs_line(const struct kargs *l);
/* The first 16 hexadecimal digits of the SHA-256 of kargs_line(). */
void kargs_hash(const struct kargs *l, char ret[KARGS_HASH_LEN + 1]);
void kargs_hash_line(const char *line, char ret[KARGS_HASH_LEN + 1]);

/*
 * Runs karg_check() on each argument. Also checks that at most KARGS_MAX arguments have the form
 * key=value without a dot in the key, and that the line fits a slot (-E2BIG).
 */
int kargs_check(const struct kargs *l, struct err *err);

/* Runs karg_check_parsed() on each argument. */
int kargs_check_parsed(const struct kargs *l, struct err *err);

/* The value of the last token of that key ("railhead.slot"); NULL if absent. Caller frees. */
char *kargs_value(const char *cmdline, const char *key);

/*
 * Whether a token is in force on a command line, by its rule:
 *
 *  - plain key: the last token of the key must be this token; the first token where the first wins;
 *  - list: every item must be among the items of the key, and no later word may undo it
 *    (base/words.h);
 *  - crashkernel= with ",high" or ",low": counts only if there is no plain crashkernel=
 *    (kernel/crash_reserve.c);
 *  - huge pages: the token must be there; kargs_missing(), which knows the pairs of size and count,
 *    checks the rest.
 */
bool kargs_has(const char *cmdline, const char *token);

/*
 * Appends the arguments of l that are not in force on cmdline to *ret. A pair of hugepagesz= and
 * hugepages= counts as one: it is in force if the first count for that size on cmdline is this one,
 * else both of its tokens are missing.
 */
void kargs_missing(const struct kargs *l, const char *cmdline, struct kargs *ret);

/*
 * Appends the arguments that `owned` (a slot that this boot got) gave to cmdline and that `wanted`
 * lacks to *ret: a profile has dropped them.
 */
void kargs_dropped(const struct kargs *owned, const struct kargs *wanted, const char *cmdline,
		   struct kargs *ret);

/* The same tokens in the same order (compared by karg_equal). */
bool kargs_same(const struct kargs *a, const struct kargs *b);
/* The same tokens, and those of one key, and the pairs of huge pages, in the same order. */
bool kargs_same_but_order(const struct kargs *a, const struct kargs *b);

/*
 * Appends the arguments on the line that contradict an argument of `wanted` and are not of `owned`
 * (as in kargs_predict()) to *ret: the same key with another value, a word of a list that undoes a
 * wanted word, a crashkernel= that makes a wanted one void. These arguments are the user's: they
 * are reported, and never removed.
 */
void kargs_conflicts(const struct kargs *wanted, const struct kargs *owned, const char *cmdline,
		     struct kargs *ret);

/*
 * Appends our arguments, as the line itself shows them, to *ret: the words between the marks
 * ENV_ARG_BEGIN and ENV_ARG_SLOT; of an older snippet, those between the mark of a trial or a
 * count, with the words that it adds, and the mark of the slot. False: one of the marks is missing.
 */
bool kargs_between_marks(const char *cmdline, struct kargs *ret);

/*
 * The next boot's line: this boot's line without `owned` and railhead's own marks, and with
 * `wanted` in their place: before the mark railhead.slot= (before each mark, if the menu entry has
 * the variable twice), or at the end if there is no mark.
 *
 * Ours are the tokens between the marks, and the words that a trial or a count adds
 * (ENV_TRIAL_EXTRA, ENV_BEGUN_EXTRA), which stand before them, right behind their own mark. Of an
 * older snippet, which had no mark before the args, they are the tokens of owned that stand in
 * their order right before the slot's mark; its trial may stand behind that mark. Equal tokens
 * elsewhere are the user's and stay; without a mark all tokens stay.
 *
 * The result has none of the next boot's marks. Words behind "--" stay; if ours stood there, wanted
 * goes there too, where the kernel does not see it. Tokens are separated by single blanks. Caller
 * frees.
 */
char *kargs_predict(const char *cmdline, const struct kargs *owned, const struct kargs *wanted);
