/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A section is one top-level key of a profile: its schema, and the changes that it emits for a
 * machine. Each section is a file of the room sections/ (gate: of checks/) that exports one const
 * struct, and a line in that room's table.c. The linker supplies the table, so this room walks all
 * sections without naming one.
 *
 * A section reads topology and emits changes. It never writes, and never reads a tunable value.
 */
#pragma once

#include "base/fault.h"
#include "profile/schema.h"

struct err;
struct kargs;
struct plan;
struct rule;
struct settings;
struct set_rule;

struct node;

/* Facts of the machine that kernel arguments depend on, for use when there is no node. */
struct kargs_need {
	const char *key; /* the key to leave out then; "": none; NULL: the whole section */
	/* The node of the profile that depends on a fact that `node` lacks, or NULL. */
	const struct ynode *(*lacks)(const struct node *node, const struct ynode *section);
	const char *sentence; /* the missing fact and the remedy */
};
#define NO_MORE_NEEDS            \
	{                        \
		NULL, NULL, NULL \
	}

struct section_ctx {
	const struct root *root;
	const struct node *node;
	const struct profile *profile;
	const struct device_sets *sets;
	const struct kargs *kargs;     /* for emit(): those of all sections */
	const struct section *section; /* for emit(): the one that emits */
};

struct section {
	const char *name; /* its key in a profile */
	const struct spec *spec;
	const char *help; /* a sentence, as in struct field */
	enum key_class class;
	/*
	 * The default faults of a change that does not hold, and of one that could not be looked at
	 * or set. A change may name its own.
	 */
	enum fault differs, failed;
	/*
	 * Rules of the section, and rules of single sets over all sections (profile/rules.h); NULL:
	 * none. A drop-in on its own is checked with the former alone.
	 */
	const struct rule *rules;
	const struct set_rule *set_rules;
	/*
	 * Call emit() with an empty section if the profile lacks it, because other sections
	 * contribute to it (hugepages to kernel_args, devices to expect).
	 */
	bool always;
	/*
	 * Sets attributes that a driver creates for a function: the stage waits until udev has
	 * named the netdevs.
	 */
	bool awaits_netdevs;
	/* Emits the changes of all stages. node is never NULL and has passed the schema. */
	void (*emit)(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan);
	const struct settings *settings; /* for settings_emit() of sections/members.h; or NULL */
	/*
	 * A file outside /run that the section writes; removed when no profile is applied. Or NULL.
	 */
	const char *lasting;
	/*
	 * Adds the files that looking at its keys reads, for snapshots, as patterns of whole paths.
	 * Files that the survey captures anyway may be omitted. NULL: none.
	 */
	void (*files)(const struct section *section, struct strv *ret);
	/*
	 * Adds the kernel arguments that the section needs; kernel_args collects them. NULL: none.
	 */
	int (*kargs)(const struct section_ctx *ctx, const struct ynode *node, struct kargs *wanted,
		     struct err *err);
	const struct kargs_need *needs; /* of kargs, ended by NO_MORE_NEEDS; NULL: none */
};

/*
 * The first line of each file that a section writes; takes the profile's name. The text stays as it
 * is: a node that is upgraded would find its files of this boot changed.
 */
#define FILE_HEADER "# Written by railhead for profile %s; made anew at each boot.\n"

extern const struct section *const sections[]; /* NULL-terminated, in the order of emission */

/* The files of all sections, as section.files. */
void sections_files(struct strv *ret);
const struct section *section_find(const char *name); /* NULL: no such section */
/* Whether the section's keys are names of device sets. */
bool section_is_per_set(const struct section *s);
