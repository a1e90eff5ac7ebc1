/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs a function's vectors go to, who is left alone, and what is said of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kinds/kind.h"
#include "kinds/near_cpus.h"
#include "row.h"
#include "tree.h"
#include "plan/change.h"

#define FN "0000:41:00.0"
#define NODES "sys/devices/system/node/"
#define CPUS "sys/devices/system/cpu/"

/* CPUs 0-3 on node 0, 4-7 on node 1; the function is on node 1. */
static int setup(void **state)
{
	struct tree_fn fn = {.addr = FN,
			     .ids = "15b3:1021",
			     .class = "0x020000",
			     .numa = "1",
			     .driver = "mlx5_core"};
	static const struct tree_file files[] = {
		{CPUS "present", "0-7\n"},    {CPUS "online", "0-7\n"},
		{CPUS "isolated", "\n"},      {CPUS "nohz_full", "  (null)\n"},
		{NODES "online", "0-1\n"},    {NODES "node0/cpulist", "0-3\n"},
		{NODES "has_cpu", "0-1\n"},   {NODES "node1/cpulist", "4-7\n"},
		{"proc/cpuinfo", "vendor\n"},
	};

	if (tmp_setup(state) < 0)
		return -1;
	tree_pci(*state, &fn);
	tree_write(*state, files, array_len(files));
	return 0;
}

static void put(struct tmp *t, const char *text, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void put(struct tmp *t, const char *text, const char *fmt, ...)
{
	cleanup_free char *name = NULL;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vasprintf(&name, fmt, ap) >= 0);
	va_end(ap);
	tmp_write(t, name, text);
}

/* A vector with a handler, and the CPUs that it is asked to go to. */
static void make_vector(struct tmp *t, unsigned int irq, const char *cpus)
{
	put(t, "msix\n", "sys/devices/pci0000:00/" FN "/msi_irqs/%u", irq);
	put(t, cpus, "proc/irq/%u/smp_affinity_list", irq);
	put(t, cpus, "proc/irq/%u/effective_affinity_list", irq);
	put(t, "", "proc/irq/%u/mlx5_comp%u@pci:" FN "/x", irq, irq);
}

static const char *cpu_of(struct tmp *t, unsigned int irq)
{
	cleanup_free char *name = xasprintf("proc/irq/%u/smp_affinity_list", irq);

	return tree_text(t, name);
}

struct trial {
	struct ynode *value, *isolated; /* isolated: NULL, or of kernel_args.isolate_cpus */
	struct plan plan;
	struct change *c;
	struct node node;
	struct kind_ctx ctx;
};

static void begin(struct trial *x, struct tmp *t, const char *affinity, const char *isolated)
{
	*x = (struct trial){.ctx = {.root = &t->root, .running = STAGE_DEVICES}};
	assert_int_equal(node_survey(&t->root, &x->node, &t->err), 0);
	x->ctx.node = &x->node;
	x->c = plan_add(&x->plan, "irq", &kind_irq, STAGE_DEVICES, PHASE_IRQ, (struct place){0},
			"irq");
	x->value = row_value(row_find("irq", "affinity"), affinity);
	change_want(x->c, x->value);
	change_on(x->c, FN, &irq_affinity);
	if (isolated)
		x->isolated = row_value(row_find("kernel_args", "isolate_cpus"), isolated);
	x->c->on.node = x->isolated;
}

static void end(struct trial *x)
{
	plan_free(&x->plan);
	node_free(&x->node);
	ynode_free(x->value);
	ynode_free(x->isolated);
}

static void look(struct tmp *t, const char *affinity, enum change_state state, const char *observed)
{
	struct trial x;

	begin(&x, t, affinity, NULL);
	if (kind_irq.look(&x.ctx, x.c, &t->err) < 0)
		fail_msg("%s", t->err.text);
	assert_string_equal(x.c->now.found, observed);
	assert_int_equal(x.c->now.state, state);
	end(&x);
}

static void look_fails(struct tmp *t, const char *affinity, const char *isolated, const char *text)
{
	struct trial x;

	begin(&x, t, affinity, isolated);
	assert_true(kind_irq.look(&x.ctx, x.c, &t->err) < 0);
	assert_text(t->err.text, text);
	end(&x);
}

static void set(struct tmp *t, const char *affinity, const char *isolated)
{
	struct trial x;

	begin(&x, t, affinity, isolated);
	if (kind_irq.set(&x.ctx, x.c, &t->err) < 0)
		fail_msg("%s", t->err.text);
	end(&x);
}

static void expect_cpus(struct tmp *t, unsigned int first, const char *const *cpus, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_string_equal(cpu_of(t, first + (unsigned int)i), cpus[i]);
}

static void test_round_the_local_cpus(void **state)
{
	static const char *const cpus[] = {"4", "5", "6", "7", "4", "5"};
	struct tmp *t = *state;

	for (unsigned int i = 0; i < 6; i++)
		make_vector(t, 98 + i, "0-7\n");
	look(t, "local_node", CHANGE_DIFFERS, "0 of 6 vectors on node 1; irq 98 on CPUs 0-7");
	set(t, "local_node", NULL);
	expect_cpus(t, 98, cpus, array_len(cpus));
	for (unsigned int i = 0; i < 6; i++)
		put(t, cpus[i], "proc/irq/%u/effective_affinity_list", 98 + i);
	look(t, "local_node", CHANGE_SAME, "6 vectors on node 1");
}

