/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bandwidth of a NUMA node's memory, used by the node's own CPUs or by those of another node
 * (--from): read, write (non-temporal) and copy. Bytes are counted as STREAM counts them: a copy
 * counts its reads and its writes. "value" is the copy rate, the figure that vendors publish.
 *
 * Rounds of three short windows (read, write, copy) fill the budget. A burst of other work on a
 * shared host hits few of the windows; a stall that recurs a few times a second hits some of them.
 */
#include "bench/memory_bandwidth.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "bench/pool.h"
#include "bench/facts.h"
#include "bench/stream.h"
#include "bench/time_over.h"
#include "bench/windows.h"
#include "bench/workset.h"

#define CPUS_AT_MOST 64	     /* a node's channels are saturated by fewer cores */
#define PIECE (1024u * 1024) /* about 60 us: longer than the period of a modulated clock */
#define WINDOW_NS 2000000u
#define WALK_TRIES 3
#define ROUNDS_FEW 12
#define ROUNDS_FLOOR 4 /* however short the budget is */
#define BUDGET_MS 600

enum op { READ, WRITE, COPY, OPS };

/* A member's part of the buffer, walked round and round across all windows. */
struct part {
	char *p;
	size_t len; /* an even number of pieces, because copy reads the first half */
	size_t at;
};

struct bandwidth {
	struct workset set;
	struct pool *pool;
	const struct stream_ops *ops;
	enum stream_walk walk[OPS];
	struct part *parts;
	struct windows rates[OPS];
	size_t rounds;
	uint64_t windows_ns;
};

static size_t advance(struct part *p, size_t step, size_t len)
{
	size_t at = p->at;

	if (at + step > len)
		at = 0;
	p->at = at + step;
	return at;
}

static size_t do_read(void *ctx, size_t who)
{
	struct bandwidth *b = ctx;
	struct part *p = &b->parts[who];

	b->ops->read[b->walk[READ]](p->p + advance(p, PIECE, p->len), PIECE);
	return PIECE;
}

static size_t do_write(void *ctx, size_t who)
{
	struct bandwidth *b = ctx;
	struct part *p = &b->parts[who];

	b->ops->write(p->p + advance(p, PIECE, p->len), PIECE);
	return PIECE;
}

static size_t do_copy(void *ctx, size_t who)
{
	struct bandwidth *b = ctx;
	struct part *p = &b->parts[who];
	size_t at = advance(p, PIECE / 2, p->len / 2);

	b->ops->copy[b->walk[COPY]](p->p + p->len / 2 + at, p->p + at, PIECE / 2);
	return PIECE;
}

static size_t do_touch(void *ctx, size_t who)
{
	struct bandwidth *b = ctx;
	size_t from = (size_t)(b->parts[who].p - (char *)b->set.buf.p);

	membuf_touch(&b->set.buf, from, from + b->parts[who].len);
	return 0;
}

static const pool_work works[OPS] = {do_read, do_write, do_copy};
static const char *const op_names[OPS] = {"read", "write", "copy"};

/* --- what to measure on ---------------------------------------------------------------- */

/* Gives each member an equal part of the used buffer. */
static int share_out(struct bandwidth *b, struct err *err)
{
	size_t n = pool_size(b->pool);
	size_t part = b->set.used / n / (2 * PIECE) * (2 * PIECE);

	if (part == 0)
		return err_set(err, -EINVAL, "%zu KiB are too few for %zu CPUs", b->set.used / 1024,
			       n);
	b->parts = xcalloc(n, sizeof(*b->parts));
	for (size_t i = 0; i < n; i++)
		b->parts[i] = (struct part){.p = (char *)b->set.buf.p + i * part, .len = part};
	b->set.used = n * part;
	return 0;
}

static int prepare(struct bandwidth *b, int rootfd, const struct options *o, struct err *err)
{
	size_t most = option_number(o, "threads", CPUS_AT_MOST);
	int r = workset_find(&b->set, rootfd, o, err);

	if (r == 0) {
		run_on(&b->set.cpus); /* pool_start() reports an error if no CPU is permitted */
		facts_spread(rootfd, &b->set.cpus, most);
		r = pool_start(&b->pool, &b->set.cpus, most, err);
	}
	if (r == 0)
		r = workset_map(&b->set, rootfd, o, err);
	if (r == 0)
		r = share_out(b, err);
	if (r < 0)
		return r;

	uint64_t start = clock_ns();

	pool_once(b->pool, do_touch, b);
	b->set.touch_ns = clock_ns() - start;
	return membuf_verify(&b->set.buf, err);
}

