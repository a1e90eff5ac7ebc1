/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/bootpart.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/env_layout.h"
#include "boot/esp.h"
#include "sys/machine.h"
#include "sys/read.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum { GRUB_CFG_MAX = 4 << 20, DEVICE_WAIT_MS = 5000 };

#define REMEDY_UPDATE_GRUB "run update-grub (grub2-mkconfig -o /boot/grub2/grub.cfg)"

/* --- grub.cfg --------------------------------------------------------------------------- */

/* The next line of *text, without the blanks before it; false at the end. */
static bool next_line(const char **text, const char **line, size_t *len)
{
	const char *p = *text;
	const char *end;

	if (!*p)
		return false;
	end = strchrnul(p, '\n');
	*text = *end ? end + 1 : end;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	*line = p;
	*len = (size_t)(end - p);
	return true;
}

static bool line_starts(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len > n && memcmp(line, word, n) == 0 && (line[n] == ' ' || line[n] == '\t');
}

static bool line_has(const char *line, size_t len, const char *text)
{
	return memmem(line, len, text, strlen(text)) != NULL;
}

static bool has_variable(const char *line, size_t len)
{
	return line_has(line, len, "$" ENV_VAR_KARGS) || line_has(line, len, "${" ENV_VAR_KARGS);
}

struct cfg_facts {
	bool loads, exports, blscfg, on_line, uuid;
	int linux_lines;
};

static void read_cfg(const char *cfg, const char *esp_uuid, struct cfg_facts *f)
{
	const char *line;
	size_t len;

	while (next_line(&cfg, &line, &len)) {
		if (len > 0 && *line == '#')
			continue;
		f->loads |= line_has(line, len, ENV_FILE_NAME);
		f->exports |=
			line_starts(line, len, "export") && line_has(line, len, ENV_VAR_KARGS);
		f->blscfg |= line_starts(line, len, "blscfg") ||
			     (len == 6 && memcmp(line, "blscfg", 6) == 0);
		f->uuid |= esp_uuid && line_has(line, len, "railhead_esp=") &&
			   line_has(line, len, esp_uuid);
		if (line_starts(line, len, "linux") || line_starts(line, len, "linuxefi") ||
		    line_starts(line, len, "linux16")) {
			f->linux_lines++;
			f->on_line |= has_variable(line, len);
		}
	}
}

int grub_cfg_check(const char *grub_cfg, const char *bls_options, const char *esp_uuid,
		   struct err *err)
{
	struct cfg_facts f = {0};
	bool bls;

	read_cfg(grub_cfg, esp_uuid, &f);
	if (!f.loads || !f.exports)
		return err_set(err, -ENOENT,
			       "grub.cfg does not read %s: %s after /etc/grub.d/05_railhead is "
			       "installed",
			       ENV_FILE_NAME, REMEDY_UPDATE_GRUB);
	bls = f.blscfg && bls_options && *bls_options;
	if (bls ? !has_variable(bls_options, strlen(bls_options)) : !f.on_line)
		return err_set(err, -ENOENT, "no menu entry of GRUB ends in $%s: %s", ENV_VAR_KARGS,
			       bls ? "run grubby --update-kernel=ALL --args='$" ENV_VAR_KARGS "'"
				   : REMEDY_UPDATE_GRUB
				       " with /etc/default/grub.d/railhead.cfg in place");
	if (esp_uuid && !f.uuid)
		return err_set(err, -ENOENT,
			       "grub.cfg does not look for %s on the EFI system partition %s: %s "
			       "while it is mounted",
			       ENV_FILE_NAME, esp_uuid, REMEDY_UPDATE_GRUB);
	return 0;
}

/* --- places: directories on file systems that may have to be mounted first ---------------- */

struct place {
	int fd;	      /* the top of the file system, or the mount point */
	bool mounted; /* it has a name: `at` */
	char at[64];  /* "/boot" */
	char *device;
	char *fstype;
	char *found;
};

static void place_free(struct place *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->device);
	free(p->fstype);
	free(p->found);
	*p = (struct place){.fd = -1};
}
#define cleanup_place __attribute__((__cleanup__(place_free)))

