/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables of the EFI firmware in efivarfs (Documentation/filesystems/efivarfs.rst): four bytes of
 * attributes, then the value. railhead writes none.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "sys/machine.h"
#include "sys/read.h"

#ifndef EFIVARFS_MAGIC
#define EFIVARFS_MAGIC 0xde5e81e4
#endif

#define DIR_OF_VARIABLES "sys/firmware/efi/efivars"

enum {
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
