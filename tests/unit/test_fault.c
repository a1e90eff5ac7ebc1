/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of faults, and that whatever may fail has a row of it. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/gate.h"
#include "gate/judge.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "profile/section.h"
#include "sections/sections.h"

static bool is_sentence(const char *text)
{
	size_t len = strlen(text);

	return len && text[len - 1] == '.' && !isspace((unsigned char)text[0]) &&
	       !strstr(text, "  ");
}

static void test_rows(void **state)
{
	(void)state;
	assert_null(fault_code(FAULT_NONE));
	for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++) {
		const struct fault_row *row = fault_row(f);

		if (!row->code || !row->meaning || !row->remedy || !row->look || !*row->look ||
		    row->action >= ACTION_COUNT || row->admit >= ADMIT_COUNT)
			fail_msg("row %d is not whole", f);
		if (!is_sentence(row->meaning) || !is_sentence(row->remedy))
			fail_msg("%s: no sentence: '%s' '%s'", row->code, row->meaning,
				 row->remedy);
		if (!str_starts(row->code, "RH-") || strlen(row->code) > FAULT_CODE_MAX ||
		    row->code[strspn(row->code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")])
			fail_msg("%s: is no code", row->code);
		if (fault_parse(row->code) != f)
			fail_msg("%s: two rows have it", row->code);
	}
	for (enum fault_action a = 0; a < ACTION_COUNT; a++)
		assert_true(*fault_action_name(a) && *fault_action_meaning(a));
	for (enum fault_admit a = 0; a < ADMIT_COUNT; a++)
		assert_true(*fault_admit_name(a) && *fault_admit_meaning(a));
}

static void test_words(void **state)
{
	cleanup_free char *layer = fault_layer(FAULT_NIC_LINK_WIDTH);

	(void)state;
	assert_string_equal(layer, "nic");
	assert_string_equal(fault_code(FAULT_NIC_LINK_WIDTH), "RH-NIC-LINK-WIDTH");
	assert_int_equal(fault_parse(NULL), FAULT_NONE);
	assert_int_equal(fault_parse(""), FAULT_NONE);
	assert_int_equal(fault_parse("RH-NIC-LINK"), FAULT_NONE);
	assert_int_equal(fault_parse("rh-nic-link-width"), FAULT_NONE);
}

/* Whatever state a change of a section ends in, it has a fault. */
static void test_sections(void **state)
{
	(void)state;
	for (const struct section *const *s = sections; *s; s++) {
		static const struct place nowhere;
		struct plan plan = {0};
		struct change *c = plan_add(&plan, (*s)->name, &kind_attr, STAGE_EARLY,
					    PHASE_SYSCTL, nowhere, "x");

		for (c->now.state = CHANGE_UNKNOWN; c->now.state < CHANGE_STATE_COUNT;
		     c->now.state++)
			if (!fault_of_change(c))
				fail_msg("section %s has no fault", (*s)->name);
		c->now.fault = FAULT_HOST_LIBRARY;
		assert_int_equal(fault_of_change(c), FAULT_HOST_LIBRARY);
		plan_free(&plan);
	}
}

static void warn(struct findings *l, enum fault fault, enum on_fail on_fail, const char *why)
{
	findings_add(l, &(struct finding){.fault = fault, .on_fail = on_fail, .why = (char *)why});
}

/* Each once, in order, with how often and the first of them. */
static void test_findings(void **state)
{
	struct fault_seen seen[FAULT_COUNT];
	struct findings l = {0};

	(void)state;
	assert_int_equal(findings_faults(&l, seen), 0);
	findings_say(&l, FAULT_NIC_CARRIER, NULL, "first");
	findings_say(&l, FAULT_NONE, NULL, "without a code");
	findings_say(&l, FAULT_GPU_XID, NULL, "another");
	findings_say(&l, FAULT_NIC_CARRIER, NULL, "again");
	assert_int_equal(findings_faults(&l, seen), 2);
	assert_int_equal(seen[0].fault, FAULT_NIC_CARRIER);
	assert_int_equal(seen[0].n, 2);
	assert_string_equal(seen[0].first->why, "first");
	assert_int_equal(seen[1].fault, FAULT_GPU_XID);
	assert_int_equal(seen[1].n, 1);
	findings_free(&l);

	/* what keeps work out stands in front, in the order of finding */
	warn(&l, FAULT_NIC_CARRIER, ON_FAIL_WARN, "w");
	warn(&l, FAULT_NIC_CARRIER, ON_FAIL_DEGRADE, "d");
	findings_say(&l, FAULT_GPU_XID, NULL, "first");
	findings_say(&l, FAULT_NIC_CARRIER, NULL, "second");
	warn(&l, FAULT_GPU_XID, ON_FAIL_WARN, "x");
	assert_int_equal(l.list.n, 5);
	for (size_t i = 0; i < l.list.n; i++)
		assert_string_equal(l.list.v[i].why,
				    ((const char *[]){"first", "second", "d", "w", "x"})[i]);
	assert_int_equal(findings_faults(&l, seen), 2);
	assert_int_equal(seen[0].on_fail, ON_FAIL_BLOCK);
	assert_int_equal(seen[1].on_fail, ON_FAIL_BLOCK);
	findings_free(&l);
}

/* A robot that obeys one of two goes for the one that can't do without hands. */
static void test_graver(void **state)
{
	(void)state;
	assert_int_equal(fault_graver(FAULT_NONE, FAULT_GPU_XID), FAULT_GPU_XID);
	assert_int_equal(fault_graver(FAULT_GPU_XID, FAULT_NONE), FAULT_GPU_XID);
	assert_int_equal(fault_graver(FAULT_GPU_NVLINK, FAULT_GPU_OFF_BUS), FAULT_GPU_OFF_BUS);
	assert_int_equal(fault_graver(FAULT_GPU_OFF_BUS, FAULT_GPU_NVLINK), FAULT_GPU_OFF_BUS);
	assert_int_equal(fault_graver(FAULT_GPU_XID, FAULT_GPU_ECC_OFF), FAULT_GPU_XID);
	assert_int_equal(fault_graver(FAULT_GPU_XID, FAULT_GPU_MEMORY), FAULT_GPU_XID);
}

/* A fault is of the failure that said so, and of no later one. */
static void test_errors(void **state)
{
	struct err err = {0}, copy = {0};

	(void)state;
	err_set(&err, -5, "a");
	assert_int_equal(err.fault, FAULT_NONE);
	assert_int_equal(err_fault(&err, -5, FAULT_PCI_GONE), -5);
	assert_int_equal(err_wrap(&err, "b"), -5);
	assert_int_equal(err.fault, FAULT_PCI_GONE);
	err_errno(&err, -5, "c");
	assert_int_equal(err.fault, FAULT_NONE);
	assert_int_equal(err_fault(NULL, -5, FAULT_PCI_GONE), -5);
	err_fault(&err, -5, FAULT_KERNEL_STUCK);
	assert_int_equal(err_copy(&copy, -7, &err), -7);
	assert_int_equal(copy.code, -7);
	assert_int_equal(copy.fault, FAULT_KERNEL_STUCK);
	assert_string_equal(copy.text, err.text);
	assert_int_equal(err_copy(NULL, -7, &err), -7);
}

/* The state that a measurement ends in says which fault it is; of a slow one its check does. */
static void test_measurements(void **state)
{
	(void)state;
	for (const struct check *const *c = check_table; *c; c++)
		assert_int_equal(!(*c)->slow, !(*c)->measure);
	for (enum change_state s = CHANGE_FAILED; s < CHANGE_TO_MEASURE; s++) {
		struct probe p = {.m.state = s, .m.demanded = true, .check = check_find("jitter")};

		judge_fault(&p);
		assert_true(p.m.fault);
		assert_int_equal(p.m.fault == FAULT_CPU_JITTER, s == CHANGE_SLOW);
	}
	/* nothing is wrong with what is not there to be measured */
	for (int demanded = 0; demanded <= 1; demanded++) {
		struct probe p = {.m = {.state = CHANGE_UNSUPPORTED, .demanded = demanded},
				  .check = check_find("jitter")};

		judge_fault(&p);
		assert_int_equal(p.m.fault, demanded ? FAULT_GATE_UNSUPPORTED : FAULT_NONE);
	}
	/* its program knows better, unless others disturbed it */
	for (enum change_state s = CHANGE_SAME; s <= CHANGE_CANNOT_MEASURE; s++) {
		struct probe p = {.m = {.state = s, .demanded = true},
				  .check = check_find("gpu_health")};

		p.m.detail = json_pack("{s:s}", "fault", "RH-GPU-WORN");
		judge_fault(&p);
		assert_int_equal(p.m.fault, s == CHANGE_SAME	  ? FAULT_NONE
					    : s == CHANGE_INVALID ? FAULT_GATE_DISTURBED
								  : FAULT_GPU_WORN);
		json_decref(p.m.detail);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	     cmocka_unit_test(test_words),
		cmocka_unit_test(test_sections),     cmocka_unit_test(test_findings),
		cmocka_unit_test(test_graver),	     cmocka_unit_test(test_errors),
		cmocka_unit_test(test_measurements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
