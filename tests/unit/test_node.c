/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The survey of small trees, and device sets over it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/node.h"
#include "node/vpd.h"
#include "tree.h"

#define SEL(sel_name, ...)                                                                      \
	{                                                                                       \
		.name = (char *)(sel_name), .vendor = -1, .device = -1, .subsystem_vendor = -1, \
		.subsystem_device = -1, .numa = -1, .expect = -1, __VA_ARGS__                   \
	}
#define SEL_PN(sel_name, pattern) SEL(sel_name, .part_number = (char *)(pattern))
#define CX7 .vendor = 0x15b3, .device = 0x1021
#define IN(up) .in = (char *)(up)

/* Overriding a field that SEL gives is what is meant. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* --- survey ---------------------------------------------------------------------------- */

static const struct tree_file two_nodes[] = {
	{"sys/class/dmi/id/sys_vendor", "Supermicro\n"},
	{"sys/class/dmi/id/product_name", "SYS-821GE-TNHR  \n"},
	{"sys/class/dmi/id/board_name", "\n"},
	{"proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\n\nprocessor\t: 1\n"
			 "vendor_id\t: AuthenticAMD\n"},
	{"proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro quiet\n"},
	{"proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\n"},
	{"sys/devices/system/cpu/present", "0-3\n"},
	{"sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"},
	{"sys/devices/system/cpu/cpu1/topology/physical_package_id", "0\n"},
	{"sys/devices/system/cpu/cpu2/topology/physical_package_id", "1\n"},
	{"sys/devices/system/cpu/cpu3/topology/physical_package_id", "1\n"},
	{"sys/devices/system/node/online", "0-2\n"},
	{"sys/devices/system/node/has_cpu", "0-1\n"}, /* node 2 is memory alone: CXL, HBM */
};

#define NIC "15b3:1021", "0x020000"

static const struct tree_fn functions[] = {
	{"0000:3b:00.0", NIC, "0", "mlx5_core", "eth0", "8", .subsystem = "15b3:0023"},
	{"0000:3b:00.1", NIC, "0", "mlx5_core", "eth1", "8", .subsystem = "15b3:0023"},
	{"0000:3b:00.2", "15b3:101e", "0x020000", "0", "mlx5_core", "eth0v0",
	 .physfn = "0000:3b:00.0"},
	{"0000:81:00.0", NIC, "1", "mlx5_core", "eth2", "16", .subsystem = "15b3:0041"},
	{"0000:81:00.1", "15b3:101e", "0x020000", "1", "vfio-pci", .physfn = "0000:81:00.0"},
	{"0000:c1:00.0", "15b3:1021", "0x020700", "1", "mlx5_core", .subsystem = "15b3:0023"},
	{"0000:c2:00.0", "10de:2330", "0x030200", .numa = "1"},
	{"0000:c2:00.1", "10de:2331", "0x040300", .numa = NULL},
	{"10000:e1:00.0", "8086:1563", "0x020000", NULL, "ixgbe", "eth9", .vfs = "63"}, /* VMD */
};

static void make_node(struct tmp *t)
{
	tree_write(t, two_nodes, array_len(two_nodes));
	for (size_t i = 0; i < array_len(functions); i++)
		tree_pci(t, &functions[i]);
}

static struct node survey(struct tmp *t)
{
	struct node node;

	if (node_survey(&t->root, &node, &t->err) < 0)
		fail_msg("%s", t->err.text);
	return node;
}

static void test_machine(void **state)
{
	struct tmp *t = *state;
	cleanup_free char *cpus = NULL, *nodes = NULL, *with_cpu = NULL;
	struct node node;

	make_node(t);
	node = survey(t);
	assert_string_equal(node_dmi(&node, "sys_vendor"), "Supermicro");
	assert_string_equal(node_dmi(&node, "product_name"), "SYS-821GE-TNHR");
	assert_string_equal(node_dmi(&node, "board_name"), "");
	assert_string_equal(node_dmi(&node, "bios_vendor"), ""); /* absent */
	assert_string_equal(node_dmi(&node, "bios_vendor"), "");
	assert_null(node_dmi(&node, "serial"));
	assert_int_equal(node_cpu_vendor(&node), CPU_INTEL); /* the first block of cpuinfo */
	assert_string_equal(cpu_vendor_name(node_cpu_vendor(&node)), "intel");
	assert_string_equal(node.cmdline, "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro quiet");
	assert_string_equal(node.kernel, ""); /* not that of the machine that looks */
	assert_int_equal(node_memory(&node)->bytes, 16ULL << 30);
	assert_int_equal(node_sockets(&node), 2);
	cpus = cpus_format(&node.cpus);
	assert_string_equal(cpus, "0-3");
	nodes = cpus_format(&node.nodes);
	assert_string_equal(nodes, "0-2");
	with_cpu = cpus_format(&node.nodes_with_cpu);
	assert_string_equal(with_cpu, "0-1");
	node_free(&node);
	node_free(&node); /* and once more */
}

