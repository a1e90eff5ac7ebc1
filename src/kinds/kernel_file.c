/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/tutorials.h"
#include "sys/sysctl_d.h"

#define PAGES                                           \
	"the hugepages section sets page pools; write " \
	"hugepages: [{size: 2M, per_node: 512}]"
#define COMMAND "the file is a command, not a setting; "
#define RUNS                                                                                \
	"the kernel runs the program that this file names, as root; leave the file to the " \
	"program's own package (sysctl.d(5))"
#define BINARY                                                                                  \
	"the file is binary data, such as a device's memory, and no setting; leave it out, or " \
	"write the section of the device, such as pcie:"
#define DEVICES "/sys/[bcd]*" /* block, bus, class, dev, devices */
#define TREE(holds) "the files here " holds ", instead of setting a value; " FORCE_REMEDY
#define AWAY(what) "the write can take " what " away from the running system; " FORCE_REMEDY

/*
 * Patterns of fnmatch(3) without FNM_PATHNAME, so that "*" matches slashes, too. The first row that
 * matches counts.
 */
static const struct row {
	const char *below;
	const char *file;  /* the last part of the path; NULL: any */
	const char *value; /* only lines with a value that this pattern matches; NULL: any */
	bool forcible;
	const char *why;
} rows[] = {
	/* files of other sections */
	{"/sys/*", "sriov_numvfs", NULL, false,
	 "the sriov section creates VFs; write sriov: {SET: {vfs: ...}}" TUTORIAL_NUMVFS},
	{"/sys/*", "sriov_drivers_autoprobe", NULL, false,
	 "sriov: turns it off and on again while it creates VFs; leave it out"},
	{"/sys/*", "driver_override", NULL, false, "write sriov: {SET: {vf: {driver: ...}}}"},
	{"/sys/*", "nr_hugepages", NULL, false, PAGES},
	{"/sys/*", "nr_hugepages_mempolicy", NULL, false, PAGES},
	{"/proc/sys/vm/*", "nr_hugepages", NULL, false, PAGES},
	{"/proc/sys/vm/*", "nr_hugepages_mempolicy", NULL, false, PAGES},
	{"/sys/kernel/iommu_groups/*", "type", NULL, false,
	 "the kernel rejects writes while a driver is bound; "
	 "write kernel_args: {iommu: ...}" TUTORIAL_GROUP_TYPE},
	{"/sys/*", "traffic_class", NULL, false,
	 "the file reads back in a different form; write qos: {SET: {traffic_class: ...}}"},
	/*
	 * Programs that the kernel starts (call_usermodehelper()), handlers of executables, and the
	 * firmware that it gives to devices.
	 */
	{"/proc/sys/kernel/*", "core_pattern", "|*", false, RUNS},
	{"/proc/sys/kernel/*", "modprobe", NULL, false, RUNS},
	{"/proc/sys/kernel/*", "hotplug", NULL, false, RUNS},
	{"/proc/sys/kernel/*", "poweroff_cmd", NULL, false, RUNS},
	{"/proc/sys/kernel/usermodehelper/*", NULL, NULL, false,
	 "the file sets the rights of the programs that the kernel runs as root; leave it out"},
	{"/proc/sys/fs/binfmt_misc/*", NULL, NULL, false,
	 "the kernel runs the program that this file names for each executable of a sort; write a "
	 "file of binfmt.d(5)"},
	{"/proc/sys/fs/ocfs2/*", "hb_ctl_path", NULL, false, RUNS},
	{"/sys/kernel/*", "uevent_helper", NULL, false, RUNS},
	{"/sys/module/*", "usermode_helper", NULL, false, RUNS},
	{"/sys/module/*", "cltrack_prog", NULL, false, RUNS},
	{"/sys/module/*", "cache_getent", NULL, false, RUNS},
	{"/sys/module/firmware_class/parameters/*", "path", NULL, false,
	 "devices then run the firmware of another directory; put the files below "
	 "/lib/firmware/updates"},
	/*
	 * Commands whose mode also gives them away, for lines without a node; then commands that
	 * can be read.
	 */
	{DEVICES, "bind", NULL, false, COMMAND "write sriov: or modules:"},
	{DEVICES, "unbind", NULL, false, COMMAND "write sriov: or modules:"},
	{DEVICES, "new_id", NULL, false, COMMAND "write modules.options:"},
	{DEVICES, "remove_id", NULL, false, COMMAND "write modules.options:"},
	{DEVICES, "drivers_probe", NULL, false, COMMAND "write sriov:"},
	{DEVICES, "remove", NULL, false, COMMAND "leave it out"},
	{DEVICES, "rescan", NULL, false, COMMAND "leave it out"},
	{DEVICES, "reset", NULL, false, COMMAND "leave it out"},
	{DEVICES, "reset_subordinate", NULL, false, COMMAND "leave it out"},
	{DEVICES, "delete", NULL, false, COMMAND "leave it out"},
	{"/sys/*", "uevent", NULL, false, COMMAND "leave it out"},
	{"/sys/power/*", "state", NULL, false, "the write puts the machine to sleep; leave it out"},
	{"/sys/power/*", "autosleep", NULL, false,
	 "the write puts the machine to sleep; leave it out"},
	{"/sys/power/*", "disk", NULL, false, "the file controls hibernation; leave it out"},
	{"/sys/power/*", NULL, NULL, true, TREE("steer sleep and hibernation")},
	{"/proc/sys/vm/*", "drop_caches", NULL, false, COMMAND "leave it out"},
	{"/proc/sys/vm/*", "compact_memory", NULL, false, COMMAND "leave it out"},
	{"/proc/sys/net/ipv4/route/*", "flush", NULL, false, COMMAND "leave it out"},
	{"/proc/sys/net/ipv6/route/*", "flush", NULL, false, COMMAND "leave it out"},
	{"/proc/sys/kernel/*", "modules_disabled", NULL, false,
	 "stage early writes it, and the kernel then loads no further drivers; leave it out"},
	/*
	 * Memory of PCI functions (drivers/pci/pci-sysfs.c, vpd.c). The size of the file can't
	 * tell: the config space of PCI Express has 4096 bytes, as many as a page.
	 */
	{DEVICES "/pci*/*", "config", NULL, false, BINARY},
	{DEVICES "/pci*/*", "resource[0-9]*", NULL, false, BINARY},
	{DEVICES "/pci*/*", "rom", NULL, false, BINARY},
	{DEVICES "/pci*/*", "vpd", NULL, false, BINARY},
	/* other file systems below /sys, and the firmware's and the TPM's part of sysfs */
	{"/sys/fs/cgroup/*", NULL, NULL, true, TREE("stop, starve and kill processes")},
	{"/sys/kernel/debug/*", NULL, NULL, true, TREE("steer the insides of drivers")},
	{"/sys/kernel/tracing/*", NULL, NULL, true, TREE("put probes into the running kernel")},
	{"/sys/kernel/security/*", NULL, NULL, true, TREE("decide what processes may do")},
	{"/sys/fs/selinux/*", NULL, NULL, true, TREE("decide what processes may do")},
	{"/sys/fs/smackfs/*", NULL, NULL, true, TREE("decide what processes may do")},
	{"/sys/firmware/*", NULL, NULL, true, TREE("change the firmware for later boots")},
	{"/sys/kernel/config/*", NULL, NULL, true, TREE("make and remove devices of the kernel")},
	{"/sys/module/apparmor/parameters/*", NULL, NULL, true,
	 TREE("decide what processes may do")},
	{"/sys/module/module/parameters/*", "sig_enforce", NULL, true,
	 "the kernel then loads no driver without a signature; " FORCE_REMEDY},
	{"*/tpm/*", NULL, NULL, true, TREE("change the TPM, with the keys in it")},
	/* attributes of devices that a write makes unusable: drivers/base/core.c, memory.c, ... */
	{DEVICES, "online", NULL, true, AWAY("a CPU, memory or another device")},
	{DEVICES, "state", NULL, true, AWAY("a disk, memory or another device")},
	{DEVICES "/hotplug/*", NULL, NULL, true, AWAY("a CPU")},
	{DEVICES "/md/*", "array_state", NULL, true, AWAY("a RAID array")},
	{DEVICES "/md/*", "level", NULL, true, AWAY("a RAID array")},
	{DEVICES "/md/*", "sync_action", NULL, true, AWAY("a RAID array")},
	{DEVICES, "force_ro", NULL, true, AWAY("a disk")},
	{DEVICES, "authorized", NULL, true, AWAY("a device")},
	{DEVICES "/pci*/*", "enable", NULL, true, AWAY("a PCI function")},
	{"/sys/bus/pci/slots/*", "power", NULL, true, AWAY("the card of a slot")},
	{DEVICES "/net/*", "flags", NULL, true, AWAY("a network interface")},
	{DEVICES "/net/*", "carrier", NULL, true, AWAY("a network interface")},
	{DEVICES "/net/*", "proto_down", NULL, true, AWAY("a network interface")},
	{DEVICES "/net/*", "bonding_masters", NULL, true, AWAY("a network interface")},
	{DEVICES "/net/*", "slaves", NULL, true, AWAY("a network interface")},
	{"/sys/bus/*", "drivers_autoprobe", NULL, true,
	 AWAY("each device that appears from now on")},
	{DEVICES "/thermal/*", "trip_point_*_temp", NULL, true,
	 "the machine goes off at such a temperature; " FORCE_REMEDY},
	{"/sys/kernel/*", "*crash_size", NULL, true, AWAY("the memory of the crash kernel")},
	{DEVICES "/rtc/*", "wakealarm", NULL, true,
	 "the write starts the machine at another time; " FORCE_REMEDY},
};

