/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which profile of the search path is this node's, and why not the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/mount.h>

#include "profile_tmp.h"

static const struct node qemu = {
	.dmi = {.sys_vendor = (char *)"QEMU", .product_name = (char *)"Standard PC (Q35)"},
};

#define HEAD(name) "schema: 1\nname: " name "\n"
#define QEMU "match: {dmi: {sys_vendor: QEMU}}\n"
#define OTHER "match: {dmi: {sys_vendor: Supermicro}}\n"

static struct match match(struct tmp *t, const char *pin, enum match_result wanted)
{
	struct match m, quick;

	assert_int_equal(match_profiles(&t->root, &qemu, pin, true, &m, &t->err), 0);
	if (m.result != wanted)
		print_message("%s\n", m.why.text);
	assert_int_equal(m.result, wanted);
	assert_int_equal(match_profiles(&t->root, &qemu, pin, false, &quick, &t->err), 0);
	assert_int_equal(quick.result, wanted);
	assert_string_equal(quick.why.text, m.why.text);
	assert_string_equal(quick.chosen ? quick.chosen->name : "", m.chosen ? m.chosen->name : "");
	match_free(&quick);
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

/* What a candidate's condition found; it must be there and have been decided so. */
static const char *found(const struct match *m, const char *name, const char *key,
			 const char *wanted, bool holds)
{
	const struct conditions *c = &candidate(m, name)->conditions;

	for (size_t i = 0; i < c->list.n; i++) {
		if (!streq(c->list.v[i].key, key) || !streq(c->list.v[i].wanted, wanted))
			continue;
		assert_int_equal(c->list.v[i].holds, holds);
		return c->list.v[i].found;
	}
	fail_msg("%s: no condition %s: %s", name, key, wanted);
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
	assert_string_equal(found(&m, "a", "dmi.sys_vendor", "Super*", false), "QEMU");
	assert_string_equal(found(&m, "a", "dmi.product_name", "X", false), "Standard PC (Q35)");
	assert_string_equal(found(&m, "b", "dmi.sys_vendor", "QEMU", true), "QEMU");
	assert_null(candidate(&m, "a")->fate);
	assert_string_equal(candidate(&m, "c")->fate, "abstract, a base for others");
	assert_int_equal(candidate(&m, "c")->conditions.list.n, 0);
	assert_non_null(candidate(&m, "a")->profile);
	assert_false(candidate(&m, "a")->matches);
	assert_true(candidate(&m, "b")->matches);
	match_free(&m);
}

static void none(void **state)
{
	struct tmp *t = *state;

	says(t, NULL, MATCH_NONE, "no profiles found in /etc/railhead/profiles");
	says(t, NULL, MATCH_NONE,
	     "; install one there, or write a first one with `railhead draft`");
	tmp_write(t, ETC "a.yaml", HEAD("a") OTHER);
	says(t, NULL, MATCH_NONE, "none of 1 profiles matches this node");
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
	says(t, NULL, MATCH_NONE, "none of 1");
}

static void masked(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, USR "a.yaml", HEAD("a") QEMU);
	tmp_write(t, USR "b.yaml", HEAD("b") QEMU);
	tmp_path(t, ETC "b.yaml");
	/* Only root may make it; the sandbox's root may not, but can mount it. */
	tmp_write(t, "dev/null", "");
	root_close(&t->root); /* does not see mounts that are made later */
	if (mount("/dev/null", tmp_path(t, "dev/null"), NULL, MS_BIND, NULL) < 0)
		skip();
	assert_int_equal(root_init(&t->root, t->dir, &t->err), 0);
	assert_int_equal(symlink("/dev/null", tmp_path(t, ETC "b.yaml")), 0);
	chooses(t, NULL, "a");
	umount2(tmp_path(t, "dev/null"), MNT_DETACH);
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
	assert_string_equal(candidate(&m, "a")->fate, "a base of b, which matches too");
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
		HEAD("b") "extends: gone\n" QEMU,
		HEAD("other") OTHER,
		"schema: 9\nname: b\n" OTHER,
		HEAD("b"),
		HEAD("b") OTHER OTHER,
	};

	tmp_write(t, ETC "a.yaml", HEAD("a") QEMU);
	for (size_t i = 0; i < array_len(texts); i++) {
		tmp_write(t, ETC "b.yaml", texts[i]);
		says(t, NULL, MATCH_INVALID, "the match section of profile b can't be read: ");
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
	says(t, "c", MATCH_INVALID, "the profile is abstract");
	says(t, "d", MATCH_INVALID, "profile d is invalid");
	says(t, "e", MATCH_INVALID, "railhead.profile=e: no such profile in");
	says(t, "../etc/a", MATCH_INVALID, "no such profile");
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
	assert_string_equal(path, "/" USR "a.yaml");
	free(path);
	assert_int_equal(profile_load_named(&t->root, "a", NULL, &p, &t->diags, &t->err), 0);
	assert_string_equal(p->file, "/" USR "a.yaml");
	profile_free(p);
	assert_int_equal(profile_load_named(&t->root, tmp_path(t, USR "a.yaml"), NULL, &p,
					    &t->diags, &t->err),
			 0);
	assert_string_equal(p->name, "a");
	profile_free(p);
	assert_int_equal(profile_load_named(&t->root, "a.yaml", NULL, &p, &t->diags, &t->err),
			 -ENOENT);
	assert_int_equal(profile_find(&t->root, "b", &path, &t->err), -ENOENT);
	assert_int_equal(profile_find(&t->root, "../profiles/a", &path, &t->err), -EINVAL);
}

