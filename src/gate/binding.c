/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/binding.h"

#include <inttypes.h>
#include <pci/header.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/pci_address.h"
#include "base/sha256.h"
#include "base/str.h"
#include "kargs/env_layout.h"
#include "node/drivers.h"
#include "sys/module.h"
#include "sys/pci_express.h"
#include "sys/pci_link.h"
#include "sys/read.h"
#include "sys/smbios.h"

enum {
	DIGEST_DIGITS = 16,
	CPUINFO_MAX = 16384, /* more than the part of the first CPU */
	NAMED_MAX = 2,	     /* differences that a message names */
	GIB_SHIFT = 30,
	READ_REQUEST_SHIFT = 12, /* of Device Control */
};

#define CPUFREQ "/sys/devices/system/cpu/cpu%d/cpufreq/"

#define MACHINE_SERIAL "serial number of the machine"

/* Marks the digest of a value, which is not shown. */
static const char digest_mark[] = "digest ";

static struct binding_part *find(const struct binding *b, const char *name)
{
	for (size_t i = 0; i < b->list.n; i++)
		if (streq(b->list.v[i].name, name))
			return &b->list.v[i];
	return NULL;
}

struct binding_name binding_name(const char *name)
{
	const char *of = strstr(name, " of ");

	if (!of || !pci_address_len(of + strlen(" of ")))
		return (struct binding_name){name, (int)strlen(name), NULL};
	return (struct binding_name){name, (int)(of - name), of + strlen(" of ")};
}

bool binding_name_alike(const struct binding_name *a, const struct binding_name *b)
{
	return a->address && b->address && a->len == b->len &&
	       strncmp(a->what, b->what, (size_t)a->len) == 0;
}

bool binding_name_is(const struct binding_name *name, const char *what)
{
	return (size_t)name->len == strlen(what) &&
	       strncmp(name->what, what, (size_t)name->len) == 0;
}

const struct binding_part *binding_find(const struct binding *b, const char *name)
{
	return find(b, name);
}

/* Takes ownership of value; NULL or "": unknown, no part. Two parts of one name become one. */
static void add(struct binding *b, char *value, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add(struct binding *b, char *value, const char *fmt, ...)
{
	cleanup_free char *own = value;
	struct binding_part *same, part;
	struct str name = {0};
	va_list ap;

	if (!value || !*value)
		return;
	va_start(ap, fmt);
	str_vaddf(&name, fmt, ap);
	va_end(ap);
	same = find(b, name.s);
	if (same) {
		char *both = xasprintf("%s, %s", same->value, value);

		free(same->value);
		same->value = both;
		str_free(&name);
		return;
	}
	part = (struct binding_part){str_take(&name), take_ptr(own)};
	vec_push(&b->list, part);
}

/* NULL if the text is empty. */
static char *digest_of(const struct str *text)
{
	char hex[SHA256_HEX];

	if (!text->len)
		return NULL;
	sha256_hex(text->s, text->len, hex);
	return xasprintf("%s%.*s", digest_mark, DIGEST_DIGITS, hex);
}

/* NULL if it can't be read. */
static char *text_at(const struct root *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static char *text_at(const struct root *root, const char *fmt, ...)
{
	cleanup_str struct str path = {0};
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&path, fmt, ap);
	va_end(ap);
	return read_text(root, &text, NULL, "%s", path.s) == 0 ? text : NULL;
}

/* Adds a text as a line, if it is known. Takes ownership of it. */
static void line(struct str *out, char *text)
{
	if (text && *text)
		str_addf(out, "%s\n", text);
	free(text);
}

/* The value of "KEY : VALUE" in text, as /proc/cpuinfo and NVIDIA's files have it; or NULL. */
static char *value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		const char *value = p + len + strspn(p + strnlen(p, len), " \t");

		if (strncmp(p, key, len) != 0 || *value != ':')
			continue;
		value += 1 + strspn(value + 1, " \t");
		return xstrndup(value, strcspn(value, "\n"));
	}
	return NULL;
}

/* --- single readings ----------------------------------------------------------------------- */

