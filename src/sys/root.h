/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root is the directory below which railhead looks at everything: "/" on the machine itself, or
 * a captured tree, a fake tree of the tests, or an image (--root DIR).
 *
 * Opens use openat2(2) with RESOLVE_IN_ROOT, so that an absolute or "../" symbolic link inside a
 * captured tree stays inside. If the kernel or a seccomp filter lacks openat2, or openat2 gives up
 * because other processes mount and rename too often, a walk by components gives the same result.
 * Paths are relative ("sys/class/net") or begin with "/"; both mean below the root.
 *
 * This is the only way to a file of a root (tests/lint/opens holds the rest to it). The tree may be
 * anyone's, so that a name may stand for a FIFO, on which an open waits for ever, or for a device,
 * of which an open may be an action. Below a captured root the kernel opens no device, if railhead
 * may mount (CAP_SYS_ADMIN, Linux 5.12).
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/vec.h"

/*
 * The first failure that does not mean absence: a directory, link or file exists, or may exist, and
 * could not be read. A survey of the root is then incomplete.
 */
struct root_failure {
	int error; /* errno; 0: none */
	char path[256];
};

struct root {
	int fd;		/* O_PATH|O_DIRECTORY */
	bool live;	/* this machine's own "/": netlink, modules, mounts, reboot work */
	bool nodev;	/* the kernel opens no device here */
	bool as_booted; /* check the write permissions of profiles, as a boot of this root does */
	char path[4096];
	struct root_failure *failure; /* NULL: not noted */
};

/* The error of a path with nothing behind it: never there, or gone since (a device, a process). */
bool root_lacks(int error);
/* Notes the failure of a lookup, a negative errno, unless it means absence. */
void root_note(const struct root *root, const char *path, int error);

/* NULL or "/" means the machine itself. Of another, mounts that are made later may stay unseen. */
int root_init(struct root *root, const char *path, struct err *err);
/*
 * A directory below a root, opened as a root, so that its path, which is long in sysfs, is resolved
 * once for all of its files. Links out of the directory cannot be followed, but can be read
 * (read_link). Call root_close() even after a negative errno.
 */
int root_open_dir(const struct root *root, struct root *ret, const char *path);
void root_close(struct root *root);
#define cleanup_root cleanup(root_close)

/*
 * An fd, or a negative errno. flags as in open(2); O_CLOEXEC is added. Never creates files, and
 * never waits. Without O_PATH and O_DIRECTORY only a regular file is opened: -EISDIR for a
 * directory, and -EBADFD (see err_text()) for a FIFO, a socket or a device; but /dev/null, to which
 * links mask files, reads as an empty file.
 */
int root_open(const struct root *root, int flags, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int root_open_path(const struct root *root, const char *path, int flags);
/*
 * The same to read, without the system call that asks for the type, where a FIFO is all that can be
 * in a file's place: pread(2) of a FIFO fails with ESPIPE, and the caller then asks
 * root_judge_type(): 0 (a regular file without seeking), or -EBADFD or -EISDIR. For sys/read.c,
 * which reads hundreds of attributes.
 */
int root_open_to_pread(const struct root *root, const char *path);
int root_judge_type(int fd);
/* The same below an open directory, as if the directory were the root. */
int root_open_at(int dir, const char *path, int flags);
/*
 * The paths at which this process met such a file, each once, and the first 16 alone: for callers
 * to whom an attribute that cannot be read is one that is not there.
 */
const struct strv *root_irregular(void);
/*
 * Opens a device to read from, such as "/dev/nvme0". For devices that the caller means to act on;
 * -EBADFD: neither a device nor a file. Below a captured root only a file is opened.
 */
int root_open_device(const struct root *root, const char *path);

/*
 * Asked of each directory on the way before anything is looked up in it, the root first, and of
 * what is opened at the end. at: its path below the root, without links. A negative errno ends the
 * walk.
 */
typedef int (*root_judge)(const struct stat *st, const char *at, void *arg);
/*
 * As root_open_path(), component by component. Every question is asked of the descriptor that the
 * walk goes on from, so that no rename comes between. judge may be NULL; with it, what is
 * no regular file is not opened to read or write.
 */
int root_walk(const struct root *root, const char *path, int flags, root_judge judge, void *arg);

bool root_exists(const struct root *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int root_stat(const struct root *root, struct stat *ret, const char *path);
/*
 * The path of an open file, absolute below the root and without symbolic links. Needs /proc. The
 * caller frees *ret. -EXDEV: the file is not below the root.
 */
int root_path_of(const struct root *root, int fd, char **ret);
