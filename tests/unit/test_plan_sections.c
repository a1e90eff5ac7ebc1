/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profile text and a small machine in, the list of changes out: ids, stages, phases and
 * lanes are what everything after relies on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hooks.h"
#include "kinds/kind.h"
#include "sections/members.h"
#include "planned.h"
#include "reason.h"

static const struct tree_file machine[] = {
	{"proc/cpuinfo", "vendor_id : GenuineIntel\n"},
	{"proc/meminfo", "MemTotal: 33554432 kB\n"},
	{"sys/devices/system/cpu/present", "0-7\n"},
	{"sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"},
	{"sys/devices/system/cpu/cpu7/topology/physical_package_id", "1\n"},
	{"sys/devices/system/node/online", "0-2\n"},
	{"sys/devices/system/node/has_cpu", "0-1\n"},
};

static const struct tree_fn functions[] = {
	{"0000:3b:00.0", "15b3:1021", "0x020000", "0", "mlx5_core", "eth0", .vfs = "4"},
	{"0000:3b:00.1", "15b3:1021", "0x020000", "0", "mlx5_core", "eth1", .vfs = "4"},
	{"0000:81:00.0", "8086:10c9", "0x020000", "1", "igb", "eth2", .vfs = "7"},
};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	tree_write(*state, machine, array_len(machine));
	for (size_t i = 0; i < array_len(functions); i++)
		tree_pci(*state, &functions[i]);
	return 0;
}

static const char *const phase_names[PHASE_COUNT] = {
	[PHASE_FILES] = "files",	 [PHASE_MEMORY] = "memory", [PHASE_MODULES] = "modules",
	[PHASE_SYSCTL] = "sysctl",	 [PHASE_SYSFS] = "sysfs",   [PHASE_LINK_UP] = "link_up",
	[PHASE_AUTOPROBE_HOLD] = "hold", [PHASE_NUMVFS] = "numvfs", [PHASE_AUTOPROBE] = "autoprobe",
	[PHASE_VF_DRIVER] = "vf_driver", [PHASE_LATE] = "late",	    [PHASE_CHECK] = "check",
};

/* "ID STAGE.PHASE [LANE] KIND TARGET = DESIRED", and what else is out of the ordinary. */
static void describe(const struct change *c, struct str *out)
{
	static const char *const compare[COMPARE_VERSION + 1] = {
		[COMPARE_LIST] = " list",	[COMPARE_WORDS] = " words",
		[COMPARE_SWITCH] = " switch",	[COMPARE_AT_LEAST] = " at-least",
		[COMPARE_PARAM] = " param",	[COMPARE_MASK] = " mask",
		[COMPARE_VERSION] = " version",
	};

	str_addf(out, "%s %s.%s [%s] %s %s = %s", c->id, stage_name(c->stage),
		 phase_names[c->phase], c->lane, c->kind->name, c->target, c->desired);
	str_add(out, or_empty(compare[c->compare]));
	if (c->waits_for)
		str_addf(out, " waits-for %s", c->waits_for);
	if (c->while_id)
		str_addf(out, " while %s", c->while_id);
	if (c->on_fail)
		str_addf(out, " on-fail %s", on_fail_name(c->on_fail));
	str_add(out, c->steady ? " steady" : "");
	str_add(out, c->optional ? " optional" : "");
	str_add(out, c->late ? " late" : "");
	str_add(out, c->settles ? " settles" : "");
	if (c->settles && c->deadline_ms)
		str_addf(out, " %u", c->deadline_ms);
	str_add(out, "\n");
}

/* The changes of one section, or of all (NULL). */
static char *description(const struct planned *p, const char *section)
{
	struct str out = {0};

	for (size_t i = 0; i < p->plan.list.n; i++)
		if (!section || streq(p->plan.list.v[i]->section, section))
			describe(p->plan.list.v[i], &out);
	return str_take(&out);
}

static void gives(struct tmp *t, const char *section, const char *text, const char *want)
{
	cleanup_free char *got = NULL;
	struct planned p;

	planned_make(t, text, &p);
	if (p.result < 0)
		fail_msg("%s: %s", text, p.err.text);
	got = description(&p, section);
	if (!streq(got, want)) {
		/* fail_msg would cut it */
		fprintf(stderr, "%s\ngives\n%s\nnot\n%s\n", text, got, want);
		fail();
	}
	planned_free(&p);
}

/* --- kernel arguments -------------------------------------------------------------------- */

