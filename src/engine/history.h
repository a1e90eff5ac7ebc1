/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the boots of this node came to: /var/lib/railhead/history.json, an entry for each boot that
 * a gate has judged, oldest first. A boot that is judged again has its entry replaced. Later looks
 * (`gate --recheck`, `gate --renew`) write nothing.
 *
 * An entry holds no serial number: those are in digests (gate/binding.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/record.h"
#include "gate/binding.h"
#include "gate/trend.h"
#include "sys/state.h"

#define HISTORY_FILE "history.json"
#define HISTORY_PATH STATE_KEPT_DIR "/" HISTORY_FILE

/*
 * Beyond either of them the oldest entries go. A hundred boots are two years of a node that reboots
 * each week, and more than twice what a trend is found in (gate/trend.h).
 */
enum { HISTORY_BOOTS = 100, HISTORY_BYTES = 1 << 20 };

/* A figure of the gate: a series over boots is one check, subject and key. */
struct past_figure {
	char *check;	 /* "memory" */
	char *subject;	 /* "node0", "rails/0000:3b:00.0" */
	const char *key; /* "min", "p9999"; static */
	enum quantity quantity;
	double value; /* in the unit of the quantity; quantity_format() prints it */
	bool fresh;   /* measured in this boot, and undisturbed; else no point of a trend */
};

struct past_stage {
	bool ran;
	uint64_t duration; /* microseconds */
};

/* What one boot came to. All texts are owned; "" where it is not known. */
struct boot_past {
	char *boot_id;
	int64_t time; /* of the verdict: wall clock, seconds, as the clock was then */
	enum verdict_kind verdict;
	bool admit;	    /* the verdict lets work in */
	struct strv faults; /* codes, each once, the gravest first */
	char *reason;	    /* the first of the verdict */
	char *profile, *version, *digest;
	char *kernel; /* release */
	char *railhead;
	struct past_stage stage[STAGE_COUNT];
	uint64_t judged;      /* microseconds after boot */
	uint64_t waited;      /* of those, for what was still to come */
	unsigned int reboots; /* by railhead, before this boot, without a verdict in between */
	struct binding parts; /* what figures stand on; empty where no profile was judged */
	VEC(struct past_figure) figures;
};

struct history {
	VEC(struct boot_past) boots; /* oldest first */
};

/*
 * The history of a root; an empty one where there is none. Returns a negative errno, and an empty
 * history, where it can't be read: -EACCES (it is root's), -EBADMSG of a file that is damaged,
 * -EPROTO of one that a newer railhead wrote. *err has the file and a remedy.
 */
int history_read(const struct root *root, struct history *ret, struct err *err);
void history_free(struct history *h);

/* What is known of the boot whose record this is, with its verdict. run may be NULL. */
void history_of_record(const struct record *r, const struct run *run, struct boot_past *ret);
void boot_past_free(struct boot_past *b);

/*
 * The history with the boot, which is taken over: in the place of the entry with its id, or at the
 * end. Nothing is written. What can't be read is replaced, and -EBADMSG returned for people to be
 * told; but of a history that a newer railhead wrote, or that is there and can't be opened, *ret is
 * empty: it is left alone.
 */
int history_add(const struct root *root, struct boot_past *boot, struct history *ret,
		struct err *err);
/*
 * Writes it, without the oldest entries where it is too large; nothing where the file is the same.
 */
int history_write(const struct root *root, struct history *h, struct err *err);

/* One boot, with all of its parts, as the file holds it. The caller's. */
json_t *boot_past_to_json(const struct boot_past *b);
void history_drop_oldest(struct history *h, size_t n); /* n: at most as many as there are */

/* Whether two figures are of one series. */
bool past_figure_same(const struct past_figure *a, const struct past_figure *b);
/* That of the same series in the boot; NULL: it has none. */
const struct past_figure *boot_past_figure(const struct boot_past *b, const struct past_figure *f);
bool past_figure_more_is_worse(const struct past_figure *f);

/* --- what changed (history_changes.c) --- */

/*
 * How far a figure of that boot may be from another by noise alone, in percent: of boots before
 * that one.
 */
double history_figure_noise(const struct history *h, size_t boot, const struct past_figure *f);
/* The same of the time that a stage took; STAGE_COUNT: of the time until the verdict. */
double history_time_noise(const struct history *h, size_t boot, enum stage stage);
uint64_t boot_past_time(const struct boot_past *b, enum stage stage); /* that time; 0: none */
/* Whether the boot has that part in a field of its own, or it follows from another part. */
bool past_part_is_told(const char *part);
/* "firmware of 0000:3b:00.0": the address; NULL: it is of no function. */
const char *past_part_address(const char *part);

/* Between a boot and the one before. */
struct past_change {
	char *part;	 /* "kernel", "profile", "firmware of 0000:3b:00.0" (gate/binding.h) */
	char *was, *now; /* NULL: there was none, there is none; "": not shown (a serial number) */
	size_t times;	 /* so many functions have the same change: part names the first */
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
 * A boot that judged by no profile knows no parts: those of the next one are compared with the last
 * that are known. So are figures: with the last that were measured.
 */
void history_changes(const struct history *h, size_t boot, struct past_changes *ret);
void past_changes_free(struct past_changes *c);

/* --- trends (history_trends.c) --- */

/* A figure of the latest boot that becomes worse. */
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
/* Those sentences, in place of what the list holds; of many the first and a count. */
void history_trends_told(const struct history *h, struct strv *ret);

/*
 * The time of boot i can't be right: it is before that of the boot before, or before railhead
 * existed. Its clock was not set when the gate judged, or that of the boot before was.
 */
bool history_clock_is_off(const struct history *h, size_t i);
