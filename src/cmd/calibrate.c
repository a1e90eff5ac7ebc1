/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibrate: measures the gate's figures many times on a node that is known to be good, and prints
 * the resulting thresholds as a drop-in. --json prints the numbers instead; --merge makes
 * thresholds from the numbers of many nodes. Writes nothing.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "gate/basis.h"
#include "gate/calibrate.h"
#include "profile/section.h"
#include "sys/clock.h"
#include "sys/state.h"

enum {
	RUNS = 10,
	RUNS_MIN = 3, /* fewer runs do not show the spread */
	RUNS_MAX = 1000,
	GAP_MS = 1000, /* between two runs, so that passing work on the node disturbs only some of
			  them */
	LOCK_WAIT_US = 10 * 1000000,
	FILE_MAX = 16 << 20,
};

/* The promise that the thresholds must keep, in percent. */
struct wanted {
	double false_blocks, loss;
};

static int print_section(json_t *const *docs, size_t n, const struct wanted *wanted)
{
	cleanup_free char *text = NULL;
	struct strv notes = {0};
	struct err err = {0};
	int r = calibration_section(docs, n, wanted->false_blocks / 100, wanted->loss / 100, &text,
				    &notes, &err);

	for (size_t i = 0; i < notes.n; i++)
		complain("%s", notes.v[i]);
	strv_free(&notes);
	if (r < 0)
		return fail(EXIT_INVALID, "calibrate: %s", err.text);
	fputs(text, stdout);
	return EXIT_OK;
}

/* --- this node ------------------------------------------------------------------------------- */

static int measure(const struct run *run, unsigned int runs, json_t *doc)
{
	const struct section_ctx ctx = run_sections(run);

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
		if (r < 0)
			return fail(EXIT_FAILED, "calibrate: %s", err.text);
	}
	return EXIT_OK;
}

/* Measuring slows the node's work, and the work spoils the numbers. */
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

static int calibrate(struct invocation *inv, unsigned int runs, const struct wanted *wanted)
{
	cleanup_strv struct strv basis = {0};
	cleanup_close int lock = -1;
	struct section_ctx ctx;
	struct utsname name;
	char boot_id[37];
	struct err err = {0};
	struct run run;
	json_t *doc;
	int code;

	lock = state_lock(&inv->root, clock_usec() + LOCK_WAIT_US, &err);
	if (lock < 0)
		return fail(EXIT_INTERNAL, "%s", err.text);
	if (!is_free(inv))
		return EXIT_USAGE;
	if (!open_look(inv, NULL, &run, &code))
		return code;
	uname(&name);
	ctx = run_sections(&run);
	basis_take(&ctx, &basis);
	state_boot_id(&inv->root, boot_id);
	doc = calibration_new(name.nodename, run.profile, &basis, boot_id, time(NULL));
	code = measure(&run, runs, doc);
	if (code == EXIT_OK && inv->json)
		print_json(json_incref(doc));
	else if (code == EXIT_OK)
		code = print_section(&doc, 1, wanted);
	json_decref(doc);
	run_close(&run);
	return code;
}

/* --- many nodes ------------------------------------------------------------------------------ */

/* "n42" of DIR/n42.json, because a status does not name its node. */
static char *node_of(const char *file)
{
	const char *name = strrchr(file, '/');
	char *node = xstrdup(name ? name + 1 : file), *end = strrchr(node, '.');

	if (end && end != node)
		*end = '\0';
	return node;
}

static json_t *load(const char *file)
{
	cleanup_free char *node = node_of(file), *other = NULL;
	struct err err = {0};
	json_error_t where;
	json_t *doc = json_load_file(file, JSON_REJECT_DUPLICATES, &where), *status;

	if (!doc) {
		complain("%s: %s", file, where.text);
		return NULL;
	}
	status = calibration_of_status(doc, node);
	if (status) {
		other = record_explain_schema(doc);
		json_decref(doc);
		doc = status;
	}
	if (other)
		err_set(&err, -EPROTO, "%s: run `railhead gate` of this version there", other);
	else if (calibration_check(doc, &err) == 0)
		return doc;
	complain("%s: %s", file, err.text);
	json_decref(doc);
	return NULL;
}

/* Numbers that count twice would make the fleet look larger, and its spread smaller. */
static bool is_new(const json_t *doc, const char *file, json_t *seen)
{
	cleanup_strv struct strv marks = {0};
	const char *before = NULL;

	calibration_marks(doc, &marks);
	for (size_t i = 0; i < marks.n && !before; i++)
		before = json_string_value(json_object_get(seen, marks.v[i]));
	for (size_t i = 0; i < marks.n && !before; i++)
		json_object_set_new(seen, marks.v[i], json_string(file));
	if (before)
		complain("%s is left out: %s has the same figures", file, before);
	return !before;
}

static int merge(const struct invocation *inv, const struct wanted *wanted)
{
	cleanup_free json_t **docs = xcalloc((size_t)inv->nargs, sizeof(*docs));
	json_t *seen = json_object();
	size_t n = 0;
	int code = EXIT_OK;

	for (int i = 0; i < inv->nargs; i++) {
		docs[n] = load(inv->args[i]);
		if (!docs[n])
			code = EXIT_INVALID;
		else if (is_new(docs[n], inv->args[i], seen))
			n++;
		else
			json_decref(docs[n]);
	}
	json_decref(seen);
	if (code == EXIT_OK)
		code = print_section(docs, n, wanted);
	for (size_t i = 0; i < n; i++)
		json_decref(docs[i]);
	return code;
}

/* --- the verb -------------------------------------------------------------------------------- */

static bool parse_runs(const char *text, unsigned int *ret)
{
	uint64_t n;

	if (!text)
		return true;
	if (parse_u64(text, &n) == 0 && n >= RUNS_MIN && n <= RUNS_MAX) {
		*ret = (unsigned int)n;
		return true;
	}
	complain("calibrate: --runs %s: must be %d to %d", text, RUNS_MIN, RUNS_MAX);
	return false;
}

/* "0.1%" or "0.1" */
static bool parse_percent(const char *option, const char *text, double min, double max, double *ret)
{
	double n;
	char *end;

	if (!text)
		return true;
	n = strtod(text, &end);
	if (end != text && (!*end || streq(end, "%")) && n >= min && n <= max) {
		*ret = n;
		return true;
	}
	complain("calibrate: --%s %s: must be %g%% to %g%%", option, text, min, max);
	return false;
}

static int run(struct invocation *inv)
{
	struct wanted wanted = {.false_blocks = 0.1, .loss = 5};
	unsigned int runs = RUNS;

	if (!parse_runs(inv->runs, &runs) ||
	    !parse_percent("false-blocks", inv->false_blocks, 0.001, 10, &wanted.false_blocks) ||
	    !parse_percent("loss", inv->loss, 1, 50, &wanted.loss))
		return EXIT_USAGE;
	if (inv->merge && inv->nargs && !inv->runs && !inv->json)
		return merge(inv, &wanted);
	if (!inv->merge && !inv->nargs)
		return calibrate(inv, runs, &wanted);
	return fail(
		EXIT_USAGE,
		"calibrate: FILE requires --merge, which combines the output of `railhead "
		"calibrate --json` or `railhead status --json` of each node, and does not measure");
}

const struct verb verb_calibrate = {
	.name = "calibrate",
	.args = "[FILE...]",
	.help = "measure this known-good node and print thresholds for its profile",
	.options = OPT_ROOT | OPT_JSON | OPT_PROFILE | OPT_RUNS | OPT_CALIBRATE | OPT_MERGE |
		   OPT_FORCE,
	.max_args = 100000,
	.run = run,
};
