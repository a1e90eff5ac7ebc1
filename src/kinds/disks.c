/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/disks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "base/pci_address.h"
#include "base/str.h"
#include "loader/stack.h"
#include "sys/read.h"

/* --- the disks that carry the running system ------------------------------------------------- */

/* Mount points of the file systems that the machine runs from, or boots from. */
static const char *const system_dirs[] = {
	"/",
	"/usr",
	"/boot",
	"/boot/efi",
	"/efi",
	"/sysroot", /* of ostree, which makes / from it */
	"/run/initramfs/live",
	"/run/live/medium",
};

/* A line of mountinfo: proc(5). */
struct mounted {
	unsigned int major, minor;
	char dir[256], type[32], source[256];
};

struct carrier {
	char *disk;
	const char *dir; /* of system_dirs */
};

struct carriers {
	VEC(struct carrier) list;
	char *unknown;
};

static bool parse_mount(const char *line, struct mounted *ret)
{
	const char *rest = strstr(line, " - ");

	return rest &&
	       sscanf(line, "%*u %*u %u:%u %*s %255s", &ret->major, &ret->minor, ret->dir) == 3 &&
	       sscanf(rest, " - %31s %255s", ret->type, ret->source) == 2;
}

static bool read_dev(const struct root *root, const char *name, dev_t *ret)
{
	cleanup_free char *text = NULL;
	unsigned int major, minor;

	if (read_attr(root, &text, NULL, "/sys/class/block/%s/dev", name) < 0 ||
	    sscanf(text, "%u:%u", &major, &minor) != 2)
		return false;
	*ret = makedev(major, minor);
	return true;
}

/* The number of /dev/vda2 or /dev/mapper/vg-root, by the device's node or by its name. */
static bool find_source(const struct root *root, const char *source, dev_t *ret)
{
	struct stat st;

	if (!str_starts(source, "/dev/"))
		return false;
	if (root_stat(root, &st, source) == 0 && S_ISBLK(st.st_mode)) {
		*ret = st.st_rdev;
		return true;
	}
	return read_dev(root, strrchr(source, '/') + 1, ret);
}

/* btrfs names one of its devices as the source; sysfs has all of them (fs/btrfs/sysfs.c). */
static void add_btrfs(const struct root *root, dev_t one, struct strv *ret)
{
	cleanup_free char *name = NULL, *pattern = NULL;
	cleanup_strv struct strv found = {0}, all = {0};
	dev_t dev;

	if (read_link_name(root, &name, NULL, "/sys/dev/block/%u:%u", major(one), minor(one)) < 0)
		return;
	pattern = xasprintf("/sys/fs/btrfs/*/devices/%s", name);
	read_glob(root, pattern, &found, NULL);
	for (size_t i = 0; i < found.n; i++)
		read_dir(root, &all, NULL, "%.*s", (int)(strrchr(found.v[i], '/') - found.v[i]),
			 found.v[i]);
	for (size_t i = 0; i < all.n; i++)
		if (read_dev(root, all.v[i], &dev))
			disks_below(root, dev, ret);
}

/*
 * The disks below a mount. A file system whose device number is not that of a block device (btrfs,
 * zfs, overlay, nfs) may still have a device as its source. False: sysfs does not know the device.
 */
static bool find_below(const struct root *root, const struct mounted *m, struct strv *ret)
{
	dev_t dev = makedev(m->major, m->minor);

	if (!m->major && !find_source(root, m->source, &dev))
		return !str_starts(m->source, "/dev/") && !streq(m->type, "zfs");
	disks_below(root, dev, ret);
	if (streq(m->type, "btrfs"))
		add_btrfs(root, dev, ret);
	return ret->n > 0;
}

