/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes of a benchmark: its figures, each look, and the state that they add up to. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/fault.h"
#include "base/vec.h"
#include "plan/change.h"

enum quantity {
	QUANTITY_RATE,	   /* bytes per second */
	QUANTITY_TIME,	   /* nanoseconds */
	QUANTITY_MESSAGES, /* per second */
	QUANTITY_FAULTS,   /* how many were found */
};

/* A figure that was measured for a key of the check. */
struct reading {
	const char *name; /* the key: "min", "p9999"; static */
	enum quantity quantity;
	double value;
	bool told; /* the profile has no threshold for it: it was recorded, and judged by nothing */
};

struct readings {
	VEC(struct reading) list;
};

/* One of several times that something was measured. */
struct look {
	enum change_state state;
	char *measured; /* as that of the measurement */
	struct readings readings;
	double whole, own_pct, others_pct; /* of the program's line; NAN: it has none */
};

/* One run of a benchmark's program: CLOCK_MONOTONIC, in microseconds. */
struct timing {
	uint64_t started, duration;
};

struct measurement {
	char *id;     /* gate/NAME/node0 */
	char *check;  /* NAME */
	char *origin; /* "FILE:LINE:COL", or NULL */
	enum change_state state;
	enum on_fail on_fail; /* of its state */
	char *measured;	  /* "211.4 GB/s", or NULL: of the figure that is wrong, or of the first */
	char *wanted;	  /* "180GB/s" */
	bool demanded;	  /* not optional: without a result there is no pass */
	char *reason;	  /* unless SAME: what and why, with the remedy */
	bool follows;	  /* from another that blocks the node, whose reason says it for both */
	enum fault fault; /* unless it holds */
	json_t *detail;	  /* the bench program's own line, or NULL */
	VEC(struct look) looks; /* if it was measured more than once */
	struct readings readings;
	uint64_t duration; /* microseconds, of all runs */
	/* Of each run that this boot made, in order; none of an earlier boot. */
	VEC(struct timing) timings;
};

struct measurements {
	VEC(struct measurement) list;
};

/* Which member of its check an id tells of: what stands behind "gate/NAME/", or else all of it. */
const char *member_of_id(const char *id, const char *check);
/* The NAME in an id of a check, "gate/NAME/...". The caller frees. */
char *check_of_id(const char *id);
void measurement_free(struct measurement *m);
/* What a look came to, for the next one to say it. */
void measurement_forget(struct measurement *m);
void measurement_looks_free(struct measurement *m);
/* Drops the timings, which are of the clock of another boot. */
void measurements_forget_timings(struct measurements *m);
void measurements_free(struct measurements *m);
/* Adds none where no check has such a key. */
void readings_add(struct readings *r, const char *key, double value, bool told);

/* Keys of a check that want a figure, of which of a line: "min" a rate. */
struct figure_key {
	const char *key;
	enum quantity quantity;
};
extern const struct figure_key figure_keys[]; /* ended by a key of NULL */
/* NULL: it wants none. */
const struct figure_key *figure_key_find(const char *key);
/* "211.4 GB/s", "84.2 ns", "2.13 M/s", "2 faults" */
char *quantity_format(enum quantity q, double value);
