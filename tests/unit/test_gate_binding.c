/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What numbers stand on: what is read, what a difference is called, and what is never shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/binding.h"
#include "tree.h"

#define DMI "sys/firmware/dmi/tables/DMI"
#define FN "sys/devices/pci0000:00/0000:3b:00.0"
#define NODE "sys/devices/system/node/"
#define CLOCK "sys/devices/system/clocksource/clocksource0/current_clocksource"
/* A GPU below a switch. */
#define PORT "sys/devices/pci0000:00/0000:00:01.0"
#define SWITCH PORT "/0000:10:00.0"
#define SWITCH_PORT SWITCH "/0000:11:00.0"
#define GPU SWITCH_PORT "/0000:4b:00.0"

#define CPUFREQ "sys/devices/system/cpu/cpu0/cpufreq/"
#define BALANCING "proc/sys/kernel/numa_balancing"

static const struct tree_file machine[] = {
	{"proc/version", "Linux version 6.1.0 (gcc)\n"},
	{"proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"},
	{"proc/cmdline", "BOOT_IMAGE=/a root=/dev/vda2 ro iommu=pt railhead.slot=a\n"},
	{"proc/cpuinfo", "processor\t: 0\nmodel name\t: Xeon 8480\nmicrocode\t: 0x2b\n\n"
			 "processor\t: 1\nmodel name\t: Xeon 8480\nmicrocode\t: 0x99\n"},
	{"sys/devices/system/cpu/present", "0-3\n"},
	{"sys/class/dmi/id/bios_version", "1.1\n"},
	{"sys/class/dmi/id/bios_date", "01/02/2026\n"},
	{"sys/class/dmi/id/product_serial", "S3CRET-A\n"},
	{"sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n"},
	{"sys/class/infiniband/mlx5_0/node_guid", "0000:0000:0000:0001\n"},
	{FN "/infiniband/mlx5_0/node_type", "1: CA\n"},
	{FN "/net/eth0/address", "02:00:00:00:00:01\n"},
	{FN "/net/eth0/addr_assign_type", "0\n"},
	{"sys/module/mlx5_core/version", "24.10\n"},
	{"sys/module/mlx5_core/srcversion", "ABCDEF\n"},
	{"sys/module/ib_core/initstate", "live\n"},
	{"proc/driver/nvidia/gpus/0000:3b:00.0/information",
	 "Model: \t\t H100\nGPU UUID:   \t GPU-1\nVideo BIOS: \t 96.00\n"},
	{FN "/nvme/nvme0/x", "\n"},
	{"sys/class/nvme/nvme0/serial", "NVMESERIAL\n"},
	{FN "/numa_node", "0\n"},
	{FN "/current_link_width", "16\n"},
	{FN "/current_link_speed", "32.0 GT/s PCIe\n"},
	{NODE "online", "0-1\n"},
	{NODE "node0/cpulist", "0-3\n"},
	{NODE "node0/meminfo", "Node 0 MemTotal:       16400000 kB\n"},
	{CLOCK, "tsc\n"},
	{FN "/iommu_group/type", "identity\n"},
	{BALANCING, "0\n"},
	{CPUFREQ "scaling_governor", "performance\n"},
	{CPUFREQ "scaling_driver", "acpi-cpufreq\n"},
};

/* One module: type 17, 8 bytes formatted, handle, 4 of values, strings; then the end, 127. */
static const char dmi[] = "\x11\x08\x01\x00"
			  "\x10\x27\x00\x00"
			  "DIMM_A1\0SN1\0\0"
			  "\x7f\x04\x02\x00\0";

struct taken {
	struct node node;
	struct device_sets sets;
	struct selector sel;
	struct profile profile;
	struct binding binding;
};

