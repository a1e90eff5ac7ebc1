/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a boot: the results of each stage, the measurements, the verdict and the items it
 * waits for. Every reader of the verdict reads it here. /run/railhead/status.json is the record as
 * JSON, which only record_json.c reads and writes.
 *
 * The record owns all texts and lists. Times are those of clock_usec(), in microseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/stored.h"
#include "engine/run.h"
#include "engine/vfs.h"
#include "gate/gate.h"
#include "plan/finding.h"
#include "sys/state.h"

#define RECORD_FILE "status.json"
#define RECORD_PATH STATE_DIR "/" RECORD_FILE
#define RECORD_REMEDY "`railhead gate --again` writes it again"

struct record_profile {
	char *name; /* NULL: none */
	char *version, *digest, *file;
};

/* The members of a device set; reports fold their lines by it (report/fold.h). */
struct record_set {
	char *name;
	struct strv addresses;
};

struct record_sets {
	VEC(struct record_set) list;
};

void record_sets_add(struct record_sets *sets, const struct device_sets *device_sets);
void record_sets_free(struct record_sets *sets);

/* A change as it was at the end of its stage (plan/change.h). */
struct record_change {
	char *section, *kind, *target;
	char *origin; /* "FILE:LINE:COL" */
	enum stage stage;
	struct finding now; /* fault: FAULT_NONE if `railhead apply` will set it */
	uint64_t started, duration;
};

struct record_stage {
	bool ran;
	uint64_t started, duration;
	size_t count[CHANGE_STATE_COUNT];
	char *lacks; /* why the stage did the work of earlier stages too; or NULL */
	struct vfs_works vfs;
	VEC(struct record_change) changes;
};

/* A device that was lost and came back. */
struct record_device {
	char *addr;
	char *lost; /* the lost parts, as a text */
	uint64_t lost_at, applied_at, duration;
};

/* The origin of the measurements. */
struct record_numbers {
	bool there;
	int64_t measured; /* wall clock, seconds */
	int64_t boots_ago;
	char *why;	       /* why they were measured again; or NULL */
	struct strv this_boot; /* with an earlier boot's numbers: checks that this boot measured */
	struct strv unjudged;  /* checks of counters that no load of this boot could raise */
};

/*
 * Since when this boot waits for the items of a verdict `waiting`. Kept until a verdict admits work
 * or a person runs the gate, even through other verdicts, because the limit is for all waiting of a
 * boot together.
 */
struct waiting {
	uint64_t since, until; /* until 0: this boot has not waited */
	uint64_t looked;       /* time of the last look */
};

/* The last look at the node by this boot's profile: that of the gate, or a recheck. */
struct last_look {
	uint64_t at;	   /* clock_usec(); 0: none */
	int64_t wall;	   /* the same, in seconds since 1970 */
	uint64_t interval; /* microseconds from one recheck to the next; 0: RECHECK_EVERY_US */
	uint64_t asked;	   /* clock_usec() of the last question to drivers; see numbers_ask() */
};
#define RECHECK_EVERY_US UINT64_C(300000000) /* of railhead-recheck.timer */
enum { LOOKS_MISSED = 4 };		     /* after so many intervals a claim is too old */

/* Counters of a change that stand still in health: what later looks compare them with. */
struct record_counters {
	char *id;
	struct count_list counts;
};

/* Lapses by later looks, since the last gate. */
struct drift {
	unsigned int lapses; /* each less than a day after the previous lapse */
	uint64_t quiet_at;   /* when everything may have held long enough since the last lapse */
};

/*
 * A time that a person gave the node. The verdict does not change. The window ends with the boot's
 * user space or at its end time. Readers ignore a window after its end time, even if it is still
 * recorded.
 */
struct window {
	uint64_t since, until; /* until 0: no window */
	char *ends;	       /* until, as UTC: "2026-11-21T22:00:00Z" */
	char *digest;	       /* of the profile when the window began */
	char *who, *reason;
};

struct record {
	char *boot_id;
	char *user_space; /* NULL: not known */
	/* Why this boot's record can't be read, and the remedy; NULL: it can, or there is none. */
	char *unreadable;
	struct record_profile profile;
	struct record_sets sets;
	struct missing_list missing; /* by the last gate's look */
	struct record_stage stage[STAGE_COUNT];
	bool judged;		/* there is a verdict; else its kind is WAITING */
	struct verdict verdict; /* its fields awaited and otherwise are not recorded */
	uint64_t judged_at;
	/* The items that held at a verdict that admitted work: later looks miss those that are
	 * gone. */
	struct findings held;
	unsigned int begun; /* judgements begun since the last verdict, the current one included */
	uint64_t begun_at;
	bool measured; /* the list of measurements is valid, even if it is empty */
	struct measurements measurements;
	struct record_numbers numbers;
	VEC(struct record_device) devices;
	struct waiting waiting;
	struct last_look last_look;
	VEC(struct record_counters) counters;
	/* For readers (record_judge_age()), never in the file: minutes since, if too many; else 0.
	 */
	unsigned int too_old;
	bool unwatched; /* likewise: railhead.conf says that nothing looks again */
	struct drift drift;
	/* `railhead admit`: work runs although the verdict keeps work out; for one profile alone */
	struct window admission;
	/* `railhead maintain`: planned work, for which nobody is called; admits nothing */
	struct window maintenance;
	struct strv warnings; /* sentences: failures to inform other readers, each once */
	struct strv trends;   /* sentences: figures that get worse from boot to boot */
};

