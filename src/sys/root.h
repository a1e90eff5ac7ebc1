/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The root: the directory that everything railhead looks at is below. It is "/" on the
 * machine itself, or a captured tree, a fake one of the tests, an image (--root DIR).
 *
 * Opens are openat2(2) with RESOLVE_IN_ROOT, so that an absolute or "../" symbolic link
 * inside a captured tree stays inside. Where the kernel or a seccomp filter has no openat2, or
 * others mount and rename so busily that it gives up, a walk by components does the same.
 * Paths are relative ("sys/class/net") or begin with "/"; both mean below the root.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

struct root {
	int fd;		/* O_PATH|O_DIRECTORY */
	bool live;	/* it is this machine's own "/": netlink, modules, mounts, reboot work */
	bool as_booted; /* who may write its profiles counts, as it will in a boot of it */
	char path[4096];
};

/* NULL or "/" is the machine itself. */
int root_init(struct root *root, const char *path, struct err *err);
/*
 * A directory below a root, held as a root of its own: the way to it, which sysfs makes long, is
 * resolved once for all of its files. What its links lead to is not found from there; what they say
 * is (read_link). Needs root_close(), even where it returns a negative errno.
 */
int root_open_dir(const struct root *root, struct root *ret, const char *path);
void root_close(struct root *root);
#define cleanup_root cleanup(root_close)

/* An fd, or a negative errno. flags as open(2); O_CLOEXEC is added. Never creates. */
int root_open(const struct root *root, int flags, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int root_open_path(const struct root *root, const char *path, int flags);

bool root_exists(const struct root *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int root_stat(const struct root *root, struct stat *ret, const char *path);
