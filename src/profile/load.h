/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: loading of candidates that may prove invalid, for match.c. */
#pragma once

#include "profile/profile.h"

enum load_flags {
	LOAD_BELOW_ROOT = 1 << 0, /* path is below the root; else the caller's own */
	LOAD_NO_DROPINS = 1 << 1,
};

/*
 * Reads and checks a profile with its bases and drop-ins. Files below the root must be trusted
 * (trust_of_reads()). Fails only if the file itself cannot be opened. *ret may have errors, which
 * are in diags. Its doc is NULL if the document or a base
 * cannot be read, because it is then unknown what the profile would match.
 */
int load_profile(const struct root *root, const char *path, unsigned int flags,
		 const struct node *node, struct profile **ret, struct diags *diags,
		 struct err *err);

/*
 * As load_profile(), without a node and drop-ins. Once the file alone is read and checked as
 * written, enough(own, arg) is asked: if that returns true, *ret has this document, without bases
 * and rules.
 */
int load_candidate(const struct root *root, const char *path, unsigned int flags,
		   bool (*enough)(const struct ynode *own, void *arg), void *arg,
		   struct profile **ret, struct diags *diags, struct err *err);

/*
 * Opens a file of YAML below root for reading, if it is trusted: -EPERM, with the reason in diags,
 * if it is not.
 */
int open_trusted(const struct root *root, const char *file, struct diags *diags);

/* Parses devices: of p into p->devices. */
void selectors_fill(struct profile *p);
void selectors_free(struct profile *p);

/* A place where a section, check or pair of p names a device set; the set may not exist. */
struct set_reference {
	const struct ynode *at;
	char *key;	 /* "gate.checks.links.on" */
	const char *set; /* points into at */
	bool vfs;	 /* "vfs of SET" */
};

struct set_references {
	VEC(struct set_reference) list;
};

/* All references, in the order of sections. Places that should hold text and do not are skipped. */
void set_references(const struct profile *p, struct set_references *ret);
void set_references_free(struct set_references *refs);

/*
 * Checks a resolved profile with the tables of rules; node may be NULL. A profile without a name is
 * a drop-in on its own: rules with `whole` set are skipped.
 */
void rules_check(const struct profile *p, const struct node *node, struct diags *diags);
