/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The menu entries of /boot/loader/entries (https://uapi-group.org/specifications/specs/
 * boot_loader_specification/), read as GRUB's blscfg command reads them (grub-core/commands/
 * blscfg.c of Fedora and RHEL, blsuki.c of GRUB 2.14):
 *
 *  - it stops at the first line without a value, so at an empty one;
 *  - only the first `options` line counts; without one Fedora's takes $default_kernelopts;
 *  - `$name` in it is replaced, `${name}` is not; "\$name" is no variable;
 *  - on RHEL 8 options begin with $kernelopts, which is in grubenv or set in grub.cfg; what
 *    it holds is expanded again when the entry is booted.
 *
 * grubby and kernel-install make new options from /proc/cmdline: railhead's arguments are
 * then in the entry as text, "flattened", and stay there for ever. The marker railhead.slot=
 * behind them tells.
 */
#pragma once

#include <stdbool.h>

#include "base/vec.h"
#include "boot/env.h"

enum { BLS_FILE_MAX = 65536 };

struct bls_entry {
	char *name; /* of the file: "x.conf" */
	char *text; /* NULL: it can't be read */
};

struct bls_entries {
	struct bls_entry *v;
	size_t n;
	size_t cap;
};

/*
 * The entries below the directory `boot`, but for rescue entries, in the order of their
 * names. What is no directory, or empty, gives none.
 */
void bls_read(int boot, struct bls_entries *ret);
void bls_free(struct bls_entries *l);

/*
 * Whether a file of that name is an entry that counts: rescue entries (dracut's
 * 51-dracut-rescue.install: MACHINEID-0-rescue.conf) must boot without us.
 */
bool bls_counts(const char *name);

/*
 * Whether Fedora's and RHEL's 20-grub.install wrote it, or somebody for GRUB: it has a key
 * grub_users, grub_class or grub_arg. Others are systemd-boot's, which expands no variable.
 */
bool bls_is_grub(const char *text);

enum bls_state {
	BLS_TAKES,	     /* $railhead_kargs is among what GRUB passes to the kernel */
	BLS_LACKS,	     /* it is not */
	BLS_FLAT,	     /* railhead's arguments are in it as text */
	BLS_FLAT_KERNELOPTS, /* ... in $kernelopts, which it takes */
	BLS_NO_OPTIONS,	     /* no options line that GRUB would see */
};

/* kernelopts: the value of that variable, or NULL. */
enum bls_state bls_judge(const char *text, const char *kernelopts);
/* The same for the text of one value: options, kernelopts, the end of a `linux` line. */
enum bls_state bls_judge_options(const char *options, const char *kernelopts);

/* What became of an entry. */
struct bls_mended {
	char *text;   /* the whole new file */
	char *taken;  /* the words taken out, with one blank between them; or "" */
	bool added;   /* $railhead_kargs was put in */
	bool unknown; /* a slot's marker was there, and what the slot gave is not known */
};

/*
 * Puts right what options lines hold: takes out railhead's arguments that are there as text,
 * and $railhead_kargs everywhere but once in the first line. What was railhead's is known by
 * where it stands: before the marker railhead.slot=X what slot X of env has, in one piece or,
 * if something has changed, each word once, nearest first; behind railhead.trial= what the
 * trial adds. Every other word stays, and every other line byte by byte.
 *
 * env: NULL if there is none to be read. False: nothing is to be done, *ret is untouched; so
 * for an entry without options, where a new line would take $default_kernelopts away, and
 * where a quote is open.
 */
bool bls_mend(const char *text, const struct boot_env *env, const char *kernelopts,
	      struct bls_mended *ret);
/* The same, and $railhead_kargs goes too: nothing of railhead's is left. */
bool bls_clear(const char *text, const struct boot_env *env, struct bls_mended *ret);
void bls_mended_free(struct bls_mended *m);
#define cleanup_bls_mended __attribute__((__cleanup__(bls_mended_free)))
