/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The language as a list: each key has what `explain`, editors and the manual say of it, and is
 * found by the paths that a profile has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>

#include "base/mem.h"
#include "profile/rows.h"
#include "profile/section.h"
#include "profile/synonyms.h"
#include "profile/value.h"

/* A sentence: one line that begins with a capital and has one full stop, at its end. */
static bool is_sentence(const char *help)
{
	size_t len = help ? strlen(help) : 0;

	return len > 2 && isupper((unsigned char)*help) && help[len - 1] == '.' &&
	       !strchr(help, '\n') && !strstr(help, ". ") && len <= 160;
}

/* A number without a unit is one of its kind: an id, a priority. */
static bool lacks_unit(const struct spec *s)
{
	static const char *const plain[] = {"a schema number",
					    "a NUMA node's number",
					    "a number",
					    "the place of a function on its card, from 1",
					    "a VLAN id",
					    "a priority",
					    "a traffic class",
					    "a buffer",
					    "a DSCP",
					    "a ToS byte",
					    "a real-time priority",
					    "a port",
					    "the number of a user or group",
					    NULL};

	return (s->check == value_int || s->check == value_count) && !s->unit &&
	       !word_is_one_of(s->what, plain);
}

static void want_complete(const struct rows *rows)
{
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct row *row = &rows->list.v[i];

		if (!is_sentence(row->field->help))
			fail_msg("%s: no sentence: %s", row->path, row->field->help);
		if (row->class == KEY_INHERITS)
			fail_msg("%s: no class", row->path);
		if (row->spec->kind == SPEC_MAP_OF && (!row->spec->any || !*row->spec->any))
			fail_msg("%s: nothing stands for its keys", row->path);
		if (row->spec->kind == SPEC_SCALAR && lacks_unit(row->spec))
			fail_msg("%s: no unit", row->path);
	}
}

static void test_complete(void **state)
{
	struct rows profile = {0}, site = {0};

	(void)state;
	rows_of(schema_profile(), &profile);
	rows_of(&schema_site, &site);
	want_complete(&profile);
	want_complete(&site);
	assert_true(profile.list.n > 200);
	rows_free(&profile);
	rows_free(&site);
}

/* Its own path finds each row; no two have the same. */
static void test_paths(void **state)
{
	struct rows rows = {0};

	(void)state;
	rows_of(schema_profile(), &rows);
	for (size_t i = 0; i < rows.list.n; i++)
		if (rows_find(&rows, rows.list.v[i].path) != &rows.list.v[i])
			fail_msg("%s finds %s", rows.list.v[i].path,
				 rows_find(&rows, rows.list.v[i].path)->path);
	rows_free(&rows);
}

static void test_find(void **state)
{
	static const char *const t[][2] = {
		{"link.rails.mtu", "link.SET.mtu"},
		{"link.mtu", "link.SET.mtu"},	  /* the set is left out */
		{"link.mtu.mtu", "link.SET.mtu"}, /* a set of that name */
		{"link.rails", "link.SET"},
		{"hugepages[0].size", "hugepages[].size"},
		{"hugepages.size", "hugepages[].size"},
		{"modules.load[2].optional", "modules.load[].optional"},
		{"kernel_args.set+", "kernel_args.set"},
		{"sysctl.net.core.rmem_max", "sysctl.KEY"},
		{"sysctl.net.core.rmem_max.optional", "sysctl.KEY.optional"},
		{"sysfs./sys/block/nvme0n1/a.b", "sysfs.PATH"},
		{"modules.options.ib_core.netns_mode", "modules.options.MODULE.PARAM"},
		{"qos.rails.ets.bandwidth.3", "qos.SET.ets.bandwidth.CLASS"},
		{"gate.checks.bw.min", "gate.checks.NAME.min"},
		{"link.rails.rings.mtu", NULL},
		{"link..mtu", NULL},
		{"link.rails.", NULL},
		{"mtu", NULL},
		{".", NULL},
		{"", NULL},
	};
	struct rows rows = {0};

	(void)state;
	rows_of(schema_profile(), &rows);
	for (size_t i = 0; i < array_len(t); i++) {
		const struct row *row = rows_find(&rows, t[i][0]);

		if (row ? !t[i][1] || !streq(row->path, t[i][1]) : t[i][1] != NULL)
			fail_msg("%s: %s", t[i][0], row ? row->path : "not found");
	}
	rows_free(&rows);
}

/* A path of more parts than any row has, and one of dots alone: neither is too much. */
static void test_long_path(void **state)
{
	struct rows rows = {0};
	struct strv near = {0};
	cleanup_str struct str path = {0};

	(void)state;
	for (size_t i = 0; i < 5000; i++)
		str_add(&path, i % 2 ? "a." : "sysctl.");
	rows_of(schema_profile(), &rows);
	assert_null(rows_find(&rows, path.s + 2));
	rows_near(&rows, path.s, &near);
	assert_int_equal(near.n, 0);
	rows_free(&rows);
}

