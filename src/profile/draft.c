/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of a starter profile: the present settings of the machine, with hints for the next steps. */
#include "profile/draft.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "node/drivers.h"
#include "node/nearness.h"
#include "profile/emit.h"
#include "profile/search.h"
#include "sys/module.h"
#include "sys/read.h"

#define PCI "/sys/bus/pci/devices"
#define GIB (1ULL << 30)

struct draft {
	const struct root *root;
	const struct node *node;
	struct draft_sets sets;
	struct str *out;
};

/* --- text ---------------------------------------------------------------------------------- */

/*
 * DMI text as a pattern for this text; bytes other than printable ASCII become '?', as YAML may
 * reject them.
 */
static void add_pattern(struct str *out, const char *text)
{
	cleanup_str struct str escaped = {0};

	for (; *text; text++)
		str_addf(&escaped, strchr("*?[\\", *text) ? "\\%c" : "%c",
			 *text < ' ' || *text > '~' ? '?' : *text);
	emit_quoted(out, str_get(&escaped));
}

/* "Standard PC (Q35 + ICH9, 2009)" -> "standard-pc-q35-ich9-2009" */
static char *name_of(const struct node *node)
{
	cleanup_str struct str out = {0};
	cleanup_free char *words =
		xasprintf("%s %s", node_dmi(node, "sys_vendor"), node_dmi(node, "product_name"));

	for (const char *p = words; *p && out.len < 60; p++) {
		if (isalnum((unsigned char)*p))
			str_addf(&out, "%c", tolower((unsigned char)*p));
		else if (out.len && out.s[out.len - 1] != '-')
			str_add(&out, "-");
	}
	while (out.len && out.s[out.len - 1] == '-')
		out.s[--out.len] = '\0';
	if (!out.len || !profile_name_is_valid(out.s))
		return xstrdup("my-node");
	return str_take(&out);
}

/* --- head, match, devices -------------------------------------------------------------------- */

/* fits: a profile of the search path that matches this machine already, or NULL. */
static void add_head(struct draft *d, const char *name, const char *fits)
{
	if (!d->sets.way_in)
		str_add(d->out,
			"# WARNING: " DRAFT_NO_WAY_IN ".\n"
			"# Name that NIC first: mgmt: {address: \"0000:xx:00.0\", protect: true}\n"
			"# below devices:, or draft on the machine itself.\n");
	str_addf(d->out,
		 "# A starter profile, drafted from one machine. It changes nothing there yet: "
		 "active\n"
		 "# lines are the present state of the machine, and lines that are commented out "
		 "are\n"
		 "# usual settings for nodes of this kind. Keep this file as %s.yaml, then:\n"
		 "#   railhead check %s.yaml\n"
		 "#   railhead plan --profile %s.yaml\n"
		 "schema: 1\n"
		 "name: %s\n"
		 "version: 0.1.0\n",
		 name, name, name, name);
	if (fits)
		str_addf(d->out,
			 "# The profile %s matches this machine already (railhead show %s). Use it "
			 "as a base, or\n"
			 "# write a drop-in for it: two profiles that match one machine are an "
			 "error.\n"
			 "#extends: %s\n",
			 fits, fits, fits);
}

/*
 * Lists PCI ids, because DMI is not enough: a chassis is sold with different GPUs, and a cloud has
 * one name for all its machines.
 */
static void add_match_parts(struct draft *d, bool sku_only)
{
	cleanup_str struct str ids = {0};

	for (size_t i = 0; i < d->sets.set.n; i++) {
		const struct draft_set *set = &d->sets.set.v[i];
		const struct pci_fn *fn = set->fn.v[0];

		if (!set->by_address &&
		    (!sku_only || str_starts(set->name, "gpus") || streq(set->name, "rails")))
			str_addf(&ids, "%s\"%04x:%04x\"", ids.len ? ", " : "", fn->vendor,
				 fn->device);
	}
	if (ids.len)
		str_addf(d->out, "  pci: [%s]\n", ids.s);
}

