/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * railhead.env: read strictly, written in place. See env_layout.h.
 *
 * GRUB writes two of its bytes: the selector of a trial, and the count of begun boots. railhead
 * writes the rest, each piece durably before the next one, in an order (env_store()) in which a
 * power cut between any two leaves a file that means the state before or the state after.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "kargs/env_layout.h"
#include "sys/root.h"

struct boot_env {
	char good;			 /* 'a', 'b' or ENV_NONE */
	char try_;			 /* 'a', 'b', ENV_TAKEN or ENV_NONE */
	char begun;			 /* '0' to '2', or ENV_NONE: not counted */
	unsigned int reboots;		 /* 0..9 */
	char slot[2][ENV_SLOT_SIZE + 1]; /* without padding; "": a slot without args */
};

/* 'a' or 'b' to 0 or 1; -1 for anything else. */
int env_slot_index(char slot);
/* The slot that does not boot by default: the next args go there. */
char env_free_slot(const struct boot_env *env);
/* The slot that the next boot takes ('a', 'b' or ENV_NONE): the armed slot, else the good slot. */
char env_next_slot(const struct boot_env *env);
/* The text of a slot; "" for ENV_NONE. */
const char *env_slot(const struct boot_env *env, char slot);
/* Replaces the text of a slot, which must fit. */
void env_set_slot(struct boot_env *env, char slot, const char *text);

/*
 * An empty file: no slot has args, but slot a is good, so that GRUB's mark on the line proves that
 * GRUB read it.
 */
void env_init(struct boot_env *ret);
void env_render(const struct boot_env *env, char ret[ENV_SIZE]);
/* Writes the sums of the values into a file, as env_render() does at the end. */
void env_seal(char buf[ENV_SIZE]);
/*
 * 0: *ret has the meaning of the file. A slot that neither boots nor is armed, and whose text does
 * not match its sum, is empty: a power cut came while it was written.
 * 1: an earlier railhead wrote the file; *ret has its good args, without any trial.
 * -EBADMSG: damaged; *err has the place. *ret is as after env_init(), but for the slots, which have
 * what GRUB may have passed to this boot.
 */
int env_parse(const char *buf, size_t len, struct boot_env *ret, struct err *err);

/*
 * Reads the file in a directory. As env_parse(), and -ENOENT: no such file, dirfd is -1, or the
 * file is empty, because a power cut can leave a new name with an empty file on vfat.
 */
int env_read(int dirfd, struct boot_env *ret, struct err *err);
/* Makes the file, or replaces one that is empty, damaged or earlier; see machine_create_durable().
 */
int env_create(const struct root *root, int dirfd, const struct boot_env *env, struct err *err);
/*
 * Overwrites the pieces in which the file differs from env: a trial is disarmed before a slot
 * changes, a slot changes before it is selected, and a slot that was selected changes last. Writes
 * nothing if nothing differs. Fails if the file is absent, damaged or earlier: env_create().
 */
int env_store(int dirfd, const struct boot_env *env, struct err *err);
