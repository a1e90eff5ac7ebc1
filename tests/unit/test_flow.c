/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state machine of the verdict: each cell of its table, done on a tree, and the page that
 * shows it. GOLDEN=1 writes the page anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/flow.h"
#include "engine/watch.h"
#include "fragment.h"
#include "hooks.h"
#include "sys/clock.h"
#include "tree.h"

#define PAGE "docs/verdict.md"
#define STATUS "run/railhead/status.json"
#define READY "run/railhead/ready"
#define PASS "run/railhead/pass.json"
#define KEPT "var/lib/railhead/pass.json"
#define HISTORY "var/lib/railhead/history.json"
#define FROZEN "run/railhead/profile"
#define WATCHED "run/railhead/device-0000:41:00.0"

enum { MINUTE = 60 * 1000000 };

/* --- the table by itself ------------------------------------------------------------------- */

static bool covers(const struct flow_row *row, enum flow_event e, enum flow_state s)
{
	return row->event == e && row->from & FLOW_BIT(s);
}

/* Each event in each state has a row, and one only; so has nothing else. */
static void test_whole(void **state)
{
	(void)state;
	for (enum flow_event e = 0; e < FLOW_EVENT_COUNT; e++)
		for (enum flow_state s = 0; s < FLOW_STATE_COUNT; s++) {
			size_t n = 0;

			for (size_t i = 0; i < flow_row_count; i++)
				n += covers(&flow_rows[i], e, s);
			if (n != 1)
				fail_msg("'%s' while '%s' has %zu rows", flow_event_name(e),
					 flow_state_name(s), n);
		}
}

static void test_rows(void **state)
{
	const unsigned int writes = FLOW_RECORDS | FLOW_CLAIMS,
			   any = FLOW_BIT(FLOW_STATE_COUNT) - 1;

	(void)state;
	for (size_t i = 0; i < flow_row_count; i++) {
		const struct flow_row *row = &flow_rows[i];
		const char *name = flow_event_name(row->event);
		bool moves = row->next != FLOW_SAME && row->next != FLOW_NEVER;

		if (!row->from || row->from & ~any || (moves && row->next & ~any) ||
		    row->acts >> FLOW_ACTS)
			fail_msg("row %zu, %s: bits that are nothing", i, name);
		if (!row->next && row->acts)
			fail_msg("row %zu, %s: never, and does something", i, name);
		if (row->acts & FLOW_REFUSES && (moves || row->acts != FLOW_REFUSES))
			fail_msg("row %zu, %s: refused, and does something", i, name);
		if ((row->acts & writes) == writes)
			fail_msg("row %zu, %s: writes the record twice", i, name);
		/* Where nothing may be written the record is of this process alone. */
		if (moves && !(row->acts & writes) && row->event != FLOW_GATE_SPECIAL)
			fail_msg("row %zu, %s: moves, and does not write so", i, name);
		/* The ready file is made by a judgement, or for a person. */
		if (row->acts & FLOW_CLAIMS && row->next & FLOW_BIT(FLOW_ADMITTED) &&
		    !(row->acts & FLOW_JUDGES))
			fail_msg("row %zu, %s: claims without a verdict", i, name);
	}
}

/* --- each cell, done ----------------------------------------------------------------------- */

struct scene {
	struct tmp *t;
	struct status status;
	struct profile profile;
	struct run run;
	struct flow flow;
	struct strv told;
};

static struct strv complaints;

static void complain(const char *text)
{
	strv_add(&complaints, text);
}

static const struct {
	enum verdict_kind kind;
	bool admit;
} verdicts[FLOW_EVENT_COUNT] = {
	[FLOW_STAGE_HELD] = {VERDICT_WAITING, false},
	[FLOW_STAGE_OTHER] = {VERDICT_WAITING, false},
	[FLOW_STAGE_FAILED] = {VERDICT_BLOCKED, false},
	[FLOW_STAGE_NO_PROFILE] = {VERDICT_NONE, false},
	[FLOW_STAGE_NO_PROFILE_STILL] = {VERDICT_NONE, true},
	[FLOW_GATE_KILLED] = {VERDICT_BLOCKED, false},
	[FLOW_GATE_SPECIAL] = {VERDICT_OFF, false},
	[FLOW_JUDGED_ADMITS] = {VERDICT_READY, true},
	[FLOW_JUDGED_WAITS] = {VERDICT_WAITING, false},
	[FLOW_JUDGED_KEEPS_OUT] = {VERDICT_BLOCKED, false},
	[FLOW_NO_PROFILE] = {VERDICT_NONE, false},
	[FLOW_NO_PROFILE_ADMITS] = {VERDICT_NONE, true},
	[FLOW_NOT_WRITTEN] = {VERDICT_WAITING, false},
	[FLOW_STOPPED] = {VERDICT_WAITING, false},
	[FLOW_STOPPED_REBOOTS] = {VERDICT_WAITING, false},
	[FLOW_DEVICE_LOST] = {VERDICT_LAPSED, false},
	[FLOW_DEVICE_AWAY] = {VERDICT_LAPSED, false},
	[FLOW_DEVICE_BACK] = {VERDICT_READY, true},
	[FLOW_DRIFTED] = {VERDICT_LAPSED, false},
	[FLOW_STILL_SO] = {VERDICT_READY, true},
};