static void test_functions(void **state)
{
	struct tmp *t = *state;
	const struct pci_fn *fn;
	struct node node;

	make_node(t);
	tree_dir(t, "sys/devices/pci0000:00/0000:3b:00.0/infiniband");
	tree_dir(t, "sys/devices/pci0000:00/0000:3b:00.0/infiniband/mlx5_0");
	tree_dir(t, "sys/bus/pci/devices/not-an-address");
	tree_dir(t, "sys/bus/pci/devices/0000:3b:00.0-old");
	node = survey(t);
	assert_int_equal(node_functions(&node)->n, array_len(functions));
	for (size_t i = 1; i < node_functions(&node)->n; i++)
		assert_true(strcmp(node_functions(&node)->v[i - 1].addr,
				   node_functions(&node)->v[i].addr) < 0);
	fn = node_find(&node, "0000:3b:00.0");
	assert_non_null(fn);
	assert_int_equal(fn->vendor, 0x15b3);
	assert_int_equal(fn->device, 0x1021);
	assert_int_equal(fn->subsystem_vendor, 0x15b3);
	assert_int_equal(fn->subsystem_device, 0x0023);
	assert_int_equal(fn->class, 0x020000);
	assert_int_equal(fn->numa, 0);
	assert_string_equal(fn->driver, "mlx5_core");
	assert_int_equal(fn->totalvfs, 8);
	assert_string_equal(fn->physfn, "");
	assert_int_equal(fn->net.n, 1);
	assert_string_equal(fn->net.v[0], "eth0");
	assert_int_equal(fn->ibdevs.n, 1);
	assert_string_equal(fn->ibdevs.v[0], "mlx5_0");
	fn = node_find(&node, "0000:3b:00.2");
	assert_string_equal(fn->physfn, "0000:3b:00.0");
	assert_int_equal(fn->totalvfs, 0);
	fn = node_find(&node, "0000:c2:00.1");
	assert_int_equal(fn->numa, -1);
	assert_null(fn->driver);
	assert_int_equal(fn->net.n, 0);
	assert_non_null(node_find(&node, "10000:e1:00.0"));
	assert_null(node_find(&node, "0000:3b:00.7"));
	node_free(&node);
}

/* A captured tree or a container need not have any of it. */
static void test_nothing_there(void **state)
{
	struct node node = survey(*state);

	assert_int_equal(node_functions(&node)->n, 0);
	assert_int_equal(node_cpu_vendor(&node), CPU_UNKNOWN);
	assert_string_equal(cpu_vendor_name(node_cpu_vendor(&node)), "unknown");
	assert_int_equal(node_sockets(&node), 0);
	assert_int_equal(node_memory(&node)->bytes, 0);
	assert_string_equal(node.cmdline, "");
	assert_string_equal(node_dmi(&node, "sys_vendor"), "");
	assert_int_equal(cpus_count(&node.cpus), 0);
	/* without NUMA there is one node */
	assert_int_equal(cpus_count(&node.nodes), 1);
	assert_true(cpus_has(&node.nodes, 0));
	assert_true(cpus_has(&node.nodes_with_cpu, 0));
	node_free(&node);
}

static void test_odd_values(void **state)
{
	static const struct tree_file odd[] = {
		{"sys/devices/system/cpu/present", "0-\n"},
		{"sys/devices/system/node/online", "junk\n"},
		{"proc/meminfo", "MemFree: 1 kB\n"},
		{"sys/devices/pci0000:00/0000:01:00.0/vendor", "0xzz\n"},
		{"sys/devices/pci0000:00/0000:01:00.0/numa_node", "\n"},
		{"sys/devices/pci0000:00/0000:01:00.0/driver", "->/"},
		{"sys/bus/pci/devices/0000:01:00.0", "->../../../devices/pci0000:00/0000:01:00.0"},
		{"sys/bus/pci/devices/0000:02:00.0", "->../../../devices/gone"},
	};
	struct node node;

	tree_write(*state, odd, array_len(odd));
	node = survey(*state);
	assert_int_equal(cpus_count(&node.cpus), 0);
	assert_int_equal(cpus_count(&node.nodes), 1);
	assert_int_equal(node_memory(&node)->bytes, 0);
	assert_int_equal(node_functions(&node)->n, 2);
	assert_int_equal(node_functions(&node)->v[0].vendor, 0);
	assert_int_equal(node_functions(&node)->v[0].numa, -1);
	assert_int_equal(node_functions(&node)->v[1].class, 0);
	node_free(&node);
}

