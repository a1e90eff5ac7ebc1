/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A starter profile for a machine: what it is and what it has now, as a profile that
 * matches it and changes nothing yet. The author takes it from there.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"
#include "node/node.h"
#include "sys/root.h"

/* Functions that belong together, under the name that their set gets. */
struct draft_set {
	char *name;
	const char *why; /* a comment for the author; static */
	VEC(const struct pci_fn *) fn;
	int ports;	 /* of the card, where that parts it from another set; 0: not needed */
	bool by_address; /* one function, named by its address */
	bool ethernet, infiniband;
	bool protect;
};

struct draft_sets {
	VEC(struct draft_set) set;
	bool way_in; /* the NIC with the default route is known, and in a set that is protected */
};

/*
 * rails: the largest group of like RDMA NICs; storage: the other RDMA NICs; mgmt: the
 * NICs that must stay as they are (the one with the default route first); gpus; nvme.
 * Each name once, then with a number: storage2. The result points into node.
 */
void draft_sets_find(const struct root *root, const struct node *node, struct draft_sets *ret);
void draft_sets_free(struct draft_sets *sets);

/* What an author is told first where way_in is not so, on stderr and in the file. */
#define DRAFT_NO_WAY_IN                                                                     \
	"which NIC is the way into this machine is not known (no default route leads over " \
	"one), so that none is protected as such"

/*
 * The profile as text. fits: a profile that is for this machine already, which is proposed as a
 * base, or NULL. name: what to call it, or NULL: made of the DMI's words; the file
 * must be called like it. The caller frees *ret_name. *ret_way_in: draft_sets.way_in. -ENODATA: the
 * tree says nothing that a match could go by.
 */
int draft_profile(const struct root *root, const struct node *node, const char *name,
		  const char *fits, char **ret_name, bool *ret_way_in, struct str *ret,
		  struct err *err);