static bool add_match_dmi(struct draft *d)
{
	static const char *const fields[] = {"sys_vendor", "product_name", "chassis_asset_tag"};
	bool any = false;

	for (size_t i = 0; i < array_len(fields); i++) {
		const char *value = node_dmi(d->node, fields[i]);

		/*
		 * Only Azure's tag identifies a product, as its machines share one name; other
		 * asset tags identify a single machine.
		 */
		if (!*value || (streq(fields[i], "chassis_asset_tag") &&
				!streq(value, "7783-7084-3265-9085-8269-3286-77")))
			continue;
		str_addf(d->out, "%s    %s: ", any ? "" : "  dmi:\n", fields[i]);
		add_pattern(d->out, value);
		str_add(d->out, "\n");
		any = true;
	}
	return any;
}

/* Without DMI the PCI functions identify the machine. */
static bool add_match(struct draft *d)
{
	size_t before;
	bool dmi;

	str_add(d->out, "\n# Conditions that identify the SKU, and still hold when parts of a "
			"machine fail.\n"
			"match:\n");
	before = d->out->len;
	dmi = add_match_dmi(d);
	if (!dmi && *node_arch(d->node))
		str_addf(d->out, "  arch: %s\n", node_arch(d->node));
	add_match_parts(d, dmi);
	return d->out->len > before;
}

static void add_set(struct draft *d, const struct draft_set *set)
{
	const struct pci_fn *fn = set->fn.v[0];

	str_addf(d->out, "  # %s:", set->why);
	for (size_t i = 0; i < set->fn.n && i < 16; i++)
		str_addf(d->out, " %s", set->fn.v[i]->addr);
	str_addf(d->out, "%s\n  %s: {", set->fn.n > 16 ? " ..." : "", set->name);
	if (set->by_address)
		str_addf(d->out, "address: \"%s\"", fn->addr);
	else
		str_addf(d->out, "pci: \"%04x:%04x\"", fn->vendor, fn->device);
	if (set->ports)
		str_addf(d->out, ", ports: %d", set->ports);
	if (set->ethernet || set->infiniband)
		str_addf(d->out, ", link: %s", set->ethernet ? "ethernet" : "infiniband");
	if (set->protect)
		str_add(d->out, ", protect: true}\n");
	else
		str_addf(d->out, ", expect: %zu}\n", set->fn.n);
}

static void add_devices(struct draft *d)
{
	if (!d->sets.set.n)
		return;
	str_add(d->out,
		"\n# expect: is a check: seven functions of eight are a fault of the node.\n"
		"devices:\n");
	for (size_t i = 0; i < d->sets.set.n; i++)
		add_set(d, &d->sets.set.v[i]);
}

static void add_expect(struct draft *d)
{
	const struct node *n = d->node;

	str_add(d->out, "\nexpect:\n");
	if (node_cpu_vendor(n) != CPU_UNKNOWN)
		str_addf(d->out, "  cpu_vendor: %s\n", cpu_vendor_name(node_cpu_vendor(n)));
	if (node_sockets(n))
		str_addf(d->out, "  cpu_sockets: %u\n", node_sockets(n));
	if (node_count_online(n))
		str_addf(d->out, "  cpus: %zu\n", node_count_online(n));
	str_addf(d->out, "  numa_nodes: %zu\n", cpus_count(&n->nodes));
	/* A small margin, because the memory that firmware reserves varies from boot to boot. */
	if (node_memory(n)->bytes)
		str_addf(d->out, "  memory: \">=%lluM\"\n",
			 (unsigned long long)(node_memory(n)->bytes / 100 * 98 >> 20));
}

/* --- kernel arguments, pages, modules ----------------------------------------------------- */

static void add_kernel_args(struct draft *d)
{
	struct cpus kept;

	str_add(d->out, "\n# Kernel arguments: railhead tries them in one extra boot and goes back "
			"if they fail.\n"
			"#kernel_args:\n"
			"#  iommu: passthrough      # DMA without translation; strict or lazy "
			"where VMs get VFs\n");
	if (node_first_cores(d->node, 2, &kept, NULL) == 0)
		str_add(d->out, "#  isolate_cpus: {keep: 2 per node}    # the other cores, for "
				"pinned work\n");
	str_add(d->out, "#  set: [pci=realloc]\n");
}

