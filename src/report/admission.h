/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work let in by hand (`railhead admit`) on a node that the verdict keeps it from. The verdict
 * stays what it is; this is said beside it. It is in the status record, so that it ends with the
 * boot; it is of one profile; and it has an end, after which no reader takes it for anything,
 * whether or not somebody has cleared it away by then.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct admission {
	uint64_t since, until; /* clock_usec() */
	const char *ends;      /* until, as UTC: "2026-11-21T22:00:00Z" */
	const char *who;
	const char *reason;
};

/*
 * The admission that is in force now: its time is not over, and it is of the record's profile.
 * The texts are the record's.
 */
bool admission_read(const json_t *record, struct admission *ret);
/* One of the record's profile; texts are copied. NULL: none any more. */
void admission_write(json_t *record, const struct admission *a);
/* "admitted until ... by ...: reason" of what is in force, else NULL. The caller frees. */
char *admission_line(const json_t *record);
