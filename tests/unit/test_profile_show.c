/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile that is printed is the same profile again; what follows from it without a node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <glob.h>

#include "profile/emit.h"
#include "profile/site.h"
#include "profile_tmp.h"
#include "profile/yaml.h"
#include "sections/derived.h"

#ifndef FIXTURES
#define FIXTURES "tests/fixtures/profiles"
#endif

static struct profile *load(struct tmp *t, const char *path)
{
	struct profile *p = NULL;
	int r = profile_load_named(&t->root, path, NULL, &p, &t->diags, &t->err);

	for (size_t i = 0; i < t->diags.list.n; i++)
		print_message("%s\n", t->diags.list.v[i].text);
	assert_int_equal(r, 0);
	return p;
}

static char *emitted(const struct profile *p)
{
	struct str out = {0};

	profile_emit(p, &out);
	return str_take(&out);
}

/* Returns the text. */
static char *round_trip(struct tmp *t, const struct profile *p)
{
	char *text = emitted(p), *name = xasprintf("out/%s.yaml", p->name);
	struct profile *again;

	tmp_write(t, name, text);
	again = load(t, tmp_path(t, name));
	if (!streq(p->digest, again->digest))
		fail_msg("%s is another profile when it is printed:\n%s", p->file, text);
	assert_null(ynode_get(again->doc, "extends"));
	profile_free(again);
	free(name);
	return text;
}

static void files_round_trip(void **state)
{
	static const char *const patterns[] = {"profiles/*.yaml", FIXTURES "/good/*.yaml"};
	size_t n = 0;

	for (size_t i = 0; i < array_len(patterns); i++) {
		glob_t g = {0};

		assert_int_equal(glob(patterns[i], 0, NULL, &g), 0);
		for (size_t j = 0; j < g.gl_pathc; j++) {
			struct profile *p = load(*state, g.gl_pathv[j]);

			free(round_trip(*state, p));
			profile_free(p);
			n++;
		}
		globfree(&g);
	}
	assert_true(n > 2);
}

#define HEAD(name) "schema: 1\nname: " name "\nmatch: {dmi: {sys_vendor: QEMU}}\n"

/* As they stand in a document, and whether they come back without quotes. */
static const struct {
	const char *text;
	bool plain;
} values[] = {
	{"1", true},
	{"a-b_c/d.e", true},
	{"-1", false},
	{"\"1\"", false},
	{"\"true\"", false},
	{"'null'", false},
	{"\"~\"", false},
	{"a b", false},
	{"\"a: b\"", false},
	{"\"a #b\"", false},
	{"a#b", false},
	{"'#b'", false},
	{"\"*x\"", false},
	{"\"- x\"", false},
	{"\"[a]\"", false},
	{"a:b", true},
	{"a:", false}, /* not as a value: see may_be_plain() */
	{"\"say \\\"no\\\" \\\\ \"", false},
	{"'it''s'", false},
	{"\"\\ttab\\t\"", false},
	{"\"\\x85\\u2028\\uFEFF\\U0001F600\"", false},
	{"gr\xc3\xbc\xc3\x9f", false},
	{"|\n    folded: not", false},
	{"\"  blanks  \"", false},
	{"010", true},
	{"...", false},
	{"\"---\"", false},
	{"'%x'", false},
	{"\"@x\"", false},
	{"!", false},
};

static void scalars_round_trip(void **state)
{
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(values); i++) {
		char *doc = xasprintf(HEAD("a") "sysctl:\n  vm.x: %s\n", values[i].text);
		struct profile *p = NULL;

		tmp_write(t, "a.yaml", doc);
		if (profile_load_named(&t->root, tmp_path(t, "a.yaml"), NULL, &p, &t->diags,
				       &t->err) == 0) {
			char *text = round_trip(t, p), *at = strstr(text, "vm.x: ");

			assert_non_null(at);
			if ((at[6] != '"') != values[i].plain)
				fail_msg("%s: %s", values[i].text, at);
			free(text);
		}
		diags_free(&t->diags);
		profile_free(p);
		free(doc);
	}
}

