/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the line that a program printed to an outcome and its reason. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/causes.h"
#include "gate/judge.h"
#include "profile/section.h"
#include "sys/pci_link.h"
#include "profile/schema.h"
#include "fragment.h"
#include "tree.h"

static const struct binding unknown;

/* A job that ended so, with that line. */
static struct bench_job said(enum change_state is, const char *line, const char *reason)
{
	struct bench_job job = {.state = is, .started_us = 7, .duration_us = 1000};

	if (line) {
		job.result = json_loads(line, 0, NULL);
		assert_non_null(job.result);
	}
	snprintf(job.reason, sizeof(job.reason), "%s", reason ? reason : "");
	return job;
}

static void judge(struct probe *p, enum change_state is, const char *line, const char *reason)
{
	struct bench_job job = said(is, line, reason);

	judge_probe(p, &job);
	bench_job_clear(&job);
}

/* Ended by the budget. */
static void judge_ended(struct probe *p, enum change_state is, const char *reason)
{
	struct bench_job job = said(is, NULL, reason);

	job.by_budget = true;
	judge_probe(p, &job);
}

static void probes_gone(struct probes *probes)
{
	struct measurements all = {0};

	for (size_t i = 0; i < probes->list.n; i++)
		vec_push(&all.list, probes->list.v[i]->m);
	measurements_free(&all);
	probes_free(probes);
}

static struct checked as_checked(const char *name, const struct ynode *map)
{
	return (struct checked){
		.check = check_find(ynode_text(map, "run", "")), .name = name, .map = map};
}

static struct probe *rdma_probe(struct probes *probes, const struct ynode *check, const char *tail)
{
	static const struct ceilings ceilings = {.line = 50e9, .pcie = 60e9};
	struct checked t = as_checked("rails", check);
	struct probe *p = probe_add(probes, &t, "%s", tail);

	probe_subject(p, "rdma_loopback of %s", tail);
	probe_judges(p, &t, "min", "value", &ceilings);
	probe_judges(p, &t, "max", "latency", NULL);
	probe_judges(p, &t, "min_messages", "messages", NULL);
	return p;
}

static void test_figures(void **state)
{
	static const struct {
		const char *line;
		enum change_state state;
		const char *measured, *reason;
	} t[] = {
		{"{\"value\": 46e9, \"latency\": 5000, \"messages\": 2000000}", CHANGE_SAME,
		 "46.0 GB/s", NULL},
		{"{\"value\": 45.9e9, \"latency\": 1, \"messages\": 3e6}", CHANGE_SLOW, "45.9 GB/s",
		 "rdma_loopback of a: measured 45.9 GB/s, required at least 92% of line (46.0 "
		 "GB/s)"},
		{"{\"value\": 46e9, \"latency\": 5001, \"messages\": 3e6}", CHANGE_SLOW, "5.00 us",
		 "rdma_loopback of a: latency measured 5.00 us, required at most 5us"},
		{"{\"value\": 9e8, \"latency\": 2e6, \"messages\": 1999}", CHANGE_SLOW,
		 "900.0 MB/s",
		 "rdma_loopback of a: measured 900.0 MB/s, required at least 92% of line (46.0 "
		 "GB/s); "
		 "latency measured 2.00 ms, required at most 5us; messages measured 2.0 K/s, "
		 "required "
		 "at least 2M/s"},
		{"{\"value\": 46e9, \"messages\": 3e6}", CHANGE_FAILED, NULL,
		 "rdma_loopback of a: no number \"latency\" in its result"},
	};
	struct ynode *check =
		check_fragment("{run: rdma_loopback, on: rails, min: 92% of line, max: 5us, "
			       "min_messages: 2M/s, on_fail: degrade, timeout: 3s}");

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct probes probes = {0};
		struct probe *p = rdma_probe(&probes, check, "a");

		assert_string_equal(p->m.id, "gate/rails/a");
		assert_string_equal(p->argv.v[1], "rdma_loopback");
		assert_int_equal(p->m.on_fail, ON_FAIL_DEGRADE);
		assert_int_equal(p->timeout_ms, 3000);
		judge(p, CHANGE_SAME, t[i].line, NULL);
		assert_int_equal(p->m.state, t[i].state);
		if (t[i].measured)
			assert_string_equal(p->m.measured, t[i].measured);
		else
			assert_null(p->m.measured);
		if (t[i].reason)
			assert_string_equal(p->m.reason, t[i].reason);
		else
			assert_null(p->m.reason);
		probes_gone(&probes);
	}
	ynode_free(check);
}