struct page_size {
	const char *name, *dir;
};

static uint64_t pages_of(const struct draft *d, const struct page_size *size, int node)
{
	uint64_t n;

	return read_u64(d->root, &n, NULL, "/sys/devices/system/node/node%d/hugepages/%s/%s", node,
			size->dir, "nr_hugepages") == 0
		       ? n
		       : 0;
}

static void add_pool(struct draft *d, const struct page_size *size, struct str *pools)
{
	const struct cpus *nodes = &d->node->nodes;
	cleanup_str struct str counts = {0};
	uint64_t sum = 0;

	for (int n = cpus_next(nodes, -1); n >= 0; n = cpus_next(nodes, n)) {
		uint64_t pages = pages_of(d, size, n);

		str_addf(&counts, "%s%d: %llu", counts.len ? ", " : "", n,
			 (unsigned long long)pages);
		sum += pages;
	}
	if (sum)
		str_addf(pools, "  - {size: %s, nodes: {%s}, at: runtime}\n", size->name,
			 str_get(&counts));
}

/* A quarter of the memory, at most 32G per NUMA node. */
static void add_fitting_pool(struct draft *d)
{
	size_t nodes = cpus_count(&d->node->nodes_with_cpu);
	uint64_t memory = node_memory(d->node)->bytes;
	uint64_t gigabytes = memory / (nodes ? nodes : 1) / 4 / GIB;
	bool small = memory && !gigabytes;
	uint64_t pages = small ? 64 : !memory || gigabytes > 32 ? 32 : gigabytes;

	str_addf(d->out,
		 "\n#hugepages:\n#  - {size: %s, per_node: %llu, at: boot, default: true}\n",
		 small ? "2M" : "1G", (unsigned long long)pages);
}

static void add_hugepages(struct draft *d)
{
	static const struct page_size sizes[] = {
		{"64K", "hugepages-64kB"},     {"2M", "hugepages-2048kB"},
		{"32M", "hugepages-32768kB"},  {"512M", "hugepages-524288kB"},
		{"1G", "hugepages-1048576kB"}, {"16G", "hugepages-16777216kB"}};
	cleanup_str struct str pools = {0};

	for (size_t i = 0; i < array_len(sizes); i++)
		add_pool(d, &sizes[i], &pools);
	if (pools.len)
		str_addf(d->out,
			 "\n# The present pages. at: boot makes the kernel allocate them before "
			 "memory is fragmented.\n"
			 "hugepages:\n%s",
			 pools.s);
	else
		add_fitting_pool(d);
}

static void add_module(struct draft *d, const char *module, struct strv *loaded)
{
	enum module_state state;

	if (strv_contains(loaded, module) || module_state(d->root, module, &state, NULL) < 0 ||
	    state != MODULE_LIVE)
		return;
	str_addf(d->out, "%s    - %s\n", loaded->n ? "" : "\n# Loaded now.\nmodules:\n  load:\n",
		 module);
	strv_add(loaded, module);
}

/* In the order of their dependencies. */
static void add_modules(struct draft *d)
{
	static const char *const others[] = {
		"ib_core",  "ib_uverbs", "ib_umad", "rdma_cm",	  "rdma_ucm",	    "ib_ipoib",
		"rdma_rxe", "nvme_rdma", "nvidia",  "nvidia_uvm", "nvidia_peermem", "amdgpu"};
	cleanup_strv struct strv loaded = {0};

	for (const struct driver *nic = drivers; nic->name; nic++)
		if (nic->rdma && !nic->may_lack_rdma) {
			add_module(d, nic->name, &loaded);
			add_module(d, nic->rdma, &loaded);
		}
	for (size_t i = 0; i < array_len(others); i++)
		add_module(d, others[i], &loaded);
	if (!loaded.n)
		str_add(d->out, "\n#modules:\n#  load: [mlx5_core, mlx5_ib, ib_umad, rdma_ucm]\n");
}

