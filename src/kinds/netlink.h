/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of kind netlink, each in a file of its own. Looks run in the engine's own process and
 * ask apart (sys/netlink.h), once for all that concerns one PF: what they heard is kept until it is
 * forgotten.
 */
#pragma once

#include "kinds/kind.h"
#include "kinds/target.h"

/* netlink.c: all netdevs of on.name up; no value is wanted */
extern const struct target_item netdevs_up;

/*
 * eswitch.c, of on.name: a word of these. The first removes the PF's VFs before, the second
 * unbinds them: which one a driver wants, sections/ knows.
 */
extern const char *const eswitch_words[]; /* NULL-ended; by enum eswitch_mode */
extern const struct target_item eswitch_without_vfs, eswitch_with_vfs;
/* rdma.c, of the whole machine; the value's number: 0 shared, 1 exclusive. */
extern const struct target_item rdma_netns;

/* Of a tree that is not the running machine: what is there is unknown, so it would be set. */
int look_elsewhere(struct change *c);
/* 0, or the -EOPNOTSUPP of a set in such a tree. */
int netlink_only_here(const struct root *root, struct err *err);
