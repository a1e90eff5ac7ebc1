/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the checks storage_read and command become: programs, words, resources, privileges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "gate/calibrate.h"
#include "gate/judge.h"
#include "probe_run.h"
#include "fragment.h"
#include "tree.h"

static const struct binding unknown;

struct site {
	struct profile profile;
	struct pci_fn nic;
	struct device_sets sets;
	struct node node;
	struct section_ctx ctx;
	struct probes probes;
};

/* The probes of the profile's one check. */
static void open_site(struct site *s, const struct tmp *t, const char *text)
{
	struct device_set set = {0};
	const struct ynode *checks;

	*s = (struct site){.nic = {.addr = "0000:3b:00.0"}};
	s->profile.doc = fragment(text);
	vec_push(&set.fn, &s->nic);
	vec_push(&s->sets.set, set);
	cpus_parse("0-1", &s->node.nodes);
	cpus_parse("0-1", &s->node.nodes_with_cpu);
	s->ctx = (struct section_ctx){
		.root = &t->root, .node = &s->node, .profile = &s->profile, .sets = &s->sets};
	checks = ynode_get(profile_section(&s->profile, "gate"), "checks");
	check_measures(&s->ctx, checks->keys.v[0]->text, checks->items.v[0], &s->probes);
	assert_int_equal(s->probes.list.n, 1);
}

static void close_site(struct site *s)
{
	struct measurements all = {0};

	for (size_t i = 0; i < s->probes.list.n; i++)
		vec_push(&all.list, s->probes.list.v[i]->m);
	measurements_free(&all);
	probes_free(&s->probes);
	device_sets_free(&s->sets);
	ynode_free(s->profile.doc);
}

static void assert_words(const struct strv *list, const char *want)
{
	cleanup_str struct str text = {0};

	for (size_t i = 0; i < list->n; i++)
		str_addf(&text, "%s%s", i ? " " : "", list->v[i]);
	assert_string_equal(str_get(&text), want);
}

static void test_storage(void **state)
{
	static const struct {
		const char *mounts, *words;
	} t[] = {
		{"{}", "--path /mnt/ai/file --size 1M"},
		{"{/mnt/ai: {type: nfs, options: \"vers=4.2,proto=rdma,port=20049\"}}",
		 "--path /mnt/ai/file --size 1M --mount /mnt/ai --transport rdma"},
		{"{/mnt/ai: {type: nfs, options: \"rdma\"}, /mnt: {type: xfs}}",
		 "--path /mnt/ai/file --size 1M --mount /mnt/ai --transport rdma"},
		{"{/mnt/ai/: {type: xfs}}", "--path /mnt/ai/file --size 1M --mount /mnt/ai/"},
		{"{/mnt/ai/fi: {type: xfs}, /mnt/a: {type: xfs}, /srv: {type: xfs}}",
		 "--path /mnt/ai/file --size 1M"},
		{"{/: {type: xfs, options: \"nordma,proto=rdmax\"}}",
		 "--path /mnt/ai/file --size 1M --mount /"},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text =
			xasprintf("{mounts: %s, gate: {checks: {data: {run: storage_read, "
				  "path: /mnt/ai/file, min: 2GB/s}}}}",
				  t[i].mounts);
		cleanup_free char *words = xasprintf("%s storage_read %s", BENCH_PATH, t[i].words);
		struct site s;

		open_site(&s, *state, text);
		assert_words(&s.probes.list.v[0]->argv, words);
		assert_words(&s.probes.list.v[0]->resources, "storage node0 node1");
		assert_true(s.probes.list.v[0]->late);
		assert_string_equal(s.probes.list.v[0]->m.id, "gate/data/mnt/ai/file");
		close_site(&s);
	}
}

/* What the program has seen itself stands first among the causes of a slow one. */
static void test_cause(void **state)
{
	struct bench_job job = {.state = CHANGE_SAME};
	struct site s;

	open_site(&s, *state,
		  "{gate: {checks: {data: {run: storage_read, path: /f, min: 2GB/s}}}}");
	job.result = json_loads("{\"value\": 1e9, \"cause\": \"tcp, not rdma\"}", 0, NULL);
	judge_probe(s.probes.list.v[0], &job);
	judge_causes(&s.ctx, &unknown, &unknown, s.probes.list.v[0]);
	assert_int_equal(s.probes.list.v[0]->m.state, CHANGE_SLOW);
	assert_text(s.probes.list.v[0]->m.reason,
		    "storage_read of /f: measured 1.0 GB/s, required at least 2GB/s");
	assert_string_equal(s.probes.list.v[0]->m.causes, "likely: tcp, not rdma");
	bench_job_clear(&job);
	close_site(&s);
}

static void storage_gives(const struct tmp *t, const char *keys, const char *line,
			  enum change_state state, const char *reason, const char *readings)
{
	cleanup_free char *text = xasprintf(
		"{gate: {checks: {data: {run: storage_read, path: /f, min: 2GB/s%s}}}}", keys);
	struct bench_job job = {.state = CHANGE_SAME, .result = json_loads(line, 0, NULL)};
	cleanup_str struct str got = {0};
	const struct measurement *m;
	struct site s;

	open_site(&s, t, text);
	m = &s.probes.list.v[0]->m;
	judge_probe(s.probes.list.v[0], &job);
	assert_int_equal(m->state, state);
	assert_string_equal(m->reason ? m->reason : "", reason);
	for (size_t i = 0; i < m->readings.list.n; i++) {
		const struct reading *r = &m->readings.list.v[i];
		cleanup_free char *value = quantity_format(r->quantity, r->value);

		str_addf(&got, "%s %s%s;", r->name, value, isnan(r->limit) ? ", told" : "");
	}
	assert_string_equal(str_get(&got), readings);
	bench_job_clear(&job);
	close_site(&s);
}

