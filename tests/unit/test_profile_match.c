/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profile of the search path is this node's, and why not the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "profile_tmp.h"

static const struct node qemu = {
	.dmi = {.sys_vendor = (char *)"QEMU", .product_name = (char *)"Standard PC (Q35)"},
};

#define HEAD(name) "schema: 1\nname: " name "\n"
#define QEMU "match: {dmi: {sys_vendor: QEMU}}\n"
#define OTHER "match: {dmi: {sys_vendor: Supermicro}}\n"

static struct match match(struct tmp *t, const char *pin, enum match_result wanted)
{
	struct match m;

	assert_int_equal(match_profiles(&t->root, &qemu, pin, &m, &t->err), 0);
	if (m.result != wanted)
		print_message("%s\n", m.why.text);
	assert_int_equal(m.result, wanted);
	return m;
}

static void chooses(struct tmp *t, const char *pin, const char *name)
{
	struct match m = match(t, pin, MATCH_ONE);

	assert_string_equal(m.chosen->name, name);
	assert_true(m.chosen->chosen);
	assert_non_null(m.chosen->profile);
	match_free(&m);
}

static void says(struct tmp *t, const char *pin, enum match_result wanted, const char *why)
{
	struct match m = match(t, pin, wanted);

	if (!strstr(m.why.text, why))
		print_message("%s\n", m.why.text);
	assert_non_null(strstr(m.why.text, why));
	match_free(&m);
}

static const struct candidate *candidate(const struct match *m, const char *name)
{
	for (size_t i = 0; i < m->candidates.n; i++)
		if (streq(m->candidates.v[i].name, name))
			return &m->candidates.v[i];
	fail_msg("no candidate %s", name);
	return NULL;
}

static void one_of_several(void **state)
{
	struct tmp *t = *state;
	struct match m;

	tmp_write(t, USR "b.yaml", HEAD("b") QEMU);
	tmp_write(t, RUN "a.yaml",
		  HEAD("a") "match: {dmi: {sys_vendor: Super*, product_name: X}}\n");
	tmp_write(t, ETC "c.yaml", HEAD("c") "abstract: true\n");
	tmp_write(t, ETC "README", "no profile\n");
	m = match(t, NULL, MATCH_ONE);
	assert_int_equal(m.candidates.n, 3);
	assert_string_equal(m.candidates.v[0].name, "a");
	assert_string_equal(m.chosen->path, "/usr/lib/railhead/profiles/b.yaml");
	assert_true(strv_contains(&candidate(&m, "a")->reasons,
				  "dmi.sys_vendor: wanted Super*, found QEMU: no"));
	assert_true(strv_contains(&candidate(&m, "a")->reasons,
				  "dmi.product_name: wanted X, found Standard PC (Q35): no"));
	assert_true(strv_contains(&candidate(&m, "b")->reasons,
				  "dmi.sys_vendor: wanted QEMU, found QEMU: ok"));
	assert_non_null(candidate(&m, "a")->profile);
	assert_false(candidate(&m, "a")->matches);
	assert_true(candidate(&m, "b")->matches);
	match_free(&m);
}

static void none(void **state)
{
	struct tmp *t = *state;

	says(t, NULL, MATCH_NONE, "there are no profiles in /etc/railhead/profiles");
	tmp_write(t, ETC "a.yaml", HEAD("a") OTHER);
	says(t, NULL, MATCH_NONE, "none of the 1 profiles matches this node");
}

static void two(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, ETC "a.yaml", HEAD("a") QEMU);
	tmp_write(t, USR "b.yaml", HEAD("b") QEMU);
	says(t, NULL, MATCH_TWO, "2 profiles match this node (a, b)");
	tmp_write(t, USR "b.yaml", HEAD("b") "priority: 1\n" QEMU);
	chooses(t, NULL, "b");
	tmp_write(t, USR "a.yaml", HEAD("a") "priority: 5\n" QEMU);
	chooses(t, NULL, "b"); /* the one in /etc is a */
}

static void first_name_wins(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, USR "a.yaml", HEAD("a") QEMU);
	tmp_write(t, ETC "a.yaml", HEAD("a") OTHER);
	says(t, NULL, MATCH_NONE, "none of the 1");
}

static void masked(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, USR "a.yaml", HEAD("a") QEMU);
	tmp_write(t, USR "b.yaml", HEAD("b") QEMU);
	tmp_path(t, ETC "b.yaml");
	mkdir(tmp_path(t, "dev"), 0755);
	if (mknod(tmp_path(t, "dev/null"), S_IFCHR | 0666, 0x103) < 0)
		skip();
	assert_int_equal(symlink("/dev/null", tmp_path(t, ETC "b.yaml")), 0);
	chooses(t, NULL, "a");
}

static void descendants_win(void **state)
{
	struct tmp *t = *state;
	struct match m;

	tmp_write(t, USR "a.yaml", HEAD("a") "priority: 9\n" QEMU);
	tmp_write(t, USR "b.yaml", HEAD("b") "extends: a\n");
	tmp_write(t, USR "c.yaml", HEAD("c") "extends: b\n");
	m = match(t, NULL, MATCH_ONE);
	assert_string_equal(m.chosen->name, "c");
	assert_true(
		strv_contains(&candidate(&m, "a")->reasons, "a base of b, which matches too: no"));
	match_free(&m);
	tmp_write(t, USR "d.yaml", HEAD("d") "extends: b\n");
	says(t, NULL, MATCH_TWO, "(c, d)");
}