#define VERDICT_WORDS .word = verdict_name, .words = VERDICT_NONE + 1, .otherwise = VERDICT_WAITING
/* How the parts are stored. */
extern const struct stored record_change_stored[], record_stage_stored[], record_profile_stored[];
extern const struct stored record_device_stored[], record_numbers_stored[];
extern const struct stored record_counters_stored[];

/* The record of a change; free it as its table says. */
struct record_change record_change_of(const struct change *c);

/* boot_id may be NULL. */
void record_init(struct record *r, const char *boot_id);
void record_free(struct record *r);

/*
 * Parses JSON text, or NULL. A value that is absent or has the wrong type counts as not recorded. A
 * record of another boot is empty. One that is damaged, or of this boot and of an unknown schema,
 * is empty and `unreadable`.
 */
void record_parse(struct record *ret, const char *text, const char *boot_id);
/* The sentence that says why the record has no verdict. */
const char *record_why_none(const struct record *r);
/* The caller owns the result. */
json_t *record_to_json(const struct record *r);
/* NULL if this railhead writes such a record; else a sentence with both schemas. The caller frees.
 */
char *record_explain_schema(const json_t *doc);

/* A single change with all its fields, as in the record. The caller owns the result. */
json_t *change_to_json(const struct change *c);

/* NULL: the boot has no profile any more. */
void record_set_profile(struct record *r, const struct profile *profile);
/* The digest of the profile; "": no profile. */
const char *record_digest(const struct record *r);
/* Replaces the stage's part: its changes (and those of stages), counts and times. */
void record_set_stage(struct record *r, const struct run *run, unsigned int stages,
		      const struct stage_result *result);
/*
 * run_open() whose plan knows what the stages of this boot could not set, unless a later stage did,
 * and why. r: or NULL.
 */
int record_open_run(const struct record *r, const struct root *root, const struct run_options *opt,
		    struct run *ret, struct err *err);
/*
 * After a look: what this boot measured for the benchmarks of the plan, which a look can't see.
 * Nothing if the record is of another profile.
 */
void record_recall_figures(const struct record *r, const struct profile *profile,
			   struct plan *plan);
void record_set_lack(struct record *r, enum stage stage, const char *sentence);
/* Takes ownership of the measurements. */
void record_set_measurements(struct record *r, struct measurements *m);
/* The same, but only for the checks that m has measurements of; those of other checks stay. */
void record_replace_measurements(struct record *r, struct measurements *m);
/* For a profile whose thresholds did not judge them. */
void record_forget_figures(struct record *r);
/* Takes ownership of the texts. */
void record_set_numbers(struct record *r, const struct record_numbers *numbers);
/* Takes ownership of the texts. */
void record_set_device(struct record *r, const struct record_device *device);

/* Remembers the items that hold in the plan of a gate whose verdict admits work. */
void record_hold(struct record *r, const struct plan *plan);
/*
 * Before a look after the verdict: each change knows what it covered then, and the plan gets a
 * change that fails for each item that held then and is not in the plan any more. The record must
 * outlive the plan.
 */
void record_recall_held(const struct record *r, struct plan *plan);

/* Sets the verdict; no judgement is under way any more. */
void record_set_verdict(struct record *r, const struct verdict *v);
enum { RECORD_LAPSES_MOST = 4 }; /* an update of a switch takes a port away once or twice */
/* The node lapsed too often, and is ready again only after everything has held for a while. */
bool record_is_held_back(const struct record *r);
#define RECORD_HELD_BACK                                                                        \
	"the node has lapsed too often since the gate: it is ready again after all items have " \
	"held for an hour, or by `railhead gate --again`; `journalctl -t railhead` lists each " \
	"change"
/* A judgement begins: until its verdict, no verdict admits work, and nothing counts as measured. */
void record_begin(struct record *r);
/* Sets a verdict that keeps work out, with one reason. */
void record_set_simple(struct record *r, enum verdict_kind kind, enum fault fault,
		       const char *reason);
/* Whether the record already has this verdict. */
bool record_says(const struct record *r, const struct verdict *v);
/* The verdict is "waiting" because no gate has judged yet. */
bool record_is_unjudged(const struct record *r);

/* An admission is in force: its time is not over, and it is for the record's profile. */
bool record_is_let_in(const struct record *r);
/* The time of the maintenance is not over. */
bool record_is_maintained(const struct record *r);
/* Replaces a window of the record. Times as in struct window; copies texts. */
void record_open_window(const struct record *r, struct window *w, uint64_t since, uint64_t until,
			const char *ends, const char *who, const char *reason);
void record_end_window(struct window *w);
/* "admitted until ... by ...: reason" if an admission is in force, else NULL. The caller frees. */
char *record_admission_line(const struct record *r);
/* "maintenance until ... by ...: reason", likewise. */
char *record_maintenance_line(const struct record *r);
/* Whether work may run: by the verdict, or by hand until its time is over. */
bool record_admits(const struct record *r);
/* Microseconds from one recheck to the next. */
uint64_t record_interval(const struct record *r);
/* A look at the whole plan has ended now. interval: as in struct last_look. */
void record_looked(struct record *r, const struct plan *plan, uint64_t interval);
/* Before a look after the verdict, which compares its counters. The record must stay as it is. */
void record_recall_counters(const struct record *r, struct plan *plan);
/*
 * For readers: sets too_old if work is admitted by a verdict and nothing has looked at the node for
 * too long. record_admits() then says no.
 */
void record_judge_age(struct record *r);

/* Drops the data of the user space before a soft-reboot; stage initrd belongs to the boot. */
void record_leave_user_space(struct record *r);
