/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text to tree: places, kinds of scalars, and that hostile text ends soon and with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <sys/wait.h>
#include <yaml.h>

#include "profile_tmp.h"
#include "profile/yaml.h"

static bool memory_is_out;

/* Stands before libyaml's own. */
int yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
	int (*libyaml)(yaml_parser_t *, yaml_event_t *) = dlsym(RTLD_NEXT, "yaml_parser_parse");

	if (!memory_is_out)
		return libyaml(parser, event);
	parser->error = YAML_MEMORY_ERROR;
	return 0;
}

static struct ynode *parse(struct tmp *t, const char *text)
{
	return yaml_parse("x.yaml", text, strlen(text), &t->diags);
}

static char *repeat(const char *what, size_t n, const char *before, const char *after)
{
	struct str s = {0};

	str_add(&s, before);
	for (size_t i = 0; i < n; i++)
		str_add(&s, what);
	str_add(&s, after);
	return str_take(&s);
}

/* Must be refused with that text. An alias bomb that explodes never comes to it. */
static void refused(struct tmp *t, char *text, const char *says)
{
	struct ynode *n = parse(t, text);

	assert_true(t->diags.errors > 0);
	assert_says(&t->diags, says);
	for (size_t i = 0; i < t->diags.list.n; i++)
		assert_true(strlen(t->diags.list.v[i].text) < 1024);
	ynode_free(n);
	free(text);
}

static void places_and_kinds(void **state)
{
	struct tmp *t = *state;
	struct ynode *n = parse(t, "# c\na: 1\nb:\n  - 'q'\n  - é: [x,\ty]\nc:\n");
	struct ynode *list = ynode_get(n, "b");
	struct ynode *inner = ynode_get(list->items.v[1], "é");

	assert_int_equal(t->diags.list.n, 0);
	assert_string_equal(ynode_text(n, "a", ""), "1");
	assert_int_equal(ynode_get(n, "a")->at.line, 2);
	assert_int_equal(ynode_get(n, "a")->at.col, 4);
	assert_false(list->items.v[0]->plain);
	assert_int_equal(inner->at.line, 5);
	assert_int_equal(inner->at.col, 8); /* in characters */
	assert_int_equal(inner->items.n, 2);
	assert_true(ynode_is_null(ynode_get(n, "c")));
	assert_null(ynode_get(n, "d"));
	assert_null(ynode_get(NULL, "d"));
	ynode_free(n);
}

static void null_and_true_are_plain(void **state)
{
	struct tmp *t = *state;
	struct ynode *n = parse(t, "a: \"null\"\nb: ~\nc: \"true\"\nd: true\ne: \"\"\nf: null\n");

	assert_false(ynode_is_null(ynode_get(n, "a")));
	assert_true(ynode_is_null(ynode_get(n, "b")));
	assert_false(ynode_bool(n, "c", false));
	assert_true(ynode_bool(n, "d", false));
	assert_false(ynode_is_null(ynode_get(n, "e")));
	assert_true(ynode_is_null(ynode_get(n, "f")));
	assert_true(ynode_bool(n, "no", true));
	ynode_free(n);
}

static void anchors_are_expanded(void **state)
{
	struct tmp *t = *state;
	struct ynode *n = parse(t, "a: &x {k: [1, 2]}\nb: *x\nc: &x 3\nd: *x\n");

	assert_string_equal(ynode_get(ynode_get(n, "b"), "k")->items.v[1]->text, "2");
	assert_string_equal(ynode_text(n, "d", ""), "3");
	ynode_free(n);
}

/* An anchor inside what is left out of the tree may still be named. */
static void anchors_outlive_refused_keys(void **state)
{
	struct tmp *t = *state;
	struct ynode *n = parse(t, "a: 1\na: &x {k: v}\n<<: &y {k: w}\nb: *x\nc: *y\n");

	assert_int_equal(t->diags.errors, 2);
	assert_string_equal(ynode_text(ynode_get(n, "b"), "k", ""), "v");
	assert_string_equal(ynode_text(n, "a", ""), "1");
	ynode_free(n);
}

