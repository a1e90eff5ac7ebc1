/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of boots, what is called a change between two, and what one line says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "engine/history.h"
#include "record_of.h"
#include "report/history_text.h"
#include "tree.h"
#include "values.h"

#define STORE "var/lib/railhead/history.json"
#define DAY 86400

/* A healthy boot, the n-th of a node. */
static struct boot_past boot_at(size_t n)
{
	return (struct boot_past){
		.boot_id = xasprintf("boot-%zu", n),
		.time = 1790000000 + (int64_t)n * DAY,
		.verdict = VERDICT_READY,
		.admit = true,
		.reason = xstrdup(""),
		.profile = xstrdup("sku"),
		.version = xstrdup("1.4.0"),
		.digest = xstrdup("0123456789abcdef"),
		.kernel = xstrdup("6.1.0-18"),
		.railhead = xstrdup("0.9"),
	};
}

static void add_part(struct boot_past *b, const char *name, const char *value)
{
	vec_push(&b->parts.list, ((struct binding_part){xstrdup(name), xstrdup(value)}));
}

static void add_figure(struct boot_past *b, const char *subject, double value)
{
	vec_push(&b->figures, ((struct past_figure){.check = xstrdup("wire"),
						    .subject = xstrdup(subject),
						    .key = xstrdup("min"),
						    .quantity = QUANTITY_RATE,
						    .value = value,
						    .fresh = true}));
}

static void set(char **text, const char *value)
{
	free(*text);
	*text = xstrdup(value);
}

static void push(struct history *h, struct boot_past b)
{
	vec_push(&h->boots, b);
}

/* The lines of a pipe, with the history freed. */
static char *lines(struct history *h)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	history_render(out, h, HISTORY_BOOTS, &(struct screen){.columns = 80});
	fclose(out);
	history_free(h);
	return text;
}

/* --- kept --------------------------------------------------------------------------------- */

static void keep(struct tmp *t, struct boot_past b)
{
	struct history h;

	assert_int_equal(history_add(&t->root, &b, &h, &t->err), 0);
	assert_int_equal(history_write(&t->root, &h, &t->err), 0);
	history_free(&h);
}

static void test_round_trip(void **state)
{
	struct tmp *t = *state;
	struct boot_past b = boot_at(1);
	const struct boot_past *back;
	struct history h;

	b.verdict = VERDICT_BLOCKED;
	b.admit = false;
	strv_add(&b.faults, "RH-NIC-LINK-WIDTH");
	set(&b.reason, "width: x8 \"quoted\" \xc3\xa4");
	b.stage[STAGE_EARLY] = (struct past_stage){true, 1234};
	b.judged = 5000000;
	b.waited = 6000000;
	b.reboots = 2;
	add_part(&b, "BIOS", "1.1");
	add_figure(&b, "node0", 1.23456789e11);
	keep(t, b);
	assert_int_equal(history_read(&t->root, &h, &t->err), 0);
	assert_int_equal(h.boots.n, 1);
	back = &h.boots.v[0];
	assert_string_equal(back->boot_id, "boot-1");
	assert_int_equal(back->time, 1790000000 + DAY);
	assert_int_equal(back->verdict, VERDICT_BLOCKED);
	assert_false(back->admit);
	assert_string_equal(back->faults.v[0], "RH-NIC-LINK-WIDTH");
	assert_string_equal(back->reason, "width: x8 \"quoted\" \xc3\xa4");
	assert_string_equal(back->profile, "sku");
	assert_string_equal(back->version, "1.4.0");
	assert_string_equal(back->digest, "0123456789abcdef");
	assert_string_equal(back->kernel, "6.1.0-18");
	assert_string_equal(back->railhead, "0.9");
	assert_true(back->stage[STAGE_EARLY].ran && !back->stage[STAGE_GATE].ran);
	assert_int_equal(back->stage[STAGE_EARLY].duration, 1234);
	assert_int_equal(back->judged, 5000000);
	assert_int_equal(back->waited, 6000000);
	assert_int_equal(back->reboots, 2);
	assert_string_equal(binding_find(&back->parts, "BIOS")->value, "1.1");
	assert_int_equal(back->figures.n, 1);
	assert_string_equal(back->figures.v[0].check, "wire");
	assert_string_equal(back->figures.v[0].subject, "node0");
	assert_string_equal(back->figures.v[0].key, "min");
	assert_int_equal(back->figures.v[0].quantity, QUANTITY_RATE);
	assert_float_equal(back->figures.v[0].value, 1.23456789e11, 1e3);
	assert_true(back->figures.v[0].fresh);
	history_free(&h);
}

