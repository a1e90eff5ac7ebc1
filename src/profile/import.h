/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of other tools as a profile: sysctl.d(5), modprobe.d(5), modules-load.d(5), kernel
 * command lines, /etc/default/grub and tuned.conf. Each line becomes a key, or a reason why it is
 * none; nothing is dropped without a word. What would be an error of the profile is found by
 * checking it (cmd/import.c), and then is a reason, too.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"
#include "sys/root.h"

/* One setting of a line: a line of arguments has several. */
struct imported {
	char *at;   /* "etc/sysctl.d/90-x.conf:3" */
	char *said; /* as it stands there, on one line */
	char *of;   /* the shell variable that its line assigns; or NULL */
	char *note; /* why it is not carried over; else what to know of it, or NULL */
	/* Its place: sysctl.KEY, cpu.KEY, kernel_args.set[], modules.options.MAP.KEY. */
	const char *section; /* static; NULL: it is not carried over */
	const char *group;   /* static: "set", "options"; NULL: the section itself */
	char *map;	     /* the module of options; or NULL */
	char *key;	     /* of a list what makes its items one: an argument's name */
	char *value;
	bool is_item;	   /* of a list */
	bool may_lack;	   /* sysctl.d's "-": optional */
	unsigned int line; /* of the profile, once that is written */
};

struct import {
	const struct root *root; /* below which included files are looked for */
	struct strv files;	 /* that have been read */
	const char *assigned;	 /* the shell variable whose line is read now; or NULL */
	VEC(struct imported) list;
};

void import_free(struct import *im);

/* Where a line is from. */
struct origin {
	const char *file;
	unsigned int line;
	const char *said;
};

/* Where a setting goes. */
struct slot {
	const char *section, *group, *map, *key;
	bool is_item, may_lack;
	const char *note;
};

/* The line is that setting; one before it for the same slot counts no more. */
void import_keep(struct import *im, const struct origin *from, const struct slot *slot,
		 const char *value);
void import_refuse(struct import *im, const struct origin *from, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of a setting that import_keep() took. */
void import_withdraw(struct imported *one, const char *why);

enum import_kind {
	IMPORT_UNKNOWN,
	IMPORT_SYSCTL,
	IMPORT_MODPROBE,
	IMPORT_MODULES_LOAD,
	IMPORT_CMDLINE,
	IMPORT_GRUB,
	IMPORT_TUNED,
};

/* By where the file lies, else by what is in it. */
enum import_kind import_kind_of(const char *path, const char *text);
/* Reads the text of a file; below: path is below im->root, else the caller's own. */
void import_text(struct import *im, const char *path, bool below, const char *text,
		 enum import_kind kind);
/* A whole file. Negative errno. */
int import_read(const struct import *im, const char *path, bool below, char **ret);

/* One sysctl, one argument, one file of sysfs: into its slot, or with the reason why not. */
void import_sysctl(struct import *im, const struct origin *from, const char *key, const char *value,
		   bool may_lack, const char *note);
void import_argument(struct import *im, const struct origin *from, const char *word);
void import_arguments(struct import *im, const struct origin *from, const char *words);
/* The next word of *rest, in which double quotes keep blanks together; NULL: there is none. */
char *import_word(char **rest);
/* Where profiles of tuned lie, below the root; NULL-ended. */
extern const char *const tuned_dirs[];
/* The file of tuned (import_tuned.c). */
void import_tuned(struct import *im, const char *path, bool below, const char *text);

/* The profile, named so; sets the line of each setting. */
void import_write(struct import *im, const char *name, struct str *out);

/* Without blanks at both ends, in place. */
char *import_trim(char *text);
/* The logical line at *next, which then is the one behind it; NULL at the end. Caller frees. */
char *import_line(const char **next, unsigned int *number, unsigned int *lines, bool joined);