static void test_vendors(void **state)
{
	static const struct {
		const char *cpuinfo;
		enum cpu_vendor vendor;
	} t[] = {
		{"vendor_id\t: GenuineIntel\n", CPU_INTEL},
		{"vendor_id\t: AuthenticAMD\n", CPU_AMD},
		{"vendor_id\t: HygonGenuine\n", CPU_AMD},
		{"processor : 0\nCPU implementer\t: 0x41\n\n", CPU_ARM},
		{"vendor_id\t: CentaurHauls\n", CPU_UNKNOWN},
		{"", CPU_UNKNOWN},
	};

	for (size_t i = 0; i < array_len(t); i++) {
		struct node node;

		tmp_write(*state, "proc/cpuinfo", t[i].cpuinfo);
		node = survey(*state);
		assert_int_equal(node_cpu_vendor(&node), t[i].vendor);
		node_free(&node);
	}
}

/*
 * Firmware need not number packages from 0: on Arm the id may be an offset in the PPTT,
 * beyond the number of any CPU; where the kernel knows none it is -1.
 */
static void test_sockets(void **state)
{
	static const struct {
		const char *ids[4];
		unsigned int sockets;
	} t[] = {
		{{"0", "0", "1", "1"}, 2},	   {{"36", "36", "36", "36"}, 1},
		{{"36", "36", "9252", "9252"}, 2}, {{"8192", "8192", "16384", "24576"}, 3},
		{{"-1", "-1", "-1", "-1"}, 0},
	};

	tmp_write(*state, "sys/devices/system/cpu/present", "0-3\n");
	for (size_t i = 0; i < array_len(t); i++) {
		struct node node;

		for (int cpu = 0; cpu < 4; cpu++) {
			cleanup_free char *name = xasprintf(
				"sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);

			tmp_write(*state, name, t[i].ids[cpu]);
		}
		node = survey(*state);
		assert_int_equal(node_sockets(&node), t[i].sockets);
		node_free(&node);
	}
}

/* --- machines as they are -------------------------------------------------------------- */

#define CPU "sys/devices/system/cpu/"
#define NODE "sys/devices/system/node/"

/* Where the kernel lists a package's CPUs, the others of it need no look. */
static void test_package_lists(void **state)
{
	static const struct tree_file files[] = {
		{CPU "present", "0-5\n"},
		{CPU "cpu0/topology/physical_package_id", "36\n"},
		{CPU "cpu0/topology/package_cpus_list", "0-1,4\n"},
		{CPU "cpu1/topology/physical_package_id", "99\n"}, /* must not be looked at */
		{CPU "cpu2/topology/physical_package_id", "37\n"},
		{CPU "cpu2/topology/core_siblings_list", "2,5\n"},
		{CPU "cpu5/topology/physical_package_id", "98\n"},
		/* cpu3 is offline: no topology */
	};
	struct node node;

	tree_write(*state, files, array_len(files));
	node = survey(*state);
	assert_int_equal(node_sockets(&node), 2);
	assert_int_equal(cpus_count(&node.cpus), 6);
	node_free(&node);
}

/* Captures of a few files, and old kernels: directories say what `present` would. */
static void test_no_lists(void **state)
{
	static const struct tree_file files[] = {
		{CPU "cpu0/topology/physical_package_id", "0\n"},
		{CPU "cpu12/topology/physical_package_id", "1\n"},
		{CPU "cpufreq/x", ""},
		{CPU "cpuidle/x", ""},
		{CPU "cpu99999/x", ""},
		{NODE "node0/cpulist", "0\n"},
		{NODE "node2/cpulist", "\n"},
		{NODE "node7/cpulist", "12\n"},
	};
	struct node node;

	tree_write(*state, files, array_len(files));
	node = survey(*state);
	assert_int_equal(cpus_count(&node.cpus), 2);
	assert_true(cpus_has(&node.cpus, 12));
	assert_int_equal(node_sockets(&node), 2);
	assert_int_equal(cpus_count(&node.nodes), 3);
	assert_int_equal(cpus_count(&node.nodes_with_cpu), 2);
	assert_true(cpus_has(&node.nodes_with_cpu, 7));
	node_free(&node);
}

/* GB200: two nodes with CPUs, GPU memory as nodes of its own, most of them empty. No DMI. */
static void test_gpu_memory_nodes(void **state)
{
	static const struct tree_file files[] = {
		{"proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n"},
		{"proc/sys/kernel/arch", "aarch64\n"},
		{CPU "present", "0-143\n"},
		{CPU "cpu0/topology/physical_package_id", "256123456\n"},
		{CPU "cpu0/topology/package_cpus_list", "0-71\n"},
		{CPU "cpu72/topology/physical_package_id", "256123999\n"},
		{CPU "cpu72/topology/package_cpus_list", "72-143\n"},
		{NODE "online", "0-33\n"},
		{NODE "has_cpu", "0-1\n"},
		{NODE "has_memory", "0-2,10\n"},
	};
	struct node node;

	tree_write(*state, files, array_len(files));
	node = survey(*state);
	assert_int_equal(node_cpu_vendor(&node), CPU_ARM);
	assert_string_equal(node_arch(&node), "aarch64");
	assert_int_equal(node_sockets(&node), 2);
	assert_int_equal(cpus_count(&node.cpus), 144);
	assert_int_equal(cpus_count(&node.nodes), 34);
	assert_int_equal(cpus_count(&node.nodes_with_cpu), 2);
	assert_string_equal(node_dmi(&node, "sys_vendor"), "");
	node_free(&node);
}

/* Only the start is read: the block that matters may be followed by megabytes. */
static void test_huge_cpuinfo(void **state)
{
	cleanup_str struct str text = {0};
	struct node node;

	str_add(&text, "processor\t: 0\nvendor_id\t: GenuineIntel\n\n");
	for (int i = 1; i < 40000; i++)
		str_addf(&text, "processor\t: %d\nvendor_id\t: AuthenticAMD\n\n", i);
	tmp_write(*state, "proc/cpuinfo", text.s);
	node = survey(*state);
	assert_int_equal(node_cpu_vendor(&node), CPU_INTEL);
	node_free(&node);
}

#define FN(domain_addr) "sys/devices/pci0000:00/" domain_addr "/"

static void test_numa_values(void **state)
{
	static const struct {
		const char *text; /* NULL: no such file */
		int numa;
	} t[] = {
		{"0\n", 0},	  {"33\n", 33},		{"-1\n", -1}, {NULL, -1},    {"", -1},
		{"8191\n", 8191}, {"4294967295\n", -1}, {"x\n", -1},  {"1 2\n", -1}, {"-7\n", -1},
	};
	static const struct tree_fn fn = {"0000:01:00.0", NIC, .numa = "-1"};

	for (size_t i = 0; i < array_len(t); i++) {
		struct node node;

		tree_pci(*state, &fn);
		if (t[i].text)
			tmp_write(*state, FN("0000:01:00.0") "numa_node", t[i].text);
		else
			tree_remove(*state, FN("0000:01:00.0") "numa_node");
		node = survey(*state);
		assert_int_equal(node_functions(&node)->v[0].numa, t[i].numa);
		node_free(&node);
	}
}

/* modalias has all ids in one file; without it, or if it is odd, the single files count. */
static void test_modalias(void **state)
{
	static const struct {
		const char *modalias;
		uint16_t vendor, subsystem_device;
		uint32_t class;
	} t[] = {
		{"pci:v00008086d00001563sv000015D9sd00000AEBbc02sc00i01\n", 0x8086, 0xaeb,
		 0x020001},
		{"pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00\n", 0x10de, 0x16c1,
		 0x030200},
		{"pci:v00008086d00001563sv000015D9\n", 0x15b3, 0x0023, 0x020000},
		{"platform:foo\n", 0x15b3, 0x0023, 0x020000},
		{"", 0x15b3, 0x0023, 0x020000},
	};
	static const struct tree_fn fn = {"0000:01:00.0", NIC, .numa = "0",
					  .subsystem = "15b3:0023"};

	tree_pci(*state, &fn);
	for (size_t i = 0; i < array_len(t); i++) {
		struct node node;

		tmp_write(*state, FN("0000:01:00.0") "modalias", t[i].modalias);
		node = survey(*state);
		assert_int_equal(node_functions(&node)->v[0].vendor, t[i].vendor);
		assert_int_equal(node_functions(&node)->v[0].subsystem_device,
				 t[i].subsystem_device);
		assert_int_equal(node_functions(&node)->v[0].class, t[i].class);
		node_free(&node);
	}
}

/* Domains: 16 bits, VMD's (from 0x10000), and Hyper-V's 32 bits. */
static void test_domains(void **state)
{
	static const char *const addrs[] = {"0000:01:00.0", "0009:01:00.0", "10000:e1:00.0",
					    "ffff0001:00:02.7"};
	struct node node;

	for (size_t i = 0; i < array_len(addrs); i++) {
		struct tree_fn fn = {addrs[i], NIC, "0", "mlx5_core", .vfs = "4"};

		tree_pci(*state, &fn);
	}
	tree_dir(*state, "sys/bus/pci/devices/123456789abcdef0:00:00.0"); /* too long for any */
	node = survey(*state);
	assert_int_equal(node_functions(&node)->n, array_len(addrs));
	for (size_t i = 0; i < array_len(addrs); i++) {
		assert_non_null(node_find(&node, addrs[i]));
		assert_int_equal(node_find(&node, addrs[i])->vendor, 0x15b3);
	}
	node_free(&node);
}

static void test_many_functions(void **state)
{
	struct node node;

	for (int i = 0; i < 700; i++) {
		cleanup_free char *addr =
			xasprintf("%04x:%02x:%02x.%x", i / 256 * 2, i % 256, i % 32, i % 8);
		struct tree_fn fn = {addr, NIC, .numa = "1"};

		tree_pci(*state, &fn);
	}
	node = survey(*state);
	assert_int_equal(node_functions(&node)->n, 700);
	assert_int_equal(node_functions(&node)->v[699].device, 0x1021);
	node_free(&node);
}

/* A directory and a loop of links in place of files fail as EACCES does, for root too. */
static void test_unreadable(void **state)
{
	static const struct tree_file files[] = {
		{"sys/class/dmi/id/product_name", "->product_name"},
		{"sys/class/dmi/id/sys_vendor", "Dell Inc.\n"},
		{"proc/meminfo/x", ""},
		{"proc/cpuinfo/x", ""},
		{"proc/cmdline", "->cmdline"},
		{CPU "present/x", ""},
	};
	static const struct tree_fn fn = {"0000:01:00.0", NIC, "0", .subsystem = "15b3:0023"};
	struct node node;

	tree_write(*state, files, array_len(files));
	tree_pci(*state, &fn);
	tree_remove(*state, FN("0000:01:00.0") "subsystem_device");
	tree_link(*state, FN("0000:01:00.0") "subsystem_device", "subsystem_device");
	node = survey(*state);
	assert_string_equal(node_dmi(&node, "product_name"), "");
	assert_string_equal(node_dmi(&node, "sys_vendor"), "Dell Inc.");
	assert_string_equal(node.cmdline, "");
	assert_int_equal(node_memory(&node)->bytes, 0);
	assert_int_equal(node_functions(&node)->v[0].subsystem_vendor, 0x15b3);
	assert_int_equal(node_functions(&node)->v[0].subsystem_device, 0);
	node_free(&node);
}

/* --- part numbers ---------------------------------------------------------------------- */

#define VPD(text) text, sizeof(text) - 1

static void test_vpd(void **state)
{
	static const struct {
		const char *vpd;
		size_t len;
		const char *pn; /* NULL: none */
	} t[] = {
		/* identifier, VPD-R with PN, EC, SN, then VPD-W, end */
		{VPD("\x82\x04\x00"
		     "Card"
		     "\x90\x18\x00"
		     "PN\x07"
		     "MCX715A"
		     "EC\x02"
		     "A1"
		     "SN\x06"
		     "MT0815"
		     "\x91\x00\x00\x78"),
		 "MCX715A"},
		{VPD("\x90\x0b\x00"
		     "EC\x02"
		     "A1"
		     "PN\x03"
		     "X  "
		     "\x78"),
		 "X"},
		{VPD("\x0b"
		     "abc"
		     "\x90\x05\x00"
		     "PN\x02"
		     "P1"
		     "\x78"),
		 "P1"}, /* small resource */
		{VPD("\x90\x05\x00"
		     "PN\x02"
		     "P1"),
		 "P1"}, /* no end tag */
		{VPD(""), NULL},
		{VPD("\x90"), NULL},
		{VPD("\x90\x05"), NULL},
		{VPD("\x90\x05\x00"
		     "PN\x02"
		     "P"),
		 NULL}, /* longer than the data */
		{VPD("\x90\x05\x00"
		     "PN\x03"
		     "P1"
		     "\x78"),
		 NULL}, /* a field longer than its resource */
		{VPD("\x90\x02\x00"
		     "PN"
		     "\x78"),
		 NULL},
		{VPD("\x90\x03\x00"
		     "PN\x00"
		     "\x78"),
		 NULL}, /* empty */
		{VPD("\x90\x06\x00"
		     "PN\x03"
		     "\x01\x02\xff"
		     "\x78"),
		 NULL}, /* no text */
		{VPD("\x91\x05\x00"
		     "PN\x02"
		     "P1"
		     "\x78"),
		 NULL}, /* VPD-W is not read */
		{VPD("\x78\x90\x05\x00"
		     "PN\x02"
		     "P1"),
		 NULL}, /* after the end */
		{VPD("\xff\xff\xff\xff\xff\xff\xff\xff"), NULL},
		{VPD("\x00\x00\x00\x00\x00\x00\x00\x00"), NULL},
	};

	(void)state;
	for (size_t i = 0; i < array_len(t); i++) {
		/* on the heap, so that a read beyond the end is seen */
		char *copy = memcpy(xcalloc(1, t[i].len + 1), t[i].vpd, t[i].len);
		cleanup_free char *exact = xcalloc(1, t[i].len ? t[i].len : 1);
		cleanup_free char *pn = NULL;

		memcpy(exact, copy, t[i].len);
		free(copy);
		pn = vpd_part_number(exact, t[i].len);
		if (!pn != !t[i].pn || (pn && !streq(pn, t[i].pn)))
			fail_msg("%zu: '%s', not '%s'", i, pn ? pn : "-", t[i].pn ? t[i].pn : "-");
	}
}

static void test_vpd_of_part_number(void **state)
{
	static const char *const names[] = {"MCX755106AS-HEAT", "X"};

	(void)state;
	for (size_t i = 0; i < array_len(names); i++) {
		size_t len;
		cleanup_free char *vpd = vpd_with(names[i], "7", &len);
		cleanup_free char *pn = vpd_part_number(vpd, len);
		struct vpd_field v3;

		assert_string_equal(pn, names[i]);
		assert_true(vpd_find(vpd, len, "V3", &v3));
		assert_int_equal(v3.len, 1);
		assert_int_equal(*v3.data, '7');
	}
}

static void test_part_number_sets(void **state)
{
	static const struct selector sels[] = {SEL_PN("nics", "MCX7*"), SEL_PN("other", "E810*")};
	struct tmp *t = *state;
	struct device_sets sets;
	struct node node;
	size_t len;
	cleanup_free char *vpd = vpd_with("MCX715A", NULL, &len);
	FILE *f;

	make_node(t);
	f = fopen(tmp_path(t, FN("0000:3b:00.0") "vpd"), "w");
	assert_int_equal(fwrite(vpd, 1, len, f), len);
	fclose(f);
	node = survey(t);
	assert_null(node_find(&node, "0000:3b:00.0")->part_number); /* not in the survey */
	device_sets_prepare(&t->root, &node, sels, array_len(sels));
	assert_string_equal(node_find(&node, "0000:3b:00.0")->part_number, "MCX715A");
	assert_null(node_find(&node, "0000:3b:00.1")->part_number);
	assert_int_equal(device_sets_resolve(&node, sels, 2, &sets, &t->err), 0);
	assert_int_equal(sets.set.v[0].fn.n, 1);
	assert_int_equal(sets.set.v[1].fn.n, 0);
	device_sets_free(&sets);
	node_free(&node);
}

/* --- device sets ----------------------------------------------------------------------- */

static char *members(const struct device_sets *sets, const char *name)
{
	const struct device_set *set = device_sets_find(sets, name);
	struct str text = {0};

	assert_non_null(set);
	for (size_t i = 0; i < set->fn.n; i++)
		str_addf(&text, "%s%s", i ? " " : "", set->fn.v[i]->addr + 5);
	return str_take(&text);
}

static void test_predicates(void **state)
{
	static const struct {
		struct selector sel;
		const char *fns; /* without the domain */
	} t[] = {
		{SEL("a"), "3b:00.0 3b:00.1 81:00.0 c1:00.0 c2:00.0 c2:00.1 :e1:00.0"},
		{SEL("a", .vendor = 0x15b3), "3b:00.0 3b:00.1 81:00.0 c1:00.0"},
		{SEL("a", CX7), "3b:00.0 3b:00.1 81:00.0 c1:00.0"},
		{SEL("a", .vendor = 0x15b3, .device = 0x101e), ""}, /* VFs are in no set */
		{SEL("a", .subsystem_vendor = 0x15b3, .subsystem_device = 0x41), "81:00.0"},
		{SEL("a", .subsystem_vendor = 0x15b3), "3b:00.0 3b:00.1 81:00.0 c1:00.0"},
		{SEL("a", .address = (char *)"0000:3b:00.0"), "3b:00.0"},
		{SEL("a", .address = (char *)"0000:3b:*"), "3b:00.0 3b:00.1"},
		{SEL("a", .address = (char *)"*:00.1"), "3b:00.1 c2:00.1"},
		{SEL("a", .address = (char *)"0000:ff:*"), ""},
		{SEL("a", .driver = (char *)"ixgbe"), ":e1:00.0"},
		{SEL("a", .driver = (char *)"mlx5"), ""},
		{SEL("a", .numa = 1), "81:00.0 c1:00.0 c2:00.0"},
		{SEL("a", .numa = 7), ""},
		{SEL("a", CX7, .ports = 2), "3b:00.0 3b:00.1"},
		{SEL("a", CX7, .ports = 1), "81:00.0 c1:00.0"},
		{SEL("a", .ports = 2), "3b:00.0 3b:00.1 c2:00.0 c2:00.1"},
		{SEL("a", CX7, .port = 1), "3b:00.0 81:00.0 c1:00.0"},
		{SEL("a", CX7, .port = 2), "3b:00.1"},
		{SEL("a", .port = 3), ""}, /* the VF at .2 is no port */
		{SEL("a", CX7, .part_number = (char *)"*"), ""},
		{SEL("a", CX7, .ethernet = true), "3b:00.0 3b:00.1 81:00.0"},
		{SEL("a", CX7, .infiniband = true), "c1:00.0"},
		{SEL("a", CX7, .numa = 1, .ethernet = true), "81:00.0"},
		{SEL("a", CX7, .expect = 99), "3b:00.0 3b:00.1 81:00.0 c1:00.0"},
	};
	struct tmp *tmp = *state;
	struct node node;

	make_node(tmp);
	node = survey(tmp);
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *got = NULL;
		struct device_sets sets;

		assert_int_equal(device_sets_resolve(&node, &t[i].sel, 1, &sets, &tmp->err), 0);
		got = members(&sets, "a");
		if (!streq(got, t[i].fns))
			fail_msg("%zu: '%s', not '%s'", i, got, t[i].fns);
		assert_null(device_sets_find(&sets, "b"));
		device_sets_free(&sets);
	}
	node_free(&node);
}