static void set_verdict(struct record *r, enum verdict_kind kind, bool admit, const char *reason)
{
	struct verdict v;

	verdict_simple(&v, kind, FAULT_GATE_UNJUDGED, reason);
	v.admit = admit;
	record_set_verdict(r, &v);
	verdict_free(&v);
}

static void set_state(struct record *r, enum flow_state s)
{
	static const enum verdict_kind kinds[FLOW_STATE_COUNT] = {
		[FLOW_UNJUDGED] = VERDICT_WAITING, [FLOW_AT_WORK] = VERDICT_WAITING,
		[FLOW_WAITING] = VERDICT_WAITING,  [FLOW_ADMITTED] = VERDICT_READY,
		[FLOW_LAPSED] = VERDICT_LAPSED,	   [FLOW_KEPT_OUT] = VERDICT_BLOCKED,
	};

	set_verdict(r, kinds[s], s == FLOW_ADMITTED, "before");
	if (s == FLOW_AT_WORK)
		record_begin(r);
	if (s == FLOW_WAITING)
		r->waiting = (struct waiting){1, clock_usec() + 10 * (uint64_t)MINUTE, 1};
	assert_int_equal(flow_state(r), s);
}

static void measured(struct record *r)
{
	struct measurements m = {0};

	vec_push(&m.list, ((struct measurement){.id = xstrdup("gate/m/node0"),
						.check = xstrdup("m"),
						.state = CHANGE_SAME,
						.measured = xstrdup("2GB/s"),
						.wanted = xstrdup("1GB/s")}));
	record_set_measurements(r, &m);
	record_set_numbers(r, &(struct record_numbers){.there = true, .measured = 1});
}

/* A node in that state, as a boot that did all its work leaves it. */
static void begin(struct scene *sc, struct tmp *t, enum flow_state s)
{
	*sc = (struct scene){
		.t = t,
		.profile = {.name = (char *)"sku",
			    .version = (char *)"1",
			    .file = (char *)"/etc/railhead/profiles/sku.yaml",
			    .digest = "abcdef0123456789",
			    .doc = fragment(
				    "gate: {reuse: 24h, checks: {m: {run: memory_bandwidth, "
				    "min: 1GB/s}}}\n")},
	};
	sc->run = (struct run){
		.root = &t->root, .profile = &sc->profile, .node.cmdline = (char *)"ro"};
	sc->flow = (struct flow){.root = &t->root,
				 .status = &sc->status,
				 .run = &sc->run,
				 .over = "its time is over",
				 .complain = complain};
	unlink(tmp_path(t, STATUS));
	status_load(&t->root, &sc->status);
	record_set_profile(&sc->status.record, &sc->profile);
	measured(&sc->status.record);
	set_state(&sc->status.record, s);
	assert_int_equal(status_admit(&t->root, &sc->status, &t->err), 0);
	tmp_write(t, PASS, "{}\n");
	tmp_write(t, FROZEN, "sku abcdef0123456789\n");
	tmp_write(t, WATCHED, "0 0\n");
	unlink(tmp_path(t, KEPT));
	unlink(tmp_path(t, HISTORY));
	test_told(&sc->told);
	strv_free(&complaints);
}

static void end(struct scene *sc)
{
	test_told(NULL);
	strv_free(&sc->told);
	strv_free(&complaints);
	status_free(&sc->status);
	ynode_free(sc->profile.doc);
}

