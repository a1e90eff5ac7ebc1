/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is measured of memory and CPUs: which words the bench program is given, where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/causes.h"
#include "gate/judge.h"
#include "probe_run.h"
#include "fragment.h"
#include "tree.h"

#define NODES "sys/devices/system/node/"

/* CPUs 0-3 and 4-7; node 2 has memory only. */
static int setup(void **state)
{
	static const struct tree_file files[] = {
		{NODES "node0/cpulist", "0-3\n"},
		{NODES "node1/cpulist", "4-7\n"},
		{NODES "node2/cpulist", "\n"},
		{"sys/devices/system/cpu/isolated", "6-7\n"},
	};

	if (tmp_setup(state) < 0)
		return -1;
	tree_write(*state, files, array_len(files));
	return 0;
}

/* The probes of a check named "x" under a profile. */
struct trial {
	struct profile profile;
	struct node node;
	struct section_ctx ctx;
	struct ynode *check;
	struct probes probes;
};

static void begin_on(struct trial *x, struct tmp *t, const char *nodes, const char *profile,
		     const char *check)
{
	*x = (struct trial){.profile = {.doc = fragment(profile)}, .check = check_fragment(check)};
	x->ctx = (struct section_ctx){.root = &t->root, .node = &x->node, .profile = &x->profile};
	cpus_parse("0-2", &x->node.nodes);
	cpus_parse(nodes, &x->node.nodes_with_cpu);
	check_measures(&x->ctx, "x", x->check, &x->probes);
}

static void begin(struct trial *x, struct tmp *t, const char *profile, const char *check)
{
	begin_on(x, t, "0-1", profile, check);
}

static void end(struct trial *x)
{
	struct measurements all = {0};

	for (size_t i = 0; i < x->probes.list.n; i++)
		vec_push(&all.list, x->probes.list.v[i]->m);
	measurements_free(&all);
	probes_free(&x->probes);
	ynode_free(x->profile.doc);
	ynode_free(x->check);
}

/* "gate/x/node0: memory_latency --node 0 --page 4K @node0" */
static char *text_of(const struct probe *p)
{
	struct str out = {0};

	str_addf(&out, "%s:", p->m.id);
	for (size_t i = 1; i < p->argv.n; i++)
		str_addf(&out, " %s", p->argv.v[i]);
	for (size_t i = 0; i < p->resources.n; i++)
		str_addf(&out, " @%s", p->resources.v[i]);
	if (p->m.reason)
		str_addf(&out, " -- %s", p->m.reason);
	return str_take(&out);
}

static void check(struct tmp *t, const char *profile, const char *check, const char *const *want)
{
	struct trial x;
	size_t n = 0;

	begin(&x, t, profile, check);
	for (; want[n]; n++) {
		assert_true(n < x.probes.list.n);
		cleanup_free char *text = text_of(x.probes.list.v[n]);

		assert_string_equal(text, want[n]);
	}
	assert_int_equal(x.probes.list.n, n);
	end(&x);
}

static void test_nodes(void **state)
{
	static const char *const arm64[] = {
		"gate/x/node0: memory_latency --node 0 --page 512M @node0",
		"gate/x/node1: memory_latency --node 1 --page 512M @node1",
		NULL,
	};
	static const char *const bandwidth[] = {
		"gate/x/node0: memory_bandwidth --node 0 --page 1G @node0",
		"gate/x/node1: memory_bandwidth --node 1 --page 1G @node1",
		NULL,
	};
	static const char *const latency[] = {
		"gate/x/node0: memory_latency --node 0 --page 4K @node0",
		"gate/x/node1: memory_latency --node 1 --page 4K @node1",
		NULL,
	};

	check(*state, "{hugepages: [{size: 1G, count: 2, node: 0}]}",
	      "{run: memory_bandwidth, per: node, min: 100GB/s}", bandwidth);
	check(*state, "{name: a}", "{run: memory_latency, per: node, max: 150ns}", latency);
	check(*state, "{hugepages: [{size: 2M}, {size: 512M}, {size: 16G}]}",
	      "{run: memory_latency, per: node, max: 150ns}", arm64);
}

