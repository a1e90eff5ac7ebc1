/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"

enum { READ_BLOCK = 4096 };

#define FORMAT_PATH(path, fmt)                                                  \
	char path[PATH_MAX];                                                    \
	do {                                                                    \
		va_list ap_;                                                    \
		int n_;                                                         \
		va_start(ap_, fmt);                                             \
		n_ = vsnprintf(path, sizeof(path), fmt, ap_);                   \
		va_end(ap_);                                                    \
		if (n_ >= (int)sizeof(path))                                    \
			return err_errno(err, -ENAMETOOLONG, "%.60s...", path); \
	} while (0)

/* at: where a file of root_open_to_pread() is read on; NULL: fd is read from where it is. */
static ssize_t read_piece(int fd, char *buf, size_t size, const size_t *at)
{
	ssize_t n = at ? pread(fd, buf, size, (off_t)*at) : read(fd, buf, size);

	if (n < 0 && errno == ESPIPE) {
		int r = root_judge_type(fd);

		if (r < 0)
			return r;
		n = read(fd, buf, size);
	}
	return n < 0 ? -errno : n;
}

/* least: a read of fewer bytes was the last read. */
static int read_on(int fd, bool from_start, size_t max, size_t least, char **ret, size_t *ret_len)
{
	cleanup_str struct str text = {0};
	char buf[READ_BLOCK];
	ssize_t n;

	do {
		n = read_piece(fd, buf, sizeof(buf), from_start ? &text.len : NULL);
		if (n < 0 && n != -EINTR)
			return (int)n;
		if (n > 0 && text.len + (size_t)n > max)
			return -EFBIG;
		if (n > 0)
			str_addn(&text, buf, (size_t)n);
	} while (n < 0 || (size_t)n >= least);
	if (ret_len)
		*ret_len = text.len;
	*ret = str_take(&text);
	return 0;
}

int read_fd(int fd, size_t max, char **ret, size_t *ret_len)
{
	return read_on(fd, false, max, 1, ret, ret_len);
}

char *read_at(int dir, const char *path, size_t max)
{
	cleanup_close int fd = root_open_at(dir, path, O_RDONLY);
	char *text = NULL;

	if (fd < 0 || read_fd(fd, max, &text, NULL) < 0)
		return NULL;
	return text ? text : xstrdup("");
}

int read_file(const struct root *root, size_t max, char **ret, size_t *ret_len, struct err *err,
	      const char *path)
{
	cleanup_close int fd = root_open_to_pread(root, path);
	int r = fd < 0 ? fd : read_on(fd, true, max, 1, ret, ret_len);

	return r < 0 ? err_errno(err, r, "%s", path) : 0;
}

int read_start(const struct root *root, size_t max, char **ret, size_t *ret_len, struct err *err,
	       const char *path)
{
	cleanup_close int fd = root_open_to_pread(root, path);
	cleanup_free char *text = NULL;
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	text = xcalloc(1, max + 1);
	while (len < max && n != 0) {
		n = read_piece(fd, text + len, max - len, &len);
		if (n < 0 && n != -EINTR)
			return err_errno(err, (int)n, "%s", path);
		len += n > 0 ? (size_t)n : 0;
	}
	if (ret_len)
		*ret_len = len;
	*ret = take_ptr(text);
	return 0;
}

