/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preparing the tree of an image (`railhead bake`): a list of files and links that are wanted
 * there, made all together and taken away again by bake_undo(). Everything is below the root.
 *
 * What bake makes is written down first, in BAKE_RECORD: each path with what is put there and
 * what it replaces, and each directory that was missing. So a run that ended half-way is
 * completed by the next one, and undone by --undo, and neither touches what somebody else has
 * made or changed: a file is bake's only while it holds what the record says.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "boot/karg_format.h"
#include "boot/kargs.h"
#include "sys/root.h"

#define BAKE_RECORD "/usr/lib/railhead/bake.json"

enum bake_result {
	BAKE_SAME,     /* it is there already */
	BAKE_MADE,     /* it was not there */
	BAKE_CHANGED,  /* it held something else, which bake made or may replace */
	BAKE_REMOVED,  /* undo: it is gone */
	BAKE_RESTORED, /* undo: it holds again what it held before */
	BAKE_LEFT,     /* it is not bake's: not touched; `why` says what to do */
};

/* "same", "made", "changed", "removed", "restored", "left" */
const char *bake_result_name(enum bake_result r);

struct bake_item {
	char *path; /* below the root, begins with "/" */
	char *what; /* for people: what it is for */
	char *text; /* of the file, or where the link leads; undo: unused, NULL */
	bool link;
	bool takes_over;  /* a file of that name that bake did not make is replaced */
	bool kernel_args; /* it brings arguments to the kernel */
	enum bake_result result;
	char *why; /* BAKE_LEFT: a sentence; else NULL */
};

/* A thing that bake made; texts are NULL where there is none. */
struct bake_entry {
	char *path;
	char *text;   /* what it holds, or where it leads */
	char *was;    /* what an earlier bake had put there, while it is being replaced */
	char *before; /* what was there before bake; NULL: nothing */
	bool link;
};

struct bake_record {
	VEC(struct bake_entry) entries;
	struct strv dirs; /* that bake made, parents first */
	char *read;	  /* the file as it was read, or NULL */
};

/* -ENOENT: there is none, *ret is empty. -EBADMSG: damaged, with the remedy. */
int bake_record_parse(const char *text, struct bake_record *ret, struct err *err);
/* The whole file; caller frees. */
char *bake_record_text(const struct bake_record *rec);
struct bake_entry *bake_record_find(const struct bake_record *rec, const char *path);
void bake_record_free(struct bake_record *rec);

/* How the kernel of an image gets its arguments. */
enum bake_loader {
	BAKE_GRUB,  /* railhead.env */
	BAKE_BOOTC, /* usr/lib/bootc/kargs.d */
	BAKE_OTHER, /* a tool of the site's: they are printed */
};

struct bake {
	const struct root *root;
	int lock; /* on the tree: one bake at a time */
	struct bake_record record;
	VEC(struct bake_item) items;
	struct strv warnings; /* sentences */
	enum bake_loader loader;
};

/*
 * Takes the tree and reads the record. -EBUSY: another bake is at work there. The root must
 * outlive it; bake_close() in any case.
 */
int bake_open(const struct root *root, struct bake *ret, struct err *err);
void bake_close(struct bake *b);
#define cleanup_bake __attribute__((__cleanup__(bake_close)))

/* Adds to what is wanted; the texts become the item's. */
struct bake_item *bake_want(struct bake *b, char *path, char *text, char *what);
void bake_warn(struct bake *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes all that is wanted. An error is a failure to write: the next run goes on from there. */
int bake_apply(struct bake *b, struct err *err);
/* Takes away what bake made: an item for each; those that are BAKE_LEFT stay in the record. */
int bake_undo(struct bake *b, struct err *err);
/* Whether anything was, or was to be, written. */
bool bake_changed(const struct bake *b);

/* --- what is wanted (bake_units.c, bake_loader.c) ----------------------------------------------
 */

/* Our units are enabled as the preset in the tree says, with links as `systemctl --root` makes. */
int bake_units(struct bake *b, struct err *err);
/*
 * "kubelet" to "kubelet.service". -EINVAL and the reason if work can't be gated by that name.
 * Caller frees.
 */
int bake_gate_name(const char *arg, char **ret, struct err *err);
/* Drop-ins by which that unit waits for work to be admitted. -EINVAL: it is what the gate waits
 * for. */
int bake_gate(struct bake *b, const char *unit, struct err *err);
/*
 * All words of a setting in a unit file; appends to *ret. As systemd.syntax(7): an empty value
 * drops what came before, '\' at the end of a line goes on in the next.
 */
void bake_unit_words(const char *text, const char *section, const char *key, struct strv *ret);

/*
 * The arguments go where the image's boot loader reads them; b->loader says where. wanted NULL:
 * none are known, and none that are there are touched.
 */
int bake_kargs(struct bake *b, const struct kargs *wanted, const struct karg_heading *h,
	       struct err *err);
/*
 * What the file of GRUB's is to hold: current (NULL: there is none) with these arguments good,
 * nothing on trial. It depends on nothing else: not on this machine, boot or time. Caller frees.
 * -EBADMSG: current is damaged.
 */
int bake_env(const char *current, const struct kargs *wanted, char **ret, struct err *err);

/* Adds warnings of what the tree lacks; args: it gets other kernel arguments than it had. */
void bake_judge(struct bake *b, bool args);