static int move(struct scene *sc, enum flow_event e)
{
	struct verdict v;
	int r;

	verdict_simple(&v, verdicts[e].kind, FAULT_GATE_STOPPED, "behind");
	v.admit = verdicts[e].admit;
	/* Whoever judges has measured, and begins to wait, before. */
	if (e == FLOW_JUDGED_ADMITS)
		measured(&sc->status.record);
	if (e == FLOW_JUDGED_WAITS && sc->status.record.begun)
		sc->status.record.waiting.until = clock_usec() + MINUTE;
	r = flow_move(&sc->flow, e, &v);
	verdict_free(&v);
	return r;
}

#define assert_cell(what)                                                                        \
	do {                                                                                     \
		if (!(what))                                                                     \
			fail_msg("'%s' while '%s': not so: " #what, flow_event_name(row->event), \
				 flow_state_name(from));                                         \
	} while (0)

static bool is_told(const struct scene *sc, const char *word)
{
	return strv_contains(&sc->told, word);
}

static void check_told(const struct scene *sc, const struct flow_row *row, enum flow_state from)
{
	unsigned int acts = row->acts;

	assert_cell(is_told(sc, "journal") == !!(acts & FLOW_JOURNALS));
	assert_cell(is_told(sc, "journal: by hand") == !!(acts & FLOW_JOURNALS_HAND));
	assert_cell(is_told(sc, "journal: over") == !!(acts & FLOW_HAND_OVER));
	assert_cell(is_told(sc, "trial begins") == !!(acts & FLOW_TRIAL_BEGINS));
	assert_cell(is_told(sc, "trial over") == !!(acts & FLOW_TRIAL_OVER));
	assert_cell(is_told(sc, "retry on") == !!(acts & FLOW_RETRY_ON));
	assert_cell(is_told(sc, "retry off") == (acts & FLOW_RETRY_OFF && from == FLOW_WAITING));
	assert_cell(!is_told(sc, "hand timer off")); /* nothing was admitted by hand */
}

static void check_files(const struct scene *sc, const struct flow_row *row, enum flow_state from,
			const char *status_before)
{
	const struct record *r = &sc->status.record;
	unsigned int acts = row->acts;
	bool writes = acts & (FLOW_RECORDS | FLOW_CLAIMS);
	bool drops =
		acts & (FLOW_DROPS_PASS | FLOW_STORES_PASS) && r->verdict.kind != VERDICT_READY;

	if (writes || acts & FLOW_WITHDRAWS)
		assert_cell(tree_has(sc->t, READY) == r->verdict.admit);
	else
		assert_cell(tree_has(sc->t, READY) == (from == FLOW_ADMITTED));
	if (!writes)
		assert_cell(streq(tree_text(sc->t, STATUS), status_before));
	assert_cell(tree_has(sc->t, PASS) == !drops);
	assert_cell(drops || streq(tree_text(sc->t, PASS), "{}\n") == !(acts & FLOW_STORES_PASS));
	assert_cell(tree_has(sc->t, KEPT) == (acts & FLOW_KEEPS_PASS && from == FLOW_ADMITTED));
	assert_cell(tree_has(sc->t, HISTORY) == !!(acts & FLOW_HISTORY));
	assert_cell(tree_has(sc->t, FROZEN) == !(acts & FLOW_FORGETS));
	assert_cell(tree_has(sc->t, WATCHED) == !(acts & FLOW_UNWATCHES));
}

/* What others read is what the process that moved the verdict knows. */
static void check_read(struct scene *sc, const struct flow_row *row, enum flow_state from)
{
	const struct record *now = &sc->status.record;
	struct status s;

	status_load(&sc->t->root, &s);
	assert_cell(s.record.verdict.kind == now->verdict.kind);
	assert_cell(s.record.verdict.admit == now->verdict.admit);
	assert_cell(s.record.begun == now->begun);
	assert_cell(s.record.waiting.until == now->waiting.until);
	assert_cell(flow_state(&s.record) == flow_state(now));
	status_free(&s);
}

