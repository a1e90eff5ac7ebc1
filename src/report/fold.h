/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folding: lines that say the same of several members of a device set, of several VFs, NUMA nodes
 * or names become one. An id is a path, "sriov/0000:18:00.0/vf3/driver": its PCI addresses, VFs and
 * nodes say of what a line is, the rest is what it says.
 */
#pragma once

#include "engine/record.h"

/* A line before folding; nothing of it is owned. */
struct fold_item {
	const char *label; /* "differs": only equal ones are folded */
	const char *id;	   /* "link/0000:18:00.0/mtu", or a text without a path */
	const char *value; /* "1500 -> 9000"; addresses, and numbers of VFs and nodes, may differ */
	const char *reason; /* as value; or NULL */
};

/* A line after folding. */
struct fold_row {
	VEC(const struct fold_item *) items; /* never empty; in their order */
	char *of;	  /* "rails x8", "64 vfs of rails", "node0, node1"; or "" */
	char *name;	  /* "link mtu", "modules load" */
	char *names;	  /* of those whose names differ: "ib_umad, rdma_ucm"; or NULL */
	bool reason_same; /* of each item, word for word */
};

struct fold {
	VEC(struct fold_row) rows; /* in the order of their first items */
};

/* utf8: may "×" stand for "x". */
void fold(const struct fold_item *items, size_t n, const struct record_sets *sets, bool utf8,
	  struct fold *ret);
void fold_free(struct fold *f);

/* "rails x8: link mtu", "modules load: ib_umad, rdma_ucm"; "" of a text without an id. Caller
 * frees. */
char *fold_subject(const struct fold_row *row);

/* Whom an id is about: the first PCI address, VF and NUMA node that it names; "", -1: none. */
struct id_subject {
	char addr[PCI_ADDR_MAX];
	int vf, numa;
};
struct id_subject id_subject_of(const char *id);
