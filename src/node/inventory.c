/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node/inventory.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/pci_express.h"
#include "sys/read.h"

#define PCI_DIR "/sys/bus/pci/devices"
#define NODE_DIR "/sys/devices/system/node"

/* A file and the key for its text. */
struct attribute {
	const char *key, *file;
	bool number;
};

/* --- things ---------------------------------------------------------------------------- */

static void add_fact(struct thing *t, const char *key, char *text, bool number)
{
	t->facts = xrealloc(t->facts, t->n_facts + 1, sizeof(*t->facts));
	t->facts[t->n_facts++] = (struct fact){key, text, number};
}

static void __attribute__((format(printf, 4, 5)))
set_fact(struct thing *t, const char *key, bool number, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		add_fact(t, key, text, number);
	va_end(ap);
}

/* An empty file counts as an absent file. */
static void read_facts(const struct root *root, struct thing *t, const struct attribute *attrs,
		       size_t n, const char *dir)
{
	for (size_t i = 0; i < n; i++) {
		char *text = NULL;

		if (read_attr(root, &text, NULL, "%s/%s", dir, attrs[i].file) == 0 && *text)
			add_fact(t, attrs[i].key, text, attrs[i].number);
		else
			free(text);
	}
}

static void read_link_fact(const struct root *root, struct thing *t, const char *key,
			   const char *path)
{
	char *name = NULL;

	if (read_link_name(root, &name, NULL, "%s", path) == 0)
		add_fact(t, key, name, false);
}

/* The pointer is valid until the next push. */
static struct thing *push(struct thing_list *list, const char *name)
{
	vec_push(list, ((struct thing){.name = xstrdup(name)}));
	return &list->v[list->n - 1];
}

static void free_list(struct thing_list *list);

static void free_thing(struct thing *t)
{
	for (size_t i = 0; i < t->n_facts; i++)
		free(t->facts[i].text);
	free(t->facts);
	free(t->name);
	free_list(&t->parts);
}

static void free_list(struct thing_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free_thing(&list->v[i]);
	vec_free(list);
}

const char *thing_get(const struct thing *t, const char *key)
{
	for (size_t i = 0; t && i < t->n_facts; i++)
		if (streq(t->facts[i].key, key))
			return t->facts[i].text;
	return NULL;
}

const struct thing *thing_find(const struct thing_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (streq(list->v[i].name, name))
			return &list->v[i];
	return NULL;
}

/* --- the machine and its NUMA nodes ------------------------------------------------------ */

/* The value of "key<blanks>: value" in text from /proc; the caller frees. NULL: no such line. */
static char *value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		const char *v = p + len;

		if (strncmp(p, key, len) != 0)
			continue;
		v += strspn(v, " \t");
		if (*v != ':')
			continue;
		v += 1 + strspn(v + 1, " \t");
		return xstrndup(v, strcspn(v, "\n"));
	}
	return NULL;
}

static void take_machine(const struct root *root, struct thing *t)
{
	static const struct attribute dmi[] = {
		{"bios_version", "bios_version", false},
		{"bios_date", "bios_date", false},
		{"bios_release", "bios_release", false},
		{"firmware_release", "ec_firmware_release", false},
	};
	cleanup_free char *cpuinfo = NULL;
	char *model;

	read_facts(root, t, dmi, array_len(dmi), "/sys/class/dmi/id");
	read_facts(root, t, &(struct attribute){"cpus_online", "online", false}, 1,
		   "/sys/devices/system/cpu");
	if (read_start(root, 8192, &cpuinfo, NULL, NULL, "/proc/cpuinfo") < 0)
		return;
	model = value_of(cpuinfo, "model name");
	if (model)
		add_fact(t, "cpu_model", model, false);
}

/* "Node 0 MemTotal:  16777216 kB" */
static uint64_t memory_field(const char *meminfo, const char *field)
{
	const char *p = strstr(meminfo, field);
	unsigned long long kib;

	return p && sscanf(p + strlen(field), "%llu kB", &kib) == 1 ? kib << 10 : 0;
}

/* The node's huge pages of each size: "2048" in KiB, as the kernel names the size. */
static void take_huge_pages(const struct root *root, struct thing *t, const char *dir)
{
	static const struct attribute attrs[] = {
		{"pages", "nr_hugepages", true},
		{"free", "free_hugepages", true},
	};
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, "%s/hugepages", dir);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *of = xasprintf("%s/hugepages/%s", dir, names.v[i]);
		unsigned long long kib;
		cleanup_free char *size = NULL;

		if (sscanf(names.v[i], "hugepages-%llukB", &kib) != 1)
			continue;
		size = xasprintf("%llu", kib);
		read_facts(root, push(&t->parts, size), attrs, array_len(attrs), of);
	}
}

/* The physical package of the node's first CPU. */
static void take_socket(const struct root *root, struct thing *t)
{
	struct cpus cpus;
	cleanup_free char *dir = NULL;
	const char *list = thing_get(t, "cpus");

	if (!list || cpus_parse(list, &cpus) < 0 || cpus_first(&cpus) < 0)
		return;
	dir = xasprintf("/sys/devices/system/cpu/cpu%d/topology", cpus_first(&cpus));
	read_facts(root, t, &(struct attribute){"socket", "physical_package_id", true}, 1, dir);
}

