/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead-bench: the program that measures. Each benchmark is one file that exports one
 * const struct; a new one is a file and a line in the table of table.c.
 *
 * It is a program of its own so that a driver that hangs, a bus error or a library that
 * crashes takes nothing with it: the gate runs it with a deadline (gate/bench.h). It is
 * linked with base/, jansson and libibverbs; what not every node of a fabric has (the GPU's
 * libraries) is opened by the benchmark that needs it.
 *
 * One run prints one line of JSON on stdout:
 *   {"bench": NAME, "result": "measured", "value": N, "unit": U, ...}
 *   {"bench": NAME, "result": "cannot measure", "reason": TEXT}
 *   {"bench": NAME, "result": "not yet", "reason": TEXT}      (a port that comes up still)
 *   {"bench": NAME, "result": "unsupported", "reason": TEXT}  (this machine has no such thing)
 * SIGTERM says that the run's time is over: the line then holds what was measured until then, or
 * is "not yet" where that is nothing.
 *
 * It exits with 0; 1 when the measuring process crashed, 2 for wrong usage (text on stderr).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* How an option's value is checked before the benchmark runs. */
enum option_type {
	OPTION_NUMBER, /* decimal */
	OPTION_SIZE,   /* with unit: 64M, 1G */
	OPTION_SIZES,  /* a list of sizes, most wanted first: 1G,2M */
	OPTION_CPUS,   /* a list as the kernel writes it: 2-47,50 */
	OPTION_TEXT,   /* any, but not empty: a device's name, a path */
};

struct option_def {
	const char *name; /* without the dashes */
	const char *arg;  /* for the usage text: "N" */
	enum option_type type;
	uint64_t min, max; /* of an OPTION_NUMBER */
	bool required;
	const char *help;
};

/* --budget of a benchmark whose windows have so many milliseconds if it is not said. */
#define OPTION_BUDGET(default_ms)                                                     \
	{                                                                             \
		.name = "budget", .arg = "MS", .type = OPTION_NUMBER, .max = 3600000, \
		.help = "time for all windows (" default_ms ")"                       \
	}

#define OPTIONS_MAX 16 /* per benchmark */

/* The options of one run: values[i] belongs to bench->options[i]; NULL: not given. */
struct options {
	const struct benchmark *bench;
	const char *values[OPTIONS_MAX];
};

struct benchmark {
	const char *name;
	const char *summary;
	struct option_def options[OPTIONS_MAX + 1]; /* ends with a NULL name */

	/*
	 * Adds "value", "unit" and its other numbers to line: rates in B/s, times in ns; and as
	 * "cause" what it saw that makes it slow, if it is. A failure is the reason why it can't be
	 * measured (err->text): -EAGAIN "not yet", -EOPNOTSUPP "unsupported", any other "cannot
	 * measure". Runs in a process of its own, pinned by itself. --budget, in ms, is an option
	 * of every benchmark: the time for all its windows. When the time of the whole run is over
	 * it ends with the windows that it has (time_over.h).
	 */
	int (*run)(const struct options *o, json_t *line, struct err *err);
	bool ordinary_priority; /* what others do to ordinary work is what it measures */
	bool together;		/* it may share a process with others: together.h */
};

extern const struct benchmark *const benchmarks[]; /* ends with NULL */
const struct benchmark *benchmark_find(const char *name);

/* Parses "--name value" or "--name=value" words against bench's table. */
int options_parse(struct options *o, const struct benchmark *bench, int argc, char **argv,
		  struct err *err);
/* The value, or fallback where the option wasn't given. */
const char *option_text(const struct options *o, const char *name, const char *fallback);
uint64_t option_number(const struct options *o, const char *name, uint64_t fallback);
uint64_t option_size(const struct options *o, const char *name, uint64_t fallback);

/* Runs it in this process, and returns its line, whatever became of it. */
json_t *benchmark_measure(const struct options *o);
/* Prints a line whole. Returns the exit status for main(). */
int benchmark_print(const json_t *line);
/*
 * Runs it in a child, so that a SIGBUS (a huge page that another took meanwhile) becomes
 * "cannot measure", and prints the line. Returns the exit status for main().
 */
int benchmark_run(struct options *o);
/* The same of any measure(), which returns that status. bench: the one that it runs; NULL: several,
 * and a bus error is the end of the process as any other signal. */
int benchmark_in_child(const struct benchmark *bench, int (*measure)(void *arg), void *arg);
/* For what measures: before others that run as usual. */
void benchmark_take_precedence(void);