/* Exactly what the tree holds comes back, whatever the schema would take. */
static void any_text_round_trips(void **state)
{
	struct tmp *t = *state;
	unsigned int seed = 1;

	for (int i = 0; i < 2000; i++) {
		static const char *const pieces[] = {"a",
						     " ",
						     ":",
						     "#",
						     "\"",
						     "'",
						     "\\",
						     "\t",
						     "-",
						     "\n",
						     "\xc2\x85",
						     "\xe2\x80\xa8",
						     "\xef\xbb\xbf",
						     "\xf0\x9f\x98\x80",
						     "?",
						     "{",
						     "[",
						     ",",
						     "&",
						     "*",
						     "!",
						     "|",
						     ">",
						     "%",
						     "@",
						     "`",
						     "0",
						     "~",
						     "=",
						     "\x01",
						     "\x7f"};
		struct place at = {.file = "x.yaml", .line = 1};
		struct profile p = {.doc = ynode_new(YAML_MAP, at)};
		struct ynode *map = ynode_new(YAML_MAP, at), *key, *again;
		struct str text = {0};
		char *out;

		for (int j = 0; j < 5; j++) {
			seed = seed * 1103515245 + 12345;
			str_add(&text, pieces[(seed >> 16) % array_len(pieces)]);
		}
		key = ynode_scalar(at, str_get(&text), i % 2);
		ynode_set(map, key, ynode_scalar(at, str_get(&text), i % 2));
		ynode_free(key);
		key = ynode_scalar(at, "sysctl", true);
		ynode_set(p.doc, key, map);
		ynode_free(key);
		out = emitted(&p);
		again = yaml_parse("x.yaml", out, strlen(out), &t->diags);
		if (!again || !streq(ynode_get(again, "sysctl")->keys.v[0]->text, text.s) ||
		    !streq(ynode_get(again, "sysctl")->items.v[0]->text, text.s))
			fail_msg("%s", out);
		ynode_free(again);
		ynode_free(p.doc);
		str_free(&text);
		free(out);
	}
}

static void origins(void **state)
{
	struct tmp *t = *state;
	struct profile *p;
	char *text;

	tmp_write(
		t, "base.yaml",
		"schema: 1\nname: base\nabstract: true\nsysctl:\n  vm.swappiness: 1\n  vm.b: 1\n");
	tmp_write(t, "a.yaml", HEAD("a") "extends: base\nsysctl:\n  vm.b: 2\n");
	tmp_write(t, ETC "a.d/site.yaml", "schema: 1\nsysctl: {vm.c: 3}\n");
	p = load(t, tmp_path(t, "a.yaml"));
	text = round_trip(t, p);
	assert_non_null(strstr(text, "schema: 1  # a.yaml:1\n"));
	assert_non_null(strstr(text, "  vm.swappiness: 1  # base.yaml:5\n"));
	assert_non_null(strstr(text, "  vm.b: 2  # a.yaml:6\n"));
	assert_non_null(strstr(text, "  vm.c: 3  # a.d/site.yaml:2\n"));
	assert_true(str_starts(text, "schema: "));
	free(text);
	profile_free(p);
}

