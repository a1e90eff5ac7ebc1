/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text for people: what is filtered, cut, wrapped and folded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/fold.h"
#include "report/screen.h"
#include "report/text.h"

static void test_scrub(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"", ""},
		{"plain\ttext\n", "plain\ttext\n"},
		{"Größe → 5 µs", "Größe → 5 µs"},
		{"\033[31mred\033[0m", "?[31mred?[0m"},
		{"a\rb\bc\177", "a?b?c?"},
		{"\302\233C1", "?C1"},	       /* CSI in one character */
		{"x\342\200\256y", "x?y"},     /* right-to-left override */
		{"x\342\201\246y", "x?y"},     /* an isolate */
		{"x\357\273\277y", "x?y"},     /* a byte order mark */
		{"torn \342\206", "torn ?"},   /* two of the three bytes of an arrow */
		{"torn \342\206x", "torn ?x"}, /* the same, and text after it */
		{"\200\201 no beginning", "?? no beginning"},
		{"\300\257 overlong", "?? overlong"},
		{"\340\200\257 overlong", "? overlong"},
		{"\355\240\200 surrogate", "? surrogate"},
		{"\364\220\200\200 too large", "? too large"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		cleanup_free char *got = scrub(cases[i].text);

		assert_string_equal(got, cases[i].wanted);
	}
}

static void test_cut(void **state)
{
	cleanup_free char *whole = text_cut("Größe", 5, true), *cut = text_cut("Größen", 5, true);
	cleanup_free char *ascii = text_cut("abcdefgh", 6, false),
			  *tiny = text_cut("abc", 2, false);

	(void)state;
	assert_string_equal(whole, "Größe");
	assert_string_equal(cut, "Größ…");
	assert_string_equal(ascii, "abc...");
	assert_string_equal(tiny, "ab");
}

static char *wrapped(const char *text, size_t columns)
{
	char *s = NULL;
	size_t n;
	FILE *out = open_memstream(&s, &n);

	text_wrap(out, text, columns, 2);
	fclose(out);
	return s;
}

static void test_wrap(void **state)
{
	cleanup_free char *some = wrapped("one two three", 9), *none = wrapped("one  two", 80);
	cleanup_free char *long_word = wrapped("a verylongword b", 6), *nothing = wrapped("", 6);

	(void)state;
	assert_string_equal(some, "one two\n  three\n");
	assert_string_equal(none, "one  two\n");
	assert_string_equal(long_word, "a verylongword\n  b\n");
	assert_string_equal(nothing, "\n");
}

/* --- folding -------------------------------------------------------------------------------- */

#define RAIL0 "0000:18:00.0"
#define RAIL1 "0000:3a:00.0"
#define GPU0 "0000:19:00.0"

static void add_set(struct record_sets *sets, const char *name, const char *a, const char *b)
{
	struct record_set set = {.name = xstrdup(name)};

	strv_add(&set.addresses, a);
	if (b)
		strv_add(&set.addresses, b);
	vec_push(&sets->list, set);
}

/* "of|name|names|items" of each row, in one text. */
static char *folded(const struct fold_item *items, size_t n)
{
	cleanup(record_sets_free) struct record_sets sets = {0};
	cleanup(fold_free) struct fold f = {0};
	struct str out = {0};

	add_set(&sets, "rails", RAIL0, RAIL1);
	add_set(&sets, "gpu", GPU0, NULL);
	fold(items, n, &sets, false, &f);
	for (size_t i = 0; i < f.rows.n; i++)
		str_addf(&out, "%s|%s|%s|%zu\n", f.rows.v[i].of, f.rows.v[i].name,
			 f.rows.v[i].names ? f.rows.v[i].names : "", f.rows.v[i].items.n);
	return str_take(&out);
}

#define assert_folded(wanted, ...)                                           \
	do {                                                                 \
		const struct fold_item items_[] = {__VA_ARGS__};             \
		cleanup_free char *got_ = folded(items_, array_len(items_)); \
		assert_string_equal(got_, wanted);                           \
	} while (0)