static void test_iommu(void **state)
{
	static const char *const cpuinfo[] = {
		[CPU_INTEL] = "vendor_id : GenuineIntel\n",
		[CPU_AMD] = "vendor_id : AuthenticAMD\n",
		[CPU_ARM] = "CPU implementer : 0x41\n",
		[CPU_UNKNOWN] = "vendor_id : CentaurHauls\n",
	};
	static const struct {
		const char *word;
		enum cpu_vendor vendor;
		const char *args; /* NULL: refused */
	} t[] = {
		{"disabled", CPU_INTEL, "intel_iommu=off"},
		{"disabled", CPU_AMD, "amd_iommu=off"},
		{"disabled", CPU_ARM, NULL},
		{"passthrough", CPU_INTEL, "intel_iommu=on iommu=pt"},
		{"passthrough", CPU_AMD, "iommu=pt"},
		{"passthrough", CPU_ARM, "iommu.passthrough=1"},
		{"passthrough", CPU_UNKNOWN, NULL},
		{"lazy", CPU_INTEL, "intel_iommu=on iommu=nopt iommu.strict=0"},
		{"lazy", CPU_AMD, "iommu=nopt iommu.strict=0"},
		{"lazy", CPU_ARM, "iommu.passthrough=0 iommu.strict=0"},
		{"strict", CPU_INTEL, "intel_iommu=on iommu=nopt iommu.strict=1"},
		{"strict", CPU_AMD, "iommu=nopt iommu.strict=1"},
		{"strict", CPU_ARM, "iommu.passthrough=0 iommu.strict=1"},
		{"strict", CPU_UNKNOWN, NULL},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf("kernel_args: {iommu: %s}\n", t[i].word);
		cleanup_free char *line = NULL;
		struct planned p;

		tmp_write(*state, "proc/cpuinfo", cpuinfo[t[i].vendor]);
		planned_make(*state, text, &p);
		if (t[i].args) {
			assert_int_equal(p.result, 0);
			line = kargs_line(&p.kargs);
			assert_string_equal(line, t[i].args);
		} else {
			assert_int_equal(p.result, -EOPNOTSUPP);
			assert_text(p.err.text, "kernel_args: iommu: ");
			assert_text(p.err.text, cpu_vendor_name(t[i].vendor));
		}
		planned_free(&p);
	}
}

static void test_isolation(void **state)
{
	static const struct {
		const char *present, *list, *args;
		int code;
	} t[] = {
		{"0-7", "2-7", "isolcpus=2-7 nohz_full=2-7 irqaffinity=0-1", 0},
		{"0-7", "3,1-2,5", "isolcpus=1-3,5 nohz_full=1-3,5 irqaffinity=0,4,6-7", 0},
		{"0-7", "1-8", "isolate_cpus: CPU 8 does not exist; this node has CPUs 0-7",
		 -ERANGE},
		/* a tree without CPUs in it: what the rest is, is not known */
		{"", "2-7", "isolcpus=2-7 nohz_full=2-7", 0},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text =
			xasprintf("kernel_args: {isolate_cpus: \"%s\"}\n", t[i].list);
		cleanup_free char *line = NULL;
		struct planned p;

		tmp_write(*state, "sys/devices/system/cpu/present", t[i].present);
		planned_make(*state, text, &p);
		assert_int_equal(p.result, t[i].code);
		line = kargs_line(&p.kargs);
		if (p.result < 0)
			assert_text(p.err.text, t[i].args);
		else
			assert_string_equal(line, t[i].args);
		planned_free(&p);
	}
}

/* A machine's CPUs, and what each core and each node has of them. */
static void write_cores(struct tmp *t, const char *online, const char *const *cores,
			const char *const *nodes)
{
	struct cpus core;

	tmp_write(t, "sys/devices/system/cpu/present", "0-7");
	tmp_write(t, "sys/devices/system/cpu/online", online);
	for (unsigned int n = 0; n < 8; n++) { /* of the case before */
		cleanup_free char *path =
			xasprintf("sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", n);

		tmp_write(t, path, "");
	}
	for (size_t i = 0; cores[i]; i++) {
		assert_int_equal(cpus_parse(cores[i], &core), 0);
		for (int n = cpus_next(&core, -1); n >= 0; n = cpus_next(&core, n)) {
			cleanup_free char *path = xasprintf(
				"sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", n);

			tmp_write(t, path, cores[i]);
		}
	}
	for (size_t i = 0; nodes[i]; i++) {
		cleanup_free char *path = xasprintf("sys/devices/system/node/node%zu/cpulist", i);

		tmp_write(t, path, nodes[i]);
	}
}