static void take(const struct tmp *t, struct taken *ret)
{
	struct err err = {0};

	*ret = (struct taken){.profile = {.digest = "0123456789abcdef"},
			      .sel = {.name = (char *)"nics",
				      .vendor = -1,
				      .device = -1,
				      .address = (char *)"0000:[34]b:*",
				      .subsystem_vendor = -1,
				      .subsystem_device = -1,
				      .numa = -1,
				      .expect = -1}};
	assert_int_equal(node_survey(&t->root, &ret->node, &err), 0);
	assert_int_equal(device_sets_resolve(&ret->node, &ret->sel, 1, &ret->sets, &err), 0);
	binding_take(&t->root, &ret->profile, &ret->node, &ret->sets, &ret->binding);
}

static void drop(struct taken *t)
{
	binding_free(&t->binding);
	device_sets_free(&t->sets);
	node_free(&t->node);
}

static json_t *taken_json(const struct tmp *t)
{
	struct taken now;
	json_t *obj;

	take(t, &now);
	obj = stored_to_json(binding_stored, &now.binding);
	drop(&now);
	return obj;
}

static char *difference(const struct binding *now, const json_t *was)
{
	struct binding before = {0};
	char *why;

	stored_from_json(binding_stored, was, &before);
	why = binding_difference(now, &before);
	binding_free(&before);
	return why;
}

