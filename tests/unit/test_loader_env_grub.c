/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What GRUB makes of a file. That it is so with GRUB itself: tests/grub_reader.bats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "../lib/env_grub.h"
#include "base/mem.h"
#include "base/str.h"
#include "loader/env.h"

#define SIG ENV_SIGNATURE
#define GOOD "railhead_layout=1\nrailhead_good=a\nrailhead_a=A\nrailhead_b=B\n"
#define ARMED GOOD "railhead_try=b\n"
#define BEGIN "railhead.args "
#define A BEGIN "A railhead.slot=a"
#define COUNTED(n) "railhead.begun=" n " " ENV_BEGUN_EXTRA " "
#define TRIAL "railhead.trial=b " ENV_TRIAL_EXTRA " " BEGIN "B railhead.slot=b"

/* loads, layout known, slot, args; trial where the args say so. */
static const struct {
	const char *text;
	size_t len;
	bool loads, taken;
	char slot;
	const char *kargs;
} cases[] = {
#define FILE(text) text, sizeof(text) - 1
	{FILE(""), false, false, '-', ""},
	{FILE("#"), false, false, '-', ""},
	{FILE("x\n" SIG ARMED), false, false, '-', ""},
	{FILE("# GRUB Environment Block\r\n" ARMED), false, false, '-', ""},
	/* longer than the signature, by anything */
	{FILE(SIG), false, false, '-', ""},
	{FILE(SIG "#"), true, false, '-', ""},
	/* any length, no padding */
	{FILE(SIG GOOD), true, true, 'a', A},
	{FILE(SIG ARMED), true, true, 'b', TRIAL},
	{FILE(SIG "railhead_good=a\nrailhead_a=A\n"), true, false, '-', ""},
	{FILE(SIG "railhead_layout=2\nrailhead_good=a\nrailhead_a=A\n"), true, false, '-', ""},
	{FILE(SIG "railhead_layout=1\nrailhead_good=-\n"), true, true, '-', ""},
	{FILE(SIG "railhead_layout=1\nrailhead_good=\n"), true, true, '-', ""},
	{FILE(SIG "railhead_layout=1\nrailhead_good=ab\n"), true, true, '-', ""},
	{FILE(SIG "railhead_layout=1\nrailhead_good=b\n"), true, true, 'b',
	 BEGIN "railhead.slot=b"},
	/* blanks and carriage returns are of the value; args are split at them */
	{FILE(SIG "railhead_layout=1 \nrailhead_good=a\n"), true, false, '-', ""},
	{FILE(SIG "railhead_layout=1\r\nrailhead_good=a\r\n"), true, false, '-', ""},
	{FILE(SIG GOOD "railhead_a= x\ty  z\r\n"), true, true, 'a', BEGIN "x y z railhead.slot=a"},
	/* the last line counts */
	{FILE(SIG GOOD "railhead_good=b\n"), true, true, 'b', BEGIN "B railhead.slot=b"},
	{FILE(SIG ARMED "railhead_try=-\n"), true, true, 'a', A},
	/* comments, and what hides a line */
	{FILE(SIG "#railhead_layout=2\n" GOOD), true, true, 'a', A},
	{FILE(SIG GOOD "#railhead_good=b\n"), true, true, 'a', A},
	{FILE(SIG " " GOOD), true, false, '-', ""},
	{FILE(SIG "x\n" GOOD), true, false, '-', ""},
	{FILE(SIG "x=\\\n" GOOD), true, false, '-', ""},
	{FILE(SIG "#\\\n" GOOD), true, false, '-', ""},
	{FILE(SIG "x=\\\\\n" GOOD), true, true, 'a', A},
	{FILE(SIG "\n" GOOD), true, false, '-', ""},
	/* no '=' or no line feed: what came before is kept */
	{FILE(SIG GOOD "railhead_good=b"), true, true, 'a', A},
	{FILE(SIG GOOD "railhead_good=b\\"), true, true, 'a', A},
	{FILE(SIG GOOD "x\n"), true, true, 'a', A},
	{FILE(SIG GOOD "# \\"), true, true, 'a', A},
	/* escapes, a value on two lines, a NUL */
	{FILE(SIG GOOD "railhead_a=\\x\\\\y\n"), true, true, 'a', BEGIN "x\\y railhead.slot=a"},
	{FILE(SIG GOOD "railhead_a=x\\\ny\n"), true, true, 'a', BEGIN "x y railhead.slot=a"},
	{FILE(SIG GOOD "railhead_a=x\0y\n"), true, true, 'a', BEGIN "x railhead.slot=a"},
	{FILE(SIG GOOD "railhead_a\0x=y\n"), true, true, 'a', BEGIN "y railhead.slot=a"},
	{FILE(SIG GOOD "railhead_a=b=c=\n"), true, true, 'a', BEGIN "b=c= railhead.slot=a"},
	/* save_env: no line feed at the end; the first of two lines; no line of that name */
	{FILE(SIG ARMED "x"), true, true, 'a', A},
	{FILE(SIG ARMED "railhead_try=b\n"), true, true, 'a', A},
	{FILE(SIG "railhead_try=-\n" ARMED), true, true, 'a', A},
	{FILE(SIG GOOD "railhead_try\0=b\n###############"), true, true, 'b', TRIAL},
	{FILE(SIG GOOD "railhead_try\0=b\n##############"), true, true, 'a', A},
	{FILE(SIG "railhead_try=\n" GOOD "railhead_try\0=b\n"), true, true, 'a', A},
	/* written into the value of another: the reader still sees b */
	{FILE(SIG GOOD "railhead_try=b\nx\nrailhead_try=-\n"), true, true, 'b', TRIAL},
	{FILE(SIG GOOD "x\nrailhead_try=-\nrailhead_try=b\n"), true, true, 'a', A},
	/* boots that have begun */
	{FILE(SIG GOOD "railhead_begun=0\n"), true, true, 'a', COUNTED("1") A},
	{FILE(SIG GOOD "railhead_begun=1\n"), true, true, 'a', COUNTED("2") A},
	{FILE(SIG GOOD "railhead_begun=2\n"), true, true, 'a', BEGIN "railhead.slot=-a"},
	{FILE(SIG GOOD "railhead_begun=3\n"), true, true, 'a', A},
	{FILE(SIG GOOD "railhead_begun=2 \n"), true, true, 'a', A},
	{FILE(SIG GOOD "railhead_begun=x\n"), true, true, 'a', A},
	{FILE(SIG GOOD "railhead_begun=\n"), true, true, 'a', A},
	{FILE(SIG GOOD "railhead_begun=-\n"), true, true, 'a', A},
	{FILE(SIG ARMED "railhead_begun=2\n"), true, true, 'b', TRIAL},
#undef FILE
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		/* As long as the file: the sanitizer sees a read behind its end. */
		cleanup_free char *text = xcalloc(cases[i].len, 1);
		struct env_grub g;

		memcpy(text, cases[i].text, cases[i].len);
		env_grub_read(text, cases[i].len, true, &g);
		if (g.loads != cases[i].loads || g.taken_by_snippet != cases[i].taken ||
		    g.slot != cases[i].slot || !streq(g.kargs, cases[i].kargs) ||
		    g.trial != !!strstr(cases[i].kargs, ENV_ARG_TRIAL))
			fail_msg("case %zu: %d %d %c %d \"%s\" for %s", i, g.loads,
				 g.taken_by_snippet, g.slot, g.trial, g.kargs, cases[i].text);
	}
}

