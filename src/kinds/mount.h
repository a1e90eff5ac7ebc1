/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mounted file systems, as /proc/self/mountinfo shows them (proc(5)) and libmount reads them.
 * systemd mounts them by units that the section `mounts` writes, and therefore also unmounts them
 * in the right order.
 */
#pragma once

#include "kinds/kind.h"
#include "profile/schema.h"

/*
 * The types of file systems that have options of their own; MOUNT_DISK is any other type, the file
 * system of a disk.
 */
enum mount_type { MOUNT_TMPFS = 1, MOUNT_HUGETLBFS = 2, MOUNT_NFS = 4, MOUNT_DISK = 8 };

enum mount_type mount_type_of(const char *fs_type); /* "nfs4" is MOUNT_NFS */

/* A key of a profile that is an option of mount(8). */
struct mount_option {
	const char *name;   /* of the key */
	unsigned int types; /* or-ed */
	/* The value of an option that the file system does not show; for tmpfs and hugetlbfs. */
	int64_t tmpfs, hugetlbfs;
	int64_t nfs; /* the same for NFS; 0: NFS always shows the option */
	bool octal;  /* mode */
	bool word;   /* proto, vers: a word, even if it looks like a number */
};

/*
 * Appends to text the options of an entry of `mounts` with these keys:
 * "proto=rdma,port=20049,hard".
 */
void mount_add_options(const struct spec *keys, const struct ynode *mount, struct str *text);

/* Whether an entry of `mounts` asks for NFS over RDMA, by a key or in its options. */
bool mount_wants_rdma(const struct ynode *mount);

/* The value of an option in "hard,port=20049", len long; NULL: it has none there. */
const char *mount_option_value(const char *options, const char *name, size_t *len);

/*
 * The path at which udev shows a disk that is named by path, UUID= and the like; NULL: not a disk.
 */
char *mount_device(const char *what); /* the caller frees */

/* "/mnt/ai-data" -> "mnt-ai\x2ddata.mount": systemd.unit(5). The caller frees. */
char *mount_unit(const char *path);
/*
 * The service that keeps trying to mount a network file system, because systemd's mount units do
 * not.
 */
char *mount_retry_unit(const char *path);
