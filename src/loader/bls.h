/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The menu entries of /boot/loader/entries (https://uapi-group.org/specifications/specs/
 * boot_loader_specification/), read as GRUB's blscfg command reads them (grub-core/commands/
 * blscfg.c of Fedora and RHEL, blsuki.c of GRUB 2.14):
 *
 *  - GRUB stops at the first line without a value, which includes an empty line.
 *  - Only the first `options` line counts. Without an options line Fedora's GRUB uses
 *    $default_kernelopts.
 *  - GRUB replaces `$name` in options, but not `${name}`; "\$name" is plain text.
 *  - On RHEL 8 options begin with $kernelopts, which is in grubenv or set in grub.cfg. GRUB expands
 *    its value again when the entry boots.
 *
 * grubby and kernel-install make new options from /proc/cmdline. The entry then holds railhead's
 * arguments as text ("flattened"), and keeps them for ever. The marker railhead.slot= behind them
 * identifies them.
 */
#pragma once

#include <stdbool.h>

#include "base/vec.h"
#include "loader/env.h"

#define BLS_DIR "loader/entries" /* below /boot */

enum { BLS_FILE_MAX = 65536 };

struct bls_entry {
	char *name; /* file name: "x.conf" */
	char *text; /* NULL: the file can't be read */
};

struct bls_entries {
	struct bls_entry *v;
	size_t n;
	size_t cap;
};

/*
 * Reads the entries below the directory `boot` in the order of their names, without rescue entries.
 * *ret is empty if there is no such directory, or no entry in it.
 */
void bls_read(int boot, struct bls_entries *ret);
void bls_free(struct bls_entries *l);

/*
 * Whether a file of that name is an entry that railhead handles. Rescue entries (dracut's
 * 51-dracut-rescue.install: MACHINEID-0-rescue.conf) are left out, because they must boot without
 * us.
 */
bool bls_counts(const char *name);

/*
 * Whether the entry was written for GRUB, by 20-grub.install of Fedora and RHEL or by hand: it has
 * a key grub_users, grub_class or grub_arg. Other entries are systemd-boot's, which expands no
 * variables.
 */
bool bls_is_grub(const char *text);

enum bls_state {
	BLS_TAKES,	     /* GRUB passes $railhead_kargs to the kernel */
	BLS_LACKS,	     /* $railhead_kargs is missing there */
	BLS_FLAT,	     /* the entry has railhead's arguments as text */
	BLS_FLAT_KERNELOPTS, /* $kernelopts, which the entry uses, has them as text */
	BLS_NO_OPTIONS,	     /* the entry has no options line that GRUB would see */
};

/* kernelopts: the value of the variable $kernelopts, or NULL. */
enum bls_state bls_judge(const char *text, const char *kernelopts);
/* The same for the text of a single value: options, kernelopts, the end of a `linux` line. */
enum bls_state bls_judge_options(const char *options, const char *kernelopts);

/* The result of mending one entry. */
struct bls_mended {
	char *text;   /* the whole new file */
	char *taken;  /* the removed words, separated by single blanks; or "" */
	bool added;   /* $railhead_kargs was added */
	bool unknown; /* a slot's marker was there, but the args of that slot are unknown */
};

/*
 * Mends the options lines: removes railhead's arguments that are there as text, and all but one
 * $railhead_kargs, which goes into the first line. Their place identifies railhead's arguments:
 *
 *  - between the markers railhead.args and railhead.slot=X; of an older snippet, which had no first
 *    marker, before the second: the args of slot X in env, as one run of words or, if the run has
 *    changed, each word once, nearest first;
 *  - behind railhead.trial=, the words that a trial adds.
 *
 * All other words stay, and all other lines stay byte by byte.
 *
 * env: NULL if there is none to read. False: the entry needs no change, and *ret is untouched. This
 * includes an entry without options, because a new line would override $default_kernelopts, and an
 * entry with an open quote.
 */
bool bls_mend(const char *text, const struct boot_env *env, const char *kernelopts,
	      struct bls_mended *ret);
/* The same, and removes $railhead_kargs too, so that nothing of railhead's is left. */
bool bls_clear(const char *text, const struct boot_env *env, struct bls_mended *ret);
void bls_mended_free(struct bls_mended *m);
#define cleanup_bls_mended __attribute__((__cleanup__(bls_mended_free)))
