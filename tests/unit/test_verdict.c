/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From changes and measurements to one word, and the record that says it to others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/status.h"
#include "gate/gate.h"
#include "plan/change.h"
#include "report/status_text.h"
#include "sys/clock.h"
#include "fragment.h"
#include "tree.h"

static void assert_finding(const struct verdict *v, size_t i, const char *text)
{
	cleanup_free char *said = finding_text(&v->findings.list.v[i]);

	assert_string_equal(said, text);
}

static const struct place nowhere;

/* A profile whose gate section is the text. */
struct gated {
	struct profile profile;
};

static struct gated gated(const char *gate)
{
	cleanup_free char *text = xasprintf("gate: {%s}\n", gate);
	struct gated g = {.profile = {.name = (char *)"sku",
				      .version = (char *)"1.2.3",
				      .file = (char *)"/etc/railhead/profiles/sku.yaml",
				      .digest = "abcdef0123456789"}};

	g.profile.doc = fragment(text);
	return g;
}

static void gated_free(struct gated *g)
{
	ynode_free(g->profile.doc);
}

static struct change *add(struct plan *plan, const char *id, enum change_state state,
			  enum on_fail on_fail)
{
	struct change *c =
		plan_add(plan, "test", &kind_check, STAGE_GATE, PHASE_CHECK, nowhere, "%s", id);

	change_desired(c, "want");
	c->now.state = state;
	c->on_fail = on_fail;
	return c;
}

static void measure(struct measurements *m, const char *id, enum change_state is,
		    enum on_fail on_fail)
{
	struct measurement one = {
		.id = xstrdup(id), .state = is, .on_fail = on_fail, .wanted = xstrdup("180GB/s")};

	if (is != CHANGE_SAME)
		one.reason = xasprintf("it is %s", state_name(is));
	vec_push(&m->list, one);
}

/* --- judging ------------------------------------------------------------------------------- */

static void test_measurements(void **state)
{
	static const struct {
		enum change_state state;
		enum verdict_kind by_on_fail[3]; /* block, degrade, warn */
	} t[] = {
		{CHANGE_SAME, {VERDICT_READY, VERDICT_READY, VERDICT_READY}},
		{CHANGE_SLOW, {VERDICT_BLOCKED, VERDICT_DEGRADED, VERDICT_READY}},
		{CHANGE_FAILED, {VERDICT_BLOCKED, VERDICT_DEGRADED, VERDICT_READY}},
		{CHANGE_CANNOT_MEASURE, {VERDICT_BLOCKED, VERDICT_DEGRADED, VERDICT_READY}},
		{CHANGE_NOT_YET, {VERDICT_WAITING, VERDICT_WAITING, VERDICT_READY}},
		{CHANGE_UNSUPPORTED, {VERDICT_READY, VERDICT_READY, VERDICT_READY}},
	};
	struct gated g = gated("");
	struct plan none = {0};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		for (enum on_fail f = ON_FAIL_BLOCK; f <= ON_FAIL_WARN; f++) {
			struct measurements m = {0};
			struct verdict v;

			measure(&m, "gate/memory/node0", t[i].state, f);
			gate_judge(&g.profile, &none, &m, &v);
			if (v.kind != t[i].by_on_fail[f])
				fail_msg("%s, %s: %s", state_name(t[i].state), on_fail_name(f),
					 verdict_name(v.kind));
			assert_int_equal(v.admit, v.kind == VERDICT_READY);
			/* a warning is said too */
			assert_int_equal(v.findings.list.n,
					 t[i].state != CHANGE_SAME &&
						 t[i].state != CHANGE_UNSUPPORTED);
			if (v.findings.list.n)
				assert_string_equal(v.findings.list.v[0].id, "gate/memory/node0");
			verdict_free(&v);
			measurements_free(&m);
		}
	gated_free(&g);
}

/* A number was demanded, and there is none: unsupported is no pass. */
static void test_demanded(void **state)
{
	static const enum verdict_kind by_on_fail[] = {VERDICT_BLOCKED, VERDICT_DEGRADED,
						       VERDICT_READY};
	struct gated g = gated("");
	struct plan none = {0};

	(void)state;
	for (enum on_fail f = ON_FAIL_BLOCK; f <= ON_FAIL_WARN; f++) {
		struct measurements m = {0};
		struct verdict v;

		measure(&m, "gate/peer/a", CHANGE_UNSUPPORTED, f);
		m.list.v[0].demanded = true;
		gate_judge(&g.profile, &none, &m, &v);
		assert_int_equal(v.kind, by_on_fail[f]);
		assert_int_equal(v.findings.list.n, 1);
		verdict_free(&v);
		measurements_free(&m);
	}
	gated_free(&g);
}

