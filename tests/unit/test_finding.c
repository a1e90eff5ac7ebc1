/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A finding as a sentence: all of its parts are there, and none of them is taken for another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/status_text.h"
#include "values.h"

static void test_sentences(void **state)
{
	static const struct {
		struct finding f;
		const char *text;
	} t[] = {
		{{.why = (char *)"a sentence"}, "a sentence"},
		{{.id = (char *)"a/b", .why = (char *)"failed; twice", .remedy = (char *)"mend it"},
		 "a/b: failed; twice; mend it"},
		{{.id = (char *)"a/b", .wanted = (char *)"2", .found = (char *)"1"},
		 "a/b: found '1', expected '2'"},
		{{.id = (char *)"a/b", .wanted = (char *)"x; y", .why = (char *)"why"},
		 "a/b: found 'nothing', expected 'x; y'; why"},
		{{.id = (char *)"a/b",
		  .wanted = (char *)"2",
		  .found = (char *)"1",
		  .drifted = true,
		  .followers = 3},
		 "a/b: found '1', expected '2'; changed since the verdict: another program set it "
		 "(and 3 more that wait for it)"},
		{{.id = (char *)"a/b", .why = (char *)"w", .drifted = true, .by = (char *)"/x:3"},
		 "a/b: w; changed since the verdict: another program set it (/x:3)"},
		{{.id = (char *)"a/b",
		  .wanted = (char *)"2",
		  .found = (char *)"1",
		  .why = (char *)"of the look",
		  .tried = {STAGE_EARLY, FAULT_NONE, (char *)"Invalid argument", NULL}},
		 "a/b: Invalid argument (stage early; still '1')"},
		{{.id = (char *)"a/b", .why = (char *)"3 errors", .load = (char *)"memory"},
		 "a/b: 3 errors; the load was that of the benchmarks (memory)"},
		{{.id = (char *)"a/b",
		  .why = (char *)"down",
		  .load = (char *)"memory",
		  .late = true},
		 "a/b: down; failed under the load of the benchmarks (memory), and held before"},
		{{.id = (char *)"a/b", .why = (char *)"slow", .causes = (char *)"likely: heat"},
		 "a/b: slow; likely: heat"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = finding_text(&t[i].f);

		assert_string_equal(text, t[i].text);
	}
}

/* Its own, else that `railhead apply` sets the value, else that of the fault. */
static void test_remedies(void **state)
{
	struct finding f = {.fault = FAULT_NIC_DOWN, .apply = (char *)"a.yaml:3"};
	char *own = finding_remedy(&(struct finding){.remedy = (char *)"mend it"});
	char *apply = finding_next_step(&f), *fault;

	(void)state;
	f.apply = NULL;
	fault = finding_remedy(&f);
	assert_string_equal(own, "mend it");
	assert_string_equal(apply, "`railhead apply` sets the value of a.yaml:3; then run "
				   "`railhead gate`");
	assert_string_equal(fault, fault_row(FAULT_NIC_DOWN)->remedy);
	assert_null(finding_remedy(&(struct finding){.why = (char *)"a sentence"}));
	free(own);
	free(apply);
	free(fault);
}

static char *status_of(const struct finding *f)
{
	static const struct screen pipe = {.columns = 80};
	struct record r;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	record_init(&r, "b");
	r.judged = true;
	r.verdict.kind = VERDICT_BLOCKED;
	findings_add(&r.verdict.findings, f);
	status_render(out, &r, &pipe);
	fclose(out);
	record_free(&r);
	return text;
}

/* Whatever else a finding has, no reader of the sentence or of the status lacks its remedy. */
static void test_no_remedy_is_lost(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 200; seed++) {
		struct values v = {.seed = seed, .other = UINT32_MAX};
		struct finding f = finding_with(&v, ON_FAIL_BLOCK);
		struct findings all = {0};
		cleanup_free char *text = NULL, *status = NULL;

		vec_push(&all.list, f);
		text = finding_text(&f);
		status = status_of(&f);
		assert_non_null(strstr(text, f.remedy));
		assert_non_null(strstr(status, f.remedy));
		assert_int_equal(strncmp(text, f.id, strlen(f.id)), 0);
		findings_free(&all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_remedies),
		cmocka_unit_test(test_no_remedy_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