static void fill(struct values *v, struct boot_past *b)
{
	*b = (struct boot_past){
		.boot_id = text(v),
		.time = any(v, INT32_MAX),
		.verdict = any(v, VERDICT_NONE + 1),
		.admit = flag(v),
		.reason = text(v),
		.profile = text(v),
		.version = text(v),
		.digest = text(v),
		.kernel = text(v),
		.railhead = text(v),
		.judged = any(v, UINT32_MAX),
		.waited = any(v, UINT32_MAX),
		.reboots = any(v, INT32_MAX),
	};
	texts(v, &b->faults);
	for (enum stage s = 0; s < STAGE_COUNT; s++)
		b->stage[s] = (struct past_stage){true, any(v, UINT32_MAX)};
	for (size_t i = 0; i < 2; i++) {
		const struct figure_key *key = &figure_keys[any(v, 6)];
		cleanup_free char *name = text(v), *value = text(v);
		struct past_figure f = {
			text(v), text(v), xstrdup(key->key), key->quantity, any(v, INT32_MAX) / 8.0,
			flag(v)};

		add_part(b, name, value);
		vec_push(&b->figures, f);
	}
}

/* The text of such a boot; that of the boot that is read from the file is the same. */
static char *printed(struct tmp *t, struct values *v)
{
	struct boot_past b;
	struct history h;
	json_t *doc, *back;
	char *ret, *is;

	v->n = 0;
	fill(v, &b);
	doc = boot_past_to_json(&b);
	ret = json_dumps(doc, 0);
	tmp_write(t, STORE, "{\"schema\": 1, \"boots\": []}");
	keep(t, b);
	assert_int_equal(history_read(&t->root, &h, &t->err), 0);
	assert_int_equal(h.boots.n, 1);
	back = boot_past_to_json(&h.boots.v[0]);
	is = json_dumps(back, 0);
	assert_string_equal(is, ret);
	free(is);
	history_free(&h);
	json_decref(doc);
	json_decref(back);
	return ret;
}

/* No value is lost, or taken for another: each alone changes the text. */
static void test_each_value(void **state)
{
	for (unsigned int seed = 1; seed <= 3; seed++) {
		struct values v = {.seed = seed, .other = UINT32_MAX};
		cleanup_free char *base = printed(*state, &v);
		unsigned int n = v.n;

		for (v.other = 0; v.other < n; v.other++) {
			cleanup_free char *with = printed(*state, &v);

			if (streq(with, base))
				fail_msg("value %u of seed %u is not recorded", v.other, seed);
		}
	}
}

/* Firmware may say anything; a boot is kept without what is no text. */
static void test_no_text(void **state)
{
	struct tmp *t = *state;
	struct boot_past b = boot_at(1);
	struct history h;

	set(&b.reason, "found '\xff\xfe'");
	add_part(&b, "BIOS", "\xff");
	add_part(&b, "CPUs", "4");
	keep(t, b);
	assert_int_equal(history_read(&t->root, &h, &t->err), 0);
	assert_int_equal(h.boots.n, 1);
	assert_string_equal(h.boots.v[0].reason, "");
	assert_null(binding_find(&h.boots.v[0].parts, "BIOS"));
	assert_string_equal(binding_find(&h.boots.v[0].parts, "CPUs")->value, "4");
	history_free(&h);
}

/* The first verdict of a boot sets the count of reboots back: a later one keeps what it knew. */
static void test_replaced(void **state)
{
	struct tmp *t = *state;
	struct boot_past first = boot_at(1), again = boot_at(1);
	struct history h;

	first.reboots = 2;
	again.verdict = VERDICT_DEGRADED;
	keep(t, boot_at(0));
	keep(t, first);
	keep(t, again);
	assert_int_equal(history_read(&t->root, &h, &t->err), 0);
	assert_int_equal(h.boots.n, 2);
	assert_int_equal(h.boots.v[1].verdict, VERDICT_DEGRADED);
	assert_int_equal(h.boots.v[1].reboots, 2);
	history_free(&h);
}

/* Parts that did not change are in the file once, also when the first of their boots is dropped. */
static void test_parts_once(void **state)
{
	struct tmp *t = *state;
	struct history h;
	size_t n = 0;

	for (size_t i = 0; i < HISTORY_BOOTS + 3; i++) {
		struct boot_past b = boot_at(i);

		add_part(&b, "BIOS", i < HISTORY_BOOTS ? "1.1" : "1.2");
		keep(t, b);
	}
	for (const char *p = tree_text(t, STORE); (p = strstr(p, "\"BIOS\"")); p++)
		n++;
	assert_int_equal(n, 2);
	assert_int_equal(history_read(&t->root, &h, &t->err), 0);
	assert_int_equal(h.boots.n, HISTORY_BOOTS);
	assert_string_equal(h.boots.v[0].boot_id, "boot-3");
	for (size_t i = 0; i < h.boots.n; i++)
		assert_string_equal(binding_find(&h.boots.v[i].parts, "BIOS")->value,
				    i < HISTORY_BOOTS - 3 ? "1.1" : "1.2");
	history_free(&h);
}

