/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "sys/atomic_file.h"
#include "sys/machine.h"
#include "sys/worker.h"

int machine_write_attr(const struct root *root, const char *path, const char *text, struct err *err)
{
	cleanup_close int fd = root_open_path(root, path, O_WRONLY);
	size_t len = strlen(text);
	ssize_t n;
	int code;

	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	n = write(fd, text, len);
	code = n < 0 ? -errno : 0;
	worker_note_write();
	if (n < 0)
		return err_errno(err, code, "%s: writing '%.80s'", path, text);
	if ((size_t)n != len)
		return err_set(err, -EIO, "%s: the kernel took %zd of %zu bytes", path, n, len);
	/*
	 * Below a captured root, attributes are plain files: truncate, so that the rest of a longer
	 * value goes.
	 */
	if (!root->live && ftruncate(fd, n) < 0 && errno != EINVAL)
		return err_errno(err, -errno, "%s", path);
	return 0;
}

static int open_parent(const struct root *root, const char *path, const char **ret_name, int create,
		       struct err *err)
{
	cleanup_free char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');

	if (!slash || !slash[1])
		return err_set(err, -EINVAL, "%s: not the path of a file", path);
	*slash = '\0';
	*ret_name = path + (slash - dir) + 1;
	return atomic_open_dir(root, dir, create, err);
}

int machine_write_file(const struct root *root, const char *path, const char *text, mode_t mode,
		       struct err *err)
{
	const char *name;
	cleanup_close int dir = open_parent(root, path, &name, 1, err);
	int r;

	if (dir < 0)
		return dir;
	r = atomic_write_at(dir, name, text, strlen(text), mode, err);
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}

int machine_make_link(const struct root *root, const char *path, const char *target,
		      struct err *err)
{
	const char *name;
	cleanup_close int dir = open_parent(root, path, &name, 1, err);
	cleanup_free char *tmp = dir < 0 ? NULL : xasprintf(".%s.tmp", name);

	if (dir < 0)
		return dir;
	/* remove the leftover of a killed run */
	unlinkat(dir, tmp, 0);
	if (symlinkat(target, dir, tmp) < 0)
		return err_errno(err, -errno, "%s", path);
	if (renameat(dir, tmp, dir, name) < 0) {
		int r = -errno;

		unlinkat(dir, tmp, 0);
		return err_errno(err, r, "%s", path);
	}
	return fsync(dir) < 0 ? err_errno(err, -errno, "%s", path) : 0;
}

static int remove_at(const struct root *root, const char *path, int flags, struct err *err)
{
	const char *name;
	cleanup_close int dir = open_parent(root, path, &name, 0, err);

	if (dir == -ENOENT)
		return 0;
	if (dir < 0)
		return dir;
	if (unlinkat(dir, name, flags) < 0 && errno != ENOENT)
		return err_errno(err, -errno, "%s", path);
	return 0;
}

int machine_remove_file(const struct root *root, const char *path, struct err *err)
{
	return remove_at(root, path, 0, err);
}

int machine_remove_dir(const struct root *root, const char *path, struct err *err)
{
	return remove_at(root, path, AT_REMOVEDIR, err);
}

int machine_make_node(const struct root *root, const char *path, struct err *err)
{
	const char *name;
	cleanup_close int dir = open_parent(root, path, &name, 0, err);

	if (dir < 0)
		return dir;
	if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
		return err_errno(err, -errno, "%s", path);
	return 0;
}

int machine_remove_node(const struct root *root, const char *path, struct err *err)
{
	return remove_at(root, path, AT_REMOVEDIR, err);
}
