/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of this node's boots: /var/lib/railhead/history.json, with an entry for each boot
 * that a gate has judged, oldest first. A new judgement replaces the entry of its boot, and keeps
 * the parts of its last ready verdict. Later looks (`gate --recheck`) write
 * nothing.
 *
 * An entry holds no serial number, only digests of serial numbers (gate/binding.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/record.h"
#include "gate/binding.h"
#include "gate/trend.h"
#include "sys/state.h"
#include "sys/worker.h"

#define HISTORY_FILE "history.json"
#define HISTORY_PATH STATE_KEPT_DIR "/" HISTORY_FILE

/*
 * The oldest entries are dropped beyond either limit. A hundred boots are two years of a node that
 * reboots each week, and more than twice the boots that a trend needs (gate/trend.h).
 */
enum { HISTORY_BOOTS = 100, HISTORY_BYTES = 1 << 20 };

/* A figure of the gate: a series over boots is one check, subject and key. */
struct past_figure {
	char *check;   /* "memory" */
	char *subject; /* "node0", "rails/0000:3b:00.0" */
	char *key;     /* "min", "p9999" */
	enum quantity quantity;
	double value; /* in the unit of the quantity; quantity_format() prints it */
	bool fresh;   /* measured in this boot, and undisturbed; only such figures form a trend */
};

struct past_stage {
	bool ran;
	uint64_t duration; /* microseconds */
};

/* The result of one boot. All texts are owned; "": not known. */
struct boot_past {
	char *boot_id;
	int64_t time; /* of the verdict: wall clock, seconds, as the clock was then */
	enum verdict_kind verdict;
	bool admit;	    /* the verdict lets work in */
	struct strv faults; /* codes, each once, the gravest first */
	char *reason;	    /* the first reason of the verdict */
	char *profile, *version, *digest;
	char *kernel; /* release */
	char *railhead;
	struct past_stage stage[STAGE_COUNT];
	uint64_t judged;      /* microseconds after boot */
	uint64_t waited;      /* the part of judged spent waiting for items that had yet to come */
	unsigned int reboots; /* by railhead, before this boot, without a verdict in between */
	struct binding parts; /* the basis of the figures; empty if no profile was judged */
	struct binding good;  /* that of the boot's last ready verdict, if a later one was not */
	VEC(struct past_figure) figures;
};

struct history {
	VEC(struct boot_past) boots; /* oldest first */
};

/*
 * The history of a root; empty if there is no file. Returns a negative errno and an empty history
 * if the file can't be read: -EACCES (only root may read it), -EBADMSG (the file is damaged),
 * -EPROTO (a newer railhead wrote the file). *err has the file and a remedy.
 */
int history_read(const struct root *root, struct history *ret, struct err *err);
void history_free(struct history *h);

/* The history entry of the boot whose record this is, with its verdict. run may be NULL. */
void history_of_record(const struct record *r, const struct run *run, struct boot_past *ret);
void boot_past_free(struct boot_past *b);
/* The parts at the boot's last ready verdict; NULL: it had none. */
const struct binding *boot_past_good(const struct boot_past *b);

/*
 * The history with the boot in place of the entry with the same id, or at the end; takes ownership
 * of the boot. Writes nothing. A damaged history is replaced, and -EBADMSG returned so that the
 * caller can report it. If a newer railhead wrote the history, or it exists and can't be opened,
 * *ret is empty: the file is left alone.
 */
int history_add(const struct root *root, struct boot_past *boot, struct history *ret,
		struct err *err);
/*
 * Writes the history, without the oldest entries if it is too large. An equal file is not written.
 */
int history_write(const struct root *root, struct history *h, struct err *err);

/* One boot, with all its parts, as in the file. The caller owns the result. */
json_t *boot_past_to_json(const struct boot_past *b);
void history_drop_oldest(struct history *h, size_t n); /* n: at most as many as there are */

/* Whether two figures belong to one series. */
bool past_figure_same(const struct past_figure *a, const struct past_figure *b);
/* The boot's figure of the same series; NULL: the boot has none. */
const struct past_figure *boot_past_figure(const struct boot_past *b, const struct past_figure *f);
bool past_figure_more_is_worse(const struct past_figure *f);

/* --- what changed (history_changes.c) --- */

/*
 * How far noise alone may move a figure of that boot, in percent; from the boots before that boot.
 */
double history_figure_noise(const struct history *h, size_t boot, const struct past_figure *f);
/* The noise of the time that a stage took; STAGE_COUNT: of the time until the verdict. */
double history_time_noise(const struct history *h, size_t boot, enum stage stage);
/* The time of the stage, or until the verdict (STAGE_COUNT); 0: none. */
uint64_t boot_past_time(const struct boot_past *b, enum stage stage);
/* Whether struct boot_past has a separate field for the part, or it follows from another part. */
bool past_part_is_told(const char *part);

/* A difference between a boot and the previous boot. */
struct past_change {
	char *part;	 /* "kernel", "profile", "firmware of 0000:3b:00.0" (gate/binding.h) */
	char *was, *now; /* NULL: absent in that boot; "": not shown (a serial number) */
	size_t times;	 /* number of functions with the same change; part names the first */
};

/* A figure that differs by more than its noise. */
struct past_step {
	const struct past_figure *figure; /* of the history */
	double percent;
};

struct past_changes {
	VEC(struct past_change) list;
	VEC(struct past_step) steps;
};

/*
 * A boot without a profile has no parts, so the parts of the next boot are compared with the last
 * known parts. Figures are compared with the last measured figures in the same way.
 */
void history_changes(const struct history *h, size_t boot, struct past_changes *ret);
void past_changes_free(struct past_changes *c);

/* --- trends (history_trends.c) --- */

/* A figure of the latest boot that gets worse from boot to boot. */
struct past_trend {
	const struct past_figure *figure; /* of the history */
	struct trend trend;
};

struct past_trends {
	VEC(struct past_trend) list; /* in the order of the boot's figures; vec_free() */
};

/* A part that changed between two boots ends a segment (gate/trend.h). */
void history_trends(const struct history *h, struct past_trends *ret);
/* "memory node0 min: falls, by 5.1 % over 20 boots, to 172.1 GB/s now". The caller frees. */
char *past_trend_text(const struct past_trend *t);
/* Replaces the list with these sentences; of many, the first and a count. */
void history_trends_told(const struct history *h, struct strv *ret);

/*
 * Whether the time of boot i can't be right: it is before the time of the previous boot, or before
 * railhead existed. The clock of one of the two boots was wrong when its gate judged.
 */
bool history_clock_is_off(const struct history *h, size_t i);
/* The time of a boot: "2026-11-20 04:12Z", with "?" if the clock can't be right. The caller frees.
 */
char *history_time(const struct history *h, size_t boot);

/*
 * A file system that hangs must not keep a verdict back, so a child reads the file before this
 * process does. Both wait for 2 s at most; -ETIMEDOUT: the child hangs.
 */
int history_look(const struct root *root, struct err *err);
int history_apart(worker_fn fn, void *arg, struct err *err);

/* --- what is gone (history_missing.c) --- */

/*
 * After a look: fills run->missing, and names the functions in the reasons of the sets that lack
 * them. Reads the history only if a set has too few members, and only in the first call.
 */
void history_find_missing(struct run *run);
/*
 * Whether an earlier boot had a function at that address ("3b:00.0": in domain 0), whether or not
 * it is there now. Free *ret by missing_stored.
 */
bool history_had(const struct run *run, const char *addr, struct missing *ret);