/* A load that was kept off: the reason is that of the measurement that keeps it off. */
static void test_follows(void **state)
{
	struct gated g = gated("");
	struct plan none = {0};
	struct measurements m = {0};
	struct verdict v;

	(void)state;
	measure(&m, "gate/health/a", CHANGE_SLOW, ON_FAIL_BLOCK);
	measure(&m, "gate/copy/a", CHANGE_CANNOT_MEASURE, ON_FAIL_BLOCK);
	m.list.v[1].follows = true;
	gate_judge(&g.profile, &none, &m, &v);
	assert_int_equal(v.kind, VERDICT_BLOCKED);
	assert_int_equal(v.findings.list.n, 1);
	assert_string_equal(v.findings.list.v[0].id, "gate/health/a");
	verdict_free(&v);
	measurements_free(&m);
	gated_free(&g);
}

static void test_changes(void **state)
{
	static const struct {
		enum change_state state;
		enum verdict_kind by_on_fail[3];
		const char *reason; /* NULL: it holds */
	} t[] = {
		{CHANGE_SAME, {VERDICT_READY, VERDICT_READY, VERDICT_READY}, NULL},
		{CHANGE_SET, {VERDICT_READY, VERDICT_READY, VERDICT_READY}, NULL},
		{CHANGE_UNSUPPORTED, {VERDICT_READY, VERDICT_READY, VERDICT_READY}, NULL},
		{CHANGE_FAILED,
		 {VERDICT_BLOCKED, VERDICT_DEGRADED, VERDICT_READY},
		 "x: reseat the card"},
		{CHANGE_DIFFERS,
		 {VERDICT_BLOCKED, VERDICT_DEGRADED, VERDICT_READY},
		 "x: found 'have', expected 'want'; reseat the card"},
		{CHANGE_WAITS,
		 {VERDICT_BLOCKED, VERDICT_DEGRADED, VERDICT_READY},
		 "x: found 'have', expected 'want'; reseat the card"},
		{CHANGE_UNKNOWN,
		 {VERDICT_BLOCKED, VERDICT_DEGRADED, VERDICT_READY},
		 "x: found 'have', expected 'want'; reseat the card"},
	};
	struct gated g = gated("");
	struct measurements none = {0};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		for (enum on_fail f = ON_FAIL_BLOCK; f <= ON_FAIL_WARN; f++) {
			struct plan plan = {0};
			struct change *c = add(&plan, "x", t[i].state, f);
			struct verdict v;

			change_observe(c, "have");
			change_reason(c, "reseat the card");
			gate_judge(&g.profile, &plan, &none, &v);
			if (v.kind != t[i].by_on_fail[f])
				fail_msg("%s, %s: %s", state_name(t[i].state), on_fail_name(f),
					 verdict_name(v.kind));
			assert_int_equal(v.findings.list.n, t[i].reason != NULL);
			if (t[i].reason)
				assert_finding(&v, 0, t[i].reason);
			verdict_free(&v);
			plan_free(&plan);
		}
	gated_free(&g);
}

/* A whole file would not fit a line. */
static void add_file(struct plan *plan, const char *id, const char *desired, const char *observed)
{
	struct change *c = add(plan, id, CHANGE_DIFFERS, ON_FAIL_BLOCK);

	c->kind = &kind_file;
	change_target(c, "/run/%s", id);
	change_desired(c, "%s", desired);
	change_observe(c, "%s", observed);
}

static void test_reasons(void **state)
{
	struct gated g = gated("");
	struct measurements none = {0};
	struct plan plan = {0};
	struct verdict v;

	(void)state;
	add(&plan, "a", CHANGE_FAILED, ON_FAIL_BLOCK);
	add(&plan, "b", CHANGE_DIFFERS, ON_FAIL_BLOCK);
	add_file(&plan, "c", "options x\noptions y\n", "absent");
	add_file(&plan, "d", "options x\noptions y\n", "options z\n");
	add_file(&plan, "e", "", "options z\n");
	gate_judge(&g.profile, &plan, &none, &v);
	assert_int_equal(v.findings.list.n, 5);
	assert_finding(&v, 0, "a: failed");
	assert_finding(&v, 1, "b: found 'nothing', expected 'want'");
	assert_finding(&v, 2, "c: /run/c is absent");
	assert_finding(&v, 3, "d: /run/d is different from the profile");
	assert_finding(&v, 4, "e: /run/e: an earlier profile left the file");
	verdict_free(&v);
	plan_free(&plan);
	gated_free(&g);
}

