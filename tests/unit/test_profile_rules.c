/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions that show only where the node is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile_tmp.h"

#define HEAD "schema: 1\nname: a\nabstract: true\n"

static struct pci_fn nics[] = {
	{.addr = "0000:3b:00.0",
	 .vendor = 0x15b3,
	 .device = 0x1021,
	 .class = 0x020000,
	 .numa = 0,
	 .driver = (char *)"mlx5_core",
	 .totalvfs = 16},
	{.addr = "0000:5e:00.0",
	 .vendor = 0x15b3,
	 .device = 0x1021,
	 .class = 0x020000,
	 .numa = 1,
	 .driver = (char *)"mlx5_core",
	 .totalvfs = 8},
	{.addr = "0000:5e:00.1",
	 .vendor = 0x15b3,
	 .device = 0x1021,
	 .class = 0x020000,
	 .numa = 1,
	 .driver = (char *)"mlx5_core"},
};

/* CPU n and n + 8 are one core; the first four cores are on node 0. */
static struct cpu_place places[16];

/* 16 CPUs, 2 NUMA nodes with 4G each, three ports of which one has no SR-IOV. */
static struct node the_node(void)
{
	struct node n = {
		.arch = (char *)"x86_64",
		.cpu_vendor = CPU_INTEL,
		.memory.bytes = 8ULL << 30,
		.pci = {.v = nics, .n = 3},
		.places = {.list = {.v = places, .n = array_len(places)}},
	};

	for (unsigned int i = 0; i < array_len(places); i++)
		places[i] = (struct cpu_place){i, (int)i % 8, (int)i % 8 / 4};
	assert_int_equal(cpus_parse("0-15", &n.cpus), 0);
	assert_int_equal(cpus_parse("0-1", &n.nodes), 0);
	assert_int_equal(cpus_parse("0-1", &n.nodes_with_cpu), 0);
	return n;
}

struct rule_case {
	const char *text, *says; /* NULL: nothing is wrong */
};

#define RAILS "devices: {rails: {pci: \"15b3:1021\"}}\n"
#define BOTH                                                                          \
	"devices: {near: {driver: mlx5_core}, one: {pci: \"15b3:1021\", ports: 1},\n" \
	"  two: {pci: \"15b3:1021\", ports: 2}, cap: {address: \"0000:*:00.0\"}}\n"

