/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Imports settings of other tools into a profile: sysctl.d(5), modprobe.d(5), modules-load.d(5),
 * kernel command lines, /etc/default/grub and tuned.conf. Each line becomes a key, or is listed
 * with the reason why not; no line is dropped silently. cmd/import.c then checks the profile and
 * withdraws each setting that is an error, with the error as the reason.
 */
#pragma once

#include <limits.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "sys/root.h"

/* One setting; a line of arguments has several. */
struct imported {
	char *at;   /* "etc/sysctl.d/90-x.conf:3" */
	char *said; /* the source text, on one line */
	char *of;   /* the shell variable that its line assigns; or NULL */
	char *note; /* the reason why the setting is not carried over; else a remark, or NULL */
	/* Place in the profile: sysctl.KEY, cpu.KEY, kernel_args.set[], modules.options.MAP.KEY. */
	const char *section; /* static; NULL: not carried over */
	const char *group;   /* static: "set", "options"; NULL: directly in the section */
	char *map;	     /* the module of options; or NULL */
	char *key;	     /* for a list item its identity, such as an argument's name */
	char *value;
	bool is_item;	   /* an item of a list */
	bool may_lack;	   /* sysctl.d's "-": optional */
	unsigned int line; /* line in the written profile; set by import_write() */
	/* The command line of an argument about page pools, IMPORT_PAGES_SYSCTL, or 0. */
	unsigned int pages_line;
};

struct import {
	const struct root *root;   /* included files are looked up below this root */
	struct strv files;	   /* paths of the files that were read */
	const char *assigned;	   /* the shell variable whose line is being read; or NULL */
	char quote;		   /* of a shell value that goes on in the next line; or 0 */
	unsigned int command_line; /* number of the kernel command line that is being read */
	size_t held;		   /* bytes: see import_hold() */
	/* Why the files were not read to their end, or not written: place and remedy; or NULL. */
	char *excess;
	VEC(struct imported) list;
};

void import_free(struct import *im);

/* The line that a setting comes from. */
struct origin {
	const char *file;
	unsigned int line;
	const char *said;
};

/* The place in the profile that a setting goes to. */
struct slot {
	const char *section, *group, *map, *key;
	bool is_item, may_lack;
	const char *note;
};

/*
 * Adds a setting. An earlier setting for the same slot is withdrawn, because the later one
 * overrides it.
 */
void import_keep(struct import *im, const struct origin *from, const struct slot *slot,
		 const char *value);
void import_refuse(struct import *im, const struct origin *from, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* An argument of im->command_line or the sysctl about page pools, without a reason yet. */
#define IMPORT_PAGES_SYSCTL UINT_MAX
void import_refuse_pages(struct import *im, const struct origin *from, bool is_sysctl);
/* Gives each of them its reason; import_write() calls it. */
void import_explain_pages(struct import *im);
/* Withdraws a setting that import_keep() added. */
void import_withdraw(struct imported *one, const char *why);

/*
 * Counts what the files grow to: lines, settings, values of variables. False above IMPORT_MAX: then
 * im->excess names this line, and no further line is read. An include and a variable can multiply
 * a file of 1 KB without end.
 */
enum { IMPORT_MAX = 8 << 20, IMPORT_ITEM = 1 << 10 /* a setting, without its texts */ };
bool import_hold(struct import *im, const char *file, unsigned int line, size_t bytes);

enum import_kind {
	IMPORT_UNKNOWN,
	IMPORT_SYSCTL,
	IMPORT_MODPROBE,
	IMPORT_MODULES_LOAD,
	IMPORT_CMDLINE,
	IMPORT_GRUB,
	IMPORT_TUNED,
};

/* Decides by the file's path, else by its text. */
enum import_kind import_kind_of(const char *path, const char *text);
/*
 * Reads the text of a file. below: path is below im->root; otherwise it is the caller's own path.
 */
void import_text(struct import *im, const char *path, bool below, const char *text,
		 enum import_kind kind);
/*
 * Reads the text of a whole regular file. -EINVAL: it is none, or has a zero byte, behind which
 * nothing would be read.
 */
int import_read(const struct import *im, const char *path, bool below, char **ret, struct err *err);

/*
 * A sysctl, a kernel argument, a line of arguments: adds each setting to its slot, or lists it with
 * the reason why not.
 */
void import_sysctl(struct import *im, const struct origin *from, const char *key, const char *value,
		   bool may_lack, const char *note);
void import_argument(struct import *im, const struct origin *from, const char *word);
void import_arguments(struct import *im, const struct origin *from, const char *words);
/* The characters between words and around lines, in all formats. */
#define IMPORT_BLANKS " \t\r\n"
/*
 * The next word of *rest; double quotes keep blanks together. NULL: no word is left, as never in a
 * text that is not empty after import_trim().
 */
char *import_word(char **rest);
/* Directories of tuned profiles below the root; NULL-terminated. */
extern const char *const tuned_dirs[];
/* Reads a tuned.conf (import_tuned.c). */
void import_tuned(struct import *im, const char *path, bool below, const char *text);

/*
 * Writes the profile with that name, and sets the line of each setting. Sets im->excess if it takes
 * more than YAML_BYTES_MAX (yaml.h).
 */
void import_write(struct import *im, const char *name, struct str *out);

/* Removes IMPORT_BLANKS at both ends, in place. */
char *import_trim(char *text);
/*
 * The logical line at *next, which then points to the line after it; NULL at the end. The caller
 * frees.
 */
char *import_line(const char **next, unsigned int *number, unsigned int *lines, bool joined);
