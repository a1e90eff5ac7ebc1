/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/bootpart.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "loader/booted.h"
#include "loader/env.h"
#include "loader/esp.h"
#include "loader/grub.h"
#include "loader/place.h"
#include "sys/libblkid.h"
#include "sys/machine.h"

static void __attribute__((format(printf, 2, 3)))
no_loader(struct bootpart *b, const char *fmt, ...)
{
	char *before = b->loader_why;
	va_list ap;

	va_start(ap, fmt);
	b->loader_why = xvasprintf(fmt, ap);
	va_end(ap);
	free(before);
}

/* Checks whether that GRUB reads our file. */
static void check_loader(const struct root *root, const struct grub_config *c, const char *esp_uuid,
			 struct bootpart *b)
{
	struct err err = {0};
	int r = grub_config_check(root, c, esp_uuid, &err);

	if (r < 0)
		no_loader(b, "%s", err.text);
	b->entry_lacks_kargs = r == -ESTALE;
	b->parses_value = grub_parses_value(c);
}

static int make_directories(struct place *p, const char *dir, struct err *err)
{
	for (const char *end = dir; *end; end += *end == '/') {
		cleanup_free char *part = NULL;

		end = strchrnul(end, '/');
		part = xstrndup(dir, (size_t)(end - dir));
		if (mkdirat(p->fd, part, 0755) < 0 && errno != EEXIST)
			return err_errno(err, -errno, "%s: %s", p->found, part);
	}
	return 0;
}

/* Opens the directory `dir` of a place as the env file's directory. */
static int take_directory(const struct root *root, struct place *p, const char *dir, bool write,
			  struct bootpart *b, struct err *err)
{
	int r, fd;

	place_name(root, p);
	b->device = p->device ? xstrdup(p->device) : NULL;
	b->fstype = p->fstype ? xstrdup(p->fstype) : NULL;
	b->found = xstrdup(p->found);
	if (machine_boots_from(root) && !grub_reads(p->fstype)) {
		b->entry_lacks_kargs = false;
		no_loader(b, "%s is on %s, which GRUB does not read or which does not last",
			  p->found, p->fstype ? p->fstype : "an unknown file system");
		return 0;
	}
	b->no_trial_why = machine_boots_from(root) ? place_no_trial_why(root, p) : NULL;
	if (write && !b->loader_why) {
		r = place_make_writable(root, p, &b->remounted, err);
		if (r < 0)
			return r;
		b->writable = true;
		r = b->efi ? make_directories(p, dir, err) : 0;
		if (r < 0)
			return r;
	}
	fd = root_open_at(p->fd, dir, O_RDONLY | O_DIRECTORY);
	if (fd < 0 && fd != -ENOENT)
		return err_errno(err, fd, "%s: %s", p->found, dir);
	b->dirfd = fd < 0 ? -1 : fd;
	return 0;
}

static int open_bios(const struct root *root, const struct fstab *t, bool write, struct bootpart *b,
		     struct err *err)
{
	cleanup_place struct place boot = {.fd = -1};
	cleanup_grub_config struct grub_config config = {0};
	int r = place_open(root, t, "/boot", write, &boot, err);

	if (r < 0)
		return r;
	grub_config_read(boot.fd, &config);
	counters_read_blocks(root, boot.fd, "/boot", &b->counters);
	check_loader(root, &config, NULL, b);
	if (!config.dir)
		return 0;
	b->path = xasprintf("/boot/%s/%s", config.dir, ENV_FILE_NAME);
	return take_directory(root, &boot, config.dir, write, b, err);
}

/* Whether the ESP may be the file system at a mount point: by fstab, else by the mount there. */
static bool may_be_esp(const struct root *root, const struct fstab *t, const char *at, bool is_boot)
{
	struct libmnt_fs *fs = fstab_find(t, at);
	const char *type = fs ? t->mnt->mnt_fs_get_fstype(fs) : NULL;

	if (fs)
		return type && (streq(type, "vfat") || (streq(type, "auto") && !is_boot));
	return is_boot ? place_is_mounted_vfat(root, at) : place_is_mount_point(root, at);
}

static bool is_xbootldr(const struct root *root, const struct place *p)
{
	struct stat st;

	return fstat(p->fd, &st) == 0 && esp_is_xbootldr(root, st.st_dev);
}

/*
 * Finds the ESP by fstab, by mount point and, for /boot, by the types of file system and partition;
 * else by the partition table.
 */
static int place_esp(const struct root *root, const struct fstab *t, dev_t disk_of, bool write,
		     struct place *p, struct err *err)
{
	static const char *const at[] = {"/boot/efi", "/efi", "/boot"};
	cleanup_free char *device = NULL;
	int r;

	for (size_t i = 0; i < array_len(at); i++) {
		bool is_boot = i == 2;

		if (!may_be_esp(root, t, at[i], is_boot))
			continue;
		r = place_open(root, t, at[i], write, p, err);
		if (r < 0 || !is_boot || !is_xbootldr(root, p))
			return r;
		place_free(p);
	}
	if (!machine_boots_from(root))
		return place_open(root, t, at[0], write, p, err);
	r = esp_find(root, disk_of, &device, err);
	if (r < 0)
		return r;
	p->found = xasprintf("EFI system partition %s of the boot disk", device);
	return place_mount(root, p, device, NULL, write, err);
}

