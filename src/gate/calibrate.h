/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds from measurements of good nodes. The numbers of one node are a JSON object:
 *
 *   {"calibration": 2, "node": "node42", "profile": {"name", "version", "digest"},
 *    "checks": {"memory": {"min": {"unit": "B/s", "members": {"gate/memory/node0": [2.1e11,
 * ...]}}}}}
 *
 * Further keys: "pages": {"memory": "1G"}, the page size, for checks that report it; "told":
 * {"data": ["p50"]}, the figures that the profile has no threshold for; "measured" (seconds since
 * 1970) and "boot_id", the time and boot of the measurement. Values are in bytes per second,
 * nanoseconds, messages per second. A threshold applies to all members of a check (NUMA nodes,
 * NICs), so the weakest member decides. Pure: no files, no clock.
 */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "gate/gate.h"
#include "profile/profile.h"

/*
 * A document without numbers. node: its name in messages. basis: the parts that the numbers depend
 * on (basis.h), or NULL. measured: the time of the measurement, in seconds since 1970.
 */
json_t *calibration_new(const char *node, const struct profile *profile, const struct strv *basis,
			const char *boot_id, int64_t measured);
/*
 * Adds one run's numbers, slow ones included. -EINVAL: a measurement failed (err has its id and
 * reason), or there are no measurements.
 */
int calibration_add(json_t *doc, const struct profile *profile, const struct measurements *m,
		    struct err *err);
/*
 * The numbers that a node's gate measured, one run, from the output of `railhead status --json`.
 * NULL: the document is of another type, or has no figure that a threshold applies to. Caller:
 * json_decref().
 */
json_t *calibration_of_status(const json_t *status, const char *node);
/* -EINVAL unless doc is a complete, valid document: people and networks may have passed it on. */
int calibration_check(const json_t *doc, struct err *err);
/*
 * The marks of the document's numbers: two documents with a common mark have the same numbers,
 * because a file was copied or a later boot reused the figures (gate.reuse).
 */
void calibration_marks(const json_t *doc, struct strv *ret);

/* In the notation of profiles, rounded to the side that passes more: "19170MB/s", "83ns",
 * "2100K/s". */
char *calibration_text(enum quantity q, double threshold);

/*
 * An overlay for the profile: gate.checks.NAME.KEY for every figure in docs, with the measured
 * distribution of each in comments. docs come from several nodes, or from several boots of one
 * node, with the same profile and the same basis (else -EINVAL), which becomes gate.calibrated_on.
 *
 * All thresholds together block at most the share false_blocks (0 to 1) of the gates of good nodes,
 * and find a member that is `loss` (0 to 1) worse (fleet.h). *notes gets a sentence for each figure
 * whose loss is not found, with the number of nodes or runs still required, for each node left
 * out, and for the figures that the profile has no threshold for.
 *
 * *ret: caller frees.
 */
int calibration_section(json_t *const *docs, size_t n, double false_blocks, double loss, char **ret,
			struct strv *notes, struct err *err);
