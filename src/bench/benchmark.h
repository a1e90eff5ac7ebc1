/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead-bench: the measuring program. Each benchmark is one file that exports one const struct;
 * a new benchmark needs a file and a line in table.c.
 *
 * railhead-bench is a separate program, which the gate runs with a deadline (gate/bench.h), so that
 * a hanging driver, a bus error or a crashing library leaves the gate unharmed. It is linked with
 * base/, jansson and libibverbs. GPU libraries are missing on some nodes, so the benchmarks that
 * need them open them at run time.
 *
 * One run prints one line of JSON on stdout:
 *   {"bench": NAME, "result": "measured", "value": N, "unit": U, ...}
 *   {"bench": NAME, "result": "cannot measure", "reason": TEXT}
 *   {"bench": NAME, "result": "not yet", "reason": TEXT}      (a port is coming up)
 *   {"bench": NAME, "result": "unsupported", "reason": TEXT}  (the machine lacks the part)
 * SIGTERM ends the run: the line then holds the figures so far, or is "not yet" if there are none.
 *
 * Exit status: 0; 1: the measuring process crashed; 2: wrong usage (text on stderr).
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
	OPTION_SIZES,  /* a list of sizes, preferred first: 1G,2M */
	OPTION_CPUS,   /* a list as the kernel writes it: 2-47,50 */
	OPTION_TEXT,   /* any text of at least one character: a device's name, a path */
};

struct option_def {
	const char *name; /* without the dashes */
	const char *arg;  /* for the usage text: "N" */
	enum option_type type;
	uint64_t min, max; /* of an OPTION_NUMBER */
	bool required;
	const char *help;
};

/* --budget of a benchmark; default_ms: the default, in milliseconds. */
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
	 * Adds "value", "unit" and further numbers to line: rates in B/s, times in ns; and as
	 * "cause" an observed reason for a slow figure. An error means that measuring failed, with
	 * the reason in err->text: -EAGAIN "not yet", -EOPNOTSUPP "unsupported", any other "cannot
	 * measure". Runs in a separate process and pins itself. Every benchmark has the option
	 * --budget, the time for all its windows in ms. When the time of the whole run is over, it
	 * ends with the windows measured so far (time_over.h).
	 */
	int (*run)(const struct options *o, json_t *line, struct err *err);
	bool ordinary_priority; /* it measures the effect of other tasks on ordinary work */
	/*
	 * The part is a GPU. Benchmarks of GPUs may share a process (together.h), and their library
	 * runs nvidia-modprobe(1) where device nodes are missing.
	 */
	bool gpu;
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

/* Runs the benchmark in this process, and returns its line, also after a failure. */
json_t *benchmark_measure(const struct options *o);
/* Prints a line whole. Returns the exit status for main(). */
int benchmark_print(const json_t *line);
/*
 * Runs the benchmark in a child, so that a SIGBUS (another process took the huge page) becomes
 * "cannot measure", and prints the line. Returns the exit status for main().
 */
int benchmark_run(struct options *o);
/* The same for any measure() that returns the exit status. bench: the benchmark that it runs; NULL:
 * several, and then a bus error ends the process as any other signal does. */
int benchmark_in_child(const struct benchmark *bench, int (*measure)(void *arg), void *arg);
/* Gives the measuring process precedence over processes of ordinary priority. */
void benchmark_take_precedence(void);
