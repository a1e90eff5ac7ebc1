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
	struct strv files;	      /* all files read for it (places point in here) */
};

/*
 * Reads one file as a profile. path is the caller's own (as open(2) takes it), not below
 * root; profile_find() in search.h gives such a path for a name. Bases are looked for in the
 * file's own directory, then in the search path below root. Problems go to diags (errors and
 * warnings), whose return value says nothing of them: the function fails (-EINVAL) iff diags has
 * got an error, or with the errno of opening the file. `trusted_only`: refuse files that are not
 * owned by root or are writable by others (boot; not `check` and not --profile). When node is not
 * NULL, drop-ins with a match of their own and rules that need the machine are judged against it.
 */
int profile_load(const struct root *root, const char *path, bool trusted_only,
		 const struct node *node, struct profile **ret, struct diags *diags,
		 struct err *err);
void profile_free(struct profile *p);
#define cleanup_profile __attribute__((__cleanup__(profile_freep)))
static inline void profile_freep(struct profile **p)
{
	profile_free(*p);
}

/* The top-level section ("sriov"), or NULL. */
struct ynode *profile_section(const struct profile *p, const char *section);

/* One candidate of the search path and how it fared. */
struct candidate {
	char *name;
	char *path;
	struct profile *profile; /* NULL: it could not be read (see diags) */
	struct diags diags;
	bool matches;
	bool chosen;
	struct strv
		reasons; /* a line per condition: "dmi.sys_vendor: wanted X, found Y" + "ok"/"no" */
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
 * Finds the profile for node. pin: from railhead.profile= on the kernel command line, or
 * NULL. Fails only where the search itself does (an unreadable directory).
 */
int match_profiles(const struct root *root, const struct node *node, const char *pin,
		   struct match *ret, struct err *err);
void match_free(struct match *m);