static void test_why_excluded(void **state)
{
	static const struct {
		struct selector sel;
		const char *addr, *why; /* NULL: it is a member */
	} t[] = {
		{SEL("a"), "0000:3b:00.0", NULL},
		{SEL("a"), "0000:3b:00.2",
		 "vf: a VF of 0000:3b:00.0, expected a PF (`vfs of SET` names VFs)"},
		{SEL("a", CX7), "0000:c2:00.0", "pci: 10de:2330, expected 15b3:1021"},
		{SEL("a", .vendor = 0x15b3), "0000:c2:00.0", "pci: 10de:2330, expected 15b3:*"},
		{SEL("a", .subsystem_vendor = 1, .subsystem_device = 2), "0000:3b:00.0",
		 "subsystem: 15b3:0023, expected 0001:0002"},
		{SEL("a", .address = (char *)"x"), "0000:3b:00.0",
		 "address: 0000:3b:00.0, expected x"},
		{SEL("a", .driver = (char *)"x"), "0000:3b:00.0", "driver: mlx5_core, expected x"},
		{SEL("a", .driver = (char *)"x"), "0000:c2:00.0", "driver: none, expected x"},
		{SEL("a", .numa = 3), "0000:3b:00.0", "numa: 0, expected 3"},
		{SEL("a", .numa = 3), "0000:c2:00.1", "numa: unknown, expected 3"},
		{SEL("a", .ports = 4), "0000:3b:00.0", "ports: the card has 2, expected 4"},
		{SEL("a", .port = 2), "0000:3b:00.0", "port: 1 of the card, expected 2"},
		{SEL("a", .port = 2), "0000:3b:00.1", NULL},
		{SEL("a", .part_number = (char *)"MCX7*"), "0000:3b:00.0",
		 "part_number: unknown, expected MCX7*"},
		{SEL("a", .ethernet = true), "0000:c1:00.0",
		 "link: class 0207, expected an Ethernet controller (0200)"},
		{SEL("a", .infiniband = true), "0000:3b:00.0",
		 "link: class 0200, expected an InfiniBand controller (0207)"},
	};
	struct tmp *tmp = *state;
	struct node node;

	make_node(tmp);
	node = survey(tmp);
	for (size_t i = 0; i < array_len(t); i++) {
		const struct pci_fn *fn = node_find(&node, t[i].addr);
		cleanup(mismatch_free) struct mismatch m = {0};
		bool excluded = selector_excludes(&node, &t[i].sel, fn, &m);
		cleanup_free char *why = xasprintf("%s: %s, expected %s", or_empty(m.predicate),
						   or_empty(m.found), or_empty(m.wanted));

		assert_int_equal(excluded, t[i].why != NULL);
		if (excluded)
			assert_string_equal(why, t[i].why);
		assert_int_equal(selector_excludes(&node, &t[i].sel, fn, NULL), t[i].why != NULL);
	}
	node_free(&node);
}