int read_max_read_request(const struct root *root, const char *addr)
{
	cleanup_free char *pf = NULL;
	struct pci_express x;
	int r;

	if (read_link_name(root, &pf, NULL, "/sys/bus/pci/devices/%s/physfn", addr) == 0)
		addr = pf;
	r = pci_express_read(root, addr, &x, NULL);
	return r < 0 ? r
		     : 128 << ((pci_express_word(&x, PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_READRQ) >>
			       READ_REQUEST_SHIFT);
}

char *read_iommu(const struct root *root, const char *addr)
{
	return text_at(root, "/sys/bus/pci/devices/%s/iommu_group/type", addr);
}

bool read_governor(const struct root *root, const struct cpus *cpus, char **governor, char **driver)
{
	int c = cpus_first(cpus);

	return read_attr(root, governor, NULL, CPUFREQ "scaling_governor", c) == 0 &&
	       read_attr(root, driver, NULL, CPUFREQ "scaling_driver", c) == 0;
}

int read_numa_balancing(const struct root *root)
{
	uint64_t on;
	int r = read_u64(root, &on, NULL, "/proc/sys/kernel/numa_balancing");

	return r < 0 ? r : on != 0;
}

/* --- software ------------------------------------------------------------------------------ */

/* GRUB, railhead and a trial add arguments that differ from boot to boot. */
static bool is_own(const char *arg)
{
	cleanup_free char *word = xasprintf(" %s ", arg);

	return str_starts(arg, "railhead.") || str_starts(arg, "BOOT_IMAGE=") ||
	       strstr(" " ENV_TRIAL_EXTRA " ", word);
}

static void add_kernel(const struct root *root, const struct node *node, struct binding *b)
{
	cleanup_free char *line_args = xstrdup(node->cmdline ? node->cmdline : "");
	cleanup_str struct str build = {0}, args = {0};
	char *rest = NULL;

	line(&build, text_at(root, "/proc/version"));
	for (char *arg = strtok_r(line_args, " ", &rest); arg; arg = strtok_r(NULL, " ", &rest))
		if (!is_own(arg))
			str_addf(&args, "%s\n", arg);
	add(b, xstrdup(node->kernel ? node->kernel : ""), "kernel");
	add(b, digest_of(&build), "build of the kernel");
	add(b, digest_of(&args), "kernel arguments");
}

/* Version and srcversion (modinfo(8)), of which a built-in module may have neither. */
static void add_module(const struct root *root, const char *driver, struct binding *b)
{
	cleanup_free char *module = driver ? module_sysfs_name(driver) : NULL;
	cleanup_free char *name = module ? xasprintf("driver %s", driver) : NULL;
	cleanup_free char *version = NULL, *source = NULL;

	if (!module || find(b, name) || !root_exists(root, "/sys/module/%s", module))
		return;
	version = text_at(root, "/sys/module/%s/version", module);
	source = text_at(root, "/sys/module/%s/srcversion", module);
	add(b,
	    xasprintf("%s%s%s",
		      version  ? version
		      : source ? ""
			       : "of the kernel",
		      version && source ? " " : "", source ? source : ""),
	    "%s", name);
}

/* --- functions ----------------------------------------------------------------------------- */

static void add_gpu(const struct root *root, const struct pci_fn *fn, struct str *serial,
		    struct binding *b)
{
	cleanup_free char *text =
		text_at(root, "/proc/driver/nvidia/gpus/%s/information", fn->addr);

	if (!text)
		return;
	add(b, value_of(text, "Video BIOS"), "video BIOS of %s", fn->addr);
	line(serial, value_of(text, "GPU UUID"));
}

static void add_nvme(const struct root *root, const struct pci_fn *fn, struct str *serial,
		     struct binding *b)
{
	struct strv names = {0};

	read_dir(root, &names, NULL, "/sys/bus/pci/devices/%s/nvme", fn->addr);
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.v[i];

		add(b, text_at(root, "/sys/class/nvme/%s/firmware_rev", name), "firmware of %s",
		    fn->addr);
		line(serial, text_at(root, "/sys/class/nvme/%s/serial", name));
	}
	strv_free(&names);
}

