/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's facts on NUMA nodes, caches and huge pages that benchmarks need before they measure.
 * rootfd: the directory with sys/.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/units.h"

/* The node's online CPUs. -ENODEV: no such node; the set may be empty (memory only). */
int facts_node_cpus(int rootfd, unsigned int node, struct cpus *ret, struct err *err);

/* Keeps the first thread of each core, because a second thread adds no bandwidth. */
void facts_one_per_core(int rootfd, struct cpus *cpus);

/*
 * Keeps at most `most` CPUs, equally many of each last-level cache, because on a processor of
 * chiplets each of these caches has a separate link to the memory.
 */
void facts_spread(int rootfd, struct cpus *cpus, size_t most);

/* Bytes of last-level cache that these CPUs have, each cache counted once; 0: not known. */
uint64_t facts_last_level_cache(int rootfd, const struct cpus *cpus);

/* Bytes that the node can provide without swapping: free, or clean page cache. */
int facts_node_available(int rootfd, unsigned int node, uint64_t *ret, struct err *err);

struct huge_pages {
	uint64_t reserved; /* nr_hugepages */
	uint64_t free;
};

/* -ENOENT: this kernel or CPU has no pages of that size. */
int facts_huge_pages(int rootfd, unsigned int node, uint64_t page_size, struct huge_pages *ret,
		     struct err *err);

/* The NUMA node of an RDMA device, or of the netdev below a software device; -1: not known. */
int facts_rdma_node(int rootfd, const char *device);

/* "4K", "2M", "1G", in a buffer of 24. */
const char *size_name(uint64_t size, char buf[24]);