/* The worst of all counts, in whatever order they come. */
/* What only waits for something that failed has no line of its own, and counts all the same. */
static void test_followers(void **state)
{
	struct gated g = gated("");
	struct measurements none = {0};
	struct plan plan = {0};
	struct verdict v;
	struct change *c;

	(void)state;
	c = add(&plan, "numvfs", CHANGE_FAILED, ON_FAIL_WARN);
	change_reason(c, "fewer came");
	add(&plan, "other", CHANGE_SAME, ON_FAIL_BLOCK);
	for (int i = 0; i < 3; i++) {
		cleanup_free char *id = xasprintf("vf%d", i);

		c = add(&plan, id, i ? CHANGE_FAILED : CHANGE_WAITS, ON_FAIL_DEGRADE);
		change_waits_for(c, "numvfs");
	}
	c = add(&plan, "vf of other", CHANGE_FAILED, ON_FAIL_WARN); /* its own fault */
	change_waits_for(c, "other");
	gate_judge(&g.profile, &plan, &none, &v);
	assert_int_equal(v.kind, VERDICT_DEGRADED);
	assert_int_equal(v.findings.list.n, 2);
	assert_finding(&v, 0, "numvfs: fewer came (and 3 more that wait for it)");
	assert_finding(&v, 1, "vf of other: failed");
	verdict_free(&v);
	plan_free(&plan);
	gated_free(&g);
}

static void test_worst(void **state)
{
	static const struct {
		enum on_fail changes[3];
		size_t n;
		enum change_state measured;
		enum verdict_kind kind;
	} t[] = {
		{{ON_FAIL_WARN}, 1, CHANGE_SAME, VERDICT_READY},
		{{ON_FAIL_WARN, ON_FAIL_DEGRADE}, 2, CHANGE_SAME, VERDICT_DEGRADED},
		{{ON_FAIL_DEGRADE, ON_FAIL_WARN}, 2, CHANGE_SAME, VERDICT_DEGRADED},
		{{ON_FAIL_BLOCK, ON_FAIL_DEGRADE}, 2, CHANGE_SAME, VERDICT_BLOCKED},
		{{ON_FAIL_DEGRADE, ON_FAIL_BLOCK, ON_FAIL_WARN}, 3, CHANGE_SAME, VERDICT_BLOCKED},
		{{ON_FAIL_DEGRADE}, 1, CHANGE_FAILED, VERDICT_DEGRADED},
		{{0}, 0, CHANGE_SAME, VERDICT_READY},
	};
	struct gated g = gated("");

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct measurements m = {0};
		struct plan plan = {0};
		struct verdict v;

		for (size_t j = 0; j < t[i].n; j++)
			add(&plan, "x", CHANGE_DIFFERS, t[i].changes[j]);
		measure(&m, "m", t[i].measured, ON_FAIL_WARN);
		gate_judge(&g.profile, &plan, &m, &v);
		assert_int_equal(v.kind, t[i].kind);
		assert_int_equal(v.findings.list.n, t[i].n + (t[i].measured != CHANGE_SAME));
		verdict_free(&v);
		measurements_free(&m);
		plan_free(&plan);
	}
	gated_free(&g);
}