static void laughs(void **state)
{
	struct str s = {0};

	str_add(&s, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 20; i++)
		str_addf(&s, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
			 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	refused(*state, str_take(&s), "more than 50000 values, aliases expanded");
}

static void fat_aliases(void **state)
{
	struct str s = {0};
	char *fat = repeat("x", 100000, "a: &a ", "\nb:\n");

	str_add(&s, fat);
	free(fat);
	for (int i = 0; i < 1000; i++)
		str_add(&s, "  - *a\n");
	refused(*state, str_take(&s), "bytes of text, aliases expanded");
}

static void deep_by_alias(void **state)
{
	struct str s = {0};

	str_add(&s, "a0: &a0 [x]\n");
	for (int i = 1; i < 100; i++)
		str_addf(&s, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	refused(*state, str_take(&s), "nested more than 64 levels deep");
}

static void deep_flow(void **state)
{
	refused(*state, repeat("[", 10000, "a: ", ""), "nested more than 64 levels deep");
}

static void deep_flow_maps(void **state)
{
	refused(*state, repeat("{a: ", 10000, "", ""), "nested more than 64 levels deep");
}

static void deep_block(void **state)
{
	refused(*state, repeat("- ", 10000, "", ""), "nested more than 64 levels deep");
}

static void deep_indent(void **state)
{
	struct str s = {0};

	for (int i = 0; i < 1000; i++)
		str_addf(&s, "%*sa:\n", i, "");
	refused(*state, str_take(&s), "nested more than 64 levels deep");
}

static void many_anchors(void **state)
{
	struct str s = {0};

	for (int i = 0; i < 10000; i++)
		str_addf(&s, "- &a%d x\n", i);
	refused(*state, str_take(&s), "more than 256 anchors");
}

static void many_keys(void **state)
{
	struct str s = {0};

	for (int i = 0; i < 20000; i++)
		str_addf(&s, "k%d: 1\n", i);
	refused(*state, str_take(&s), "more than 4096 keys in one map");
}

/* Behind the first 16 a map has an index, which follows what is added, replaced and removed. */
static void finds_each_of_many_keys(void **state)
{
	cleanup_ynode struct ynode *map = ynode_new(YAML_MAP, (struct place){0});
	cleanup_ynode struct ynode *copy = NULL;
	char name[16];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		cleanup_ynode struct ynode *key = NULL;

		snprintf(name, sizeof(name), "k%d", i % 2000); /* the last replace the first */
		key = ynode_scalar((struct place){0}, name, true);
		ynode_set(map, key,
			  ynode_scalar((struct place){0}, i < 2000 ? "old" : "new", true));
	}
	for (int i = 0; i < 2000; i += 3) {
		snprintf(name, sizeof(name), "k%d", i);
		ynode_remove(map, name);
	}
	copy = ynode_copy(map);
	assert_int_equal(copy->keys.n, 1333);
	for (int i = 0; i < 2500; i++) {
		bool there = i < 2000 && i % 3;
		int at;

		snprintf(name, sizeof(name), "k%d", i);
		at = ynode_index(copy, name);
		assert_int_equal(at, ynode_index(map, name));
		assert_int_equal(at >= 0, there);
		if (there) {
			assert_string_equal(copy->keys.v[at]->text, name);
			assert_string_equal(ynode_text(map, name, ""), i < 1000 ? "new" : "old");
		}
	}
}

static void many_values(void **state)
{
	refused(*state, repeat("x,", 60000, "a: [", "]"), "more than 50000 values");
}

static void many_duplicates(void **state)
{
	struct tmp *t = *state;

	refused(t, repeat("a: 1\n", 40000, "", ""), "duplicate key, first at 1:1");
}

static void huge_key(void **state)
{
	refused(*state, repeat("k", 100000, "? ", "\n: 1\n"), "a key of 100000 bytes");
}

static void huge_plain_key(void **state)
{
	refused(*state, repeat("k", 900000, "", ": 1\n"), "not YAML");
}

static void ten_megabytes(void **state)
{
	refused(*state, repeat("0123456789\n", 1000000, "", ""), "larger than 1048576 bytes");
}

static void ten_megabytes_as_file(void **state)
{
	struct tmp *t = *state;
	struct profile *p = NULL;
	char *text = repeat("# 456789\n", 1200000, "", "");

	tmp_write(t, "x.yaml", text);
	free(text);
	assert_int_equal(
		profile_load_named(&t->root, tmp_path(t, "x.yaml"), NULL, &p, &t->diags, &t->err),
		-EINVAL);
	assert_null(p);
	assert_says(&t->diags, "larger than 1 MiB");
}

static void odd_characters(void **state)
{
	struct tmp *t = *state;
	const char *bad[] = {"a: \xc0\x80\n",	  "a: \xed\xa0\x80\n", "a: \xf4\x90\x80\x80\n",
			     "a: \xe0\x9f\xbf\n", "a: \xff\n",	       "a: \xc3"};

	for (size_t i = 0; i < array_len(bad); i++) {
		assert_null(parse(t, bad[i]));
		assert_int_equal(t->diags.errors, i + 1);
		assert_int_equal(t->diags.list.v[i].at.col, 4);
		assert_non_null(strstr(t->diags.list.v[i].text, "is not UTF-8"));
	}
}

static void messages_are_one_line(void **state)
{
	struct tmp *t = *state;
	struct ynode *n = parse(t, "\"a\\n\\e[31m\": 1\n\"a\\n\\e[31m\": 1\n");
	char *line = diag_format(&t->diags.list.v[0]);

	assert_string_equal(line, "x.yaml:2:1: a??[31m: duplicate key, first at 1:1; remove "
				  "one of the two");
	free(line);
	ynode_free(n);
}

/* What fuzzing would try first: every prefix of a document, every byte of it changed. */
static void mutilated(void **state)
{
	static const char doc[] =
		"schema: 1\nname: &n x\nmatch: {dmi: {sys_vendor: 'Q*'}}\n"
		"kernel_args:\n  set+: [a=1, \"b\"]\n  iommu: *n\nsysctl:\n  ? a.b\n"
		"  : |\n    text\nx: >-\n  y\n";
	static const char bytes[] = "\t\n:-{}[]&*!|>'\"%@`#?,~\x80\xc3";
	struct tmp *t = *state;
	char copy[sizeof(doc)];

	for (size_t i = 0; i < sizeof(doc); i++) {
		ynode_free(yaml_parse("x", doc, i, &t->diags));
		diags_free(&t->diags);
		for (size_t j = 0; i + 1 < sizeof(doc) && j < sizeof(bytes); j++) {
			memcpy(copy, doc, sizeof(doc));
			copy[i] = bytes[j];
			ynode_free(yaml_parse("x", copy, sizeof(doc) - 1, &t->diags));
			diags_free(&t->diags);
		}
	}
}

/* It is no error of the text, which an author would look for in vain. */
static void without_memory(void **state)
{
	struct tmp *t = *state;
	char said[64] = "";
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		memory_is_out = true;
		parse(t, "schema: 1\n");
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	close(ends[0]);
	assert_string_equal(said, "railhead: out of memory\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(places_and_kinds),
		TEST(null_and_true_are_plain),
		TEST(anchors_are_expanded),
		TEST(anchors_outlive_refused_keys),
		TEST(laughs),
		TEST(fat_aliases),
		TEST(deep_by_alias),
		TEST(deep_flow),
		TEST(deep_flow_maps),
		TEST(deep_block),
		TEST(deep_indent),
		TEST(many_anchors),
		TEST(many_keys),
		TEST(finds_each_of_many_keys),
		TEST(many_values),
		TEST(many_duplicates),
		TEST(huge_key),
		TEST(huge_plain_key),
		TEST(ten_megabytes),
		TEST(ten_megabytes_as_file),
		TEST(odd_characters),
		TEST(messages_are_one_line),
		TEST(mutilated),
		TEST(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