static int boot_config(const struct root *root, const struct fstab *t, struct grub_config *ret,
		       struct counters *counters, dev_t *ret_dev, struct err *err)
{
	cleanup_place struct place boot = {.fd = -1};
	struct stat st;
	int r = place_open(root, t, "/boot", false, &boot, err);

	if (r < 0)
		return r;
	if (fstat(boot.fd, &st) < 0)
		return err_errno(err, -errno, "%s", boot.found);
	*ret_dev = st.st_dev;
	grub_config_read(boot.fd, ret);
	counters_read_blocks(root, boot.fd, "/boot", counters);
	return 0;
}

#define ESP_DIR "EFI/railhead"

/* The ESP's mount point or name, for people. */
static const char *esp_name(const struct place *esp)
{
	return esp->mounted ? esp->at : "ESP:";
}

static char *esp_path(const struct place *esp, const char *dir)
{
	return xasprintf("%s/%s/%s", esp_name(esp), dir, ENV_FILE_NAME);
}

/*
 * Images baked before their grub.cfg was made, and installations with an older snippet, have the
 * file one directory further up, where GRUB looks if the installation's own directory has none. The
 * first write takes that file over.
 */
static bool has_env(int dirfd)
{
	struct stat st;

	return dirfd >= 0 && fstatat(dirfd, ENV_FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_size > 0;
}

static int take_env_over(const struct root *root, int from, int to, struct err *err)
{
	struct boot_env env;
	int r = env_read(from, &env, err);

	if (r >= 0)
		r = env_create(root, to, &env, err);
	if (r == 0 && unlinkat(from, ENV_FILE_NAME, 0) < 0)
		r = err_errno(err, -errno, "%s of an earlier installation", ENV_FILE_NAME);
	return r;
}

static int find_env(const struct root *root, const struct place *esp, struct bootpart *b,
		    struct err *err)
{
	cleanup_close int above = root_open_at(esp->fd, ESP_DIR, O_RDONLY | O_DIRECTORY);

	if (has_env(b->dirfd) || !has_env(above))
		return 0;
	if (b->writable)
		return take_env_over(root, above, b->dirfd, err);
	if (b->dirfd >= 0)
		close(b->dirfd);
	b->dirfd = take_fd(above);
	free(b->path);
	b->path = esp_path(esp, ESP_DIR);
	return 0;
}

static int open_efi(const struct root *root, const struct fstab *t, bool write, struct bootpart *b,
		    struct err *err)
{
	cleanup_place struct place esp = {.fd = -1};
	cleanup_grub_config struct grub_config config = {0};
	cleanup_free char *uuid = NULL, *installation = NULL, *dir = NULL;
	struct err why = {0};
	dev_t dev = 0;
	/* /boot is closed before the ESP is opened, because they may be the same. */
	int r = boot_config(root, t, &config, &b->counters, &dev, err);

	if (r < 0)
		return r;
	b->efi = true;
	r = place_esp(root, t, dev, write, &esp, &why);
	if (r == -ENOENT || r == -ENOTUNIQ) {
		/* For example, a unified kernel image from the network needs no partition. */
		(void)booted_check(root, &why);
		no_loader(b, "%s", why.text);
		return 0;
	}
	if (r < 0)
		return err_set(err, r, "%s", why.text);
	place_name(root, &esp);
	if (machine_boots_from(root) && esp.device && !libblkid_get(err))
		return -ELIBACC;
	uuid = machine_boots_from(root) && esp.device ? place_probe(esp.device, "UUID") : NULL;
	grub_config_read_esp(esp.fd, esp_name(&esp), &config);
	/* an EFI system partition at /boot has been read as /boot */
	if (!esp.mounted || !streq(esp.at, "/boot"))
		counters_read_blocks(root, esp.fd, esp_name(&esp), &b->counters);
	check_loader(root, &config, uuid, b);
	installation = grub_installation(&config);
	dir = xasprintf(ESP_DIR "%s%s", installation ? "/" : "", installation ? installation : "");
	b->path = esp_path(&esp, dir);
	r = take_directory(root, &esp, dir, write, b, err);
	return r < 0 ? r : find_env(root, &esp, b, err);
}

/* --- all ---------------------------------------------------------------------------------------
 */

int bootpart_open(const struct root *root, bool write, struct bootpart *ret, struct err *err)
{
	struct bootpart b = {.dirfd = -1};
	cleanup_fstab struct fstab t = {0};
	int r = fstab_read(root, &t, err);

	if (r == 0 && !machine_boots_from(root) && !write && !root_exists(root, "boot"))
		no_loader(&b, "this tree has no /boot, as captured machines have none: what its "
			      "boot loader would pass is not known here");
	else if (r == 0 && root_exists(root, "sys/firmware/efi"))
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
	counters_free(&b->counters);
	*b = (struct bootpart){.dirfd = -1};
	return r;
}
