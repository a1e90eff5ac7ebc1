/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages: what is escaped, whom marks are about, what a link could do, figures and their charts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/html.h"
#include "report/html_parts.h"
#include "report/marks.h"
#include "report/page.h"
#include "record_of.h"
#include "tree.h"

/* --- html() ---------------------------------------------------------------------------------- */

static char *said; /* by the last call of a writer */

static FILE *begin(void)
{
	static size_t n;

	free(said);
	said = NULL;
	return open_memstream(&said, &n);
}

#define written(fmt, ...)                     \
	({                                    \
		FILE *out_ = begin();         \
		html(out_, fmt, __VA_ARGS__); \
		fclose(out_);                 \
		said;                         \
	})

static void test_html(void **state)
{
	const char *volatile none = NULL;

	(void)state;
	assert_string_equal(written("<b title=\"%s\">%s</b>", "\"'", "<i>&amp;"),
			    "<b title=\"&quot;&#39;\">&lt;i&gt;&amp;amp;</b>");
	assert_string_equal(written("%s|%s", "", none), "|");
	assert_string_equal(written("%d %u %zu", -1, 2U, (size_t)3), "-1 2 3");
	assert_string_equal(written("%lld %llu", -4LL, 5ULL), "-4 5");
	assert_string_equal(written("%.2f%% of %.0f", 12.345, 9.6), "12.35% of 10");
	/* an escape sequence, a right-to-left override, a byte that is no UTF-8 */
	assert_string_equal(written("%s", "a\033[1mb\342\200\256c\377d"), "a?[1mb?c?d");
	assert_string_equal(written("%s", "\303\244"), "\303\244");
}

static void test_anchor(void **state)
{
	cleanup_free char *pci = html_anchor("0000:18:00.0"), *bad = html_anchor("\"><a b");

	(void)state;
	assert_string_equal(pci, "pci-0000-18-00-0");
	assert_string_equal(bad, "pci----a-b");
}

static void test_time(void **state)
{
	static const struct {
		uint64_t usec;
		const char *text;
	} rows[] = {{0, "0.0 ms"},	  {3249, "3.2 ms"},    {999999, "1000.0 ms"},
		    {1234567, "1.235 s"}, {60000000, "1 min"}, {UINT64_MAX, "213503982 days 8 h"}};

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++) {
		cleanup_free char *text = html_time(rows[i].usec);

		assert_string_equal(text, rows[i].text);
	}
}

/* --- marks ----------------------------------------------------------------------------------- */

static void test_subject(void **state)
{
	static const struct {
		const char *id, *addr;
		int vf, numa;
	} rows[] = {
		{"sriov/0000:18:00.0/vf3/driver", "0000:18:00.0", 3, -1},
		{"hugepages/1G/node1", "", -1, 1},
		{"pairs/0000:18:00.0-0000:19:00.0/near", "0000:18:00.0", -1, -1},
		{"sysctl/vm.swappiness", "", -1, -1},
		{"sysctl/novf3/xnode4", "", -1, -1},
		{"", "", -1, -1},
	};

	(void)state;
	for (size_t i = 0; i < array_len(rows); i++) {
		struct id_subject on = id_subject_of(rows[i].id);

		assert_string_equal(on.addr, rows[i].addr);
		assert_int_equal(on.vf, rows[i].vf);
		assert_int_equal(on.numa, rows[i].numa);
	}
}

/* Of a node that has nothing, with a record; the caller frees all three. */
struct fixture {
	struct node node;
	struct inventory inv;
	struct record record;
};

static void fixture_take(const struct tmp *t, const char *record, struct fixture *ret)
{
	assert_int_equal(node_survey(&t->root, &ret->node, NULL), 0);
	inventory_take(&t->root, &ret->node, &ret->inv);
	ret->record = record_of(record);
}

static void fixture_free(struct fixture *f)
{
	record_free(&f->record);
	inventory_free(&f->inv);
	node_free(&f->node);
}