static void check_cell(struct tmp *t, const struct flow_row *row, enum flow_state from)
{
	cleanup_free char *before = NULL;
	struct scene sc;
	const struct record *r = &sc.status.record;
	unsigned int acts = row->acts;

	begin(&sc, t, from);
	before = xstrdup(tree_text(t, STATUS));
	assert_cell(move(&sc, row->event) == 0);
	assert_cell(complaints.n == 0);
	assert_cell((row->next == FLOW_SAME ? FLOW_BIT(from) : row->next) &
		    FLOW_BIT(flow_state(r)));
	assert_cell(!(acts & FLOW_JUDGES) || streq(r->verdict.findings.list.v[0].why, "behind"));
	assert_cell(!(acts & FLOW_WAIT_OVER) || !r->waiting.until);
	assert_cell(!(acts & FLOW_BEGINS) || r->begun == (from == FLOW_AT_WORK ? 2 : 1));
	assert_cell(!(acts & FLOW_BEGINS) || r->measurements.list.n == 0);
	check_told(&sc, row, from);
	check_files(&sc, row, from, before);
	if (acts & (FLOW_RECORDS | FLOW_CLAIMS))
		check_read(&sc, row, from);
	end(&sc);
}

/* An event that can't happen says so, and leaves all as it was. */
static void check_never(struct tmp *t, const struct flow_row *row, enum flow_state from)
{
	cleanup_free char *before = NULL;
	struct scene sc;

	begin(&sc, t, from);
	before = xstrdup(tree_text(t, STATUS));
	assert_cell(move(&sc, row->event) < 0);
	assert_cell(complaints.n == 1 && strstr(complaints.v[0], "a defect of railhead"));
	assert_cell(flow_state(&sc.status.record) == from);
	assert_cell(sc.told.n == 0);
	assert_cell(streq(tree_text(t, STATUS), before));
	assert_cell(tree_has(t, READY) == (from == FLOW_ADMITTED));
	assert_cell(tree_has(t, PASS) && tree_has(t, FROZEN) && tree_has(t, WATCHED));
	end(&sc);
}

static void test_cells(void **state)
{
	for (size_t i = 0; i < flow_row_count; i++)
		for (enum flow_state s = 0; s < FLOW_STATE_COUNT; s++)
			if (covers(&flow_rows[i], flow_rows[i].event, s) && flow_rows[i].next)
				check_cell(*state, &flow_rows[i], s);
			else if (covers(&flow_rows[i], flow_rows[i].event, s))
				check_never(*state, &flow_rows[i], s);
}

/* --- what depends on more than the state ---------------------------------------------------- */

/* A verdict that is not that of the event is written nowhere. */
static void test_other_verdict(void **state)
{
	struct verdict v;
	struct scene sc;

	begin(&sc, *state, FLOW_AT_WORK);
	verdict_simple(&v, VERDICT_BLOCKED, FAULT_GATE_FAILED, "no");
	assert_true(flow_move(&sc.flow, FLOW_JUDGED_ADMITS, &v) < 0);
	assert_text(complaints.v[0], "a defect of railhead");
	assert_false(tree_has(*state, READY));
	assert_null(strstr(tree_text(*state, STATUS), "\"no\""));
	verdict_free(&v);
	end(&sc);
}

/* No file can be written; what is there may be removed. */
static void no_room(struct tmp *t)
{
	tmp_write(t, "run/railhead/.status.json.tmp/in the way", "");
}

/* There is room again: the run of the retry timer finds a node that it has to judge. */
static void looks_again(struct scene *sc)
{
	struct tmp *t = sc->t;
	struct status s;

	status_load(&t->root, &s);
	assert_int_equal(flow_state(&s.record), FLOW_UNJUDGED);
	assert_false(s.record.stage[STAGE_GATE].ran);
	status_free(&s);
	end(sc);
	tree_remove(t, "run/railhead/.status.json.tmp/in the way");
	tree_remove(t, "run/railhead/.status.json.tmp");
}

/* A record that somebody cut short: what stands in it without a verdict is of no judgement. */
static void test_no_verdict(void **state)
{
	static const char *const with[] = {
		"",
		", \"judging\": {\"since_usec\": 5, \"begun\": 3}",
		", \"waiting\": {\"since_usec\": 1, \"until_usec\": 9, \"looked_usec\": 1}",
		", \"verdict\": \"raedy\", \"admit\": true",
	};

	for (size_t i = 0; i < array_len(with); i++) {
		cleanup_free char *text = xasprintf(
			"{\"schema\": 2, \"boot_id\": \"11111111-2222-3333-4444-555555555555\"%s}",
			with[i]);
		struct scene sc;

		begin(&sc, *state, FLOW_UNJUDGED);
		status_free(&sc.status);
		status_parse(&sc.status, text, "11111111-2222-3333-4444-555555555555", "");
		assert_false(sc.status.record.judged);
		assert_int_equal(flow_state(&sc.status.record), FLOW_UNJUDGED);
		assert_int_equal(move(&sc, FLOW_NO_RECORD), 0);
		assert_int_equal(move(&sc, FLOW_STAGE_HELD), 0);
		assert_int_equal(flow_state(&sc.status.record), FLOW_UNJUDGED);
		assert_true(sc.status.record.judged);
		end(&sc);
	}
}