/* Cores stay, not CPUs: the siblings of both numberings, and a node of memory alone. */
static void test_isolation_but_for_cores(void **state)
{
	static const struct {
		const char *online, *cores[9], *nodes[4], *keep, *args;
		int code;
	} t[] = {
		/* siblings are the second half, as on x86 */
		{"0-7",
		 {"0,4", "1,5", "2,6", "3,7"},
		 {"0-1,4-5", "2-3,6-7", ""},
		 "1 per node",
		 "isolcpus=1,3,5,7 nohz_full=1,3,5,7 irqaffinity=0,2,4,6",
		 0},
		/* siblings are neighbours, as on POWER and in many guests */
		{"0-7",
		 {"0-1", "2-3", "4-5", "6-7"},
		 {"0-3", "4-7", ""},
		 "1 per node",
		 "isolcpus=2-3,6-7 nohz_full=2-3,6-7 irqaffinity=0-1,4-5",
		 0},
		/* no SMT; nodes take turns */
		{"0-7",
		 {"0", "1", "2", "3", "4", "5", "6", "7"},
		 {"0,2,4,6", "1,3,5,7", ""},
		 "3 per node",
		 "isolcpus=6-7 nohz_full=6-7 irqaffinity=0-5",
		 0},
		/* what is offline, and was not isolated, is for the system when it comes back */
		{"0-2,4-6",
		 {"0,4", "1,5", "2,6"},
		 {"0-1,4-5", "2,6", ""},
		 "1 per node",
		 "NUMA node 1 has 1 core (CPUs 2,6), and keeping 1 of them leaves none to isolate; "
		 "keep "
		 "fewer",
		 -ERANGE},
		{"0-5",
		 {"0,4", "1,5", "2", "3"},
		 {"0-1,4-5", "2-3", ""},
		 "1 per node",
		 "isolcpus=1,3,5 nohz_full=1,3,5 irqaffinity=0,2,4,6-7",
		 0},
		{"0-7",
		 {"0,4", "1,5", "2,6", "3,7"},
		 {"0-1,4-5", "2-3,6-7", ""},
		 "2 per node",
		 "NUMA node 0 has 2 cores (CPUs 0-1,4-5), and keeping 2 of them leaves none to "
		 "isolate",
		 -ERANGE},
		{"0-7",
		 {"0,4", "1,5", "2,6"},
		 {"0-1,4-5", "2-3,6-7", ""},
		 "1 per node",
		 "CPU 3 has no list of SMT siblings",
		 -ENODATA},
		{"0-7",
		 {"0,4", "1,5", "2,6", "3,7"},
		 {"0-1,4-5", "2-3,6", ""},
		 "1 per node",
		 "CPU 7 is in no NUMA node's cpulist",
		 -ENODATA},
		/* a list that lacks the CPU itself says nothing */
		{"0-7",
		 {"0,4", "1,5", "2,6", "3"},
		 {"0-1,4-5", "2-3,6-7", ""},
		 "1 per node",
		 "CPU 7 has no list of SMT siblings",
		 -ENODATA},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text =
			xasprintf("kernel_args: {isolate_cpus: {keep: %s}}\n", t[i].keep);
		cleanup_free char *line = NULL;
		struct planned p;

		write_cores(*state, t[i].online, t[i].cores, t[i].nodes);
		planned_make(*state, text, &p);
		line = kargs_line(&p.kargs);
		if (p.result != t[i].code)
			fail_msg("%zu: %d, %s, %s", i, p.result, line, p.err.text);
		if (p.result < 0) {
			assert_text(p.err.text, t[i].args);
			assert_text(p.err.text, "in a list");
		} else {
			assert_string_equal(line, t[i].args);
		}
		planned_free(&p);
	}
}

static void test_kernel_args(void **state)
{
	gives(*state, "kernel_args",
	      "kernel_args: {iommu: passthrough, isolate_cpus: 4-7, set: [pci=realloc, nosmt]}\n"
	      "hugepages: [{size: 1G, per_node: 2, default: true}]\n",
	      "kernel_args/next_boot gate.check [] bootenv  = intel_iommu=on iommu=pt "
	      "isolcpus=4-7 nohz_full=4-7 irqaffinity=0-3 pci=realloc nosmt "
	      "default_hugepagesz=1G hugepagesz=1G hugepages=0:2,1:2\n"
#define ISOLATES(name, text)                                                          \
	"kernel_args/isolate_cpus/" name " gate.check [] check cpus:" name " = " text \
	" waits-for kernel_args/next_boot"
#define ARRIVED(arg)                                                   \
	"kernel_args/arrived/" arg " gate.check [] check cmdline:" arg \
	" = on the command line waits-for kernel_args/next_boot\n"
	      ARRIVED("intel_iommu=on") ARRIVED("iommu=pt") ARRIVED("isolcpus=4-7")
		      ARRIVED("nohz_full=4-7") ARRIVED("irqaffinity=0-3") ARRIVED("pci=realloc")
			      ARRIVED("nosmt") /* page counts tell of the others */
	      ISOLATES("isolated", "CPUs 4-7") "\n" ISOLATES("tickless", "CPUs 4-7") "\n" ISOLATES(
		      "workqueues", "none of CPUs 4-7") " on-fail warn\n"
							"kernel_args/loader gate.check [] check "
							"loader = menu entries use them "
							"on-fail warn\n");
	/* none wanted: what an earlier profile left must still go */
	gives(*state, NULL, "", "kernel_args/next_boot gate.check [] bootenv  = \n");
}

/* --- hugepages --------------------------------------------------------------------------- */

#define NO_ARGS "kernel_args/next_boot gate.check [] bootenv  = \n"

static void test_hugepages(void **state)
{
	static const struct {
		const char *text, *args, *changes;
	} t[] = {
		/* per_node: those nodes that have CPUs */
		{"{size: 2M, per_node: 512, at: runtime}", "",
		 "hugepages/2M/node0 initrd.memory [node0] attr /sys/devices/system/node/node0/"
		 "hugepages/hugepages-2048kB/nr_hugepages = 512\n"
		 "hugepages/2M/node1 initrd.memory [node1] attr /sys/devices/system/node/node1/"
		 "hugepages/hugepages-2048kB/nr_hugepages = 512\n"},
		{"{size: 1G, per_node: 4, at: boot}", "hugepagesz=1G hugepages=0:4,1:4",
		 "hugepages/1G/node0 gate.check [] check pages:1048576:0 = 4 waits-for "
		 "kernel_args/next_boot\n"
		 "hugepages/1G/node1 gate.check [] check pages:1048576:1 = 4 waits-for "
		 "kernel_args/next_boot\n"},
		/* boot is where pages are asked for, unless said otherwise */
		{"{size: 1G, nodes: {0: 3, 2: 1}}", "hugepagesz=1G hugepages=0:3,2:1",
		 "hugepages/1G/node0 gate.check [] check pages:1048576:0 = 3 waits-for "
		 "kernel_args/next_boot\n"
		 "hugepages/1G/node2 gate.check [] check pages:1048576:2 = 1 waits-for "
		 "kernel_args/next_boot\n"},
		{"{size: 2M, nodes: {1: 0}, at: runtime, default: true}", "default_hugepagesz=2M",
		 "hugepages/2M/node1 initrd.memory [node1] attr /sys/devices/system/node/node1/"
		 "hugepages/hugepages-2048kB/nr_hugepages = 0\n"},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf("hugepages: [%s]\n", t[i].text);
		cleanup_free char *line = NULL;
		struct planned p;

		gives(*state, "hugepages", text, t[i].changes);
		planned_make(*state, text, &p);
		line = kargs_line(&p.kargs);
		assert_string_equal(line, t[i].args);
		planned_free(&p);
	}
}

