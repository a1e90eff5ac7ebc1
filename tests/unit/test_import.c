/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import of any text: no line of it brings the program down, and what is written is YAML with each
 * setting in a line of its own. What files of real tools become: tests/import.bats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/import.h"
#include "profile_tmp.h"

static const char *const texts[] = {
	"vm.swappiness = 10\n-net.ipv4.conf.*.rp_filter=2\nnet/ipv4/ip_forward=1\nx\n= 1\n-\n",
	"options a b=1 c=\"d e\" f\nblacklist g\ninstall h /bin/i\noptions \\\n  j "
	"\\\nk=l\noptions\n",
	"GRUB_CMDLINE_LINUX=\"a=1 $b 'c' \\\\\"\nexport "
	"GRUB_CMDLINE_LINUX='d=\\\n2'\nGRUB_X=1\n=\n",
	"isolcpus=1-2 iommu=pt root=/dev/x \"a b\" quiet\n# no\n",
	"hugepagesz=1G hugepages=0:8,1:4 default_hugepagesz=2M hugepages=8 hugepagesz=3M\n",
	"[main]\ninclude=a,b;-c\n[variables]\nx=1\ny=${x}${y}${f:z:1}\n[sysctl]\na.b=${x}\n  go "
	"on\n"
	"[bootloader]\ncmdline=+k=${y} l\ncmdline_m=-l\n[vm]\ndirty_bytes=4%\n[cpu]\ngovernor=a|b\n"
	"force_latency=1\nboost=\n[modules]\nn=+r "
	"o=p\n[q\n]r=s\n[sysfs]\n/sys/t=u\n[v]\ntype=sysctl\n",
};

/* Reproducible, and no more than that. */
static unsigned int next(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 16;
}

/* Some bytes of the text are others, gone, or there twice. */
static char *mutated(const char *text, unsigned int *seed)
{
	static const char bytes[] = "\n\r\t =#;\"'\\$({}[]%+-|:,./*?\x01\x7f\xc3\xa9"
				    "a0";
	struct str out = {0};

	for (; *text; text++) {
		unsigned int what = next(seed) % 40;

		if (what == 0)
			str_addf(&out, "%c", bytes[next(seed) % (sizeof(bytes) - 1)]);
		else if (what == 1)
			str_addf(&out, "%c%c", *text, *text);
		else if (what != 2)
			str_addf(&out, "%c", *text);
	}
	return str_take(&out) ?: xstrdup("");
}

static void want_yaml(const struct tmp *t, struct import *im)
{
	struct diags diags = {0};
	struct profile *p = NULL;
	struct str out = {0};

	import_write(im, "imported", &out);
	profile_check_text(&t->root, "<stdin>", str_get(&out), &p, &diags);
	for (size_t i = 0; i < diags.list.n; i++)
		if (streq(diags.list.v[i].code, "syntax"))
			fail_msg("%s:\n%s", diags.list.v[i].text, str_get(&out));
	for (size_t i = 0; i < im->list.n; i++)
		for (size_t j = 0; j < i; j++)
			if (im->list.v[i].section && im->list.v[j].section &&
			    im->list.v[i].line == im->list.v[j].line)
				fail_msg("two settings in line %u:\n%s", im->list.v[i].line,
					 str_get(&out));
	profile_free(p);
	diags_free(&diags);
	str_free(&out);
}

static void test_any_text(void **state)
{
	struct tmp *t = *state;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < 1500; i++) {
		char *text = mutated(texts[i % (sizeof(texts) / sizeof(*texts))], &seed);
		enum import_kind kind = 1 + next(&seed) % IMPORT_TUNED;
		struct import im = {.root = &t->root};

		import_kind_of("x", text);
		import_text(&im, "x/tuned.conf", true, text, kind);
		want_yaml(t, &im);
		import_free(&im);
		free(text);
	}
}

/* A text that has no setting, or no end, is imported as what it is. */
static void test_edges(void **state)
{
	static const char *const edges[] = {"", "\n", "\\", "x=\\", "[", "[a", "-", "=", "\"", "#"};
	struct tmp *t = *state;

	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
		for (enum import_kind kind = IMPORT_SYSCTL; kind <= IMPORT_TUNED; kind++) {
			struct import im = {.root = &t->root};

			import_text(&im, "x", true, edges[i], kind);
			want_yaml(t, &im);
			import_free(&im);
		}
}

#define SECTION "page pools have a section of their own: hugepages: "

