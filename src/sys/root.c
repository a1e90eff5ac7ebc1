/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "sys/syscalls.h"

enum {
	MAX_LINKS = 40,	 /* as in the kernel: ELOOP beyond */
	TRIES = 8,	 /* of openat2 */
	REMEMBERED = 16, /* paths of files that are not regular */
};

/* From linux/mount.h, which some versions of glibc cannot include together with sys/mount.h. */
struct attributes {
	uint64_t set, clear, propagation, userns;
};
enum { CLONE_TREE = 1, SET_NODEV = 4 };

/*
 * A captured tree may hold device nodes, and to open one can do harm: an open of /dev/watchdog arms
 * the watchdog. Below a private copy of its mounts the kernel opens no device. A caller who may not
 * mount, and Linux before 5.12, stay with the tree itself.
 */
static void forbid_devices(struct root *root)
{
	static const unsigned int all = AT_EMPTY_PATH | AT_RECURSIVE;
	struct attributes nodev = {.set = SET_NODEV};
	cleanup_close int copy =
		(int)syscall(SYS_open_tree, root->fd, "", all | CLONE_TREE | O_CLOEXEC);

	if (copy < 0 || syscall(SYS_mount_setattr, copy, "", all, &nodev, sizeof(nodev)) < 0)
		return;
	close(root->fd);
	root->fd = take_fd(copy);
	root->nodev = true;
}

int root_init(struct root *root, const char *path, struct err *err)
{
	struct stat ours, slash;

	if (!path)
		path = "/";
	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0)
		return err_errno(err, -errno, "root %s", path);
	snprintf(root->path, sizeof(root->path), "%s", path);
	root->as_booted = root->nodev = false;
	root->failure = xnew(struct root_failure);
	/* "--root /" is the machine itself, and so is any other path to "/". */
	root->live = fstat(root->fd, &ours) == 0 && stat("/", &slash) == 0 &&
		     ours.st_dev == slash.st_dev && ours.st_ino == slash.st_ino;
	if (!root->live)
		forbid_devices(root);
	return 0;
}

int root_open_dir(const struct root *root, struct root *ret, const char *path)
{
	int fd = root_open_path(root, path, O_PATH | O_DIRECTORY);

	*ret = (struct root){
		.fd = fd, .live = root->live, .nodev = root->nodev, .failure = root->failure};
	return fd < 0 ? fd : 0;
}

static bool owns_failure(const struct root *root)
{
	return *root->path; /* not from root_open_dir() */
}

void root_close(struct root *root)
{
	if (root->fd >= 0)
		close(root->fd);
	if (owns_failure(root))
		free(root->failure);
	root->fd = -1;
	root->failure = NULL;
}

/*
 * ENODEV and ENXIO: the device was removed while it was read; ESRCH: so was the process. A profile
 * may name a path that ends in ENOTDIR, ELOOP or ENAMETOOLONG; EINVAL: not a link.
 */
bool root_lacks(int error)
{
	static const int absent[] = {ENOENT,  ENODEV, ENXIO,	    ESRCH,
				     ENOTDIR, ELOOP,  ENAMETOOLONG, EINVAL};

	for (size_t i = 0; i < array_len(absent); i++)
		if (error == -absent[i])
			return true;
	return false;
}

void root_note(const struct root *root, const char *path, int error)
{
	struct root_failure *f = root->failure;

	if (!f || f->error || root_lacks(error))
		return;
	f->error = -error;
	snprintf(f->path, sizeof(f->path), "%s", path);
}