static void test_families(void **state)
{
	static const struct selector sels[] = {
		SEL("nics", CX7),
		SEL("rails", IN("nics"), .ethernet = true),
		SEL("rail2", IN("rails"), .numa = 1),
		SEL("all"),
		SEL("mgmt", .address = (char *)"0000:3b:00.1", .protect = true),
		SEL("port", IN("mgmt")),
	};
	static const struct {
		const char *name, *fns;
	} t[] = {
		{"nics", "3b:00.0 81:00.0 c1:00.0"}, /* what is protected is in no other set */
		{"rails", "3b:00.0 81:00.0"},
		{"rail2", "81:00.0"},
		{"all", "3b:00.0 81:00.0 c1:00.0 c2:00.0 c2:00.1 :e1:00.0"},
		{"mgmt", "3b:00.1"},
		{"port", ""},
	};
	struct tmp *tmp = *state;
	struct device_sets sets;
	struct node node;

	make_node(tmp);
	node = survey(tmp);
	assert_int_equal(device_sets_resolve(&node, sels, array_len(sels), &sets, &tmp->err), 0);
	assert_int_equal(sets.set.n, array_len(sels));
	for (size_t i = 0; i < array_len(t); i++) {
		cleanup_free char *got = members(&sets, t[i].name);

		assert_string_equal(got, t[i].fns);
	}
	device_sets_free(&sets);
	node_free(&node);
}