static void take_numa_node(const struct root *root, struct thing_list *list, int n)
{
	static const struct attribute attrs[] = {
		{"cpus", "cpulist", false},
		{"distances", "distance", false},
	};
	cleanup_free char *dir = xasprintf(NODE_DIR "/node%d", n), *name = xasprintf("%d", n);
	cleanup_free char *meminfo = NULL;
	struct thing *t = push(list, name);

	read_facts(root, t, attrs, array_len(attrs), dir);
	take_socket(root, t);
	take_huge_pages(root, t, dir);
	if (read_attr(root, &meminfo, NULL, "%s/meminfo", dir) < 0)
		return;
	set_fact(t, "memory", true, "%llu",
		 (unsigned long long)memory_field(meminfo, " MemTotal:"));
	set_fact(t, "free", true, "%llu", (unsigned long long)memory_field(meminfo, " MemFree:"));
}

/* --- PCI ----------------------------------------------------------------------------------- */

static unsigned int count_vfs(const struct node *node, const char *pf)
{
	const struct pci_functions *functions = node_functions(node);
	unsigned int n = 0;

	for (size_t i = 0; i < functions->n; i++)
		n += streq(functions->v[i].physfn, pf);
	return n;
}

static void take_function(const struct root *root, const struct node *node, const struct pci_fn *fn,
			  struct thing_list *list)
{
	static const struct attribute link[] = {
		{"link_speed", "current_link_speed", false},
		{"link_width", "current_link_width", true},
		{"max_link_speed", "max_link_speed", false},
		{"max_link_width", "max_link_width", true},
		{"revision", "revision", false},
	};
	cleanup_free char *dir = xasprintf(PCI_DIR "/%s", fn->addr);
	cleanup_free char *group = xasprintf("%s/iommu_group", dir);
	cleanup_strv struct strv above = {0};
	struct thing *t = push(list, fn->addr);

	read_facts(root, t, link, array_len(link), dir);
	read_link_fact(root, t, "iommu_group", group);
	/* The nearest bridge above the function; a function of a root bus has none. */
	if (pci_ports_above(root, t->name, &above, NULL) == 0 && above.n)
		set_fact(t, "bridge", false, "%s", above.v[above.n - 1]);
	/* Count the VFs, because reading sriov_numvfs takes the device lock. */
	if (fn->totalvfs)
		set_fact(t, "numvfs", true, "%u", count_vfs(node, fn->addr));
}

static void take_groups(const struct root *root, struct thing_list *list)
{
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, "/sys/kernel/iommu_groups");
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *dir = xasprintf("/sys/kernel/iommu_groups/%s", names.v[i]);
		cleanup_strv struct strv devices = {0};
		struct str text = {0};
		struct thing *t = push(list, names.v[i]);

		read_facts(root, t, &(struct attribute){"type", "type", false}, 1, dir);
		read_dir(root, &devices, NULL, "%s/devices", dir);
		for (size_t j = 0; j < devices.n; j++)
			str_addf(&text, "%s%s", j ? " " : "", devices.v[j]);
		if (text.len)
			add_fact(t, "devices", str_take(&text), false);
	}
}

/* --- network and RDMA ------------------------------------------------------------------------ */

static void take_netdev(const struct root *root, struct thing_list *list, const char *name)
{
	static const struct attribute attrs[] = {
		{"mtu", "mtu", true},	      {"operstate", "operstate", false},
		{"carrier", "carrier", true}, /* EINVAL while the netdev is down */
		{"speed", "speed", true},     /* Mb/s; EINVAL or -1 without a link */
		{"type", "type", true},	      /* ARPHRD_*: 1 Ethernet, 32 InfiniBand */
	};
	cleanup_free char *dir = xasprintf("/sys/class/net/%s", name);
	cleanup_free char *device = xasprintf("%s/device", dir);
	cleanup_free char *driver = xasprintf("%s/device/driver", dir);
	struct thing *t = push(list, name);

	read_facts(root, t, attrs, array_len(attrs), dir);
	read_link_fact(root, t, "device", device);
	read_link_fact(root, t, "driver", driver);
}

static void take_port(const struct root *root, struct thing_list *list, const char *device,
		      const char *port)
{
	static const struct attribute attrs[] = {
		{"link_layer", "link_layer", false},
		{"state", "state", false},
		{"phys_state", "phys_state", false},
		{"rate", "rate", false},
	};
	cleanup_free char *dir = xasprintf("%s/ports/%s", device, port);

	read_facts(root, push(list, port), attrs, array_len(attrs), dir);
}