static void test_hugepages_unfit(void **state)
{
	struct planned p;

	planned_make(*state, "hugepages: [{size: 1G, nodes: {0: 1, 5: 1}}]\n", &p);
	assert_int_equal(p.result, -ENODEV);
	assert_text(p.err.text,
		    "hugepages: 1G: this machine has no NUMA node 5; its nodes are 0-2");
	planned_free(&p);
}

/* A kernel has at most 1024 nodes; a captured tree may say anything. */
static void test_hugepages_many_nodes(void **state)
{
	cleanup_free char *got = NULL;
	struct planned p;

	tmp_write(*state, "sys/devices/system/node/online", "0,1024,8191\n");
	tmp_write(*state, "sys/devices/system/node/has_cpu", "0,1024,8191\n");
	planned_make(*state, "hugepages: [{size: 1G, per_node: 1}]\n", &p);
	assert_int_equal(p.result, 0);
	got = kargs_line(&p.kargs);
	assert_string_equal(got, "hugepagesz=1G hugepages=0:1,1024:1,8191:1");
	planned_free(&p);
}

/* --- modules, sysctl, sysfs -------------------------------------------------------------- */

static void test_modules(void **state)
{
	gives(*state, NULL,
	      "modules:\n"
	      "  load: [mlx5_core, {name: nvidia_peermem, optional: true}, ib-umad]\n"
	      "  options: {ib_core: {netns_mode: 0}, mlx5_core: {probe_vf: \"1\", x: y}}\n"
	      "  blacklist: [nouveau]\n",
	      NO_ARGS
	      "modules/modprobe.d initrd.files [] file /run/modprobe.d/zz-railhead.conf = "
	      "# Written by railhead for profile sku; made anew at each boot.\n"
	      "options ib_core netns_mode=0\n"
	      "options mlx5_core probe_vf=1 x=y\n"
	      "blacklist nouveau\n"
	      "\n"
	      "modules/load/mlx5_core early.modules [modules] module mlx5_core = live\n"
	      "modules/load/nvidia_peermem early.modules [modules] module nvidia_peermem = live "
	      "optional\n"
	      "modules/load/ib-umad early.modules [modules] module ib-umad = live\n"
	      "modules/options/ib_core/netns_mode gate.check [] check param:ib_core/netns_mode = 0 "
	      "param optional\n"
	      "modules/options/mlx5_core/probe_vf gate.check [] check param:mlx5_core/probe_vf = "
	      "1 param\n"
	      "modules/options/mlx5_core/x gate.check [] check param:mlx5_core/x = y param\n"
	      "modules/blacklist/nouveau gate.check [] check unloaded:nouveau = absent\n");
	/* nothing to say to modprobe: no file */
	gives(*state, "modules", "modules: {load: [ib_umad]}\n",
	      "modules/load/ib_umad early.modules [modules] module ib_umad = live\n");
}

static void test_sysctl_paths(void **state)
{
	static const struct {
		const char *key, *path;
	} t[] = {
		{"vm.swappiness", "vm/swappiness"},
		{"net.ipv4.conf.all.rp_filter", "net/ipv4/conf/all/rp_filter"},
		{"net.ipv4.conf.enp3s0/200.forwarding", "net/ipv4/conf/enp3s0.200/forwarding"},
		{"net/ipv4/conf/enp3s0.200/forwarding", "net/ipv4/conf/enp3s0.200/forwarding"},
		{"net.ipv4.conf.*.rp_filter", "net/ipv4/conf/*/rp_filter"},
		{"kernel/sched_domain/cpu0", "kernel/sched_domain/cpu0"},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf("sysctl: {\"%s\": 1}\n", t[i].key);
		cleanup_free char *want =
			xasprintf("sysctl/%s early.sysctl [] attr /proc/sys/%s = 1 late\n",
				  t[i].key, t[i].path);

		gives(*state, "sysctl", text, want);
	}
}