static void test_bad_families(void **state)
{
	static const struct {
		struct selector sels[3];
		const char *why;
	} t[] = {
		{{SEL("a", IN("b")), SEL("b"), SEL("c", IN("nowhere"))},
		 "devices.c.in: there is no set 'nowhere'"},
		{{SEL("a", IN("a")), SEL("b"), SEL("c")}, "devices.a.in: refers back to itself"},
		{{SEL("a", IN("b")), SEL("b", IN("c")), SEL("c", IN("a"))},
		 "devices.a.in: refers back to itself"},
		{{SEL("a", IN("b")), SEL("b", IN("c")), SEL("c", IN("b"))},
		 "devices.a.in: refers back to itself"},
	};
	struct tmp *tmp = *state;
	struct node node = survey(tmp);

	for (size_t i = 0; i < array_len(t); i++) {
		struct device_sets sets;

		assert_int_equal(device_sets_resolve(&node, t[i].sels, 3, &sets, &tmp->err),
				 -EINVAL);
		assert_string_equal(tmp->err.text, t[i].why);
	}
	node_free(&node);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, tmp_setup, tmp_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_machine),
		TEST(test_functions),
		TEST(test_nothing_there),
		TEST(test_odd_values),
		TEST(test_vendors),
		TEST(test_sockets),
		TEST(test_package_lists),
		TEST(test_no_lists),
		TEST(test_gpu_memory_nodes),
		TEST(test_huge_cpuinfo),
		TEST(test_numa_values),
		TEST(test_modalias),
		TEST(test_domains),
		TEST(test_many_functions),
		TEST(test_unreadable),
		TEST(test_vpd),
		TEST(test_vpd_of_part_number),
		TEST(test_part_number_sets),
		TEST(test_predicates),
		TEST(test_why_excluded),
		TEST(test_families),
		TEST(test_bad_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