static void sleep_ms(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* udev makes the by-label links; in the initramfs they may be late. */
static char *resolve(const char *source)
{
	for (long waited = 0;; waited += 100) {
		char *dev = device_of(source);

		if (dev || waited >= DEVICE_WAIT_MS)
			return dev;
		sleep_ms(100);
	}
}

/*
 * What a device's superblock says ("TYPE", "UUID"). By a probe of that device alone:
 * libblkid's cache would be written to /run/blkid.
 */
static char *probed(const char *device, const char *what)
{
	blkid_probe probe = blkid_new_probe_from_filename(device);
	const char *value = NULL;
	char *copy = NULL;

	if (!probe)
		return NULL;
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID);
	if (blkid_do_safeprobe(probe) == 0 &&
	    blkid_probe_lookup_value(probe, what, &value, NULL) == 0)
		copy = xstrdup(value);
	blkid_free_probe(probe);
	return copy;
}

static bool fs_known(const char *fstype)
{
	struct root live;
	cleanup_free char *list = NULL;
	cleanup_free char *line = xasprintf("\t%s\n", fstype);
	size_t len;
	bool known = false;

	if (root_init(&live, NULL, NULL) < 0)
		return false;
	if (read_file(&live, 65536, &list, &len, NULL, "proc/filesystems") == 0)
		known = strstr(list, line) != NULL;
	root_close(&live);
	return known;
}

/*
 * Loads what the mount needs from the modules of the root we run in: the kernel's own
 * request would go to the initramfs, which may have neither vfat nor its code pages. What
 * is missing shows in the mount.
 */
static void load_fs(const char *fstype)
{
	static const char *const pages[] = {"nls_cp437", "nls_ascii", "nls_iso8859-1", "nls_utf8"};

	if (fs_known(fstype))
		return;
	machine_insert_module(fstype, NULL, NULL);
	if (streq(fstype, "vfat"))
		for (size_t i = 0; i < array_len(pages); i++)
			machine_insert_module(pages[i], NULL, NULL);
}

/* Mounts a device detached. fstype: from fstab, or NULL. */
static int place_mount(struct place *p, const char *device, const char *fstype, bool write,
		       struct err *err)
{
	p->device = xstrdup(device);
	if (fstype && !streq(fstype, "auto") && !strchr(fstype, ','))
		p->fstype = xstrdup(fstype);
	else
		p->fstype = probed(device, "TYPE");
	if (!p->fstype)
		return err_set(err, -ENODEV, "%s: no file system is recognised on it", device);
	load_fs(p->fstype);
	p->fd = machine_mount_fd(device, p->fstype, write, err);
	return p->fd < 0 ? p->fd : 0;
}

/* A directory that is there already, on whatever file system. */
static int place_directory(const struct root *root, struct place *p, const char *at,
			   struct err *err)
{
	p->fd = root_open(root, O_RDONLY | O_DIRECTORY, err, "%s", at);
	if (p->fd < 0)
		return p->fd;
	p->mounted = true;
	snprintf(p->at, sizeof(p->at), "%s", at);
	return 0;
}

static bool is_mount_point(const struct root *root, const char *at)
{
	struct stat here, top;

	return root_stat(root, &here, at) == 0 && root_stat(root, &top, "/") == 0 &&
	       here.st_dev != top.st_dev;
}

struct fstab {
	struct libmnt_table *table;
};

static void fstab_free(struct fstab *t)
{
	mnt_unref_table(t->table);
}
#define cleanup_fstab __attribute__((__cleanup__(fstab_free)))

/* An absent fstab is an empty one. */
static int fstab_read(const struct root *root, struct fstab *ret, struct err *err)
{
	cleanup_fclose FILE *f = NULL;
	int fd = root_open_path(root, "etc/fstab", O_RDONLY);

	ret->table = mnt_new_table();
	if (fd == -ENOENT)
		return 0;
	f = fd < 0 ? NULL : fdopen(fd, "re");
	if (!f)
		return err_errno(err, fd < 0 ? fd : -errno, "/etc/fstab");
	if (mnt_table_parse_stream(ret->table, f, "/etc/fstab") != 0)
		return err_set(err, -EINVAL, "/etc/fstab can't be parsed");
	return 0;
}

/* The entry of a mount point that is a file system of its own. */
static struct libmnt_fs *fstab_find(const struct fstab *t, const char *at)
{
	struct libmnt_fs *fs = mnt_table_find_target(t->table, at, MNT_ITER_FORWARD);

	if (!fs || !mnt_fs_get_source(fs) || mnt_fs_match_options(fs, "bind") ||
	    mnt_fs_match_options(fs, "rbind"))
		return NULL;
	return fs;
}

