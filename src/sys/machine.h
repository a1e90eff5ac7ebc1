/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The door through which the machine is altered. Only kinds/ and boot/ may include it
 * (make lint): a step, the gate or a report can't change a machine by mistake.
 * Our own files under /run/railhead go through sys/state.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "sys/dcb.h"
#include "sys/devlink.h"
#include "sys/ethtool.h"
#include "sys/root.h"
#include "sys/vfinfo.h"

/* --- machine_file.c: kernel attributes and files --------------------------------- */

/* Writes text to an existing attribute in one write(2), as procfs and sysfs want it. */
int machine_write_attr(const struct root *root, const char *path, const char *text,
		       struct err *err);

/*
 * Creates or replaces a file: temporary name, fsync, rename, fsync of the directory;
 * missing parent directories are made (0755). For drop-ins such as /run/modprobe.d/x.conf.
 */
int machine_write_file(const struct root *root, const char *path, const char *text, mode_t mode,
		       struct err *err);
/* The same for a symbolic link that leads to target, as text: it need not be there. */
int machine_make_link(const struct root *root, const char *path, const char *target,
		      struct err *err);
/* Absent is success. */
int machine_remove_file(const struct root *root, const char *path, struct err *err);
/* An empty directory; absent is success, -ENOTEMPTY or -EEXIST where it is not empty. */
int machine_remove_dir(const struct root *root, const char *path, struct err *err);

/*
 * A directory of configfs, which makes an object of the kernel or a window on one. One that
 * is there already is success; so is one that is gone already.
 */
int machine_make_node(const struct root *root, const char *path, struct err *err);
int machine_remove_node(const struct root *root, const char *path, struct err *err);

/* --- machine_boot.c: the boot partition ------------------------------------------------- */

/*
 * Replaces len bytes at offset of an existing file without moving it on disk: pwrite,
 * fsync, then a re-read that must give the same bytes. GRUB replays no journal, so a
 * renamed file would be seen late or never. dirfd: the directory.
 */
int machine_overwrite(int dirfd, const char *name, off_t offset, const void *data, size_t len,
		      struct err *err);

/*
 * Creates a file that survives a power cut: temporary name, fsync, rename, fsync of the directory.
 * dirfd: the directory, below root. A regular file of that name is replaced, and its successor has
 * its owner, mode, ACL and SELinux label.
 *
 * A boot loader replays no journal, so the new name must also leave the journal. If the machine
 * boots from root:
 *  - ext4: EXT4_IOC_CHECKPOINT (Linux 5.14, Documentation/filesystems/ext4/journal.rst) empties the
 *    journal; without a journal, in a container and on older kernels syncfs(2) writes everything
 *    to its place, but flushes the disk's cache before that instead of after;
 *  - vfat, btrfs: syncfs(2) is enough;
 *  - XFS: no call does it. The loader finds the old file, or none, until XFS has been unmounted or
 *    remounted read-only, or has been idle for some 30 s (fs.xfs.xfssyncd_centisecs). See
 *    trial_write() for what railhead makes of this.
 * The file system is never frozen (FIFREEZE), though that would write back XFS, too: a tracer that
 * logs to this file system, or a SIGKILL before the thaw, would stop all its writers for ever.
 */
int machine_create_durable(const struct root *root, int dirfd, const char *name, const void *data,
			   size_t len, struct err *err);

/*
 * Mounts a device without attaching it anywhere (fsopen(2), fsmount(2)): the fd of its top
 * directory, for openat(2). The last close unmounts it, also when the process dies, and
 * no other process ever sees it. On kernels before 5.2 a directory below /run/railhead
 * serves for a moment.
 */
int machine_mount_fd(const char *source, const char *fstype, bool read_write, struct err *err);
/*
 * Makes a mounted file system writable or read-only (MS_REMOUNT, the mount's other flags
 * kept).
 */
int machine_remount(const char *target, bool read_write, struct err *err);

/* --- machine_efi.c: a variable of the EFI firmware -------------------------------------- */

/*
 * By efivarfs, which lays four bytes of attributes before the value. name: "Name-GUID". Below a
 * root that is not live the variable is a plain file of the tree. -ENOENT: there is no such
 * variable, no EFI, or efivarfs is not mounted.
 *
 * read: at most 1024 bytes (-EFBIG), with a NUL behind them; caller frees. write: kept over power
 * cuts; nothing is written where the variable has that value, since the firmware's flash wears
 * out. remove: absent is success.
 */
int machine_efi_read(const struct root *root, const char *name, char **ret, size_t *ret_len,
		     struct err *err);
int machine_efi_write(const struct root *root, const char *name, const void *value, size_t len,
		      struct err *err);
int machine_efi_remove(const struct root *root, const char *name, struct err *err);

/* --- machine_unit.c: what is asked of the service manager ------------------------------- */

/*
 * Asks the service manager for `systemctl --force reboot` (never kexec: firmware and
 * GRUB must run) and waits to be killed; returns only on failure, or -ETIME when nothing
 * happened within a minute.
 */
int machine_reboot(const struct root *root, struct err *err);

/* `systemctl start UNIT`; wait: until its job is done, at most a minute. */
int machine_start_unit(const char *unit, bool wait, struct err *err);
/* The same, in so many milliseconds. */
int machine_start_unit_within(const char *unit, unsigned int ms, struct err *err);
/*
 * What the processes of a unit have written last in this boot, one line; NULL: nothing that is
 * known. The caller frees.
 */
