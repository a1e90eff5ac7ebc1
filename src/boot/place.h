/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places: directories on file systems that may have to be mounted first, as fstab says.
 * What is not mounted is mounted detached: no other process sees it, and the last close
 * unmounts it.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/libmount.h"
#include "sys/root.h"

struct fstab {
	const struct libmount *mnt;
	struct libmnt_table *table; /* NULL: there is no fstab */
};

/* An absent fstab is an empty one. -ELIBACC: there is one, and no library that reads it. */
int fstab_read(const struct root *root, struct fstab *ret, struct err *err);
void fstab_free(struct fstab *t);
#define cleanup_fstab __attribute__((__cleanup__(fstab_free)))
/* The entry of a mount point that is a file system of its own, or NULL. */
struct libmnt_fs *fstab_find(const struct fstab *t, const char *at);

struct place {
	int fd;	      /* the top of the file system, or the mount point */
	bool mounted; /* it has a name: `at` */
	char at[64];  /* "/boot" */
	char *device;
	char *fstype;
	char *found; /* how it was found, for people */
};

/*
 * The top of what is, or would be, mounted at `at`; a device that fstab names is waited for
 * (udev may be late in the initramfs). The caller has set fd to -1, and frees the place.
 */
int place_open(const struct root *root, const struct fstab *t, const char *at, bool write,
	       struct place *p, struct err *err);
/* Mounts a device detached. fstype: from fstab, or NULL to find out. */
int place_mount(struct place *p, const char *device, const char *fstype, bool write,
		struct err *err);
void place_free(struct place *p);
#define cleanup_place __attribute__((__cleanup__(place_free)))

/* On VFAT, /boot/efi is the directory EFI of a partition at /boot: no mount point. */
bool place_is_mount_point(const struct root *root, const char *at);
/* Starts an automount at `at`, as systemd makes one for a partition that fstab does not name. */
bool place_is_mounted_vfat(const struct root *root, const char *at);
/* Fills device and fstype where they are not known yet. */
void place_name(const struct root *root, struct place *p);
/* Why GRUB's save_env can't write there, in a sentence; NULL if it can. Caller frees. */
char *place_no_trial_why(const struct root *root, const struct place *p);
/*
 * Remounts a read-only file system read-write; *ret_remounted is then the mount point to
 * make read-only again (caller frees), else left alone.
 */
int place_make_writable(const struct root *root, const struct place *p, char **ret_remounted,
			struct err *err);
/* What libblkid says of a device: "TYPE", "UUID"; NULL if nothing. Caller frees. */
char *place_probe(const char *device, const char *what);