static int mount_entry(struct libmnt_fs *fs, const char *at, bool write, struct place *p,
		       struct err *err)
{
	const char *source = mnt_fs_get_source(fs);
	cleanup_free char *device = NULL;

	if (mnt_fs_is_netfs(fs) || mnt_fs_is_pseudofs(fs))
		return err_set(err, -EOPNOTSUPP, "/etc/fstab: %s on %s is no disk", source, at);
	device = resolve(source);
	if (!device)
		return err_set(err, -ENODEV, "/etc/fstab: %s (%s) did not appear within %d s",
			       source, at, DEVICE_WAIT_MS / 1000);
	p->found = xasprintf("/etc/fstab: %s on %s", source, at);
	return place_mount(p, device, mnt_fs_get_fstype(fs), write, err);
}

/* The top of what is, or would be, mounted at `at`. */
static int place_open(const struct root *root, const struct fstab *t, const char *at, bool write,
		      struct place *p, struct err *err)
{
	struct libmnt_fs *fs = t->table ? fstab_find(t, at) : NULL;

	if (root->live && fs && !is_mount_point(root, at))
		return mount_entry(fs, at, write, p, err);
	if (fs)
		p->found = xasprintf("/etc/fstab: %s on %s", mnt_fs_get_source(fs), at);
	else
		p->found =
			xasprintf(is_mount_point(root, at) ? "mounted at %s" : "directory %s", at);
	return place_directory(root, p, at, err);
}

/* --- what the file system is --------------------------------------------------------------- */

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

static void name_device(const struct root *root, struct place *p)
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

/*
 * GRUB's save_env writes to plain partitions only: not through md, LVM or LUKS
 * ("diskfilter writes are not supported"), not to btrfs. The file of a trial that it can't
 * disarm must not be armed.
 */
static char *why_no_trial(const struct root *root, const struct place *p)
{
	cleanup_free char *uuid = NULL;
	struct stat st;
	unsigned int maj, min;

	if (p->fstype && streq(p->fstype, "btrfs"))
		return xstrdup("GRUB can't write to btrfs, so no trial could be disarmed");
	if (fstat(p->fd, &st) < 0)
		return NULL;
	/* By number: a volume's device node may have any name. */
	maj = major(st.st_dev);
	min = minor(st.st_dev);
	if (root_exists(root, "sys/dev/block/%u:%u/md", maj, min))
		return xasprintf("GRUB can't write to the RAID array %s, so no trial could be "
				 "disarmed",
				 p->device);
	if (read_text(root, &uuid, NULL, "sys/dev/block/%u:%u/dm/uuid", maj, min) == 0 &&
	    (str_starts(uuid, "LVM-") || str_starts(uuid, "CRYPT-")))
		return xasprintf("GRUB can't write to %s (%.*s), so no trial could be disarmed",
				 p->device, (int)strcspn(uuid, "-"), uuid);
	return NULL;
}

static bool grub_reads(const char *fstype)
{
	static const char *const known[] = {"ext2", "ext3", "ext4", "xfs", "vfat", "btrfs"};

	for (size_t i = 0; fstype && i < array_len(known); i++)
		if (streq(fstype, known[i]))
			return true;
	return false;
}

static bool read_only(const struct place *p)
{
	struct statvfs st;

	return fstatvfs(p->fd, &st) == 0 && (st.f_flag & ST_RDONLY);
}

/* The mount point that a directory of the live root is on, to remount it. */
static int make_writable(const struct root *root, const struct place *p, struct bootpart *b,
			 struct err *err)
{
	const char *target = is_mount_point(root, p->at) ? p->at : "/";
	int r;

	if (!read_only(p))
		return 0;
	if (!root->live || !p->mounted)
		return err_set(err, -EROFS, "%s is read-only", p->found);
	r = machine_remount(target, true, err);
	if (r < 0)
		return r;
	b->remounted = xstrdup(target);
	return 0;
}

/* --- GRUB's directory ------------------------------------------------------------------------ */

/* "grub" or "grub2" below /boot, whichever has a grub.cfg; NULL if neither. */
static const char *grub_dir(int boot)
{
	if (faccessat(boot, "grub/grub.cfg", F_OK, 0) == 0)
		return "grub";
	if (faccessat(boot, "grub2/grub.cfg", F_OK, 0) == 0)
		return "grub2";
	return NULL;
}

