/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "loader/esp.h"
#include "loader/stack.h"
#include "sys/libblkid.h"
#include "sys/machine.h"
#include "sys/read.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

void place_free(struct place *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->at);
	free(p->device);
	free(p->fstype);
	free(p->found);
	*p = (struct place){.fd = -1};
}

/* --- fstab -------------------------------------------------------------------------------- */

void fstab_free(struct fstab *t)
{
	if (t->table)
		t->mnt->mnt_unref_table(t->table);
}

int fstab_read(const struct root *root, struct fstab *ret, struct err *err)
{
	cleanup_fclose FILE *f = NULL;
	int fd = root_open_path(root, "etc/fstab", O_RDONLY);

	*ret = (struct fstab){0};
	if (fd == -ENOENT)
		return 0;
	f = fd < 0 ? NULL : fdopen(fd, "re");
	if (!f)
		return err_errno(err, fd < 0 ? fd : -errno, "/etc/fstab");
	ret->mnt = libmount_get(err);
	if (!ret->mnt)
		return -ELIBACC;
	ret->table = ret->mnt->mnt_new_table();
	if (ret->mnt->mnt_table_parse_stream(ret->table, f, "/etc/fstab") != 0)
		return err_set(err, -EINVAL, "/etc/fstab can't be parsed");
	return 0;
}

struct libmnt_fs *fstab_find(const struct fstab *t, const char *at)
{
	const struct libmount *mnt = t->mnt;
	struct libmnt_fs *fs =
		t->table ? mnt->mnt_table_find_target(t->table, at, MNT_ITER_FORWARD) : NULL;

	if (!fs || !mnt->mnt_fs_get_source(fs) || mnt->mnt_fs_match_options(fs, "bind") ||
	    mnt->mnt_fs_match_options(fs, "rbind"))
		return NULL;
	return fs;
}

/* --- opening and mounting ------------------------------------------------------------------ */

char *place_probe(const char *device, const char *what)
{
	const struct libblkid *lib = libblkid_get(NULL);
	blkid_probe probe = lib ? lib->blkid_new_probe_from_filename(device) : NULL;
	const char *value = NULL;
	char *copy = NULL;

	if (!probe)
		return NULL;
	lib->blkid_probe_enable_superblocks(probe, 1);
	lib->blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID);
	if (lib->blkid_do_safeprobe(probe) == 0 &&
	    lib->blkid_probe_lookup_value(probe, what, &value, NULL) == 0)
		copy = xstrdup(value);
	lib->blkid_free_probe(probe);
	return copy;
}

/* --- mounts that are there -------------------------------------------------------------------- */

static struct libmnt_table *read_mounts(const struct root *root, const struct libmount *mnt)
{
	int fd = root_open_path(root, "proc/self/mountinfo", O_RDONLY);
	cleanup_fclose FILE *f = fd < 0 ? NULL : fdopen(fd, "re");
	struct libmnt_table *table = mnt->mnt_new_table();

	if (f)
		mnt->mnt_table_parse_stream(table, f, "/proc/self/mountinfo");
	return table;
}

/* Opens the directory of a mount; fails if it is the mount of a part, or is covered by another. */
static int open_mount(const struct root *root, const struct libmount *mnt, struct libmnt_fs *fs,
		      dev_t dev)
{
	const char *top = mnt->mnt_fs_get_root(fs);
	struct stat st;
	int fd;

	if (mnt->mnt_fs_get_devno(fs) != dev || !top || !streq(top, "/"))
		return -ENOENT;
	fd = root_open(root, O_RDONLY | O_DIRECTORY, NULL, "%s", mnt->mnt_fs_get_target(fs));
	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_dev == dev))
		return fd;
	close(fd);
	return -ENOENT;
}

/* Opens the first such mount whose options have the word "rw" or "ro". */
static bool open_first_mount(const struct root *root, const struct libmount *mnt,
			     struct libmnt_table *table, const char *option, dev_t dev,
			     struct place *p)
{
	struct libmnt_iter *at = mnt->mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs = NULL;