/* A number that nothing can be, or one of another unit, is no measurement. */
static void test_mistakes(void **state)
{
	static const struct {
		const char *check, *line, *reason; /* NULL: a pass */
	} t[] = {
		{"max: 10us", "{\"value\": -1}",
		 "\"value\" of its result is -1, and can't be at or below 0"},
		{"max: 10us", "{\"value\": 0}",
		 "\"value\" of its result is 0, and can't be at or below 0"},
		{"max: 10us", "{\"value\": 15, \"unit\": \"us\"}",
		 "the unit of its result is \"us\", not \"ns\""},
		{"max: 10us", "{\"value\": 15, \"unit\": 3}",
		 "the unit of its result is \"?\", not \"ns\""},
		{"max: 10us", "{\"value\": 15, \"unit\": \"ns\"}", NULL},
		{"min: 180GB/s", "{\"value\": 200e9, \"unit\": \"bit/s\"}",
		 "the unit of its result is \"bit/s\", not \"B/s\""},
		{"min: 180GB/s", "{\"value\": 1e30, \"unit\": \"B/s\"}",
		 "\"value\" of its result is 1e+30: no machine has so many B/s"},
		{"min: 180GB/s", "{\"value\": 200e9}", NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf("{run: command, %s}", t[i].check);
		struct ynode *check = check_fragment(text);
		struct probes probes = {0};
		struct checked of = as_checked("x", check);
		struct probe *p = probe_add(&probes, &of, "command");

		probe_subject(p, "command x");
		probe_judges(p, &of, "min", "value", NULL);
		probe_judges(p, &of, "max", "value", NULL);
		judge(p, CHANGE_SAME, t[i].line, NULL);
		assert_int_equal(p->m.state, t[i].reason ? CHANGE_FAILED : CHANGE_SAME);
		if (t[i].reason) {
			assert_text(p->m.reason, t[i].reason);
			assert_int_equal(p->m.readings.list.n, 0);
		}
		probes_gone(&probes);
		ynode_free(check);
	}
}

static void test_readings(void **state)
{
	struct ynode *check = check_fragment("{run: rdma_loopback, min: 1GB/s, max: 5us}");
	struct probes probes = {0};
	struct probe *p = rdma_probe(&probes, check, "a");

	(void)state;
	judge(p, CHANGE_SAME, "{\"value\": 2e9, \"latency\": 1234.5, \"messages\": 7}", NULL);
	assert_int_equal(p->m.readings.list.n, 2);
	assert_string_equal(p->m.readings.list.v[0].name, "min");
	assert_true(p->m.readings.list.v[0].value == 2e9);
	assert_string_equal(p->m.readings.list.v[1].name, "max");
	assert_int_equal(p->m.readings.list.v[1].quantity, QUANTITY_TIME);
	assert_true(p->m.readings.list.v[1].value == 1234.5);
	assert_false(isnan(p->m.readings.list.v[0].limit) || isnan(p->m.readings.list.v[1].limit));
	probes_gone(&probes);
	ynode_free(check);
}

static void test_outcomes(void **state)
{
	static const struct {
		enum change_state job;
		enum change_state state;
	} t[] = {
		{CHANGE_UNKNOWN, CHANGE_CANNOT_MEASURE},
		{CHANGE_CANNOT_MEASURE, CHANGE_CANNOT_MEASURE},
		{CHANGE_NOT_YET, CHANGE_NOT_YET},
		{CHANGE_UNSUPPORTED, CHANGE_UNSUPPORTED},
		{CHANGE_FAILED, CHANGE_FAILED},
		{CHANGE_FAILED, CHANGE_FAILED},
	};
	struct ynode *check = check_fragment("{run: rdma_loopback, min: 1GB/s}");

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct probes probes = {0};
		struct probe *p = rdma_probe(&probes, check, "a");

		judge(p, t[i].job, NULL, "port 1 is INIT");
		assert_int_equal(p->m.state, t[i].state);
		assert_string_equal(
			p->m.reason,
			t[i].job == CHANGE_UNSUPPORTED
				? "rdma_loopback of a: unsupported (port 1 is INIT), and "
				  "the profile requires 1GB/s"
				: "rdma_loopback of a: port 1 is INIT");
		assert_string_equal(or_empty(p->m.remedy),
				    t[i].job == CHANGE_UNSUPPORTED
					    ? "leave the check out, or write optional: true"
					    : "");
		assert_true(p->m.demanded);
		assert_string_equal(p->m.wanted, "1GB/s");
		assert_null(p->m.measured);
		probes_gone(&probes);
	}
	ynode_free(check);
}

