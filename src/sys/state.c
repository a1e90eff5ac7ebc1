/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "sys/atomic_file.h"
#include "sys/clock.h"
#include "sys/read.h"
#include "sys/trust.h"

enum { STATE_MAX = 8 << 20, NOTICE_MAX = 64 << 10, NOTICE_MODE = 0644 };

/* A rename can't replace a directory, and what a link or a pipe means is not railhead's to say. */
static int explain_type(int r, const char *dir, const char *name, struct err *err)
{
	return r == -EISDIR || r == -ELOOP || r == -EBADFD
		       ? err_set(err, r, "%s/%s is no regular file; remove it", dir, name)
		       : r;
}

static int write_in(const struct root *root, const char *path, const char *name, const char *text,
		    mode_t mode, struct err *err)
{
	cleanup_close int dir = atomic_open_dir(root, path, 1, err);
	int r;

	if (dir < 0)
		return dir;
	r = atomic_write_at(dir, name, text, strlen(text), mode, err);
	if (r == -EISDIR)
		return explain_type(r, path, name, err);
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}

static int read_in(const struct root *root, const char *dir, const char *name, char **ret,
		   struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	int r = read_file(root, STATE_MAX, ret, NULL, err, path);

	return explain_type(r, dir, name, err);
}

static int remove_in(const struct root *root, const char *path, const char *name, struct err *err)
{
	cleanup_close int dir = atomic_open_dir(root, path, 0, NULL);

	if (dir < 0 || unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	return explain_type(err_errno(err, -errno, "%s/%s", path, name), path, name, err);
}

int state_write(const struct root *root, const char *name, const char *text, struct err *err)
{
	return write_in(root, STATE_DIR, name, text, 0644, err);
}

int state_write_private(const struct root *root, const char *name, const char *text,
			struct err *err)
{
	return write_in(root, STATE_DIR, name, text, 0600, err);
}

int state_read(const struct root *root, const char *name, char **ret, struct err *err)
{
	return read_in(root, STATE_DIR, name, ret, err);
}

int state_remove(const struct root *root, const char *name, struct err *err)
{
	return remove_in(root, STATE_DIR, name, err);
}

int state_keep(const struct root *root, const char *name, const char *text, struct err *err)
{
	return write_in(root, STATE_KEPT_DIR, name, text, 0600, err);
}

int state_kept(const struct root *root, const char *name, char **ret, struct err *err)
{
	return read_in(root, STATE_KEPT_DIR, name, ret, err);
}

int state_forget(const struct root *root, const char *name, struct err *err)
{
	return remove_in(root, STATE_KEPT_DIR, name, err);
}

const char *notice_path(enum notice notice)
{
	static const char *const paths[NOTICE_COUNT] = {
		[NOTICE_METRICS] = "/var/lib/prometheus/node-exporter/railhead.prom",
		[NOTICE_FEATURES] = "/etc/kubernetes/node-feature-discovery/features.d/railhead",
	};

	return paths[notice];
}

/* Neither follows a link nor waits for a pipe of that name; both are replaced. */
static bool notice_holds(int dir, const char *name, const char *text)
{
	cleanup_close int fd = root_open_at(dir, name, O_RDONLY | O_NOFOLLOW);
	cleanup_free char *held = NULL;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 07777) == NOTICE_MODE &&
	       read_fd(fd, NOTICE_MAX, &held, NULL) == 0 && strcmp(held, text) == 0;
}

/*
 * The directory is another program's, whose user could put a link in its place: then root would
 * write where that user can't.
 */
static int open_notice_dir(const struct root *root, enum notice notice, const char **ret_name,
			   struct err *err)
{
	const char *path = notice_path(notice), *name = strrchr(path, '/') + 1;
	cleanup_free char *parent = xstrndup(path, (size_t)(name - path));
	int fd = trust_open(root, trust_of_writes(root), parent, O_RDONLY | O_DIRECTORY, err);

	*ret_name = name;
	if (fd == -EPERM)
		err_wrap(err, "%s is not written", path);
	return fd;
}

int notice_write(const struct root *root, enum notice notice, const char *text, struct err *err)
{
	const char *path = notice_path(notice), *name;
	struct err why;
	cleanup_close int dir = open_notice_dir(root, notice, &name, &why);
	int r;

	if (dir == -ENOENT || dir == -ENOTDIR)
		return 0;
	if (dir < 0)
		return err_copy(err, dir, &why);
	if (notice_holds(dir, name, text))
		return 0;
	/* The temporary name begins with a dot, which NFD skips, and does not end in .prom. */
	r = atomic_write_at(dir, name, text, strlen(text), NOTICE_MODE, err);
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}

/* Overwrites from the first byte, which needs no room unless text is longer than the file. */
static int overwrite(int dir, const char *name, const char *text)
{
	cleanup_close int fd = root_open_at(dir, name, O_WRONLY | O_NOFOLLOW);
	int r;

	if (fd < 0)
		return fd;
	r = write_all(fd, text, strlen(text));
	if (r == 0 && (ftruncate(fd, (off_t)strlen(text)) < 0 || fsync(fd) < 0))
		r = -errno;
	return r;
}

int notice_withdraw(const struct root *root, enum notice notice, const char *text, struct err *err)
{
	cleanup_close int dir = -1;
	const char *name;
	int r = notice_write(root, notice, text, err);

	if (r == 0)
		return 0;
	dir = open_notice_dir(root, notice, &name, NULL);
	if (dir < 0)
		return r;
	return overwrite(dir, name, text) == 0 || unlinkat(dir, name, 0) == 0 || errno == ENOENT
		       ? 0
		       : r;
}

/*
 * A record lock instead of flock(2), because a worker that hangs in the kernel outlives its parent,
 * and would hold an inherited flock against every later run.
 */
static int try_lock(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_SETLK, &lock) < 0 ? -errno : 0;
}

static int open_lock(int dir)
{
	int fd = root_open_at(dir, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK);

	if (fd != -ENOENT)
		return fd;
	fd = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

int state_lock(const struct root *root, uint64_t deadline, struct err *err)
{
	cleanup_close int dir = atomic_open_dir(root, STATE_DIR, 1, err);
	cleanup_close int fd = -1;
	char pid[24] = "";
	ssize_t n;
	int r;

	if (dir < 0)
		return dir;
	fd = open_lock(dir);
	if (fd < 0)
		return err_errno(err, fd, STATE_DIR "/lock");
	/*
	 * Waiting in the kernel has no deadline; a tenth of a second is short compared to a stage.
	 */
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

bool state_is_locked(const struct root *root)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	cleanup_close int fd = root_open_path(root, STATE_DIR "/lock", O_RDONLY | O_NOFOLLOW);

	if (fd < 0)
		return fd == -EACCES;
	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void state_boot_id(const struct root *root, char ret[37])
{
	cleanup_free char *id = NULL;

	*ret = '\0';
	if (read_attr(root, &id, NULL, "/proc/sys/kernel/random/boot_id") == 0)
		snprintf(ret, 37, "%s", id);
}