static void test_near(void **state)
{
	static const char *const t[][2] = {
		{"link.SET.mtuu", "link.SET.mtu"},
		{"lnk.rails.mtu", "link.SET.mtu"},
		{"mtu", "sriov.SET.vf.mtu link.SET.mtu"},
		{"rails.mtu", "sriov.SET.vf.mtu link.SET.mtu"},
		{"thraded_napi", "link.SET.threaded_napi"},
		{"hugepage", "hugepages"},
		{"xyzzy", ""},
		{"", ""},
	};
	struct rows rows = {0};

	(void)state;
	rows_of(schema_profile(), &rows);
	for (size_t i = 0; i < array_len(t); i++) {
		struct strv near = {0};
		cleanup_str struct str text = {0};

		rows_near(&rows, t[i][0], &near);
		for (size_t k = 0; k < near.n; k++)
			str_addf(&text, "%s%s", k ? " " : "", near.v[k]);
		assert_string_equal(str_get(&text), t[i][1]);
		strv_free(&near);
	}
	rows_free(&rows);
}

/* --- meanings of words ---------------------------------------------------------------------- */

static bool is_word_of(const struct spec *s, const char *word)
{
	const char *known;

	for (size_t i = 0; (known = spec_word(s, i)); i++)
		if (streq(known, word))
			return true;
	return false;
}

/* A word that is no number has a meaning, and a meaning has its word. */
static void want_meanings(const char *path, const struct spec *s)
{
	const char *word;

	for (size_t i = 0; s && (word = spec_word(s, i)); i++)
		if (isalpha((unsigned char)*word) && !spec_meaning(s, word))
			fail_msg("%s: nothing says what %s does", path, word);
	for (size_t i = 0; s && s->meanings && s->meanings[i]; i += 2) {
		if (!is_word_of(s, s->meanings[i]))
			fail_msg("%s: no word %s", path, s->meanings[i]);
		if (!s->meanings[i + 1] || !*s->meanings[i + 1])
			fail_msg("%s: %s has no meaning", path, s->meanings[i]);
	}
}

static void test_meanings(void **state)
{
	struct rows rows = {0};

	(void)state;
	rows_of(schema_profile(), &rows);
	for (size_t i = 0; i < rows.list.n; i++) {
		const struct spec *s = rows.list.v[i].spec, *list = spec_for(s, YAML_LIST);

		want_meanings(rows.list.v[i].path, spec_for(s, YAML_SCALAR));
		if (list && list->kind == SPEC_LIST)
			want_meanings(rows.list.v[i].path, spec_for(list->item, YAML_SCALAR));
	}
	rows_free(&rows);
}

/* --- other tools' words --------------------------------------------------------------------- */

static void want_row(const struct rows *rows, const struct synonym *s)
{
	for (size_t i = 0; i < rows->list.n; i++) {
		const struct row *row = &rows->list.v[i];

		if (streq(row->path, s->meant) && synonym_key(s->said))
			return;
	}
	fail_msg("%s means %s, which is no row", s->said, s->meant);
}

/* A word that the language has itself would never be looked up where it has that meaning. */
static void want_other_word(const struct synonym *s)
{
	for (const char *p = s->said; *p; p++)
		if (isupper((unsigned char)*p) || *p == '-' || *p == '_')
			fail_msg("%s: lower case, without - and _", s->said);
	for (const struct synonym *o = synonyms_of_keys; o < s; o++)
		if (streq(o->said, s->said))
			fail_msg("%s is there twice", s->said);
}

static void test_synonyms_of_keys(void **state)
{
	struct rows rows = {0};

	(void)state;
	rows_of(schema_profile(), &rows);
	for (const struct synonym *s = synonyms_of_keys; s->said; s++) {
		want_row(&rows, s);
		want_other_word(s);
	}
	assert_string_equal(synonym_key("numVfs"), "sriov.SET.vfs");
	assert_string_equal(synonym_key("num_vfs"), "sriov.SET.vfs");
	assert_null(synonym_key(""));
	assert_null(synonym_key("vfs"));
	rows_free(&rows);
}

/* Whether any key of the language takes meant for said. */
static bool is_meant_somewhere(const struct rows *rows, const struct synonym *s)
{
	bool found = false;

	for (size_t i = 0; i < rows->list.n && !found; i++) {
		const struct spec *spec = spec_for(rows->list.v[i].spec, YAML_SCALAR);
		cleanup_free char *other = spec && spec->kind == SPEC_SCALAR
						   ? synonym_value(spec, spec_accepts, s->said)
						   : NULL;

		found = other && streq(other, s->meant);
	}
	return found;
}

static void test_synonyms_of_words(void **state)
{
	struct rows rows = {0};

	(void)state;
	rows_of(schema_profile(), &rows);
	for (const struct synonym *s = synonyms_of_words; s->said; s++)
		if (!is_meant_somewhere(&rows, s))
			fail_msg("no key takes %s for %s", s->meant, s->said);
	rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_synonyms_of_keys),
		cmocka_unit_test(test_synonyms_of_words),
		cmocka_unit_test(test_meanings),
	};

	return cmocka_run_group_tests_name("profile/rows", tests, NULL, NULL);
}