/* --- VFs ---------------------------------------------------------------------------------- */

/* Number of VFs of the PF; *driver: the driver of the first VF, "" for none. */
static size_t vfs_of(const struct node *node, const struct pci_fn *pf, const char **driver)
{
	const struct pci_functions *functions = node_functions(node);
	size_t n = 0;

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];

		if (!streq(fn->physfn, pf->addr))
			continue;
		if (!n++)
			*driver = fn->driver ? fn->driver : "";
	}
	return n;
}

static const char *binding(const char *driver)
{
	return streq(driver, DRIVER_VFIO) ? DRIVER_VFIO : *driver ? "netdev" : "none";
}

/* Only if all members agree; otherwise the author must decide. */
static void add_vfs(struct draft *d, const struct draft_set *set, bool *begun)
{
	const char *driver = "", *other = "";
	size_t n = vfs_of(d->node, set->fn.v[0], &driver);
	bool same = n > 0;

	for (size_t i = 1; i < set->fn.n; i++)
		same &= vfs_of(d->node, set->fn.v[i], &other) == n &&
			streq(binding(other), binding(driver));
	if (set->protect || !set->fn.v[0]->totalvfs)
		return;
	if (same) {
		str_add(d->out, *begun ? "" : "\n# The present VFs.\nsriov:\n");
		str_addf(d->out, "  %s: {vfs: %zu, vf: {driver: %s}}\n", set->name, n,
			 binding(driver));
		*begun = true;
	}
}

static void add_sriov(struct draft *d)
{
	bool begun = false;
	const struct draft_set *able = NULL;

	for (size_t i = 0; i < d->sets.set.n; i++) {
		add_vfs(d, &d->sets.set.v[i], &begun);
		if (!able && !d->sets.set.v[i].protect && d->sets.set.v[i].fn.v[0]->totalvfs)
			able = &d->sets.set.v[i];
	}
	if (!begun && able)
		str_addf(d->out,
			 "\n#sriov:\n#  %s: {vfs: 8, vf: {driver: netdev}}   # %u at most\n",
			 able->name, able->fn.v[0]->totalvfs);
}

/* --- ports ---------------------------------------------------------------------------------- */

static bool is_port(const struct draft_set *set)
{
	return !set->protect && (set->ethernet || set->infiniband);
}

/*
 * Lossless RoCE on priority 3. DCQCN is optional, because only mlx5 has it, and not in every
 * kernel.
 */
static void add_roce(struct str *out, const struct draft_set *set)
{
	bool mlx5 = set->fn.v[0]->vendor == VENDOR_MELLANOX;

	if (set->ethernet && set->fn.v[0]->ibdevs.n)
		str_addf(out, "#  %s: {trust: dscp, pfc: [3], roce_tos: 106%s}\n", set->name,
			 mlx5 ? ", dcqcn: {priorities: [3]}, optional: [dcqcn]" : "");
}

static void add_mtu(struct str *out, const struct draft_set *set)
{
	if (set->ethernet)
		str_addf(out, "#  %s: {up: true, mtu: 9000}\n", set->name);
}

static void add_reads(struct str *out, const struct draft_set *set)
{
	str_addf(out, "#  %s: {max_read_request: 4096, optional: [max_read_request]}\n", set->name);
}

static void add_affinity(struct str *out, const struct draft_set *set)
{
	str_addf(out, "#  %s: {affinity: local_node}\n", set->name);
}