int read_text(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
{
	int r;

	FORMAT_PATH(path, fmt);
	r = read_file(root, READ_TEXT_MAX, ret, NULL, err, path);
	if (r == 0)
		str_chomp(*ret);
	return r;
}

int read_attr(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
{
	cleanup_close int fd = -1;
	int r;

	FORMAT_PATH(path, fmt);
	fd = root_open_to_pread(root, path);
	r = fd < 0 ? fd : read_on(fd, true, READ_TEXT_MAX, READ_BLOCK, ret, NULL);
	if (r < 0)
		return err_errno(err, r, "%s", path);
	str_chomp(*ret);
	return 0;
}

static int to_i64(const char *text, int64_t *ret)
{
	bool hex = str_starts(text, "0x") || str_starts(text, "0X");
	char *end;
	long long v;

	errno = 0;
	v = strtoll(text, &end, hex ? 16 : 10);
	if (errno)
		return -errno;
	if (end == text || *end)
		return -EINVAL;
	*ret = v;
	return 0;
}

int read_i64(const struct root *root, int64_t *ret, struct err *err, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	int r;

	FORMAT_PATH(path, fmt);
	r = read_attr(root, &text, err, "%s", path);
	if (r < 0)
		return r;
	r = to_i64(text, ret);
	return r < 0 ? err_set(err, r, "%s: '%.40s' is not a number", path, text) : 0;
}

int read_u64(const struct root *root, uint64_t *ret, struct err *err, const char *fmt, ...)
{
	int64_t v;
	int r;

	FORMAT_PATH(path, fmt);
	r = read_i64(root, &v, err, "%s", path);
	if (r < 0)
		return r;
	if (v < 0)
		return err_set(err, -ERANGE, "%s: %lld is negative", path, (long long)v);
	*ret = (uint64_t)v;
	return 0;
}

/*
 * Reads a link. The length, or a negative errno. A name in the root's own directory needs no
 * resolution.
 */
static ssize_t link_of(const struct root *root, const char *path, char *buf, size_t size)
{
	cleanup_close int fd = -1;
	ssize_t n;

	if (!strchr(path, '/')) {
		n = readlinkat(root->fd, path, buf, size);
		return n < 0 ? -errno : n;
	}
	fd = root_open_path(root, path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return fd;
	n = readlinkat(fd, "", buf, size);
	/* readlink reports ENOENT for an O_PATH fd that is not a link */
	return n >= 0 ? n : errno == ENOENT ? -EINVAL : -errno;
}

static int link_text(const struct root *root, const char *path, char **ret, struct err *err)
{
	char buf[PATH_MAX];
	ssize_t n = link_of(root, path, buf, sizeof(buf) - 1);

	if (n < 0) {
		root_note(root, path, (int)n);
		return err_errno(err, (int)n, "%s", path);
	}
	*ret = xstrndup(buf, (size_t)n);
	return 0;
}

int read_link(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
{
	FORMAT_PATH(path, fmt);
	return link_text(root, path, ret, err);
}

int read_link_name(const struct root *root, char **ret, struct err *err, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	const char *slash;
	int r;

	FORMAT_PATH(path, fmt);
	r = link_text(root, path, &text, err);
	if (r < 0)
		return r;
	slash = strrchr(text, '/');
	*ret = xstrdup(slash ? slash + 1 : text);
	return 0;
}

/* Replaces opendir(3), which would make three unneeded system calls on the fd. */
static int read_names(int fd, struct strv *ret)
{
	_Alignas(struct dirent64) char block[32768];
	const struct dirent64 *e;
	long n;

	while ((n = syscall(SYS_getdents64, fd, block, sizeof(block))) > 0)
		for (const char *at = block; at < block + n; at += e->d_reclen) {
			e = (const struct dirent64 *)at;
			if (!streq(e->d_name, ".") && !streq(e->d_name, ".."))
				strv_add(ret, e->d_name);
		}
	if (n < 0)
		return -errno;
	strv_sort(ret);
	return 0;
}

int read_dir(const struct root *root, struct strv *ret, struct err *err, const char *fmt, ...)
{
	cleanup_close int fd = -1;
	int r;

	FORMAT_PATH(path, fmt);
	fd = root_open_path(root, path, O_RDONLY | O_DIRECTORY);
	r = fd < 0 ? fd : read_names(fd, ret);
	if (r == 0)
		return 0;
	root_note(root, path, r);
	return err_errno(err, r, "%s", path);
}

int read_dir_at(int dir, const char *path, struct strv *ret)
{
	cleanup_close int fd = root_open_at(dir, path, O_RDONLY | O_DIRECTORY);

	return fd < 0 ? fd : read_names(fd, ret);
}

/*
 * Links of sysfs form cycles (a device's subsystem contains the device), so each further "*" of a
 * pattern may find ever longer paths to the same files.
 */
enum { GLOB_DIRS_MAX = 16384, GLOB_PATHS_MAX = 65536 };

struct glob_walk {
	const struct root *root;
	const char *pattern; /* as given by the caller */
	size_t dirs;	     /* directories read so far */
	struct strv *ret;
	struct err *err;
};

static int glob_too_many(const struct glob_walk *w)
{
	return err_set(w->err, -E2BIG,
		       "%.200s: this pattern leads to more than %d directories or %d paths; write "
		       "more of the path out",
		       w->pattern, GLOB_DIRS_MAX, GLOB_PATHS_MAX);
}

/* The names in a directory; none if the directory is missing or a link to it forms a cycle. */
static int glob_names(struct glob_walk *w, const char *dir, struct strv *ret)
{
	struct err err;
	int r;

	r = read_dir(w->root, ret, &err, "%s/", dir);
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		return 0;
	if (r < 0)
		return err_copy(w->err, r, &err);
	return ++w->dirs > GLOB_DIRS_MAX ? glob_too_many(w) : 0;
}

static int glob_add(struct glob_walk *w, const char *path)
{
	if (w->ret->n >= GLOB_PATHS_MAX)
		return glob_too_many(w);
	strv_add(w->ret, path);
	return 0;
}

/*
 * prefix: the part matched so far, which exists. The parts of pattern up to the first "*", "?" or
 * "[" take a single look.
 */
static int glob_below(struct glob_walk *w, const char *prefix, const char *pattern)
{
	const char *part = pattern + strcspn(pattern, PATTERN_CHARACTERS), *rest;
	cleanup_free char *dir = NULL, *own = NULL;
	cleanup_strv struct strv names = {0};
	int r;

	if (!*part) {
		cleanup_free char *path = xasprintf("%s%s", prefix, pattern);

		return !*pattern || root_exists(w->root, "%s", path) ? glob_add(w, path) : 0;
	}
	while (part[-1] != '/')
		part--;
	rest = part + strcspn(part, "/");
	own = xstrndup(part, (size_t)(rest - part));
	dir = xasprintf("%s%.*s", prefix, (int)(part - 1 - pattern), pattern);
	r = glob_names(w, dir, &names);
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		cleanup_free char *path = xasprintf("%s/%s", dir, names.v[i]);

		if (fnmatch(own, names.v[i], FNM_PERIOD) == 0)
			r = glob_below(w, path, rest);
	}
	return r;
}

int read_glob(const struct root *root, const char *pattern, struct strv *ret, struct err *err)
{
	cleanup_free char *whole = xasprintf("/%s", pattern + strspn(pattern, "/"));
	struct glob_walk w = {.root = root, .pattern = pattern, .ret = ret, .err = err};

	return glob_below(&w, "", whole);
}