/* A record that could not be read is noted once, by the move that replaces it. */
static void test_unreadable(void **state)
{
	struct status *status;
	struct scene sc;

	begin(&sc, *state, FLOW_UNJUDGED);
	status = &sc.status;
	status_free(status);
	status_parse(status, "{", "11111111-2222-3333-4444-555555555555", "");
	assert_non_null(status->record.unreadable);
	assert_int_equal(move(&sc, FLOW_RENEW), 0); /* writes no record */
	assert_non_null(status->record.unreadable);
	assert_false(is_told(&sc, "journal: unreadable"));
	assert_int_equal(move(&sc, FLOW_NO_RECORD), 0);
	assert_int_equal(move(&sc, FLOW_STAGE_HELD), 0);
	assert_true(is_told(&sc, "journal: unreadable"));
	assert_null(status->record.unreadable);
	strv_free(&sc.told);
	assert_int_equal(move(&sc, FLOW_STAGE_HELD), 0);
	assert_false(is_told(&sc, "journal: unreadable"));
	assert_null(strstr(tree_text(*state, "run/railhead/status.json"), "unreadable"));
	end(&sc);
}

/* There is no room for the record: nothing is claimed, and the timer judges again. */
static void test_not_written(void **state)
{
	struct tmp *t = *state;
	struct scene sc;

	begin(&sc, t, FLOW_AT_WORK);
	no_room(t);
	assert_true(move(&sc, FLOW_JUDGED_ADMITS) < 0);
	assert_int_equal(flow_state(&sc.status.record), FLOW_UNJUDGED);
	assert_text(sc.status.record.verdict.findings.list.v[0].why, complaints.v[0]);
	assert_int_equal(sc.status.record.verdict.findings.list.v[0].fault, FAULT_HOST_RECORD);
	assert_false(tree_has(t, READY));
	assert_false(tree_has(t, PASS));
	assert_true(is_told(&sc, "retry on"));
	assert_true(is_told(&sc, "trial over"));
	assert_int_equal(sc.told.n, 3); /* and the journal */
	looks_again(&sc);
}

/* The same of a device that is back: the record on disk must not say "lapsed" any more. */
static void test_back_not_written(void **state)
{
	struct scene sc;

	begin(&sc, *state, FLOW_LAPSED);
	no_room(*state);
	assert_true(move(&sc, FLOW_DEVICE_BACK) < 0);
	assert_true(is_told(&sc, "retry on"));
	looks_again(&sc);
}

/* News is a verdict that the record did not have. */
static void test_news(void **state)
{
	struct scene sc;

	begin(&sc, *state, FLOW_WAITING);
	assert_int_equal(move(&sc, FLOW_JUDGED_WAITS), 0);
	assert_true(sc.flow.news && is_told(&sc, "journal"));
	strv_free(&sc.told);
	assert_int_equal(move(&sc, FLOW_JUDGED_WAITS), 0);
	assert_false(sc.flow.news || is_told(&sc, "journal"));
	end(&sc);
}

static void let_in(struct scene *sc)
{
	uint64_t now = clock_usec();

	record_open_window(&sc->status.record, &sc->status.record.admission, now, now + MINUTE,
			   "2030-01-01T00:00:00Z", "x", "y");
	assert_int_equal(move(sc, FLOW_ADMIT), 0);
	assert_true(tree_has(sc->t, READY) && is_told(sc, "journal: by hand"));
	assert_int_equal(flow_state(&sc->status.record), FLOW_KEPT_OUT);
	strv_free(&sc->told);
}

/* What a person admitted outlives a judgement that keeps work out, and ends with one that does not.
 */