static void test_values(void **state)
{
	gives(*state, NULL,
	      "sysctl:\n"
	      "  vm.swappiness: 10\n"
	      "  net.ipv4.tcp_rmem: \"4096 131072  6291456\"\n"
	      "  kernel.numa_balancing: {value: 0, optional: true}\n"
	      "  vm.zone_reclaim_mode: 1\n"
	      "sysfs:\n"
	      "  \"/sys/block/nvme*n*/queue/scheduler\": none\n"
	      "  /sys/kernel/mm/ksm/run: {value: 0, optional: true}\n",
	      NO_ARGS
	      "sysctl/vm.swappiness early.sysctl [] attr /proc/sys/vm/swappiness = 10 late\n"
	      "sysctl/net.ipv4.tcp_rmem early.sysctl [] attr /proc/sys/net/ipv4/tcp_rmem = "
	      "4096 131072  6291456 late\n"
	      "sysctl/kernel.numa_balancing early.sysctl [] attr /proc/sys/kernel/numa_balancing "
	      "= 0 optional late\n"
	      "sysctl/vm.zone_reclaim_mode early.sysctl [] attr /proc/sys/vm/zone_reclaim_mode = "
	      "1 late\n"
	      "sysfs//sys/block/nvme*n*/queue/scheduler early.sysfs [] attr "
	      "/sys/block/nvme*n*/queue/scheduler = none late\n"
	      "sysfs//sys/kernel/mm/ksm/run early.sysfs [] attr /sys/kernel/mm/ksm/run = 0 "
	      "optional late\n");
}

/* --- VFs and overlays ---------------------------------------------------------------------- */

#define DEVICES                                             \
	"devices:\n"                                        \
	"  nics: {pci: \"15b3:1021\"}\n"                    \
	"  second: {in: nics, address: \"0000:3b:00.1\"}\n" \
	"  old: {pci: \"8086:10c9\"}\n"

#define SYSFS(addr) "/sys/bus/pci/devices/" addr "/sriov_drivers_autoprobe"
#define HOLD(addr)                                                                              \
	"sriov/" addr "/autoprobe_hold devices.hold [" addr "] attr " SYSFS(addr) " = 0 while " \
										  "sriov/" addr \
										  "/numvfs\n"
#define NUMVFS(addr, n) \
	"sriov/" addr "/numvfs devices.numvfs [" addr "] vf numvfs:" addr " = " n "\n"
#define AUTOPROBE(addr)                                                                   \
	"sriov/" addr "/autoprobe devices.autoprobe [" addr "] attr " SYSFS(addr) " = 1 " \
										  "steady\n"
#define DRIVER(addr, i, driver)                                                                    \
	"sriov/" addr "/vf" i "/driver devices.vf_driver [" addr "/vf" i "] vf driver:" addr "/" i \
	" = " driver " waits-for sriov/" addr "/numvfs\n"

static void test_vfs(void **state)
{
	static const struct {
		const char *sriov, *changes;
	} t[] = {
		{"nics: {vfs: 1}",
		 HOLD("0000:3b:00.0") NUMVFS("0000:3b:00.0", "1") AUTOPROBE("0000:3b:00.0")
			 DRIVER("0000:3b:00.0", "0", "netdev") HOLD("0000:3b:00.1")
				 NUMVFS("0000:3b:00.1", "1") AUTOPROBE("0000:3b:00.1")
					 DRIVER("0000:3b:00.1", "0", "netdev")},
		/* the narrower set wins key by key and inherits the rest, in either order */
		{"nics: {vfs: 1, vf: {driver: vfio-pci}}, second: {vfs: 2}",
		 HOLD("0000:3b:00.0") NUMVFS("0000:3b:00.0", "1") AUTOPROBE("0000:3b:00.0")
			 DRIVER("0000:3b:00.0", "0", "vfio-pci") HOLD("0000:3b:00.1")
				 NUMVFS("0000:3b:00.1", "2") AUTOPROBE("0000:3b:00.1")
					 DRIVER("0000:3b:00.1", "0", "vfio-pci")
						 DRIVER("0000:3b:00.1", "1", "vfio-pci")},
		{"second: {vf: {driver: none}}, nics: {vfs: 1}",
		 HOLD("0000:3b:00.0") NUMVFS("0000:3b:00.0", "1") AUTOPROBE("0000:3b:00.0")
			 DRIVER("0000:3b:00.0", "0", "netdev") HOLD("0000:3b:00.1")
				 NUMVFS("0000:3b:00.1", "1") AUTOPROBE("0000:3b:00.1")
					 DRIVER("0000:3b:00.1", "0", "none")},
		{"second: {vfs: 0}",
		 HOLD("0000:3b:00.1") NUMVFS("0000:3b:00.1", "0") AUTOPROBE("0000:3b:00.1")},
		/* igb: the PF's link first */
		{"old: {vfs: 1, vf: {driver: none}}",
		 "sriov/0000:81:00.0/link devices.link_up [0000:81:00.0] netlink up:0000:81:00.0 = "
		 "up\n" HOLD("0000:81:00.0") NUMVFS("0000:81:00.0", "1") AUTOPROBE("0000:81:00.0")
			 DRIVER("0000:81:00.0", "0", "none")},
		{"old: {vfs: 0}",
		 HOLD("0000:81:00.0") NUMVFS("0000:81:00.0", "0") AUTOPROBE("0000:81:00.0")},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf(DEVICES "sriov: {%s}\n", t[i].sriov);

		gives(*state, "sriov", text, t[i].changes);
	}
}

