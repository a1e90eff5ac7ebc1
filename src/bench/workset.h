/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The working set of a memory benchmark: memory of one NUMA node, the CPUs of the same or another
 * node that use the memory, and their last-level cache, which must be smaller than the memory.
 */
#pragma once

#include <jansson.h>

#include "bench/benchmark.h"
#include "base/units.h"
#include "bench/disturb.h"
#include "bench/membuf.h"

struct workset {
	unsigned int node; /* whose memory */
	unsigned int from; /* whose CPUs */
	struct cpus cpus;  /* of `from`, one thread of each core */
	uint64_t cache;	   /* bytes of last-level cache of `from`; 0: not known */
	struct membuf buf; /* after workset_map() */
	size_t used;	   /* bytes of buf, from its begin */
	uint64_t touch_ns; /* duration of the first touch */

	/* between workset_watch() and workset_report() */
	struct cpus all; /* of `from`, all threads */
	struct disturb before;
	uint64_t own_before;
	int rootfd;
};

/* The options of a working set, for the benchmark's table. */
#define WORKSET_OPTIONS                                                                \
	{.name = "node",                                                               \
	 .arg = "N",                                                                   \
	 .type = OPTION_NUMBER,                                                        \
	 .max = 1023,                                                                  \
	 .required = true,                                                             \
	 .help = "NUMA node whose memory is measured"},                                \
		{.name = "from",                                                       \
		 .arg = "N",                                                           \
		 .type = OPTION_NUMBER,                                                \
		 .max = 1023,                                                          \
		 .help = "NUMA node whose CPUs measure (the same node)"},              \
		{.name = "page",                                                       \
		 .arg = "SIZE[,SIZE]",                                                 \
		 .type = OPTION_SIZES,                                                 \
		 .help = "page size, or a list: the first size with free pages (1G)"}, \
	{                                                                              \
		.name = "size", .arg = "SIZE", .type = OPTION_SIZE,                    \
		.help = "working set (4 x last-level cache, at least 64M)"             \
	}

/* Finds the nodes, CPUs and cache. -ENODEV: no such node, or the node has no CPUs. */
int workset_find(struct workset *w, int rootfd, const struct options *o, struct err *err);

/*
 * Maps and binds the memory without touching it. -ENOMEM also for less than twice the cache, unless
 * --size asks for it, because the benchmark would measure the cache.
 */
int workset_map(struct workset *w, int rootfd, const struct options *o, struct err *err);

/* Before the first window: starts counting the use of the CPUs by others. */
void workset_watch(struct workset *w, int rootfd);
/*
 * "node", "from", "page", "size" (w->used), "last_level_cache", "touch_ms"; "others_pct" and
 * "steal_pct" of the node's CPUs, if the kernel reports them.
 */
void workset_report(struct workset *w, json_t *line);

/* Adds remarks for a reader of the figure, each ending with "; ". */
struct str;
void workset_note(const struct workset *w, struct str *note);
