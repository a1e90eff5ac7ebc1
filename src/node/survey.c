/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the topology of the machine from /proc and /sys. Nothing here takes rtnl or a device lock,
 * or wakes a device, so that a survey cannot hang behind a stuck driver.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/drivers.h"
#include "node/node.h"
#include "sys/read.h"

#define PCI_DIR "/sys/bus/pci/devices"
#define CPU_DIR "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"

enum { CLASS_DISPLAY = 0x03, CLASS_ACCELERATOR = 0x12 }; /* base classes */

static const struct {
	const char *name;
	size_t offset;
} dmi_fields[] = {
#define DMI(field)                                       \
	{                                                \
#field, offsetof(struct node, dmi.field) \
	}
	DMI(sys_vendor),      DMI(product_name),      DMI(product_family), DMI(product_sku),
	DMI(product_version), DMI(board_vendor),      DMI(board_name),	   DMI(chassis_vendor),
	DMI(bios_vendor),     DMI(chassis_asset_tag),
#undef DMI
};

/* Each is a bit of node->asked. */
enum part {
	PART_CPU_VENDOR,
	PART_ARCH,
	PART_SOCKETS,
	PART_MEMORY,
	PART_PLACES,
	PART_PCI,
	PART_DMI, /* and the following: one for each DMI field */
};

/*
 * The node, if this part must be read now; else NULL. The node is const for its readers, who see
 * the same value whether a part was read early or is read now.
 */
static struct node *first_asked(const struct node *node, unsigned int part)
{
	struct node *filled = (struct node *)node;

	if (!node->root || node->asked & 1U << part)
		return NULL;
	filled->asked |= 1U << part;
	return filled;
}

static char **dmi_slot(const struct node *node, size_t i)
{
	return (char **)((char *)node + dmi_fields[i].offset);
}

const char *node_dmi(const struct node *node, const char *field)
{
	for (size_t i = 0; i < array_len(dmi_fields); i++) {
		char **slot = dmi_slot(node, i);

		if (!streq(dmi_fields[i].name, field))
			continue;
		if (first_asked(node, PART_DMI + i))
			read_attr(node->root, slot, NULL, "/sys/class/dmi/id/%s", field);
		return *slot ? *slot : "";
	}
	return NULL;
}

static enum cpu_vendor vendor_of(const char *cpuinfo)
{
	static const struct {
		const char *line;
		enum cpu_vendor vendor;
	} known[] = {
		{"GenuineIntel", CPU_INTEL},
		{"AuthenticAMD", CPU_AMD},
		{"HygonGenuine", CPU_AMD}, /* has AMD's IOMMU, with the same driver */
		{"CPU implementer", CPU_ARM},
	};

	for (size_t i = 0; i < array_len(known); i++)
		if (strstr(cpuinfo, known[i].line))
			return known[i].vendor;
	return CPU_UNKNOWN;
}

const char *cpu_vendor_name(enum cpu_vendor v)
{
	static const char *const names[] = {[CPU_UNKNOWN] = "unknown",
					    [CPU_INTEL] = "intel",
					    [CPU_AMD] = "amd",
					    [CPU_ARM] = "arm"};

	return names[v];
}

/* False if the file is missing. Malformed text gives an empty list. */
static bool read_cpus(const struct root *root, struct cpus *ret, const char *path)
{
	cleanup_free char *text = NULL;

	if (read_attr(root, &text, NULL, "%s", path) < 0)
		return false;
	cpus_parse(text, ret);
	return true;
}

/* A list of CPUs with two names; kernels before 5.3 have only old_name. */
struct siblings {
	const char *name, *old_name;
};
static const struct siblings of_package = {"package_cpus_list", "core_siblings_list"};
static const struct siblings of_core = {"core_cpus_list", "thread_siblings_list"};

/*
 * The siblings of cpu, from the first of the two files that exists; only cpu if both are missing.
 */
static bool siblings_of(const struct root *root, unsigned int cpu, const struct siblings *list,
			struct cpus *ret)
{
	const char *const names[] = {list->name, list->old_name};

