/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a benchmark: its figures, each look, and the resulting state. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/stored.h"
#include "base/vec.h"
#include "plan/finding.h"

enum quantity {
	QUANTITY_RATE,	   /* bytes per second */
	QUANTITY_TIME,	   /* nanoseconds */
	QUANTITY_MESSAGES, /* per second */
	QUANTITY_FAULTS,   /* number of faults found */
};
enum { QUANTITY_COUNT = QUANTITY_FAULTS + 1 };

/* The unit of all documents, and the metric, which has base units, as Prometheus recommends. */
struct quantity_row {
	const char *unit;
	const char *metric, *help;
	double base;  /* a value in the unit of the metric, for 1 unit */
	bool at_most; /* more is worse */
};
extern const struct quantity_row quantities[QUANTITY_COUNT];

/* A figure that was measured for a key of the check. */
struct reading {
	const char *name; /* the key: "min", "p9999"; static */
	enum quantity quantity;
	double value;
	double limit; /* its threshold; NAN: the profile has none, so it is not judged */
	bool of_set;  /* judged as a share of the set, too; limit is the floor then, or 0 */
};

struct readings {
	VEC(struct reading) list;
};

/* One of several runs of a measurement. */
struct look {
	enum change_state state;
	char *measured; /* as in struct measurement */
	struct readings readings;
	double whole, own_pct, others_pct; /* from the program's line; NAN: absent */
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
	char *measured;	      /* "211.4 GB/s": the wrong figure, or else the first; or NULL */
	char *wanted;	      /* "180GB/s" */
	bool demanded;	      /* not optional: without a result there is no pass */
	char *reason;	      /* unless SAME: a sentence */
	char *causes;	      /* "likely: ..."; or NULL */
	char *remedy;	      /* a sentence; or NULL: that of the fault */
	bool follows;	      /* from a measurement that blocks the node; its reason covers both */
	enum fault fault;     /* unless the measurement holds */
	json_t *detail;	      /* the bench program's own line, or NULL */
	VEC(struct look) looks; /* if it was measured more than once */
	struct readings readings;
	uint64_t duration; /* microseconds, of all runs */
	/* Of each run that this boot made, in order; none of an earlier boot. */
	VEC(struct timing) timings;
};

struct measurements {
	VEC(struct measurement) list;
};

/* The member of the check in an id: the part after "gate/NAME/", or else the whole id. */
const char *member_of_id(const char *id, const char *check);
/* Its texts are those of the measurement, which the reason already names with its figures. */
struct finding measurement_finding(const struct measurement *m);
void measurement_free(struct measurement *m);
/* Sets reason and remedy. Takes ownership of text. mend: as in struct err. */
void measurement_say(struct measurement *m, char *text, unsigned int mend);
/* Drops the result of a look, before the next look. */
void measurement_forget(struct measurement *m);
void measurement_looks_free(struct measurement *m);
/* Drops the timings, which are of the clock of another boot. */
void measurements_forget_timings(struct measurements *m);
void measurements_free(struct measurements *m);
/* How measurements are stored, as an array. */
extern const struct stored measurements_stored[];
/* The caller owns the result. */
json_t *measurements_to_json(const struct measurements *m);
/* Adds nothing if no check has such a key. */
void readings_add(struct readings *r, const char *key, double value, double limit, bool of_set);
/* The reading that decided the measurement, and that `measured` shows; NULL: there is none. */
const struct reading *measurement_judged(const struct measurement *m);

/* The keys of a check that set a threshold, and the quantity of each: "min" is for a rate. */
struct figure_key {
	const char *key;
	enum quantity quantity;
};
extern const struct figure_key figure_keys[]; /* ended by a key of NULL */
/* NULL: the key sets no threshold. */
const struct figure_key *figure_key_find(const char *key);
/* "211.4 GB/s", "84.2 ns", "2.13 M/s", "2 faults" */
char *quantity_format(enum quantity q, double value);