/* A boot alone that is beyond the bound leaves what is there. */
static void test_too_large(void **state)
{
	struct tmp *t = *state;
	struct boot_past b = boot_at(1);
	char *large = xcalloc(HISTORY_BYTES + 1, 1);
	struct history h;

	keep(t, boot_at(0));
	memset(large, 'x', HISTORY_BYTES);
	free(b.reason);
	b.reason = large;
	assert_int_equal(history_add(&t->root, &b, &h, &t->err), 0);
	assert_int_equal(history_write(&t->root, &h, &t->err), -EFBIG);
	assert_text(t->err.text, "the limit is");
	history_free(&h);
	assert_int_equal(history_read(&t->root, &h, &t->err), 0);
	assert_string_equal(h.boots.v[0].boot_id, "boot-0");
	history_free(&h);
}

/* --- of a record -------------------------------------------------------------------------- */

static void test_fresh(void **state)
{
	struct record r = record_of(
		"{\"verdict\": \"ready\", \"admit\": true, \"numbers\": {\"measured\": 1, "
		"\"boots_ago\": 1, \"this_boot\": [\"health\"]}, \"measurements\": ["
		"{\"id\": \"gate/a/node0\", \"check\": \"a\", \"state\": \"same\", \"readings\": "
		"{\"min\": 1.0}}, "
		"{\"id\": \"gate/health/g0\", \"check\": \"health\", \"state\": \"same\", "
		"\"readings\": {\"faults\": 1.0}}]}");
	struct boot_past b;

	(void)state;
	history_of_record(&r, NULL, &b);
	assert_int_equal(b.figures.n, 2);
	assert_string_equal(b.figures.v[0].subject, "node0");
	assert_false(b.figures.v[0].fresh); /* taken over */
	assert_true(b.figures.v[1].fresh);
	boot_past_free(&b);
	/* Of this boot: what others disturbed is no figure to go by; what was slow is one. */
	r.numbers.boots_ago = 0;
	r.measurements.list.v[0].state = CHANGE_INVALID;
	r.measurements.list.v[1].state = CHANGE_SLOW;
	r.measurements.list.v[1].readings.list.v[0].value = NAN;
	history_of_record(&r, NULL, &b);
	assert_int_equal(b.figures.n, 1);
	assert_false(b.figures.v[0].fresh);
	boot_past_free(&b);
	record_free(&r);
}

/* --- changes ------------------------------------------------------------------------------ */

static void test_lines(void **state)
{
	struct history h = {0};
	struct boot_past a = boot_at(0), b = boot_at(1), c = boot_at(2);
	cleanup_free char *text = NULL;

	(void)state;
	for (int i = 0; i < 3; i++) {
		cleanup_free char *name = xasprintf("firmware of 0000:%d8:00.0", i);

		add_part(&a, name, "28.37");
		add_part(&b, name, "28.39");
		add_part(&c, name, "28.39");
	}
	add_part(&a, "serial number of 0000:18:00.0", "digest 1");
	add_part(&b, "serial number of 0000:18:00.0", "digest 2");
	add_part(&c, "serial number of 0000:18:00.0", "digest 2");
	set(&b.kernel, "6.8.0-1");
	set(&b.version, "1.5.0");
	set(&c.kernel, "6.8.0-1");
	set(&c.version, "1.5.0");
	set(&c.digest, "fedcba9876543210");
	c.waited = 61000000;
	c.reboots = 1;
	c.judged = 72000000;
	c.stage[STAGE_GATE].duration = 30000000;
	push(&h, a);
	push(&h, b);
	push(&h, c);
	text = lines(&h);
	assert_string_equal(
		text, "boot\t2026-09-21 14:13Z\tready\t0 s\t0 s\t\n"
		      "boot\t2026-09-22 14:13Z\tready\t0 s\t0 s\tprofile 1.4.0 -> 1.5.0; kernel "
		      "6.1.0-18 -> 6.8.0-1; firmware of 3 functions 28.37 -> 28.39; serial number "
		      "of 0000:18:00.0: changed\n"
		      "boot\t2026-09-23 14:13Z\tready\t72 s\t30 s\twaited 1 min 1 s; 1 reboot "
		      "by railhead before; profile 0123456789ab -> fedcba987654\n");
}