static void test_by_hand(void **state)
{
	struct tmp *t = *state;
	struct scene sc;

	begin(&sc, t, FLOW_KEPT_OUT);
	let_in(&sc);
	assert_int_equal(move(&sc, FLOW_GATE_AGAIN), 0);
	assert_true(tree_has(t, READY));
	assert_int_equal(move(&sc, FLOW_JUDGED_KEEPS_OUT), 0);
	assert_true(tree_has(t, READY));
	assert_int_equal(move(&sc, FLOW_GATE_AGAIN), 0);
	assert_int_equal(move(&sc, FLOW_JUDGED_ADMITS), 0);
	assert_true(tree_has(t, READY) && is_told(&sc, "hand timer off"));
	assert_false(record_is_let_in(&sc.status.record));
	end(&sc);

	begin(&sc, t, FLOW_KEPT_OUT);
	let_in(&sc);
	sc.flow.over = "taken back";
	assert_int_equal(move(&sc, FLOW_ADMIT_ENDS), 0);
	assert_false(tree_has(t, READY));
	assert_true(is_told(&sc, "journal: over") && is_told(&sc, "hand timer off"));
	end(&sc);
}

/* What was lost is on disk before the verdict is, also where the verdict has lapsed already. */
static void test_loss(void **state)
{
	static const enum flow_state from[] = {FLOW_ADMITTED, FLOW_LAPSED};
	struct watched lost = {.addr = "0000:41:00.0", .lost_at = 5, .why = "away"};
	struct watch watch = {0};
	struct scene sc;

	vec_push(&watch.list, lost);
	for (size_t i = 0; i < array_len(from); i++) {
		begin(&sc, *state, from[i]);
		sc.flow.watch = &watch;
		assert_int_equal(move(&sc, FLOW_DEVICE_LOST), 0);
		assert_text(tree_text(*state, WATCHED), "away");
		end(&sc);
	}
	vec_free(&watch.list);
}

/* The run of the retry timer stops that timer, also in a boot that waits for nothing. */
static void test_retry_timer(void **state)
{
	struct scene sc;

	begin(&sc, *state, FLOW_ADMITTED);
	sc.flow.retries = true;
	assert_int_equal(move(&sc, FLOW_RETRY), 0);
	assert_true(is_told(&sc, "retry off"));
	end(&sc);
}

/* --- the page ------------------------------------------------------------------------------ */

static const char *const state_meanings[FLOW_STATE_COUNT] = {
	[FLOW_UNJUDGED] = "no gate has judged this user space, or not with this profile",
	[FLOW_AT_WORK] = "a gate has begun, and has no verdict: it measures, or was killed",
	[FLOW_WAITING] = "the verdict is `waiting`: what it waits for is looked for again",
	[FLOW_ADMITTED] =
		"the verdict admits work: `ready`, or another that the site or the profile "
		"admits",
	[FLOW_LAPSED] = "the verdict is `lapsed`: a device, or the ready file, was lost",
	[FLOW_KEPT_OUT] = "the verdict is `blocked`, `degraded`, `off` or `none`",
};

/* "": it is not published. In the order of enum flow_act. */
static const char *const act_words[FLOW_ACTS] = {
	"refused, with the reason",
	"the profile is chosen again",
	"devices are not watched",
	"no ready file; readers told",
	"figures kept for the next boot",
	"no figures for the next boot",
	"loss kept",
	"admission by hand over, journal",
	"",
	"verdict: a gate is at work",
	"time of waiting cleared",
	"record",
	"record, ready file, readers",
	"figures for the next boot",
	"journal",
	"journal: who admitted work",
	"readers told again",
	"trial timer starts over",
	"trial timer off",
	"retry timer on",
	"retry timer off",
	"admission timer off",
	"history",
};

#define ANY (FLOW_BIT(FLOW_STATE_COUNT) - 1)

static void add_states(struct str *page, unsigned int states)
{
	const char *sep = "";

	for (enum flow_state s = 0; states != ANY && s < FLOW_STATE_COUNT; s++)
		if (states & FLOW_BIT(s)) {
			str_addf(page, "%s%s", sep, flow_state_name(s));
			sep = ", ";
		}
	if (states == ANY)
		str_add(page, "any");
}

static void add_row(struct str *page, const struct flow_row *row)
{
	const char *sep = "";

	if (row->next == FLOW_NEVER)
		return;
	str_addf(page, "| %s | ", flow_event_name(row->event));
	add_states(page, row->from);
	str_add(page, " | ");
	if (row->next == FLOW_SAME)
		str_add(page, "the same");
	else
		add_states(page, row->next);
	str_add(page, " | ");
	for (size_t i = 0; i < FLOW_ACTS; i++)
		if (row->acts & 1u << i && *act_words[i]) {
			str_addf(page, "%s%s", sep, act_words[i]);
			sep = "; ";
		}
	str_addf(page, "%s |\n", *sep ? "" : "nothing");
}