/* expect: and section -> the arguments, then what is not known. */
static const struct {
	const char *text;
	const char *args;
	const char *unknown; /* or NULL */
} derived[] = {
	{"expect: {cpu_vendor: intel}\nkernel_args: {iommu: passthrough}\n",
	 "intel_iommu=on iommu=pt", NULL},
	{"expect: {cpu_vendor: arm}\nkernel_args: {iommu: strict}\n",
	 "iommu.passthrough=0 iommu.strict=1", NULL},
	{"kernel_args: {iommu: strict, set: [quiet]}\n", "quiet", "CPU vendor"},
	{"expect: {cpus: 8}\nkernel_args: {isolate_cpus: 2-7}\n",
	 "isolcpus=2-7 nohz_full=2-7 irqaffinity=0-1", NULL},
	{"expect: {cpus: \">=8\"}\nkernel_args: {isolate_cpus: 2-7}\n",
	 "isolcpus=2-7 nohz_full=2-7", "irqaffinity="},
	{"expect: {cpus: 8}\nkernel_args: {isolate_cpus: {keep: 1 per node}, set: [quiet]}\n",
	 "quiet", "depend on the machine's cores"},
	{"hugepages: [{size: 1G, nodes: {0: 4, 2: 1}}]\n", "hugepagesz=1G hugepages=0:4,2:1", NULL},
	{"hugepages: [{size: 1G, per_node: 4}]\n", "", "per_node"},
	/* every socket has a node, so where there are no more nodes, all have CPUs */
	{"expect: {cpu_sockets: 2, numa_nodes: 2}\nhugepages: [{size: 1G, per_node: 4}]\n",
	 "hugepagesz=1G hugepages=0:4,1:4", NULL},
	{"expect: {cpu_sockets: 2, numa_nodes: \">=2\"}\nhugepages: [{size: 1G, per_node: 4}]\n",
	 "", "per_node"},
	{"expect: {cpu_sockets: 1, numa_nodes: 2}\nhugepages: [{size: 1G, per_node: 4}]\n", "",
	 "per_node"},
	/* what is taken at run time needs no argument */
	{"hugepages: [{size: 1G, per_node: 4, at: runtime}]\n", NULL, NULL},
	{"hugepages: [{size: 1G, per_node: 4, at: runtime, default: true}]\n",
	 "default_hugepagesz=1G", NULL},
	{"sysctl: {vm.swappiness: 1}\n", NULL, NULL},
};

static void derived_without_a_node(void **state)
{
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(derived); i++) {
		char *doc = xasprintf(HEAD("a") "%s", derived[i].text), *line;
		struct derived d;
		struct profile *p;

		tmp_write(t, "a.yaml", doc);
		p = load(t, tmp_path(t, "a.yaml"));
		derive_kargs(&t->root, NULL, p, &d);
		assert_int_equal(d.list.n, derived[i].args ? 1 : 0);
		if (derived[i].args) {
			line = kargs_line(&d.list.v[0].kargs);
			assert_string_equal(line, derived[i].args);
			assert_int_equal(d.list.v[0].unknown.n, derived[i].unknown ? 1 : 0);
			free(line);
		}
		if (derived[i].unknown)
			assert_non_null(strstr(d.list.v[0].unknown.v[0].text, derived[i].unknown));
		derived_free(&d);
		profile_free(p);
		free(doc);
	}
}

/* A drop-in by itself: the file it is judged with, and its first error. */
static void dropins(void **state)
{
	static const struct {
		const char *file, *text, *target, *error;
	} cases[] = {
		{"tree/a.d/x.yaml", "schema: 1\nsysctl: {vm.dirty_ratio: 1}\n", "tree/a.yaml",
		 NULL},
		{"tree/a.d/x.yaml", "schema: 1\nname: x\n", "tree/a.yaml", "a drop-in cannot set"},
		{"tree/a.d/x.yaml", "schema: 1\nsriov: {gpus: {vfs: 1}}\n", "tree/a.yaml",
		 "no device set 'gpus'"},
		{"tree/a.d/x.yaml", "schema: 1\nsriov: {rails: {vfs: 1}}\n", "tree/a.yaml", NULL},
		{"tree/b.d/x.yaml", "schema: 1\nsysctl: {vm.swappiness: 1}\n", USR "b.yaml", NULL},
		{"tree/c.d/x.yaml", "schema: 1\nsriov: {rails: {vfs: 1}}\n", NULL, NULL},
		{"tree/c.d/x.yaml", "schema: 1\nmatch: {arch: x86_64}\nsysctl: {vm.a: null}\n",
		 NULL, NULL},
		{"tree/c.d/x.yaml", "schema: 1\nkernel_args: {set: [iommu=on]}\n", NULL,
		 "iommu=on: the kernel has no such option"},
		{"tree/c.d/x.yaml", "sysctl: {vm.swappiness: 1}\n", NULL, "missing"},
	};
	struct tmp *t = *state;

	tmp_write(t, "tree/a.yaml",
		  HEAD("a") "devices: {rails: {pci: \"15b3:1021\", expect: 8}}\n");
	tmp_write(t, USR "b.yaml", HEAD("b"));
	assert_false(profile_is_dropin(tmp_path(t, "tree/a.yaml")));
	for (size_t i = 0; i < array_len(cases); i++) {
		char *target = NULL, *path;
		int r;

		tmp_write(t, cases[i].file, cases[i].text);
		path = xstrdup(tmp_path(t, cases[i].file));
		assert_true(profile_is_dropin(path));
		r = profile_check_dropin(&t->root, path, NULL, &target, &t->diags, &t->err);
		assert_int_equal(r, cases[i].error ? -EINVAL : 0);
		assert_int_equal(t->diags.list.n > 0, cases[i].error != NULL);
		if (cases[i].error)
			assert_non_null(strstr(t->diags.list.v[0].text, cases[i].error));
		assert_int_equal(target != NULL, cases[i].target != NULL);
		if (target)
			assert_non_null(strstr(target, cases[i].target));
		diags_free(&t->diags);
		free(target);
		free(path);
	}
}