char *machine_unit_words(const char *unit);
/* `mount -o remount,OPTIONS PATH`: a file system's other options stay. */
int machine_remount_with(const struct root *root, const char *path, const char *options,
			 struct err *err);
/* `systemctl try-restart UNIT`: one that is not running stays so. At most a minute. */
int machine_restart_unit(const char *unit, struct err *err);
/*
 * The same, asked for and not waited for: of a unit that is ordered after the one that we run in,
 * and so can't start before we end.
 */
int machine_restart_unit_later(const char *unit, struct err *err);
/*
 * Whether the service manager that runs is the one of this root. In the initramfs it is not: it
 * knows none of the real root's units, and reads them when it begins anew there.
 */
bool machine_units_are_ours(void);
/* `systemctl daemon-reload`: drop-ins that are there now are in force from here on. */
int machine_reload_units(struct err *err);
/* `systemctl stop UNIT`, at most a minute. */
int machine_stop_unit(const char *unit, struct err *err);
/*
 * `systemd-run --on-active=SECONDS`: a transient NAME.timer, which starts the installed
 * NAME.service once and is gone then. One of that name that waits already is replaced.
 */
int machine_run_later(const char *name, uint64_t seconds, struct err *err);
/* Whether there is a job that ends in a boot (reboot.target, kexec.target): not a power-off. */
bool machine_reboots(void);
/* No such timer waits any more. */
int machine_run_never(const char *name, struct err *err);

/*
 * Makes udev read its rules anew, and returns when it has: by itself it looks whether they
 * changed every three seconds at most. Nothing to do where it does not run yet.
 */
int machine_reload_udev(struct err *err);
/* Asks for a "change" event of each device of a subsystem that has the attribute. */
int machine_trigger_udev(const char *subsystem, const char *attr, struct err *err);
/* Makes systemd-networkd read its files anew, if it runs. */
int machine_reload_networkd(struct err *err);

/* --- machine_module.c ---------------------------------------------------------------- */

/* Loads a module with its dependencies through libkmod; loaded already is success. */
int machine_insert_module(const char *name, const char *options, struct err *err);

/* --- machine_link.c ------------------------------------------------------------------- */

/* Sets a netdev administratively up or down (IFF_UP) by interface index. Waits for rtnl. */
int machine_link_up(unsigned int ifindex, bool up, struct err *err);
/* Sets a number of a netdev: IFLA_MTU or IFLA_TXQLEN. Waits for rtnl. */
int machine_link_number(unsigned int ifindex, uint16_t attr, uint32_t value, struct err *err);
/*
 * Sets some of what one group of ethtool has, all at once; see sys/ethtool.h. Waits for rtnl.
 * -EOPNOTSUPP: the driver or the kernel has no such thing.
 */
int machine_ethtool_set(unsigned int ifindex, enum eth_group group,
			const struct eth_setting *settings, size_t n, struct err *err);
/* Sets one attribute of a VF on its PF's netdev; see sys/vfinfo.h. Waits for rtnl. */
int machine_vf_set(unsigned int ifindex, unsigned int vf, const struct vf_value *value,
		   struct err *err);
/*
 * Changes the eswitch mode of a PF (address "0000:3b:00.0"); takes seconds, and makes its
 * netdevs and RDMA devices anew. -EBUSY: something uses the eswitch now; may be tried again.
 */
int machine_eswitch_mode(const char *addr, enum eswitch_mode mode, struct err *err);
/* Whether every network namespace sees the RDMA devices; see sys/rdma.h. */
int machine_rdma_netns(bool shared, struct err *err);

/* --- machine_pci.c ---------------------------------------------------------------------- */

/*
 * Gives the bits of mask in the 16-bit register at reg of a function's PCI Express capability
 * the value's, and leaves the others as they are. -EOPNOTSUPP: the kernel is locked down, or the
 * function has no such capability; -EIO: it did not take them.
 */
int machine_pci_express(const struct root *root, const char *addr, unsigned int reg, uint16_t mask,
			uint16_t value, struct err *err);

/* --- machine_dcb.c: a netdev's Data Center Bridging; see sys/dcb.h -------------------------- */

/*
 * Each sets the whole structure: read, change, send; and nothing that is equal already, since
 * a driver may take the link down for it (mlx5: PFC). All wait for rtnl. The driver's errno
 * comes through one byte: -ENOTSUPP (-524) arrives as -ENOMEM (bnxt_en). What a driver has no
 * function for is no error: read back.
 */
int machine_dcb_ets(const char *netdev, const struct ieee_ets *ets, struct err *err);
int machine_dcb_pfc(const char *netdev, const struct ieee_pfc *pfc, struct err *err);
int machine_dcb_buffer(const char *netdev, const struct dcbnl_buffer *buffer, struct err *err);
/* Adds an entry of the APP table, or deletes the one that is the same in all three. */
int machine_dcb_app(const char *netdev, const struct dcb_app *app, bool add, struct err *err);
int machine_dcb_trust(const char *netdev, const uint8_t *selectors, size_t n, struct err *err);
/* dcbx: DCB_CAP_DCBX_*. -EPERM: refused, no reason is given. */
int machine_dcb_mode(const char *netdev, uint8_t dcbx, struct err *err);