	for (size_t i = 0; i < array_len(names); i++) {
		cleanup_free char *text = NULL;

		if (read_attr(root, &text, NULL, CPU_DIR "/cpu%u/topology/%s", cpu, names[i]) ==
			    0 &&
		    cpus_parse(text, ret) == 0 && cpus_has(ret, cpu))
			return true;
	}
	*ret = (struct cpus){0};
	cpus_add(ret, cpu);
	return false;
}

/*
 * Package ids can be any number: on Arm they may be offsets in a firmware table. An offline CPU has
 * no topology. Where the kernel lists the CPUs of a package, read once for each package.
 */
static unsigned int count_packages(const struct root *root, const struct cpus *cpus)
{
	struct cpus left = *cpus;
	VEC(uint64_t) seen = {0};
	unsigned int n;

	for (int cpu = cpus_next(&left, -1); cpu >= 0; cpu = cpus_next(&left, cpu)) {
		struct cpus package = {0};
		uint64_t id;
		size_t i = 0;

		if (read_u64(root, &id, NULL, CPU_DIR "/cpu%d/topology/physical_package_id", cpu) <
		    0)
			continue;
		siblings_of(root, (unsigned int)cpu, &of_package, &package);
		cpus_remove_all(&left, &package);
		while (i < seen.n && seen.v[i] != id)
			i++;
		if (i == seen.n)
			vec_push(&seen, id);
	}
	n = (unsigned int)seen.n;
	vec_free(&seen);
	return n;
}

/* The CPUs that have a directory, for kernels and captures without `present`. */
static void cpus_of_dirs(const struct root *root, struct cpus *ret, const char *dir,
			 const char *prefix)
{
	cleanup_strv struct strv names = {0};
	size_t len = strlen(prefix);

	read_dir(root, &names, NULL, "%s", dir);
	for (size_t i = 0; i < names.n; i++) {
		uint64_t n;

		if (str_starts(names.v[i], prefix) && parse_u64(names.v[i] + len, &n) == 0 &&
		    n < CPUS_MAX)
			cpus_add(ret, (unsigned int)n);
	}
}

size_t node_count_online(const struct node *node)
{
	return cpus_count(&node->cpus) - cpus_count(&node->cpus_offline);
}

static void survey_cpu(const struct root *root, struct node *node)
{
	struct cpus online;

	if (!read_cpus(root, &node->cpus, CPU_DIR "/present"))
		cpus_of_dirs(root, &node->cpus, CPU_DIR, "cpu");
	if (read_cpus(root, &online, CPU_DIR "/online")) {
		node->cpus_offline = node->cpus;
		cpus_remove_all(&node->cpus_offline, &online);
	}
}

unsigned int node_sockets(const struct node *node)
{
	struct node *filled = first_asked(node, PART_SOCKETS);

	if (filled)
		filled->sockets = count_packages(node->root, &node->cpus);
	return node->sockets;
}

enum cpu_vendor node_cpu_vendor(const struct node *node)
{
	struct node *filled = first_asked(node, PART_CPU_VENDOR);
	cleanup_free char *info = NULL;

	/*
	 * The whole file has megabytes on large machines, and the kernel may ask every CPU for its
	 * clock; the first block is enough.
	 */
	if (filled && read_start(node->root, 8192, &info, NULL, NULL, "/proc/cpuinfo") == 0) {
		if (strstr(info, "\n\n"))
			*strstr(info, "\n\n") = '\0';
		filled->cpu_vendor = vendor_of(info);
	}
	return node->cpu_vendor;
}

/* Kernels before 6.1 lack the file; the vendor of the CPUs then determines the architecture. */
const char *node_arch(const struct node *node)
{
	static const char *const by_vendor[] = {[CPU_UNKNOWN] = "",
						[CPU_INTEL] = "x86_64",
						[CPU_AMD] = "x86_64",
						[CPU_ARM] = "aarch64"};
	struct node *filled = first_asked(node, PART_ARCH);

	if (filled && read_attr(node->root, &filled->arch, NULL, "/proc/sys/kernel/arch") < 0)
		filled->arch = xstrdup(by_vendor[node_cpu_vendor(node)]);
	return node->arch ? node->arch : "";
}

