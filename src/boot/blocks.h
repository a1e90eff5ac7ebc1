/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment blocks of GRUB's that are not ours, in which others keep what counts boots
 * (counters.h), and RAUC's configuration, which may name one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "sys/root.h"

struct block {
	char *path; /* for people: "/boot/grub/grubenv", "ESP:/EFI/BOOT/grubenv" */
	char *at;   /* where its file system is mounted; NULL: the EFI system partition */
	char *name; /* below that */
	char *text; /* len bytes as they are, and a NUL */
	size_t len;
	bool raucs; /* RAUC's configuration names it */
};

struct blocks {
	VEC(struct block) list;
	char *trouble; /* one that is there can't be read: which and why; or NULL */
};

/*
 * Adds the blocks below a directory that is the top of /boot (at: "/boot") or of the EFI system
 * partition (at: NULL). shown: its name for people. Symbolic links are not followed, because what
 * they lead to has a name of its own. Absent ones are no failure.
 */
void blocks_read(int top, const char *at, const char *shown, struct blocks *b);
/* Adds the one that RAUC's configuration calls path: `name` below top, which is mounted at `at`. */
void blocks_read_raucs(int top, const char *at, const char *name, const char *path,
		       struct blocks *b);
void block_free(struct block *b);
void blocks_free(struct blocks *b);

/* RAUC's system.conf: all are NULL where there is none. */
struct rauc_conf {
	char *path;
	char *bootloader; /* "grub", "efi", ...; NULL: the file does not say */
	char *grubenv;	  /* an absolute path; NULL: the file does not say */
};

void rauc_conf_read(const struct root *root, struct rauc_conf *ret);
void rauc_conf_free(struct rauc_conf *c);
#define cleanup_rauc_conf __attribute__((__cleanup__(rauc_conf_free)))
