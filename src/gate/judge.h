/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: what the figures of a probe mean. */
#pragma once

#include "checks/probe.h"
#include "gate/bench.h"

/*
 * From what the job said to the measurement: readings, state, reason. All but shares of a
 * set, which judge_sets() does when all are there.
 */
void judge_probe(struct probe *p, const struct bench_job *job);
void judge_sets(struct probes *probes);
bool wants_second_look(const struct probe *p);
/* Keeps what the look came to, once the probes of its set are judged, too. */
void judge_look(struct probe *p);
/*
 * After the last look: slow once and not again, or disturbed. others: a sentence on the work that
 * ran during the second look, or NULL.
 */
void judge_looks(struct probe *p, const char *others);
/* Which fault the measurement is, once its state is final. */
void judge_fault(struct probe *p);
/* Why it may be slow, with what was seen: appended to the reason. */
void judge_causes(const struct section_ctx *ctx, struct probe *p);