void node_cpus_of(const struct root *root, int numa, struct cpus *ret)
{
	cleanup_free char *path = xasprintf(NODE_DIR "/node%d/cpulist", numa);

	*ret = (struct cpus){0};
	read_cpus(root, ret, path);
}

/* Kernels before 3.8, and captures of a few files, have no `has_cpu`. */
static void find_nodes_with_cpu(const struct root *root, struct node *node)
{
	for (int n = cpus_next(&node->nodes, -1); n >= 0; n = cpus_next(&node->nodes, n)) {
		struct cpus cpus;

		node_cpus_of(root, n, &cpus);
		if (cpus_count(&cpus) > 0)
			cpus_add(&node->nodes_with_cpu, (unsigned int)n);
	}
}

/* One look per core; an offline CPU has no topology and is in no node's list. */
static void find_cores(const struct root *root, struct cpu_places *places)
{
	for (size_t i = 0; i < places->list.n; i++) {
		struct cpu_place *first = &places->list.v[i];
		struct cpus core = {0};

		if (first->core >= 0 || !siblings_of(root, first->cpu, &of_core, &core))
			continue;
		for (size_t j = i; j < places->list.n; j++)
			if (cpus_has(&core, places->list.v[j].cpu))
				places->list.v[j].core = (int)first->cpu;
	}
}

static void find_nodes_of_cpus(const struct root *root, const struct node *node,
			       struct cpu_places *places)
{
	bool one = cpus_count(&node->nodes) == 1; /* the kernel may then lack NUMA */

	for (int n = cpus_next(&node->nodes, -1); n >= 0; n = cpus_next(&node->nodes, n)) {
		struct cpus of_node;

		node_cpus_of(root, n, &of_node);
		for (size_t i = 0; i < places->list.n; i++)
			if (one || cpus_has(&of_node, places->list.v[i].cpu))
				places->list.v[i].numa = n;
	}
}

const struct cpu_places *node_places(const struct node *node)
{
	struct node *filled = first_asked(node, PART_PLACES);
	struct cpus online;

	if (!filled)
		return &node->places;
	node_online(node, &online);
	for (int cpu = cpus_next(&online, -1); cpu >= 0; cpu = cpus_next(&online, cpu)) {
		struct cpu_place place = {(unsigned int)cpu, -1, -1};

		vec_push(&filled->places.list, place);
	}
	find_nodes_of_cpus(node->root, node, &filled->places);
	find_cores(node->root, &filled->places);
	return &node->places;
}

/* "Node 0 MemTotal:  16777216 kB" */
static void read_memory_of(const struct root *root, struct node *node)
{
	for (int n = cpus_next(&node->nodes, -1); n >= 0; n = cpus_next(&node->nodes, n)) {
		cleanup_free char *text = NULL;
		unsigned long long kib;
		struct numa_memory m = {.node = (unsigned int)n};

		if (read_attr(root, &text, NULL, NODE_DIR "/node%d/meminfo", n) < 0 ||
		    sscanf(text, "Node %*d MemTotal: %llu kB", &kib) != 1)
			continue;
		m.bytes = kib << 10;
		vec_push(&node->memory.of, m);
	}
}

/* "hugepages-1048576kB"; all NUMA nodes have the same sizes. */
static void read_page_sizes(const struct root *root, struct node *node)
{
	cleanup_strv struct strv names = {0};
	unsigned long long kib;

	read_dir(root, &names, NULL, NODE_DIR "/node%d/hugepages", cpus_first(&node->nodes));
	for (size_t i = 0; i < names.n; i++)
		if (sscanf(names.v[i], "hugepages-%llukB", &kib) == 1)
			vec_push(&node->memory.page_sizes, (uint64_t)kib << 10);
}

const struct node_memory *node_memory(const struct node *node)
{
	struct node *filled = first_asked(node, PART_MEMORY);
	cleanup_free char *text = NULL;
	unsigned long long kib;

	if (!filled)
		return &node->memory;
	if (read_attr(node->root, &text, NULL, "/proc/meminfo") == 0 &&
	    sscanf(text, "MemTotal: %llu kB", &kib) == 1)
		filled->memory.bytes = kib << 10;
	read_memory_of(node->root, filled);
	read_page_sizes(node->root, filled);
	return &node->memory;
}

