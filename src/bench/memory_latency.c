/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latency of a NUMA node's memory: one CPU, of the same or of another node (--from), follows a
 * chain of pointers through the working set (chain.h), each load waiting for the one before.
 * The figure is nanoseconds a hop, the median of many short windows spread over the budget,
 * each of which is the median of its pieces.
 *
 * The windows follow each other without gaps: a CPU that pauses loses the page tables from its
 * caches (and on a virtual machine the host's), and then a hop takes a quarter longer for many
 * milliseconds than it takes work that goes on.
 *
 * On small pages a hop is a walk of the page tables too: that is why "page" is in the line and
 * why figures of different page sizes are not to be compared.
 */
#include "bench/memory_latency.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"
#include "base/str.h"
#include "bench/chain.h"
#include "bench/crew.h"
#include "bench/time_over.h"
#include "bench/windows.h"
#include "bench/workset.h"

#define WRITERS_AT_MOST 64
#define PIECE 512 /* hops: 50 us or so, longer than the period of a modulated clock */
#define WINDOW_LEAST_NS 1000000u
#define WINDOWS_WANTED 100
#define WINDOWS_LEAST 40 /* before windows may agree */
#define WINDOWS_FLOOR 8	 /* however short the budget is */
#define WARM_NS 20000000u
#define AGREE_PCT 0.3
#define BUDGET_MS 600
#define SEED 0x7261696c68656164u

struct latency {
	struct workset set;
	struct crew *writers; /* of the chain */
	struct crew *walker;  /* one */
	struct chain *chain;
	const void *at;
	struct windows windows; /* ns a hop */
	int cpu;
	uint64_t chain_ns, windows_ns;
};

/* --- before the windows ---------------------------------------------------------------- */

/* The blocks of a writer. */
static void part_of(const struct latency *l, size_t who, size_t *ret_from, size_t *ret_to)
{
	size_t n = crew_size(l->writers), blocks = chain_blocks(l->chain);

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

/*
 * The last of the node's CPUs that may be used: the first ones take interrupts on many
 * machines, and are kept for the system where others are isolated.
 */
static int start_walker(struct latency *l, struct err *err)
{
	struct cpus left = l->set.cpus;
	int r = -ENODEV;

	for (int cpu = cpus_last(&left); r < 0 && cpu >= 0; cpu = cpus_last(&left)) {
		struct cpus one = {0};

		cpus_add(&one, (unsigned int)cpu);
		cpus_remove_all(&left, &one);
		r = crew_start(&l->walker, &one, 1, err);
		l->cpu = cpu;
	}
	return r;
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
	crew_once(l->writers, do_touch, l);
	touched = clock_ns();
	l->set.touch_ns = touched - start;
	crew_once(l->writers, do_write, l);
	l->chain_ns = clock_ns() - touched;
	return membuf_verify(&l->set.buf, err);
}

static int prepare(struct latency *l, int rootfd, const struct options *o, struct err *err)
{
	int r = workset_find(&l->set, rootfd, o, err);

	if (r == 0)
		r = crew_start(&l->writers, &l->set.cpus, WRITERS_AT_MOST, err);
	if (r == 0)
		r = workset_map(&l->set, rootfd, o, err);
	if (r == 0)
		r = write_chain(l, err);
	if (r == 0)
		r = start_walker(l, err);
	return r;
}

/* --- measuring ------------------------------------------------------------------------- */

static size_t do_walk(void *ctx, size_t who)
{
	struct latency *l = ctx;

	(void)who;
	l->at = chain_walk(l->at, PIECE);
	return PIECE;
}

static int measure(struct latency *l, uint64_t budget_ns, struct err *err)
{
	uint64_t window = budget_ns / WINDOWS_WANTED;
	uint64_t start = clock_ns();

	window = window > WINDOW_LEAST_NS ? window : WINDOW_LEAST_NS;
	crew_window(l->walker, do_walk, l, WARM_NS);
	while (windows_count(&l->windows) < WINDOWS_WANTED &&
	       !windows_agree(&l->windows, WINDOWS_LEAST, AGREE_PCT) && !time_is_over()) {
		if (windows_count(&l->windows) >= WINDOWS_FLOOR && clock_ns() - start > budget_ns)
			break;
		double hops = crew_window(l->walker, do_walk, l, window);

		windows_add(&l->windows, 1e9 / hops, crew_disturbed(l->walker));
	}
	l->windows_ns = clock_ns() - start;
	return windows_count(&l->windows) ? 0
					  : err_time_over(err, "its first windows were measured");
}

static void report(const struct latency *l, json_t *line)
{
	cleanup_str struct str note = {0};

	json_object_set_new(line, "value", json_real(windows_median(&l->windows)));
	json_object_set_new(line, "unit", json_string("ns"));
	json_object_set_new(line, "cpu", json_integer(l->cpu));
	json_object_set_new(line, "windows", json_integer((json_int_t)windows_count(&l->windows)));
	json_object_set_new(line, "disturbed", json_integer((json_int_t)l->windows.n_disturbed));
	json_object_set_new(line, "spread_pct", json_real(windows_spread_pct(&l->windows)));
	json_object_set_new(line, "stalled_pct", json_real(crew_stalled_pct(l->walker)));
	workset_report(&l->set, line);
	json_object_set_new(line, "chain_ms", json_integer((json_int_t)(l->chain_ns / 1000000)));
	json_object_set_new(line, "windows_ms",
			    json_integer((json_int_t)(l->windows_ns / 1000000)));
	workset_note(&l->set, &note);
	if (windows_count(&l->windows) < WINDOWS_LEAST)
		str_addf(&note, "only %zu windows fitted the budget; ", windows_count(&l->windows));
	if (note.len)
		json_object_set_new(line, "note", json_stringn(note.s, note.len - 2));
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	struct latency l = {0};
	cleanup_close int rootfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = rootfd < 0 ? err_errno(err, -errno, "/") : prepare(&l, rootfd, o, err);

	if (r == 0)
		r = measure(&l, option_number(o, "budget", BUDGET_MS) * 1000000u, err);
	if (r == 0)
		report(&l, line);
	crew_stop(l.writers);
	crew_stop(l.walker);
	membuf_free(&l.set.buf); /* the page goes back to the pool before the result is out */
	chain_free(l.chain);
	return r;
}

const struct benchmark memory_latency = {
	.name = "memory_latency",
	.summary = "random latency of a NUMA node's memory, seen by a CPU of one node",
	.options = {WORKSET_OPTIONS, OPTION_BUDGET("600")},
	.run = run,
};
