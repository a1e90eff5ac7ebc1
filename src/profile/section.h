/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A section is one top-level key of a profile: what may stand below it, and what it makes of a
 * machine. Each is a file of the room sections/ (gate: of checks/) that exports one const struct,
 * and a line in that room's table.c. The linker brings the table here: this room walks all sections
 * and knows none.
 *
 * A section reads topology and emits changes. It never writes, and never reads a tunable value.
 */
#pragma once

#include "base/fault.h"
#include "profile/schema.h"

struct kargs;
struct plan;
struct rule;
struct set_rule;

struct node;

/* What kernel arguments depend on that a machine says, for when there is none. */
struct kargs_need {
	const char *key; /* left out then, "": nothing is; NULL: the whole section */
	/* What asks for something that the node does not say, or NULL. */
	const struct ynode *(*lacks)(const struct node *node, const struct ynode *section);
	const char *sentence; /* that, and what to do */
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
};

struct section {
	const char *name; /* its key in a profile */
	const struct spec *spec;
	const char *help; /* a sentence, as that of a field */
	enum key_class class;
	/*
	 * Which fault a change of it is that does not hold, and that could not be looked at or set,
	 * where the change does not say so itself.
	 */
	enum fault differs, failed;
	/* Its contradictions, of profile/rules.h, and those of what all sections say of a set.
	 * NULL: none. Those of sets are not asked of a drop-in by itself. */
	const struct rule *rules;
	const struct set_rule *set_rules;
	/* emit() is called with an empty section where the profile has none: other sections
	 * give it work too (hugepages to kernel_args, devices to expect). */
	bool always;
	/* Sets what a driver makes of a function: the stage waits for netdevs that udev named. */
	bool awaits_netdevs;
	/*
	 * Emits the changes of all stages. node is never NULL and was checked by the schema.
	 */
	int (*emit)(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan,
		    struct err *err);
	/* A file beyond /run that the section writes: gone where no profile is applied. Or NULL. */
	const char *lasting;
	/*
	 * Adds the files that looks at its keys read, for snapshots: patterns of whole paths. What
	 * the survey captures anyway need not be among them. NULL: none.
	 */
	void (*files)(struct strv *ret);
	/* Kernel arguments that the section needs; kernel_args gathers them. NULL: none. */
	int (*kargs)(const struct section_ctx *ctx, const struct ynode *node, struct kargs *wanted,
		     struct err *err);
	const struct kargs_need *needs; /* of kargs, ended by NO_MORE_NEEDS; NULL: none */
};

/* The first line of a file that a section writes, with the name of the profile. */
#define FILE_HEADER "# Written by railhead for profile %s; rewritten at each boot.\n"

extern const struct section *const sections[]; /* NULL-terminated, in the order of emission */

/* The same of all sections. */
void sections_files(struct strv *ret);
const struct section *section_find(const char *name); /* NULL: there is none */
/* Whether its keys are names of device sets. */
bool section_is_per_set(const struct section *s);