static void site(void **state)
{
	static const struct {
		const char *text;
		struct {
			bool admit_off, admit_none, reboot;
		} wanted;
		const char *error; /* or NULL */
	} cases[] = {
		{"schema: 1\n", {false, false, true}, NULL},
		{"schema: 1\nadmit_off: true\n", {true, false, true}, NULL},
		{"schema: 1\nadmit_none: true\nreboot: false\n", {false, true, false}, NULL},
		{"schema: 1\nrequire_signature: false\nboot_complete: false\n",
		 {false, false, true},
		 NULL},
		{"schema: 1\nadmit_off: true\nrequire_signature: true\n",
		 {false, false, false},
		 "railhead.conf:3:20: require_signature: not implemented by this railhead"},
		{"schema: 1\nboot_complete: true # of the image\n", {false, false, true}, NULL},
		{" schema: 1\n boot_complete:\ttrue", {false, false, true}, NULL},
		{"{schema: 1, boot_complete: true}\n",
		 {false, false, false},
		 "railhead.conf:1:28: boot_complete: write 'boot_complete: true' on a separate "
		 "line"},
		{"schema: 1\nboot_complete:\n  true\n",
		 {false, false, false},
		 "on a separate line"},
		{"schema: 1\nboot_complete : true\n", {false, false, false}, "on a separate line"},
		{"{schema: 1, boot_complete: false}\n",
		 {false, false, false},
		 "boot_complete: write 'boot_complete: false' on a separate line"},
		{"admit_off: true\n", {false, false, false}, "schema: missing"},
		{"schema: 1\nadmit_of: true\n",
		 {false, false, false},
		 "railhead.conf:2:1: admit_of: unknown key; did you mean 'admit_off'?"},
		{"schema: 1\nadmit_off: yes\n", {false, false, false}, "write true"},
		{"schema: 1\nadmit_off: [\n", {false, false, false}, "not YAML"},
		{"", {false, false, false}, "empty"},
		{"- a\n", {false, false, false}, "railhead.conf is a map of keys"},
		{"schema: 2\n", {false, false, false}, "upgrade"},
	};
	struct tmp *t = *state;
	struct site got;

	site_load(&t->root, &got, &t->diags);
	assert_true(got.reboot && !got.admit_off && !got.admit_none && !t->diags.errors);
	for (size_t i = 0; i < array_len(cases); i++) {
		tmp_write(t, "etc/railhead/railhead.conf", cases[i].text);
		site_load(&t->root, &got, &t->diags);
		assert_true(got.admit_off == cases[i].wanted.admit_off &&
			    got.admit_none == cases[i].wanted.admit_none &&
			    got.reboot == cases[i].wanted.reboot);
		assert_int_equal(t->diags.errors > 0, cases[i].error != NULL);
		if (cases[i].error) {
			char *text = diag_format(&t->diags.list.v[0]);

			if (!strstr(text, cases[i].error))
				fail_msg("%s", text);
			free(text);
		}
		diags_free(&t->diags);
	}
}

