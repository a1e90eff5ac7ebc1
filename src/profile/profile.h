/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles: found in the search path, parsed, checked against the schema, merged with
 * their bases and drop-ins, matched to a node. The search path is /etc/railhead/profiles,
 * /run/railhead/profiles, /usr/lib/railhead/profiles: the first file of a name wins;
 * /etc/railhead/profiles/NAME.d/x.yaml are merged into NAME in name order.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/sha256.h"
#include "node/node.h"
#include "profile/diag.h"
#include "profile/yaml.h"
#include "sys/root.h"

/* The schema numbers that this railhead reads. */
enum { SCHEMA_MIN = 1, SCHEMA_MAX = 1 };

/* A value that a document laid over another one has replaced or deleted. */
struct shadow {
	char *key;	 /* "sysctl.vm.swappiness"; of an item of a list that of the list */
	char *value;	 /* on one line */
	struct place at; /* of the value */
	struct place by; /* of what replaced or deleted it */
	bool deleted;
};

struct shadows {
	VEC(struct shadow)
	list; /* in the order of merging: the last one of a key was in force last */
};

struct profile {
	char *name;
	char *version; /* "" if not said */
	char *file;    /* the path of its own document */
	bool abstract;
	int priority;		      /* higher wins among profiles that match; default 0 */
	struct strv ancestors;	      /* names of all bases, nearest first */
	char digest[SHA256_HEX];      /* of the resolved, canonical profile */
	struct ynode *doc;	      /* resolved: bases and drop-ins merged in, keys schema, name,
					 extends and abstract still there. Checked by the schema, so
					 that readers need not check types again. */
	VEC(struct selector) devices; /* from devices:, in document order */
	struct shadows shadows;
	struct strv files;    /* all files read for it (places point in here) */
	struct strv unmerged; /* those of them whose match: does not hold, or needs a node */
};

/*
 * Reads one file as a profile. path is the caller's own (as open(2) takes it), not below
 * root. Bases are looked for in the
 * file's own directory, then in the search path below root. Problems go to diags (errors and
 * warnings), whose return value says nothing of them: the function fails (-EINVAL) iff diags has
 * got an error, or with the errno of opening the file. `trusted_only`: refuse files that are not
 * owned by root or are writable by others (boot; not `check` and not --profile). When node is not
 * NULL, drop-ins with a match of their own and rules that need the machine are judged against it.
 */
int profile_load(const struct root *root, const char *path, bool trusted_only,
		 const struct node *node, struct profile **ret, struct diags *diags,
		 struct err *err);
/*
 * The same for what a person writes after --profile: a file, or a name, which is looked for
 * in the search path below root and trusted as a match there is.
 */
int profile_load_named(const struct root *root, const char *arg, const struct node *node,
		       struct profile **ret, struct diags *diags, struct err *err);
/*
 * profile_load() of a file that an author checks: bases that do not lie beside it are looked for in
 * the directories bases_in (may be NULL) before the search path. path "-" is standard input, whose
 * bases lie in the current directory, and whose name is what it says itself.
 */
int profile_load_checked(const struct root *root, const char *path, const struct strv *bases_in,
			 const struct node *node, struct profile **ret, struct diags *diags,
			 struct err *err);
/* The same of a text that has no bases and no drop-ins. */
int profile_check_text(const struct root *root, const char *text, struct profile **ret,
		       struct diags *diags);
/*
 * Judges p, which is valid, with each of its drop-ins that was not merged, one at a time: what the
 * machines get that match: it.
 */
void profile_check_unmerged(const struct root *root, const struct profile *p, bool below,
			    const struct strv *bases_in, struct diags *diags);
/* Whether a file's directory is named NAME.d: then it is a drop-in of profile NAME. */
bool profile_is_dropin(const char *path);
/*
 * Checks a drop-in laid over its profile, which is looked for beside the directory and in
 * the search path; if there is none, or it is invalid itself, by itself alone. *target is
 * the profile's file or NULL; the caller frees it. Fails as profile_load() does.
 */
int profile_check_dropin(const struct root *root, const char *path, const struct strv *bases_in,
			 char **target, struct diags *diags, struct err *err);
void profile_free(struct profile *p);
#define cleanup_profile __attribute__((__cleanup__(profile_freep)))
static inline void profile_freep(struct profile **p)
{
	profile_free(*p);
}

enum { GATE_WAIT_S = 600, GATE_BUDGET_S = 60 }; /* of a profile that says none */

/* The top-level section ("sriov"), or NULL. */
static inline struct ynode *profile_section(const struct profile *p, const char *section)
{
	return ynode_get(p->doc, section);
}

/* A condition of a match: and what the node has. */
struct condition {
	char *key;    /* "dmi.sys_vendor", "arch", "pci" */
	char *wanted; /* the profile's pattern or id */
	char *found;  /* what the node has, made one line; "" if nothing */
	bool holds;
};

struct conditions {
	VEC(struct condition) list;
};

/* Whether all conditions of a match: hold; each is added to ret (may be NULL). */
bool conditions_hold(const struct node *node, const struct ynode *match, struct conditions *ret);
void conditions_free(struct conditions *c);

/* One candidate of the search path and how it fared. */
struct candidate {
	char *name;
	char *path;
	struct profile *profile; /* NULL: it could not be read (see diags) */
	struct diags diags;
	bool matches;
	bool chosen;
	struct conditions conditions; /* each of its match:; none if that can't be read */
	char *fate; /* what decided besides them: "a base of b, which matches too"; or NULL */
};

enum match_result {
	MATCH_ONE,     /* ret->chosen */
	MATCH_NONE,    /* no profile fits this node */
	MATCH_TWO,     /* more than one, and neither descends from the other nor has priority */
	MATCH_INVALID, /* the chosen one is invalid, or one whose match can't be read */
};

struct match {
	enum match_result result;
	VEC(struct candidate) candidates; /* sorted by name */
	struct candidate *chosen;	  /* MATCH_ONE, and MATCH_INVALID where it is known */
	struct err why;			  /* a sentence for MATCH_NONE, _TWO, _INVALID */
};

/*
 * Without a node: an error for each profile of the search path that would never be chosen alone,
 * because whatever it matches another one that is no base of it, and of no lower priority, matches.
 */
void match_ties(const struct root *root, struct diags *diags);
/*
 * Finds the profile for node in the search path below root, which need not be the root that
 * the node was surveyed from. pin: from railhead.profile= on the kernel command line, or
 * NULL. Fails only where the search itself does (an unreadable directory).
 */
int match_profiles(const struct root *root, const struct node *node, const char *pin,
		   struct match *ret, struct err *err);
/*
 * The same with the caller's own files as the only candidates, in their order. root is
 * where the bases of a file are looked for that are not beside it, and drop-ins.
 */
void match_files(const struct root *root, const struct node *node, char *const *paths, size_t n,
		 struct match *ret);
void match_free(struct match *m);