	while (!p->mounted && mnt->mnt_table_next_fs(table, at, &fs) == 0) {
		int fd = mnt->mnt_fs_match_options(fs, option) ? open_mount(root, mnt, fs, dev)
							       : -ENOENT;

		if (fd < 0)
			continue;
		p->fd = fd;
		p->mounted = true;
		p->at = xstrdup(mnt->mnt_fs_get_target(fs));
	}
	mnt->mnt_free_iter(at);
	return p->mounted;
}

bool place_open_mounted(const struct root *root, struct place *p, dev_t dev)
{
	const struct libmount *mnt = libmount_get(NULL);
	struct libmnt_table *table = mnt ? read_mounts(root, mnt) : NULL;
	bool found = table && (open_first_mount(root, mnt, table, "rw", dev, p) ||
			       open_first_mount(root, mnt, table, "ro", dev, p));

	if (table)
		mnt->mnt_unref_table(table);
	return found;
}

static bool open_mounted_device(const struct root *root, struct place *p, const char *device)
{
	cleanup_free char *found = NULL;
	struct stat st;

	if (stat(device, &st) < 0 || !S_ISBLK(st.st_mode) ||
	    !place_open_mounted(root, p, st.st_rdev))
		return false;
	found = p->found;
	p->found = xasprintf("%s, mounted at %s", found, p->at);
	return true;
}

int place_mount(const struct root *root, struct place *p, const char *device, const char *fstype,
		bool write, struct err *err)
{
	struct err why = {0};

	p->device = xstrdup(device);
	if (open_mounted_device(root, p, device))
		return 0;
	if (fstype && !streq(fstype, "auto") && !strchr(fstype, ','))
		p->fstype = xstrdup(fstype);
	else
		p->fstype = place_probe(device, "TYPE");
	if (!p->fstype && !libblkid_get(err))
		return err_wrap(err, "%s", device);
	if (!p->fstype)
		return err_set(err, -ENODEV, "%s: railhead recognises no file system on the device",
			       device);
	p->fd = machine_mount_fd(device, p->fstype, write, &why);
	if (p->fd == -EBUSY)
		return err_set(
			err, -EBUSY,
			"%s; if another mount namespace has it mounted %s, unmount it there, or "
			"mount it here too",
			why.text, write ? "read-only" : "read-write");
	return p->fd < 0 ? err_copy(err, p->fd, &why) : 0;
}

/* Opens a directory that exists already, on any file system. */
static int place_directory(const struct root *root, struct place *p, const char *at,
			   struct err *err)
{
	p->fd = root_open(root, O_RDONLY | O_DIRECTORY, err, "%s", at);
	if (p->fd < 0)
		return p->fd;
	p->mounted = true;
	p->at = xstrdup(at);
	return 0;
}

bool place_is_mount_point(const struct root *root, const char *at)
{
	cleanup_free char *parent = xasprintf("%s/..", at);
	struct stat here, above;

	return root_stat(root, &here, at) == 0 && root_stat(root, &above, parent) == 0 &&
	       here.st_dev != above.st_dev;
}

bool place_is_mounted_vfat(const struct root *root, const char *at)
{
	cleanup_close int fd = root_open(root, O_RDONLY | O_DIRECTORY, NULL, "%s", at);
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == MSDOS_SUPER_MAGIC &&
	       place_is_mount_point(root, at);
}

static int mount_entry(const struct root *root, const struct libmount *mnt, struct libmnt_fs *fs,
		       const char *at, bool write, struct place *p, struct err *err)
{
	const char *source = mnt->mnt_fs_get_source(fs);
	cleanup_free char *device = NULL;

	if (!libblkid_get(err))
		return -ELIBACC;
	if (mnt->mnt_fs_is_netfs(fs) || mnt->mnt_fs_is_pseudofs(fs))
		return err_set(err, -EOPNOTSUPP, "/etc/fstab: %s on %s is not a disk", source, at);
	device = device_of(source);
	if (!device)
		return err_set(err, -ENODEV, "/etc/fstab: %s (%s) is not there", source, at);
	p->found = xasprintf("/etc/fstab: %s on %s", source, at);
	return place_mount(root, p, device, mnt->mnt_fs_get_fstype(fs), write, err);
}

