/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that are to serve a function: a list, or those of its own NUMA node by the word
 * local_node, online and not isolated, be it in this boot or by what the profile isolates.
 */
#pragma once

#include "kinds/kind.h"

/* For sentences: the key that names CPUs, and what these are for. */
struct near_words {
	const char *key, *what;
};

/*
 * want: a set of CPUs, or a word, which is local_node; c->on.node: isolate_cpus of the profile,
 * or NULL. *ret_where, "node 0" or "CPUs 2-17", is the caller's to free. -ENODATA with a
 * sentence: there are none, or the node is not known.
 */
int near_cpus(const struct kind_ctx *ctx, const struct change *c, const struct value *want,
	      const struct near_words *words, struct cpus *ret, char **ret_where, struct err *err);

/* A list of CPUs in a file. What is absent, or no list ("(null)" of a kernel without nohz_full=),
 * is none: false. */
bool near_read_list(const struct root *root, struct cpus *ret, const char *path);
