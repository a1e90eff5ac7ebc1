/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/inventory.h"
#include "report/table.h"
#include "sys/pciids.h"

/* The parts of a text view of a node. */
struct view {
	FILE *out;
	const struct node *node;
	const struct inventory *inv;
	struct pci_names *names;
	bool all;
	size_t left_out;
	struct str line; /* the beginning of the next line */
};

#define add(v, ...) str_addf(&(v)->line, __VA_ARGS__)

/* Names and values may hold a newline, which must not begin another line. */
static void end_line(struct view *v)
{
	str_make_line(v->line.s);
	fprintf(v->out, "%s\n", v->line.s);
	str_free(&v->line);
}

#define say(v, ...) (add(v, __VA_ARGS__), end_line(v))

static const char *or_unknown(const char *s)
{
	return s && *s ? s : "unknown";
}

static void print_machine(struct view *v)
{
	const struct node *node = v->node;
	const struct thing *m = &v->inv->machine;
	cleanup_free char *cpu = cpu_text(node, v->inv);
	cleanup_free char *memory = size_text(node_memory(node)->bytes);
	const char *bios = thing_get(m, "bios_version"), *date = thing_get(m, "bios_date");
	const char *type = v->inv->groups.n ? thing_get(&v->inv->groups.v[0], "type") : NULL;

	say(v, "machine   %s %s", or_unknown(node_dmi(node, "sys_vendor")),
	    or_unknown(node_dmi(node, "product_name")));
	if (bios || date)
		say(v, "firmware  %s%s%s %s", node_dmi(node, "bios_vendor"),
		    *node_dmi(node, "bios_vendor") ? " " : "", bios ? bios : "", date ? date : "");
	say(v, "kernel    %s %s", or_unknown(node->kernel), node_arch(node));
	say(v, "arguments %s", *node->cmdline ? node->cmdline : "unknown");
	say(v, "CPU       %s", cpu);
	say(v, "memory    %s", memory);
	if (v->inv->groups.n)
		say(v, "IOMMU     %zu groups%s%s", v->inv->groups.n, type ? ", " : "",
		    type ? type : "");
}

/* --- what a function has ------------------------------------------------------------------- */

static void print_netdev(struct view *v, const char *name)
{
	const struct thing *t = thing_find(&v->inv->net, name);
	const char *speed = thing_get(t, "speed"), *mtu = thing_get(t, "mtu");

	add(v, "      netdev %s %s", name, or_unknown(thing_get(t, "operstate")));
	if (speed && *speed != '-')
		add(v, ", %s Mb/s", speed);
	if (mtu)
		add(v, ", mtu %s", mtu);
	end_line(v);
}

static void print_fact(struct view *v, const struct thing *t, const char *key, const char *label)
{
	const char *text = thing_get(t, key);

	if (text)
		add(v, ", %s%s", label, text);
}

static void print_rdma(struct view *v, const char *name)
{
	const struct thing *t = thing_find(&v->inv->rdma, name);

	add(v, "      rdma %s", name);
	print_fact(v, t, "hca_type", "");
	print_fact(v, t, "fw_ver", "firmware ");
	print_fact(v, t, "board_id", "board ");
	end_line(v);
	for (size_t i = 0; t && i < t->parts.n; i++) {
		const struct thing *port = &t->parts.v[i];

		add(v, "        port %s", port->name);
		print_fact(v, port, "link_layer", "");
		print_fact(v, port, "state", "");
		print_fact(v, port, "rate", "");
		end_line(v);
	}
}

/* "8 of 16 VFs: 0000:3b:00.1 to 0000:3b:01.0, igbvf" */
static void print_vfs(struct view *v, const struct pci_fn *pf)
{
	struct vfs_of vfs = vfs_of(v->node, pf);

	if (!pf->totalvfs && !vfs.n)
		return;
	add(v, "      %zu of %u VFs", vfs.n, pf->totalvfs);
	if (vfs.n)
		add(v, ": %s to %s, %s", vfs.first->addr, vfs.last->addr, vfs.driver);
	end_line(v);
}

static void print_link(struct view *v, const struct thing *t)
{
	const char *speed = thing_get(t, "link_speed"), *width = thing_get(t, "link_width");
	const char *max_speed = thing_get(t, "max_link_speed");
	const char *max_width = thing_get(t, "max_link_width");
	const char *group = thing_get(t, "iommu_group");

	if (speed && width && !streq(width, "0")) {
		add(v, "      link x%s %s", width, speed);
		if (max_speed && max_width &&
		    (!streq(max_speed, speed) || !streq(max_width, width)))
			add(v, " of x%s %s", max_width, max_speed);
		end_line(v);
	}
	if (group)
		say(v, "      IOMMU group %s", group);
}