static char *read_at(int dir, const char *name)
{
	cleanup_close int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;

	if (fd < 0 || read_fd(fd, GRUB_CFG_MAX, &text, NULL) < 0)
		return NULL;
	return text ? text : xstrdup("");
}

static bool is_entry(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && streq(name + n - 5, ".conf") && !strstr(name, "rescue");
}

/* The options lines of the boot loader specification's entries, rescue entries left out. */
static char *bls_options(int boot)
{
	cleanup_closedir DIR *dir = NULL;
	struct str all = {0};
	struct dirent *e;
	int fd = openat(boot, "loader/entries", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	while (dir && (e = readdir(dir))) {
		cleanup_free char *text = is_entry(e->d_name) ? read_at(fd, e->d_name) : NULL;
		const char *p = text, *line;
		size_t len;

		while (p && next_line(&p, &line, &len))
			if (line_starts(line, len, "options"))
				str_addf(&all, "%.*s\n", (int)len, line);
	}
	return all.len ? str_take(&all) : NULL;
}

static void __attribute__((format(printf, 2, 3)))
no_loader(struct bootpart *b, const char *fmt, ...)
{
	struct str why = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&why, fmt, ap);
	va_end(ap);
	free(b->loader_why);
	b->loader = LOADER_NONE;
	b->loader_why = str_take(&why);
}

/* What GRUB is configured to do, as far as it was found. */
struct grub_config {
	const char *dir; /* of grub.cfg: "grub", "grub2", or NULL */
	char *cfg;
	char *bls_options;
};

static void config_read(int boot, struct grub_config *ret)
{
	cleanup_free char *path = NULL;

	ret->dir = grub_dir(boot);
	if (ret->dir) {
		path = xasprintf("%s/grub.cfg", ret->dir);
		ret->cfg = read_at(boot, path);
	}
	ret->bls_options = bls_options(boot);
}

static void config_free(struct grub_config *c)
{
	free(c->cfg);
	free(c->bls_options);
}
#define cleanup_config __attribute__((__cleanup__(config_free)))

/* Whether that GRUB reads our file. */
static void check_loader(const struct root *root, const struct grub_config *c, const char *esp_uuid,
			 struct bootpart *b)
{
	struct err err = {0};

	b->loader = LOADER_GRUB;
	if (root_exists(root, "run/ostree-booted"))
		no_loader(b,
			  "this is an ostree or bootc system; its kernel arguments come with the "
			  "image (`railhead kargs --format=bootc`)");
	else if (!c->cfg)
		no_loader(b, "there is no grub.cfg in /boot/grub or /boot/grub2 (network boot, "
			     "systemd-boot or a unified kernel image?); give the arguments to what "
			     "boots this machine (`railhead kargs --format=line`)");
	else if (grub_cfg_check(c->cfg, c->bls_options, esp_uuid, &err) < 0)
		no_loader(b, "%s", err.text);
}

/* --- where the file is --------------------------------------------------------------------- */

/* Opens the directory `dir` of a place as that of the env file. */
static int take_directory(const struct root *root, struct place *p, const char *dir, bool write,
			  struct bootpart *b, struct err *err)
{
	int r;

	name_device(root, p);
	b->device = p->device ? xstrdup(p->device) : NULL;
	b->fstype = p->fstype ? xstrdup(p->fstype) : NULL;
	b->found = xstrdup(p->found);
	if (root->live && !grub_reads(p->fstype)) {
		no_loader(b, "%s is on %s, which GRUB does not read or which does not last",
			  p->found, p->fstype ? p->fstype : "an unknown file system");
		return 0;
	}
	b->no_trial_why = root->live ? why_no_trial(root, p) : NULL;
	if (write && b->loader == LOADER_GRUB) {
		r = make_writable(root, p, b, err);
		if (r < 0)
			return r;
		b->writable = true;
		if (b->efi && ((mkdirat(p->fd, "EFI", 0755) < 0 && errno != EEXIST) ||
			       (mkdirat(p->fd, dir, 0755) < 0 && errno != EEXIST)))
			return err_errno(err, -errno, "%s: %s", p->found, dir);
	}
	b->dirfd = openat(p->fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->dirfd < 0 && errno != ENOENT)
		return err_errno(err, -errno, "%s: %s", p->found, dir);
	return 0;
}