static void survey_nodes(const struct root *root, struct node *node)
{
	if (!read_cpus(root, &node->nodes, NODE_DIR "/online"))
		cpus_of_dirs(root, &node->nodes, NODE_DIR, "node");
	if (!read_cpus(root, &node->nodes_with_cpu, NODE_DIR "/has_cpu"))
		find_nodes_with_cpu(root, node);
	if (cpus_count(&node->nodes) == 0) {
		cpus_add(&node->nodes, 0);
		cpus_add(&node->nodes_with_cpu, 0);
	}
}

/* Notes the first result that does not mean absence. */
static void note(struct pci_fn *fn, const char *file, int r)
{
	if (r < 0 && !root_lacks(r) && !fn->unread)
		fn->unread = xasprintf("%s: %s", file, strerror(-r));
}

static uint32_t read_id(const struct root *dir, struct pci_fn *fn, const char *file)
{
	uint64_t v = 0;

	note(fn, file, read_u64(dir, &v, NULL, "%s", file));
	return (uint32_t)v;
}

static bool is_address(const char *name)
{
	unsigned int domain, bus, dev, fn;
	char rest;

	return sscanf(name, "%x:%x:%x.%x%c", &domain, &bus, &dev, &fn, &rest) == 4 &&
	       strlen(name) < PCI_ADDR_MAX;
}

/*
 * Reads the five ids at once: modalias is "pci:v000015B3d00001021sv000015B3sd00000023bc02sc00i00"
 * (drivers/pci/pci-sysfs.c). uevent also has them, with the driver, but some kernels take the
 * device lock to print it (6.10.5 and stable kernels of that time), so a read can hang behind a
 * stuck driver. Reading config wakes a sleeping device.
 */
static bool ids_of_modalias(const struct root *dir, struct pci_fn *fn)
{
	unsigned int v, d, sv, sd, base, sub, prog;
	cleanup_free char *text = NULL;
	int r = read_attr(dir, &text, NULL, "modalias");

	note(fn, "modalias", r);
	if (r < 0 || sscanf(text, "pci:v%8xd%8xsv%8xsd%8xbc%2xsc%2xi%2x", &v, &d, &sv, &sd, &base,
			    &sub, &prog) != 7)
		return false;
	fn->vendor = (uint16_t)v;
	fn->device = (uint16_t)d;
	fn->subsystem_vendor = (uint16_t)sv;
	fn->subsystem_device = (uint16_t)sd;
	fn->class = base << 16 | sub << 8 | prog;
	return true;
}

static void ids_of_attributes(const struct root *dir, struct pci_fn *fn)
{
	fn->vendor = (uint16_t)read_id(dir, fn, "vendor");
	fn->device = (uint16_t)read_id(dir, fn, "device");
	fn->subsystem_vendor = (uint16_t)read_id(dir, fn, "subsystem_vendor");
	fn->subsystem_device = (uint16_t)read_id(dir, fn, "subsystem_device");
	fn->class = read_id(dir, fn, "class");
}

/* -1: the firmware does not report the node, or the file is missing. */
static int read_numa(const struct root *dir, struct pci_fn *fn)
{
	int64_t numa = -1;

	note(fn, "numa_node", read_i64(dir, &numa, NULL, "numa_node"));
	if (numa < 0 || numa >= CPUS_MAX)
		return -1;
	return (int)numa;
}

static void survey_netdevs_below(const struct root *dir, struct pci_fn *fn)
{
	const char *pattern = driver_find(fn->driver)->netdevs;
	cleanup_strv struct strv paths = {0};

	if (!pattern)
		return;
	note(fn, pattern, read_glob(dir, pattern, &paths, NULL));
	for (size_t i = 0; i < paths.n; i++)
		strv_add(&fn->net, strrchr(paths.v[i], '/') + 1);
}