/*
 * The permanent address of a netdev. A bond gives its address to its members; addr_assign_type 0
 * (NET_ADDR_PERM) marks the card's address.
 */
static char *card_address(const struct root *root, const char *netdev)
{
	char *bonded = text_at(root, "/sys/class/net/%s/bonding_slave/perm_hwaddr", netdev);
	uint64_t type;

	if (bonded)
		return bonded;
	if (read_u64(root, &type, NULL, "/sys/class/net/%s/addr_assign_type", netdev) < 0 || type)
		return NULL;
	return text_at(root, "/sys/class/net/%s/address", netdev);
}

static void add_function(const struct root *root, const struct pci_fn *fn, struct binding *b)
{
	cleanup_str struct str serial = {0};
	int read_request = read_max_read_request(root, fn->addr);

	add(b,
	    xasprintf("%04x:%04x %04x:%04x", fn->vendor, fn->device, fn->subsystem_vendor,
		      fn->subsystem_device),
	    "model of %s", fn->addr);
	if (fn->numa >= 0)
		add(b, xasprintf("%d", fn->numa), "NUMA node of %s", fn->addr);
	add_module(root, fn->driver, b);
	add_module(root, driver_find(fn->driver)->rdma, b);
	for (size_t i = 0; i < fn->ibdevs.n; i++) {
		add(b, text_at(root, "/sys/class/infiniband/%s/fw_ver", fn->ibdevs.v[i]),
		    "firmware of %s", fn->addr);
		line(&serial, text_at(root, "/sys/class/infiniband/%s/node_guid", fn->ibdevs.v[i]));
	}
	for (size_t i = 0; i < fn->net.n; i++)
		line(&serial, card_address(root, fn->net.v[i]));
	if (read_request >= 0)
		add(b, xasprintf("%d", read_request), "MaxReadRequest of %s", fn->addr);
	add(b, read_iommu(root, fn->addr), "IOMMU of %s", fn->addr);
	add_gpu(root, fn, &serial, b);
	add_nvme(root, fn, &serial, b);
	add(b, digest_of(&serial), "serial number of %s", fn->addr);
}

/* The state to which the link trained. A bridge above several functions is read once. */
static void add_link(const struct root *root, const char *addr, enum pci_link_quantity q,
		     struct binding *b)
{
	const char *what = q == PCI_LINK_WIDTH ? "width" : "speed";
	cleanup_free char *name = xasprintf("link %s of %s", what, addr), *text = NULL;

	if (find(b, name))
		return;
	text = text_at(root, "/sys/bus/pci/devices/%s/%s", addr, pci_link_file(q, false));
	if (text)
		add(b, xasprintf("%s%s", q == PCI_LINK_WIDTH ? "x" : "", text), "%s", name);
}

/*
 * The number of functions on the way from the root port to fn that show the speed which their link
 * trained to. An idle GPU lowers the speed of its link, and both ends of the link show the lower
 * speed: two sound boots may differ, so neither end has its speed in the binding. (The width stays.
 * Such a link shows its trained speed only under load.) Some GPUs, such as AMD's, include a PCIe
 * switch, with bridges of the GPU's vendor: the link of such a GPU begins above the switch.
 */
static size_t with_steady_speed(const struct node *node, const struct pci_fn *fn,
				const struct strv *way)
{
	size_t n = way->n;

	if (!pci_fn_may_idle(fn))
		return n;
	for (; n; n--) {
		const struct pci_fn *at = node_find(node, way->v[n - 1]);

		if (!at || at->vendor != fn->vendor)
			return n - 1; /* without the port at which its link begins */
	}
	return 0;
}

/* The links of the function and of the bridges above, the narrowest of which limits the figures. */
static void add_links(const struct root *root, const struct node *node, const struct pci_fn *fn,
		      struct binding *b)
{
	cleanup_strv struct strv way = {0};
	size_t steady;

