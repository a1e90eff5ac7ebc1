/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where railhead.env lives, and whether GRUB will read it.
 *
 *  - BIOS: beside grub.cfg, in /boot/grub (Debian, Ubuntu) or /boot/grub2 (Fedora, RHEL).
 *  - EFI (sys/firmware/efi is there): in EFI/railhead/INSTALLATION on the ESP, with the name that
 *    grub.cfg has for the installation, so that several on one disk do not overwrite each other's.
 *    The ESP is what fstab mounts at /boot/efi, /efi or (vfat) /boot; else the ESP or XBOOTLDR
 *    partition of the disk that holds the root or /boot file system or that LoaderDevicePartUUID
 *    names: never that of another disk.
 *
 * A file system that is not mounted is mounted read-only, or read-write when `write` is
 * asked, without being attached anywhere (machine_mount_fd); one that is mounted read-only
 * is made writable and read-only again by bootpart_close(). Only one may be open at a time.
 * Below a root that is not live nothing is mounted: the files are looked for where they
 * would be.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "boot/blocks.h"
#include "sys/root.h"

enum loader {
	LOADER_NONE, /* args can't be brought to the next boot from here; see loader_why */
	LOADER_GRUB, /* grub.cfg carries our snippet and its variable */
};

struct bootpart {
	int dirfd;    /* the env file's directory; -1: there is none yet (env_read: -ENOENT) */
	char *path;   /* of the env file below the root ("/boot/grub/railhead.env") */
	char *device; /* "/dev/vda2", or NULL below a root that is not live */
	char *fstype; /* "ext4", or NULL */
	char *found;  /* how: "fstab: LABEL=boot on /boot", "ESP of the root disk" */
	bool efi;
	bool writable; /* it was opened for writing and can be */
	enum loader loader;
	char *loader_why; /* a sentence with the remedy, when LOADER_NONE */
	/*
	 * LOADER_NONE only because a menu entry that may boot does not take $railhead_kargs, or
	 * has our arguments as text: GRUB is there and reads our file. grubby makes such.
	 */
	bool entry_lacks_kargs;
	/*
	 * Why GRUB could not disarm a trial here (md, LVM, btrfs: save_env can't write
	 * there), or NULL. Then there is no trial and no automatic reboot.
	 */
	char *no_trial_why;
	char *remounted;      /* the mount point to make read-only again, or NULL */
	struct blocks blocks; /* of /boot, of the EFI system partition, and RAUC's */
};

/*
 * Finds the place and opens it. It is no failure that GRUB is not there: then loader is
 * LOADER_NONE, loader_why says why, and dirfd may be -1. Failures are a file system that
 * can't be found, mounted or made writable.
 */
int bootpart_open(const struct root *root, bool write, struct bootpart *ret, struct err *err);
/* Undoes mounts and frees. Every bootpart_open() that returned 0 needs one. */
int bootpart_close(struct bootpart *b, struct err *err);

/*
 * Replaces one byte of such a block in place (machine_overwrite), on a file system that is mounted
 * or made writable for that. No bootpart may be open.
 */
int bootpart_write_block(const struct root *root, const struct block *b, size_t offset, char byte,
			 struct err *err);
