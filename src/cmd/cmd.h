/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs. Each verb is a file that exports one const struct, and a line in table.c. */
#pragma once

#include <fts.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/history.h"
#include "engine/run.h"
#include "engine/status.h"
#include "kargs/format.h"
#include "report/page.h"
#include "report/screen.h"
#include "sys/root.h"
#include "sys/scratch.h"

/* Exit codes: stable, in the man page. */
enum exit_code {
	EXIT_OK = 0, /* done, converged, ready */
	EXIT_INTERNAL = 1,
	EXIT_USAGE = 2,
	EXIT_INVALID = 3,  /* a profile is invalid or incomplete (kargs --format) */
	EXIT_NO_MATCH = 4, /* no profile matches, or two do */
	EXIT_PENDING = 5,  /* changes pending (plan), differences found (verify) */
	EXIT_FAILED = 6,   /* a change failed */
	EXIT_GATE = 7,	   /* the gate did not admit the node; status: work is not admitted */
	EXIT_REBOOT = 8,   /* other kernel arguments require a reboot */
	EXIT_ARGS = 9,	   /* kernel arguments were refused, did not arrive or can't be tried */
};

/* The options of a verb, or-ed. An enumerator of C11 has only 31 bits. */
typedef uint64_t verb_options;
#define OPT_BIT(n) (UINT64_C(1) << (n))
#define OPT_ROOT OPT_BIT(0)
#define OPT_JSON OPT_BIT(1)
#define OPT_STAGE OPT_BIT(2)
#define OPT_PROFILE OPT_BIT(3)
#define OPT_RETRY OPT_BIT(4)
#define OPT_EXPLAIN OPT_BIT(5)
#define OPT_AGAIN OPT_BIT(6)
#define OPT_RESET OPT_BIT(7)
#define OPT_RESOLVED OPT_BIT(8)
#define OPT_ALL OPT_BIT(9)
#define OPT_SNAPSHOT OPT_BIT(10)
#define OPT_SCHEMA OPT_BIT(11)
#define OPT_FORMAT OPT_BIT(12)
#define OPT_MEND OPT_BIT(13)
#define OPT_DEVICE OPT_BIT(14)
#define OPT_FOR OPT_BIT(15)
#define OPT_REASON OPT_BIT(16)
#define OPT_END OPT_BIT(17)
#define OPT_KEEP OPT_BIT(18)
#define OPT_RUNS OPT_BIT(19)
#define OPT_CALIBRATE OPT_BIT(20)
#define OPT_MERGE OPT_BIT(21)
#define OPT_FORCE OPT_BIT(22)
#define OPT_GATE OPT_BIT(23)
#define OPT_UNDO OPT_BIT(24)
#define OPT_COLOUR OPT_BIT(26)
#define OPT_NO_PAGER OPT_BIT(27)
#define OPT_RECHECK OPT_BIT(28)
#define OPT_ENDED OPT_BIT(29)
#define OPT_WATCH OPT_BIT(30)
#define OPT_HTML OPT_BIT(31)
#define OPT_BASES OPT_BIT(32)
#define OPT_STRICT OPT_BIT(33)
#define OPT_SETTLED OPT_BIT(34)
#define OPT_NEW_KERNEL OPT_BIT(35)
#define OPT_SCREEN (OPT_COLOUR | OPT_NO_PAGER) /* of verbs that print for people */

struct invocation {
	struct root root;
	struct root foreign;	/* this machine's own, for its profiles: see profiles_root() */
	struct scratch scratch; /* where root_path was unpacked, if it is an archive */
	const char *root_path;
	bool json, retry, explain, again, reset, resolved, all, schema, mend, end, keep, recheck,
		merge, force, undo, no_pager, watch, strict;
	const char *stage_name; /* NULL: no --stage */
	enum stage stage;
	const char *profile, *snapshot, *html, *format, *device, *for_time, *reason, *runs,
		*false_blocks, *loss, *colour, *ended, *settled, *new_kernel;
	struct strv gates; /* --gate, each */
	struct strv bases; /* --bases, each */
	char **args;	   /* the remaining words of argv, NULL-terminated */
	int nargs;
};

struct verb {
	const char *name;
	const char *args;     /* "PROFILE...", or "" */
	const char *help;     /* one line */
	verb_options options; /* OPT_..., or-ed */
	int min_args, max_args;
	bool writes;			    /* below the root: an archive is rejected */
	int (*run)(struct invocation *inv); /* returns an exit code */
};

extern const struct verb *const verbs[]; /* NULL-terminated, in the order of the help */
extern const struct verb verb_check, verb_explain, verb_show, verb_match, verb_survey, verb_draft,
	verb_import, verb_plan, verb_apply, verb_verify, verb_gate, verb_status, verb_history,
	verb_why, verb_diff, verb_admit, verb_maintain, verb_calibrate, verb_kargs, verb_bake;

/* Whether the verb with these options changes anything below the root. */
bool invocation_writes(const struct invocation *inv, const struct verb *verb);
/* Opens root_path (NULL: this machine). Returns an exit code, after printing any error. */
int invocation_open_root(struct invocation *inv, const struct verb *verb);
void invocation_close_root(struct invocation *inv);
/*
 * Opens a directory, or an archive, which is unpacked into scratch; NULL: this machine. The caller
 * closes root and scratch, also after an error.
 */