/* The second look counts; but not one whose turn came too late. */
static void test_second_look(void **state)
{
	struct ynode *check = check_fragment("{run: rdma_loopback, min: 1GB/s}");
	struct probes probes = {0};
	struct probe *p = rdma_probe(&probes, check, "a");

	(void)state;
	judge(p, CHANGE_SAME, "{\"value\": 9e8}", NULL);
	assert_int_equal(p->m.state, CHANGE_SLOW);
	judge_look(p);
	judge(p, CHANGE_UNKNOWN, NULL, "too late");
	assert_int_equal(p->m.state, CHANGE_SLOW);
	assert_text(p->m.reason, "measured 900.0 MB/s");
	judge_ended(p, CHANGE_FAILED, "no result within 2 ms");
	judge_ended(p, CHANGE_FAILED, "killed by signal 15");
	judge_look(p);
	assert_int_equal(p->m.looks.n, 1);
	assert_int_equal(p->m.state, CHANGE_SLOW);
	assert_text(p->m.reason, "measured 900.0 MB/s");
	judge(p, CHANGE_SAME, "{\"value\": 1e9}", NULL);
	assert_int_equal(p->m.state, CHANGE_SAME);
	assert_string_equal(p->m.measured, "1.0 GB/s");
	assert_null(p->m.reason);
	assert_int_equal(p->m.duration, 2000);
	assert_int_equal(p->m.timings.n, 2); /* what the budget ended counts for nothing */
	assert_int_equal(p->m.timings.v[1].started, 7);
	judge(p, CHANGE_SAME, "{\"value\": 9e8}", NULL);
	judge(p, CHANGE_FAILED, NULL, "exit status 1"); /* by itself */
	assert_int_equal(p->m.state, CHANGE_FAILED);
	probes_gone(&probes);
	ynode_free(check);
}

static struct probe *bandwidth_probe(struct probes *probes, const struct ynode *check)
{
	struct checked t = as_checked("memory", check);
	struct probe *p = probe_add(probes, &t, "node0");

	probe_subject(p, "memory_bandwidth of node 0");
	probe_judges(p, &t, "min", "value", NULL);
	return p;
}

