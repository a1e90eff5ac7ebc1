/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Boots that belong to other programs: by a counter, or because they have work for the next boot.
 * An updater arms a counter for a new system, the boot loader
 * counts each boot, and the updater disarms the counter once the new system has proven itself. A
 * reboot by railhead in between uses up an attempt, and may boot the system from before the update.
 * Sources:
 *
 *  - RAUC: contrib/grub.conf, src/bootloaders/{grub,efi}.c. GRUB boots the first slot X of ORDER
 *    with X_OK=1 and X_TRY=0, and sets X_TRY=1 in each boot, not only in the first boot of an
 *    update; `rauc status mark-good` clears it. The efi backend boots a new slot by BootNext; once
 *    marked good, the slot comes first in BootOrder.
 *  - greenboot: grub2/08_greenboot.cfg. GRUB counts boot_counter down while boot_success=0.
 *    boot_success alone, by which Fedora's GRUB hides its menu, counts nothing; neither do
 *    boot_indeterminate and Ubuntu's recordfail.
 *  - Mender: grub-mender-grubenv, 04_mender_setup_env_functions_grub.cfg. With upgrade_available=1
 *    the second boot goes back. Mender has two blocks of its own.
 *  - Ubuntu Core: snapd's grub.cfg, kernel_status.
 *  - systemd's Automatic Boot Assessment: LoaderBootCountPath, which stays for the whole boot.
 *  - systemd.offline-updates(7): while /system-update or /etc/system-update exists, the next boot
 *    goes to system-update.target, which has no gate; a reboot cuts the update.
 *  - selinux-autorelabel-generator: the same for selinux-autorelabel.target, where SELinux is on
 * and
 *    /.autorelabel exists or the line has autorelabel=1.
 *
 * railhead understands RAUC's counters in GRUB's environment. It gives this boot's attempt back,
 * because the boot that a trial needs must come to the same slot. Each trial thus gives an update
 * at most one more boot, and the number of trials is limited (trial.h). A trial that dies has used
 * up the attempt, and GRUB boots another slot; railhead makes no trial if there is no other slot.
 * While any other counter is armed, railhead makes no reboot.
 */
#pragma once

#include "boot/blocks.h"

struct counters {
	/*
	 * Which counter is armed, where and in which state, or which work waits for the next boot:
	 * a main clause without full stop; or NULL.
	 */
	char *armed;
	/*
	 * The byte that gives an attempt back, '1' now and '0' afterwards; block NULL: no attempt
	 * is due.
	 */
	struct block *block; /* one of the judged blocks */
	size_t offset;
	char *what; /* for people: "slot A (A_TRY=1 in /boot/grub/grubenv)" */
};

/* Reads EFI variables and RAUC's configuration below root; all other input is in the arguments. */
void counters_judge(const struct root *root, struct blocks *b, const char *cmdline,
		    struct counters *ret);
void counters_free(struct counters *c);
