/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of kind netlink, each in a separate file. Looks run in the engine's own process and ask
 * apart (sys/netlink.h), once for all settings of a PF; the answers are kept until they are
 * forgotten.
 */
#pragma once

#include "kinds/kind.h"
#include "kinds/target.h"

/* netlink.c: all netdevs of on.name are up; there is no wanted value */
extern const struct target_item netdevs_up;

/*
 * eswitch.c, for on.name: one of these words. eswitch_without_vfs first removes the PF's VFs,
 * eswitch_with_vfs first unbinds them; sections/ knows which one a driver needs.
 */
extern const char *const eswitch_words[]; /* NULL-ended; by enum eswitch_mode */
extern const struct target_item eswitch_without_vfs, eswitch_with_vfs;
/* rdma.c, for the whole machine; the wanted number is 0 for shared, 1 for exclusive. */
extern const struct target_item rdma_netns;

/*
 * The look in a tree that is not the running machine: the state is unknown, so the change differs.
 */
int look_elsewhere(struct change *c);
/* 0, or -EOPNOTSUPP for a set in such a tree. */
int netlink_only_here(const struct root *root, struct err *err);