/* Whether a figure says something of the part: be it good, or bad. */
static void test_validity(void **state)
{
	static const struct {
		const char *line;
		enum change_state state;
		const char *reason;
	} t[] = {
		{"{\"value\": 2e9, \"own_pct\": 75, \"others_pct\": 99, \"switches\": 5}",
		 CHANGE_SAME, NULL},
		{"{\"value\": 2e9, \"own_pct\": 74.9}", CHANGE_INVALID,
		 "memory_bandwidth of node 0: could not be measured, disturbed: it had its CPUs "
		 "for "
		 "75% of the time (2.0 GB/s, required 1GB/s)"},
		{"{\"value\": 2e9, \"own_pct\": 99, \"invalid\": \"no window was quiet\"}",
		 CHANGE_INVALID, "disturbed: no window was quiet (2.0 GB/s"},
		{"{\"value\": 2e9, \"invalid\": \"\"}", CHANGE_SAME, NULL},
		{"{\"value\": 9e8}", CHANGE_SLOW, "measured 900.0 MB/s"},
		{"{\"value\": 9e8, \"own_pct\": 90, \"others_pct\": 20, \"switches\": 0}",
		 CHANGE_SLOW, "measured 900.0 MB/s"},
		{"{\"value\": 9e8, \"own_pct\": 89}", CHANGE_INVALID,
		 "disturbed: it had its CPUs for 89% of the time (900.0 MB/s"},
		{"{\"value\": 9e8, \"others_pct\": 21}", CHANGE_INVALID,
		 "disturbed: other work had 21% of the node's CPUs"},
		{"{\"value\": 9e8, \"switches\": 3}", CHANGE_INVALID,
		 "disturbed: other tasks ran on its CPU 3 times"},
		/* The median is well, and the time as a whole is not. */
		{"{\"value\": 2e9, \"whole\": 1e9}", CHANGE_SAME, NULL},
		{"{\"value\": 2e9, \"whole\": 9e8, \"own_pct\": 99}", CHANGE_SLOW,
		 "memory_bandwidth of node 0: measured 900.0 MB/s, required at least 1GB/s over "
		 "the "
		 "whole time, stalls included (2.0 GB/s without)"},
		{"{\"value\": 2e9, \"whole\": 9e8, \"own_pct\": 80}", CHANGE_INVALID,
		 "disturbed: it had its CPUs for 80% of the time (900.0 MB/s"},
		{"{\"value\": 2e9, \"whole\": \"fast\"}", CHANGE_SAME, NULL},
		{"{\"value\": -1, \"own_pct\": 1}", CHANGE_FAILED, "can't be at or below 0"},
	};
	struct ynode *check = check_fragment("{run: memory_bandwidth, min: 1GB/s}");

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct probes probes = {0};
		struct probe *p = bandwidth_probe(&probes, check);

		judge(p, CHANGE_SAME, t[i].line, NULL);
		assert_int_equal(p->m.state, t[i].state);
		if (t[i].reason)
			assert_text(p->m.reason, t[i].reason);
		else
			assert_null(p->m.reason);
		assert_int_equal(wants_second_look(p),
				 t[i].state == CHANGE_SLOW || t[i].state == CHANGE_INVALID);
		probes_gone(&probes);
	}
	ynode_free(check);
}

/* What two looks come to together, and what is kept of them. */
static void test_two_looks(void **state)
{
	static const char slow[] = "{\"value\": 9e8, \"whole\": 8e8, \"own_pct\": 98.5}";
	static const char fast[] = "{\"value\": 2e9}",
			  disturbed[] = "{\"value\": 2e9, \"own_pct\": 9}";
	static const struct {
		const char *lines[2];
		enum change_state state;
		enum on_fail on_fail;
		const char *reason;
	} t[] = {
		{{fast, NULL}, CHANGE_SAME, ON_FAIL_BLOCK, NULL},
		{{slow, slow}, CHANGE_SLOW, ON_FAIL_BLOCK, "measured 900.0 MB/s"},
		{{slow, fast},
		 CHANGE_INTERMITTENT,
		 ON_FAIL_DEGRADE,
		 "slow in one look of 2: measured 900.0 MB/s, then 2.0 GB/s, required 1GB/s"},
		{{disturbed, fast}, CHANGE_SAME, ON_FAIL_BLOCK, NULL},
		{{disturbed, slow}, CHANGE_SLOW, ON_FAIL_BLOCK, "measured 900.0 MB/s"},
		{{slow, disturbed},
		 CHANGE_INVALID,
		 ON_FAIL_BLOCK,
		 "9% of the time (2.0 GB/s, required "
		 "1GB/s); other work meanwhile: dracut"},
	};
	struct ynode *check =
		check_fragment("{run: memory_bandwidth, min: 1GB/s, on_intermittent: degrade}");

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct probes probes = {0};
		struct probe *p = bandwidth_probe(&probes, check);

		for (size_t k = 0; k < 2 && t[i].lines[k]; k++) {
			judge(p, CHANGE_SAME, t[i].lines[k], NULL);
			judge_look(p);
		}
		judge_looks(p, "dracut");
		assert_int_equal(p->m.state, t[i].state);
		assert_int_equal(p->m.on_fail, t[i].on_fail);
		if (t[i].reason)
			assert_text(p->m.reason, t[i].reason);
		else
			assert_null(p->m.reason);
		assert_int_equal(p->m.looks.n, t[i].lines[1] ? 2 : 0);
		if (t[i].lines[0] == slow) {
			const struct look *first = &p->m.looks.v[0];

			assert_int_equal(first->state, CHANGE_SLOW);
			assert_int_equal(first->readings.list.n, 1);
			assert_true(first->readings.list.v[0].value == 9e8);
			assert_true(first->whole == 8e8 && first->own_pct == 98.5);
			assert_true(isnan(first->others_pct));
			assert_string_equal(first->measured, "900.0 MB/s");
		}
		probes_gone(&probes);
	}
	ynode_free(check);
}