static void print_function(struct view *v, const struct pci_fn *fn, const struct thing *t)
{
	const struct thing *module = fn->driver ? thing_find(&v->inv->modules, fn->driver) : NULL;
	struct function_names names = function_names(v->names, v->inv, fn);

	add(v, "  %s [%04x:%04x] %s%s%s", fn->addr, fn->vendor, fn->device, names.class,
	    *names.product ? ": " : "", names.product);
	say(v, ", %s%s%s", fn->driver ? fn->driver : "no driver", module ? " " : "",
	    module ? thing_get(module, "version") : "");
	if (fn->part_number)
		say(v, "      part %s", fn->part_number);
	if (inventory_shows(fn))
		print_link(v, t);
	for (size_t i = 0; i < fn->net.n; i++)
		print_netdev(v, fn->net.v[i]);
	for (size_t i = 0; i < fn->ibdevs.n; i++)
		print_rdma(v, fn->ibdevs.v[i]);
	print_vfs(v, fn);
}

/* --- NUMA nodes --------------------------------------------------------------------------- */

static void print_functions(struct view *v, int numa, const char *title)
{
	const struct pci_functions *functions = node_functions(v->node);
	bool any = false;

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];

		if (numa_of(v->node, fn) != numa)
			continue;
		if (!v->all && (*fn->physfn || !inventory_shows(fn))) {
			v->left_out += !*fn->physfn;
			continue;
		}
		if (!any && title)
			fprintf(v->out, "\n%s\n", title);
		any = true;
		print_function(v, fn, &v->inv->pci.v[i]);
	}
}

static void print_numa(struct view *v, const struct thing *t)
{
	const char *cpus = thing_get(t, "cpus"), *memory = thing_get(t, "memory");
	const char *distances = thing_get(t, "distances");
	unsigned long long bytes = memory ? strtoull(memory, NULL, 10) : 0;
	cleanup_free char *size = size_text(bytes);

	fputc('\n', v->out);
	say(v, "NUMA node %s: %s%s, %s%s%s", t->name, cpus ? "CPUs " : "no CPUs", or_empty(cpus),
	    bytes    ? size
	    : memory ? "no memory"
		     : "memory unknown",
	    distances ? ", distances " : "", or_empty(distances));
	print_functions(v, (int)strtol(t->name, NULL, 10), NULL);
}

/* --- NICs and GPUs ------------------------------------------------------------------------- */

static void print_pairs(struct view *v)
{
	static const char *const heading[] = {"NIC",	  "GPU",     "nearness", "NUMA node",
					      "redirect", "NIC ATS", NULL};
	struct table t = {.name = "pair", .heading = heading};

	for (size_t i = 0; i < v->inv->pairs.n; i++) {
		const struct pair *p = &v->inv->pairs.v[i];
		const struct p2p_fact *way = &v->inv->ways[i];
		cleanup_free char *nodes = pair_nodes(p);
		cleanup_free char *redirect = pair_redirect(p, way);

		table_add(&t, p->nic->addr, p->gpu ? p->gpu->addr : "none left",
			  p->gpu ? nearness_name(p->how) : "-", nodes, redirect,
			  p->gpu ? p2p_ats_name(way->nic_ats) : "-");
	}
	if (t.rows.n)
		fprintf(v->out, "\nEach NIC and the GPU that goes with it:\n");
	table_print(v->out, &t, true);
	table_free(&t);
}

void inventory_render(FILE *out, const struct node *node, const struct inventory *inv, bool all)
{
	struct view v = {out, node, inv, pci_names_open(), all, 0, {0}};
	size_t empty = 0;

	print_machine(&v);
	for (size_t i = 0; i < inv->numa.n; i++)
		if (all || !numa_is_empty(node, &inv->numa.v[i]))
			print_numa(&v, &inv->numa.v[i]);
		else
			empty++;
	if (empty)
		fprintf(out, "\n%zu more NUMA nodes have neither CPUs nor memory\n", empty);
	print_functions(&v, -1, "NUMA node unknown:");
	print_pairs(&v);
	if (v.left_out)
		fprintf(out, "\n%zu more functions (bridges, system devices): --all shows them\n",
			v.left_out);
	pci_names_close(v.names);
}