/* One that may come yet, beside one that is sure. */
static void test_waiting(void **state)
{
	enum { NONE = -1 };
	static const struct {
		const char *gate;
		int comes, sure; /* on_fail, or NONE */
		enum verdict_kind kind, otherwise;
	} t[] = {
		{"", ON_FAIL_BLOCK, NONE, VERDICT_WAITING, VERDICT_BLOCKED},
		{"", ON_FAIL_DEGRADE, NONE, VERDICT_WAITING, VERDICT_DEGRADED},
		{"", ON_FAIL_WARN, NONE, VERDICT_READY, VERDICT_READY},
		{"", ON_FAIL_BLOCK, ON_FAIL_BLOCK, VERDICT_BLOCKED, VERDICT_BLOCKED},
		{"", ON_FAIL_BLOCK, ON_FAIL_DEGRADE, VERDICT_BLOCKED, VERDICT_BLOCKED},
		{"", ON_FAIL_BLOCK, ON_FAIL_WARN, VERDICT_WAITING, VERDICT_BLOCKED},
		{"", ON_FAIL_DEGRADE, ON_FAIL_DEGRADE, VERDICT_DEGRADED, VERDICT_DEGRADED},
		{"admit_degraded: true", ON_FAIL_BLOCK, ON_FAIL_DEGRADE, VERDICT_WAITING,
		 VERDICT_BLOCKED},
		{"admit_degraded: true", ON_FAIL_DEGRADE, NONE, VERDICT_DEGRADED, VERDICT_DEGRADED},
		{"admit_degraded: true", ON_FAIL_DEGRADE, ON_FAIL_BLOCK, VERDICT_BLOCKED,
		 VERDICT_BLOCKED},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct gated g = gated(t[i].gate);
		struct measurements none = {0};
		struct change *port;
		struct plan plan = {0};
		struct verdict v;

		port = add(&plan, "port", CHANGE_DIFFERS, (enum on_fail)t[i].comes);
		port->settles = true;
		port->now.fault = FAULT_NIC_CARRIER;
		if (t[i].sure != NONE)
			add(&plan, "x", CHANGE_DIFFERS, (enum on_fail)t[i].sure);
		gate_judge(&g.profile, &plan, &none, &v);
		if (v.kind != t[i].kind)
			fail_msg("row %zu: %s", i, verdict_name(v.kind));
		assert_int_equal(v.otherwise, t[i].otherwise);
		assert_int_equal(v.admit, v.kind == VERDICT_READY ||
						  (v.kind == VERDICT_DEGRADED && *t[i].gate));
		if (v.kind == VERDICT_WAITING) {
			const char *gave_up = NULL;
			size_t n = v.findings.list.n, k;

			for (k = 0; !streq(v.findings.list.v[k].id, "port");)
				k++;
			assert_finding(&v, k, "port: found 'nothing', expected 'want'");
			assert_int_equal(v.findings.list.v[k].fault, FAULT_GATE_NOT_YET);
			verdict_give_up(&v, 90000000);
			for (size_t r = 0; r <= n; r++) {
				const struct finding *f = &v.findings.list.v[r];

				assert_int_not_equal(f->fault, FAULT_GATE_NOT_YET);
				if (f->fault == FAULT_GATE_WAIT_OVER)
					gave_up = f->why;
			}

			assert_int_equal(v.kind, t[i].otherwise);
			assert_int_equal(v.findings.list.n, n + 1);
			assert_text(gave_up, "gate.wait: waited 1 min 30 s for port, and");
		}
		verdict_free(&v);
		plan_free(&plan);
		gated_free(&g);
	}
}

/* A measurement that is not there yet is waited for under one code, and is its own fault then. */
static void test_lasting_measurement(void **state)
{
	struct gated g = gated("");
	struct measurements m = {0};
	struct plan none = {0};
	struct verdict v;

	(void)state;
	measure(&m, "gate/fabric/x", CHANGE_NOT_YET, ON_FAIL_BLOCK);
	m.list.v[0].fault = FAULT_GPU_FABRIC_DOWN;
	gate_judge(&g.profile, &none, &m, &v);
	assert_int_equal(v.kind, VERDICT_WAITING);
	assert_int_equal(v.findings.list.v[0].fault, FAULT_GATE_NOT_YET);
	verdict_give_up(&v, 90000000);
	assert_int_equal(v.kind, VERDICT_BLOCKED);
	assert_int_equal(v.findings.list.v[0].fault, FAULT_GPU_FABRIC_DOWN);
	assert_int_equal(v.findings.list.v[1].fault, FAULT_GATE_WAIT_OVER);
	verdict_free(&v);
	measurements_free(&m);
	gated_free(&g);
}

/* What could not even be looked at does not come by itself. */
static void test_failed_is_not_waited_for(void **state)
{
	struct gated g = gated("");
	struct measurements m = {0};
	struct plan plan = {0};
	struct verdict v;

	(void)state;
	add(&plan, "port", CHANGE_FAILED, ON_FAIL_BLOCK)->settles = true;
	measure(&m, "gate/pairs/x", CHANGE_NOT_YET, ON_FAIL_BLOCK);
	gate_judge(&g.profile, &plan, &m, &v);
	assert_int_equal(v.kind, VERDICT_BLOCKED);
	assert_int_equal(v.awaited.n, 1);
	assert_string_equal(v.awaited.v[0], "gate/pairs/x");
	verdict_free(&v);
	plan_free(&plan);
	measurements_free(&m);
	gated_free(&g);
}