/* What requests took is a reading always, and a threshold where the profile has one. */
static void test_latency(void **state)
{
	static const char line[] = "{\"value\": 3e9, \"unit\": \"B/s\", \"p50\": 4e6, "
				   "\"p99\": 9e6, \"max\": 8e8}";
	storage_gives(*state, "", line, CHANGE_SAME, "",
		      "min 3.0 GB/s;p50 4.00 ms, told;p99 9.00 ms, told;max 800.00 ms, told;");
	storage_gives(*state, ", p50: 4ms, p99: 9ms, max: 800ms", line, CHANGE_SAME, "",
		      "min 3.0 GB/s;p50 4.00 ms;p99 9.00 ms;max 800.00 ms;");
	storage_gives(*state, ", p50: 3ms", line, CHANGE_SLOW,
		      "storage_read of /f: p50 measured 4.00 ms, required at most 3ms",
		      "min 3.0 GB/s;p50 4.00 ms;p99 9.00 ms, told;max 800.00 ms, told;");
	storage_gives(*state, ", p99: 8ms, max: 1ms", line, CHANGE_SLOW,
		      "storage_read of /f: p99 measured 9.00 ms, required at most 8ms; max "
		      "measured 800.00 ms, required at most 1ms",
		      "min 3.0 GB/s;p50 4.00 ms, told;p99 9.00 ms;max 800.00 ms;");
	/* of a program that tells none: no threshold, no figure */
	storage_gives(*state, "", "{\"value\": 3e9}", CHANGE_SAME, "", "min 3.0 GB/s;");
	storage_gives(*state, ", p99: 9ms", "{\"value\": 3e9}", CHANGE_FAILED,
		      "storage_read of /f: no number \"p99\" in its result", "");
	storage_gives(*state, "", "{\"value\": 3e9, \"p99\": -1}", CHANGE_FAILED,
		      "storage_read of /f: \"p99\" of its result is -1, and can't be at or below 0",
		      "");
}

/* A threshold is made of what the profile has one for, and not of all that is told. */
static void test_calibrated(void **state)
{
	struct bench_job job = {.state = CHANGE_SAME};
	struct measurements m = {0};
	struct err err = {0};
	const json_t *data, *told;
	struct site s;
	json_t *doc;

	open_site(&s, *state,
		  "{gate: {checks: {data: {run: storage_read, path: /f, min: 2GB/s, p99: 9ms}}}}");
	s.profile.name = (char *)"sku";
	job.result =
		json_loads("{\"value\": 3e9, \"p50\": 4e6, \"p99\": 8e6, \"max\": 8e8}", 0, NULL);
	judge_probe(s.probes.list.v[0], &job);
	doc = calibration_new("node", &s.profile, NULL, "b", 0);
	vec_push(&m.list, s.probes.list.v[0]->m);
	assert_int_equal(calibration_add(doc, &s.profile, &m, &err), 0);
	data = json_object_get(json_object_get(doc, "checks"), "data");
	assert_non_null(json_object_get(data, "min"));
	assert_non_null(json_object_get(data, "p99"));
	assert_int_equal(json_object_size(data), 2);
	told = json_object_get(json_object_get(doc, "told"), "data");
	assert_int_equal(json_array_size(told), 2);
	assert_string_equal(json_string_value(json_array_get(told, 0)), "p50");
	assert_string_equal(json_string_value(json_array_get(told, 1)), "max");
	json_decref(doc);
	vec_free(&m.list);
	bench_job_clear(&job);
	close_site(&s);
}

/* Nothing else is measured beside it, and it has nothing but what it asks for. */
static void test_command(void **state)
{
	struct tmp *t = *state;
	const struct probe *p;
	struct site s;

	tmp_write(t, "etc/passwd", "slurm:x:5:6::/:/bin/false\n");
	open_site(&s, t,
		  "{gate: {checks: {site: {run: command, command: [/bin/sh, -c, \"a b\"]}}}}");
	p = s.probes.list.v[0];
	if (probe_is_declined(p))
		fail_msg("%s", p->m.reason);
	assert_string_equal(p->argv.v[0], "/bin/sh");
	assert_string_equal(p->argv.v[2], "a b");
	assert_int_equal(p->budget_ms, 0);
	assert_words(&p->resources, "node0 node1 0000:3b:00.0 storage");
	assert_true(p->as->own_user && !p->as->network && p->as->capabilities == 0);
	close_site(&s);
	open_site(&s, t,
		  "{gate: {checks: {site: {run: command, command: [/bin/sh], user: slurm, "
		  "capabilities: [CAP_CHOWN, CAP_DAC_OVERRIDE], network: true}}}}");
	p = s.probes.list.v[0];
	assert_true(!p->as->own_user && p->as->network);
	assert_true(p->as->uid == 5 && p->as->gid == 6 && p->as->capabilities == 3);
	close_site(&s);
	open_site(&s, t, "{gate: {checks: {site: {run: command, command: [sh]}}}}");
	assert_int_equal(s.probes.list.v[0]->m.state, CHANGE_CANNOT_MEASURE);
	assert_text(s.probes.list.v[0]->m.reason,
		    "command sh: not run: sh: write the program's absolute path");
	close_site(&s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tmp_setup, tmp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_storage),    TEST(test_cause),   TEST(test_latency),
		TEST(test_calibrated), TEST(test_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
