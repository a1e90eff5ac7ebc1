/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mbind(2) and get_mempolicy(2) by syscall(2), because libnuma would be a library for two calls. */
#include "bench/membuf.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "bench/facts.h"
#include "bench/time_over.h"

#define NODES_MAX 1024 /* MAX_NUMNODES of the largest kernels */
#define LONG_BITS (8 * sizeof(unsigned long))
#define HUGE_SHIFT 26 /* MAP_HUGE_SHIFT: the position of log2 of the page size in the flags */
#define SMALLEST 4096 /* means the kernel's smallest pages: 64K on many arm64 kernels */
#define SAMPLES 64    /* of small pages, when their node is verified */

/* *ret: the number of free pages, at most `want`. -ENOMEM with the reason: no page is free. */
static int huge_available(int rootfd, unsigned int node, uint64_t page, uint64_t want,
			  uint64_t *ret, struct err *err)
{
	struct huge_pages hp;
	char name[24];
	int r = facts_huge_pages(rootfd, node, page, &hp, err);

	if (r < 0)
		return r;
	if (hp.free == 0)
		return err_set(err, -ENOMEM,
			       "no free %s page on node %u: %" PRIu64 " reserved, %" PRIu64 " free",
			       size_name(page, name), node, hp.reserved, hp.free);
	*ret = hp.free < want ? hp.free : want;
	return 0;
}

/*
 * Leaves a quarter of the node's memory, because a bound node that runs out calls the OOM killer,
 * and because the machine's other work needs memory on that node, too.
 */
static int small_available(int rootfd, unsigned int node, uint64_t want, struct err *err)
{
	uint64_t available;
	int r = facts_node_available(rootfd, node, &available, err);

	if (r < 0)
		return r;
	if (want > available / 4 * 3)
		return err_set(err, -ENOMEM,
			       "node %u has only %" PRIu64 " MiB to spare, %" PRIu64 " MiB needed",
			       node, (available / 4 * 3) >> 20, want >> 20);
	return 0;
}

static int bind_to_node(const struct membuf *b, struct err *err)
{
	unsigned long mask[NODES_MAX / LONG_BITS] = {0};

	if (b->node >= NODES_MAX)
		return err_set(err, -ERANGE, "node %u is out of range", b->node);
	mask[b->node / LONG_BITS] = 1ul << (b->node % LONG_BITS);
	/* A kernel without NUMA has one node, so that the memory is on it already. */
	if (syscall(SYS_mbind, b->p, b->len, MPOL_BIND, mask, (unsigned long)NODES_MAX + 1, 0) <
		    0 &&
	    !(errno == ENOSYS && b->node == 0))
		return err_errno(err, -errno, "bind to node %u", b->node);
	return 0;
}

static int map_pages(struct membuf *b, int huge_flags, struct err *err)
{
	char name[24];

	b->p = mmap(NULL, b->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | huge_flags,
		    -1, 0);
	if (b->p == MAP_FAILED) {
		b->p = NULL;
		return err_errno(err, -errno, "map %zu pages of %s", (size_t)(b->len / b->page),
				 size_name(b->page, name));
	}
	if (!huge_flags) /* "4K" in the result must mean 4K pages */
		madvise(b->p, b->len, MADV_NOHUGEPAGE);
	return bind_to_node(b, err);
}

int membuf_map(struct membuf *ret, int rootfd, unsigned int node, uint64_t page, size_t want,
	       struct err *err)
{
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE), pages;
	struct membuf b = {.page = page == SMALLEST ? base : page, .node = node};
	int huge_flags = 0;
	int r;

	page = b.page;
	if (page < base) {
		char name[24], base_name[24];

		return err_set(err, -EINVAL,
			       "this kernel has no pages of %s: its smallest pages are %s",
			       size_name(page, name), size_name(base, base_name));
	}
	pages = (want + page - 1) / page;
	if (page == base) {
		r = small_available(rootfd, node, pages * page, err);
	} else {
		r = huge_available(rootfd, node, page, pages, &pages, err);
		huge_flags = MAP_HUGETLB | (int)((unsigned int)__builtin_ctzll(page) << HUGE_SHIFT);
	}
	if (r < 0)
		return r;
	b.len = pages * page;
	r = map_pages(&b, huge_flags, err);
	if (r < 0) {
		membuf_free(&b);
		return r;
	}
	*ret = b;
	return 0;
}

void membuf_touch(const struct membuf *b, size_t from, size_t to)
{
	/* Starts at the first page that begins in the part, so that each page has one thread. */
	for (size_t at = (from + b->page - 1) / b->page * b->page; at < to && !time_is_over();
	     at += b->page)
		*((volatile char *)b->p + at) = 1;
}

static int untouched(const struct membuf *b, struct err *err)
{
	cleanup_free char *what = xasprintf("%zu MiB of node %u were touched first: other work "
					    "uses its CPUs, or its memory is slow",
					    b->len >> 20, b->node);

	return err_time_over(err, what);
}

int membuf_verify(const struct membuf *b, struct err *err)
{
	size_t pages = b->len / b->page;
	size_t step =
		pages > SAMPLES && b->page == (uint64_t)sysconf(_SC_PAGESIZE) ? pages / SAMPLES : 1;

	if (time_is_over())
		return untouched(b, err);
	for (size_t i = 0; i < pages; i += step) {
		int node = -1;

		if (syscall(SYS_get_mempolicy, &node, NULL, 0ul, (char *)b->p + i * b->page,
			    (unsigned long)(MPOL_F_NODE | MPOL_F_ADDR)) < 0) {
			if (errno == ENOSYS && b->node == 0)
				return 0;
			return err_errno(err, -errno, "ask for the node of a page");
		}
		if (node != (int)b->node)
			return err_set(err, -EXDEV, "memory requested from node %u is on node %d",
				       b->node, node);
	}
	return 0;
}

void membuf_free(struct membuf *b)
{
	if (b->p)
		munmap(b->p, b->len);
	b->p = NULL;
}