static bool is_listed(const struct profile_files *f, size_t i, const char *path, const char *over)
{
	return streq(f->list.v[i].path, path) &&
	       streq(f->list.v[i].overridden_by ? f->list.v[i].overridden_by : "", over);
}

static void list_of_files(void **state)
{
	struct tmp *t = *state;
	struct profile_files f = {0};

	assert_false(profile_dirs_exist(&t->root));
	tmp_write(t, USR "b.yaml", "");
	tmp_write(t, USR "a.yaml", "");
	tmp_write(t, ETC "b.yaml", "");
	tmp_write(t, ETC ".hidden.yaml", "");
	assert_true(profile_dirs_exist(&t->root));
	assert_int_equal(profile_files_list(&t->root, &f, &t->err), 0);
	assert_int_equal(f.list.n, 3);
	assert_true(is_listed(&f, 0, "/" USR "a.yaml", ""));
	assert_true(is_listed(&f, 1, "/" ETC "b.yaml", ""));
	assert_true(is_listed(&f, 2, "/" USR "b.yaml", "/" ETC "b.yaml"));
	assert_false(f.list.v[0].masked);
	profile_files_free(&f);
}

static const struct {
	const char *match;
	const char *key, *wanted, *found;
	bool holds;
} asked[] = {
	{"arch: x86_64", "arch", "x86_64", "x86_64", true},
	{"arch: aarch64", "arch", "aarch64", "x86_64", false},
	{"cpu_vendor: amd", "cpu_vendor", "amd", "amd", true},
	{"cpu_vendor: intel", "cpu_vendor", "intel", "amd", false},
	{"dmi: {chassis_asset_tag: 7783-7084-*}", "dmi.chassis_asset_tag", "7783-7084-*",
	 "7783-7084-3265-9085-8269-3286-77", true},
	{"pci: [\"10de:2330\"]", "pci", "10de:2330", "2 functions", true},
	{"pci: [\"10DE:2330\"]", "pci", "10DE:2330", "2 functions", true},
	{"pci: [\"15b3:1021\"]", "pci", "15b3:1021", "1 function", true},
	{"pci: [\"10de:2330\", \"8086:1563\"]", "pci", "8086:1563", "", false},
	{"pci: [\"15b3:101e\"]", "pci", "15b3:101e", "", false}, /* a VF */
	{"{arch: x86_64, cpu_vendor: intel}", "cpu_vendor", "intel", "amd", false},
	{"dmi: {sys_vendor: Micro*}", "dmi.sys_vendor", "Micro*", "Micro?soft", true},
	{"dmi: {board_name: \"\\\\*\"}", "dmi.board_name", "\\*", "", false},
};

static void each_condition(void **state)
{
	struct tmp *t = *state;
	struct pci_fn fn[] = {
		{.addr = "0000:1b:00.0", .vendor = 0x10de, .device = 0x2330},
		{.addr = "0000:1c:00.0", .vendor = 0x10de, .device = 0x2330},
		{.addr = "0000:5e:00.0", .vendor = 0x15b3, .device = 0x1021},
		{.addr = "0000:5e:00.2",
		 .physfn = "0000:5e:00.0",
		 .vendor = 0x15b3,
		 .device = 0x101e},
	};
	struct node node = {
		.dmi = {.sys_vendor = (char *)"Micro\033soft",
			.chassis_asset_tag = (char *)"7783-7084-3265-9085-8269-3286-77"},
		.arch = (char *)"x86_64",
		.cpu_vendor = CPU_AMD,
		.pci = {.v = fn, .n = array_len(fn)},
	};

	for (size_t i = 0; i < array_len(asked); i++) {
		bool map = *asked[i].match == '{';
		char *text = xasprintf(HEAD("a") "match: %s%s%s\n", map ? "" : "{", asked[i].match,
				       map ? "" : "}");
		struct match m;

		tmp_write(t, ETC "a.yaml", text);
		assert_int_equal(match_profiles(&t->root, &node, NULL, false, &m, &t->err), 0);
		assert_int_equal(m.result, asked[i].holds ? MATCH_ONE : MATCH_NONE);
		assert_string_equal(found(&m, "a", asked[i].key, asked[i].wanted, asked[i].holds),
				    asked[i].found);
		match_free(&m);
		free(text);
	}
}

