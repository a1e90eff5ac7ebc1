/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: how match.c reads candidates that may turn out to be invalid. */
#pragma once

#include "profile/profile.h"

enum load_flags {
	LOAD_BELOW_ROOT = 1 << 0, /* path is below the root; else the caller's own path */
	LOAD_ROOTS_ONLY = 1 << 1, /* only what root owns */
	LOAD_UNSHARED = 1 << 2,	  /* only what nobody but its owner can write */
	LOAD_NO_DROPINS = 1 << 3,
	LOAD_STDIN = 1 << 4, /* the path that standard input has in messages means that */
};

/* Which of them hold for the files of the search path below root. */
unsigned int load_trust(const struct root *root);

/*
 * Reads and judges all there is of a profile. Fails only if the file itself can't be opened.
 * *ret may be full of errors (diags tells); its doc is NULL if there is nothing to go by: a
 * document or base that can't be read, so that what it would match is unknown.
 */
int load_profile(const struct root *root, const char *path, unsigned int flags,
		 const struct node *node, struct profile **ret, struct diags *diags,
		 struct err *err);

/*
 * Whether fd is a regular file, and what the flags ask for (LOAD_ROOTS_ONLY, LOAD_UNSHARED).
 * If not, diags says why.
 */
bool file_is_good(int fd, const char *file, unsigned int flags, struct diags *diags);

/* The selectors of p's devices:, into p->devices. */
void selectors_fill(struct profile *p);
void selectors_free(struct profile *p);

/* A place where a section, check or pair of p names a device set, which may not exist. */
struct set_reference {
	const struct ynode *at;
	char *key;	 /* "gate.checks.links.on" */
	const char *set; /* points into at */
	bool vfs;	 /* "vfs of SET" */
};

struct set_references {
	VEC(struct set_reference) list;
};

/* All of them, in the order of sections; the places of p that hold no text are passed over. */
void set_references(const struct profile *p, struct set_references *ret);
void set_references_free(struct set_references *refs);

/*
 * Judges a resolved profile by the table of rules; node may be NULL. One without a name is a
 * drop-in by itself: rules that need the whole are left out.
 */
void rules_check(const struct profile *p, const struct node *node, struct diags *diags);
