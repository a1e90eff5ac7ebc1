/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of boots that others keep. An updater arms one for a new system, the boot loader counts
 * each boot, and the updater disarms it once the system has proven well. A reboot by railhead in
 * between uses up an attempt, and may end in the system from before the update. Read in:
 *
 *  - RAUC: contrib/grub.conf, src/bootloaders/{grub,efi}.c. GRUB boots the first slot X of ORDER
 *    with X_OK=1 and X_TRY=0, and sets X_TRY=1 in each boot, not only in an update's first;
 *    `rauc status mark-good` clears it. With the backend efi BootNext boots a new slot, which
 *    comes first in BootOrder once it is marked good.
 *  - greenboot: grub2/08_greenboot.cfg. GRUB counts boot_counter down while boot_success=0.
 *    boot_success alone, by which Fedora's GRUB hides its menu, counts nothing; boot_indeterminate
 *    and Ubuntu's recordfail neither.
 *  - Mender: grub-mender-grubenv, 04_mender_setup_env_functions_grub.cfg. With upgrade_available=1
 *    the second boot goes back. It has two blocks of its own.
 *  - Ubuntu Core: snapd's grub.cfg, kernel_status.
 *  - systemd's Automatic Boot Assessment: LoaderBootCountPath, which stays for the whole boot.
 *
 * railhead understands RAUC's counters in GRUB's environment. It gives the attempt of this boot
 * back, because the boot that a trial needs must come to the same slot. An update thereby gets at
 * most one more boot for each trial, and trials are bounded (trial.h). A trial that dies has used
 * up the attempt, so that GRUB boots another slot: without one there is no trial. With any other
 * counter that is armed railhead makes no reboot.
 */
#pragma once

#include "boot/blocks.h"

struct counters {
	/* Which one is armed, where and in what state: a main clause without full stop; or NULL. */
	char *armed;
	/* The byte that gives an attempt back, '1' now and '0' then; block NULL: none is due. */
	struct block *block; /* one of those that were judged */
	size_t offset;
	char *what; /* for people: "slot A (A_TRY=1 in /boot/grub/grubenv)" */
};

/* Reads EFI variables and RAUC's configuration below root; the rest is in its arguments. */
void counters_judge(const struct root *root, struct blocks *b, const char *cmdline,
		    struct counters *ret);
void counters_free(struct counters *c);
