/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables of the EFI firmware in efivarfs (Documentation/filesystems/efivarfs.rst): four bytes of
 * attributes, then the value. One write(2) sets both. All but a few names have the immutable flag,
 * as a protection against rm -rf.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/machine.h"
#include "sys/read.h"

#ifndef EFIVARFS_MAGIC
#define EFIVARFS_MAGIC 0xde5e81e4
#endif

#define DIR_OF_VARIABLES "sys/firmware/efi/efivars"

enum {
	ATTRIBUTES = 7, /* non-volatile, visible at boot and to the running system */
	ATTRIBUTES_LEN = 4,
	VALUE_MAX = 1024,
};

/*
 * sysfs has the empty directory even if efivarfs is not mounted. The firmware's variables are never
 * those of a chroot or of a tree into which /sys is mounted.
 */
static int open_variables(const struct root *root, struct err *err)
{
	cleanup_close int dir = root_open_path(root, DIR_OF_VARIABLES, O_RDONLY | O_DIRECTORY);
	struct statfs fs;
	bool firmware;

	if (dir == -ENOENT)
		return err_set(err, -ENOENT, "this machine has no EFI variables");
	if (dir < 0)
		return err_errno(err, dir, "/" DIR_OF_VARIABLES);
	if (fstatfs(dir, &fs) < 0)
		return err_errno(err, -errno, "/" DIR_OF_VARIABLES);
	firmware = ((unsigned long)fs.f_type & 0xffffffff) == EFIVARFS_MAGIC;
	if (root->live && !firmware)
		return err_set(err, -ENOENT, "/" DIR_OF_VARIABLES ": efivarfs is not mounted");
	if (firmware && !machine_boots_from(root))
		return err_set(err, -ENOENT,
			       "/" DIR_OF_VARIABLES ": the firmware's, which does not boot this "
			       "tree");
	return take_fd(dir);
}

int machine_efi_read(const struct root *root, const char *name, char **ret, size_t *ret_len,
		     struct err *err)
{
	cleanup_free char *path = xasprintf(DIR_OF_VARIABLES "/%s", name), *raw = NULL;
	cleanup_close int dir = open_variables(root, err);
	size_t len = 0;
	int r = dir < 0 ? dir : read_file(root, ATTRIBUTES_LEN + VALUE_MAX, &raw, &len, err, path);

	if (r < 0)
		return r;
	if (len < ATTRIBUTES_LEN)
		return err_set(err, -EBADMSG, "%s: %zu bytes are too few for an EFI variable", name,
			       len);
	*ret_len = len - ATTRIBUTES_LEN;
	*ret = xcalloc(1, *ret_len + 1);
	memcpy(*ret, raw + ATTRIBUTES_LEN, *ret_len);
	return 0;
}

/* 1: the flag was changed. On file systems without the flag it counts as never set. */
static int set_immutable(int fd, bool on)
{
	unsigned int flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return errno == ENOTTY || errno == EOPNOTSUPP ? 0 : -errno;
	if (!(flags & FS_IMMUTABLE_FL) == !on)
		return 0;
	flags ^= FS_IMMUTABLE_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags) < 0 ? -errno : 1;
}

/*
 * Opens an existing variable and makes it writable; -ENOENT. *ret_flag: the variable was immutable.
 */
static int open_variable(int dir, const char *name, bool *ret_flag)
{
	cleanup_close int fd = root_open_at(dir, name, O_RDONLY | O_NOFOLLOW);
	int r = fd < 0 ? fd : set_immutable(fd, false);

	if (r < 0)
		return r;
	*ret_flag = r > 0;
	return take_fd(fd);
}

static int write_once(const struct root *root, int dir, const char *name, const void *data,
		      size_t len)
{
	cleanup_close int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	ssize_t n;

	if (fd < 0)
		return -errno;
	/* Truncate the plain file of a tree, so that the rest of a longer value goes. */
	if (!root->live && ftruncate(fd, 0) < 0)
		return -errno;
	n = write(fd, data, len);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

static bool holds(const struct root *root, const char *name, const void *value, size_t len)
{
	cleanup_free char *held = NULL;
	size_t held_len = 0;

	return machine_efi_read(root, name, &held, &held_len, NULL) == 0 && held_len == len &&
	       memcmp(held, value, len) == 0;
}

int machine_efi_write(const struct root *root, const char *name, const void *value, size_t len,
		      struct err *err)
{
	cleanup_close int dir = open_variables(root, err), old = -1;
	char data[ATTRIBUTES_LEN + VALUE_MAX] = {
		ATTRIBUTES}; /* little endian, as in the firmware */
	bool flag = false;
	int r;

	if (dir < 0)
		return dir;
	if (len > VALUE_MAX)
		return err_set(err, -E2BIG, "%s: %zu bytes", name, len);
	if (holds(root, name, value, len))
		return 0;
	old = open_variable(dir, name, &flag);
	if (old < 0 && old != -ENOENT)
		return err_errno(err, old, "EFI variable %s", name);
	memcpy(data + ATTRIBUTES_LEN, value, len);
	r = write_once(root, dir, name, data, ATTRIBUTES_LEN + len);
	if (flag)
		set_immutable(old, true); /* the next change clears the flag again */
	if (r < 0 && old < 0)
		unlinkat(dir, name, 0); /* a variable without a value does not exist */
	return r < 0 ? err_errno(err, r, "EFI variable %s", name) : 0;
}

int machine_efi_remove(const struct root *root, const char *name, struct err *err)
{
	cleanup_close int dir = open_variables(root, NULL), fd = -1;
	bool flag = false;

	if (dir == -ENOENT)
		return 0;
	fd = dir < 0 ? dir : open_variable(dir, name, &flag);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, fd, "EFI variable %s", name);
	if (unlinkat(dir, name, 0) < 0) {
		int r = -errno;

		if (flag)
			set_immutable(fd, true);
		return err_errno(err, r, "EFI variable %s", name);
	}
	return 0;
}