static void take_rdma(const struct root *root, struct thing_list *list, const char *name)
{
	static const struct attribute attrs[] = {
		{"fw_ver", "fw_ver", false},
		{"hca_type", "hca_type", false},
		{"board_id", "board_id", false},
		{"node_type", "node_type", false},
	};
	cleanup_free char *dir = xasprintf("/sys/class/infiniband/%s", name);
	cleanup_free char *device = xasprintf("%s/device", dir);
	cleanup_strv struct strv ports = {0};
	struct thing *t = push(list, name);

	read_facts(root, t, attrs, array_len(attrs), dir);
	read_link_fact(root, t, "device", device);
	read_dir(root, &ports, NULL, "%s/ports", dir);
	for (size_t i = 0; i < ports.n; i++)
		take_port(root, &t->parts, dir, ports.v[i]);
}

/* --- GPUs, NVMe controllers and modules ------------------------------------------------------- */

static bool is_gpu(const struct pci_fn *fn)
{
	uint32_t base = fn->class >> 16;

	return !*fn->physfn && (base == 0x03 || base == 0x12);
}

static void take_gpu(const struct root *root, const struct pci_fn *fn, struct thing_list *list)
{
	static const struct {
		const char *key, *line;
	} lines[] = {
		{"model", "Model"},
		{"video_bios", "Video BIOS"},
		{"firmware", "GPU Firmware"},
	};
	cleanup_free char *text = NULL;
	struct thing *t = push(list, fn->addr);

	if (fn->driver)
		set_fact(t, "driver", false, "%s", fn->driver);
	if (read_text(root, &text, NULL, "/proc/driver/nvidia/gpus/%s/information", fn->addr) < 0)
		return;
	for (size_t i = 0; i < array_len(lines); i++) {
		char *value = value_of(text, lines[i].line);

		if (value)
			add_fact(t, lines[i].key, value, false);
	}
}

static void take_nvme(const struct root *root, struct thing_list *list, const char *name)
{
	static const struct attribute attrs[] = {
		{"model", "model", false},
		{"firmware", "firmware_rev", false},
		{"state", "state", false},
	};
	cleanup_free char *dir = xasprintf("/sys/class/nvme/%s", name);
	cleanup_free char *device = xasprintf("%s/device", dir);
	struct thing *t = push(list, name);

	read_facts(root, t, attrs, array_len(attrs), dir);
	read_link_fact(root, t, "device", device);
}

static void take_modules(const struct root *root, struct thing_list *list)
{
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, "/sys/module");
	for (size_t i = 0; i < names.n; i++) {
		char *version = NULL;

		if (read_attr(root, &version, NULL, "/sys/module/%s/version", names.v[i]) == 0)
			add_fact(push(list, names.v[i]), "version", version, false);
	}
}

static void take_all(const struct root *root, struct thing_list *list, const char *dir,
		     void (*take)(const struct root *, struct thing_list *, const char *))
{
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, "%s", dir);
	for (size_t i = 0; i < names.n; i++)
		if (root_exists(root, "%s/%s/", dir, names.v[i])) /* bonding_masters is a file */
			take(root, list, names.v[i]);
}

static void take_pairs(const struct root *root, const struct node *node, struct inventory *ret)
{
	struct acs *acs = acs_new(root);

	pairs_of_node(root, node, &ret->pairs);
	ret->ways = xcalloc(ret->pairs.n ? ret->pairs.n : 1, sizeof(*ret->ways));
	for (size_t i = 0; i < ret->pairs.n; i++) {
		const struct pair *p = &ret->pairs.v[i];

		if (p->gpu)
			p2p_fact_take(acs, p->nic->addr, p->mover ? p->mover->addr : NULL,
				      p->gpu->addr, &ret->ways[i]);
	}
	acs_free(acs);
}

void inventory_take(const struct root *root, const struct node *node, struct inventory *ret)
{
	const struct pci_functions *functions = node_functions(node);
	*ret = (struct inventory){0};
	take_machine(root, &ret->machine);
	for (int n = cpus_next(&node->nodes, -1); n >= 0; n = cpus_next(&node->nodes, n))
		take_numa_node(root, &ret->numa, n);
	for (size_t i = 0; i < functions->n; i++) {
		take_function(root, node, &functions->v[i], &ret->pci);
		if (is_gpu(&functions->v[i]))
			take_gpu(root, &functions->v[i], &ret->gpus);
	}
	take_groups(root, &ret->groups);
	take_all(root, &ret->net, "/sys/class/net", take_netdev);
	take_all(root, &ret->rdma, "/sys/class/infiniband", take_rdma);
	take_all(root, &ret->nvme, "/sys/class/nvme", take_nvme);
	take_modules(root, &ret->modules);
	take_pairs(root, node, ret);
}

void inventory_free(struct inventory *inv)
{
	free_thing(&inv->machine);
	free_list(&inv->numa);
	free_list(&inv->pci);
	free_list(&inv->net);
	free_list(&inv->rdma);
	free_list(&inv->gpus);
	free_list(&inv->nvme);
	free_list(&inv->modules);
	free_list(&inv->groups);
	for (size_t i = 0; i < inv->pairs.n; i++)
		strv_free(&inv->ways[i].at);
	free(inv->ways);
	vec_free(&inv->pairs);
	*inv = (struct inventory){0};
}