/* Proposes the usual settings of ports as comments, one block for each section. */
static void add_ports(struct draft *d)
{
	static const struct {
		const char *section, *why;
		void (*add)(struct str *out, const struct draft_set *set);
	} blocks[] = {
		{"link", "Jumbo frames; the switches must accept them, too.", add_mtu},
		{"qos", "RoCE: the switches must have the same priority and DSCP (26 << 2 | 2).",
		 add_roce},
		{"pcie", "Larger reads, where the device and the firmware leave that to software.",
		 add_reads},
		{"irq", "Interrupts at near CPUs, except isolated ones.", add_affinity},
	};

	for (size_t i = 0; i < array_len(blocks); i++) {
		cleanup_str struct str lines = {0};

		for (size_t j = 0; j < d->sets.set.n; j++)
			if (is_port(&d->sets.set.v[j]))
				blocks[i].add(&lines, &d->sets.set.v[j]);
		if (lines.len)
			str_addf(d->out, "\n# %s\n#%s:\n%s", blocks[i].why, blocks[i].section,
				 lines.s);
	}
}

/* --- pairs --------------------------------------------------------------------------------- */

static const struct draft_set *set_called(const struct draft *d, const char *name)
{
	for (size_t i = 0; i < d->sets.set.n; i++)
		if (streq(d->sets.set.v[i].name, name))
			return &d->sets.set.v[i];
	return NULL;
}

/* The nearness of the pair that is farthest apart; NEAR_NOT if a NIC has no GPU of its own. */
static enum nearness farthest(const struct draft *d, const struct draft_set *nics,
			      const struct draft_set *gpus)
{
	enum nearness worst = NEAR_SWITCH;
	struct pairs pairs = {0};

	pairs_find(d->root, d->node, nics->fn.v, nics->fn.n, gpus->fn.v, gpus->fn.n, &pairs);
	for (size_t i = 0; i < pairs.n; i++) {
		enum nearness how = pairs.v[i].gpu ? pairs.v[i].how : NEAR_NOT;

		worst = how > worst ? how : worst;
	}
	vec_free(&pairs);
	return worst;
}

/* Direct traffic needs a common bridge above both devices. */
static void add_pairs(struct draft *d)
{
	const struct draft_set *nics = set_called(d, "rails"), *gpus = set_called(d, "gpus");
	enum nearness how = nics && gpus ? farthest(d, nics, gpus) : NEAR_NOT;

	if (how == NEAR_NOT)
		return;
	str_addf(d->out,
		 "\n# Each NIC has its own GPU within this distance. p2p: direct requires that no "
		 "bridge between\n"
		 "# them sends traffic through the root complex; isolated, for VMs, that each "
		 "bridge does.\n"
		 "#pairs: {nics: rails, gpus: gpus, within: %s, p2p: %s}\n",
		 nearness_name(how), how == NEAR_NUMA ? "isolated" : "direct, acs: set");
}

/* --- gate ------------------------------------------------------------------------------------ */

/* The lowest values of the members, so that the check passes now. False if a value is unknown. */
static bool least_link(const struct draft *d, const struct draft_set *set, uint64_t *width,
		       uint32_t *tenths)
{
	*width = UINT64_MAX;
	*tenths = UINT32_MAX;
	for (size_t i = 0; i < set->fn.n; i++) {
		cleanup_free char *speed = NULL;
		const char *addr = set->fn.v[i]->addr;
		uint64_t w;
		uint32_t t;

		if (read_u64(d->root, &w, NULL, PCI "/%s/current_link_width", addr) < 0 || !w ||
		    read_attr(d->root, &speed, NULL, PCI "/%s/current_link_speed", addr) < 0 ||
		    parse_gts(speed, &t) < 0)
			return false;
		*width = w < *width ? w : *width;
		*tenths = t < *tenths ? t : *tenths;
	}
	return true;
}

static void add_link_check(struct draft *d, const struct draft_set *set)
{
	uint64_t width;
	uint32_t tenths;
	bool known = least_link(d, set, &width, &tenths);

	if (!known || !(width == 1 || width == 2 || width == 4 || width == 8 || width == 16))
		return;
	str_addf(d->out, "    %s-links: {run: pcie_link, on: %s, width: %llu, speed: %u", set->name,
		 set->name, (unsigned long long)width, tenths / 10);
	if (tenths % 10)
		str_addf(d->out, ".%u", tenths % 10);
	str_add(d->out, "GT/s}\n");
}

