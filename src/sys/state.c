/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sys/atomic_file.h"
#include "sys/clock.h"
#include "sys/read.h"

enum { STATE_MAX = 8 << 20 };

static int open_state(const struct root *root, struct err *err)
{
	return atomic_open_dir(root, STATE_DIR, 1, err);
}

int state_write(const struct root *root, const char *name, const char *text, struct err *err)
{
	cleanup_close int dir = open_state(root, err);
	int r = dir < 0 ? dir : atomic_write_at(dir, name, text, strlen(text), 0644, err);

	return r < 0 ? err_wrap(err, STATE_DIR) : 0;
}

int state_read(const struct root *root, const char *name, char **ret, struct err *err)
{
	cleanup_free char *path = xasprintf(STATE_DIR "/%s", name);

	return read_file(root, STATE_MAX, ret, NULL, err, path);
}

int state_remove(const struct root *root, const char *name, struct err *err)
{
	cleanup_close int dir = atomic_open_dir(root, STATE_DIR, 0, NULL);

	if (dir < 0 || unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	return err_errno(err, -errno, STATE_DIR "/%s", name);
}

/*
 * A record lock, not flock(2): a worker that hangs in the kernel outlives its parent, and
 * would keep an flock that it inherited, for every run to come.
 */
static int try_lock(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_SETLK, &lock) < 0 ? -errno : 0;
}

int state_lock(const struct root *root, uint64_t deadline, struct err *err)
{
	cleanup_close int dir = open_state(root, err);
	cleanup_close int fd = -1;
	char pid[24] = "";
	ssize_t n;
	int r;

	if (dir < 0)
		return dir;
	fd = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(err, -errno, STATE_DIR "/lock");
	/* Waiting in the kernel has no deadline; a tenth of a second is nothing beside a stage. */
	while ((r = try_lock(fd)) < 0) {
		if (r != -EAGAIN && r != -EACCES)
			return err_errno(err, r, STATE_DIR "/lock");
		if (clock_usec() >= deadline) {
			n = pread(fd, pid, sizeof(pid) - 1, 0);
			pid[n > 0 ? n : 0] = '\0';
			return err_set(err, -EBUSY,
				       "another railhead is at work (pid %s); wait for it or see "
				       "`systemctl status 'railhead-*'`",
				       *pid ? pid : "unknown");
		}
		poll(NULL, 0, 100);
	}
	n = snprintf(pid, sizeof(pid), "%d", getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n)
		return err_errno(err, -EIO, STATE_DIR "/lock");
	return take_fd(fd);
}

void state_boot_id(const struct root *root, char ret[37])
{
	cleanup_free char *id = NULL;

	*ret = '\0';
	if (read_text(root, &id, NULL, "/proc/sys/kernel/random/boot_id") == 0)
		snprintf(ret, 37, "%s", id);
}