static const struct rule_case cases[] = {
	{RAILS "sriov: {rails: {vfs: 4}}\n",
	 "warning: sriov.rails.vfs: 0000:5e:00.1 has no SR-IOV capability"},
	{BOTH "sriov: {cap: {vfs: 12}}\n",
	 "warning: sriov.cap.vfs: 0000:5e:00.0 supports at most 8 VFs"},
	/* of all cards: the machine's fault as of one, and no reason to refuse all else */
	{BOTH "sriov: {cap: {vfs: 17}}\n",
	 ":6:20: warning: sriov.cap.vfs: 0000:3b:00.0 supports at most 16 VFs"},
	{"devices: {a: {address: \"0000:3b:00.0\"}, b: {address: \"0000:5e:00.0\"}}\n"
	 "sriov: {a: {vfs: 16}, b: {vfs: 12}}\n",
	 "warning: sriov.b.vfs: 0000:5e:00.0 supports at most 8 VFs"},
	{BOTH "sriov: {cap: {vfs: 8}}\n", NULL},
	{BOTH "sriov: {cap: {vfs: max}}\n", NULL},
	{RAILS "sriov: {rails: {vfs: 0}}\n", NULL},
	/* receive rings: 3 x 16 x 8192 x 2K is 768M of 8G, and 3 x 16 x 1024 x 2K less than 2 % */
	{RAILS "link: {rails: {rings: {rx: 8192}}}\n",
	 "warning: link: buffers of receive rings take 768M at least (3 functions x 16 queues x "
	 "8192 descriptors x 2K) of 8192M of memory"},
	{RAILS "link: {rails: {rings: {rx: 1024}}}\n", NULL},
	{RAILS "link: {rails: {rings: {tx: 8192}, mtu: 9000}}\n", NULL},
	{RAILS "link: {rails: {rings: {rx: 8192}, channels: {combined: 2}}}\n", NULL},
	{"devices: {all: {driver: mlx5_core}, far: {in: all, numa: 1}, none: {pci: \"15b3:1017\", "
	 "expect: \">=0\"}}\n"
	 "link: {all: {rings: {rx: 8192}, mtu: 9000}, far: {mtu: 1500, channels: {rx: 1}}, "
	 "none: {rings: {rx: 8192}}}\n",
	 "take 1568M at least (1 function x 16 queues x 8192 descriptors x 12K + 2 functions x 1 "
	 "queue x 8192 descriptors x 2K) of"},
	/* the narrower set's count is what holds for its functions */
	{"devices: {all: {driver: mlx5_core, address: \"*.0\"}, b: {in: all, numa: 1}}\n"
	 "sriov: {all: {vfs: 16}, b: {vfs: 8}}\n",
	 NULL},
	{"devices: {all: {driver: mlx5_core, address: \"*.0\"}, b: {in: all, numa: 1}}\n"
	 "sriov: {all: {vfs: 8}, b: {vfs: 9}}\n",
	 ":5:33: warning: sriov.b.vfs: 0000:5e:00.0 supports at most 8"},
	/* only what they share counts, and only where it differs */
	{BOTH "sriov: {near: {vfs: 0}, cap: {vfs: 4}}\n",
	 "sriov.cap.vfs: 'near' sets a different value at 6:21, and the two sets share functions "
	 "on this machine"},
	{BOTH "sriov: {one: {vfs: 2}, two: {vfs: 0}}\n", NULL},
	{BOTH "sriov: {one: {vfs: 2}, cap: {vfs: 2}}\n", NULL},
	{BOTH "sriov: {one: {vfs: 2}, cap: {timeout: 9s, vfs: 2}}\n", NULL},
	{BOTH "sriov: {one: {vfs: 2, timeout: 8s}, cap: {timeout: 9s, vfs: 2}}\n",
	 "sriov.cap.timeout: 'one' sets a different value"},
	{BOTH "sriov: {two: {vfs: 0}, one: {vfs: 4}}\n"
	      "gate: {checks: {a: {run: iommu_groups, on: vfs of two}}}\n",
	 "gate.checks.a.on: sriov: gives two no VFs"},
	{BOTH "sriov: {one: {vfs: 4}}\n"
	      "gate: {checks: {a: {run: iommu_groups, on: vfs of near}}}\n",
	 NULL},
	{"kernel_args: {isolate_cpus: \"2-15,20\"}\n",
	 "this machine has no CPU 20; its last CPU is 15"},
	{"kernel_args: {isolate_cpus: 2-15}\n", NULL},
	{"kernel_args: {isolate_cpus: 1-15}\n", "warning: kernel_args.isolate_cpus: only CPU 0"},
	{"kernel_args: {isolate_cpus: {keep: 3 per node}}\n", NULL},
	{"kernel_args: {isolate_cpus: {keep: 4 per node}}\n",
	 "kernel_args.isolate_cpus.keep: NUMA node 0 has 4 cores (CPUs 0-3,8-11), and "
	 "keeping 4 of them leaves none to isolate; keep fewer"},
	{"kernel_args: {isolate_cpus: {keep: 2 per node}, set: [\"rcu_nocbs=2,10\"]}\n",
	 "warning: kernel_args.set: rcu_nocbs=2,10: isolate_cpus:"},
	{"kernel_args: {isolate_cpus: {keep: 3 per node}, set: [\"rcu_nocbs=2,10\"]}\n", NULL},
	{"devices: {rails: {pci: \"15b3:1021\"}}\n"
	 "kernel_args: {isolate_cpus: {keep: 1 per node}}\nirq: {rails: {affinity: 2-3}}\n",
	 "irq.rails.affinity: isolate_cpus: 1 per node (at"},
	{"devices: {rails: {pci: \"15b3:1021\"}}\n"
	 "kernel_args: {isolate_cpus: {keep: 1 per node}}\nirq: {rails: {affinity: \"0,3\"}}\n",
	 NULL},
	{"kernel_args: {set: [\"isolcpus=managed_irq,domain,2-16\"]}\n",
	 "kernel_args.set: this machine has no CPU 16"},
	{"kernel_args: {set: [irqaffinity=0-16]}\n", "this machine has no CPU 16"},
	{RAILS "irq: {rails: {affinity: 8-17}}\n",
	 "irq.rails.affinity: this machine has no CPU 16-17"},
	{"gate: {checks: {a: {run: jitter, cpus: 15-16, p9999: 9us}}}\n",
	 "gate.checks.a.cpus: this machine has no CPU 16"},
	{"hugepages: [{size: 1G, nodes: {0: 1, 2: 1}}]\n", "this machine has no NUMA node 2"},
	{"hugepages: [{size: 1G, per_node: 3}, {size: 2M, nodes: {0: 2048}}]\n",
	 "warning: hugepages: the pages need 10240M, but this machine has 8192M of memory"},
	{"hugepages: [{size: 1G, per_node: 2}, {size: 2M, nodes: {0: 1024}}]\n", NULL},
	{"hugepages: [{size: 512M, per_node: 2}]\n", "x86 has no pages of 512M"},
	/* a profile for any vendor is no mistake on one of them */
	{"kernel_args: {set: [amd_pstate=active]}\n",
	 "warning: kernel_args.set: amd_pstate=active: the kernel reads it on amd CPUs only"},
	{"kernel_args: {set: [intel_iommu=on]}\n", NULL},
	{"expect: {cpu_vendor: amd}\nkernel_args: {set: [amd_pstate=active]}\n", NULL},
};

static void each_case(void **state)
{
	struct tmp *t = *state;
	struct node node = the_node();

	for (size_t i = 0; i < array_len(cases); i++) {
		char *text = xasprintf("%s%s", HEAD, cases[i].text);
		struct profile *p = NULL;

		tmp_write(t, "a.yaml", text);
		profile_load_named(&t->root, tmp_path(t, "a.yaml"), &node, &p, &t->diags, &t->err);
		if (!cases[i].says && t->diags.list.n)
			tmp_print(&t->diags);
		if (cases[i].says)
			assert_says(&t->diags, cases[i].says);
		else
			assert_int_equal(t->diags.list.n, 0);
		profile_free(p);
		diags_free(&t->diags);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_case, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
