/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "sys/atomic_file.h"
#include "sys/libarchive.h"

/* --- writing ----------------------------------------------------------------------------- */

struct tar_writer {
	const struct libarchive *lib;
	struct archive *a;
};

static int failed(const struct libarchive *lib, struct archive *a, const char *what,
		  struct err *err)
{
	const char *why = lib->archive_error_string(a);

	return err_set(err, -EIO, "%s: %s", what, why ? why : "libarchive failed");
}

int tar_create(int fd, struct tar_writer **ret, struct err *err)
{
	const struct libarchive *lib = libarchive_get(err);
	struct tar_writer *w;
	int r;

	if (!lib)
		return -ELIBACC;
	w = xnew(struct tar_writer);
	w->lib = lib;
	w->a = w->lib->archive_write_new();
	if (!w->a || w->lib->archive_write_set_format_pax_restricted(w->a) != ARCHIVE_OK ||
	    w->lib->archive_write_open_fd(w->a, fd) != ARCHIVE_OK) {
		r = failed(w->lib, w->a, "tar", err);
		tar_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

static int add(struct tar_writer *w, struct archive_entry *e, const char *name, unsigned int type,
	       const void *data, size_t len, struct err *err)
{
	w->lib->archive_entry_set_pathname(e, name);
	w->lib->archive_entry_set_filetype(e, type);
	w->lib->archive_entry_set_perm(e, type == AE_IFDIR ? 0755 : 0644);
	w->lib->archive_entry_set_size(e, (la_int64_t)len);
	if (w->lib->archive_write_header(w->a, e) < ARCHIVE_WARN ||
	    (len && w->lib->archive_write_data(w->a, data, len) != (la_ssize_t)len))
		return failed(w->lib, w->a, name, err);
	return 0;
}

static int add_entry(struct tar_writer *w, const char *name, unsigned int type, const char *target,
		     const void *data, size_t len, struct err *err)
{
	struct archive_entry *e = w->lib->archive_entry_new();
	int r;

	if (target)
		w->lib->archive_entry_set_symlink(e, target);
	r = add(w, e, name, type, data, len, err);
	w->lib->archive_entry_free(e);
	return r;
}

int tar_add_file(struct tar_writer *w, const char *name, const void *data, size_t len,
		 struct err *err)
{
	return add_entry(w, name, AE_IFREG, NULL, data, len, err);
}

int tar_add_link(struct tar_writer *w, const char *name, const char *target, struct err *err)
{
	return add_entry(w, name, AE_IFLNK, target, NULL, 0, err);
}

int tar_add_dir(struct tar_writer *w, const char *name, struct err *err)
{
	return add_entry(w, name, AE_IFDIR, NULL, NULL, 0, err);
}

int tar_finish(struct tar_writer *w, struct err *err)
{
	if (w->lib->archive_write_close(w->a) != ARCHIVE_OK)
		return failed(w->lib, w->a, "tar", err);
	return 0;
}

void tar_free(struct tar_writer *w)
{
	if (!w)
		return;
	w->lib->archive_write_free(w->a);
	free(w);
}

/* --- unpacking --------------------------------------------------------------------------- */

struct unpack {
	const struct libarchive *lib;
	struct archive *a;
	int top;
	char dir[PATH_MAX]; /* directory of the last entry, which the next entry often shares */
	int dirfd;
	uint64_t bytes;
	unsigned int entries;
};

/* Far above any path of sysfs. A longer path would outlast the removal of the scratch directory. */
enum { DEPTH_MAX = 64, ENTRY_MAX = 2048 };

static int refuse(struct err *err, const char *name, const char *why)
{
	return err_set(err, -EINVAL, "entry %.200s: %s", name, why);
}

/* Copies the path without "./", "//" and a trailing slash; "" is the top directory. */
static int clean_path(const char *name, char ret[PATH_MAX], struct err *err)
{
	size_t len = 0, depth = 0;

	if (*name == '/')
		return refuse(err, name, "an absolute path");
	while (*name) {
		size_t n = strcspn(name, "/");

		if (n == 2 && strncmp(name, "..", 2) == 0)
			return refuse(err, name, "'..' in its path");
		if (n && !(n == 1 && *name == '.')) {
			if (++depth > DEPTH_MAX || n > NAME_MAX || len + n + 2 > ENTRY_MAX)
				return refuse(err, name, "its path is too long");
			len += (size_t)sprintf(ret + len, "%s%.*s", len ? "/" : "", (int)n, name);
		}
		name += n + strspn(name + n, "/");
	}
	ret[len] = '\0';
	return 0;
}

/* Goes one step down, never through a link; makes the directory if it is absent. */
static int enter(int *fd, const char *name)
{
	enum { FLAGS = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	int next = openat(*fd, name, FLAGS);

	if (next < 0 && errno == ENOENT) {
		if (mkdirat(*fd, name, 0700) < 0)
			return -errno;
		next = openat(*fd, name, FLAGS);
	}
	if (next < 0)
		return -errno;
	close(*fd);
	*fd = next;
	return 0;
}

static int enter_dir(struct unpack *u, const char *dir, struct err *err)
{
	char path[PATH_MAX], *save = NULL;
	int fd, r = 0;

	if (u->dirfd >= 0 && streq(u->dir, dir))
		return 0;
	fd = openat(u->top, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", dir);
	snprintf(path, sizeof(path), "%s", dir);
	for (char *p = strtok_r(path, "/", &save); p && r == 0; p = strtok_r(NULL, "/", &save))
		r = enter(&fd, p);
	if (r < 0) {
		close(fd);
		return r == -ENOTDIR || r == -ELOOP
			       ? refuse(err, dir, "a link or a file in the place of a directory")
			       : err_errno(err, r, "%.200s", dir);
	}
	if (u->dirfd >= 0)
		close(u->dirfd);
	u->dirfd = fd;
	snprintf(u->dir, sizeof(u->dir), "%s", dir);
	return 0;
}

static int unpack_file(struct unpack *u, const char *name, struct err *err)
{
	cleanup_close int fd =
		openat(u->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	char buf[65536];
	la_ssize_t n;
	int r;

	if (fd < 0)
		return err_errno(err, -errno, "%.200s", name);
	/* Holes are read as zeros, and count. */
	while ((n = u->lib->archive_read_data(u->a, buf, sizeof(buf))) > 0) {
		u->bytes += (uint64_t)n;
		if (u->bytes > TAR_BYTES_MAX)
			return err_set(err, -EFBIG, "more than %d MiB of files",
				       TAR_BYTES_MAX >> 20);
		r = write_all(fd, buf, (size_t)n);
		if (r < 0)
			return err_errno(err, r, "%.200s", name);
	}
	return n < 0 ? failed(u->lib, u->a, name, err) : 0;
}

static int unpack_link(struct unpack *u, const char *name, const char *target, struct err *err)
{
	if (!target || !*target)
		return refuse(err, name, "a link to nothing");
	if (symlinkat(target, u->dirfd, name) < 0)
		return err_errno(err, -errno, "%.200s", name);
	return 0;
}

static int unpack_entry(struct unpack *u, struct archive_entry *e, struct err *err)
{
	const char *raw = u->lib->archive_entry_pathname(e);
	char path[PATH_MAX], *name;
	unsigned int type = u->lib->archive_entry_filetype(e);
	int r = raw ? clean_path(raw, path, err) : refuse(err, "?", "no name");

	if (r < 0)
		return r;
	if (u->lib->archive_entry_hardlink(e))
		return refuse(err, path, "a hard link");
	if (type == AE_IFDIR)
		return enter_dir(u, path, err);
	if (!*path)
		return refuse(err, raw, "no name");
	name = strrchr(path, '/');
	if (name)
		*name++ = '\0';
	r = enter_dir(u, name ? path : "", err);
	if (r < 0)
		return r;
	name = name ? name : path;
	unlinkat(u->dirfd, name, 0); /* of two entries with the same name, the later counts */
	if (type == AE_IFREG)
		return unpack_file(u, name, err);
	if (type == AE_IFLNK)
		return unpack_link(u, name, u->lib->archive_entry_symlink(e), err);
	return refuse(err, name, "neither file, directory nor symbolic link");
}

static int unpack_all(struct unpack *u, const char *path, struct err *err)
{
	struct archive_entry *e;
	int got, r = 0;

	u->lib->archive_read_support_format_tar(u->a);
	u->lib->archive_read_support_filter_gzip(u->a);
	u->lib->archive_read_support_filter_bzip2(u->a);
	u->lib->archive_read_support_filter_xz(u->a);
	u->lib->archive_read_support_filter_zstd(u->a);
	if (u->lib->archive_read_open_filename(u->a, path, 65536) != ARCHIVE_OK)
		return err_set(err, -EINVAL,
			       "neither a directory nor a tar archive (plain, gzip, bzip2, xz or "
			       "zstd): %s",
			       u->lib->archive_error_string(u->a));
	while (r == 0 && (got = u->lib->archive_read_next_header(u->a, &e)) != ARCHIVE_EOF) {
		if (got < ARCHIVE_WARN)
			return failed(u->lib, u->a, "the tar archive is incomplete", err);
		if (++u->entries > TAR_ENTRIES_MAX)
			return err_set(err, -EFBIG, "more than %d entries", TAR_ENTRIES_MAX);
		r = unpack_entry(u, e, err);
	}
	return r;
}

int tar_unpack(const char *path, int dirfd, struct err *err)
{
	const struct libarchive *lib = libarchive_get(err);
	struct unpack *u;
	int r;

	if (!lib)
		return err_wrap(err, "%s", path);
	u = xnew(struct unpack);
	u->lib = lib;
	u->top = dirfd;
	u->dirfd = -1;
	u->a = lib->archive_read_new();
	r = u->a ? unpack_all(u, path, err) : -ENOMEM;
	lib->archive_read_free(u->a);
	if (u->dirfd >= 0)
		close(u->dirfd);
	free(u);
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}