/* Checks of a port's RDMA, and of access to GPU memory if the rails have GPUs. */
static void add_port_checks(struct draft *d, const struct draft_set *set)
{
	const char *name = set->name;
	const struct draft_set *gpus = set_called(d, "gpus");

	if (set->ethernet)
		str_addf(d->out, "    #%s-carrier: {run: carrier, on: %s, timeout: 60s}\n", name,
			 name);
	if (!set->fn.v[0]->ibdevs.n)
		return;
	str_addf(d->out,
		 "    #%s-rdma: {run: rdma_link, on: %s, timeout: 60s}\n"
		 "    #%s-loopback: {run: rdma_loopback, on: %s, min: 92%% of line}\n"
		 "    #%s-errors: {run: port_errors, on: %s}\n",
		 name, name, name, name, name, name);
	if (streq(name, "rails") && gpus && gpus->fn.v[0]->vendor == VENDOR_NVIDIA)
		str_add(d->out, "    #gpudirect: {run: gpudirect, on: gpus, with: rails}\n");
}

/*
 * The usual checks of a set, commented out because their figures must be measured on a good node.
 */
static void add_usual_checks(struct draft *d, const struct draft_set *set)
{
	const char *name = set->name;

	if (str_starts(name, "gpus") && set->fn.v[0]->vendor == VENDOR_NVIDIA)
		str_addf(d->out,
			 "    #%s-driver: {run: gpu_driver, on: %s}\n"
			 "    #%s-health: {run: gpu_health, on: %s}\n"
			 "    #%s-xid: {run: gpu_xid, on: %s}\n"
			 "    #%s-copy: {run: gpu_copy, on: %s, min: 20GB/s}\n",
			 name, name, name, name, name, name, name, name);
	else if (is_port(set))
		add_port_checks(d, set);
}

static void add_gate(struct draft *d)
{
	cleanup_str struct str checks = {0};
	struct str *out = d->out;

	d->out = &checks;
	for (size_t i = 0; i < d->sets.set.n; i++)
		/* skip GPUs, because an idle GPU trains its link down */
		if (!d->sets.set.v[i].protect && !str_starts(d->sets.set.v[i].name, "gpus"))
			add_link_check(d, &d->sets.set.v[i]);
	d->out = out;
	str_addf(out,
		 "\n# Checks that must pass before the node works. Measure memory on a good node "
		 "and subtract a\n"
		 "# tenth, or let `railhead calibrate` compute the figure from many nodes.\n"
		 "gate:\n"
		 "  budget: 60s\n"
		 "  %schecks:\n"
		 "%s    #memory: {run: memory_bandwidth, per: node, min: 100GB/s}\n",
		 checks.len ? "" : "#", str_get(&checks));
	for (size_t i = 0; i < d->sets.set.n; i++)
		if (!d->sets.set.v[i].protect)
			add_usual_checks(d, &d->sets.set.v[i]);
}

int draft_profile(const struct root *root, const struct node *node, const char *name,
		  const char *fits, char **ret_name, bool *ret_way_in, struct str *ret,
		  struct err *err)
{
	struct draft d = {.root = root, .node = node, .out = ret};
	bool known;

	*ret_name = name ? xstrdup(name) : name_of(node);
	draft_sets_find(root, node, &d.sets);
	*ret_way_in = d.sets.way_in;
	add_head(&d, *ret_name, fits);
	known = add_match(&d);
	add_devices(&d);
	add_expect(&d);
	add_kernel_args(&d);
	add_hugepages(&d);
	add_modules(&d);
	add_sriov(&d);
	add_ports(&d);
	add_pairs(&d);
	str_add(ret, "\n#sysctl:\n"
		     "#  net.core.rmem_max: 268435456\n"
		     "#  net.ipv4.conf.all.rp_filter: 2\n");
	add_gate(&d);
	draft_sets_free(&d.sets);
	if (!known)
		return err_set(err, -ENODATA,
			       "this tree has nothing to match a machine by: no DMI, no "
			       "architecture, no PCI functions");
	return 0;
}
