/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/initramfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/libarchive.h"

/* An entry of a newc archive: the magic, then 13 numbers of 8 hexadecimal digits. */
enum { HEAD_LEN = 110, SIZE_AT = 54, NAME_SIZE_AT = 94, BLOCK = 10240, ENTRIES_MAX = 300000 };

static bool number_at(const char *head, size_t at, off_t *ret)
{
	char digits[9] = "", *end;

	memcpy(digits, head + at, 8);
	*ret = (off_t)strtoul(digits, &end, 16);
	return !*end;
}

static bool is_newc(const char *head)
{
	return memcmp(head, "070701", 6) == 0 || memcmp(head, "070702", 6) == 0;
}

static off_t padded(off_t n)
{
	return (n + 3) & ~(off_t)3;
}

/*
 * Walks plain archives from *at to the end of the last one. 1: the name of an entry contains the
 * word; 0: no name does, and *at is the start of the rest, or the end.
 */
static int walk_plain(int fd, off_t *at, const char *word)
{
	char head[HEAD_LEN], name[PATH_MAX];

	for (unsigned int n = 0; n < ENTRIES_MAX; n++) {
		off_t size, len;

		/* zeros of any length separate two archives */
		while (pread(fd, head, 4, *at) == 4 && memcmp(head, "\0\0\0\0", 4) == 0)
			*at += 4;
		if (pread(fd, head, HEAD_LEN, *at) != HEAD_LEN || !is_newc(head))
			return 0;
		if (!number_at(head, SIZE_AT, &size) || !number_at(head, NAME_SIZE_AT, &len) ||
		    len < 1 || len > PATH_MAX ||
		    pread(fd, name, (size_t)len, *at + HEAD_LEN) != len)
			return -EBADMSG;
		name[len - 1] = '\0';
		if (strstr(name, word))
			return 1;
		*at = padded(padded(*at + HEAD_LEN + len) + size);
	}
	return -EBADMSG;
}

static int walk_entries(const struct libarchive *lib, struct archive *a, const char *word)
{
	struct archive_entry *e;
	int r = ARCHIVE_OK;

	for (unsigned int n = 0; n < ENTRIES_MAX; n++) {
		const char *name;

		r = lib->archive_read_next_header(a, &e);
		if (r == ARCHIVE_EOF)
			return 0;
		if (r < ARCHIVE_WARN)
			break;
		name = lib->archive_entry_pathname(e);
		if (name && strstr(name, word))
			return 1;
	}
	return -EBADMSG;
}

static int walk_packed(int fd, const char *word, struct err *err)
{
	const struct libarchive *lib = libarchive_get(err);
	struct archive *a;
	int r;

	if (!lib)
		return err_wrap(err, "it is packed");
	a = lib->archive_read_new();
	lib->archive_read_support_format_cpio(a);
	lib->archive_read_support_filter_gzip(a);
	lib->archive_read_support_filter_bzip2(a);
	lib->archive_read_support_filter_xz(a);
	lib->archive_read_support_filter_zstd(a);
	lib->archive_read_support_filter_lz4(a);
	r = lib->archive_read_open_fd(a, fd, BLOCK) == ARCHIVE_OK ? walk_entries(lib, a, word)
								  : -EBADMSG;
	if (r < 0) {
		const char *why = lib->archive_error_string(a);

		err_set(err, r, "it can't be unpacked: %s", why ? why : "too many entries");
	}
	lib->archive_read_free(a);
	return r;
}

int initramfs_has(const struct root *root, const char *path, const char *word, bool *ret,
		  struct err *err)
{
	cleanup_close int fd = root_open(root, O_RDONLY, err, "%s", path);
	off_t at = 0, end;
	int r;

	if (fd < 0)
		return fd;
	r = walk_plain(fd, &at, word);
	end = lseek(fd, 0, SEEK_END);
	if (r < 0)
		return err_set(err, r, "it is damaged at byte %lld", (long long)at);
	if (r == 0 && at < end) {
		if (lseek(fd, at, SEEK_SET) < 0)
			return err_errno(err, -errno, "%s", path);
		r = walk_packed(fd, word, err);
		if (r < 0)
			return r;
	}
	*ret = r > 0;
	return 0;
}