int place_open(const struct root *root, const struct fstab *t, const char *at, bool write,
	       struct place *p, struct err *err)
{
	struct libmnt_fs *fs = fstab_find(t, at);

	if (machine_boots_from(root) && fs && !place_is_mount_point(root, at))
		return mount_entry(root, t->mnt, fs, at, write, p, err);
	if (fs)
		p->found = xasprintf("/etc/fstab: %s on %s", t->mnt->mnt_fs_get_source(fs), at);
	else
		p->found = xasprintf(
			place_is_mount_point(root, at) ? "mounted at %s" : "directory %s", at);
	return place_directory(root, p, at, err);
}

/* --- the file system -------------------------------------------------------------------------- */

static const char *magic_name(long magic)
{
	switch ((unsigned long)magic & 0xffffffff) {
	case EXT4_SUPER_MAGIC:
		return "ext4";
	case XFS_SUPER_MAGIC:
		return "xfs";
	case MSDOS_SUPER_MAGIC:
		return "vfat";
	case BTRFS_SUPER_MAGIC:
		return "btrfs";
	case OVERLAYFS_SUPER_MAGIC:
		return "overlay";
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return "tmpfs";
	case SQUASHFS_MAGIC:
		return "squashfs";
	case NFS_SUPER_MAGIC:
		return "nfs";
	default:
		return NULL;
	}
}

void place_name(const struct root *root, struct place *p)
{
	cleanup_free char *name = NULL;
	struct statfs fs;
	struct stat st;

	if (!p->fstype && fstatfs(p->fd, &fs) == 0 && magic_name(fs.f_type))
		p->fstype = xstrdup(magic_name(fs.f_type));
	if (!p->device && fstat(p->fd, &st) == 0 && major(st.st_dev) != 0 &&
	    read_link_name(root, &name, NULL, "sys/dev/block/%u:%u", major(st.st_dev),
			   minor(st.st_dev)) == 0)
		p->device = xasprintf("/dev/%s", name);
}

/* A trial must not be armed in a file in which GRUB can't disarm it. */
char *place_no_trial_why(const struct root *root, const struct place *p)
{
	cleanup_free char *what = NULL;
	struct stat st;

	/* sysfs does not know the device numbers of btrfs subvolumes. */
	if (p->fstype && streq(p->fstype, "btrfs"))
		return xstrdup("GRUB can't write to btrfs, so no trial could be disarmed");
	if (fstat(p->fd, &st) == 0)
		what = stack_unwritable(root, st.st_dev);
	return what ? xasprintf("GRUB can't write to %s, so no trial could be disarmed", what)
		    : NULL;
}

static bool read_only(const struct place *p)
{
	struct statvfs st;

	return fstatvfs(p->fd, &st) == 0 && (st.f_flag & ST_RDONLY);
}

/* The mount point of the directory's file system. */
static char *mount_point_of(const struct root *root, const char *at)
{
	char *point = xstrdup(at);

	while (point[1] && !place_is_mount_point(root, point)) {
		char *slash = strrchr(point, '/');

		slash[slash == point] = '\0';
	}
	return point;
}

int place_make_writable(const struct root *root, const struct place *p, char **ret_remounted,
			struct err *err)
{
	cleanup_free char *target = NULL;
	int r;

	if (!read_only(p))
		return 0;
	if (!machine_boots_from(root) || !p->mounted)
		return err_set(err, -EROFS, "%s is read-only", p->found);
	target = mount_point_of(root, p->at);
	r = machine_remount(target, true, err);
	if (r < 0)
		return r;
	*ret_remounted = take_ptr(target);
	return 0;
}