static void read_function(const struct root *root, struct pci_fn *fn)
{
	cleanup_free char *physfn = NULL;
	cleanup_free char *path = xasprintf(PCI_DIR "/%s", fn->addr);
	struct root dir cleanup_root;
	int r = root_open_dir(root, &dir, path);

	note(fn, "its directory", r);
	if (r < 0)
		return;
	dir.failure = NULL; /* what fails here is a matter of this function */
	if (!ids_of_modalias(&dir, fn))
		ids_of_attributes(&dir, fn);
	fn->totalvfs = read_id(&dir, fn, "sriov_totalvfs");
	fn->numa = read_numa(&dir, fn);
	note(fn, "driver", read_link_name(&dir, &fn->driver, NULL, "driver"));
	note(fn, "physfn", read_link_name(&dir, &physfn, NULL, "physfn"));
	if (physfn)
		snprintf(fn->physfn, sizeof(fn->physfn), "%s", physfn);
	/* Only network controllers have these; each look costs two system calls. */
	if (fn->class >> 16 == 0x02 || fn->class >> 8 == CLASS_SERIAL_INFINIBAND) {
		note(fn, "net", read_dir(&dir, &fn->net, NULL, "net"));
		note(fn, "infiniband", read_dir(&dir, &fn->ibdevs, NULL, "infiniband"));
		survey_netdevs_below(&dir, fn);
	}
}

static int list_functions(const struct root *root, struct node *node, struct err *err)
{
	cleanup_strv struct strv names = {0};
	int r = read_dir(root, &names, err, PCI_DIR);

	if (r == -ENOENT)
		return 0; /* a tree captured without PCI, or a machine without PCI */
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n; i++) {
		struct pci_fn fn = {.numa = -1};

		if (!is_address(names.v[i]))
			continue;
		snprintf(fn.addr, sizeof(fn.addr), "%s", names.v[i]);
		vec_push(&node->pci, fn);
	}
	return 0;
}

const struct pci_functions *node_functions(const struct node *node)
{
	struct node *filled = first_asked(node, PART_PCI);

	for (size_t i = 0; filled && i < node->pci.n; i++)
		read_function(node->root, &filled->pci.v[i]);
	return &node->pci;
}

int node_survey(const struct root *root, struct node *ret, struct err *err)
{
	struct node node = {.root = root};
	int r;

	survey_cpu(root, &node);
	survey_nodes(root, &node);
	if (read_attr(root, &node.cmdline, NULL, "/proc/cmdline") < 0)
		node.cmdline = xstrdup("");
	if (read_attr(root, &node.kernel, NULL, "/proc/sys/kernel/osrelease") < 0)
		node.kernel = xstrdup("");
	r = list_functions(root, &node, err);
	if (r < 0) {
		node_free(&node);
		return err_wrap(err, "survey");
	}
	*ret = node;
	return 0;
}

void node_free(struct node *node)
{
	for (size_t i = 0; i < array_len(dmi_fields); i++)
		free(*dmi_slot(node, i));
	free(node->arch);
	free(node->kernel);
	free(node->cmdline);
	for (size_t i = 0; i < node->pci.n; i++) {
		free(node->pci.v[i].driver);
		free(node->pci.v[i].unread);
		free(node->pci.v[i].part_number);
		strv_free(&node->pci.v[i].net);
		strv_free(&node->pci.v[i].ibdevs);
	}
	vec_free(&node->pci);
	vec_free(&node->memory.of);
	vec_free(&node->memory.page_sizes);
	vec_free(&node->places.list);
	memset(node, 0, sizeof(*node));
}

const struct pci_fn *node_find(const struct node *node, const char *addr)
{
	const struct pci_functions *all = node_functions(node);

	for (size_t i = 0; i < all->n; i++)
		if (streq(all->v[i].addr, addr))
			return &all->v[i];
	return NULL;
}

bool pci_fn_is_bridge(const struct pci_fn *fn)
{
	return fn->class >> 8 == CLASS_BRIDGE;
}

bool pci_fn_may_idle(const struct pci_fn *fn)
{
	return fn->class >> 16 == CLASS_DISPLAY || fn->class >> 16 == CLASS_ACCELERATOR;
}
