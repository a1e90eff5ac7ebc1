/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thresholds from what was measured on good nodes. The numbers of one node are a JSON object:
 *
 *   {"calibration": 1, "node": "node42", "profile": {"name", "version", "digest"},
 *    "checks": {"memory": {"min": {"quantity": "rate", "members": {"gate/memory/node0": [2.1e11,
 * ...]}}}}}
 *
 * and "pages": {"memory": "1G"} where a check tells on which it was measured, "told": {"data":
 * ["p50"]} of what the profile has no threshold for, and when it was measured: "measured" (seconds
 * since 1970) in the boot "boot_id". Values are in bytes per second, nanoseconds, messages per
 * second. Of several members of a check (NUMA nodes, NICs) the weakest one decides: a threshold is
 * for all of them. Pure: no files, no clock.
 */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "gate/gate.h"
#include "profile/profile.h"

/*
 * Without numbers. node: how it is called where it is told of. basis: what the numbers stand on
 * (basis.h), or NULL. measured: when they are taken, in seconds since 1970.
 */
json_t *calibration_new(const char *node, const struct profile *profile, const struct strv *basis,
			const char *boot_id, int64_t measured);
/*
 * Adds one run's numbers. Slow is a number too. -EINVAL, with its id and reason: something could
 * not be measured, or nothing was.
 */
int calibration_add(json_t *doc, const struct profile *profile, const struct measurements *m,
		    struct err *err);
/*
 * The numbers of a node that its gate measured, from what `railhead status --json` printed there:
 * one run. NULL: it is no such document, or has none that a threshold is for. Caller:
 * json_decref().
 */
json_t *calibration_of_status(const json_t *status, const char *node);
/* -EINVAL unless it is one, whole: it may have been through hands and networks. */
int calibration_check(const json_t *doc, struct err *err);
/*
 * The marks of its numbers: two docs that have one mark in common have the same numbers,
 * be it a file that was copied or a pass that a later boot took over (gate.reuse).
 */
void calibration_marks(const json_t *doc, struct strv *ret);

/* As profiles write it, rounded to the side that passes more: "19170MB/s", "83ns", "2100K/s". */
char *calibration_text(enum quantity q, double threshold);

/*
 * A drop-in for the profile: gate.checks.NAME.KEY of all that docs have, with what was seen of each
 * in comments. Several docs are those of several nodes, or of several boots of one, with the same
 * profile and the same basis (else -EINVAL), which becomes gate.calibrated_on.
 *
 * By all thresholds together at most the share false_blocks (0 to 1) of the gates of good nodes is
 * blocked, and a member that is `loss` (0 to 1) worse is found (fleet.h). What is not found is a
 * sentence in *notes, with the nodes or runs that are still required; so are each node that is left
 * out and the figures that the profile has no threshold for.
 *
 * *ret: caller frees.
 */
int calibration_section(json_t *const *docs, size_t n, double false_blocks, double loss, char **ret,
			struct strv *notes, struct err *err);
