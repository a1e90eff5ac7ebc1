/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that serve a function: a list, or the CPUs of its NUMA node by the word local_node.
 * Offline CPUs and the CPUs that this boot or the profile isolates are left out.
 */
#pragma once

#include "kinds/target.h"

struct value; /* of profile/meaning.h */

/* For sentences: the key that names the CPUs, and their purpose. */
struct near_words {
	const char *key, *what;
};

/*
 * want: a set of CPUs, or the word local_node. c->on.node: isolate_cpus of the profile, or NULL.
 * The caller frees *ret_where, "node 0" or "CPUs 2-17". -ENODATA with a sentence: no CPU is left,
 * or the node is unknown.
 */
int near_cpus(const struct kind_ctx *ctx, const struct change *c, const struct value *want,
	      const struct near_words *words, struct cpus *ret, char **ret_where, struct err *err);

/*
 * Reads a list of CPUs from a file. False: the file is absent or not a list ("(null)" of a kernel
 * without nohz_full=), which counts as an empty list.
 */
bool near_read_list(const struct root *root, struct cpus *ret, const char *path);

/* irq.c: on.name is a function, whose interrupts are served by the wanted CPUs. */
extern const struct target_item irq_affinity;