static int open_bios(const struct root *root, const struct fstab *t, bool write, struct bootpart *b,
		     struct err *err)
{
	cleanup_place struct place boot = {.fd = -1};
	cleanup_config struct grub_config config = {0};
	int r = place_open(root, t, "/boot", write, &boot, err);

	if (r < 0)
		return r;
	config_read(boot.fd, &config);
	check_loader(root, &config, NULL, b);
	if (!config.dir)
		return 0;
	b->path = xasprintf("/boot/%s/%s", config.dir, ENV_FILE_NAME);
	return take_directory(root, &boot, config.dir, write, b, err);
}

/* fstab's word, by place and, for /boot, by type; else what the partition table says. */
static int place_esp(const struct root *root, const struct fstab *t, dev_t disk_of, bool write,
		     struct place *p, struct err *err)
{
	static const char *const at[] = {"/boot/efi", "/efi", "/boot"};
	cleanup_free char *device = NULL;
	int r;

	for (size_t i = 0; i < array_len(at); i++) {
		struct libmnt_fs *fs = fstab_find(t, at[i]);
		const char *type = fs ? mnt_fs_get_fstype(fs) : NULL;

		if (type && (streq(type, "vfat") || (streq(type, "auto") && i < 2)))
			return place_open(root, t, at[i], write, p, err);
		if (!fs && is_mount_point(root, at[i]) && i < 2)
			return place_open(root, t, at[i], write, p, err);
	}
	if (!root->live)
		return place_open(root, t, at[0], write, p, err);
	r = esp_find(root, disk_of, &device, err);
	if (r < 0)
		return r;
	p->found = xasprintf("EFI system partition %s of the boot disk", device);
	return place_mount(p, device, NULL, write, err);
}

static int boot_config(const struct root *root, const struct fstab *t, struct grub_config *ret,
		       dev_t *ret_dev, struct err *err)
{
	cleanup_place struct place boot = {.fd = -1};
	struct stat st;
	int r = place_open(root, t, "/boot", false, &boot, err);

	if (r < 0)
		return r;
	if (fstat(boot.fd, &st) < 0)
		return err_errno(err, -errno, "%s", boot.found);
	*ret_dev = st.st_dev;
	config_read(boot.fd, ret);
	return 0;
}

static int open_efi(const struct root *root, const struct fstab *t, bool write, struct bootpart *b,
		    struct err *err)
{
	cleanup_place struct place esp = {.fd = -1};
	cleanup_config struct grub_config config = {0};
	cleanup_free char *uuid = NULL;
	struct err why = {0};
	dev_t dev = 0;
	/* /boot is closed again before the ESP is opened: they may be one. */
	int r = boot_config(root, t, &config, &dev, err);

	if (r < 0)
		return r;
	b->efi = true;
	r = place_esp(root, t, dev, write, &esp, &why);
	if (r == -ENOENT || r == -ENOTUNIQ) {
		no_loader(b, "%s", why.text);
		return 0;
	}
	if (r < 0)
		return err_set(err, r, "%s", why.text);
	name_device(root, &esp);
	uuid = root->live && esp.device ? probed(esp.device, "UUID") : NULL;
	check_loader(root, &config, uuid, b);
	b->path = xasprintf("%s/EFI/railhead/%s", esp.mounted ? esp.at : "ESP:", ENV_FILE_NAME);
	return take_directory(root, &esp, "EFI/railhead", write, b, err);
}

int bootpart_open(const struct root *root, bool write, struct bootpart *ret, struct err *err)
{
	struct bootpart b = {.dirfd = -1};
	cleanup_fstab struct fstab t = {0};
	int r = fstab_read(root, &t, err);

	if (r == 0 && root_exists(root, "sys/firmware/efi"))
		r = open_efi(root, &t, write, &b, err);
	else if (r == 0)
		r = open_bios(root, &t, write, &b, err);
	if (r < 0) {
		bootpart_close(&b, NULL);
		return r;
	}
	*ret = b;
	return 0;
}

int bootpart_close(struct bootpart *b, struct err *err)
{
	int r = 0;

	if (b->dirfd >= 0) {
		if (b->writable)
			syncfs(b->dirfd);
		close(b->dirfd);
	}
	if (b->remounted)
		r = machine_remount(b->remounted, false, err);
	free(b->path);
	free(b->device);
	free(b->fstype);
	free(b->found);
	free(b->loader_why);
	free(b->no_trial_why);
	free(b->remounted);
	*b = (struct bootpart){.dirfd = -1};
	return r;
}