/* --- measuring ------------------------------------------------------------------------- */

/* A round that the end of the time cuts short does not count. */
static void one_round(struct bandwidth *b)
{
	struct window round[OPS];

	for (int op = 0; op < OPS; op++) {
		if (time_is_over())
			return;
		pool_window(b->pool, works[op], b, WINDOW_NS, &round[op]);
	}
	for (int op = 0; op < OPS; op++)
		windows_add(&b->rates[op], &round[op]);
	b->rounds++;
}

/*
 * Chooses the faster walk for each operation, by the best of a few windows of each walk, because a
 * burst of other work spoils some windows. These windows do not count: page tables are walked for
 * the first time, and clocks rise.
 */
static void choose_walks(struct bandwidth *b)
{
	enum stream_walk best[OPS] = {0};
	double rates[OPS] = {0};

	for (int i = 0; i < WALK_TRIES * STREAM_WALKS && !time_is_over(); i++)
		for (int op = 0; op < OPS; op++) {
			struct window w;

			b->walk[op] = (enum stream_walk)(i % STREAM_WALKS);
			pool_window(b->pool, works[op], b, WINDOW_NS, &w);
			if (w.rate > rates[op]) {
				rates[op] = w.rate;
				best[op] = b->walk[op];
			}
		}
	memcpy(b->walk, best, sizeof(best));
}

static int measure(struct bandwidth *b, int rootfd, uint64_t budget_ns, struct err *err)
{
	uint64_t start;

	choose_walks(b);
	workset_watch(&b->set, rootfd);
	start = clock_ns();
	while ((b->rounds < ROUNDS_FLOOR || clock_ns() - start < budget_ns) && !time_is_over())
		one_round(b);
	b->windows_ns = clock_ns() - start;
	return b->rounds ? 0 : err_time_over(err, "its first windows were measured");
}

static void add_note(const struct bandwidth *b, json_t *line)
{
	cleanup_str struct str note = {0};

	workset_note(&b->set, &note);
	if (b->rounds < ROUNDS_FEW)
		str_addf(&note, "only %zu rounds fitted the budget; ", b->rounds);
	if (note.len)
		json_object_set_new(line, "note", json_stringn(note.s, note.len - 2));
}

static void report(struct bandwidth *b, json_t *line)
{
	double value = windows_median(&b->rates[COPY]), usual = 0, own = 0;

	for (int op = 0; op < OPS; op++)
		windows_add_time(&b->rates[op], &usual, &own);
	json_object_set_new(line, "value", json_integer((json_int_t)value));
	json_object_set_new(line, "unit", json_string("B/s"));
	json_object_set_new(line, "whole", json_integer((json_int_t)(value * usual / own)));
	for (int op = 0; op < OPS; op++)
		json_object_set_new(line, op_names[op],
				    json_integer((json_int_t)windows_median(&b->rates[op])));
	windows_report(&b->rates[COPY], line);
	json_object_set_new(line, "own_pct", json_real(pool_own_pct(b->pool)));
	workset_report(&b->set, line);
	json_object_set_new(line, "threads", json_integer((json_int_t)pool_size(b->pool)));
	json_object_set_new(line, "vectors", json_string(b->ops->name));
	json_object_set_new(line, "walk", json_string(stream_walk_names[b->walk[COPY]]));
	json_object_set_new(line, "windows_ms",
			    json_integer((json_int_t)(b->windows_ns / 1000000)));
	add_note(b, line);
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	struct bandwidth b = {.ops = stream_pick()};
	cleanup_close int rootfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = rootfd < 0 ? err_errno(err, -errno, "/") : prepare(&b, rootfd, o, err);

	if (r == 0)
		r = measure(&b, rootfd, option_number(o, "budget", BUDGET_MS) * 1000000u, err);
	if (r == 0)
		report(&b, line);
	pool_stop(b.pool);
	membuf_free(&b.set.buf); /* the kernel gets the pages back before the result is printed */
	free(b.parts);
	for (int op = 0; op < OPS; op++)
		windows_free(&b.rates[op]);
	return r;
}

const struct benchmark memory_bandwidth = {
	.name = "memory_bandwidth",
	.summary = "read, write and copy rate of a NUMA node's memory from CPUs of one node",
	.options = {WORKSET_OPTIONS,
		    OPTION_BUDGET("600"),
		    {.name = "threads",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .min = 1,
		     .max = 1024,
		     .help = "most CPUs to use (64)"}},
	.run = run,
};
