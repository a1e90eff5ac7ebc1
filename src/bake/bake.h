/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prepares the tree of an image (`railhead bake`): makes a list of wanted files and links there,
 * and takes them back. All paths are below the root.
 *
 * Each file begins with a mark and the sum of its text (bake_mark()), or is railhead.env: bake
 * replaces and removes no other, so nothing is written down elsewhere. The next run completes one
 * that ended half-way. A unit stays enabled when bake is undone, as its package enables it, too.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "kargs/format.h"
#include "kargs/kargs.h"
#include "sys/root.h"

enum bake_result {
	BAKE_SAME,    /* the wanted content is there already */
	BAKE_MADE,    /* the path was free */
	BAKE_CHANGED, /* the path held other content, which bake made or may replace */
	BAKE_REMOVED, /* undo: the path is free again */
	BAKE_LEFT,    /* the path is not bake's and was not touched; `why` has the remedy */
};

/* "same", "made", "changed", "removed", "left" */
const char *bake_result_name(enum bake_result r);

struct bake_item {
	char *path; /* below the root, begins with "/" */
	char *what; /* for people: the purpose of the file */
	char *text; /* content of the file, or target of the link; NULL if it is to go */
	bool link;
	bool takes_over;  /* replace a file of that name that bake did not make */
	bool kernel_args; /* the item brings arguments to the kernel */
	enum bake_result result;
	char *why; /* BAKE_LEFT: a sentence; else NULL */
};

/* How the kernel of an image gets its arguments: */
enum bake_loader {
	BAKE_GRUB,  /* from railhead.env */
	BAKE_BOOTC, /* from usr/lib/bootc/kargs.d */
	BAKE_OTHER, /* from a tool of the site: bake prints the arguments */
};

struct bake {
	const struct root *root;
	int lock; /* on the tree, because only one bake may run at a time */
	VEC(struct bake_item) items;
	struct strv warnings; /* sentences */
	enum bake_loader loader;
};

/*
 * Locks the tree. -EBUSY: another bake is running there. The root must outlive *ret. Call
 * bake_close() in any case.
 */
int bake_open(const struct root *root, struct bake *ret, struct err *err);
void bake_close(struct bake *b);
#define cleanup_bake __attribute__((__cleanup__(bake_close)))

/* Adds an item to the list of wanted files; the item takes ownership of the texts. */
struct bake_item *bake_want(struct bake *b, char *path, char *text, char *what);
/* The text below the mark of bake's files. Caller frees. */
char *bake_mark(const char *text);
void bake_warn(struct bake *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes all wanted items. An error means that a write failed; the next run continues from there. */
int bake_apply(struct bake *b, struct err *err);
/*
 * Removes the files of that pattern that bake made, with one item for each: BAKE_LEFT if it was
 * changed since. Others have no item.
 */
int bake_undo(struct bake *b, const char *pattern, struct err *err);
/* Whether bake wrote anything, or would have. */
bool bake_changed(const struct bake *b);

/* --- filling the list (bake_units.c, bake_loader.c) ------------------------------------------- */

/*
 * Enables our units as the preset in the tree lists them, with the links of `systemctl --root
 * enable`.
 */
int bake_units(struct bake *b, struct err *err);
/*
 * Turns "kubelet" into "kubelet.service". -EINVAL and the reason if no work can be gated by that
 * name. Caller frees.
 */
int bake_gate_name(const char *arg, char **ret, struct err *err);
/*
 * Adds drop-ins that make the unit wait until work is admitted. -EINVAL: the gate waits for this
 * unit.
 */
int bake_gate(struct bake *b, const char *unit, struct err *err);
int bake_undo_gates(struct bake *b, struct err *err);
/*
 * Appends all words of a setting in a unit file to *ret. As in systemd.syntax(7), an empty value
 * drops the earlier words, and a line that ends in '\' continues on the next line.
 */
void bake_unit_words(const char *text, const char *section, const char *key, struct strv *ret);

/*
 * kargs_check(), and kargs_check_parsed() where the tree's GRUB parses arguments as a script: those
 * that bootc puts into its menu entries, too.
 */
int bake_check_kargs(const struct bake *b, const struct kargs *wanted, struct err *err);
/*
 * Puts the arguments where the image's boot loader reads them, and sets b->loader to that place.
 * wanted NULL: the arguments are unknown; existing arguments stay as they are.
 */
int bake_kargs(struct bake *b, const struct kargs *wanted, const struct karg_heading *h,
	       struct err *err);
/* The next boot of the image gets no arguments. */
int bake_undo_kargs(struct bake *b, struct err *err);
/*
 * The new content of railhead.env: `current` (NULL: there is no file) with these arguments in the
 * good slot and no trial; an empty file without arguments. The result depends on these inputs
 * alone, and not on this machine, boot or time. Caller frees. -EBADMSG: current is damaged.
 */
int bake_env(const char *current, const struct kargs *wanted, char **ret, struct err *err);

/* Adds a warning for each thing that the tree lacks. args: the tree gets new kernel arguments. */
void bake_judge(struct bake *b, bool args);
