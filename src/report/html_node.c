/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drawing of a node: machine, sockets, NUMA nodes with their memory; pairs and IOMMU groups. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/html.h"
#include "report/html_picture.h"
#include "report/inventory.h"

enum { NO_SOCKET = -1 };

/* --- the machine ---------------------------------------------------------------------------- */

void html_term(FILE *out, const char *term, const char *text)
{
	if (text && *text)
		html(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", term, text);
}

static char *firmware_of(const struct page *page)
{
	const struct thing *m = &page->inv->machine;
	struct str text = {0};
	const char *parts[] = {node_dmi(page->node, "bios_vendor"), thing_get(m, "bios_version"),
			       thing_get(m, "bios_date")};

	for (size_t i = 0; i < array_len(parts); i++)
		if (parts[i] && *parts[i])
			str_addf(&text, "%s%s", text.len ? " " : "", parts[i]);
	return str_take(&text);
}

static bool is_of_machine(const struct mark *m, const void *arg)
{
	return mark_place(m, arg) == PLACE_MACHINE;
}

static void put_machine(FILE *out, const struct page *page, const struct marks *marks)
{
	const struct node *node = page->node;
	cleanup_free char *firmware = firmware_of(page), *cpu = cpu_text(node, page->inv);
	cleanup_free char *memory =
		node_memory(node)->bytes ? size_text(node_memory(node)->bytes) : NULL;
	cleanup_free char *kernel = xasprintf("%s %s", node->kernel, node_arch(node));

	html(out, "<dl class=terms>\n");
	html_term(out, "CPU", cpu);
	html_term(out, "Memory", memory);
	html_term(out, "Kernel", kernel);
	html_term(out, "Firmware", firmware);
	html_term(out, "Arguments", node->cmdline);
	html(out, "</dl>\n");
	html_marks(out, page, marks, is_of_machine, node, false);
}

/* --- NUMA nodes ------------------------------------------------------------------------------ */

static uint64_t number_of(const struct thing *t, const char *key)
{
	const char *text = thing_get(t, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

static uint64_t bytes_of(const struct thing *pages)
{
	return (strtoull(pages->name, NULL, 10) << 10) * number_of(pages, "pages");
}

static void put_share(FILE *out, const char *class, uint64_t part, uint64_t whole)
{
	if (part && whole)
		html(out, "<i class=%s style=\"width:%.2f%%\"></i>", class,
		     100 * (double)(part < whole ? part : whole) / (double)whole);
}

/* "32 huge pages of 1.0G (32 free)" */
static void put_pages(FILE *out, const struct thing *t)
{
	for (size_t i = 0; i < t->parts.n; i++) {
		const struct thing *pages = &t->parts.v[i];
		cleanup_free char *size = size_text(strtoull(pages->name, NULL, 10) << 10);

		if (number_of(pages, "pages"))
			html(out, "<li><i class=huge></i>%llu huge pages of %s, %llu free</li>\n",
			     (unsigned long long)number_of(pages, "pages"), size,
			     (unsigned long long)number_of(pages, "free"));
	}
}

/* The bar shows all memory of the node: huge pages, other use, free. */
static void put_memory(FILE *out, const struct thing *t)
{
	uint64_t whole = number_of(t, "memory"), free_bytes = number_of(t, "free"), huge = 0;
	cleanup_free char *all = size_text(whole), *free_text = size_text(free_bytes);

	for (size_t i = 0; i < t->parts.n; i++)
		huge += bytes_of(&t->parts.v[i]);
	if (!whole) {
		html(out, "<p class=memory>%s</p>\n",
		     thing_get(t, "memory") ? "no memory" : "memory unknown");
		return;
	}
	html(out, "<p class=memory><b>%s</b> memory</p>\n<div class=bar aria-hidden=true>", all);
	put_share(out, "huge", huge, whole);
	if (whole > huge + free_bytes)
		put_share(out, "used", whole - huge - free_bytes, whole);
	html(out, "</div>\n<ul class=legend>\n");
	put_pages(out, t);
	if (whole > huge + free_bytes)
		html(out, "<li><i class=used></i>in other use</li>\n");
	html(out, "<li><i class=free></i>%s free</li>\n</ul>\n", free_text);
}

struct numa_of_node {
	const struct node *node;
	int numa;
};

static bool is_of_numa(const struct mark *m, const void *arg)
{
	const struct numa_of_node *of = arg;

	return mark_place(m, of->node) == PLACE_NUMA && m->on.numa == of->numa;
}

static void put_numa(const struct picture *p, const struct thing *t)
{
	struct numa_of_node of = {p->page->node, (int)strtol(t->name, NULL, 10)};
	const char *cpus = thing_get(t, "cpus"), *distances = thing_get(t, "distances");

	html(p->out, "<section class=numa id=\"numa-%d\"><div class=head><h4>NUMA node %s</h4>\n",
	     of.numa, t->name);
	html(p->out, "<p>%s%s%s%s</p>\n", cpus ? "CPUs " : "no CPUs", cpus,
	     distances ? ", distances " : "", distances);
	put_memory(p->out, t);
	html(p->out, "</div>\n");
	html_marks(p->out, p->page, p->marks, is_of_numa, &of, false);
	html_tree(p, of.numa);
	html(p->out, "</section>\n");
}

/* --- sockets --------------------------------------------------------------------------------- */

static int socket_of(const struct thing *numa)
{
	const char *text = thing_get(numa, "socket");

	return text ? (int)strtol(text, NULL, 10) : NO_SOCKET;
}

static bool is_new_socket(const struct inventory *inv, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (socket_of(&inv->numa.v[i]) == socket_of(&inv->numa.v[at]))
			return false;
	return true;
}

static void put_socket(const struct picture *p, int socket)
{
	const struct inventory *inv = p->page->inv;

	html(p->out, "<section class=socket>");
	if (socket == NO_SOCKET)
		html(p->out, "<h3>No CPU socket</h3>\n");
	else
		html(p->out, "<h3>Socket %d</h3>\n", socket);
	html(p->out, "<div class=numas>\n");
	for (size_t i = 0; i < inv->numa.n; i++)
		if (socket_of(&inv->numa.v[i]) == socket &&
		    !numa_is_empty(p->page->node, &inv->numa.v[i]))
			put_numa(p, &inv->numa.v[i]);
	html(p->out, "</div></section>\n");
}

static bool has_memory_or_cpus(const struct picture *p, int socket)
{
	const struct inventory *inv = p->page->inv;

	for (size_t i = 0; i < inv->numa.n; i++)
		if (socket_of(&inv->numa.v[i]) == socket &&
		    !numa_is_empty(p->page->node, &inv->numa.v[i]))
			return true;
	return false;
}

static bool has_unplaced(const struct picture *p)
{
	const struct pci_functions *functions = node_functions(p->page->node);
	const struct record *record = p->page->record;

	for (size_t i = 0; i < functions->n; i++)
		if (numa_of(p->page->node, &functions->v[i]) < 0)
			return true;
	for (size_t i = 0; record && i < record->missing.list.n; i++)
		if (html_is_missing(p, &record->missing.list.v[i], -1))
			return true;
	return false;
}

static void put_sockets(const struct picture *p)
{
	const struct inventory *inv = p->page->inv;
	size_t empty = 0;

	html(p->out, "<div class=sockets>\n");
	for (size_t i = 0; i < inv->numa.n; i++) {
		int socket = socket_of(&inv->numa.v[i]);

		empty += numa_is_empty(p->page->node, &inv->numa.v[i]);
		if (is_new_socket(inv, i) && has_memory_or_cpus(p, socket))
			put_socket(p, socket);
	}
	if (has_unplaced(p)) {
		html(p->out, "<section class=socket><h3>Elsewhere</h3>"
			     "<div class=numas><section class=numa>"
			     "<h4>NUMA node unknown</h4>\n");
		html_tree(p, -1);
		html(p->out, "</section></div></section>\n");
	}
	html(p->out, "</div>\n");
	if (empty)
		html(p->out,
		     "<p class=note>%zu more NUMA nodes have neither CPUs nor memory.</p>\n",
		     empty);
	if (!node_functions(p->page->node)->n)
		html(p->out, "<p class=note>The node has no PCI functions.</p>\n");
}

/* --- devices without a PCI function ---------------------------------------------------------- */

static bool is_of_function(const struct node *node, const char *name)
{
	const struct pci_functions *functions = node_functions(node);

	for (size_t i = 0; i < functions->n; i++)
		if (strv_contains(&functions->v[i].net, name) ||
		    strv_contains(&functions->v[i].ibdevs, name))
			return true;
	return false;
}

static bool has_virtual(const struct page *page)
{
	const struct thing_list *lists[] = {&page->inv->net, &page->inv->rdma};

	for (size_t l = 0; l < array_len(lists); l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			if (!is_of_function(page->node, lists[l]->v[i].name))
				return true;
	return false;
}

static void put_virtual(FILE *out, const struct page *page)
{
	const struct inventory *inv = page->inv;

	if (!has_virtual(page))
		return;
	html(out, "<section class=card><h3>Without a PCI function</h3>\n<ul class=parts>\n");
	for (size_t i = 0; i < inv->net.n; i++)
		if (!is_of_function(page->node, inv->net.v[i].name))
			html_netdev(out, &inv->net.v[i], inv->net.v[i].name);
	for (size_t i = 0; i < inv->rdma.n; i++)
		if (!is_of_function(page->node, inv->rdma.v[i].name))
			html_rdma(out, &inv->rdma.v[i], inv->rdma.v[i].name);
	html(out, "</ul></section>\n");
}

/* --- pairs and groups ------------------------------------------------------------------------ */

static void put_address(FILE *out, const struct node *node, const char *addr)
{
	cleanup_free char *id = html_anchor(addr);

	if (node_find(node, addr))
		html(out, "<a href=\"#%s\">%s</a> ", id, addr);
	else
		html(out, "%s ", addr);
}

static void put_pair(FILE *out, const struct page *page, size_t i)
{
	const struct pair *pair = &page->inv->pairs.v[i];
	const struct p2p_fact *way = &page->inv->ways[i];
	cleanup_free char *nodes = pair_nodes(pair), *redirect = pair_redirect(pair, way);

	html(out, "<tr><td>");
	put_address(out, page->node, pair->nic->addr);
	html(out, "</td><td>");
	put_address(out, page->node, pair->gpu ? pair->gpu->addr : "none left");
	html(out, "</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
	     pair->gpu ? nearness_name(pair->how) : "-", nodes, redirect,
	     pair->gpu ? p2p_ats_name(way->nic_ats) : "-");
}

static void put_pairs(FILE *out, const struct page *page)
{
	static const char *const heading[] = {"NIC",	   "GPU",      "nearness",
					      "NUMA node", "redirect", "NIC ATS"};

	if (!page->inv->pairs.n)
		return;
	html(out, "<section class=card><h3>Each NIC and the GPU that goes with it</h3>\n"
		  "<div class=wide><table><thead><tr>");
	for (size_t i = 0; i < array_len(heading); i++)
		html(out, "<th scope=col>%s</th>", heading[i]);
	html(out, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < page->inv->pairs.n; i++)
		put_pair(out, page, i);
	html(out, "</tbody></table></div></section>\n");
}

static void put_group(FILE *out, const struct page *page, const struct thing *group)
{
	cleanup_free char *devices = xstrdup(thing_get(group, "devices"));
	char *save = NULL;

	html(out, "<tr><td>%s</td><td>%s</td><td>", group->name, thing_get(group, "type"));
	for (char *d = strtok_r(devices, " ", &save); d; d = strtok_r(NULL, " ", &save))
		put_address(out, page->node, d);
	html(out, "</td></tr>\n");
}

static bool is_shared(const struct thing *group)
{
	return strchr(or_empty(thing_get(group, "devices")), ' ');
}

/* Lists shared groups only: the box of a function shows a group of its own. */
static void put_groups(FILE *out, const struct page *page)
{
	const struct thing_list *groups = &page->inv->groups;
	size_t shared = 0;

	for (size_t i = 0; i < groups->n; i++)
		shared += is_shared(&groups->v[i]);
	html(out, "<section class=card><h3>IOMMU groups</h3>\n");
	if (!groups->n)
		html(out, "<p>The kernel shows none: no IOMMU is in use.</p>");
	else
		html(out, "<p>%zu groups, %zu of them with several functions.</p>\n", groups->n,
		     shared);
	if (shared)
		html(out,
		     "<div class=wide><table><thead><tr><th scope=col>group</th>"
		     "<th scope=col>type</th><th scope=col>functions</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < groups->n; i++)
		if (is_shared(&groups->v[i]))
			put_group(out, page, &groups->v[i]);
	if (shared)
		html(out, "</tbody></table></div>\n");
	html(out, "</section>\n");
}

/* --- all ------------------------------------------------------------------------------------- */

/* The index of the bridge above, -1: none; the inventory is in the node's order. */
static int index_above(const struct inventory *inv, size_t at)
{
	const char *bridge = thing_get(&inv->pci.v[at], "bridge");
	const struct thing *t = bridge ? thing_find(&inv->pci, bridge) : NULL;

	return t ? (int)(t - inv->pci.v) : -1;
}

static bool has_groups_of_vfs(const struct page *page)
{
	const struct pci_functions *functions = node_functions(page->node);

	for (size_t i = 0; i < functions->n; i++)
		if (*functions->v[i].physfn && thing_get(&page->inv->pci.v[i], "iommu_group"))
			return true;
	return false;
}

void html_node(FILE *out, const struct page *page, const struct marks *marks)
{
	size_t n = node_functions(page->node)->n;
	struct picture p = {out, page, marks, pci_names_open(), xcalloc(n + 1, sizeof(int))};

	for (size_t i = 0; i < n; i++)
		p.above[i] = index_above(page->inv, i);
	html(out, "<section id=node aria-labelledby=node-h><h2 id=node-h>Node</h2>\n");
	put_machine(out, page, marks);
	if (has_groups_of_vfs(page))
		html(out, "<p class=note>In the box of a VF, g is its IOMMU group.</p>\n");
	put_sockets(&p);
	html(out, "<div class=cards>\n");
	put_virtual(out, page);
	put_pairs(out, page);
	put_groups(out, page);
	html(out, "</div></section>\n");
	free(p.above);
	pci_names_close(p.names);
}