/* Only what is wrong is moved, to where the fewest are. */
static void test_what_is_right_stays(void **state)
{
	static const char *const cpus[] = {"7\n", "5", "6\n", "4\n"};
	struct tmp *t = *state;

	make_vector(t, 10, "7\n");
	make_vector(t, 11, "3\n");
	make_vector(t, 12, "6\n");
	make_vector(t, 13, "6\n");
	look(t, "local_node", CHANGE_DIFFERS, "2 of 4 vectors on node 1; irq 11 on CPU 3");
	make_vector(t, 11, "5\n");
	look(t, "local_node", CHANGE_DIFFERS,
	     "3 of 4 vectors on node 1; irq 13 on CPU 6 with too many other vectors");
	make_vector(t, 11, "4-5\n");
	make_vector(t, 13, "4\n");
	set(t, "local_node", NULL);
	expect_cpus(t, 10, cpus, array_len(cpus));
}

static void test_isolated_and_offline_cpus(void **state)
{
	struct tmp *t = *state;

	make_vector(t, 20, "4\n");
	make_vector(t, 21, "5\n");
	tmp_write(t, CPUS "isolated", "5-6\n");
	look(t, "local_node", CHANGE_DIFFERS, "1 of 2 vectors on node 1; irq 21 on CPU 5");
	tmp_write(t, CPUS "isolated", "\n");
	tmp_write(t, CPUS "nohz_full", "4-6\n");
	set(t, "local_node", NULL);
	expect_cpus(t, 20, (const char *const[]){"7", "7"}, 2);
	/* what the profile will isolate counts too, before the boot that does it */
	tmp_write(t, CPUS "nohz_full", "\n");
	set(t, "local_node", "5,7");
	expect_cpus(t, 20, (const char *const[]){"4", "6"}, 2);
	tmp_write(t, CPUS "online", "0-5\n");
	set(t, "4-6", NULL);
	expect_cpus(t, 20, (const char *const[]){"4", "5"}, 2);
}

static void test_cpu_list(void **state)
{
	struct tmp *t = *state;

	make_vector(t, 30, "4\n");
	look(t, "2-3", CHANGE_DIFFERS, "0 of 1 vector on CPUs 2-3; irq 30 on CPU 4");
	set(t, "2-3", NULL);
	assert_string_equal(cpu_of(t, 30), "2");
}

static void test_no_cpu_is_left(void **state)
{
	struct tmp *t = *state;

	make_vector(t, 40, "4\n");
	look_fails(t, "local_node", "4-7", "all CPUs of node 1 are isolated");
	look_fails(t, "8-9", NULL, "no CPU of CPUs 8-9 is online");
	tmp_write(t, NODES "node1/cpulist", "\n");
	look_fails(t, "local_node", NULL, "node 1, which " FN " is on, has no CPUs");
	tree_fn_file(t, FN, "numa_node", "-1\n");
	look_fails(t, "local_node", NULL, "numa_node -1");
	/* of one node alone it need not be said */
	tmp_write(t, NODES "online", "0\n");
	look(t, "local_node", CHANGE_SAME, "1 vector on node 0");
}

static void test_vectors_of_others(void **state)
{
	struct tmp *t = *state;

	make_vector(t, 50, "4\n");
	make_vector(t, 51, "0-3\n");
	chmod(tmp_path(t, "proc/irq/51/smp_affinity_list"), 0444);
	look(t, "local_node", CHANGE_SAME,
	     "1 vector on node 1; 1 managed by the kernel, left alone");
	/* allocated, and no handler has asked for it: there is no affinity to be set */
	put(t, "msix\n", "sys/devices/pci0000:00/" FN "/msi_irqs/52");
	set(t, "local_node", NULL);
	look(t, "local_node", CHANGE_SAME,
	     "1 vector on node 1; 1 managed by the kernel, left alone");
}

/* A write without effect until the next interrupt is no failure, and is said. */
static void test_late_effect(void **state)
{
	struct tmp *t = *state;

	make_vector(t, 60, "4\n");
	tmp_write(t, "proc/irq/60/effective_affinity_list", "1\n");
	look(t, "local_node", CHANGE_SAME,
	     "1 vector on node 1; irq 60 moves from CPU 1 with its next interrupt");
	tmp_write(t, "proc/irq/60/effective_affinity_list", "\n");
	look(t, "local_node", CHANGE_SAME, "1 vector on node 1");
}

/* No MSI: the one line. And nothing at all, of a tree. */
static void test_line_and_nothing(void **state)
{
	struct tmp *t = *state;

	look(t, "local_node", CHANGE_DIFFERS, "unknown");
	tree_fn_file(t, FN, "irq", "11\n");
	tmp_write(t, "proc/irq/11/smp_affinity_list", "0-7\n");
	set(t, "local_node", NULL);
	assert_string_equal(cpu_of(t, 11), "4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_the_local_cpus, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_what_is_right_stays, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_isolated_and_offline_cpus, setup,
						tmp_teardown),
		cmocka_unit_test_setup_teardown(test_cpu_list, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_no_cpu_is_left, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_vectors_of_others, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_late_effect, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_line_and_nothing, setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