static void write_bytes(const struct tmp *t, const char *name, const void *data, size_t len)
{
	FILE *f = fopen(tmp_path(t, name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static const struct tree_fn nic = {.addr = "0000:3b:00.0",
				   .ids = "15b3:1021",
				   .class = "0x020000",
				   .driver = "mlx5_core",
				   .net = "eth0"};

static int setup(void **state)
{
	int r = tmp_setup(state);

	if (r < 0)
		return r;
	tree_pci(*state, &nic);
	tree_write(*state, machine, array_len(machine));
	write_bytes(*state, DMI, dmi, sizeof(dmi));
	return 0;
}

/* Returns the difference, NULL for none, after the file has that text (NULL: is not there). */
static char *after(struct tmp *t, const char *file, const char *text)
{
	json_t *was = taken_json(t);
	struct taken now;
	char *why;

	if (text)
		tmp_write(t, file, text);
	else
		tree_remove(t, file);
	take(t, &now);
	why = difference(&now.binding, was);
	drop(&now);
	json_decref(was);
	return why;
}

static void differs_in(struct tmp *t, const char *file, const char *text, const char *want)
{
	cleanup_free char *why = after(t, file, text);

	if (want ? !why || strcmp(why, want) != 0 : !!why)
		fail_msg("%s: '%s', wanted '%s'", file, why ? why : "nothing",
			 want ? want : "nothing");
}

static void test_parts(void **state)
{
	static const struct {
		const char *name, *value; /* NULL: a digest */
	} want[] = {
		{"profile", "0123456789ab"},
		{"railhead", RAILHEAD_VERSION},
		{"kernel", "6.1.0-18-amd64"},
		{"build of the kernel", NULL},
		{"kernel arguments", NULL},
		{"BIOS", "1.1, 01/02/2026"},
		{"serial number of the machine", NULL},
		{"memory modules", NULL},
		{"CPUs", "4"},
		{"NUMA nodes", "0-1"},
		{"CPUs of node 0", "0-3"},
		{"memory of node 0", "16 GiB"},
		{"clock source", "tsc"},
		{"members of nics", "1"},
		{"model name", "Xeon 8480"},
		{"microcode", "0x2b"},
		{"model of 0000:3b:00.0", "15b3:1021 0000:0000"},
		{"driver mlx5_core", "24.10 ABCDEF"},
		{"driver ib_core", "of the kernel"},
		{"firmware of 0000:3b:00.0", "28.39.1002"},
		{"video BIOS of 0000:3b:00.0", "96.00"},
		{"serial number of 0000:3b:00.0", NULL},
		{"link width of 0000:3b:00.0", "x16"},
		{"link speed of 0000:3b:00.0", "32.0 GT/s PCIe"},
		{"IOMMU of 0000:3b:00.0", "identity"},
		{"automatic NUMA balancing", "off"},
		{"frequency governor of node 0", "performance (acpi-cpufreq)"},
		{"NUMA node of 0000:3b:00.0", "0"},
		{"set of 0000:3b:00.0", "nics"},
	};
	json_t *obj = taken_json(*state);
	cleanup_free char *all = json_dumps(obj, 0);

	for (size_t i = 0; i < array_len(want); i++) {
		const char *value = json_string_value(json_object_get(obj, want[i].name));

		if (!value)
			fail_msg("%s is missing in %s", want[i].name, all);
		if (want[i].value)
			assert_string_equal(value, want[i].value);
		else
			assert_int_equal(strncmp(value, "digest ", 7), 0);
	}
	assert_int_equal(json_object_size(obj), array_len(want));
	/* no serial number in any form */
	assert_null(strstr(all, "S3CRET"));
	assert_null(strstr(all, "0000:0001"));
	assert_null(strstr(all, "02:00"));
	assert_null(strstr(all, "GPU-1"));
	assert_null(strstr(all, "NVMESERIAL"));
	assert_null(strstr(all, "SN1"));
	json_decref(obj);
}

static void test_differences(void **state)
{
	static const struct {
		const char *file, *text, *why;
	} t[] = {
		{"proc/version", "Linux version 6.1.0 (clang)\n", "build of the kernel: changed"},
		{"proc/sys/kernel/osrelease", "6.1.0-20-amd64\n",
		 "kernel: 6.1.0-20-amd64, was 6.1.0-18-amd64"},
		/* the loader's own, and railhead's */
		{"proc/cmdline", "BOOT_IMAGE=/b root=/dev/vda2 ro iommu=pt railhead.slot=b\n",
		 NULL},
		/* what a trial boot had besides */
		{"proc/cmdline",
		 "BOOT_IMAGE=/b root=/dev/vda2 ro iommu=pt railhead.slot=b railhead.trial=2 "
		 "panic=30 "
		 "rd.shell=0 rd.emergency=reboot rd.timeout=240\n",
		 NULL},
		{"proc/cmdline", "BOOT_IMAGE=/b root=/dev/vda2 ro iommu=pt panic=300\n",
		 "kernel arguments: changed"},
		{"proc/cmdline", "BOOT_IMAGE=/b root=/dev/vda2 ro iommu=pt railhead.slot=b\n",
		 "kernel arguments: changed"},
		{"proc/cmdline", "BOOT_IMAGE=/b root=/dev/vda2 ro railhead.slot=b\n",
		 "kernel arguments: changed"},
		{"sys/class/dmi/id/bios_version", "1.2\n",
		 "BIOS: 1.2, 01/02/2026, was 1.1, 01/02/2026"},
		{"sys/class/dmi/id/product_serial", "S3CRET-B\n",
		 "serial number of the machine: changed"},
		{"sys/class/dmi/id/product_serial", NULL,
		 "serial number of the machine: not known now"},
		{"sys/class/dmi/id/product_serial", "S3CRET-A\n",
		 "serial number of the machine: not known before"},
		{"sys/class/infiniband/mlx5_0/fw_ver", "28.41.1000\n",
		 "firmware of 0000:3b:00.0: 28.41.1000, was 28.39.1002"},
		{"sys/class/infiniband/mlx5_0/node_guid", "0000:0000:0000:0002\n",
		 "serial number of 0000:3b:00.0: changed"},
		{FN "/net/eth0/address", "02:00:00:00:00:02\n",
		 "serial number of 0000:3b:00.0: changed"},
		/* somebody gave it another one: that says nothing of the card */
		{FN "/net/eth0/addr_assign_type", "3\n", "serial number of 0000:3b:00.0: changed"},
		{FN "/net/eth0/address", "02:00:00:00:00:03\n", NULL},
		{"sys/class/nvme/nvme0/serial", "OTHER\n",
		 "serial number of 0000:3b:00.0: changed"},
		{"sys/module/mlx5_core/srcversion", "FEDCBA\n",
		 "driver mlx5_core: 24.10 FEDCBA, was 24.10 ABCDEF"},
		{"sys/devices/system/cpu/present", "0-2\n", "CPUs: 3, was 4"},
		{DMI, "\x11\x08\x01", "memory modules: not known now"},
		{FN "/current_link_width", "1\n", "link width of 0000:3b:00.0: x1, was x16"},
		{FN "/current_link_speed", "2.5 GT/s PCIe\n",
		 "link speed of 0000:3b:00.0: 2.5 GT/s PCIe, was 32.0 GT/s PCIe"},
		{NODE "node0/cpulist", "0-1\n", "CPUs of node 0: 0-1, was 0-3"},
		/* the kernel leaves a few pages more or less to others than itself, boot for boot
		 */
		{NODE "node0/meminfo", "Node 0 MemTotal:       16399000 kB\n", NULL},
		{NODE "node0/meminfo", "Node 0 MemTotal:       8200000 kB\n",
		 "memory of node 0: 8 GiB, was 16 GiB"},
		{NODE "online", "0\n", "NUMA nodes: 0, was 0-1"},
		{CLOCK, "hpet\n", "clock source: hpet, was tsc"},
		{FN "/iommu_group/type", "DMA\n", "IOMMU of 0000:3b:00.0: DMA, was identity"},
		{BALANCING, "1\n", "automatic NUMA balancing: on, was off"},
		{CPUFREQ "scaling_governor", "powersave\n",
		 "frequency governor of node 0: powersave (acpi-cpufreq), was performance "
		 "(acpi-cpufreq)"},
	};

	for (size_t i = 0; i < array_len(t); i++)
		differs_in(*state, t[i].file, t[i].text, t[i].why);
}

/* The module with the RDMA device of a NIC, for each driver that has one. */
static void test_rdma_module(void **state)
{
	struct tree_fn fn = nic;

	fn.driver = "qede";
	tree_pci(*state, &fn);
	tmp_write(*state, "sys/module/qedr/srcversion", "ABCDEF\n");
	differs_in(*state, "sys/module/qedr/srcversion", "FEDCBA\n",
		   "driver qedr: FEDCBA, was ABCDEF");
}

static void add_pci(const struct tmp *t, const char *dir, const char *vendor, const char *class)
{
	cleanup_free char *bus = xasprintf("sys/bus/pci/devices/%s", strrchr(dir, '/') + 1);
	cleanup_free char *place = xasprintf("../../../../%s", dir);
	const char *const files[][2] = {{"vendor", vendor},
					{"class", class},
					{"current_link_width", "16\n"},
					{"current_link_speed", "32.0 GT/s PCIe\n"}};

	for (size_t i = 0; i < array_len(files); i++) {
		cleanup_free char *file = xasprintf("%s/%s", dir, files[i][0]);

		tmp_write(t, file, files[i][1]);
	}
	tree_link(t, bus, place);
}

/* Wherever the way to the root is narrow the function is slow; a GPU's own link may sleep. */
static void test_links_above(void **state)
{
	static const char slow[] = "2.5 GT/s PCIe\n", fast[] = "32.0 GT/s PCIe\n";
	struct tmp *t = *state;

	add_pci(t, PORT, "0x8086\n", "0x060400\n");
	add_pci(t, SWITCH, "0x1000\n", "0x060400\n");
	add_pci(t, SWITCH_PORT, "0x1000\n", "0x060400\n");
	add_pci(t, GPU, "0x10de\n", "0x030200\n");
	differs_in(t, GPU "/current_link_width", "8\n", "link width of 0000:4b:00.0: x8, was x16");
	differs_in(t, SWITCH_PORT "/current_link_width", "4\n",
		   "link width of 0000:11:00.0: x4, was x16");
	differs_in(t, GPU "/current_link_speed", slow, NULL);
	differs_in(t, SWITCH_PORT "/current_link_speed", slow, NULL);
	differs_in(t, SWITCH "/current_link_speed", slow,
		   "link speed of 0000:10:00.0: 2.5 GT/s PCIe, was 32.0 GT/s PCIe");
	differs_in(t, PORT "/current_link_speed", slow,
		   "link speed of 0000:00:01.0: 2.5 GT/s PCIe, was 32.0 GT/s PCIe");
	/* the switch is a part of the GPU: what sleeps is the link above that */
	tmp_write(t, SWITCH "/vendor", "0x10de\n");
	tmp_write(t, SWITCH_PORT "/vendor", "0x10de\n");
	differs_in(t, PORT "/current_link_speed", fast, NULL);
	differs_in(t, SWITCH "/current_link_speed", fast, NULL);
	/* the port of a NIC is wide awake */
	tmp_write(t, GPU "/class", "0x020000\n");
	differs_in(t, PORT "/current_link_speed", slow,
		   "link speed of 0000:00:01.0: 2.5 GT/s PCIe, was 32.0 GT/s PCIe");
}

/* A function less, or more. */
static void test_members(void **state)
{
	json_t *obj;

	add_pci(*state, GPU, "0x10de\n", "0x030200\n");
	obj = taken_json(*state);
	assert_string_equal(json_string_value(json_object_get(obj, "root port of 0000:4b:00.0")),
			    "0000:00:01.0");
	json_decref(obj);
	differs_in(*state, "sys/bus/pci/devices/0000:4b:00.0", NULL,
		   "members of nics: 1, was 2; model of 0000:4b:00.0: not known now; and 3 more");
}

/* The third and more are counted. */
static void test_many(void **state)
{
	json_t *was = taken_json(*state), *not_one = json_array();
	cleanup_free char *four = NULL, *all = NULL;
	struct taken now;

	json_object_set_new(was, "BIOS", json_string("0.9"));
	json_object_set_new(was, "CPUs", json_string("2"));
	json_object_set_new(was, "microcode", json_string("0x1"));
	json_object_set_new(was, "gone", json_string("x"));
	take(*state, &now);
	four = difference(&now.binding, was);
	assert_string_equal(four, "BIOS: 1.1, 01/02/2026, was 0.9; CPUs: 4, was 2; and 2 more");
	all = difference(&now.binding, not_one);
	assert_text(all, "not known before");
	drop(&now);
	json_decref(was);
	json_decref(not_one);
}

/* Two devices of one function are in one part. */
static void test_two_of_a_name(void **state)
{
	cleanup_free char *why = NULL;
	json_t *obj;

	tmp_write(*state, FN "/infiniband/mlx5_1/node_type", "1: CA\n");
	tmp_write(*state, "sys/class/infiniband/mlx5_1/fw_ver", "28.40\n");
	obj = taken_json(*state);
	assert_string_equal(json_string_value(json_object_get(obj, "firmware of 0000:3b:00.0")),
			    "28.39.1002, 28.40");
	why = after(*state, "sys/class/infiniband/mlx5_1/fw_ver", "28.40\n");
	assert_null(why);
	json_decref(obj);
}

/* The table comes from the firmware: whatever it holds, it is read to its end and no further. */
static void test_torn_tables(void **state)
{
	uint32_t seed = 1;

	for (size_t len = 0; len <= sizeof(dmi); len++) {
		char *torn = xcalloc(1, len + 1); /* of its own size, for the sanitizer */

		memcpy(torn, dmi, len);
		write_bytes(*state, DMI, torn, len);
		json_decref(taken_json(*state));
		free(torn);
	}
	for (int i = 0; i < 200; i++) {
		char noise[64];

		for (size_t j = 0; j < sizeof(noise); j++) {
			seed = seed * 1664525 + 1013904223;
			noise[j] = (char)(seed >> 24);
		}
		noise[0] = 17;
		write_bytes(*state, DMI, noise, sizeof(noise));
		json_decref(taken_json(*state));
	}
}

/* A machine of which nothing can be read has parts all the same, and is like itself. */
static void test_nothing_known(void **state)
{
	struct tmp *t = *state;
	json_t *was = taken_json(t);
	struct taken now;

	take(t, &now);
	assert_null(difference(&now.binding, was));
	drop(&now);
	json_decref(was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_parts, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_differences, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_rdma_module, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_links_above, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_members, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_two_of_a_name, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_torn_tables, setup, tmp_teardown),
		cmocka_unit_test_setup_teardown(test_nothing_known, tmp_setup, tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
