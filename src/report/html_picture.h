/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the drawing of a node (html_node.c): what its parts share. */
#pragma once

#include <stdio.h>

#include "report/html_parts.h"
#include "sys/pciids.h"

struct picture {
	FILE *out;
	const struct page *page;
	const struct marks *marks;
	struct pci_names *names;
	int *above; /* of each function of the node: the index of the bridge above, or -1 */
};

/* The box of the function of that index; numa: the NUMA node that the box stands in. */
void html_function(const struct picture *p, size_t at, int numa);
/* The part of the PCIe tree that belongs to a NUMA node, and what it has else; -1: unknown. */
void html_tree(const struct picture *p, int numa);

/* The marks of a function, and of its VFs. */
void html_marks_of(const struct picture *p, const struct pci_fn *fn);
/* Lines of a list; t: NULL where nothing is known of it but the name. */
void html_netdev(FILE *out, const struct thing *t, const char *name);
void html_rdma(FILE *out, const struct thing *t, const char *name);
void html_link(FILE *out, const struct link_state *link);
