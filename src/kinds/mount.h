/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mounted file systems, as /proc/self/mountinfo shows them (proc(5)) and libmount reads them.
 * systemd mounts them, by units that the section `mounts` writes: they are then unmounted in the
 * right order, too.
 */
#pragma once

#include "kinds/kind.h"
#include "profile/schema.h"

/* The types that an option is of; else those that are none of these: a disk's file system. */
enum mount_type { MOUNT_TMPFS = 1, MOUNT_HUGETLBFS = 2, MOUNT_NFS = 4, MOUNT_DISK = 8 };

enum mount_type mount_type_of(const char *fs_type); /* "nfs4" is MOUNT_NFS */

/* A key of a profile that is an option of mount(8). */
struct mount_option {
	const char *name;   /* the key's */
	unsigned int types; /* or-ed */
	/* What a file system that does not show the option has; for tmpfs and hugetlbfs. */
	int64_t tmpfs, hugetlbfs;
	int64_t nfs; /* 0: it shows each */
	bool octal;  /* mode */
	bool word;   /* proto, vers: no number, however it looks */
};

/* The options of an entry of `mounts`, whose keys those are: "proto=rdma,port=20049,hard". */
void mount_add_options(const struct spec *keys, const struct ynode *mount, struct str *text);

/* Whether an entry of `mounts` asks for NFS over RDMA, by a key or in its options. */
bool mount_wants_rdma(const struct ynode *mount);

/* The value of an option in "hard,port=20049", len long; NULL: it has none there. */
const char *mount_option_value(const char *options, const char *name, size_t *len);

/* Where udev shows a source that is a disk, by path, UUID= and the like; NULL: it is none. */
char *mount_device(const char *what); /* the caller frees */

/* "/mnt/ai-data" -> "mnt-ai\x2ddata.mount": systemd.unit(5). The caller frees. */
char *mount_unit(const char *path);
/* The service that goes on trying to mount something of the network: systemd's mounts do not. */
char *mount_retry_unit(const char *path);