	pci_ports_above(root, fn->addr, &way, NULL);
	if (way.n)
		add(b, xstrdup(way.v[0]), "root port of %s", fn->addr);
	strv_add(&way, fn->addr);
	steady = with_steady_speed(node, fn, &way);
	for (size_t i = way.n; i-- > 0;) {
		add_link(root, way.v[i], PCI_LINK_WIDTH, b);
		if (i < steady)
			add_link(root, way.v[i], PCI_LINK_SPEED, b);
	}
}

/* The other parts of a function in several sets are added once. */
static void add_functions(const struct root *root, const struct node *node,
			  const struct device_set *set, struct binding *b)
{
	for (size_t i = 0; i < set->fn.n; i++) {
		const struct pci_fn *fn = set->fn.v[i];
		cleanup_free char *model = xasprintf("model of %s", fn->addr);

		if (!find(b, model)) {
			add_function(root, fn, b);
			add_links(root, node, fn, b);
		}
		add(b, xstrdup(set->sel->name), "set of %s", fn->addr);
	}
}

/* The number of members comes first, because each part of a missing function differs. */
static void add_sets(const struct root *root, const struct node *node,
		     const struct device_sets *sets, struct binding *b)
{
	for (size_t i = 0; i < sets->set.n; i++)
		add(b, xasprintf("%zu", sets->set.v[i].fn.n), "members of %s",
		    sets->set.v[i].sel->name);
	for (size_t i = 0; i < sets->set.n; i++)
		add_functions(root, node, &sets->set.v[i], b);
}

/* --- the machine --------------------------------------------------------------------------- */

/* Size, speed, maker and serial number of each memory module, as the firmware reports them. */
static char *memory_modules(const struct root *root)
{
	cleanup_str struct str modules = {0};
	struct smbios table;

	if (smbios_read(root, &table) < 0)
		return NULL;
	while (smbios_next(&table, SMBIOS_MEMORY_DEVICE))
		str_addn(&modules, (const char *)table.at, table.size);
	free(table.table);
	return digest_of(&modules);
}

static void add_machine(const struct root *root, const struct node *node, struct binding *b)
{
	static const char *const serials[] = {"product_serial", "board_serial", "chassis_serial"};
	cleanup_str struct str serial = {0};
	char *version = text_at(root, "/sys/class/dmi/id/bios_version");
	char *date = text_at(root, "/sys/class/dmi/id/bios_date");

	if (version || date)
		add(b,
		    xasprintf("%s%s%s", version ? version : "", version && date ? ", " : "",
			      date ? date : ""),
		    "BIOS");
	free(version);
	free(date);
	for (size_t i = 0; i < array_len(serials); i++)
		line(&serial, text_at(root, "/sys/class/dmi/id/%s", serials[i]));
	add(b, digest_of(&serial), MACHINE_SERIAL);
	add(b, memory_modules(root), "memory modules");
	add(b, xasprintf("%zu", cpus_count(&node->cpus)), "CPUs");
}

/*
 * The layout of NUMA nodes, which NPS, SNC and lost modules change. In each boot the kernel
 * reserves a few pages more or less, and no module is smaller than a GiB: so memory is rounded to
 * the nearest GiB. (A size half-way between two may differ without a cause: then the gate
 * measures.)
 */
static void add_numa(const struct root *root, const struct node *node, struct binding *b)
{
	const struct node_memory *memory = node_memory(node);
	const uint64_t half = 1ull << (GIB_SHIFT - 1);
	int balancing = read_numa_balancing(root);

	add(b, cpus_format(&node->nodes), "NUMA nodes");
	if (balancing >= 0)
		add(b, xstrdup(balancing ? "on" : "off"), "automatic NUMA balancing");
	for (int n = cpus_next(&node->nodes, -1); n >= 0; n = cpus_next(&node->nodes, n)) {
		cleanup_free char *governor = NULL, *driver = NULL;
		struct cpus cpus;

		add(b, text_at(root, "/sys/devices/system/node/node%d/cpulist", n),
		    "CPUs of node %d", n);
		node_cpus_of(root, n, &cpus);
		if (cpus_count(&cpus) && read_governor(root, &cpus, &governor, &driver))
			add(b, xasprintf("%s (%s)", governor, driver),
			    "frequency governor of node %d", n);
	}
	for (size_t i = 0; i < memory->of.n; i++) {
		const struct numa_memory *m = &memory->of.v[i];

		add(b, xasprintf("%" PRIu64 " GiB", (m->bytes + half) >> GIB_SHIFT),
		    "memory of node %u", m->node);
	}
}

