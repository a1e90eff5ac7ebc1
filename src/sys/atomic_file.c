/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

int atomic_open_dir(int rootfd, const char *dir, int create, struct err *err)
{
	cleanup_close int fd = openat(rootfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *copy = xstrdup(dir);
	char *save = NULL;

	if (fd < 0)
		return err_errno(err, -errno, "%s", dir);
	for (char *p = strtok_r(copy, "/", &save); p; p = strtok_r(NULL, "/", &save)) {
		int next;

		if (create && mkdirat(fd, p, 0755) < 0 && errno != EEXIST)
			return err_errno(err, -errno, "%s", dir);
		next = openat(fd, p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (next < 0)
			return err_errno(err, -errno, "%s", dir);
		close(fd);
		fd = next;
	}
	return take_fd(fd);
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

	/* A leftover of a killed run is ours to replace; the lock keeps others out. */
	unlinkat(dirfd, tmp, 0);
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return err_errno(err, -errno, "%s", tmp);
	r = write_all(fd, data, len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(dirfd, tmp, dirfd, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(dirfd, tmp, 0);
		return err_errno(err, r, "%s", name);
	}
	return fsync(dirfd) < 0 ? err_errno(err, -errno, "%s", name) : 0;
}