static void test_wait(void **state)
{
	static const struct {
		const char *gate;
		uint64_t seconds;
	} t[] = {{"", 600}, {"wait: 20s", 20}, {"wait: 24h", 86400}};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct gated g = gated(t[i].gate);

		assert_int_equal(gate_wait(&g.profile), t[i].seconds * 1000000);
		gated_free(&g);
	}
}

static void test_admit_degraded(void **state)
{
	static const struct {
		const char *gate;
		enum on_fail on_fail;
		bool admit;
	} t[] = {
		{"", ON_FAIL_WARN, true},
		{"", ON_FAIL_DEGRADE, false},
		{"", ON_FAIL_BLOCK, false},
		{"admit_degraded: false", ON_FAIL_DEGRADE, false},
		{"admit_degraded: true", ON_FAIL_DEGRADE, true},
		{"admit_degraded: true", ON_FAIL_BLOCK, false},
		{"admit_degraded: true", ON_FAIL_WARN, true},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct gated g = gated(t[i].gate);
		struct measurements none = {0};
		struct plan plan = {0};
		struct verdict v;

		add(&plan, "x", CHANGE_FAILED, t[i].on_fail);
		gate_judge(&g.profile, &plan, &none, &v);
		assert_int_equal(v.admit, t[i].admit);
		verdict_free(&v);
		plan_free(&plan);
		gated_free(&g);
	}
}

static void test_simple(void **state)
{
	static const enum verdict_kind kinds[] = {VERDICT_OFF, VERDICT_NONE, VERDICT_WAITING,
						  VERDICT_BLOCKED};
	static const char *const names[] = {"off", "none", "waiting", "blocked"};

	(void)state;
	for (size_t i = 0; i < array_len(kinds); i++) {
		struct verdict v;

		verdict_simple(&v, kinds[i], FAULT_GATE_UNJUDGED, "because");
		assert_false(v.admit);
		assert_string_equal(verdict_name(v.kind), names[i]);
		assert_int_equal(v.findings.list.n, 1);
		verdict_free(&v);
	}
}

/* --- the record ------------------------------------------------------------------------------ */

#define BOOT_ID "proc/sys/kernel/random/boot_id"
#define STATUS "run/railhead/status.json"
#define READY "run/railhead/ready"

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r == 0)
		tmp_write(*state, BOOT_ID, "11111111-2222-3333-4444-555555555555\n");
	return r;
}

static struct verdict verdict(enum verdict_kind kind, bool admit)
{
	struct verdict v;

	verdict_simple(&v, kind, FAULT_GATE_UNJUDGED, "the reason");
	v.admit = admit;
	return v;
}

/* Stores a record with that verdict. */
static int store(struct tmp *t, enum verdict_kind kind, bool admit)
{
	struct verdict v = verdict(kind, admit);
	struct gated g = gated("");
	struct status s;
	int r;

	status_load(&t->root, &s);
	record_set_profile(&s.record, &g.profile);
	record_set_verdict(&s.record, &v);
	r = status_admit(&t->root, &s, &t->err);
	status_free(&s);
	gated_free(&g);
	verdict_free(&v);
	return r;
}

static void test_empty(void **state)
{
	struct tmp *t = *state;
	struct status s;

	status_load(&t->root, &s);
	assert_false(s.record.judged);
	assert_int_equal(s.record.verdict.kind, VERDICT_WAITING);
	assert_string_equal(record_digest(&s.record), "");
	assert_false(record_admits(&s.record));
	for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
		assert_false(s.record.stage[stage].ran);
	assert_int_equal(s.record.measurements.list.n, 0);
	status_free(&s);
	assert_false(tree_has(t, "run")); /* a look leaves nothing */
}