static void test_vfs_max(void **state)
{
	static const struct {
		const char *sriov, *addr;
		const char *numvfs;
		unsigned int deadline_ms;
	} t[] = {
		{"nics: {vfs: max}", "0000:3b:00.0", "4", 31000},
		{"old: {vfs: max}", "0000:81:00.0", "7", 31750},
		{"nics: {vfs: 2}, second: {vfs: max}", "0000:3b:00.1", "4", 31000},
		{"nics: {vfs: 2, timeout: 90s}", "0000:3b:00.1", "2", 90000},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf(DEVICES "sriov: {%s}\n", t[i].sriov);
		cleanup_free char *id = xasprintf("sriov/%s/numvfs", t[i].addr);
		cleanup_free char *last = xasprintf("sriov/%s/vf%u/driver", t[i].addr,
						    (unsigned)atoi(t[i].numvfs) - 1);
		struct change *c;
		struct planned p;

		planned_make(*state, text, &p);
		c = plan_find(&p.plan, id);
		assert_non_null(c);
		assert_string_equal(c->desired, t[i].numvfs);
		assert_int_equal(c->deadline_ms, t[i].deadline_ms);
		assert_non_null(plan_find(&p.plan, last));
		planned_free(&p);
	}
}

/* --- require, optional ------------------------------------------------------------------- */

static void test_require(void **state)
{
	struct planned p;
	const struct change *c;

	planned_make(*state,
		     "devices: {a: {pci: \"15b3:1021\"}}\n"
		     "require: {kernel: \">=6.1\", driver: {mlx5_core: \">=24.10\"},"
		     " firmware: {a: \"28.39\"}}\n",
		     &p);
	assert_int_equal(p.result, 0);
	c = plan_find(&p.plan, "require/kernel");
	assert_non_null(c);
	assert_int_equal(c->now.state, CHANGE_DIFFERS); /* the tree does not say which kernel */
	c = plan_find(&p.plan, "require/driver/mlx5_core");
	assert_string_equal(c->target, "driver-version:mlx5_core");
	assert_string_equal(c->desired, ">=24.10");
	assert_int_equal(c->stage, STAGE_GATE);
	assert_non_null(plan_find(&p.plan, "require/firmware/a/0000:3b:00.0"));
	assert_non_null(plan_find(&p.plan, "require/firmware/a/0000:3b:00.1"));
	assert_null(plan_find(&p.plan, "require/firmware/a/0000:81:00.0"));
	planned_free(&p);
}

/* --- expect and gate ------------------------------------------------------------------------ */

static void test_expect(void **state)
{
	static const struct {
		const char *text, *id, *observed;
		bool holds;
	} t[] = {
		{"expect: {cpu_sockets: 2}", "expect/cpu_sockets", "2", true},
		{"expect: {cpu_sockets: 1}", "expect/cpu_sockets", "2", false},
		{"expect: {cpus: 8}", "expect/cpus", "8", true},
		{"expect: {cpus: \">=9\"}", "expect/cpus", "8", false},
		{"expect: {numa_nodes: 3}", "expect/numa_nodes", "3", true},
		{"expect: {numa_nodes: \">=2\"}", "expect/numa_nodes", "3", true},
		{"expect: {memory: \">=32G\"}", "expect/memory", "32768M", true},
		{"expect: {memory: \">=33G\"}", "expect/memory", "32768M", false},
		{"expect: {cpu_vendor: intel}", "expect/cpu_vendor", "intel", true},
		{"expect: {cpu_vendor: amd}", "expect/cpu_vendor", "intel", false},
		{"devices: {a: {pci: \"15b3:1021\", expect: 2}}", "devices/a/expect", "2", true},
		{"devices: {a: {pci: \"15b3:1021\", expect: 8}}", "devices/a/expect", "2", false},
		{"devices: {a: {pci: \"10de:2330\", expect: 1}}", "devices/a/expect", "0", false},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *text = xasprintf("%s\n", t[i].text);
		struct change *c;
		struct planned p;

		planned_make(*state, text, &p);
		c = plan_find(&p.plan, t[i].id);
		if (!c)
			fail_msg("%s: no %s", t[i].text, t[i].id);
		assert_int_equal(c->stage, STAGE_GATE);
		assert_string_equal(c->now.found, t[i].observed);
		if (c->now.state != (t[i].holds ? CHANGE_SAME : CHANGE_DIFFERS))
			fail_msg("%s: %s", t[i].text, state_name(c->now.state));
		assert_int_equal(reason_of(c) != NULL, !t[i].holds);
		planned_free(&p);
	}
}

