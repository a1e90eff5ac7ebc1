/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether root alone decides what a path leads to: each directory, each link, the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "sys/trust.h"
#include "tree.h"

#define OTHERS " is writable by users other than root: run chmod go-w "

/* Links to a/b/file, by way of other directories each. */
static int setup(void **state)
{
	int r = tmp_setup(state);
	struct tmp *t = *state;

	if (r < 0)
		return r;
	tmp_write(t, "a/b/file", "text");
	tmp_write(t, "c/d/other", "text");
	tree_link(t, "c/d/absolute", "/a/b/file");
	tree_link(t, "c/d/upwards", "../../e/../a/b/file");
	tree_link(t, "c/dir", "../a/b");
	tree_dir(t, "e");
	tree_dir(t, "elsewhere");
	return 0;
}

/* 0, or the error; the error's text is exactly what. */
static int opens(struct tmp *t, enum trust trust, const char *path, const char *what)
{
	int fd = trust_open(&t->root, trust, path, O_PATH, &t->err);

	if (fd < 0) {
		assert_string_equal(t->err.text, what);
		return fd;
	}
	close(fd);
	return 0;
}

static const struct {
	const char *path;
	const char *way[8]; /* all that is on it, without the root */
} ways[] = {
	{"a/b/file", {"/a", "/a/b", "/a/b/file"}},
	{"//a/./b//file", {"/a", "/a/b", "/a/b/file"}},
	{"a/../c/d/other", {"/a", "/c", "/c/d", "/c/d/other"}},
	{"c/d/absolute", {"/c", "/c/d", "/a", "/a/b", "/a/b/file"}},
	{"c/d/upwards", {"/c", "/c/d", "/e", "/a", "/a/b", "/a/b/file"}},
	{"c/dir/file", {"/c", "/a", "/a/b", "/a/b/file"}},
	{"c/dir", {"/c", "/a", "/a/b"}},
	{"c/d/", {"/c", "/c/d"}},
};

static void test_modes(void **state)
{
	static const mode_t modes[] = {0775, 0757, 01777};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(ways); i++)
		for (const char *const *at = ways[i].way; *at; at++)
			for (size_t m = 0; m < array_len(modes); m++) {
				const char *path = ways[i].path;
				cleanup_free char *said = xasprintf("%s" OTHERS "%s", *at, *at);

				assert_int_equal(chmod(tmp_path(t, *at), modes[m]), 0);
				if (geteuid() == 0)
					assert_int_equal(opens(t, TRUST_ROOT, path, said), -EPERM);
				assert_int_equal(opens(t, TRUST_UNSHARED, path, said), -EPERM);
				assert_int_equal(opens(t, TRUST_ALL, path, ""), 0);
				assert_int_equal(chmod(tmp_path(t, *at), 0755), 0);
				assert_int_equal(opens(t, TRUST_UNSHARED, path, ""), 0);
			}
}

static void test_owners(void **state)
{
	struct tmp *t = *state;

	if (geteuid() != 0) /* nothing is root's, and a builder's tree is the builder's */
		return;
	for (size_t i = 0; i < array_len(ways); i++)
		for (const char *const *at = ways[i].way; *at; at++) {
			cleanup_free char *said = xasprintf(
				"%s belongs to user 1, not to root: run chown root %s", *at, *at);

			assert_int_equal(chown(tmp_path(t, *at), 1, 0), 0);
			assert_int_equal(opens(t, TRUST_ROOT, ways[i].path, said), -EPERM);
			assert_int_equal(opens(t, TRUST_UNSHARED, ways[i].path, ""), 0);
			assert_int_equal(chown(tmp_path(t, *at), 0, 0), 0);
			assert_int_equal(opens(t, TRUST_ROOT, ways[i].path, ""), 0);
		}
}

/* Others could make what is not there yet; what is not on the way does not count. */
static void test_around(void **state)
{
	struct tmp *t = *state;

	assert_int_equal(chmod(tmp_path(t, "elsewhere"), 0777), 0);
	assert_int_equal(opens(t, TRUST_UNSHARED, "a/b/file", ""), 0);
	assert_int_equal(opens(t, TRUST_UNSHARED, "a/b/no", "a/b/no: No such file or directory"),
			 -ENOENT);
	assert_int_equal(trust_listing(&t->root, TRUST_UNSHARED, "/a/no/dir", &t->err), 0);
	assert_int_equal(chmod(tmp_path(t, "a"), 0777), 0);
	assert_int_equal(opens(t, TRUST_UNSHARED, "a/no/file", "/a" OTHERS "/a"), -EPERM);
	assert_int_equal(trust_listing(&t->root, TRUST_UNSHARED, "/a/no/dir", &t->err), -EPERM);
	assert_int_equal(chmod(tmp_path(t, "a"), 0755), 0);
	assert_int_equal(chmod(tmp_path(t, "."), 0777), 0);
	assert_int_equal(opens(t, TRUST_UNSHARED, "a/b/file", "/" OTHERS "/"), -EPERM);
}

static void test_which(void **state)
{
	struct tmp *t = *state;
	enum trust ours = geteuid() == 0 ? TRUST_ROOT : TRUST_UNSHARED;

	assert_int_equal(trust_of_reads(&t->root), TRUST_ALL);
	assert_int_equal(trust_of_writes(&t->root), ours);
	t->root.as_booted = true;
	assert_int_equal(trust_of_reads(&t->root), ours);
	t->root.live = true;
	assert_int_equal(trust_of_reads(&t->root), TRUST_ROOT);
	assert_int_equal(trust_of_writes(&t->root), TRUST_ROOT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_modes),
		TEST(test_owners),
		TEST(test_around),
		TEST(test_which),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