static void test_shares(void **state)
{
	static const struct {
		const char *check;
		double limit;
		const char *wanted;
	} t[] = {
		{"{run: rdma_loopback, min: 50% of line}", 25e9, "50% of line (25.0 GB/s)"},
		{"{run: rdma_loopback, min: 50% of pcie}", 30e9, "50% of pcie (30.0 GB/s)"},
		{"{run: rdma_loopback, min: 400Gb/s}", 50e9, "400Gb/s"},
		{"{run: rdma_loopback, min: 90% of set, floor: 20GB/s}", 20e9,
		 "90% of set, and 20GB/s"},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct ynode *check = check_fragment(t[i].check);
		struct probes probes = {0};
		struct probe *p = rdma_probe(&probes, check, "a");

		assert_true(p->figures[0].limit == t[i].limit);
		assert_string_equal(p->figures[0].wanted, t[i].wanted);
		assert_false(probe_is_declined(p));
		probes_gone(&probes);
		ynode_free(check);
	}
}

/* A share of what nobody knows proves nothing. */
static void test_share_of_unknown(void **state)
{
	static const struct ceilings none;
	struct ynode *check = check_fragment("{run: rdma_loopback, min: 92% of line}");
	struct probes probes = {0};
	struct checked t = as_checked("rails", check);
	struct probe *p = probe_add(&probes, &t, "a");

	(void)state;
	probe_judges(p, &t, "min", "value", &none);
	assert_true(probe_is_declined(p));
	assert_int_equal(p->m.state, CHANGE_CANNOT_MEASURE);
	assert_text(p->m.reason, "92% of line, which is unknown");
	probes_gone(&probes);
	ynode_free(check);
}

static void test_sets(void **state)
{
	static const struct {
		const char *lines[4];
		enum change_state outcomes[4];
	} t[] = {
		/* one of four below 90% of the middle of the others */
		{{"{\"value\": 50e9}", "{\"value\": 48e9}", "{\"value\": 43e9}",
		  "{\"value\": 49e9}"},
		 {CHANGE_SAME, CHANGE_SAME, CHANGE_SLOW, CHANGE_SAME}},
		/* all equally slow: above the floor they are a set, */
		{{"{\"value\": 21e9}", "{\"value\": 21e9}", "{\"value\": 21e9}",
		  "{\"value\": 21e9}"},
		 {CHANGE_SAME, CHANGE_SAME, CHANGE_SAME, CHANGE_SAME}},
		/* below it they are none */
		{{"{\"value\": 19e9}", "{\"value\": 19e9}", "{\"value\": 19e9}",
		  "{\"value\": 19e9}"},
		 {CHANGE_SLOW, CHANGE_SLOW, CHANGE_SLOW, CHANGE_SLOW}},
		/* who could not be measured has no say */
		{{"{\"value\": 50e9}", NULL, NULL, "{\"value\": 44e9}"},
		 {CHANGE_SAME, CHANGE_FAILED, CHANGE_FAILED, CHANGE_SLOW}},
	};
	struct ynode *check =
		check_fragment("{run: rdma_loopback, min: 90% of set, floor: 20GB/s}");

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		struct probes probes = {0};

		for (size_t k = 0; k < 4; k++) {
			struct probe *p = rdma_probe(&probes, check, (char[]){(char)('a' + k), 0});

			judge(p, t[i].lines[k] ? CHANGE_SAME : CHANGE_FAILED, t[i].lines[k],
			      t[i].lines[k] ? NULL : "it died");
		}
		judge_sets(&probes);
		for (size_t k = 0; k < 4; k++)
			if (probes.list.v[k]->m.state != t[i].outcomes[k])
				fail_msg("row %zu, %zu: %s", i, k,
					 state_name(probes.list.v[k]->m.state));
		if (i == 0)
			assert_string_equal(probes.list.v[2]->m.reason,
					    "rdma_loopback of c: measured 43.0 GB/s, required at "
					    "least 90% of the median of the other members (49.0 "
					    "GB/s)");
		probes_gone(&probes);
	}
	ynode_free(check);
}

