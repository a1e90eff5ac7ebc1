/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/queue.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "bench/pool.h"

void queue_look(struct queue *q)
{
	cleanup_fclose FILE *f = fopen("/proc/thread-self/schedstat", "re");
	uint64_t ran = 0;

	*q = (struct queue){.now_ns = clock_ns()};
	/* A kernel without CONFIG_SCHED_INFO reports 0 for both. */
	q->known = f && fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &q->waited_ns) == 2 &&
		   (ran > 0 || q->waited_ns > 0);
}

void queue_report(const struct queue *before, json_t *line)
{
	struct queue now;
	double waited, all;

	queue_look(&now);
	if (!before->known || !now.known || now.now_ns <= before->now_ns)
		return;
	waited = (double)(now.waited_ns - before->waited_ns);
	all = (double)(now.now_ns - before->now_ns);
	json_object_set_new(line, "own_pct", json_real(100 * (1 - waited / all)));
}