/* A GPU that is gone is one change, and one that came, too: not one for each of its parts. */
static void test_gone(void **state)
{
	struct history h = {0};
	struct boot_past a = boot_at(0), none = boot_at(1), b = boot_at(2), c = boot_at(3);
	cleanup_free char *text = NULL;

	(void)state;
	add_part(&a, "members of gpus", "2");
	add_part(&a, "model of 0000:4b:00.0", "10de:2330 10de:16c1");
	add_part(&a, "video BIOS of 0000:4b:00.0", "96.00");
	add_part(&a, "link width of 0000:4b:00.0", "x16");
	add_part(&b, "members of gpus", "1");
	add_part(&c, "members of gpus", "2");
	add_part(&c, "model of 0000:4b:00.0", "10de:2330 10de:16c1");
	add_part(&c, "video BIOS of 0000:4b:00.0", "96.00");
	set(&none.profile, "");
	set(&none.version, "");
	set(&none.digest, "");
	none.verdict = VERDICT_NONE;
	none.admit = false;
	set(&none.reason, "no profile matches this node");
	push(&h, a);
	push(&h, none); /* has looked at no part: those behind it are compared with a */
	push(&h, b);
	push(&h, c);
	text = lines(&h);
	assert_text(text, "\tnone\t0 s\t0 s\tno profile matches this node; profile: gone\n");
	assert_text(text, "\tprofile: now sku; members of gpus 2 -> 1; model of 0000:4b:00.0: "
			  "gone\n");
	assert_text(text, "\tmembers of gpus 1 -> 2; model of 0000:4b:00.0: now 10de:2330 "
			  "10de:16c1\n");
}

/* --- figures ------------------------------------------------------------------------------ */

/* Boots whose figure has that noise, in percent, and then one with that value. */
static char *step_after(size_t n, double noise, double value)
{
	struct history h = {0};

	for (size_t i = 0; i <= n; i++) {
		struct boot_past b = boot_at(i);
		double figure = 1e11 * (1 + (i % 2 ? noise : -noise) / 200);

		add_figure(&b, "rails/0000:18:00.0", i < n ? figure : value);
		push(&h, b);
	}
	return lines(&h);
}

static void check_step(size_t n, double noise, double value, const char *said)
{
	cleanup_free char *text = step_after(n, noise, value);

	if (said)
		assert_text(text, said);
	else
		assert_null(strstr(text, "wire"));
}

static void test_steps(void **state)
{
	(void)state;
	/* Noise is known: six times the usual difference, and one percent at least. */
	check_step(10, 0.1, 0.985e11, "\twire rails/0000:18:00.0 min -1.5%\n");
	check_step(10, 0.1, 0.995e11, NULL);
	check_step(10, 1, 0.97e11, NULL);
	check_step(10, 1, 0.92e11, "min -8.5%");
	check_step(10, 1, 1.08e11, "min +7.5%");
	/* It is not. */
	check_step(3, 0.1, 0.96e11, NULL);
	check_step(3, 0.1, 0.94e11, "min -6.0%");
	/* Nothing to compare with. */
	check_step(0, 0, 1e11, NULL);
}

static void test_members(void **state)
{
	static const char *const rails[] = {"rails/a", "rails/b", "rails/c"};
	struct history h = {0};
	cleanup_free char *text = NULL;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct boot_past b = boot_at(i);

		for (size_t k = 0; k < array_len(rails); k++)
			add_figure(&b, rails[k], i ? 1e11 * (0.9 - 0.1 * (double)k) : 1e11);
		push(&h, b);
	}
	text = lines(&h);
	assert_text(text, "\twire min -30.0% of 3\n");
}

static void test_trends(void **state)
{
	struct history h = {0};
	struct strv told = {0};

	(void)state;
	strv_add(&told, "of the gate before");
	history_trends_told(&h, &told);
	assert_int_equal(told.n, 0);
	for (size_t i = 0; i < 20; i++) {
		struct boot_past b = boot_at(i);

		for (size_t k = 0; k < 6; k++) {
			cleanup_free char *subject = xasprintf("rails/%zu", k);

			add_figure(&b, subject, 1e11 - 5e8 * (double)i);
		}
		push(&h, b);
	}
	history_trends_told(&h, &told);
	assert_int_equal(told.n, 5);
	assert_string_equal(told.v[0], "wire rails/0 min: falls from boot to boot, by 9.5% over 20 "
				       "boots, and is 90.5 GB/s now");
	assert_string_equal(told.v[4], "2 more (`railhead history`)");
	strv_free(&told);
	history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_each_value, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_text, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_replaced, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_parts_once, tmp_setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_too_large, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_fresh),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_trends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
