/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a boot: what each stage did, what was measured, the verdict and what it waits for.
 * Every reader of the verdict reads it here; /run/railhead/status.json is this as JSON, which only
 * record_json.c reads and writes.
 *
 * All texts and lists are owned by the record. Times are clock_usec()'s, in microseconds.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/run.h"
#include "engine/vfs.h"
#include "gate/gate.h"

struct record_profile {
	char *name; /* NULL: none */
	char *version, *digest, *file;
};

/* The members of a device set: what lines for people are folded by (report/fold.h). */
struct record_set {
	char *name;
	struct strv addresses;
};

struct record_sets {
	VEC(struct record_set) list;
};

void record_sets_add(struct record_sets *sets, const struct device_sets *device_sets);
void record_sets_free(struct record_sets *sets);

/* A change as it was at the end of its stage (plan/change.h). NULL: it has no such text. */
struct record_change {
	char *id;
	char *section, *kind, *target, *desired, *observed, *before, *reason, *note;
	char *origin; /* "FILE:LINE:COL" */
	enum stage stage;
	enum change_state state;
	enum on_fail on_fail;
	enum fault fault; /* FAULT_NONE: it holds, or `railhead apply` is to set it */
	uint64_t started, duration;
};

struct record_stage {
	bool ran;
	uint64_t started, duration;
	size_t count[CHANGE_STATE_COUNT];
	char *lacks; /* why it did more than its own work: what the boot lacked; or NULL */
	struct vfs_works vfs;
	VEC(struct record_change) changes;
};

/* A device that was lost and came back. */
struct record_device {
	char *addr;
	char *lost; /* what was lost */
	uint64_t lost_at, applied_at, duration;
};

/* When the measurements are from. */
struct record_numbers {
	bool there;
	int64_t measured; /* wall clock, seconds */
	int64_t boots_ago;
	char *why;	       /* why they were measured again; or NULL */
	struct strv this_boot; /* of those of an earlier boot: checks that this boot has measured */
	struct strv unjudged;  /* checks of counters that no load of this boot could raise */
};

/*
 * Since when this boot waits for what a verdict `waiting` names. Kept, until a verdict lets work
 * in or a person runs the gate, also while the verdict is another one: so that all waiting of a
 * boot together has an end.
 */
struct waiting {
	uint64_t since, until; /* until 0: this boot has not waited */
	uint64_t looked;       /* when it was looked for last */
};

/* Lapses by later looks, since the last gate. */
struct drift {
	unsigned int lapses; /* none of them a day after the one before */
	uint64_t quiet_at;   /* when all may have held for long enough since the newest */
};

/*
 * Work let in by hand (`railhead admit`) on a node that the verdict keeps it from. The verdict
 * stays what it is. The admission ends with the boot, is of one profile, and has an end, after
 * which no reader takes it for anything, whether or not somebody has cleared it away by then.
 */
struct admission {
	uint64_t since, until; /* until 0: there is none */
	char *ends;	       /* until, as UTC: "2026-11-21T22:00:00Z" */
	char *digest;	       /* of the profile */
	char *who, *reason;
};

struct record {
	char *boot_id;
	char *user_space; /* "": not known */
	struct record_profile profile;
	struct record_sets sets;
	struct record_stage stage[STAGE_COUNT];
	bool judged;		/* there is a verdict; else its kind is WAITING */
	struct verdict verdict; /* awaited and otherwise are not recorded */
	uint64_t judged_at;
	unsigned int begun; /* judgements begun since the last verdict: 0, or the one at work */
	uint64_t begun_at;
	bool measured; /* there are measurements, if only of nothing */
	struct measurements measurements;
	struct record_numbers numbers;
	VEC(struct record_device) devices;
	struct waiting waiting;
	struct drift drift;
	struct admission admission;
	struct strv warnings; /* sentences: what could not be told to other readers, each once */
	struct strv trends;   /* sentences: figures that become worse from boot to boot */
};

/* What is recorded of a change. */
struct record_change record_change_of(const struct change *c);
void record_change_free(struct record_change *c);

/* boot_id may be NULL. */
void record_init(struct record *r, const char *boot_id);
void record_free(struct record *r);

/*
 * Of JSON text, which may be damaged, or NULL: what is absent or of another type is as if it had
 * not been recorded. A record of another boot, or of a schema that this railhead does not know, is
 * empty.
 */
void record_parse(struct record *ret, const char *text, const char *boot_id);
/* The caller's. */
json_t *record_to_json(const struct record *r);

/* A change alone, with all that is known of it, as the record holds one. The caller's. */
json_t *change_to_json(const struct change *c);
/* Measurements alone, as the record holds them. */
json_t *measurements_to_json(const struct measurements *m);
void measurements_from_json(const json_t *list, struct measurements *ret);

/* NULL: there is none any more. */
void record_set_profile(struct record *r, const struct profile *profile);
/* "" if there is none. */
const char *record_digest(const struct record *r);
/* Replaces the stage's part: its changes (and those of stages), counts and times. */
void record_set_stage(struct record *r, const struct run *run, unsigned int stages,
		      const struct stage_result *result);
void record_set_lack(struct record *r, enum stage stage, const char *sentence);
/* Takes them over; of only: of the checks that m has any of, what is there of others stays. */
void record_set_measurements(struct record *r, struct measurements *m);
void record_replace_measurements(struct record *r, struct measurements *m);
/* Takes its texts over. */
void record_set_numbers(struct record *r, const struct record_numbers *numbers);
/* Takes its texts over. */
void record_set_device(struct record *r, const struct record_device *device);

/* The verdict is there now: no judgement is under way any more. */
void record_set_verdict(struct record *r, const struct verdict *v);
enum { RECORD_LAPSES_MOST = 4 }; /* a switch that is updated takes a port away once or twice */
/* It lapsed too often, and is not ready again before all has held for a while. */
bool record_is_held_back(const struct record *r);
#define RECORD_HELD_BACK                                                                         \
	"the node has lapsed too often since the gate: it is ready again when all has held for " \
	"an "                                                                                    \
	"hour, or by `railhead gate --again`; `journalctl -t railhead` has each change"
/* A judgement begins: until its verdict nothing is admitted by one, and nothing is measured. */
void record_begin(struct record *r);
/* One that lets no work in, with one reason. */
void record_set_simple(struct record *r, enum verdict_kind kind, enum fault fault,
		       const char *reason);
/* Whether the record says that already. */
bool record_says(const struct record *r, const struct verdict *v);
/* The verdict is "waiting", and not because a gate has waited: none has judged yet. */
bool record_is_unjudged(const struct record *r);

/* The admission that is in force now: its time is not over, and it is of the record's profile. */
bool record_is_let_in(const struct record *r);
/* Work is let in by hand, with the record's profile. Times as in struct admission; copies texts. */
void record_let_in(struct record *r, uint64_t since, uint64_t until, const char *ends,
		   const char *who, const char *reason);
void record_end_admission(struct record *r);
/* "admitted until ... by ...: reason" of one that is in force, else NULL. Caller frees. */
char *record_admission_line(const struct record *r);
/* Whether work may run: by the verdict, or by hand until its time is over. */
bool record_admits(const struct record *r);

/* What is of the user space before a soft-reboot goes; stage initrd is of the boot. */
void record_leave_user_space(struct record *r);