static void test_gate_checks(void **state)
{
	gives(*state, "gate",
	      DEVICES "sriov: {nics: {vfs: 0}, second: {vfs: 2}}\n"
		      "gate:\n"
		      "  checks:\n"
		      "    up: {run: carrier, on: nics, on_fail: degrade}\n"
		      "    fast: {run: carrier, on: old, speed: 400Gb/s, timeout: 7s}\n"
		      "    slot: {run: pcie_link, on: second, speed: 32GT/s, width: 16}\n"
		      "    wide: {run: pcie_link, on: old, width: 4, on_fail: warn}\n"
		      "    groups: {run: iommu_groups, on: vfs of nics, isolated: true}\n"
		      "    own: {run: iommu_groups, on: old}\n"
		      "    memory: {run: memory_bandwidth, per: node, min: 10GB/s}\n", /* gate/'s */
	      "gate/up/0000:3b:00.0 gate.check [] check carrier:0000:3b:00.0 = up on-fail "
	      "degrade settles\n"
	      "gate/up/0000:3b:00.1 gate.check [] check carrier:0000:3b:00.1 = up on-fail "
	      "degrade settles\n"
	      "gate/fast/0000:81:00.0 gate.check [] check carrier:0000:81:00.0 = up settles 7000\n"
	      "gate/fast/0000:81:00.0/speed gate.check [] check speed:0000:81:00.0 = 400Gb/s "
	      "settles 7000\n"
	      "gate/slot/0000:3b:00.1/width gate.check [] check pcie-width:0000:3b:00.1 = 16 "
	      "at-least\n"
	      "gate/slot/0000:3b:00.1/speed gate.check [] check pcie-speed:0000:3b:00.1 = "
	      "32GT/s\n"
	      "gate/wide/0000:81:00.0/width gate.check [] check pcie-width:0000:81:00.0 = 4 "
	      "at-least on-fail warn\n"
	      "gate/groups/0000:3b:00.1/0 gate.check [] check iommu-group:0000:3b:00.1/0 = "
	      "isolated\n"
	      "gate/groups/0000:3b:00.1/1 gate.check [] check iommu-group:0000:3b:00.1/1 = "
	      "isolated\n"
	      "gate/own/0000:81:00.0 gate.check [] check iommu-group:0000:81:00.0 = any\n");
}

/* Ids must be unique, or one change hides another; each names its line of the profile. */
static void test_ids(void **state)
{
	struct planned p;

	planned_make(*state,
		     DEVICES
		     "kernel_args: {iommu: strict}\n"
		     "hugepages: [{size: 1G, per_node: 1}, {size: 2M, per_node: 1, at: runtime}]\n"
		     "modules: {load: [a, b], options: {a: {x: 1}}, blacklist: [c]}\n"
		     "sriov: {nics: {vfs: 2}, second: {vfs: 3}, old: {vfs: 7}}\n"
		     "sysctl: {vm.swappiness: 1, vm.dirty_ratio: 2}\n"
		     "gate: {checks: {up: {run: carrier, on: nics},"
		     " up2: {run: carrier, on: old}}}\n",
		     &p);
	assert_int_equal(p.result, 0);
	assert_int_equal(p.plan.list.n, 44);
	for (size_t i = 0; i < p.plan.list.n; i++) {
		const struct change *c = p.plan.list.v[i];

		assert_ptr_equal(plan_find(&p.plan, c->id), c);
		if (!str_starts(c->id, "devices/")) /* the section expect has these */
			assert_int_equal(strncmp(c->id, c->section, strlen(c->section)), 0);
		if (c->waits_for)
			assert_non_null(plan_find(&p.plan, c->waits_for));
		if (c->while_id)
			assert_non_null(plan_find(&p.plan, c->while_id));
		if (!streq(c->id, "kernel_args/next_boot"))
			assert_true(c->origin.line > 3);
	}
	planned_free(&p);
}

/* --- comparing ---------------------------------------------------------------------------- */