static void expect_mark(const struct marks *m, size_t i, enum mark_grade grade, const char *id,
			const char *what, const char *remedy)
{
	assert_true(i < m->list.n);
	assert_string_equal(m->list.v[i].id, id);
	assert_int_equal(m->list.v[i].grade, grade);
	assert_string_equal(m->list.v[i].what, what);
	assert_string_equal(or_empty(m->list.v[i].remedy), remedy);
}

/* The verdict's reason says it for the change and the measurement; what it leaves out is marked. */
static void test_marks(void **state)
{
	static const char text[] =
		"{\"verdict\": \"blocked\", \"admit\": false,"
		"\"faults\": [{\"id\": \"a/x\", \"why\": \"wrong\", \"own_remedy\": \"mend it\"},"
		"	{\"id\": \"gate/c/node0\", \"why\": \"slow\", \"own_remedy\": \"why\"},"
		"	{\"code\": \"RH-NIC-DOWN\", \"why\": \"a sentence\","
		"	 \"on_fail\": \"warn\"}],"
		"\"stages\": {\"early\": {\"changes\": ["
		"	{\"id\": \"a/x\", \"state\": \"failed\", \"reason\": \"wrong\"},"
		"	{\"id\": \"a/y\", \"state\": \"failed\", \"reason\": \"other\","
		"	 \"on_fail\": \"degrade\"},"
		"	{\"id\": \"a/later\", \"state\": \"failed\"},"
		"	{\"id\": \"a/good\", \"state\": \"same\"}]},"
		"\"devices\": {\"changes\": [{\"id\": \"a/later\", \"state\": \"set\"},"
		"	{\"id\": \"a/z\", \"state\": \"differs\", \"observed\": \"1\","
		"	 \"desired\": \"2\"}]}},"
		"\"measurements\": [{\"id\": \"gate/c/node0\", \"check\": \"c\", \"state\": "
		"\"slow\"},"
		"	{\"id\": \"gate/c/node1\", \"check\": \"c\", \"state\": \"slow\","
		"	 \"reason\": \"slow\", \"remedy\": \"look\"},"
		"	{\"id\": \"gate/c/node2\", \"check\": \"c\", \"state\": \"same\"}]}";
	cleanup(marks_free) struct marks m = {0};
	cleanup(fixture_free) struct fixture f;

	fixture_take(*state, text, &f);
	marks_find(&f.node, &f.inv, &f.record, &m);
	expect_mark(&m, 0, MARK_BLOCKS, "a/x", "wrong", "mend it");
	expect_mark(&m, 1, MARK_BLOCKS, "gate/c/node0", "slow", "why");
	expect_mark(&m, 2, MARK_WARNS, "", "a sentence", fault_row(FAULT_NIC_DOWN)->remedy);
	expect_mark(&m, 3, MARK_WARNS, "a/y", "other", "");
	expect_mark(&m, 4, MARK_WARNS, "gate/c/node1", "slow", "look");
	expect_mark(&m, 5, MARK_PENDING, "a/z", "found '1', expected '2'", "");
	assert_int_equal(m.list.n, 6);
	assert_int_equal(mark_place(&m.list.v[1], &f.node), PLACE_NUMA);
	assert_int_equal(mark_place(&m.list.v[4], &f.node), PLACE_MACHINE); /* there is no node 1 */
}

/* --- the chart ------------------------------------------------------------------------------- */

static const char *chart(const double *values, size_t n, double threshold)
{
	FILE *out = begin();

	html_history(out, values, n, threshold, QUANTITY_RATE);
	fclose(out);
	return said;
}

