/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/esp.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "base/str.h"
#include "loader/booted.h"
#include "loader/stack.h"
#include "sys/libblkid.h"
#include "sys/read.h"

#define GUID_ESP "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
#define GUID_XBOOTLDR "bc13c2ff-59e6-4262-a352-b275fd6f7172"

/* --- names of devices ------------------------------------------------------------------- */

static bool is_block_device(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISBLK(st.st_mode);
}

char *device_of(const char *source)
{
	const struct libblkid *lib = libblkid_get(NULL);
	blkid_cache cache = NULL;
	char *dev;

	/*
	 * libblkid's cache file is neither read nor written, because it may list devices that are
	 * gone.
	 */
	if (!lib || lib->blkid_get_cache(&cache, "/dev/null") != 0)
		return NULL;
	dev = lib->blkid_evaluate_spec(source, &cache);
	lib->blkid_put_cache(cache);
	if (is_block_device(dev))
		return dev;
	free(dev);
	return NULL;
}

/* --- the partition that the loader names ------------------------------------------------------ */

static char *loader_partition(const struct root *root)
{
	cleanup_free char *uuid = loader_variable(root, "LoaderDevicePartUUID");
	cleanup_free char *spec = NULL;

	if (!uuid || uuid[strspn(uuid, "0123456789abcdefABCDEF-")])
		return NULL;
	/* udev's links are in lower case */
	for (char *p = uuid; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	spec = xasprintf("PARTUUID=%s", uuid);
	return device_of(spec);
}

/* --- the partition table ---------------------------------------------------------------- */

/* The device of partition `number` of a disk: "/dev/sda1", "/dev/nvme0n1p1". */
static char *partition_device(const struct root *root, const char *disk, int number)
{
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, "sys/class/block/%s", disk);
	for (size_t i = 0; i < names.n; i++) {
		uint64_t n;

		if (str_starts(names.v[i], disk) &&
		    read_u64(root, &n, NULL, "sys/class/block/%s/%s/partition", disk, names.v[i]) ==
			    0 &&
		    n == (uint64_t)number)
			return xasprintf("/dev/%s", names.v[i]);
	}
	return NULL;
}

struct found {
	struct strv esp, xbootldr;
};

static void look_at(const struct libblkid *lib, const struct root *root, const char *disk,
		    blkid_probe probe, struct found *found)
{
	blkid_partlist parts = lib->blkid_probe_get_partitions(probe);
	int n = parts ? lib->blkid_partlist_numof_partitions(parts) : 0;

	for (int i = 0; i < n; i++) {
		blkid_partition part = lib->blkid_partlist_get_partition(parts, i);
		const char *type = lib->blkid_partition_get_type_string(part);
		bool mbr = lib->blkid_partition_get_type(part) == 0xef;
		cleanup_free char *dev = NULL;

		if (!mbr && (!type || (strcasecmp(type, GUID_ESP) != 0 &&
				       strcasecmp(type, GUID_XBOOTLDR) != 0)))
			continue;
		dev = partition_device(root, disk, lib->blkid_partition_get_partno(part));
		if (dev)
			strv_add(!mbr && strcasecmp(type, GUID_XBOOTLDR) == 0 ? &found->xbootldr
									      : &found->esp,
				 dev);
	}
}

static void probe_disk(const struct libblkid *lib, const struct root *root, const char *disk,
		       struct found *found)
{
	cleanup_free char *name = xasprintf("/dev/%s", disk);
	cleanup_close int fd = root_open_device(root, name);
	cleanup_free char *path = xasprintf("/proc/self/fd/%d", fd);
	blkid_probe probe = fd < 0 ? NULL : lib->blkid_new_probe_from_filename(path);

	if (!probe)
		return;
	lib->blkid_probe_enable_superblocks(probe, 0);
	lib->blkid_probe_enable_partitions(probe, 1);
	if (lib->blkid_do_safeprobe(probe) == 0)
		look_at(lib, root, disk, probe, found);
	lib->blkid_free_probe(probe);
}

static void probe_disks(const struct libblkid *lib, const struct root *root, dev_t fs,
			struct found *found)
{
	cleanup_strv struct strv disks = {0};

	disks_below(root, fs, &disks);
	for (size_t i = 0; i < disks.n; i++)
		probe_disk(lib, root, disks.v[i], found);
}

static void found_free(struct found *f)
{
	strv_free(&f->esp);
	strv_free(&f->xbootldr);
}
#define cleanup_found __attribute__((__cleanup__(found_free)))

static int choose(const struct found *found, char **ret, struct err *err)
{
	const struct strv *l = found->esp.n ? &found->esp : &found->xbootldr;

	if (l->n == 0)
		return err_set(err, -ENOENT,
			       "no EFI system partition on the disk of the root file system; mount "
			       "the one that this machine boots from at /boot/efi in /etc/fstab");
	if (l->n > 1)
		return err_set(err, -ENOTUNIQ,
			       "%zu EFI system partitions (%s, %s) on the disks of the root file "
			       "system; mount the right one at /boot/efi in /etc/fstab",
			       l->n, l->v[0], l->v[1]);
	*ret = xstrdup(l->v[0]);
	return 0;
}

int esp_find(const struct root *root, dev_t fs, char **ret, struct err *err)
{
	const struct libblkid *lib = libblkid_get(err);
	cleanup_found struct found found = {0};

	if (!lib)
		return -ELIBACC;
	*ret = loader_partition(root);
	if (*ret)
		return 0;
	probe_disks(lib, root, fs, &found);
	return choose(&found, ret, err);
}

bool esp_is_xbootldr(const struct root *root, dev_t fs)
{
	const struct libblkid *lib = libblkid_get(NULL);
	cleanup_found struct found found = {0};
	cleanup_free char *name = NULL, *device = NULL;

	if (!lib ||
	    read_link_name(root, &name, NULL, "sys/dev/block/%u:%u", major(fs), minor(fs)) < 0)
		return false;
	device = xasprintf("/dev/%s", name);
	probe_disks(lib, root, fs, &found);
	return strv_contains(&found.xbootldr, device);
}

void esp_vendors(int top, struct strv *ret)
{
	cleanup_strv struct strv names = {0};

	read_dir_at(top, "EFI", &names);
	for (size_t i = 0; i < names.n; i++)
		if (*names.v[i] != '.')
			strv_add(ret, names.v[i]);
}
