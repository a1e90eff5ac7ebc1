/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The error contract: each document in bad/ and in warn/ gives exactly the lines of the .txt
 * beside it, those in warn/ warnings only; each in good/ and each shipped profile gives none.
 * GOLDEN=1 writes the .txt files anew: read the difference before you commit it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <glob.h>

#include "profile_tmp.h"

#ifndef FIXTURES
#define FIXTURES "tests/fixtures/profiles"
#endif
#ifndef SHIPPED
#define SHIPPED "profiles"
#endif

/* All messages, each file without its directories. */
static char *messages(const struct tmp *t, const char *path, int *ret)
{
	struct diags diags = {0};
	struct profile *p = NULL;
	struct str out = {0};
	struct err err = {0};

	*ret = profile_load_named(&t->root, path, NULL, &p, &diags, &err);
	assert_true((*ret < 0) == (diags.errors > 0));
	for (size_t i = 0; i < diags.list.n; i++) {
		struct diag d = diags.list.v[i];
		const char *slash = strrchr(d.at.file, '/');
		char *line;

		d.at.file = slash ? slash + 1 : d.at.file;
		line = diag_format(&d);
		str_addf(&out, "%s\n", line);
		free(line);
	}
	profile_free(p);
	diags_free(&diags);
	return str_take(&out);
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	struct str text = {0};
	char buf[4096];
	size_t n;

	while (f && (n = fread(buf, 1, sizeof(buf), f)) > 0)
		str_addn(&text, buf, n);
	if (f)
		fclose(f);
	return str_take(&text);
}

static void each(const char *pattern, const struct tmp *t,
		 void (*fn)(const struct tmp *t, const char *path))
{
	glob_t g = {0};

	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	for (size_t i = 0; i < g.gl_pathc; i++)
		fn(t, g.gl_pathv[i]);
	globfree(&g);
}

/* Whether path gives what the .txt beside it says; returns what loading it did. */
static int gives(const struct tmp *t, const char *path)
{
	char *txt = xasprintf("%.*s.txt", (int)strlen(path) - 5, path);
	char *wanted = slurp(txt), *got;
	int r;

	got = messages(t, path, &r);
	if (getenv("GOLDEN")) {
		FILE *f = fopen(txt, "w");

		fputs(got, f);
		fclose(f);
	} else if (!*wanted || !streq(wanted, got)) {
		fail_msg("%s:\nwanted:\n%sgot:\n%s", path, wanted, got);
	}
	free(txt);
	free(wanted);
	free(got);
	return r;
}

static void is_bad(const struct tmp *t, const char *path)
{
	if (gives(t, path) != -EINVAL)
		fail_msg("%s: is bad, but was taken", path);
}

static void is_pointless(const struct tmp *t, const char *path)
{
	if (gives(t, path) != 0)
		fail_msg("%s: deserves warnings, but was refused", path);
}

static void is_good(const struct tmp *t, const char *path)
{
	int r;
	char *got = messages(t, path, &r);

	if (r != 0 || *got)
		fail_msg("%s: is good, but: %s", path, got);
	free(got);
}

static void bad_documents(void **state)
{
	each(FIXTURES "/bad/*.yaml", *state, is_bad);
}

static void warned_documents(void **state)
{
	each(FIXTURES "/warn/*.yaml", *state, is_pointless);
}

static void good_documents(void **state)
{
	each(FIXTURES "/good/*.yaml", *state, is_good);
}

static void shipped_profiles(void **state)
{
	each(SHIPPED "/*.yaml", *state, is_good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bad_documents, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(warned_documents, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(good_documents, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(shipped_profiles, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
