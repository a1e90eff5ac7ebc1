/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles: found in the search path, parsed, checked against the schema, merged with their bases
 * and drop-ins, and matched to a node. The search path is /etc/railhead/profiles,
 * /run/railhead/profiles, /usr/lib/railhead/profiles. The first file of a name wins;
 * /etc/railhead/profiles/NAME.d/x.yaml are merged into NAME in name order.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/sha256.h"
#include "node/node.h"
#include "profile/diag.h"
#include "profile/place.h"
#include "sys/root.h"

struct ynode; /* of profile/yaml.h */

/* The schema numbers that this railhead reads. */
enum { SCHEMA_MIN = 1, SCHEMA_MAX = 1 };

/* A value that another document has replaced or deleted during merging. */
struct shadow {
	char *key;	 /* "sysctl.vm.swappiness"; for a list item the key of the list */
	char *value;	 /* on one line */
	struct place at; /* where the value was written */
	struct place by; /* where it was replaced or deleted */
	bool deleted;
};

struct shadows {
	VEC(struct shadow)
	list; /* in the order of merging: the last entry of a key was the last value in force */
};

struct profile {
	char *name;
	char *version; /* "" if not given */
	char *file;    /* path of its own document */
	bool abstract;
	int priority;		 /* the highest wins among profiles that match; default 0 */
	struct strv ancestors;	 /* names of all bases, the nearest first */
	char digest[SHA256_HEX]; /* of the resolved, canonical profile */
	struct ynode *doc; /* resolved: bases and drop-ins are merged in; the keys schema, name,
			      extends and abstract remain. Checked by the schema, so readers need
			      not check types again. */
	VEC(struct selector) devices; /* parsed devices:, in document order */
	struct shadows shadows;
	struct strv files;    /* all files that were read (places point into these names) */
	struct strv unmerged; /* drop-ins among files whose match: fails, or needs a node */
};

/*
 * "NAME VERSION": what changes when an author releases the profile again. Without a version, the
 * first digits of its digest. The caller frees.
 */
char *profile_label(const struct profile *p);

/*
 * Reads a profile that a person names: by a file, with the caller's own path (as for open(2)), or
 * by a name, which is looked up in the search path below root. Bases are looked up in the file's
 * own directory, then in the search path. Errors and warnings go to diags; the function fails with
 * -EINVAL if diags gained an error, or with the errno of opening the file. Files below root must be
 * trusted as in a boot (sys/trust.h), a file that a person names need not. node, if not NULL:
 * drop-ins with a match and rules that depend on the machine are judged against it.
 */
int profile_load_named(const struct root *root, const char *arg, const struct node *node,
		       struct profile **ret, struct diags *diags, struct err *err);
/*
 * As profile_load_named(), for a file that an author checks. Bases that are not in the file's
 * directory are looked up in the directories bases_in (may be NULL), then in the search path. path
 * "-" is standard input: its bases are in the current directory, and its name is the value of its
 * name:.
 */
int profile_load_checked(const struct root *root, const char *path, const struct strv *bases_in,
			 const struct node *node, struct profile **ret, struct diags *diags,
			 struct err *err);
/* The same for a text without bases and drop-ins. path: what places in the text are called by. */
int profile_check_text(const struct root *root, const char *path, const char *text,
		       struct profile **ret, struct diags *diags);
/*
 * Checks the valid profile p once with each drop-in that was not merged: the result for the
 * machines that the drop-in's match: selects.
 */
void profile_check_unmerged(const struct root *root, const struct profile *p, bool below,
			    const struct strv *bases_in, struct diags *diags);
/* Whether the file's directory is named NAME.d, which makes the file a drop-in of profile NAME. */
bool profile_is_dropin(const char *path);
/*
 * Checks a drop-in merged into its profile, which is looked up in the parent of the drop-in's
 * directory, then in the search path. Without a valid profile the drop-in is checked alone. *target
 * is the profile's file or NULL; the caller frees it. Fails as profile_load_named() does.
 */
int profile_check_dropin(const struct root *root, const char *path, const struct strv *bases_in,
			 char **target, struct diags *diags, struct err *err);
void profile_free(struct profile *p);
#define cleanup_profile __attribute__((__cleanup__(profile_freep)))
static inline void profile_freep(struct profile **p)
{
	profile_free(*p);
}

enum { GATE_WAIT_S = 600, GATE_BUDGET_S = 60 }; /* defaults of a profile without these keys */

/* The top-level section (such as "sriov"), or NULL. */
struct ynode *profile_section(const struct profile *p, const char *section);

/* A condition of match:, and the node's value for it. */
struct condition {
	char *key;    /* "dmi.sys_vendor", "arch", "pci" */
	char *wanted; /* the profile's pattern or id */
	char *found;  /* the node's value, as one line; "" if it has none */
	bool holds;
};

struct conditions {
	VEC(struct condition) list;
};

/*
 * Whether match: has a condition and all its conditions hold. Each is added to ret (may be NULL).
 */
bool conditions_hold(const struct node *node, const struct ynode *match, struct conditions *ret);
void conditions_free(struct conditions *c);

/* One candidate of the search path, and the result for it. */
struct candidate {
	char *name;
	char *path;
	struct profile *profile; /* NULL: unreadable (see diags), or not loaded */
	struct diags diags;
	bool matches;
	bool chosen;
	struct conditions conditions; /* each condition of match:; empty if match: is unreadable */
	char *fate; /* the other reason that decided: "a base of b, which matches too"; or NULL */
};

enum match_result {
	MATCH_ONE,     /* match.chosen */
	MATCH_NONE,    /* no profile fits this node */
	MATCH_TWO,     /* several match; none descends from the others or has a higher priority */
	MATCH_INVALID, /* the chosen profile is invalid, or a match: is unreadable */
};

struct match {
	enum match_result result;
	VEC(struct candidate) candidates; /* sorted by name */
	struct candidate *chosen;	  /* set for MATCH_ONE, and for MATCH_INVALID if known */
	struct err why;			  /* the reason of MATCH_NONE, _TWO, _INVALID */
};

/*
 * Needs no node: adds an error for each profile of the search path that can never be chosen,
 * because another profile that is not one of its bases, and whose priority is not lower, matches
 * all its machines.
 */
void match_ties(const struct root *root, struct diags *diags);
/*
 * Finds the profile for node in the search path below root, which may differ from the root that the
 * node was surveyed from. pin: the value of railhead.profile= on the kernel command line, or NULL.
 * all: for a comparison, load also the profiles that a condition of their own file rules out; these
 * have no part in the result, whatever errors they have. Fails only if the search fails (an
 * unreadable directory).
 */
int match_profiles(const struct root *root, const struct node *node, const char *pin, bool all,
		   struct match *ret, struct err *err);
/*
 * As match_profiles(), with the caller's files as the only candidates, in their order. Drop-ins,
 * and bases that are not in a file's directory, are looked up below root.
 */
void match_files(const struct root *root, const struct node *node, char *const *paths, size_t n,
		 bool all, struct match *ret);
void match_free(struct match *m);
