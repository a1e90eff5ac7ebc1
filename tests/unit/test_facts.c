/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two lists of facts against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "report/facts.h"

/* Keys and values; a key that begins with a star is a thing. */
static void fill(struct facts *facts, const char *const *list)
{
	for (; *list; list += 2) {
		bool thing = **list == '*';

		vec_push(&facts->list, ((struct known){.key = xstrdup(*list + thing),
						       .value = xstrdup(list[1]),
						       .thing = thing}));
	}
}

static void compare(const char *const *a, const char *const *b, const char *expected,
		    size_t compared)
{
	cleanup(facts_free) struct facts in_a = {0}, in_b = {0};
	cleanup_str struct str said = {0};
	struct differences all;

	fill(&in_a, a);
	fill(&in_b, b);
	facts_compare(&in_a, &in_b, &all);
	for (size_t i = 0; i < all.list.n; i++)
		str_addf(&said, "%s %s|%s;", all.list.v[i].key,
			 all.list.v[i].a ? all.list.v[i].a->value : "-",
			 all.list.v[i].b ? all.list.v[i].b->value : "-");
	assert_string_equal(str_get(&said), expected);
	assert_int_equal(all.compared, compared);
	vec_free(&all.list);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__})

static void test_values(void **state)
{
	(void)state;
	compare(LIST("a", "1", "b", "2", NULL), LIST("b", "2", "a", "1", NULL), "", 2);
	compare(LIST("b", "1", "a", "1", NULL), LIST("a", "2", "c", "3", NULL),
		"b 1|-;a 1|2;c -|3;", 3);
	compare(LIST(NULL), LIST(NULL), "", 0);
}

static void test_things(void **state)
{
	(void)state;
	/* of one that is gone nothing below, whatever separates it; a name that begins alike stays
	 */
	compare(LIST("*d/1", "nic", "d/1/x", "1", "d/1/y/z", "1", "d/10/x", "1", NULL),
		LIST("d/10/x", "2", NULL), "d/1 nic|-;d/10/x 1|2;", 2);
	compare(LIST("s", "1", NULL),
		LIST("s", "1", "*h", "list", "*h[0]", "map", "h[0].size", "1G", NULL), "h -|list;",
		2);
	/* one that both have is no difference, whatever describes the thing */
	compare(LIST("*d", "old", "d.x", "1", NULL), LIST("*d", "new", "d.x", "1", NULL), "", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_things),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
