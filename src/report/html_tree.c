/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCIe tree as boxes in boxes. A port that leads to one thing alone is a line above that thing.
 * Functions that the text of `survey` leaves out, and that lead to no box, are a list.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/html.h"
#include "report/html_picture.h"
#include "report/inventory.h"

enum { DEPTH_MAX = 32 }; /* levels of bridges */

/* The bridges from the root port down that lead to one thing alone. */
struct way {
	size_t at[DEPTH_MAX];
	size_t n;
};

static const struct pci_fn *function_at(const struct picture *p, size_t at)
{
	return &node_functions(p->page->node)->v[at];
}

/* A VF is drawn in the box of its PF, if the node has the PF. */
static bool is_vf(const struct picture *p, size_t at)
{
	const struct pci_fn *fn = function_at(p, at);

	return *fn->physfn && node_find(p->page->node, fn->physfn);
}

/* The first function with a box, by address, in the tree from `at` down; -1: none. */
static int first_shown(const struct picture *p, size_t at, size_t depth)
{
	if (!is_vf(p, at) && inventory_shows(function_at(p, at)))
		return (int)at;
	for (size_t i = 0; depth < DEPTH_MAX && i < node_functions(p->page->node)->n; i++) {
		int found = p->above[i] == (int)at ? first_shown(p, i, depth + 1) : -1;

		if (found >= 0)
			return found;
	}
	return -1;
}

/* True if neither the function nor any function below it has a box. */
static bool is_other(const struct picture *p, size_t at, int numa)
{
	return !is_vf(p, at) && first_shown(p, at, 0) < 0 &&
	       numa_of(p->page->node, function_at(p, at)) == numa;
}

static size_t count_shown_below(const struct picture *p, size_t at, size_t *ret_first)
{
	size_t n = 0;

	for (size_t i = 0; i < node_functions(p->page->node)->n; i++)
		if (p->above[i] == (int)at && first_shown(p, i, 0) >= 0 && !n++)
			*ret_first = i;
	return n;
}

static size_t depth_of(const struct picture *p, size_t at)
{
	size_t depth = 0;

	while (p->above[at] >= 0 && depth < DEPTH_MAX) {
		at = (size_t)p->above[at];
		depth++;
	}
	return depth;
}

/* A switch shows the link above it; a port shows the link below it. */
static const char *role_of(const struct picture *p, size_t at)
{
	size_t depth = depth_of(p, at);

	if (!pci_fn_is_bridge(function_at(p, at)))
		return "function";
	if (!depth)
		return "root port";
	if (depth % 2 == 0)
		return "port";
	for (size_t i = 0; i < node_functions(p->page->node)->n; i++)
		if (p->above[i] == (int)at && pci_fn_is_bridge(function_at(p, i)))
			return "switch";
	return "bridge";
}

struct function_of_node {
	const struct node *node;
	const struct pci_fn *fn;
};

static bool is_about(const struct mark *m, const void *arg)
{
	const struct function_of_node *of = arg;

	return mark_is_about(m, of->node, of->fn);
}

void html_marks_of(const struct picture *p, const struct pci_fn *fn)
{
	struct function_of_node of = {p->page->node, fn};

	html_marks(p->out, p->page, p->marks, is_about, &of, false);
}

static void put_bridge(const struct picture *p, size_t at)
{
	const char *addr = function_at(p, at)->addr;
	cleanup_free char *id = html_anchor(addr);

	html(p->out, "<span class=bridge id=\"%s\" data-pci=\"%s\">%s <code>%s</code></span>\n", id,
	     addr, role_of(p, at), addr);
}

static void put_way(const struct picture *p, const struct way *way)
{
	if (!way->n)
		return;
	html(p->out, "<p class=way>");
	for (size_t i = 0; i < way->n; i++)
		put_bridge(p, way->at[i]);
	html(p->out, "</p>\n");
	for (size_t i = 0; i < way->n; i++)
		html_marks_of(p, function_at(p, way->at[i]));
}

