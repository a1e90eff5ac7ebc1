/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: from a probe's figures to its state. */
#pragma once

#include "checks/probe.h"
#include "gate/bench.h"

struct binding;

/*
 * Fills the measurement from the job's output: readings, state, reason. Shares of a set follow in
 * judge_sets(), when all members have figures.
 */
void judge_probe(struct probe *p, const struct bench_job *job);
void judge_sets(struct probes *probes);
bool wants_second_look(const struct probe *p);
/* Keeps the result of the look, after judge_sets(). */
void judge_look(struct probe *p);
/*
 * After the last look: marks a probe that was slow in one look only, or disturbed. others: the work
 * that ran during the second look, as of neighbours_text(); "": none; NULL: there was no such look.
 */
void judge_looks(struct probe *p, const char *others);
/* Sets the measurement's fault, once its state is final. */
void judge_fault(struct probe *p);
/* Sets why the part may be slow, with the observations, and the remedy. */
void judge_causes(const struct section_ctx *ctx, const struct binding *then,
		  const struct binding *now, struct probe *p);