int open_machine(const char *path, struct root *root, struct scratch *scratch, struct err *err);
/* -EINVAL: the tree has neither proc/ nor sys/. path: as a person gave it. */
int machine_check(const struct root *root, const char *path, struct err *err);

/* --- shared by the verbs (common.c) --------------------------------------------------- */

/* Prints "railhead: text" to stderr. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void complain_text(const char *text);
/* The same, and returns the exit code: `return fail(EXIT_USAGE, "admit: ...")`. */
int fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Opens a run for a look. record: that of this boot, to be joined with the plan; or NULL. False:
 * printed why not, *code is the exit code, no run is open.
 */
bool open_look(struct invocation *inv, const struct record *record, struct run *run, int *code);
/*
 * Looks at the changes of all stages, since a change may wait for one of another stage. In stage
 * gate benchmarks have the figures that this boot measured, in others none.
 */
void look_at_all(struct run *run, const struct record *record, enum stage running);
/*
 * The root of the profiles' search path: the node's root; for a captured machine without these
 * directories, the root of this machine, with a note on stderr.
 */
const struct root *profiles_root(struct invocation *inv);
/*
 * Loads the profile that a person names; node NULL: without a node. If the profile is invalid:
 * prints all its errors, and returns false.
 */
bool load_named(struct invocation *inv, const char *arg, const struct node *node,
		struct profile **ret);
/* Whether the profile's match: holds for that node. */
bool profile_fits(const struct profile *p, const struct node *node);
/* The exit code of a run that can't go on. */
int exit_of_run(enum run_status status);
/* The exit code of a verb that applied changes. */
int exit_of_end(enum run_end end, enum run_status status);
/* Prints why a run can't go on, with all diagnostics; returns exit_of_run(). */
int explain_run(const struct run *run);
/* Prints the record's warnings; call it once, at the end of a verb. */
void say_warnings(const struct status *s);
/* Reports, also on record, that a run by hand replaced this boot's profile. */
void say_frozen_anew(const struct run *run);

/* Whether the text of a profile passes check; ret gets all its errors (check.c). */
bool check_text(const struct root *root, const char *text, struct diags *ret);
/* All below a directory of the caller's, by name; links below it are not followed. NULL: errno. */
FTS *open_walk(char *dir);
/* history_read(); false: printed why the history can't be read. */
bool load_history(const struct root *root, struct history *ret);
/* explain CODE (explain_fault.c). Returns an exit code. */
int explain_fault(struct invocation *inv, const char *said);
bool is_fault_code(const char *said); /* or the beginning of a fault code */
enum { UNKNOWN_MAX = 80 };	      /* characters of a misspelt word that are repeated */
/* apply --device (device.c). Returns an exit code. */
int apply_device(struct invocation *inv);
/* For readers of a loaded record: record_judge_age(), unless railhead.conf ends the looks. */
void status_judge_age(const struct root *root, struct record *r);
/*
 * status_load(), for people: reports an abandoned judgement, and waits at most a second for a
 * judgement that is about to create or has just removed the ready file (status.c).
 */
void status_load_settled(const struct root *root, struct status *ret);
/* status --watch (status_watch.c). Returns an exit code. */
int status_watch(const struct invocation *inv);
/* kargs --mend [--undo] (kargs_mend.c). Returns an exit code. */
int kargs_mend(struct invocation *inv);

/*
 * Starts railhead-ready.target on the running machine, once the state's lock is free; wait: waits
 * until the target is reached. Returns code, or EXIT_INTERNAL after printing why.
 */
int open_target(const struct root *root, bool wait, int code);
/* Shows the progress of a stage of this run to a person (progress.h). */
void show_progress(const struct run *run, enum stage stage, bool begins);

/* The later output is for people, and may fill more than a screen. */
struct screen begin_page(const struct invocation *inv);
/*
 * --html FILE: writes the surveyed node as a page (report/page.h). The caller sets page->record;
 * the rest is filled in. FILE is replaced atomically, "-" is standard output. Returns an exit code.
 */
int write_html(struct invocation *inv, struct page *page);
/* Writes to the file; 0 or a negative errno with *err filled. */
typedef int (*output_fn)(int fd, void *arg, struct err *err);
/*
 * Replaces the file that a person names atomically: a reader sees the old file or the new one, and
 * an error keeps the old one. A device or a pipe is written in place (output.c).
 */
int write_output(const char *path, mode_t mode, output_fn fill, void *arg, struct err *err);
/* Prints a JSON document and its newline. */
void print_json(json_t *doc);
/* Prints every diagnostic to out; returns how many are errors. */
size_t print_diags(FILE *out, const struct diags *diags);

/*
 * Collects the kernel arguments that a profile derives (sections/derived.h), and a line
 * "FILE:LINE:COL: SECTION: WHY" for each setting that is unknown. node NULL: from expect:.
 */
void gather_kargs(const struct root *root, const struct node *node, const struct profile *p,
		  struct kargs *ret, struct strv *unknown);
/* The heading of a file with the profile's arguments; points into the profile. */
struct karg_heading heading_of(const struct profile *p);
/* kargs --format (kargs_format.c): the arguments for an image. Returns an exit code. */
int print_kargs_format(struct invocation *inv);

/* Whether a person started this run and waits at a terminal. */
bool is_watched(const struct run *run);
/*
 * The sink that writes the journal, and a line on standard error for each change. A person at a
 * terminal sees the progress line (progress.h) instead, and the changes at the end.
 */
struct sink make_sink(const struct run *run);