static void put_branch(const struct picture *p, size_t at, struct way way, int numa);

static void put_switch(const struct picture *p, size_t at, const struct way *way, int numa)
{
	const struct pci_fn *fn = function_at(p, at);
	struct link_state link = link_state_of(p->page->inv, fn, &p->page->inv->pci.v[at]);
	struct function_names names = function_names(p->names, p->page->inv, fn);

	html(p->out, "<div class=switch>\n<div class=head>");
	put_way(p, way);
	html(p->out, "<p class=way>");
	put_bridge(p, at);
	html(p->out, " <span class=name>%s</span></p>\n", names.product);
	html_link(p->out, &link);
	html(p->out, "</div>\n");
	html_marks_of(p, fn);
	html(p->out, "<div class=below>\n");
	if (inventory_shows(fn))
		html_function(p, at, numa);
	for (size_t i = 0; i < node_functions(p->page->node)->n; i++)
		if (p->above[i] == (int)at && first_shown(p, i, 0) >= 0)
			put_branch(p, i, (struct way){0}, numa);
	html(p->out, "</div>\n</div>\n");
}

/* Draws the function at that index and all below; way: the ports above without their own boxes. */
static void put_branch(const struct picture *p, size_t at, struct way way, int numa)
{
	size_t first = 0, n = count_shown_below(p, at, &first);

	if (n > 1 || (n && depth_of(p, at) % 2)) {
		put_switch(p, at, &way, numa);
	} else if (n && way.n < DEPTH_MAX) {
		way.at[way.n++] = at;
		put_branch(p, first, way, numa);
	} else {
		html(p->out, "<div class=slot>\n");
		put_way(p, &way);
		html_function(p, at, numa);
		html(p->out, "</div>\n");
	}
}

/* A root port's tree is drawn at the NUMA node of the functions below it. */
static int numa_of_tree(const struct picture *p, size_t root)
{
	int shown = first_shown(p, root, 0);

	return numa_of(p->page->node, function_at(p, shown < 0 ? root : (size_t)shown));
}

static void put_other(const struct picture *p, size_t at)
{
	const struct pci_fn *fn = function_at(p, at);
	struct function_names names = function_names(p->names, p->page->inv, fn);
	cleanup_free char *id = html_anchor(fn->addr);

	html(p->out, "<li id=\"%s\" data-pci=\"%s\"><code>%s</code> %s%s%s\n", id, fn->addr,
	     fn->addr, names.class, *names.product ? ": " : "", names.product);
	html_marks_of(p, fn);
	html(p->out, "</li>\n");
}

static void put_others(const struct picture *p, int numa)
{
	const struct pci_functions *functions = node_functions(p->page->node);
	size_t n = 0;

	for (size_t i = 0; i < functions->n; i++)
		n += is_other(p, i, numa);
	if (!n)
		return;
	html(p->out,
	     "<details class=others><summary>%zu more functions (bridges, system devices)"
	     "</summary>\n<ul>\n",
	     n);
	for (size_t i = 0; i < functions->n; i++)
		if (is_other(p, i, numa))
			put_other(p, i);
	html(p->out, "</ul>\n</details>\n");
}

void html_tree(const struct picture *p, int numa)
{
	html(p->out, "<div class=tree>\n");
	for (size_t i = 0; i < node_functions(p->page->node)->n; i++)
		if (p->above[i] < 0 && !is_vf(p, i) && first_shown(p, i, 0) >= 0 &&
		    numa_of_tree(p, i) == numa)
			put_branch(p, i, (struct way){0}, numa);
	for (size_t i = 0; p->page->record && i < p->page->record->missing.list.n; i++)
		if (html_is_missing(p, &p->page->record->missing.list.v[i], numa))
			html_missing(p, &p->page->record->missing.list.v[i]);
	html(p->out, "</div>\n");
	put_others(p, numa);
}