/* The kernel's documentation of hugepages= has the pairs and the three ways of a default size. */
static void test_pages(void **state)
{
	static const struct {
		const char *path, *text, *notes[6];
	} cases[] = {
		{"etc/kernel/cmdline",
		 "hugepagesz=1G hugepages=64 hugepagesz=2048K hugepages=512\n",
		 {SECTION "[{size: 1G, per_node: N}], where N is 64 divided by the number of NUMA "
			  "nodes",
		  SECTION "[{size: 1G, per_node: N}], where N is 64 divided by the number of NUMA "
			  "nodes",
		  SECTION "[{size: 2M, per_node: N}], where N is 512 divided by the number of NUMA "
			  "nodes",
		  SECTION "[{size: 2M, per_node: N}], where N is 512 divided by the number of NUMA "
			  "nodes"}},
		{"cmdline.d/x.conf",
		 "hugepagesz=1G\nhugepages=0:32,1:16\n",
		 {SECTION "[{size: 1G, nodes: {0: 32, 1: 16}}]",
		  SECTION "[{size: 1G, nodes: {0: 32, 1: 16}}]"}},
		{"proc/cmdline",
		 "hugepages=0:8 default_hugepagesz=1G",
		 {SECTION "[{size: 1G, nodes: {0: 8}, default: true}]",
		  SECTION "[{size: 1G, nodes: {0: 8}, default: true}]"}},
		{"proc/cmdline",
		 "default_hugepagesz=1G hugepages=0:8 hugepagesz=2M hugepages=0:4",
		 {SECTION "[{size: 1G, nodes: {0: 8}, default: true}]",
		  SECTION "[{size: 1G, nodes: {0: 8}, default: true}]",
		  SECTION "[{size: 2M, nodes: {0: 4}}]", SECTION "[{size: 2M, nodes: {0: 4}}]"}},
		{"proc/cmdline",
		 "hugepagesz=1G hugepages=0:8 default_hugepagesz=1G",
		 {SECTION "[{size: 1G, nodes: {0: 8}, default: true}]",
		  SECTION "[{size: 1G, nodes: {0: 8}, default: true}]",
		  SECTION "[{size: 1G, nodes: {0: 8}, default: true}]"}},
		{"proc/cmdline", "hugepages=x", {SECTION "[{size: 2M, per_node: ...}]"}},
		{"proc/cmdline",
		 "hugepagesz=3M hugepages=0:8 hugepages=0:4 hugepages=0:2",
		 {"x86-64 and arm64 have no such page size; the kernel ignores this argument and "
		  "the hugepages= after it",
		  "the kernel ignores this count, because it rejects the page size before it",
		  SECTION "[{size: 2M, nodes: {0: 4}}]",
		  "the kernel ignores this count, because an earlier hugepages= sets the pool of "
		  "this page size"}},
		{"default/grub",
		 "GRUB_CMDLINE_LINUX=hugepagesz=1G\nGRUB_CMDLINE_LINUX=hugepages=0:8\n",
		 {"default/grub:2 assigns GRUB_CMDLINE_LINUX again",
		  SECTION "[{size: 2M, nodes: {0: 8}}]"}},
		{"sysctl.d/x.conf",
		 "vm.nr_hugepages = 4\n",
		 {SECTION "[{size: 2M, per_node: ...}]"}},
	};
	struct tmp *t = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct import im = {.root = &t->root};
		struct str out = {0};

		import_text(&im, cases[i].path, true, cases[i].text,
			    import_kind_of(cases[i].path, NULL));
		import_write(&im, "imported", &out);
		for (size_t j = 0; j < im.list.n; j++)
			assert_string_equal(im.list.v[j].note, cases[i].notes[j]);
		assert_null(cases[i].notes[im.list.n]);
		str_free(&out);
		import_free(&im);
	}
}

/* A file of its own has its own pairs; these sysctls count pages of the default size. */
static void test_pages_of_files(void **state)
{
	struct tmp *t = *state;
	struct import im = {.root = &t->root};
	struct str out = {0};

	import_text(&im, "x.conf", true, "vm.nr_hugepages=4\n", IMPORT_SYSCTL);
	import_text(&im, "y.conf", true, "vm/nr_overcommit_hugepages=4\n", IMPORT_SYSCTL);
	import_text(&im, "a/cmdline", true, "default_hugepagesz=1G\n", IMPORT_CMDLINE);
	import_text(&im, "b/cmdline", true, "hugepages=0:8\n", IMPORT_CMDLINE);
	import_write(&im, "imported", &out);
	assert_string_equal(im.list.v[0].note, SECTION "[{size: 1G, per_node: ...}]");
	assert_string_equal(im.list.v[1].note, SECTION "[{size: 1G, per_node: ...}]");
	assert_string_equal(im.list.v[3].note, SECTION "[{size: 2M, nodes: {0: 8}}]");
	str_free(&out);
	import_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_any_text, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_edges, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_pages, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_pages_of_files, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests_name("profile/import", tests, NULL, NULL);
}