static void invalid_chosen(void **state)
{
	struct tmp *t = *state;
	struct match m;

	tmp_write(t, ETC "a.yaml", HEAD("a") QEMU "sysctls: {}\nwings: 2\n");
	m = match(t, NULL, MATCH_INVALID);
	assert_string_equal(m.chosen->name, "a");
	assert_null(m.chosen->profile);
	assert_non_null(strstr(m.why.text, "profile a is invalid: "));
	assert_non_null(strstr(m.why.text,
			       "/etc/railhead/profiles/a.yaml:4:1: sysctls: unknown key; "
			       "did you mean 'sysctl'? (and 1 more)"));
	match_free(&m);
}

static void invalid_elsewhere_is_no_matter(void **state)
{
	struct tmp *t = *state;
	struct match m;

	tmp_write(t, ETC "a.yaml", HEAD("a") QEMU);
	tmp_write(t, ETC "b.yaml", HEAD("b") OTHER "wings: 2\n");
	m = match(t, NULL, MATCH_ONE);
	assert_string_equal(m.chosen->name, "a");
	assert_int_equal(candidate(&m, "b")->diags.errors, 1);
	assert_null(candidate(&m, "b")->profile);
	match_free(&m);
}

static void unreadable_match_blocks(void **state)
{
	struct tmp *t = *state;
	static const char *const texts[] = {
		"schema: [",
		HEAD("b") "match: {dmi: {sys_vendr: X}}\n",
		HEAD("b") "extends: gone\n" OTHER,
		HEAD("other") OTHER,
		"schema: 9\nname: b\n" OTHER,
		HEAD("b"),
		HEAD("b") OTHER OTHER,
	};

	tmp_write(t, ETC "a.yaml", HEAD("a") QEMU);
	for (size_t i = 0; i < array_len(texts); i++) {
		tmp_write(t, ETC "b.yaml", texts[i]);
		says(t, NULL, MATCH_INVALID, "what profile b matches can't be read: ");
	}
	chooses(t, "a", "a"); /* a pin needs no match */
}

static void pins(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, ETC "a.yaml", HEAD("a") QEMU);
	tmp_write(t, ETC "b.yaml", HEAD("b") OTHER);
	tmp_write(t, ETC "c.yaml", HEAD("c") "abstract: true\n");
	tmp_write(t, ETC "d.yaml", HEAD("d") "wings: 2\n" OTHER);
	chooses(t, "b", "b");
	says(t, "c", MATCH_INVALID, "it is abstract");
	says(t, "d", MATCH_INVALID, "profile d is invalid");
	says(t, "e", MATCH_INVALID, "railhead.profile=e: no profile of that name in");
	says(t, "../etc/a", MATCH_INVALID, "no profile of that name");
}

static void dropins_of_the_chosen(void **state)
{
	struct tmp *t = *state;
	struct match m;

	tmp_write(t, USR "a.yaml", HEAD("a") QEMU);
	tmp_write(t, USR "b.yaml", HEAD("b") OTHER);
	tmp_write(t, ETC "a.d/x.yaml", "schema: 1\nsysctl: {vm.swappiness: 1}\n");
	tmp_write(t, ETC "b.d/x.yaml", "garbage: [");
	m = match(t, NULL, MATCH_ONE);
	assert_non_null(profile_section(m.chosen->profile, "sysctl"));
	match_free(&m);
	tmp_write(t, ETC "a.d/y.yaml", "garbage: [");
	says(t, NULL, MATCH_INVALID, "/etc/railhead/profiles/a.d/y.yaml:2:1: not YAML");
}

static void find(void **state)
{
	struct tmp *t = *state;
	struct profile *p = NULL;
	char *path = NULL;

	tmp_write(t, USR "a.yaml", HEAD("a") QEMU);
	assert_int_equal(profile_find(&t->root, "a", &path, &t->err), 0);
	assert_int_equal(profile_load(&t->root, path, false, NULL, &p, &t->diags, &t->err), 0);
	assert_string_equal(p->name, "a");
	profile_free(p);
	free(path);
	assert_int_equal(profile_find(&t->root, "b", &path, &t->err), -ENOENT);
	assert_int_equal(profile_find(&t->root, "../profiles/a", &path, &t->err), -EINVAL);
}

/* An absolute link inside a captured tree stays inside. */
static void links_stay_below_the_root(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, "opt/a.yaml", HEAD("a") QEMU);
	tmp_path(t, ETC "a.yaml");
	assert_int_equal(symlink("/opt/a.yaml", tmp_path(t, ETC "a.yaml")), 0);
	chooses(t, NULL, "a");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_of_several),
		TEST(none),
		TEST(two),
		TEST(first_name_wins),
		TEST(masked),
		TEST(descendants_win),
		TEST(invalid_chosen),
		TEST(invalid_elsewhere_is_no_matter),
		TEST(unreadable_match_blocks),
		TEST(pins),
		TEST(dropins_of_the_chosen),
		TEST(find),
		TEST(links_stay_below_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