static void test_stored(void **state)
{
	struct tmp *t = *state;
	struct gated g = gated("");
	struct run run = {.root = &t->root, .profile = &g.profile};
	struct stage_result result = {.stage = STAGE_DEVICES, .started = 5, .duration = 7000000};
	struct measurements m = {0};
	struct verdict v = verdict(VERDICT_DEGRADED, true);
	const struct record_stage *stage;
	const struct measurement *again;
	struct change *c;
	struct status s;

	c = add(&run.plan, "sriov/0000:3b:00.0/numvfs", CHANGE_SET, ON_FAIL_BLOCK);
	c->stage = STAGE_DEVICES;
	change_observe(c, "8");
	c->now.before = xstrdup("0");
	c->duration = 1234;
	add(&run.plan, "of another stage", CHANGE_SAME, ON_FAIL_BLOCK);
	result.count[CHANGE_SET] = 1;
	measure(&m, "gate/memory/node0", CHANGE_SLOW, ON_FAIL_DEGRADE);
	status_load(&t->root, &s);
	record_set_profile(&s.record, &g.profile);
	record_set_stage(&s.record, &run, STAGES(STAGE_DEVICES), &result);
	record_set_lack(&s.record, STAGE_DEVICES, "it came late");
	record_set_lack(&s.record, STAGE_EARLY, "a stage that did not run lacks nothing");
	record_set_measurements(&s.record, &m);
	record_set_verdict(&s.record, &v);
	assert_int_equal(status_admit(&t->root, &s, &t->err), 0);
	status_free(&s);

	status_load(&t->root, &s);
	assert_true(s.record.judged);
	assert_int_equal(s.record.verdict.kind, VERDICT_DEGRADED);
	assert_true(record_admits(&s.record));
	assert_string_equal(record_digest(&s.record), "abcdef0123456789");
	assert_false(s.record.stage[STAGE_EARLY].ran);
	stage = &s.record.stage[STAGE_DEVICES];
	assert_true(stage->ran);
	assert_int_equal(stage->duration, 7000000);
	assert_string_equal(stage->lacks, "it came late");
	assert_int_equal(stage->count[CHANGE_SET], 1);
	assert_int_equal(stage->changes.n, 1);
	assert_string_equal(stage->changes.v[0].now.before, "0");
	assert_string_equal(stage->changes.v[0].now.found, "8");
	assert_int_equal(stage->changes.v[0].now.state, CHANGE_SET);
	assert_finding(&s.record.verdict, 0, "the reason");
	/* The same verdict can be judged from it without measuring anew. */
	assert_true(record_says(&s.record, &v));
	findings_say(&v.findings, FAULT_GATE_WAIT_OVER, NULL, "another");
	assert_false(record_says(&s.record, &v));
	assert_int_equal(s.record.measurements.list.n, 1);
	again = &s.record.measurements.list.v[0];
	assert_string_equal(again->id, "gate/memory/node0");
	assert_string_equal(again->reason, "it is slow");
	assert_int_equal(again->state, CHANGE_SLOW);
	assert_int_equal(again->on_fail, ON_FAIL_DEGRADE);
	status_free(&s);
	verdict_free(&v);
	plan_free(&run.plan);
	gated_free(&g);
}

/* A sysctl that moved from early to devices is recorded where it was tried last. */
static void test_late_is_recorded(void **state)
{
	struct tmp *t = *state;
	struct gated g = gated("");
	struct run run = {.root = &t->root, .profile = &g.profile};
	struct stage_result result;
	struct change *c = plan_add(&run.plan, "sysctl", &kind_attr, STAGE_EARLY, PHASE_SYSCTL,
				    nowhere, "sysctl/x");
	struct status s;

	change_target(c, "/proc/sys/x");
	change_desired(c, "1");
	c->late = true;
	run_apply(&run, STAGE_DEVICES, 0, clock_usec() + 60000000, NULL, &result);
	assert_int_equal(result.count[CHANGE_FAILED], 1);
	status_load(&t->root, &s);
	record_set_stage(&s.record, &run, STAGES(STAGE_DEVICES), &result);
	assert_int_equal(s.record.stage[STAGE_DEVICES].changes.n, 1);
	status_free(&s);
	plan_free(&run.plan);
	gated_free(&g);
}

static void test_other_boot(void **state)
{
	struct tmp *t = *state;
	struct status s;

	assert_int_equal(store(t, VERDICT_READY, true), 0);
	tmp_write(t, BOOT_ID, "99999999-2222-3333-4444-555555555555\n");
	status_load(&t->root, &s);
	assert_false(s.record.judged);
	assert_false(record_admits(&s.record));
	status_free(&s);
}

