/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A starter profile for a machine: a profile that matches the machine, describes its present state
 * and changes nothing yet. The author continues from there.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"
#include "node/node.h"
#include "sys/root.h"

/* Functions that belong together, and the name of their set. */
struct draft_set {
	char *name;
	const char *why; /* a comment for the author; static */
	VEC(const struct pci_fn *) fn;
	int ports;	 /* of the card, if needed to tell the set from another; else 0 */
	bool by_address; /* one function, selected by its address */
	bool ethernet, infiniband;
	bool protect;
};

struct draft_sets {
	VEC(struct draft_set) set;
	bool way_in; /* the NIC with the default route is known, and its set is protected */
};

/*
 * rails: the largest group of like RDMA NICs; storage: the other RDMA NICs; mgmt: the NICs that
 * must stay as they are (the NIC with the default route first); gpus; nvme. A repeated name gets a
 * number: storage2. The result points into node.
 */
void draft_sets_find(const struct root *root, const struct node *node, struct draft_sets *ret);
void draft_sets_free(struct draft_sets *sets);

/* The first warning for the author where way_in is false: on stderr and in the file. */
#define DRAFT_NO_WAY_IN                                                                   \
	"no default route leads over a NIC, so the NIC for logins is unknown and may be " \
	"unprotected"

/*
 * Writes the profile as text. fits: a profile of the search path that matches this machine already,
 * proposed as a base; or NULL. name: the profile's name, which must also be its file's name; NULL:
 * derived from the DMI. The caller frees *ret_name. *ret_way_in: draft_sets.way_in. -ENODATA: the
 * tree has no fact that a match could use.
 */
int draft_profile(const struct root *root, const struct node *node, const char *name,
		  const char *fits, char **ret_name, bool *ret_way_in, struct str *ret,
		  struct err *err);