/* Each case is a set of files with admit_off; the value of the one that counts, or an error. */
static void site_layers(void **state)
{
#define CONF "etc/railhead/railhead.conf"
	static const struct {
		struct {
			const char *file, *text; /* "-> /dev/null" is a link */
		} files[4];
		bool admit_off;
		const char *error; /* or NULL */
	} cases[] = {
		{{{"usr/lib/railhead/railhead.conf", "true"}}, true, NULL},
		{{{"usr/lib/railhead/railhead.conf", "false"},
		  {"run/railhead/railhead.conf", "true"}},
		 true,
		 NULL},
		{{{"usr/lib/railhead/railhead.conf", "false"},
		  {"run/railhead/railhead.conf", "false"},
		  {CONF, "true"}},
		 true,
		 NULL},
		{{{"usr/lib/railhead/railhead.conf", "true"}, {CONF, "-> /dev/null"}}, false, NULL},
		{{{CONF, "false"}, {"usr/lib/railhead/railhead.conf.d/10.conf", "true"}},
		 true,
		 NULL},
		{{{CONF ".d/20.conf", "false"},
		  {"usr/lib/railhead/railhead.conf.d/30.conf", "true"}},
		 true,
		 NULL},
		{{{CONF ".d/30.conf", "true"},
		  {"usr/lib/railhead/railhead.conf.d/30.conf", "false"}},
		 true,
		 NULL},
		{{{CONF ".d/20.conf", "true"},
		  {"usr/lib/railhead/railhead.conf.d/30.conf", "false"},
		  {CONF ".d/30.conf", "-> /dev/null"}},
		 true,
		 NULL},
		{{{CONF ".d/20", "true"}, {CONF ".d/.x.conf", "true"}}, false, NULL},
		{{{CONF, "true"}, {CONF ".d/20.conf", ""}}, false, NULL},
		{{{CONF, "true"}, {"run/railhead/railhead.conf.d/x.conf", "yes"}},
		 false,
		 "/run/railhead/railhead.conf.d/x.conf:2:12: admit_off: "},
		{{{"usr/lib/railhead/railhead.conf", "true"}, {CONF, "-> /nowhere"}},
		 false,
		 "/" CONF ": No such file"},
		{{{CONF ".d", "true"}}, false, "/" CONF ".d: Not a directory"},
	};
#undef CONF
	struct site got;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct tmp *t;

		tmp_setup(state);
		t = *state;
		for (size_t j = 0; j < array_len(cases[i].files) && cases[i].files[j].file; j++) {
			const char *text = cases[i].files[j].text;
			cleanup_free char *conf = xasprintf("schema: 1\nadmit_off: %s\n", text);

			if (str_starts(text, "-> "))
				assert_int_equal(
					symlink(text + 3, tmp_path(t, cases[i].files[j].file)), 0);
			else
				tmp_write(t, cases[i].files[j].file, conf);
		}
		site_load(&t->root, &got, &t->diags);
		if (got.admit_off != cases[i].admit_off ||
		    (t->diags.errors > 0) != !!cases[i].error)
			fail_msg("case %zu: %d", i, got.admit_off);
		if (cases[i].error) {
			cleanup_free char *text = diag_format(&t->diags.list.v[0]);

			if (!strstr(text, cases[i].error))
				fail_msg("%s", text);
		}
		tmp_teardown(state);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_round_trip),
		TEST(scalars_round_trip),
		TEST(any_text_round_trips),
		TEST(origins),
		TEST(derived_without_a_node),
		TEST(dropins),
		TEST(site),
		cmocka_unit_test(site_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
