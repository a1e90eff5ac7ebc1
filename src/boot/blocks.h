/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GRUB environment blocks other than railhead.env, in which other programs keep boot counters
 * (counters.h), and RAUC's configuration, which may name such a block.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "sys/root.h"

struct block {
	char *path; /* for people: "/boot/grub/grubenv", "ESP:/EFI/BOOT/grubenv" */
	char *at;   /* mount point of its file system; NULL: the EFI system partition */
	char *name; /* path below the mount point */
	char *text; /* len bytes as read, and a NUL */
	size_t len;
	bool raucs; /* RAUC's configuration names this block */
};

struct blocks {
	VEC(struct block) list;
	char *trouble; /* the name of a block that exists but can't be read, and why; or NULL */
};

/*
 * Adds the blocks below the directory `top`, which is the top of /boot (at: "/boot") or of the EFI
 * system partition (at: NULL). shown: the name of top for people. Symbolic links are skipped,
 * because their targets are read under their own names. Absent blocks are skipped without an error.
 */
void blocks_read(int top, const char *at, const char *shown, struct blocks *b);
/*
 * Adds the block that RAUC's configuration calls `path`: `name` below top, which is mounted at
 * `at`.
 */
void blocks_read_raucs(int top, const char *at, const char *name, const char *path,
		       struct blocks *b);
void block_free(struct block *b);
void blocks_free(struct blocks *b);

/* RAUC's system.conf; all members are NULL if the file is absent. */
struct rauc_conf {
	char *path;
	char *bootloader; /* "grub", "efi", ...; NULL: the key is absent */
	char *grubenv;	  /* an absolute path; NULL: the key is absent */
};

void rauc_conf_read(const struct root *root, struct rauc_conf *ret);
void rauc_conf_free(struct rauc_conf *c);
#define cleanup_rauc_conf __attribute__((__cleanup__(rauc_conf_free)))