static void add_mount(const struct root *root, const struct mounted *m, struct carriers *ret)
{
	int at = str_index(m->dir, system_dirs, array_len(system_dirs));
	const char *dir = at < 0 ? NULL : system_dirs[at];
	cleanup_strv struct strv disks = {0};

	if (!dir)
		return;
	if (!find_below(root, m, &disks) && !ret->unknown)
		ret->unknown = xasprintf("cannot find the disks that carry %s (%s of %s)", dir,
					 m->source, m->type);
	for (size_t i = 0; i < disks.n; i++)
		vec_push(&ret->list, ((struct carrier){xstrdup(disks.v[i]), dir}));
}

static void find_carriers(const struct root *root, struct carriers *ret)
{
	cleanup_free char *text = NULL;
	char *rest, *line;

	if (read_text(root, &text, NULL, "/proc/self/mountinfo") < 0) {
		ret->unknown = xstrdup("cannot find the disks that carry the system: "
				       "/proc/self/mountinfo can't be read");
		return;
	}
	for (rest = text; (line = strsep(&rest, "\n"));) {
		struct mounted m;

		if (parse_mount(line, &m))
			add_mount(root, &m, ret);
	}
}

static void carriers_free(struct carriers *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		free(c->list.v[i].disk);
	vec_free(&c->list);
	free(c->unknown);
}

static const char *carried_by(const struct carriers *c, const struct disk *disk)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (streq(c->list.v[i].disk, disk->name) || streq(c->list.v[i].disk, disk->head))
			return c->list.v[i].dir;
	return NULL;
}

/* --- the disks of a function ---------------------------------------------------------------- */

/* The last PCI address in the path of a disk is the address of its function. */
static bool hangs_on(const char *link, const char *addr)
{
	size_t len = strlen(addr);
	bool found = false;

	for (const char *p = strchr(link, '/'); p; p = strchr(p + 1, '/')) {
		size_t n = strcspn(p + 1, "/");

		if (n && pci_address_len(p + 1) == n)
			found = n == len && strncmp(p + 1, addr, n) == 0;
	}
	return found;
}

/*
 * The head of "nvme0c1n1" is "nvme0n1", if that disk exists; otherwise a disk is its own head.
 * Caller frees.
 */
static char *head_of(const struct root *root, const char *name)
{
	unsigned int subsystem, controller, head;
	char end;
	cleanup_free char *found = NULL;

	if (sscanf(name, "nvme%uc%un%u%c", &subsystem, &controller, &head, &end) != 3)
		return xstrdup(name);
	found = xasprintf("nvme%un%u", subsystem, head);
	return xstrdup(root_exists(root, "/sys/block/%s", found) ? found : name);
}

/* TYPE_ROM of scsi_proto.h is 5; disks of other buses lack this file. */
static bool is_optical(const struct root *root, const char *name)
{
	cleanup_free char *type = NULL;

	return read_attr(root, &type, NULL, "/sys/block/%s/device/type", name) == 0 &&
	       streq(type, "5");
}

void disks_of(const struct root *root, const char *addr, struct disks *ret)
{
	cleanup_strv struct strv names = {0};
	struct carriers carriers __attribute__((__cleanup__(carriers_free))) = {0};

	*ret = (struct disks){0};
	read_dir(root, &names, NULL, "/sys/block"); /* without partitions */
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *link = NULL;

		if (read_link(root, &link, NULL, "/sys/block/%s", names.v[i]) < 0 ||
		    !hangs_on(link, addr) || is_optical(root, names.v[i]))
			continue;
		vec_push(ret, ((struct disk){.name = xstrdup(names.v[i]),
					     .head = head_of(root, names.v[i])}));
	}
	if (!ret->n)
		return;
	find_carriers(root, &carriers);
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i].carries = carried_by(&carriers, &ret->v[i]);
	ret->unknown = carriers.unknown;
	carriers.unknown = NULL;
}

void disks_free(struct disks *disks)
{
	for (size_t i = 0; i < disks->n; i++) {
		free(disks->v[i].name);
		free(disks->v[i].head);
	}
	vec_free(disks);
	free(disks->unknown);
}