static void test_fold_sets(void **state)
{
	(void)state;
	/* a whole set, a part of one, one that is alone, one of no set */
	assert_folded("rails x2|link mtu||2\n", {"differs", "link/" RAIL0 "/mtu", "1 -> 2", NULL},
		      {"differs", "link/" RAIL1 "/mtu", "1 -> 2", NULL});
	assert_folded("rails " RAIL1 "|link mtu||1\n",
		      {"differs", "link/" RAIL1 "/mtu", "1 -> 2", NULL});
	assert_folded("rails x2, gpu " GPU0 "|pcie max||3\n",
		      {"differs", "pcie/" RAIL0 "/max", "1 -> 2", NULL},
		      {"differs", "pcie/" GPU0 "/max", "1 -> 2", NULL},
		      {"differs", "pcie/" RAIL1 "/max", "1 -> 2", NULL});
	assert_folded("0000:99:00.0|link mtu||1\n",
		      {"differs", "link/0000:99:00.0/mtu", "1 -> 2", NULL});
	/* another value, label or reason is another line */
	assert_folded("rails " RAIL0 "|link mtu||1\nrails " RAIL1 "|link mtu||1\n",
		      {"differs", "link/" RAIL0 "/mtu", "1 -> 2", NULL},
		      {"differs", "link/" RAIL1 "/mtu", "3 -> 2", NULL});
	assert_folded("rails " RAIL0 "|link mtu||1\nrails " RAIL1 "|link mtu||1\n",
		      {"differs", "link/" RAIL0 "/mtu", "1 -> 2", NULL},
		      {"failed", "link/" RAIL1 "/mtu", "1 -> 2", NULL});
	assert_folded("rails " RAIL0 "|link mtu||1\nrails " RAIL1 "|link mtu||1\n",
		      {"differs", "link/" RAIL0 "/mtu", "1 -> 2", "x"},
		      {"differs", "link/" RAIL1 "/mtu", "1 -> 2", NULL});
}

static void test_fold_others(void **state)
{
	(void)state;
	assert_folded("3 vfs of rails|sriov driver||3\n",
		      {"waits", "sriov/" RAIL0 "/vf0/driver", "a", "VF 0 of " RAIL0 " is away"},
		      {"waits", "sriov/" RAIL0 "/vf1/driver", "a", "VF 1 of " RAIL0 " is away"},
		      {"waits", "sriov/" RAIL1 "/vf0/driver", "a", "VF 0 of " RAIL1 " is away"});
	assert_folded("vf1 of rails " RAIL0 "|sriov driver||1\n",
		      {"waits", "sriov/" RAIL0 "/vf1/driver", "a", NULL});
	assert_folded("node0, node1|hugepages 1G||2\n", {"waits", "hugepages/1G/node0", "0", NULL},
		      {"waits", "hugepages/1G/node1", "0", NULL});
	assert_folded("2 pairs|gate peer||2\n", {"slow", "gate/peer/" RAIL0 "-" RAIL1, "a", NULL},
		      {"slow", "gate/peer/" RAIL0 "-" GPU0, "a", NULL});
	assert_folded("|modules load|a, b|2\n|modules blacklist/c||1\n|x||1\n",
		      {"differs", "modules/load/a", "absent", NULL},
		      {"differs", "modules/load/b", "absent", NULL},
		      {"differs", "modules/blacklist/c", "absent", NULL},
		      {"differs", "x", "absent", NULL});
	assert_folded("|sysfs /sys/kernel/mm/x||1\n|sysfs /sys/kernel/mm/y||1\n",
		      {"differs", "sysfs//sys/kernel/mm/x", "1", NULL},
		      {"differs", "sysfs//sys/kernel/mm/y", "2", NULL});
}

/* Makes a terminal of so many columns standard output while screen_look() looks. */
static struct screen look_at_terminal(unsigned short columns, const char *variable)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int controller, terminal, output = dup(STDOUT_FILENO);
	struct screen screen;

	assert_true(output >= 0);
	assert_int_equal(openpty(&controller, &terminal, NULL, NULL, &size), 0);
	if (variable)
		setenv("COLUMNS", variable, 1);
	else
		unsetenv("COLUMNS");
	fflush(stdout);
	dup2(terminal, STDOUT_FILENO);
	screen = screen_look();
	dup2(output, STDOUT_FILENO);
	close(output);
	close(terminal);
	close(controller);
	return screen;
}

/* A serial console has no size, unless somebody set one with stty. */
static void test_columns(void **state)
{
	static const struct {
		unsigned short size;
		const char *variable;
		unsigned int columns;
	} cases[] = {
		{100, NULL, 100}, {100, "120", 100}, {0, NULL, 80}, {0, "120", 120},
		{0, "", 80},	  {0, "wide", 80},   {0, "-1", 80}, {0, "9999", 80},
		{0, "1", 40},	  {1, NULL, 40},
	};

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct screen screen = look_at_terminal(cases[i].size, cases[i].variable);

		assert_true(screen.terminal);
		if (screen.columns != cases[i].columns)
			fail_msg("size %u, COLUMNS=%s: %u columns", cases[i].size,
				 cases[i].variable ? cases[i].variable : "(unset)", screen.columns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scrub),	    cmocka_unit_test(test_cut),
		cmocka_unit_test(test_wrap),	    cmocka_unit_test(test_fold_sets),
		cmocka_unit_test(test_fold_others), cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