static void test_read_only(void **state)
{
	struct env_grub g;

	(void)state;
	env_grub_read(SIG ARMED, strlen(SIG ARMED), false, &g);
	assert_int_equal(g.slot, 'a');
	assert_false(g.trial);
	assert_string_equal(g.kargs, A);
}

static char count_of_boot(char begun)
{
	struct boot_env env = {.good = 'a', .try_ = ENV_NONE, .begun = begun};
	struct env_grub g;
	char buf[ENV_SIZE];

	env_render(&env, buf);
	env_grub_boot(buf, sizeof(buf), true, &g);
	assert_int_equal(g.left_out, begun == '2');
	assert_int_equal(env_parse(buf, sizeof(buf), &env, NULL), 0);
	return env.begun;
}

static void test_count(void **state)
{
	(void)state;
	assert_int_equal(count_of_boot('0'), '1');
	assert_int_equal(count_of_boot('1'), '2');
	assert_int_equal(count_of_boot('2'), '2');
	assert_int_equal(count_of_boot(ENV_NONE), ENV_NONE);
}

/* save_env moves no byte of a sound file: after it, the file says that the trial is taken. */
static void test_take(void **state)
{
	struct boot_env env, back;
	struct env_grub g;
	char buf[ENV_SIZE], small[] = SIG "x=";

	(void)state;
	env_init(&env);
	env.try_ = 'b';
	strcpy(env.slot[1], "new=1");
	env_render(&env, buf);
	assert_true(env_grub_take(buf, sizeof(buf)));
	assert_int_equal(env_parse(buf, sizeof(buf), &back, NULL), 0);
	assert_int_equal(back.try_, ENV_TAKEN);
	env_grub_read(buf, sizeof(buf), true, &g);
	assert_int_equal(g.slot, 'a');
	assert_false(g.trial);
	assert_false(env_grub_take(small, strlen(small)));
	assert_string_equal(small, SIG "x=");
}

/* Longer than a kernel takes: cut, and the rest of it goes the way of all that is cut. */
static void test_long(void **state)
{
	cleanup_str struct str text = {0};
	struct env_grub g;

	(void)state;
	str_add(&text, SIG GOOD "railhead_a=");
	for (int i = 0; i < 3000; i++)
		str_add(&text, "ab ");
	str_add(&text, "\n");
	env_grub_read(text.s, text.len, true, &g);
	assert_int_equal(g.slot, 'a');
	assert_int_equal(strlen(g.kargs), ENV_GRUB_KARGS_SIZE - 1);
	assert_memory_equal(g.kargs, BEGIN "ab ab ab", strlen(BEGIN) + 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases), cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_count), cmocka_unit_test(test_take),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
