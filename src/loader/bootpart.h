/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds railhead.env, and checks whether GRUB will read it.
 *
 *  - BIOS: next to grub.cfg, in /boot/grub (Debian, Ubuntu) or /boot/grub2 (Fedora, RHEL).
 *  - EFI (sys/firmware/efi exists): in EFI/railhead/INSTALLATION on the ESP. grub.cfg names the
 *    INSTALLATION, so that several installations on one disk do not overwrite each other's file.
 *    The ESP is the partition that fstab mounts at /boot/efi, /efi or (vfat, but no XBOOTLDR
 *    partition) /boot; else the ESP, else the XBOOTLDR partition, of the disk that holds the root
 *    or /boot file system, or the partition that LoaderDevicePartUUID names. Partitions of other
 *    disks are never used.
 *
 * An unmounted file system is mounted detached (machine_mount_fd), read-only, or read-write if
 * `write` is set. A file system that is mounted read-only is made writable, and bootpart_close()
 * makes it read-only again. Only one bootpart may be open at a time. Below a root from
 * which this machine does not boot (machine_boots_from()) nothing is mounted: the files are looked
 * up at their usual paths.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "loader/counters.h"
#include "sys/root.h"

struct bootpart {
	int dirfd;    /* the env file's directory; -1: it does not exist yet (env_read: -ENOENT) */
	char *path;   /* of the env file below the root ("/boot/grub/railhead.env") */
	char *device; /* "/dev/vda2", or NULL below such a root */
	char *fstype; /* "ext4", or NULL */
	char *found;  /* where it was found: "fstab: LABEL=boot on /boot", "ESP of the root disk" */
	bool efi;
	bool writable; /* the bootpart was opened for writing and can be written */
	/* Why no args can reach the next boot from here, a sentence with the remedy; or NULL. */
	char *loader_why;
	/*
	 * The only reason is a menu entry that may boot and lacks $railhead_kargs,
	 * or has our arguments as text: GRUB is there and reads our file. grubby makes such
	 * entries.
	 */
	bool entry_lacks_kargs;
	bool parses_value; /* GRUB parses our arguments as a script: kargs_check_parsed() */
	/*
	 * Why GRUB can't disarm a trial here (md, LVM, btrfs: save_env can't write there), or NULL.
	 * With a reason there is no trial and no automatic reboot.
	 */
	char *no_trial_why;
	char *remounted;	  /* the mount point to make read-only again, or NULL */
	struct counters counters; /* in the blocks of /boot and of the EFI system partition */
};

/*
 * Finds the place of railhead.env and opens it. Succeeds without GRUB too: then
 * loader_why has the reason, and dirfd may be -1. Fails if a file system can't be
 * found, mounted or made writable.
 */
int bootpart_open(const struct root *root, bool write, struct bootpart *ret, struct err *err);
/* Undoes the mounts and frees. Call it after each bootpart_open() that returned 0. */
int bootpart_close(struct bootpart *b, struct err *err);