/* All ordered pairs; memory without CPUs is reached from both. */
static void test_pairs(void **state)
{
	static const char *const want[] = {
		"gate/x/node0-from-node1: memory_latency --node 0 --from 1 --page 4K @node0 @node1",
		"gate/x/node1-from-node0: memory_latency --node 1 --from 0 --page 4K @node1 @node0",
		"gate/x/node2-from-node0: memory_latency --node 2 --from 0 --page 4K @node2 @node0",
		"gate/x/node2-from-node1: memory_latency --node 2 --from 1 --page 4K @node2 @node1",
		NULL,
	};

	check(*state, "{name: a}", "{run: memory_latency, per: node_pair, max: 250ns}", want);
}

static void test_figures(void **state)
{
	struct trial x;

	begin(&x, *state, "{name: a}", "{run: memory_latency, per: node_pair, max: 250ns}");
	const struct probe *p = x.probes.list.v[0];

	assert_string_equal(p->subject, "memory_latency of node 0 from node 1");
	assert_int_equal(p->n_figures, 1);
	assert_string_equal(p->figures[0].key, "value");
	assert_true(quantities[p->figures[0].quantity].at_most);
	assert_int_equal(p->figures[0].limit, 250);
	assert_int_equal(p->budget_ms, 600);
	end(&x);
}

/* What nodes of these rates come to, in GB/s: "ok slow". */
static void check_set(struct tmp *t, const char *nodes, const char *more, const int *rates,
		      const char *want)
{
	cleanup_free char *check = xasprintf(
		"{run: memory_bandwidth, per: node, min: 95%% of set, floor: 180GB/s%s}", more);
	cleanup_str struct str got = {0};
	struct trial x;

	begin_on(&x, t, nodes, "{name: a}", check);
	for (size_t i = 0; i < x.probes.list.n; i++) {
		struct bench_job job = {
			.state = CHANGE_SAME,
			.result = json_pack("{s:f}", "value", rates[i] * 1e9),
		};

		judge_probe(x.probes.list.v[i], &job);
		json_decref(job.result);
	}
	judge_sets(&x.probes);
	for (size_t i = 0; i < x.probes.list.n; i++)
		str_addf(&got, "%s%s", i ? " " : "",
			 x.probes.list.v[i]->m.state == CHANGE_SLOW ? "slow" : "ok");
	assert_string_equal(str_get(&got), want);
	end(&x);
}

/* A socket that has lost 1 of 12 channels reaches 91.7% of the other one's rate. */
static void test_sockets_beside_each_other(void **state)
{
	struct tmp *t = *state;

	check_set(t, "0-1", "", (const int[]){360, 330}, "ok slow");
	check_set(t, "0-1", "", (const int[]){330, 360}, "slow ok");
	check_set(t, "0-1", "", (const int[]){360, 345}, "ok ok");
	/* the same loss on both is that of no one: only the floor is left */
	check_set(t, "0-1", "", (const int[]){330, 330}, "ok ok");
	check_set(t, "0-1", "", (const int[]){170, 170}, "slow slow");
	/* a node without others */
	check_set(t, "0", "", (const int[]){181}, "ok");
	check_set(t, "0", "", (const int[]){179}, "slow");
	/* nodes that differ by design */
	check_set(t, "0-1", ", members: {node1: {min: 60% of set}}", (const int[]){360, 240},
		  "ok ok");
	check_set(t, "0-1", ", members: {node1: {min: 60% of set}}", (const int[]){360, 210},
		  "ok slow");
}

static void test_jitter(void **state)
{
	static const char *const list[] = {"gate/x/cpus: jitter --cpus 2-5 @node0 @node1", NULL};
	static const char *const booted[] = {"gate/x/cpus: jitter --cpus 6-7 @node1", NULL};
	static const char *const planned[] = {"gate/x/cpus: jitter --cpus 1-3 @node0", NULL};
	static const char *const none[] = {
		"gate/x/cpus: jitter -- gate/x/cpus: no CPU is isolated: kernel_args.isolate_cpus "
		"isolates some, or write a list of CPUs",
		NULL,
	};
	struct tmp *t = *state;

	check(t, "{name: a}", "{run: jitter, cpus: 2-5, p9999: 20us}", list);
	check(t, "{name: a}", "{run: jitter, cpus: isolated, p9999: 20us}", booted);
	check(t, "{kernel_args: {isolate_cpus: 1-3}}", "{run: jitter, cpus: isolated, p9999: 20us}",
	      planned);
	tmp_write(t, "sys/devices/system/cpu/isolated", "\n");
	check(t, "{name: a}", "{run: jitter, cpus: isolated, p9999: 20us}", none);
}