static void test_compare(void **state)
{
	static const struct {
		enum compare how;
		const char *desired, *observed;
		bool equal;
	} t[] = {
		{COMPARE_TEXT, "10", "10", true},
		{COMPARE_TEXT, "10", "100", false},
		{COMPARE_TEXT, "100", "10", false},
		{COMPARE_TEXT, "", "", true},
		{COMPARE_TEXT, "", "x", false},
		{COMPARE_TEXT, "x", "", false},
		{COMPARE_TEXT, "4096 87380 6291456", "4096\t87380\t6291456", true},
		{COMPARE_TEXT, " 4096  87380\n", "4096 87380", true},
		{COMPARE_TEXT, "4096 8738", "4096 87380", false},
		{COMPARE_TEXT, "40 96", "4096", false},
		{COMPARE_TEXT, "a\rb", "a\rb", true},
		{COMPARE_TEXT, "a\vb", "a\fb", true},
		{COMPARE_TEXT, "a\rb", "a\rc", false},
		{COMPARE_TEXT, "never", "always [madvise] never", false},
		{COMPARE_TEXT, "madvise", "always [madvise] never", true},
		{COMPARE_TEXT, "none", "[none] mq-deadline", true},
		{COMPARE_TEXT, "non", "[none] mq-deadline", false},
		{COMPARE_TEXT, "none", "[none", false},
		{COMPARE_TEXT, "none", "]none[", false},
		{COMPARE_AT_LEAST, "16", "16", true},
		{COMPARE_AT_LEAST, "16", "32", true},
		{COMPARE_AT_LEAST, "16", "8", false},
		{COMPARE_AT_LEAST, "16", "x16", false},
		{COMPARE_AT_LEAST, "many", "16", false},
		{COMPARE_PARAM, "1", "Y", true},
		{COMPARE_PARAM, "y", "1", true},
		{COMPARE_PARAM, "N", "0", true},
		{COMPARE_PARAM, "0", "Y", false},
		{COMPARE_PARAM, "no", "N", false},
		{COMPARE_PARAM, "8", "8", true},
		{COMPARE_AT_LEAST, ">=16", "17", true},
		{COMPARE_AT_LEAST, ">=16", "15", false},
		{COMPARE_AT_LEAST, ">=16", ">=18", true},
		{COMPARE_AT_LEAST, ">=18", ">=16", false},
		{COMPARE_AT_LEAST, ">=16", "-1", false},
		{COMPARE_AT_LEAST, ">=16", "", false},
		{COMPARE_NUMBERS, "0x10", "16", true},
		{COMPARE_NUMBERS, "010", "8", true},
		{COMPARE_NUMBERS, "010", "10", false},
		{COMPARE_NUMBERS, "08", "8", false},
		{COMPARE_NUMBERS, "0b11", "3", false},
		{COMPARE_NUMBERS, "+5", "5", false},
		{COMPARE_NUMBERS, "-0", "0", true},
		{COMPARE_NUMBERS, "-5", "5", false},
		{COMPARE_NUMBERS, "0x", "0", false},
		{COMPARE_NUMBERS, "5x", "5", false},
		{COMPARE_NUMBERS, "", "0", false},
		{COMPARE_NUMBERS, "18446744073709551616", "0", false},
		{COMPARE_NUMBERS, "18446744073709551616", "18446744073709551617", false},
		{COMPARE_NUMBERS, "0x1 0x2", "1\t2", true},
		{COMPARE_NUMBERS, "0x1", "1\t2", false},
		{COMPARE_NUMBERS, "0x1 2 3", "1\t2", false},
		{COMPARE_NUMBERS, "core", "core", true},
		{COMPARE_LIST, "3,1-2", "1-3", true},
		{COMPARE_LIST, "1-3,", "1-3", false},
		{COMPARE_LIST, "1,,3", "1,3", false},
		{COMPARE_LIST, "3-1", "1-3", false},
		{COMPARE_LIST, "010", "8", false},
		{COMPARE_LIST, "65535", "65534-65535", false},
		{COMPARE_LIST, "65536", "65537", false},
		{COMPARE_LIST, "", "1", false},
		{COMPARE_LIST, "1-", "1", false},
		{COMPARE_WORDS, "b a", "a b", true},
		{COMPARE_WORDS, "b a b", "a b", true},
		{COMPARE_WORDS, "a", "a b", false},
		{COMPARE_WORDS, "a b", "a", false},
		{COMPARE_WORDS, "ab", "a b", false},
		{COMPARE_WORDS, "", "a", false},
		{COMPARE_SWITCH, "1", "true", true},
		{COMPARE_SWITCH, "off", "N", true},
		{COMPARE_SWITCH, "1", "false", false},
		{COMPARE_SWITCH, "2", "true", false},
		{COMPARE_SWITCH, "2", "3", false},
		{COMPARE_MASK, "ff", "00ff", true},
		{COMPARE_MASK, "xy", "zz", false},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++)
		if (change_equal(t[i].how, t[i].desired, t[i].observed) != t[i].equal)
			fail_msg("%zu: '%s', '%s'", i, t[i].desired, t[i].observed);
}

/* By the schema: not by a rule, a section or a look. Each text is in the profile once. */
static void test_parsed_once(void **state)
{
	static const char *const texts[] = {"9001",	"8191",	  "7us", "171Mb/s", "107",
					    "61",	"1-2",	  "31s", "43",	    "37",
					    "32.0GT/s", "59Gb/s", "13"};
	struct tmp *t = *state;
	struct planned p;
	struct kind_ctx ctx = {.root = &t->root, .running = STAGE_DEVICES};

	test_forget_parses();
	planned_make(
		t,
		"devices: {rails: {pci: \"15b3:1021\"}}\n"
		"kernel_args: {isolate_cpus: 1-2}\n"
		"hugepages: [{size: 2M, per_node: 43}]\n"
		"link: {rails: {mtu: 9001, rings: {rx: 8191}, coalesce: {rx_usecs: 7us}}}\n"
		"sriov: {rails: {vfs: 1, timeout: 31s, vf: {vlan: 61, msix: 37}}}\n"
		"qos: {rails: {roce_tos: 107, dcqcn: {rp: {rpg_ai_rate: "
		"171Mb/s}}}}\n"
		"gate: {checks: {a: {run: pcie_link, on: rails, speed: 32.0GT/s}, b: {run: "
		"carrier, "
		"on: rails, speed: 59Gb/s}, c: {run: pcie_errors, on: rails, corrected: 13}}}\n",
		&p);
	assert_int_equal(p.result, 0);
	ctx.node = &p.node;
	for (size_t i = 0; i < p.plan.list.n; i++) {
		struct err err = {0};

		kind_look(&ctx, p.plan.list.v[i], &err);
	}
	kinds_forget(NULL);
	for (size_t i = 0; i < array_len(texts); i++)
		if (test_parses(texts[i]) != 1)
			fail_msg("%s: parsed %u times", texts[i], test_parses(texts[i]));
	planned_free(&p);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tmp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_iommu),
		TEST(test_isolation),
		TEST(test_isolation_but_for_cores),
		TEST(test_kernel_args),
		TEST(test_hugepages),
		TEST(test_hugepages_unfit),
		TEST(test_hugepages_many_nodes),
		TEST(test_modules),
		TEST(test_sysctl_paths),
		TEST(test_values),
		TEST(test_vfs),
		TEST(test_vfs_max),
		TEST(test_require),
		TEST(test_expect),
		TEST(test_gate_checks),
		TEST(test_ids),
		TEST(test_parsed_once),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