/* A profile of another machine cannot block this one by a base that is not there. */
static void own_file_rules_out(void **state)
{
	struct tmp *t = *state;
	struct match m;

	tmp_write(t, ETC "b.yaml", HEAD("b") QEMU);
	tmp_write(t, ETC "far.yaml", HEAD("far") "extends: gone\n" OTHER);
	tmp_write(t, ETC "base.yaml", HEAD("base") "abstract: true\nextends: gone\n");
	chooses(t, NULL, "b");
	m = match(t, NULL, MATCH_ONE);
	assert_int_equal(candidate(&m, "far")->diags.errors, 1);
	assert_null(candidate(&m, "far")->profile);
	match_free(&m);
	/* Without a word of its own, or with none that is against this node. */
	tmp_write(t, ETC "far.yaml", HEAD("far") "extends: gone\n");
	says(t, NULL, MATCH_INVALID, "far.yaml:3:10: extends: no profile 'gone'");
	tmp_write(t, ETC "far.yaml", HEAD("far") "extends: gone\n" QEMU);
	says(t, NULL, MATCH_INVALID, "far.yaml:3:10: extends: no profile 'gone'");
	tmp_write(t, ETC "far.yaml", HEAD("far") "match: {dmi: {sys_vender: X}}\n");
	says(t, NULL, MATCH_INVALID, "far.yaml");
}

/* A null deletes the condition of a base, and is none itself. */
static void base_condition_deleted(void **state)
{
	struct tmp *t = *state;

	tmp_write(t, ETC "base.yaml",
		  HEAD("base") "abstract: true\nmatch: {dmi: {product_name: X}}\n");
	tmp_write(t, ETC "a.yaml",
		  HEAD("a") "extends: base\n"
			    "match: {dmi: {sys_vendor: QEMU, product_name: null}}\n");
	chooses(t, NULL, "a");
	tmp_write(t, ETC "a.yaml", HEAD("a") "extends: base\n" QEMU);
	says(t, NULL, MATCH_NONE, "none of 2 profiles matches");
}

static void files_as_candidates(void **state)
{
	struct tmp *t = *state;
	struct match m;
	char *files[3];

	tmp_write(t, "tree/a.yaml", HEAD("a") "extends: [base, far]\n" OTHER);
	tmp_write(t, "tree/b.yaml", HEAD("b") "extends: base\n" QEMU);
	tmp_write(t, "tree/base.yaml", HEAD("base") "abstract: true\n");
	tmp_write(t, ETC "far.yaml", HEAD("far") "abstract: true\n");
	tmp_write(t, ETC "c.yaml", HEAD("c") QEMU); /* no candidate: it was not named */
	files[0] = xstrdup(tmp_path(t, "tree/a.yaml"));
	files[1] = xstrdup(tmp_path(t, "tree/b.yaml"));
	files[2] = xstrdup(tmp_path(t, "tree/gone.yaml"));
	match_files(&t->root, &qemu, files, 2, true, &m);
	assert_int_equal(m.result, MATCH_ONE);
	assert_int_equal(m.candidates.n, 2);
	assert_string_equal(m.chosen->path, files[1]);
	assert_int_equal(candidate(&m, "a")->diags.errors, 0);
	match_free(&m);
	match_files(&t->root, &qemu, files, 3, false, &m);
	assert_int_equal(m.result, MATCH_INVALID);
	assert_non_null(strstr(m.why.text, "gone.yaml: No such file"));
	match_free(&m);
	for (size_t i = 0; i < array_len(files); i++)
		free(files[i]);
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
		TEST(list_of_files),
		TEST(each_condition),
		TEST(own_file_rules_out),
		TEST(base_condition_deleted),
		TEST(files_as_candidates),
		TEST(links_stay_below_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
