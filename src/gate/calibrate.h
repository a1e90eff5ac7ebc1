/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds from what was measured on good nodes. The numbers of one node are a JSON object:
 *
 *   {"calibration": 1, "node": "node42", "profile": {"name", "version", "digest"},
 *    "checks": {"memory": {"min": {"quantity": "rate", "members": {"gate/memory/node0": [2.1e11,
 * ...]}}}}}
 *
 * and "pages": {"memory": "1G"} where a check tells on which it was measured. Values are
 * in bytes per second, nanoseconds, messages per second. Of several members of a check (NUMA nodes,
 * NICs) the weakest one decides: a threshold is for all of them. Pure: no files, no clock.
 */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "gate/gate.h"
#include "profile/profile.h"

/* Without numbers. node: how it is called where it is told of. */
json_t *calibration_new(const char *node, const struct profile *profile);
/*
 * Adds one run's numbers. Slow is a number too. -EINVAL, with its id and reason: something could
 * not be measured, or nothing was.
 */
int calibration_add(json_t *doc, const struct profile *profile, const struct measurements *m,
		    struct err *err);
/* -EINVAL unless it is one, whole: it may have been through hands and networks. */
int calibration_check(const json_t *doc, struct err *err);

/*
 * The lowest (of a time: highest) value that still passes, from the median of the weakest member's
 * runs and the worst value seen: a margin below the median, and half a margin below the worst.
 */
double calibration_threshold(enum quantity q, double median, double worst, unsigned int margin_pct);
/* As profiles write it, rounded to the side that passes more: "19170MB/s", "83ns", "2100K/s". */
char *calibration_text(enum quantity q, double threshold);

/*
 * A drop-in for the profile: gate.checks.NAME.KEY of all that docs have, with what was seen of each
 * in comments. Several docs are those of several nodes with the same profile (else -EINVAL); one
 * whose median is worse than that of all by more than the margin is left out there, and a
 * sentence that names it is added to *notes. *ret: caller frees.
 */
int calibration_section(json_t *const *docs, size_t n, unsigned int margin_pct, char **ret,
			struct strv *notes, struct err *err);