/* --- causes -------------------------------------------------------------------------------- */

#define NIC "sys/bus/pci/devices/0000:3b:00.0/"

static void test_causes(void **state)
{
	static const struct tree_file machine[] = {
		{NIC "current_link_width", "8\n"},
		{NIC "max_link_width", "16\n"},
		{NIC "current_link_speed", "32.0 GT/s PCIe\n"},
		{NIC "max_link_speed", "32.0 GT/s PCIe\n"},
		{NIC "iommu_group/type", "DMA\n"},
		{"sys/devices/system/node/node0/cpulist", "0-1\n"},
		{"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0\n"},
		{"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "7\n"},
		{"proc/sys/kernel/numa_balancing", "1\n"},
	};
	struct tmp *t = *state;
	struct node node = {0};
	struct section_ctx ctx = {.root = &t->root, .node = &node};
	struct ynode *check = check_fragment("{run: rdma_loopback, min: 20GB/s}");
	struct probes probes = {0};
	struct probe *p = rdma_probe(&probes, check, "0000:3b:00.0");
	struct pci_fn fn = {.addr = "0000:3b:00.0", .numa = -1};

	tree_write(t, machine, array_len(machine));
	cpus_add(&node.nodes, 0);
	cpus_add(&node.nodes, 1);
	vec_push(&node.pci, fn);
	probe_needs_function(p, &fn);
	probe_needs_node(p, &node, 0);
	p->remedy = "look at the slot";
	judge(p, CHANGE_SAME, "{\"value\": 19e9}", NULL);
	judge_causes(&ctx, &unknown, &unknown, p);
	assert_string_equal(p->m.reason, "rdma_loopback of 0000:3b:00.0: measured 19.0 GB/s, "
					 "required at least 20GB/s");
	assert_string_equal(p->m.remedy, "look at the slot");
	assert_string_equal(
		p->m.causes,
		"likely: "
		"PCIe width of 0000:3b:00.0 is 8 lanes, and both ends are capable of 16 lanes; "
		"IOMMU of 0000:3b:00.0 translates and flushes at once (DMA; kernel_args.iommu: "
		"passthrough does not); the firmware does not report the NUMA node of "
		"0000:3b:00.0; CPUs were throttled for heat 7 times since boot; automatic NUMA "
		"balancing is "
		"on (also seen: PCIe speed of 0000:3b:00.0 32 GT/s)");
	vec_free(&node.pci);
	probes_gone(&probes);
	ynode_free(check);
}

static void add_part(struct binding *b, const char *name, const char *value)
{
	vec_push(&b->list, ((struct binding_part){xstrdup(name), xstrdup(value)}));
}

/* What was so at the last good look does not explain why the figure is lower now. */
static void test_causes_since_the_last_good_look(void **state)
{
	struct binding then = {0}, now = {0}, other = {0};
	struct causes causes = {0};
	cleanup_free char *text = NULL, *elsewhere = NULL;

	(void)state;
	add_part(&then, "automatic NUMA balancing", "on");
	add_part(&then, "MaxReadRequest of 0000:3b:00.0", "4096");
	add_part(&then, "frequency governor of node 0", "performance (acpi-cpufreq)");
	add_part(&then, "serial number of the machine", "digest 1");
	add_part(&now, "automatic NUMA balancing", "on");
	add_part(&now, "MaxReadRequest of 0000:3b:00.0", "512");
	add_part(&now, "frequency governor of node 0", "schedutil (acpi-cpufreq)");
	add_part(&now, "serial number of the machine", "digest 1");
	cause_add(&causes, true, "automatic NUMA balancing is on");
	cause_part(&causes, "automatic NUMA balancing");
	cause_add(&causes, true, "MaxReadRequest of 0000:3b:00.0 512");
	cause_part(&causes, "MaxReadRequest of %s", "0000:3b:00.0");
	cause_add(&causes, false, "frequency governor schedutil (acpi-cpufreq)");
	cause_part(&causes, "frequency governor of node 0");
	cause_add(&causes, true, "IOMMU of 0000:3b:00.0 translates"); /* not known before */
	cause_part(&causes, "IOMMU of 0000:3b:00.0");
	cause_add(&causes, true, "3 SMIs of the firmware");
	add_part(&other, "serial number of the machine", "digest 2");
	add_part(&other, "automatic NUMA balancing", "on");
	causes_compare(&causes, &other, &now);
	elsewhere = causes_text(&causes);
	assert_text(elsewhere, "likely: automatic NUMA balancing is on; ");
	causes_compare(&causes, &then, &now);
	text = causes_text(&causes);
	assert_string_equal(
		text,
		"likely: MaxReadRequest of 0000:3b:00.0 512, 4096 at the last good look; frequency "
		"governor schedutil (acpi-cpufreq), performance (acpi-cpufreq) at the last good "
		"look; IOMMU of 0000:3b:00.0 translates; 3 SMIs of the firmware (also seen: "
		"automatic NUMA balancing is on, as at the last good look)");
	causes_free(&causes);
	binding_free(&then);
	binding_free(&now);
	binding_free(&other);
}

static void test_link_ceiling(void **state)
{
	static const struct {
		const char *width, *speed;
		double want;
	} t[] = {
		{"16\n", "32.0 GT/s PCIe\n", 63.015e9},
		{"4\n", "2.5 GT/s PCIe\n", 1e9},
		{"16\n", "64.0 GT/s PCIe\n", 121e9},
		{"0\n", "8.0 GT/s PCIe\n", 0},
		{"8\n", "Unknown\n", 0}, /* what a link that is down shows */
	};
	struct tmp *tmp = *state;

	for (size_t i = 0; i < array_len(t); i++) {
		double got;

		tmp_write(tmp, NIC "max_link_width", t[i].width);
		tmp_write(tmp, NIC "max_link_speed", t[i].speed);
		got = pci_link_ceiling(&tmp->root, "0000:3b:00.0");
		if (got < t[i].want * 0.999 || got > t[i].want * 1.001)
			fail_msg("row %zu: %g", i, got);
	}
}

/* --- the whole list ------------------------------------------------------------------------ */

/* A check that is neither looked at nor measured would pass for ever. */
static void test_each_check_is_built(void **state)
{
	const struct spec *all = spec_child(spec_child(schema_profile(), "gate"), "checks");
	const struct spec *map = spec_child(all, "any");
	size_t n = 0;

	(void)state;
	for (const struct check *c; (c = check_table[n]); n++) {
		assert_string_equal(spec_child(map, "run")->words[n], c->run);
		if ((c->look || c->look_whole) == !!c->measure)
			fail_msg("%s is neither a look nor a benchmark, or both", c->run);
		/* where it may do without a set, it must be a look at the whole, too */
		if (c->look && c->look_whole == NULL && !streq(or_empty(c->required[0]), "on"))
			fail_msg("%s looks at functions, and requires no set", c->run);
		for (size_t i = 0; i < array_len(c->required) && c->required[i]; i++)
			assert_non_null(spec_field(map, c->required[i]));
		for (size_t i = 0; i < array_len(c->optional) && c->optional[i]; i++)
			assert_non_null(spec_field(map, c->optional[i]));
	}
	assert_null(spec_child(map, "run")->words[n]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_readings),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_second_look),
		cmocka_unit_test(test_validity),
		cmocka_unit_test(test_two_looks),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_share_of_unknown),
		cmocka_unit_test(test_sets),
		cmocka_unit_test_setup_teardown(test_causes, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_causes_since_the_last_good_look),
		cmocka_unit_test_setup_teardown(test_link_ceiling, tmp_setup, tmp_teardown),
		cmocka_unit_test(test_each_check_is_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
