/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"

/* mkdir -p. Opens every part from the root again, so that no link leads out of the root. */
static int make_dirs(const struct root *root, const char *dir)
{
	cleanup_close int fd = root_open_path(root, "/", O_PATH | O_DIRECTORY);
	cleanup_free char *copy = xstrdup(dir);
	cleanup_str struct str path = {0};
	char *save = NULL;

	for (char *p = strtok_r(copy, "/", &save); fd >= 0 && p; p = strtok_r(NULL, "/", &save)) {
		int next;

		if (mkdirat(fd, p, 0755) < 0 && errno != EEXIST)
			return -errno;
		str_addf(&path, "/%s", p);
		next = root_open_path(root, path.s, O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = next;
	}
	return take_fd(fd);
}

int atomic_open_dir(const struct root *root, const char *dir, int create, struct err *err)
{
	int fd = root_open_path(root, dir, O_RDONLY | O_DIRECTORY);

	if (fd == -ENOENT && create)
		fd = make_dirs(root, dir);
	return fd < 0 ? err_errno(err, fd, "%s", dir) : fd;
}

int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int atomic_write_at(int dirfd, const char *name, const void *data, size_t len, mode_t mode,
		    struct err *err)
{
	cleanup_free char *tmp = xasprintf(".%s.tmp", name);
	cleanup_close int fd = -1;
	int r = 0;

	/* Replace a leftover of a killed run; the lock excludes other runs. */
	unlinkat(dirfd, tmp, 0);
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return err_errno(err, -errno, "%s", tmp);
	r = write_all(fd, data, len);
	/* By descriptor: behind the name a link could appear that leads to another file. */
	if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		r = -errno;
	if (r == 0 && renameat(dirfd, tmp, dirfd, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(dirfd, tmp, 0);
		return err_errno(err, r, "%s", name);
	}
	return fsync(dirfd) < 0 ? err_errno(err, -errno, "%s", name) : 0;
}
