/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places: directories on file systems that fstab lists and that may have to be mounted first. An
 * unmounted file system is mounted detached: no other process sees it, and the last close unmounts
 * it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/libmount.h"
#include "sys/root.h"

struct fstab {
	const struct libmount *mnt;
	struct libmnt_table *table; /* NULL: no fstab */
};

/* An absent fstab counts as empty. -ELIBACC: there is an fstab, but no library to read it. */
int fstab_read(const struct root *root, struct fstab *ret, struct err *err);
void fstab_free(struct fstab *t);
#define cleanup_fstab __attribute__((__cleanup__(fstab_free)))
/* The entry of a mount point with a file system of its own, or NULL. */
struct libmnt_fs *fstab_find(const struct fstab *t, const char *at);

struct place {
	int fd;	      /* the top of the file system, or the mount point */
	bool mounted; /* the file system is mounted at `at` */
	char *at;     /* "/boot", or NULL */
	char *device;
	char *fstype;
	char *found; /* how it was found, for people */
};

/*
 * Opens the top of the file system that is, or would be, mounted at `at`. The caller has set fd to
 * -1, and frees the place.
 */
int place_open(const struct root *root, const struct fstab *t, const char *at, bool write,
	       struct place *p, struct err *err);
/*
 * Opens a device's file system where it is mounted already, because a second mount with other flags
 * fails; else mounts the device detached. fstype: from fstab, or NULL to detect it. The caller has
 * set p->found.
 */
int place_mount(const struct root *root, struct place *p, const char *device, const char *fstype,
		bool write, struct err *err);
/*
 * Opens the top of a mounted file system, by its device number in /proc/self/mountinfo. Prefers a
 * writable mount to a read-only one. False if no mount shows the whole file system.
 */
bool place_open_mounted(const struct root *root, struct place *p, dev_t dev);
void place_free(struct place *p);
#define cleanup_place __attribute__((__cleanup__(place_free)))

/* False for /boot/efi if that is the directory EFI of a vfat partition mounted at /boot. */
bool place_is_mount_point(const struct root *root, const char *at);
/*
 * Whether a vfat file system is mounted at `at`. Starts an automount there, as systemd makes one
 * for a partition that fstab does not name.
 */
bool place_is_mounted_vfat(const struct root *root, const char *at);
/* Fills device and fstype if they are unknown. */
void place_name(const struct root *root, struct place *p);
/* Why GRUB's save_env can't write there, as a sentence; NULL if it can. Caller frees. */
char *place_no_trial_why(const struct root *root, const struct place *p);
/*
 * Remounts a read-only file system read-write, and sets *ret_remounted to the mount point that must
 * be made read-only again (caller frees). Otherwise *ret_remounted is untouched.
 */
int place_make_writable(const struct root *root, const struct place *p, char **ret_remounted,
			struct err *err);
/* A value that libblkid finds on a device: "TYPE", "UUID"; NULL if it finds none. Caller frees. */
char *place_probe(const char *device, const char *what);