/* Nothing on the machine, but railhead or the kernel lacks what it needs to look. */
static bool is_starved(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/*
 * Walks one component at a time with O_NOFOLLOW, resolves links by hand, and keeps a stack of
 * directories, so that ".." never leaves the root.
 */
struct walk {
	int stack[64];
	int depth;
	char at[PATH_MAX]; /* the path of the directory on top; "" for the root */
	root_judge judge;  /* or NULL */
	void *arg;
};

static void walk_reset(struct walk *w, int down_to)
{
	while (w->depth > down_to) {
		close(w->stack[--w->depth]);
		*strrchr(w->at, '/') = '\0';
	}
}

static int walk_ask(const struct walk *w, int fd, const char *at)
{
	struct stat st;

	if (!w->judge)
		return 0;
	return fstat(fd, &st) < 0 ? -errno : w->judge(&st, *at ? at : "/", w->arg);
}

/* Takes the fd of the directory name, also on failure. */
static int walk_enter(struct walk *w, int fd, const struct stat *st, const char *name)
{
	size_t len = strlen(w->at);
	int r = -ENAMETOOLONG;

	if (w->depth < (int)array_len(w->stack) &&
	    snprintf(w->at + len, sizeof(w->at) - len, "/%s", name) < (int)(sizeof(w->at) - len))
		r = w->judge ? w->judge(st, w->at, w->arg) : 0;
	if (r < 0) {
		w->at[len] = '\0';
		close(fd);
		return r;
	}
	w->stack[w->depth++] = fd;
	return 0;
}

static int walk_dir(const struct root *root, const struct walk *w)
{
	return w->depth ? w->stack[w->depth - 1] : root->fd;
}

static int read_link_at(int dir, const char *name, char *buf, size_t size)
{
	ssize_t n = readlinkat(dir, name, buf, size - 1);

	if (n < 0)
		return -errno;
	if ((size_t)n >= size - 1)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return 0;
}

/* Opens the last component, which is no link that must be followed. */
static int walk_end(const struct root *root, const struct walk *w, const char *name, int flags)
{
	cleanup_close int fd = openat(walk_dir(root, w), name, flags | O_CLOEXEC);
	cleanup_free char *at = xasprintf("%s/%s", w->at, name);
	int r = fd < 0 ? -errno : walk_ask(w, fd, streq(name, ".") ? w->at : at);

	return r < 0 ? r : take_fd(fd);
}

static struct strv irregular;

const struct strv *root_irregular(void)
{
	return &irregular;
}

/* By the path of the fd, because a root can be a directory deep in the tree. */
static void remember(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || irregular.n >= REMEMBERED)
		return;
	path[n] = '\0';
	if (!strv_contains(&irregular, path))
		strv_add(&irregular, path);
}

/* Links to it mask a file (sysctl.d(5), modprobe.d(5)): it reads as an empty file. */
static bool is_null(const struct stat *st, int flags)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3) &&
	       (flags & O_ACCMODE) == O_RDONLY;
}

/* 0: the kernel neither waits nor acts when the file is opened. */
static int judge_type(int fd, const struct stat *st, int flags)
{
	if (S_ISREG(st->st_mode) || is_null(st, flags))
		return 0;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	remember(fd);
	return -EBADFD;
}

int root_walk(const struct root *root, const char *path, int flags, root_judge judge, void *arg)
{
	struct walk w = {.judge = judge, .arg = arg};
	char rest[PATH_MAX], target[PATH_MAX];
	int links = 0, r = walk_ask(&w, root->fd, "");

	if (r < 0)
		return r;
	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	for (;;) {
		char *name = rest + strspn(rest, "/");
		char *next = name + strcspn(name, "/");
		bool last = next[strspn(next, "/")] == '\0';
		char saved = *next;
		cleanup_close int fd = -1;
		struct stat st;

		*next = '\0';
		if (!*name || streq(name, ".")) {
			if (last) {
				r = walk_end(root, &w, ".", flags);
				break;
			}
			memmove(rest, next + (saved != 0), strlen(next + (saved != 0)) + 1);
			continue;
		}
		if (streq(name, "..")) {
			walk_reset(&w, w.depth ? w.depth - 1 : 0);
			if (last)
				snprintf(rest, sizeof(rest), ".");
			else
				memmove(rest, next + 1, strlen(next + 1) + 1);
			continue;
		}
		fd = openat(walk_dir(root, &w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) < 0) {
			r = -errno;
			break;
		}
		/* A trailing slash requires a directory, and follows a link to the directory. */
		if (S_ISLNK(st.st_mode) && !(last && !saved && (flags & O_NOFOLLOW))) {
			char joined[PATH_MAX];

			r = read_link_at(fd, "", target, sizeof(target));
			if (r == 0 && ++links > MAX_LINKS)
				r = -ELOOP;
			if (r < 0)
				break;
			if (snprintf(joined, sizeof(joined), "%s%s%s", target, saved ? "/" : "",
				     saved ? next + 1 : "") >= (int)sizeof(joined)) {
				r = -ENAMETOOLONG;
				break;
			}
			if (*target == '/')
				walk_reset(&w, 0);
			memcpy(rest, joined, sizeof(rest));
			continue;
		}
		if (last) {
			r = !judge || flags & (O_PATH | O_DIRECTORY) ? 0
								     : judge_type(fd, &st, flags);
			if (r < 0)
				break;
			r = walk_end(root, &w, name,
				     flags | O_NOFOLLOW | (saved ? O_DIRECTORY : 0));
			break;
		}
		if (!S_ISDIR(st.st_mode)) {
			r = -ENOTDIR;
			break;
		}
		r = walk_enter(&w, take_fd(fd), &st, name);
		if (r < 0)
			break;
		memmove(rest, next + 1, strlen(next + 1) + 1);
	}
	walk_reset(&w, 0);
	return r;
}

