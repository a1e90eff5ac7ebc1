/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibrate: measures what the gate measures, many times, on a node that is known to be good, and
 * prints the thresholds that follow as a drop-in. --json prints the numbers instead, of which
 * --merge makes the thresholds of many nodes. Writes nothing.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "gate/calibrate.h"
#include "sys/clock.h"
#include "sys/state.h"

enum {
	RUNS = 10,
	RUNS_MAX = 1000,
	MARGIN_PCT = 10,
	MARGIN_MAX_PCT = 50,
	GAP_MS = 1000, /* between two runs: what comes and goes on a node is not in all of them */
	LOCK_WAIT_US = 10 * 1000000,
	FILE_MAX = 16 << 20,
};

static int print_section(json_t *const *docs, size_t n, unsigned int margin)
{
	cleanup_free char *text = NULL;
	struct strv notes = {0};
	struct err err = {0};
	int r = calibration_section(docs, n, margin, &text, &notes, &err);

	for (size_t i = 0; i < notes.n; i++)
		complain("%s", notes.v[i]);
	strv_free(&notes);
	if (r < 0) {
		complain("calibrate: %s", err.text);
		return EXIT_INVALID;
	}
	fputs(text, stdout);
	return EXIT_OK;
}

/* --- this node ------------------------------------------------------------------------------- */

static int measure(const struct run *run, unsigned int runs, json_t *doc)
{
	struct section_ctx ctx = {run->root, &run->node, run->profile, &run->sets};

	for (unsigned int i = 0; i < runs; i++) {
		struct measurements m = {0};
		struct err err = {0};
		int r;

		if (isatty(STDERR_FILENO))
			fprintf(stderr, "run %u of %u\n", i + 1, runs);
		if (i)
			poll(NULL, 0, GAP_MS);
		r = gate_measure_long(&ctx, &m, &err);
		if (r == 0)
			r = calibration_add(doc, run->profile, &m, &err);
		measurements_free(&m);
		if (r < 0) {
			complain("calibrate: %s", err.text);
			return EXIT_FAILED;
		}
	}
	return EXIT_OK;
}

/* Measuring slows what works, and what works spoils the numbers. */
static bool is_free(const struct invocation *inv)
{
	struct status s;
	bool admitted;

	status_load(&inv->root, &s);
	admitted = record_admits(&s.record);
	status_free(&s);
	if (admitted && !inv->force)
		complain("calibrate: work is admitted on this node: the measurements would slow "
			 "it, and the figures would be wrong; stop the work, then give --force");
	return !admitted || inv->force;
}

static int calibrate(struct invocation *inv, unsigned int runs, unsigned int margin)
{
	cleanup_close int lock = -1;
	struct utsname name;
	struct err err = {0};
	struct run run;
	json_t *doc;
	int code;

	lock = state_lock(&inv->root, clock_usec() + LOCK_WAIT_US, &err);
	if (lock < 0) {
		complain("%s", err.text);
		return EXIT_INTERNAL;
	}
	if (!is_free(inv))
		return EXIT_USAGE;
	if (!open_look(inv, &run, &code))
		return code;
	uname(&name);
	doc = calibration_new(name.nodename, run.profile);
	code = measure(&run, runs, doc);
	if (code == EXIT_OK && inv->json)
		print_json(json_incref(doc));
	else if (code == EXIT_OK)
		code = print_section(&doc, 1, margin);
	json_decref(doc);
	run_close(&run);
	return code;
}

/* --- many nodes ------------------------------------------------------------------------------ */

static json_t *load(const char *file)
{
	struct err err = {0};
	json_error_t where;
	json_t *doc = json_load_file(file, JSON_REJECT_DUPLICATES, &where);

	if (!doc) {
		complain("%s: %s", file, where.text);
		return NULL;
	}
	if (calibration_check(doc, &err) == 0)
		return doc;
	complain("%s: %s", file, err.text);
	json_decref(doc);
	return NULL;
}

static int merge(const struct invocation *inv, unsigned int margin)
{
	cleanup_free json_t **docs = xcalloc((size_t)inv->nargs, sizeof(*docs));
	size_t n = 0;
	int code = EXIT_OK;

	for (int i = 0; i < inv->nargs; i++) {
		docs[n] = load(inv->args[i]);
		if (docs[n])
			n++;
		else
			code = EXIT_INVALID;
	}
	if (code == EXIT_OK)
		code = print_section(docs, n, margin);
	for (size_t i = 0; i < n; i++)
		json_decref(docs[i]);
	return code;
}

/* --- the verb -------------------------------------------------------------------------------- */

/* "10" or, of a margin, "10%". */
static bool parse_number(const char *option, const char *text, const char *unit, unsigned int max,
			 unsigned int *ret)
{
	size_t len = text ? strlen(text) : 0, tail = strlen(unit);
	cleanup_free char *digits = NULL;
	uint64_t n;

	if (!text)
		return true;
	if (len > tail && streq(text + len - tail, unit))
		len -= tail;
	digits = xstrndup(text, len);
	if (parse_u64(digits, &n) == 0 && n >= 1 && n <= max) {
		*ret = (unsigned int)n;
		return true;
	}
	complain("calibrate: --%s %s: must be 1 to %u%s", option, text, max, unit);
	return false;
}

static int run(struct invocation *inv)
{
	unsigned int runs = RUNS, margin = MARGIN_PCT;

	if (!parse_number("runs", inv->runs, "", RUNS_MAX, &runs) ||
	    !parse_number("margin", inv->margin, "%", MARGIN_MAX_PCT, &margin))
		return EXIT_USAGE;
	if (inv->merge && inv->nargs && !inv->runs && !inv->json)
		return merge(inv, margin);
	if (!inv->merge && !inv->nargs)
		return calibrate(inv, runs, margin);
	complain("calibrate: files go with --merge, which takes what `railhead calibrate --json` "
		 "printed on each node, and measures nothing itself");
	return EXIT_USAGE;
}

const struct verb verb_calibrate = {
	.name = "calibrate",
	.args = "[FILE...]",
	.help = "measure this known-good node and print thresholds for its profile",
	.options =
		OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_RUNS | OPT_MARGIN | OPT_MERGE | OPT_FORCE,
	.max_args = 100000,
	.run = run,
};