/* "*" alone names no file. */
static bool is_called(const char *name, const char *file)
{
	return fnmatch(file, name, FNM_NOESCAPE) == 0 ||
	       (!streq(name, "*") && fnmatch(name, file, FNM_NOESCAPE) == 0);
}

static bool is_below(const char *path, const struct row *row)
{
	const char *name = strrchr(path, '/');

	return fnmatch(row->below, path, FNM_NOESCAPE) == 0 &&
	       (!row->file || is_called(name + 1, row->file));
}

/* Whether path is a pattern that matches the one file of the row: "/proc/sys/v?/nr_hug*". */
static bool is_matched(const char *path, const struct row *row)
{
	cleanup_free char *file =
		row->file ? xasprintf("%.*s%s", (int)strlen(row->below) - 1, row->below, row->file)
			  : NULL;

	return file && fnmatch(path, file, FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

const char *kernel_file_refusal(const char *path, const char *value, bool forced)
{
	for (size_t i = 0; i < array_len(rows); i++) {
		const struct row *row = &rows[i];

		if ((forced && row->forcible) || (row->value && fnmatch(row->value, value, 0) != 0))
			continue;
		if (is_below(path, row) || is_matched(path, row))
			return row->why;
	}
	return NULL;
}

/*
 * Whether a file is a binary attribute of sysfs. The size of an attribute in text is that of a page
 * (sysfs_add_file_mode_ns() of fs/sysfs/file.c); that of a binary attribute is its own, or 0.
 */
static bool is_binary(int fd, const struct stat *st)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == SYSFS_MAGIC &&
	       st->st_size != sysconf(_SC_PAGESIZE);
}

static int judge(int fd, const char *path, const char *real, const char *value, bool forced,
		 struct err *err)
{
	const char *why = kernel_file_refusal(real, value, forced);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (!str_starts(real, str_starts(path, PROC_SYS) ? PROC_SYS : "/sys/"))
		return err_set(err, -EPERM,
			       "%s leads to %s, which is no setting of the kernel" TO_MEND
			       "leave it out",
			       path, real);
	if (why && !streq(real, path))
		return err_set(err, -EPERM, "%s (%s): %s", path, real, why);
	if (why)
		return err_set(err, -EPERM, "%s: %s", path, why);
	if (!(st.st_mode & 0444))
		return err_set(err, -EPERM,
			       "%s: " COMMAND "its mode (%04o) lets nobody read it back" TO_MEND
			       "leave it out",
			       path, st.st_mode & 07777);
	if (is_binary(fd, &st))
		return err_set(err, -EPERM, "%s: " BINARY, path);
	return 0;
}

int kernel_file_judge(const struct root *root, const char *path, const char *value, bool forced,
		      struct err *err)
{
	cleanup_close int fd = root_open_path(root, path, O_PATH);
	cleanup_free char *real = NULL;
	int r = fd < 0 ? fd : root_path_of(root, fd, &real);

	return r < 0 ? err_errno(err, r, "%s", path) : judge(fd, path, real, value, forced, err);
}