static void add_cpu(const struct root *root, struct binding *b)
{
	static const char *const keys[] = {"model name", "microcode", "CPU implementer", "CPU part",
					   "CPU revision"};
	cleanup_free char *text = NULL;

	if (read_start(root, CPUINFO_MAX, &text, NULL, NULL, "/proc/cpuinfo") < 0)
		return;
	for (size_t i = 0; i < array_len(keys); i++)
		add(b, value_of(text, keys[i]), "%s", keys[i]);
}

void binding_take(const struct root *root, const struct profile *profile, const struct node *node,
		  const struct device_sets *sets, struct binding *ret)
{
	static const char *const modules[] = {"ib_core",	"rdma_rxe",  "nvidia",
					      "nvidia_peermem", "nvme_rdma", "rpcrdma"};
	struct binding b = {0};

	add(&b, xasprintf("%.12s", profile->digest), "profile");
	add(&b, xstrdup(RAILHEAD_VERSION), "railhead");
	add_kernel(root, node, &b);
	add_machine(root, node, &b);
	add_numa(root, node, &b);
	add(&b, text_at(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
	    "clock source");
	add_cpu(root, &b);
	add_sets(root, node, sets, &b);
	for (size_t i = 0; i < array_len(modules); i++)
		add_module(root, modules[i], &b);
	*ret = b;
}

static STORED_TABLE(part_stored, STORED(binding_part, name, NULL, TEXT),
		    STORED(binding_part, value, "", TEXT));

STORED_TABLE(binding_stored, STORED_ITEMS(binding, list, "", MAP, part_stored));

void binding_free(struct binding *b)
{
	stored_free(binding_stored, b);
}

bool binding_same(const struct binding *a, const struct binding *b)
{
	bool same = a->list.n == b->list.n;

	for (size_t i = 0; same && i < a->list.n; i++)
		same = streq(a->list.v[i].name, b->list.v[i].name) &&
		       streq(a->list.v[i].value, b->list.v[i].value);
	return same;
}

bool binding_same_machine(const struct binding *a, const struct binding *b)
{
	const struct binding_part *x = find(a, MACHINE_SERIAL), *y = find(b, MACHINE_SERIAL);

	return !x || !y || streq(x->value, y->value);
}

/* --- compared ------------------------------------------------------------------------------ */

struct differences {
	struct str text;
	size_t n;
};

bool binding_is_shown(const char *value)
{
	return !str_starts(value, digest_mark);
}

/* now or was NULL: the node does not have the part, or did not have it. */
static void differs(struct differences *d, const char *name, const char *now, const char *was)
{
	if (d->n++ >= NAMED_MAX)
		return;
	str_addf(&d->text, "%s%s: ", d->n > 1 ? "; " : "", name);
	if (!now || !was)
		str_add(&d->text, now ? "not known before" : "not known now");
	else if (binding_is_shown(now) && binding_is_shown(was))
		str_addf(&d->text, "%s, was %s", now, was);
	else
		str_add(&d->text, "changed");
}

char *binding_difference(const struct binding *now, const struct binding *was)
{
	struct differences d = {0};

	for (size_t i = 0; i < now->list.n; i++) {
		const struct binding_part *p = &now->list.v[i];
		const struct binding_part *before = find(was, p->name);

		if (!before || !streq(before->value, p->value))
			differs(&d, p->name, p->value, before ? before->value : NULL);
	}
	for (size_t i = 0; i < was->list.n; i++)
		if (!find(now, was->list.v[i].name))
			differs(&d, was->list.v[i].name, NULL, was->list.v[i].value);
	if (d.n > NAMED_MAX)
		str_addf(&d.text, "; and %zu more", d.n - NAMED_MAX);
	return d.n ? str_take(&d.text) : NULL;
}
