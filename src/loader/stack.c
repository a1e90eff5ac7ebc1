/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/stack.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/read.h"

/* Deeper than the stacks of any machine, so that a loop in a captured tree ends. */
enum { MAX_DEPTH = 8 };

/* Looks up the name by number, because a volume's device node may have any name. */
static char *name_of(const struct root *root, dev_t dev)
{
	char *name = NULL;

	read_link_name(root, &name, NULL, "sys/dev/block/%u:%u", major(dev), minor(dev));
	return name;
}

/*
 * ".../block/sda/sda1": the disk is the directory above the partition. NULL: dev is not a
 * partition.
 */
static char *disk_of(const struct root *root, const char *dev)
{
	cleanup_free char *link = NULL;
	char *slash;

	if (!root_exists(root, "sys/class/block/%s/partition", dev) ||
	    read_link(root, &link, NULL, "sys/class/block/%s", dev) < 0)
		return NULL;
	slash = strrchr(link, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	slash = strrchr(link, '/');
	return xstrdup(slash ? slash + 1 : link);
}

static void read_slaves(const struct root *root, const char *dev, struct strv *ret)
{
	read_dir(root, ret, NULL, "sys/class/block/%s/slaves", dev);
}

/* --- downwards, to the disks -------------------------------------------------------------- */

static void descend(const struct root *root, const char *dev, int depth, struct strv *ret)
{
	cleanup_strv struct strv slaves = {0};
	cleanup_free char *disk = NULL;

	if (depth > MAX_DEPTH)
		return;
	disk = disk_of(root, dev);
	if (disk) {
		/* also a partition of an array or of multipath: the disk then has slaves */
		descend(root, disk, depth + 1, ret);
		return;
	}
	read_slaves(root, dev, &slaves);
	for (size_t i = 0; i < slaves.n; i++)
		descend(root, slaves.v[i], depth + 1, ret);
	if (!slaves.n && !strv_contains(ret, dev))
		strv_add(ret, dev);
}

void disks_below(const struct root *root, dev_t dev, struct strv *ret)
{
	cleanup_free char *name = name_of(root, dev);

	if (name)
		descend(root, name, 0, ret);
}

/* --- layers that GRUB can't write through ----------------------------------------------------- */

/*
 * Skips the prefix "part1-" of "part1-mpath-3600a", which kpartx puts before the id of the mapped
 * device.
 */
static const char *skip_partition(const char *uuid)
{
	size_t digits;

	if (!str_starts(uuid, "part"))
		return uuid;
	digits = strspn(uuid + 4, "0123456789");
	return digits && uuid[4 + digits] == '-' ? uuid + 4 + digits + 1 : uuid;
}

/* The uuid of a device-mapper volume begins with the name of its maker (libdevmapper's convention).
 */
static const char *maker(const char *id)
{
	return str_starts(id, "LVM-")	  ? "LVM"
	       : str_starts(id, "CRYPT-") ? "encrypted"
					  : "device-mapper";
}

static char *judge(const struct root *root, const char *dev, int depth)
{
	cleanup_free char *disk = NULL, *uuid = NULL, *name = NULL;
	cleanup_strv struct strv slaves = {0};
	const char *id;

	if (depth > MAX_DEPTH)
		return xasprintf("%s, which lies on too many layers of devices", dev);
	disk = disk_of(root, dev);
	if (disk)
		return judge(root, disk, depth + 1);
	if (root_exists(root, "sys/class/block/%s/md", dev))
		return xasprintf("the RAID array /dev/%s", dev);
	read_slaves(root, dev, &slaves);
	if (!root_exists(root, "sys/class/block/%s/dm", dev)) /* bcache and similar devices */
		return slaves.n ? xasprintf("/dev/%s, which lies on /dev/%s", dev, slaves.v[0])
				: NULL;
	read_attr(root, &uuid, NULL, "sys/class/block/%s/dm/uuid", dev);
	id = uuid ? skip_partition(uuid) : "";
	if (str_starts(id, "mpath-"))
		return NULL;
	if (uuid && id != uuid) /* a partition, of one device, is as writable as this device */
		return slaves.n ? judge(root, slaves.v[0], depth + 1) : NULL;
	read_attr(root, &name, NULL, "sys/class/block/%s/dm/name", dev);
	return xasprintf("the %s volume %s", maker(id), name && *name ? name : dev);
}

char *stack_unwritable(const struct root *root, dev_t dev)
{
	cleanup_free char *name = name_of(root, dev);

	return name ? judge(root, name, 0) : NULL;
}
