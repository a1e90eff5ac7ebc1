/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"

static int pwrite_all(int fd, const void *data, size_t len, off_t offset)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		offset += n;
		len -= (size_t)n;
	}
	return 0;
}

static int pread_all(int fd, void *data, size_t len, off_t offset)
{
	char *p = data;

	while (len > 0) {
		ssize_t n = pread(fd, p, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		offset += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The disk must hold the written bytes; drop the page cache before reading. */
static int check_written(int fd, const void *data, size_t len, off_t offset)
{
	cleanup_free char *back = xcalloc(1, len ? len : 1);
	int r;

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	r = pread_all(fd, back, len, offset);
	if (r < 0)
		return r;
	return memcmp(back, data, len) == 0 ? 0 : -EIO;
}

int machine_overwrite(int dirfd, const char *name, off_t offset, const void *data, size_t len,
		      struct err *err)
{
	cleanup_close int fd = root_open_at(dirfd, name, O_RDWR | O_NOFOLLOW);
	struct stat st;
	int r;

	if (fd < 0)
		return err_errno(err, fd, "%s", name);
	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", name);
	if (offset < 0 || (off_t)len > st.st_size || offset > st.st_size - (off_t)len)
		return err_set(err, -ERANGE, "%s: %zu bytes at %lld would make it longer than %lld",
			       name, len, (long long)offset, (long long)st.st_size);
	r = pwrite_all(fd, data, len, offset);
	if (r < 0)
		return err_errno(err, r, "%s: write", name);
	if (fsync(fd) < 0)
		return err_errno(err, -errno, "%s: fsync", name);
	r = check_written(fd, data, len, offset);
	if (r < 0)
		return err_errno(err, r, "%s: the file does not read back as written", name);
	return 0;
}

/* PROC_PID_INIT_INO of include/linux/proc_ns.h: the PID namespace of the machine's own init. */
static const ino_t FIRST_PID_NAMESPACE = 0xEFFFFFFC;

/*
 * In an initramfs the real root is not yet that of PID 1: dracut's has initrd-release, as systemd
 * requires, and the script for initramfs-tools sets the variable.
 */
static bool in_initramfs(void)
{
	return access("/proc/1/root/etc/initrd-release", F_OK) == 0 || getenv("RAILHEAD_INITRAMFS");
}

bool machine_boots_from(const struct root *root)
{
	struct stat own, its, space;

	if (!root->live || stat("/", &own) < 0)
		return false;
	/* Only an unprivileged caller may not look, and he changes nothing. */
	if (stat("/proc/1/root/", &its) < 0 || stat("/proc/1/ns/pid", &space) < 0)
		return errno == EACCES || errno == EPERM;
	if (space.st_ino != FIRST_PID_NAMESPACE)
		return false;
	return (own.st_dev == its.st_dev && own.st_ino == its.st_ino) || in_initramfs();
}

/* From linux/ext4.h, which is newer than the ioctl (Linux 5.14). */
#define EXT4_IOC_CHECKPOINT _IOW('f', 43, uint32_t)

/*
 * 1: the journal of this ext4 is now empty; 0: there is no journal, or the kernel lacks the ioctl.
 */
static int checkpoint(int fd)
{
	uint32_t flags = 0;
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	if (fs.f_type != EXT4_SUPER_MAGIC)
		return 0;
	if (ioctl(fd, EXT4_IOC_CHECKPOINT, &flags) == 0)
		return 1;
	/* No journal, an older kernel, or a container. */
	if (errno == ENODEV || errno == ENOTTY || errno == EOPNOTSUPP || errno == EPERM)
		return 0;
	return -errno;
}

static int write_back(const struct root *root, int fd)
{
	int r = machine_boots_from(root) ? checkpoint(fd) : 0;

	if (r != 0)
		return r < 0 ? r : 0;
	return syncfs(fd) < 0 ? -errno : 0;
}

static int copy_attribute(int from, int to, const char *name)
{
	cleanup_free char *value = NULL;
	ssize_t n = fgetxattr(from, name, NULL, 0);

	if (n < 0)
		return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -errno;
	value = xcalloc(1, (size_t)n + 1);
	n = fgetxattr(from, name, value, (size_t)n);
	if (n < 0)
		return -errno;
	return fsetxattr(to, name, value, (size_t)n, 0) < 0 ? -errno : 0;
}

/*
 * Copies owner, mode, ACL and SELinux label of the replaced file, because a reader may be rejected
 * without the label. Hashes of the content (security.ima) are not copied.
 */
static int inherit(int dirfd, const char *name, int fd)
{
	static const char *const attributes[] = {"security.selinux", "system.posix_acl_access"};
	cleanup_close int old = root_open_at(dirfd, name, O_RDONLY | O_NOFOLLOW);
	struct stat was, is;

	if (old < 0)
		return old == -ENOENT || old == -ELOOP || old == -EBADFD || old == -EISDIR ? 0
											   : old;
	if (fstat(old, &was) < 0 || fstat(fd, &is) < 0)
		return -errno;
	if ((was.st_uid != is.st_uid || was.st_gid != is.st_gid) &&
	    fchown(fd, was.st_uid, was.st_gid) < 0)
		return -errno;
	if (was.st_mode != is.st_mode && fchmod(fd, was.st_mode & 07777) < 0)
		return -errno;
	for (size_t i = 0; i < array_len(attributes); i++) {
		int r = copy_attribute(old, fd, attributes[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Returns the descriptor of the file. */
static int create_temporary(int dirfd, const char *tmp, const char *name, const void *data,
			    size_t len)
{
	cleanup_close int fd = -1;
	int r;

	if (unlinkat(dirfd, tmp, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dirfd, tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	r = inherit(dirfd, name, fd);
	if (r == 0)
		r = pwrite_all(fd, data, len, 0);
	if (r < 0)
		return r;
	if (fsync(fd) < 0)
		return -errno;
	r = check_written(fd, data, len, 0);
	return r < 0 ? r : take_fd(fd);
}

int machine_create_durable(const struct root *root, int dirfd, const char *name, const void *data,
			   size_t len, struct err *err)
{
	cleanup_free char *tmp = xasprintf("%s.new", name);
	/* The caller's fd may be O_PATH, which neither fsync nor syncfs accepts. */
	cleanup_close int dir = root_open_at(dirfd, ".", O_RDONLY | O_DIRECTORY);
	cleanup_close int fd = -1;
	int r;

	if (dir < 0)
		return err_errno(err, dir, "%s: directory", name);
	fd = create_temporary(dir, tmp, name, data, len);
	if (fd < 0) {
		unlinkat(dir, tmp, 0);
		return err_errno(err, fd, "%s", tmp);
	}
	if (renameat(dir, tmp, dir, name) < 0) {
		r = -errno;
		unlinkat(dir, tmp, 0);
		return err_errno(err, r, "%s: rename", name);
	}
	/*
	 * fsync the file again, and before the directory: the kernel's vfat_rename() makes a new
	 * entry with length 0, and only writing the inode back stores length and place in the
	 * entry.
	 */
	if (fsync(fd) < 0)
		return err_errno(err, -errno, "%s: fsync of the new name", name);
	if (fsync(dir) < 0)
		return err_errno(err, -errno, "%s: fsync of the directory", name);
	r = write_back(root, dir);
	if (r < 0)
		return err_errno(err, r, "%s: sync of the file system", name);
	return 0;
}

/* From linux/mount.h, which some versions of glibc cannot include together with sys/mount.h. */
enum {
	FS_SET_FLAG = 0,
	FS_SET_STRING = 1,
	FS_CMD_CREATE = 6,
	FS_CLOEXEC = 1,
	FS_ATTR_NOSUID_NODEV_NOEXEC = 2 | 4 | 8,
	FS_ATTR_RDONLY = 1,
};

/* The kernel's own text about a failed mount ("e VFS: Can't find ext4 filesystem"). */
static void fs_complaint(int fs, char *ret, size_t size)
{
	ssize_t n = read(fs, ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	if (n > 2 && ret[1] == ' ')
		memmove(ret, ret + 2, (size_t)n - 1);
	if (*ret && ret[strlen(ret) - 1] == '\n')
		ret[strlen(ret) - 1] = '\0';
}

static int fs_create(int fs, const char *source, bool read_write)
{
	if (syscall(SYS_fsconfig, fs, FS_SET_STRING, "source", source, 0) < 0)
		return -errno;
	if (!read_write && syscall(SYS_fsconfig, fs, FS_SET_FLAG, "ro", NULL, 0) < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FS_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	return 0;
}

/* -ENOSYS if the kernel lacks fsopen(2). */
static int mount_detached(const char *source, const char *fstype, bool read_write, struct err *err)
{
	cleanup_close int fs = (int)syscall(SYS_fsopen, fstype, FS_CLOEXEC);
	int attr = FS_ATTR_NOSUID_NODEV_NOEXEC | (read_write ? 0 : FS_ATTR_RDONLY);
	char complaint[256] = "";
	int fd, r;

	if (fs < 0 && errno == ENOSYS)
		return -ENOSYS;
	if (fs < 0)
		return err_errno(err, -errno, "mount %s: file system type %s", source, fstype);
	r = fs_create(fs, source, read_write);
	if (r < 0) {
		fs_complaint(fs, complaint, sizeof(complaint));
		if (*complaint)
			return err_errno(err, r, "mount %s (%s): %s", source, fstype, complaint);
		return err_errno(err, r, "mount %s (%s)", source, fstype);
	}
	fd = (int)syscall(SYS_fsmount, fs, FS_CLOEXEC, attr);
	if (fd < 0)
		return err_errno(err, -errno, "mount %s (%s)", source, fstype);
	return fd;
}

/* Mounts, opens and detaches again: from then on the mount has no path, either. */
static int mount_briefly(const char *source, const char *fstype, bool read_write, struct err *err)
{
	char dir[] = "/run/railhead/mount.XXXXXX";
	unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | (read_write ? 0 : MS_RDONLY);
	int fd, r;

	if (mkdir("/run/railhead", 0755) < 0 && errno != EEXIST)
		return err_errno(err, -errno, "/run/railhead");
	if (!mkdtemp(dir))
		return err_errno(err, -errno, "%s", dir);
	if (mount(source, dir, fstype, flags, NULL) < 0) {
		r = -errno;
		rmdir(dir);
		return err_errno(err, r, "mount %s (%s)", source, fstype);
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : 0;
	umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW);
	rmdir(dir);
	return r < 0 ? err_errno(err, r, "%s", dir) : fd;
}

int machine_mount_fd(const char *source, const char *fstype, bool read_write, struct err *err)
{
	int r = mount_detached(source, fstype, read_write, err);

	return r == -ENOSYS ? mount_briefly(source, fstype, read_write, err) : r;
}

/* statvfs(3) and mount(2) number the access time flags differently. */
static unsigned long mount_flags(unsigned long st)
{
	return (st & ST_NOSUID ? MS_NOSUID : 0) | (st & ST_NODEV ? MS_NODEV : 0) |
	       (st & ST_NOEXEC ? MS_NOEXEC : 0) | (st & ST_NOATIME ? MS_NOATIME : 0) |
	       (st & ST_NODIRATIME ? MS_NODIRATIME : 0) | (st & ST_RELATIME ? MS_RELATIME : 0);
}

int machine_remount(const char *target, bool read_write, struct err *err)
{
	struct statvfs st;
	unsigned long flags;

	if (statvfs(target, &st) < 0)
		return err_errno(err, -errno, "%s", target);
	flags = MS_REMOUNT | mount_flags(st.f_flag) | (read_write ? 0 : MS_RDONLY);
	if (mount(NULL, target, NULL, flags, NULL) < 0)
		return err_errno(err, -errno, "remount %s %s", target,
				 read_write ? "read-write" : "read-only");
	return 0;
}