/* --- what the line says of a slow one ------------------------------------------------------ */

static void check_causes(const char *line, const char *want)
{
	struct causes causes = {0};
	json_t *json = json_loads(line, 0, NULL);

	assert_non_null(json);
	causes_of_line(json, &causes);
	cleanup_free char *text = causes_text(&causes);

	assert_string_equal(text, want);
	causes_free(&causes);
	json_decref(json);
}

static void test_causes(void **state)
{
	(void)state;
	check_causes("{\"value\": 5, \"spread_pct\": 9.0, \"own_pct\": 95.1, \"steal_pct\": 5}",
		     "");
	check_causes("{\"own_pct\": 78.6, \"steal_pct\": 5.1}",
		     "likely: a hypervisor took the CPUs for 5% of the time; other work had the "
		     "CPUs for 21% of the time");
	check_causes("{\"value\": 100, \"whole\": 95, \"own_pct\": 100}", "");
	check_causes("{\"value\": 100, \"whole\": 80}",
		     "likely: stalls that no other task accounts for took 20% of the time (SMIs, a "
		     "CPU that is halted against heat, a hypervisor)");
	check_causes("{\"value\": 80, \"whole\": 100}", /* ns */
		     "likely: stalls that no other task accounts for took 20% of the time (SMIs, a "
		     "CPU that is halted against heat, a hypervisor)");
	check_causes("{\"smi\": 3, \"steal_ms\": 40, \"switches\": 7, \"cpu\": 5, "
		     "\"top_interrupt\": \"36 nvme0q1\", \"top_interrupt_count\": 900}",
		     "likely: 3 SMIs of the firmware; a hypervisor took the CPU for 40 ms; other "
		     "tasks ran on the CPU 7 times; interrupted most often by 36 nvme0q1, 900 "
		     "times (also seen: the CPU is 5)");
	check_causes("{\"smi\": \"unknown\", \"steal_ms\": \"unknown\", \"switches\": 0, "
		     "\"top_interrupt\": \"LOC Local timer interrupts\", "
		     "\"top_interrupt_count\": 125}",
		     "seen: SMIs are not counted (module msr, Intel only); interrupted most often "
		     "by LOC Local timer interrupts, 125 times");
	check_causes("{\"smi\": 0}", "seen: 0 SMIs of the firmware");
}

#define FREQ "sys/devices/system/cpu/cpu0/cpufreq/"

static void check_governor(struct tmp *t, const char *governor, const char *driver,
			   const char *want)
{
	struct trial x;
	struct cpus nodes = {0};
	struct causes causes = {0};

	tmp_write(t, FREQ "scaling_governor", governor);
	tmp_write(t, FREQ "scaling_driver", driver);
	begin(&x, t, "{name: a}", "{run: memory_latency, per: node, max: 150ns}");
	cpus_add(&nodes, 0);
	causes_of_nodes(&x.ctx, &nodes, &causes);
	cleanup_free char *text = causes_text(&causes);

	assert_string_equal(text, want);
	causes_free(&causes);
	end(&x);
}

static void test_governor(void **state)
{
	check_governor(*state, "powersave\n", "acpi-cpufreq\n",
		       "likely: frequency governor powersave (acpi-cpufreq) (also seen: no "
		       "thermal throttling counted)");
	check_governor(*state, "powersave\n", "intel_pstate\n",
		       "seen: no thermal throttling counted; frequency governor powersave "
		       "(intel_pstate)");
	check_governor(*state, "performance\n", "acpi-cpufreq\n",
		       "seen: no thermal throttling counted; frequency governor performance "
		       "(acpi-cpufreq)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nodes, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_pairs, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_figures, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_sockets_beside_each_other, setup,
						tmp_teardown),
		cmocka_unit_test_setup_teardown(test_jitter, setup, tmp_teardown),
		cmocka_unit_test(test_causes),
		cmocka_unit_test_setup_teardown(test_governor, setup, tmp_teardown),
	};

	return cmocka_run_group_tests_name("gate_memory", tests, NULL, NULL);
}
