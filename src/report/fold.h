/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folding: equal lines of several members of a device set, or of several VFs, NUMA nodes or names,
 * become one. An id is a path, "sriov/0000:18:00.0/vf3/driver": its PCI addresses, VFs and
 * nodes are the subject of a line, the rest is its statement.
 */
#pragma once

#include "engine/record.h"

/* A line before folding; owns nothing. */
struct fold_item {
	const char *label; /* "differs": only lines of equal labels are folded */
	const char *id;	   /* "link/0000:18:00.0/mtu", or a text without a path */
	const char *value; /* "1500 -> 9000"; addresses, and numbers of VFs and nodes, may differ */
	const char *reason; /* may differ as value may; or NULL */
};

/* A line after folding. */
struct fold_row {
	VEC(const struct fold_item *) items; /* never empty; in their order */
	char *of;	  /* "rails x8", "64 vfs of rails", "node0, node1"; or "" */
	char *name;	  /* "link mtu", "modules load" */
	char *names;	  /* the names, if they differ: "ib_umad, rdma_ucm"; or NULL */
	bool reason_same; /* the same for every item, word for word */
};

struct fold {
	VEC(struct fold_row) rows; /* in the order of their first items */
};

/* utf8: may "×" stand for "x". */
void fold(const struct fold_item *items, size_t n, const struct record_sets *sets, bool utf8,
	  struct fold *ret);
void fold_free(struct fold *f);

/* "rails x8: link mtu", "modules load: ib_umad, rdma_ucm"; "": a text without an id. Caller
 * frees. */
char *fold_subject(const struct fold_row *row);

/* The subject of an id: the first PCI address, VF and NUMA node that it names; "", -1: none. */
struct id_subject {
	char addr[PCI_ADDR_MAX];
	int vf, numa;
};
struct id_subject id_subject_of(const char *id);
