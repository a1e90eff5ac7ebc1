/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latency of a NUMA node's memory: one CPU, of the same node or of another (--from), follows a
 * chain of pointers through the working set (chain.h); each load waits for the previous one. The
 * figure is nanoseconds a hop: the median of many short windows that fill the budget, each of which
 * is the median of its pieces. One thread walks; the threads on the node's other CPUs keep those
 * CPUs from work that would load the memory.
 *
 * The windows follow each other without gaps. A CPU that pauses loses the page tables from its
 * caches (and on a virtual machine the host's tables), and a hop then takes a quarter longer for
 * many milliseconds than in work that continues.
 *
 * On small pages a hop also walks the page tables. Figures of different page sizes can't be
 * compared, and therefore the line has "page".
 */
#include "bench/memory_latency.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"
#include "base/str.h"
#include "bench/chain.h"
#include "bench/pool.h"
#include "bench/time_over.h"
#include "bench/windows.h"
#include "bench/workset.h"

#define CPUS_AT_MOST 64
#define PIECE 512     /* hops: about 50 us, longer than the period of a modulated clock */
#define HOLD_NS 50000 /* as long, for a thread that only occupies its CPU */
#define WINDOW_NS 2000000u
#define WINDOWS_LITTLE 40
#define WINDOWS_FLOOR 8 /* however short the budget is */
#define WARM_NS 20000000u
#define BUDGET_MS 600
#define SEED 0x7261696c68656164u

struct latency {
	struct workset set;
	struct pool *pool; /* all threads write the chain; the last one walks it */
	struct chain *chain;
	const void *at;
	struct windows windows; /* hops a second */
	uint64_t chain_ns, windows_ns;
};

/* --- before the windows ---------------------------------------------------------------- */

/* The blocks that one writer writes. */
static void part_of(const struct latency *l, size_t who, size_t *ret_from, size_t *ret_to)
{
	size_t n = pool_size(l->pool), blocks = chain_blocks(l->chain);

	*ret_from = blocks * who / n;
	*ret_to = blocks * (who + 1) / n;
}

static size_t do_touch(void *ctx, size_t who)
{
	struct latency *l = ctx;
	size_t from, to;

	part_of(l, who, &from, &to);
	membuf_touch(&l->set.buf, from * CHAIN_BLOCK, to * CHAIN_BLOCK);
	return 0;
}

static size_t do_write(void *ctx, size_t who)
{
	struct latency *l = ctx;
	size_t from, to;

	part_of(l, who, &from, &to);
	for (; from < to && !time_is_over(); from++)
		chain_write(l->chain, from, from + 1);
	return 0;
}

static int write_chain(struct latency *l, struct err *err)
{
	uint64_t start = clock_ns(), touched;

	l->set.used = l->set.used / CHAIN_BLOCK * CHAIN_BLOCK;
	if (l->set.used == 0)
		return err_set(err, -EINVAL, "--size: at least %zu KiB are needed",
			       CHAIN_BLOCK / 1024);
	l->chain = chain_new(l->set.buf.p, l->set.used, SEED);
	l->at = l->set.buf.p;
	pool_once(l->pool, do_touch, l);
	touched = clock_ns();
	l->set.touch_ns = touched - start;
	pool_once(l->pool, do_write, l);
	l->chain_ns = clock_ns() - touched;
	return membuf_verify(&l->set.buf, err);
}

static int prepare(struct latency *l, int rootfd, const struct options *o, struct err *err)
{
	int r = workset_find(&l->set, rootfd, o, err);

	if (r == 0)
		r = pool_start(&l->pool, &l->set.cpus, CPUS_AT_MOST, err);
	if (r == 0)
		r = workset_map(&l->set, rootfd, o, err);
	if (r == 0)
		r = write_chain(l, err);
	return r;
}

/* --- measuring ------------------------------------------------------------------------- */

/*
 * Walks on the last of the node's CPUs, because the first CPUs take interrupts on many machines,
 * and remain for the system where others are isolated.
 */
static size_t walker(const struct latency *l)
{
	return pool_size(l->pool) - 1;
}

static size_t hold(void)
{
	uint64_t end = clock_ns() + HOLD_NS;

	while (clock_ns() < end)
		;
	return 0;
}

static size_t do_walk(void *ctx, size_t who)
{
	struct latency *l = ctx;

	if (who != walker(l))
		return hold();
	l->at = chain_walk(l->at, PIECE);
	return PIECE;
}

static int measure(struct latency *l, int rootfd, uint64_t budget_ns, struct err *err)
{
	uint64_t start;
	struct window one;

	pool_window(l->pool, do_walk, l, WARM_NS, &one);
	workset_watch(&l->set, rootfd);
	start = clock_ns();
	while ((l->windows.list.n < WINDOWS_FLOOR || clock_ns() - start < budget_ns) &&
	       !time_is_over()) {
		pool_window(l->pool, do_walk, l, WINDOW_NS, &one);
		windows_add(&l->windows, &one);
	}
	l->windows_ns = clock_ns() - start;
	return l->windows.list.n ? 0 : err_time_over(err, "its first windows were measured");
}

static void report(struct latency *l, json_t *line)
{
	cleanup_str struct str note = {0};
	double value = 1e9 / windows_median(&l->windows), usual = 0, own = 0;

	windows_add_time(&l->windows, &usual, &own);
	json_object_set_new(line, "value", json_real(value));
	json_object_set_new(line, "unit", json_string("ns"));
	json_object_set_new(line, "whole", json_real(value * own / usual));
	json_object_set_new(line, "cpu", json_integer(pool_cpu(l->pool, walker(l))));
	windows_report(&l->windows, line);
	json_object_set_new(line, "own_pct", json_real(pool_own_pct(l->pool)));
	workset_report(&l->set, line);
	json_object_set_new(line, "chain_ms", json_integer((json_int_t)(l->chain_ns / 1000000)));
	json_object_set_new(line, "windows_ms",
			    json_integer((json_int_t)(l->windows_ns / 1000000)));
	workset_note(&l->set, &note);
	if (l->windows.list.n < WINDOWS_LITTLE)
		str_addf(&note, "only %zu windows fitted the budget; ", l->windows.list.n);
	if (note.len)
		json_object_set_new(line, "note", json_stringn(note.s, note.len - 2));
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	struct latency l = {0};
	cleanup_close int rootfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = rootfd < 0 ? err_errno(err, -errno, "/") : prepare(&l, rootfd, o, err);

	if (r == 0)
		r = measure(&l, rootfd, option_number(o, "budget", BUDGET_MS) * 1000000u, err);
	if (r == 0)
		report(&l, line);
	pool_stop(l.pool);
	membuf_free(&l.set.buf); /* the kernel gets the pages back before the result is printed */
	chain_free(l.chain);
	windows_free(&l.windows);
	return r;
}

const struct benchmark memory_latency = {
	.name = "memory_latency",
	.summary = "random latency of a NUMA node's memory, seen by a CPU of one node",
	.options = {WORKSET_OPTIONS, OPTION_BUDGET("600")},
	.run = run,
};
