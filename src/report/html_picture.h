/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the drawing of a node (html_node.c): declarations that its parts share. */
#pragma once

#include <stdio.h>

#include "report/html_parts.h"
#include "sys/pciids.h"

struct picture {
	FILE *out;
	const struct page *page;
	const struct marks *marks;
	struct pci_names *names;
	int *above; /* for each function of the node: the index of the bridge above, or -1 */
};

/* The box of the function at index `at`, inside the box of NUMA node numa. */
void html_function(const struct picture *p, size_t at, int numa);
/* Whether that function is still gone, and has its empty box inside the box of NUMA node numa. */
bool html_is_missing(const struct picture *p, const struct missing *m, int numa);
void html_missing(const struct picture *p, const struct missing *m);
/* The part of the PCIe tree on a NUMA node, and the node's other parts; -1: unknown node. */
void html_tree(const struct picture *p, int numa);

/* The marks of a function and its VFs. */
void html_marks_of(const struct picture *p, const struct pci_fn *fn);
/* Lines of a list; t: NULL if only the name is known. */
void html_netdev(FILE *out, const struct thing *t, const char *name);
void html_rdma(FILE *out, const struct thing *t, const char *name);
void html_link(FILE *out, const struct link_state *link);