static void test_history_chart(void **state)
{
	static const double same[] = {2e9, 2e9, 2e9}, steps[] = {10e9, 20e9};

	(void)state;
	assert_string_equal(chart(same, 0, NAN), "");
	assert_string_equal(chart(same, 1, NAN), "");
	assert_text(chart(same, 3, NAN), "aria-label=\"3 values, 2.0 GB/s to 2.0 GB/s\"");
	assert_text(said, "points=\"4.0,14.0 60.0,14.0 116.0,14.0\"");
	assert_null(strstr(said, "threshold"));
	/* 5 % above and below the last value, 19e9 and 21e9, belong to the chart: so 10 is the
	 * floor */
	assert_text(chart(steps, 2, 15e9), "points=\"4.0,24.0 116.0,5.8\"");
	assert_text(said, "y1=\"14.9\" y2=\"14.9\"");
	assert_text(said, "2 boots, 10.0 GB/s to 20.0 GB/s");
	assert_null(strstr(chart((const double[]){0, 0}, 2, 0), "nan"));
}

/* --- the page -------------------------------------------------------------------------------- */

static const char *page_of(const struct tmp *t, const char *record)
{
	cleanup(fixture_free) struct fixture f;
	FILE *out = begin();

	fixture_take(t, record, &f);
	page_render(out, &(struct page){.node = &f.node, .inv = &f.inv, .record = &f.record});
	fclose(out);
	return said;
}

/* Times that can't be: a damaged record has a page too, and no bar leaves its lane. */
static void test_damaged_times(void **state)
{
	static const char text[] =
		"{\"judged_usec\": 9223372036854775807, \"verdict\": \"ready\","
		"\"waiting\": {\"since_usec\": 9, \"until_usec\": 1, \"looked_usec\": 3},"
		"\"stages\": {\"devices\": {\"started_usec\": 100, \"duration_usec\": 0,"
		"\"vfs\": [{\"pf\": \"0000:18:00.0\", \"timeline\": ["
		"	{\"part\": \"bind\", \"from_usec\": 9000, \"to_usec\": 5},"
		"	{\"part\": \"unheard\", \"from_usec\": 0, \"to_usec\": "
		"9223372036854775807}]}],"
		"\"changes\": [{\"id\": \"a/b\", \"state\": \"set\", \"started_usec\": 50},"
		"	{\"id\": \"a/c\", \"state\": \"failed\", \"started_usec\": 200,"
		"	 \"duration_usec\": 9223372036854775807}]}}}";
	const char *page = page_of(*state, text);
	double x, width;

	assert_text(page, "</html>");
	assert_text(page, "a/c (failed)");
	for (const char *p = page; (p = strstr(p, "<rect class=\"sort-")); p++)
		if (sscanf(p, "<rect class=\"sort-%*[a-z_]\" x=\"%lf%%\" width=\"%lf%%\"", &x,
			   &width) == 2)
			assert_true(x >= 0 && width > 0 && x + width <= 100.01);
}

static void test_bars_are_packed(void **state)
{
	static const char text[] =
		"{\"stages\": {\"early\": {\"started_usec\": 100, \"duration_usec\": 100, "
		"\"changes\": ["
		"{\"id\": \"s/1\", \"step\": \"s\", \"started_usec\": 100, \"duration_usec\": 50},"
		"{\"id\": \"s/3\", \"step\": \"s\", \"started_usec\": 150, \"duration_usec\": 50},"
		"{\"id\": \"s/2\", \"step\": \"s\", \"started_usec\": 125, \"duration_usec\": "
		"50}]}}}";
	const char *page = page_of(*state, text);

	/* the second is under way with both others, which follow one another in one row */
	assert_text(page, "x=\"0.00%\" width=\"50.00%\" y=\"1\"");
	assert_text(page, "x=\"25.00%\" width=\"50.00%\" y=\"12\"");
	assert_text(page, "x=\"50.00%\" width=\"50.00%\" y=\"1\"");
	assert_text(page, "height=\"23\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_anchor),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_subject),
		cmocka_unit_test_setup_teardown(test_marks, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_history_chart),
		cmocka_unit_test_setup_teardown(test_damaged_times, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_bars_are_packed, tmp_setup, tmp_teardown),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	free(said);
	return r;
}