/*
 * An arrow from one state, or from any, with a line for each event that leads to the other. States
 * of several, as a bit each.
 */
static void add_arrow(struct str *page, unsigned int from, enum flow_state to)
{
	size_t n = 0;

	for (size_t i = 0; i < flow_row_count; i++) {
		const struct flow_row *row = &flow_rows[i];
		bool leads = row->next != FLOW_SAME && row->next & FLOW_BIT(to);
		bool is_from =
			from == ANY ? row->from == ANY : row->from != ANY && row->from & from;

		if (!leads || !is_from)
			continue;
		if (!n++)
			str_addf(page, "    s%u --> s%u: ", from, FLOW_BIT(to));
		else
			str_add(page, "<br>");
		str_add(page, flow_event_name(row->event));
	}
	if (n)
		str_add(page, "\n");
}

static void add_diagram(struct str *page)
{
	str_add(page, "```mermaid\nstateDiagram-v2\n");
	for (enum flow_state s = 0; s < FLOW_STATE_COUNT; s++)
		str_addf(page, "    s%u: %s\n", FLOW_BIT(s), flow_state_name(s));
	str_addf(page, "    s%u: any state\n    [*] --> s%u\n", ANY, FLOW_BIT(FLOW_UNJUDGED));
	for (enum flow_state from = 0; from < FLOW_STATE_COUNT; from++)
		for (enum flow_state to = 0; to < FLOW_STATE_COUNT; to++)
			add_arrow(page, FLOW_BIT(from), to);
	for (enum flow_state to = 0; to < FLOW_STATE_COUNT; to++)
		add_arrow(page, ANY, to);
	str_add(page, "```\n");
}

static void render(struct str *page)
{
	str_add(page,
		"# How the verdict moves\n\n"
		"The verdict of a boot moves by events alone, and `src/engine/flow.c` has them in "
		"one "
		"table, which\nthis page is made from (`make keys`). The state follows from the "
		"record of the boot\n(`/run/railhead/status.json`):\n\n"
		"| state | what it is |\n|---|---|\n");
	for (enum flow_state s = 0; s < FLOW_STATE_COUNT; s++)
		str_addf(page, "| %s | %s |\n", flow_state_name(s), state_meanings[s]);
	str_add(page,
		"\nThree rules hold where the record is read, whatever wrote it. A record that "
		"admits "
		"work, while there is\nno ready file (`/run/railhead/ready`), is `lapsed`: "
		"the process "
		"that withdrew work, or was to admit it,\nended before it wrote the record. "
		"A record of "
		"the user space before a soft-reboot is `unjudged`.\nA record that can't be "
		"read, because it is damaged or has another schema, is `unjudged` too: it is\n"
		"replaced with an entry in the journal.\n\n");
	add_diagram(page);
	str_add(page,
		"\n## The table\n\n"
		"Claims are taken back before the record changes, and made after it is written. An "
		"event that has no row in\na state can't happen there: railhead reports it as its "
		"own defect, and writes no verdict. The journal has\na verdict unless the record "
		"gave "
		"the same one for the same reasons before. A timer is stopped where it\nmay "
		"run.\n\n"
		"| event | state | next state | what is done |\n|---|---|---|---|\n");
	for (size_t i = 0; i < flow_row_count; i++)
		add_row(page, &flow_rows[i]);
}

static void test_page(void **state)
{
	cleanup_str struct str page = {0}, is = {0};
	FILE *f;

	(void)state;
	render(&page);
	if (getenv("GOLDEN")) {
		f = fopen(PAGE, "w");
		assert_non_null(f);
		fputs(page.s, f);
		fclose(f);
	}
	f = fopen(PAGE, "r");
	assert_non_null(f);
	for (int c = fgetc(f); c != EOF; c = fgetc(f))
		str_addf(&is, "%c", c);
	fclose(f);
	if (!streq(str_get(&is), page.s))
		fail_msg("%s: the table has other rows now: make keys", PAGE);
}

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r == 0)
		tmp_write(*state, "proc/sys/kernel/random/boot_id",
			  "11111111-2222-3333-4444-555555555555\n");
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_rows),
		cmocka_unit_test_setup_teardown(test_cells, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_other_verdict, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_verdict, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_not_written, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_back_not_written, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_news, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_by_hand, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_loss, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_retry_timer, setup, tmp_teardown),
		cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
