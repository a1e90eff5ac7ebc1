/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead-bench(8) and the tables of the benchmarks say the same: each benchmark is a word of a
 * heading, and below that heading each of its options is an item that says what it is if it is
 * not said, or that it is required. An item that not all benchmarks of its heading take names
 * those that do. No heading and no item is there that no table has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "bench/benchmark.h"

#define PAGE "packaging/man/railhead-bench.8"

struct item {
	char *heading; /* "memory_bandwidth, memory_latency" */
	char *name;    /* of the option; NULL: the heading's own text */
	struct str body;
	bool seen;
};

struct page {
	VEC(struct item) items;
	size_t missing;
};

static void add(struct page *p, const char *heading, const char *name)
{
	struct item item = {.heading = xstrdup(heading)};

	if (name)
		item.name = xasprintf("%.*s", (int)strcspn(name, " "), name);
	vec_push(&p->items, item);
}

/* Only the section of the benchmarks. */
static void read_page(struct page *p)
{
	FILE *f = fopen(PAGE, "r");
	char line[1024], heading[128] = "";
	bool inside = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		str_chomp(line);
		if (str_starts(line, ".Sh "))
			inside = streq(line, ".Sh BENCHMARKS");
		else if (inside && str_starts(line, ".Ss "))
			snprintf(heading, sizeof(heading), "%.100s", line + strlen(".Ss "));
		if (!inside || str_starts(line, ".Sh "))
			continue;
		if (str_starts(line, ".Ss ") || streq(line, ".El"))
			add(p, heading, NULL);
		else if (str_starts(line, ".It Fl -"))
			add(p, heading, line + strlen(".It Fl -"));
		else
			str_addf(&p->items.v[p->items.n - 1].body, "%s ", line);
	}
	fclose(f);
}

static bool has_word(const char *list, const char *word)
{
	cleanup_free char *copy = xstrdup(list);
	char *rest = copy, *w;

	while ((w = strsep(&rest, ", ")) != NULL)
		if (streq(w, word))
			return true;
	return false;
}

static struct item *find(struct page *p, const char *bench, const char *option)
{
	for (size_t i = 0; i < p->items.n; i++) {
		struct item *it = &p->items.v[i];

		if (has_word(it->heading, bench) &&
		    (option ? it->name && streq(it->name, option) : !it->name))
			return it;
	}
	return NULL;
}

static void want(struct page *p, const struct benchmark *b, const struct item *it, const char *text,
		 size_t len)
{
	cleanup_free char *wanted = xasprintf("%.*s", (int)len, text);

	if (strstr(str_get(&it->body), wanted))
		return;
	print_message("%s --%s: the page does not say '%s'\n", b->name, it->name, wanted);
	p->missing++;
}

/* A help text has what holds without the option in parentheses. */
static void check_option(struct page *p, const struct benchmark *b, const struct option_def *d)
{
	struct item *it = find(p, b->name, d->name);
	const char *open = strrchr(d->help, '(');

	if (!it) {
		print_message("%s: no item '.It Fl -%s' in the page\n", b->name, d->name);
		p->missing++;
		return;
	}
	it->seen = true;
	if (d->required)
		want(p, b, it, "Required.", strlen("Required."));
	else if (open)
		want(p, b, it, open + 1, strcspn(open + 1, ")"));
}

static bool takes(const struct benchmark *b, const char *option)
{
	for (const struct option_def *d = b->options; d->name; d++)
		if (streq(d->name, option))
			return true;
	return false;
}

/* An option of rdma_pairs under the heading of both. */
static void check_owners(struct page *p, const struct item *it)
{
	for (size_t i = 0; it->name && benchmarks[i]; i++) {
		const struct benchmark *b = benchmarks[i];

		if (!has_word(it->heading, b->name) || takes(b, it->name))
			continue;
		if (strstr(str_get(&it->body), b->name) || !strstr(str_get(&it->body), ".Li ")) {
			print_message("%s takes no --%s, which the page says\n", b->name, it->name);
			p->missing++;
		}
	}
}

static void check_headings(struct page *p)
{
	for (size_t i = 0; i < p->items.n; i++) {
		cleanup_free char *copy = xstrdup(p->items.v[i].heading);
		char *rest = copy, *w;

		while ((w = strsep(&rest, ", ")) != NULL)
			if (*w && !benchmark_find(w)) {
				print_message("heading '%s': no such benchmark\n", w);
				p->missing++;
			}
	}
}

static void page_and_tables_agree(void **state)
{
	struct page p = {0};

	(void)state;
	read_page(&p);
	for (size_t i = 0; benchmarks[i]; i++) {
		if (!find(&p, benchmarks[i]->name, NULL)) {
			print_message("no heading of the page has %s\n", benchmarks[i]->name);
			p.missing++;
		}
		for (const struct option_def *d = benchmarks[i]->options; d->name; d++)
			check_option(&p, benchmarks[i], d);
	}
	check_headings(&p);
	for (size_t i = 0; i < p.items.n; i++) {
		struct item *it = &p.items.v[i];

		if (it->name && !it->seen) {
			print_message("%s: item '%s' is no option\n", it->heading, it->name);
			p.missing++;
		}
		check_owners(&p, it);
		free(it->heading);
		free(it->name);
		str_free(&it->body);
	}
	vec_free(&p.items);
	assert_int_equal(p.missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_and_tables_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
