/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Boots that belong to other programs: by a counter, or because they have work for the next boot.
 * An updater arms a counter for a new system, the boot loader
 * counts each boot, and the updater disarms the counter once the new system has proven itself. A
 * reboot by railhead in between uses up an attempt, and may boot the system from before the update,
 * so no trial is armed while a counter is. railhead writes nothing into another program's files.
 *
 * Counters in GRUB's environment blocks are the rows of a table in counters.c, which names their
 * sources. The others are:
 *
 *  - RAUC (contrib/grub.conf, src/bootloaders/grub.c): GRUB boots the first slot X of ORDER with
 *    X_OK=1 and X_TRY=0, and sets X_TRY=1 in each boot, not only in the first boot of an update,
 *    until `rauc status mark-good`. At rest only while every slot is marked good and the slot that
 *    runs comes first: a trial that dies uses up the attempt, and GRUB then boots the next slot.
 *    Other boot loaders of RAUC's are not read, and count as armed, except noop.
 *  - systemd's Automatic Boot Assessment: the EFI variable LoaderBootCountPath, which stays for the
 *    whole boot.
 *  - systemd.offline-updates(7): while /system-update or /etc/system-update exists, the next boot
 *    goes to system-update.target, which has no gate; a reboot cuts the update.
 *  - selinux-autorelabel-generator: the same for selinux-autorelabel.target, where SELinux is
 *    on and /.autorelabel exists or the line has autorelabel=1.
 *
 * A block that exists and can't be read counts as armed.
 */
#pragma once

#include <stdbool.h>

#include "sys/root.h"

struct counters {
	char *armed; /* the first counter or work that was found, as a clause with its remedy; or
			NULL */
	bool rauc;   /* a block of RAUC's was found */
};

/*
 * Looks at the blocks below the directory `top`, which is the top of /boot or of the EFI system
 * partition. shown: the name of top for people. Symbolic links are skipped, because their targets
 * are read under their own names.
 */
void counters_read_blocks(const struct root *root, int top, const char *shown, struct counters *c);
/*
 * Looks at the places that are not on these file systems, too: EFI variables and RAUC's
 * configuration, with the block that it names, and work of the next boot. Returns why no trial may
 * be armed; the caller frees it. NULL: no counter is armed.
 */
char *counters_why_held(const struct root *root, struct counters *c);
void counters_free(struct counters *c);
