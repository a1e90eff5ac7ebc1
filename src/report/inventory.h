/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of `railhead survey`: the node and its inventory as text and as JSON. Also the words
 * that the text and the page (report/page.h) share.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "node/inventory.h"
#include "node/node.h"
#include "sys/pciids.h"

/* Grouped by NUMA node; all: also functions that no profile names (bridges, uncore). */
void inventory_render(FILE *out, const struct node *node, const struct inventory *inv, bool all);
/* Everything; the fields are in railhead(8). The caller owns the result. */
json_t *inventory_to_json(const struct node *node, const struct inventory *inv);

/*
 * A JSON string. Text of a captured tree, or a path, may be any bytes, but JSON is UTF-8: if s is
 * not UTF-8, each byte outside ASCII becomes '?'. NULL for NULL.
 */
json_t *text_json(const char *s);
json_t *texts_json(const struct strv *l);

/* --- words (inventory_words.c); the caller frees texts ------------------------------------ */

/* Whether fn has a class that profiles name (storage, network, GPU, accelerator), or a netdev. */
bool inventory_shows(const struct pci_fn *fn);
/* "1.5T", "251.0G", "64.0M" */
char *size_text(uint64_t bytes);
/* "Intel(R) Xeon(R) 8480C, 2 sockets, 224 CPUs (0-223)" */
char *cpu_text(const struct node *node, const struct inventory *inv);
/* The NUMA node of the function; -1: unknown, or this machine has no such node. */
int numa_of(const struct node *node, const struct pci_fn *fn);
/* Whether a NUMA node has no CPU, memory or function: on a GB200 most nodes are empty. */
bool numa_is_empty(const struct node *node, const struct thing *numa);

/* The VFs of a PF, in the order of their addresses. */
struct vfs_of {
	size_t n;
	const struct pci_fn *first, *last; /* NULL: no VFs */
	const char *driver; /* "no driver", "several drivers"; static, or of the first */
};
struct vfs_of vfs_of(const struct node *node, const struct pci_fn *pf);

struct function_names {
	char class[128];
	char product[320]; /* vendor and device; "": both unknown */
};
struct function_names function_names(struct pci_names *names, const struct inventory *inv,
				     const struct pci_fn *fn);

/* The NUMA nodes of a pair: "0", "0, 1", "unknown". */
char *pair_nodes(const struct pair *p);
/* "no", "yes, Data Direct"; "-" without a GPU. */
char *pair_redirect(const struct pair *p, const struct p2p_fact *way);