static void test_damaged(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"null",
		"{\"boot_id\": 7}",
		"{\"boot_id\": \"11111111-2222-3333-4444-555555555555\", \"admit\": true"};
	struct tmp *t = *state;

	for (size_t i = 0; i < array_len(texts); i++) {
		struct status s;

		tmp_write(t, STATUS, texts[i]);
		status_load(&t->root, &s);
		assert_false(s.record.judged);
		assert_false(record_admits(&s.record));
		status_free(&s);
	}
	/* of this boot, with values of the wrong sort */
	tmp_write(t, STATUS,
		  "{\"schema\": 2, \"boot_id\": \"11111111-2222-3333-4444-555555555555\", "
		  "\"verdict\": 1, "
		  "\"admit\": \"yes\", \"stages\": [], \"profile\": 3}\n");
	{
		struct status s;

		status_load(&t->root, &s);
		assert_false(record_admits(&s.record));
		assert_int_equal(s.record.verdict.kind, VERDICT_WAITING);
		assert_string_equal(record_digest(&s.record), "");
		assert_false(s.record.stage[STAGE_EARLY].ran);
		status_free(&s);
	}
}

static int withdraw(struct tmp *t)
{
	struct status s;
	int r;

	status_load(&t->root, &s);
	r = status_withdraw(&t->root, &s, &t->err);
	status_free(&s);
	return r;
}

static void test_ready_file(void **state)
{
	static const struct {
		enum verdict_kind kind;
		bool admit;
		const char *ready; /* NULL: there is none */
	} t[] = {
		{VERDICT_READY, true, "ready abcdef0123456789\n"},
		{VERDICT_DEGRADED, true, "degraded abcdef0123456789\n"},
		{VERDICT_DEGRADED, false, NULL},
		{VERDICT_READY, true, "ready abcdef0123456789\n"},
		{VERDICT_BLOCKED, false, NULL},
		{VERDICT_WAITING, false, NULL},
		{VERDICT_OFF, false, NULL},
		{VERDICT_NONE, false, NULL},
	};
	struct tmp *tmp = *state;

	for (size_t i = 0; i < array_len(t); i++) {
		assert_int_equal(store(tmp, t[i].kind, t[i].admit), 0);
		assert_text(tree_text(tmp, STATUS), verdict_name(t[i].kind));
		if (t[i].ready)
			assert_string_equal(tree_text(tmp, READY), t[i].ready);
		else
			assert_false(tree_has(tmp, READY));
	}
	assert_int_equal(store(tmp, VERDICT_READY, true), 0);
	assert_int_equal(withdraw(tmp), 0);
	assert_false(tree_has(tmp, READY));
	assert_int_equal(withdraw(tmp), 0);
}

/* The record can't be written: the ready file must not say more than it does. */
static void test_ready_order(void **state)
{
	struct tmp *t = *state;

	/* withdrawn before the record is written */
	assert_int_equal(store(t, VERDICT_READY, true), 0);
	tree_remove(t, STATUS);
	tmp_write(t, STATUS "/in-the-way", "");
	assert_true(store(t, VERDICT_BLOCKED, false) < 0);
	assert_false(tree_has(t, READY));
	/* created after it */
	assert_true(store(t, VERDICT_READY, true) < 0);
	assert_false(tree_has(t, READY));
}

static void test_render(void **state)
{
	struct tmp *t = *state;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct status s;

	assert_int_equal(store(t, VERDICT_BLOCKED, false), 0);
	status_load(&t->root, &s);
	status_render(out, &s.record, &(struct screen){.columns = 80});
	fclose(out);
	assert_text(text, "verdict: blocked (work is not admitted): the reason\n");
	assert_text(text, "profile: sku 1.2.3 (abcdef012345, /etc/railhead/profiles/sku.yaml)\n");
	assert_text(text, "look:    `railhead verify` ");
	free(text);
	status_free(&s);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measurements),
		cmocka_unit_test(test_demanded),
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_followers),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_lasting_measurement),
		cmocka_unit_test(test_failed_is_not_waited_for),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_admit_degraded),
		cmocka_unit_test(test_simple),
		TEST(test_empty),
		TEST(test_stored),
		TEST(test_late_is_recorded),
		TEST(test_other_boot),
		TEST(test_damaged),
		TEST(test_ready_file),
		TEST(test_ready_order),
		TEST(test_render),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