static int open_below(const struct root *root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned int)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT,
	};
	int tries = 0;
	long fd;

	do {
		fd = syscall(SYS_openat2, root->fd, *path ? path : ".", &how, sizeof(how));
		/* EAGAIN: a mount or rename happened while ".." was resolved. */
	} while (fd < 0 && errno == EAGAIN && ++tries < TRIES);
	if (fd >= 0)
		return (int)fd;
	/*
	 * Old kernels and seccomp filters answer EPERM and ENOSYS. EAGAIN repeats while services
	 * and containers start, because namespaces are copied mount by mount.
	 */
	if (errno == ENOSYS || errno == EPERM || errno == EAGAIN)
		return root_walk(root, path, flags, NULL, NULL);
	return -errno;
}

/* A file that cannot be opened for its type (a socket, a device below nodev) has that error. */
static int explain_failure(const struct root *root, const char *path, int flags, int error)
{
	cleanup_close int fd = -1;
	struct stat st;
	int r;

	if (error != -ENXIO && error != -EACCES)
		return error;
	fd = open_below(root, path, O_PATH | (flags & O_NOFOLLOW));
	if (fd < 0 || fstat(fd, &st) < 0)
		return error;
	if (is_null(&st, flags)) {
		r = open("/dev/null", O_RDONLY | O_CLOEXEC); /* the same device */
		return r < 0 ? -errno : r;
	}
	r = judge_type(fd, &st, flags);
	return r < 0 ? r : error;
}

static int open_regular(const struct root *root, const char *path, int flags)
{
	cleanup_close int fd = -1;
	struct stat st;
	int r;

	if (flags & (O_PATH | O_DIRECTORY))
		return open_below(root, path, flags);
	fd = open_below(root, path, flags | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return explain_failure(root, path, flags, fd);
	r = fstat(fd, &st) < 0 ? -errno : judge_type(fd, &st, flags);
	/*
	 * A write waits as ever, unless the caller wants none to: one that does not wait makes
	 * memory.max of a cgroup reclaim nothing.
	 */
	if (r == 0 && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_NONBLOCK) &&
	    fcntl(fd, F_SETFL, flags) < 0)
		r = -errno;
	return r < 0 ? r : take_fd(fd);
}

int root_open_path(const struct root *root, const char *path, int flags)
{
	int fd = open_regular(root, path, flags);

	if (is_starved(fd) || fd == -EBADFD)
		root_note(root, path, fd);
	return fd;
}

int root_open_to_pread(const struct root *root, const char *path)
{
	int fd;

	/* where others may have put a device */
	if (!root->live && !root->nodev)
		return root_open_path(root, path, O_RDONLY);
	fd = open_below(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? explain_failure(root, path, O_RDONLY, fd) : fd;
}

int root_judge_type(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? -errno : judge_type(fd, &st, O_RDONLY);
}

int root_open_at(int dir, const char *path, int flags)
{
	struct root root = {.fd = dir};

	return root_open_path(&root, path, flags);
}

int root_open_device(const struct root *root, const char *path)
{
	cleanup_close int fd = -1;
	struct stat st;

	/* To open a stranger's device may be an action, as of a watchdog. */
	if (!root->live)
		return root_open_path(root, path, O_RDONLY);
	fd = open_below(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* a plain file stands for a disk in the trees of tests and in images */
	if (!S_ISBLK(st.st_mode) && !S_ISCHR(st.st_mode) && !S_ISREG(st.st_mode))
		return -EBADFD;
	return take_fd(fd);
}

int root_open(const struct root *root, int flags, struct err *err, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n, fd;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(path))
		return err_errno(err, -ENAMETOOLONG, "%.60s...", path);
	fd = root_open_path(root, path, flags);
	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	return fd;
}

bool root_exists(const struct root *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n, fd;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(path))
		return false;
	fd = root_open_path(root, path, O_PATH);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int root_stat(const struct root *root, struct stat *ret, const char *path)
{
	cleanup_close int fd = root_open_path(root, path, O_PATH);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

static int path_of_fd(int fd, char *buf, size_t size)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return read_link_at(AT_FDCWD, link, buf, size);
}

int root_path_of(const struct root *root, int fd, char **ret)
{
	char top[PATH_MAX], path[PATH_MAX];
	size_t len;
	int r = path_of_fd(root->fd, top, sizeof(top));

	if (r == 0)
		r = fd < 0 ? -EBADF : path_of_fd(fd, path, sizeof(path));
	if (r < 0)
		return r;
	len = streq(top, "/") ? 0 : strlen(top);
	if (strncmp(path, top, len) != 0 || (path[len] && path[len] != '/'))
		return -EXDEV;
	*ret = xstrdup(path[len] ? path + len : "/");
	return 0;
}
