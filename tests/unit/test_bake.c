/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pure parts of bake: unit files, GRUB's file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "../lib/env_grub.h"
#include "base/mem.h"
#include "base/str.h"
#include "bake/bake.h"
#include "loader/env.h"

static void words_are(const char *text, const char *wanted)
{
	cleanup_strv struct strv words = {0};
	cleanup_str struct str line = {0};

	bake_unit_words(text, "Unit", "After", &words);
	for (size_t i = 0; i < words.n; i++)
		str_addf(&line, "%s%s", i ? " " : "", words.v[i]);
	assert_string_equal(str_get(&line), wanted);
}

static void unit_words(void **state)
{
	(void)state;
	words_are("", "");
	words_are("[Unit]\nAfter=a.service b.service\nAfter=c\n", "a.service b.service c");
	words_are("[Unit]\nAfter = a\t b \n[Install]\nAfter=c\n", "a b");
	words_are("After=a\n[Service]\nAfter=b\n[Unit]\n#After=c\n;After=d\nAfterX=e\nAfter=f",
		  "f");
	words_are("[Unit]\nAfter=a\nAfter=\nAfter=b\n", "b");
	words_are("[Unit]\nAfter=a \\\n b\\\nc\nBefore=d\n", "a b c");
	words_are("[Unit]\nAfter=a\\", "a\\");
}

static void gate_names(void **state)
{
	static const char *const bad[] = {
		"",	    "a b",  "../x",    "a/b", "x.target", "x.socket", "railhead-gate",
		".service", "a\nb", "x.mount", "a$b"};
	char long_name[300] = "";
	struct err err;
	char *name;

	(void)state;
	assert_int_equal(bake_gate_name("kubelet", &name, &err), 0);
	assert_string_equal(name, "kubelet.service");
	free(name);
	assert_int_equal(bake_gate_name("a@b-c\\x2d.service", &name, &err), 0);
	assert_string_equal(name, "a@b-c\\x2d.service");
	free(name);
	memset(long_name, 'a', sizeof(long_name) - 1);
	assert_int_equal(bake_gate_name(long_name, &name, &err), -EINVAL);
	for (size_t i = 0; i < array_len(bad); i++)
		assert_int_equal(bake_gate_name(bad[i], &name, &err), -EINVAL);
}

static void env_is(const char *text, char good, const char *args)
{
	struct boot_env env;
	struct err err;

	assert_int_equal(strlen(text), ENV_SIZE);
	assert_int_equal(env_parse(text, strlen(text), &env, &err), 0);
	assert_int_equal(env.good, good);
	assert_int_equal(env.try_, ENV_NONE);
	assert_string_equal(env_slot(&env, env.good), args);
}

static void env_file(void **state)
{
	struct kargs none = {0}, one cleanup_kargs = {0}, other cleanup_kargs = {0};
	cleanup_free char *empty = NULL, *first = NULL, *again = NULL, *second = NULL, *x = NULL;
	struct err err;

	(void)state;
	kargs_split(&one, "iommu=pt hugepagesz=1G hugepages=8", NULL);
	kargs_split(&other, "iommu=off", NULL);
	assert_int_equal(bake_env(NULL, &none, &empty, &err), 0);
	env_is(empty, 'a', "");
	assert_int_equal(bake_env(NULL, &one, &first, &err), 0);
	env_is(first, 'b', "iommu=pt hugepagesz=1G hugepages=8");
	assert_int_equal(bake_env(first, &one, &again, &err), 0);
	assert_string_equal(first, again);
	assert_int_equal(bake_env(first, &other, &second, &err), 0);
	env_is(second, 'a', "iommu=off");
	/* what is on trial is not to be tried */
	first[54] = 'a';
	free(take_ptr(again));
	assert_int_equal(bake_env(first, &one, &again, &err), 0);
	assert_int_equal(again[54], ENV_NONE);
	/* a selector that means nothing counts as none */
	first[54] = '?';
	free(take_ptr(again));
	assert_int_equal(bake_env(first, &one, &again, &err), 0);
	assert_int_equal(again[54], ENV_NONE);
	assert_int_equal(bake_env("mine", &one, &x, &err), -EBADMSG);
	assert_int_equal(bake_env("", &one, &x, &err), 0);
}

/* What GRUB passes boot by boot, while none has a verdict. */
static void first_boots(void **state)
{
	static const char with[] =
		"railhead.begun=2 panic=30 railhead.args iommu=off railhead.slot=b";
	struct kargs bad cleanup_kargs = {0};
	cleanup_free char *env = NULL, *unwritable = NULL;
	struct env_grub grub;
	struct err err;

	(void)state;
	kargs_split(&bad, "iommu=off", NULL);
	assert_int_equal(bake_env(NULL, &bad, &env, &err), 0);
	unwritable = xstrdup(env);
	env_grub_boot(env, ENV_SIZE, true, &grub);
	assert_string_equal(grub.kargs, with);
	env_grub_boot(env, ENV_SIZE, true, &grub);
	assert_true(grub.left_out);
	assert_null(strstr(grub.kargs, "iommu=off"));
	/* Where GRUB can't write there is no count, and the arguments arrive. */
	for (int i = 0; i < 3; i++) {
		env_grub_boot(unwritable, ENV_SIZE, false, &grub);
		assert_false(grub.left_out);
		assert_non_null(strstr(grub.kargs, "iommu=off"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unit_words),
		cmocka_unit_test(gate_names),
		cmocka_unit_test(env_file),
		cmocka_unit_test(first_boots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
