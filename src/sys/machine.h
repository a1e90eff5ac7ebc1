/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All changes to the machine go through this header. Only kinds/ and boot/ may include it (make
 * lint), so that a step, the gate or a report cannot change a machine by mistake. railhead's own
 * files under /run/railhead go through sys/state.h.
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

/* Writes text to an existing attribute in one write(2), because procfs and sysfs require that. */
int machine_write_attr(const struct root *root, const char *path, const char *text,
		       struct err *err);

/*
 * Creates or replaces a file: temporary name, fsync, rename, fsync of the directory; makes missing
 * parent directories (0755). For drop-ins such as /run/modprobe.d/x.conf.
 */
int machine_write_file(const struct root *root, const char *path, const char *text, mode_t mode,
		       struct err *err);
/* The same for a symbolic link to target, which need not exist. */
int machine_make_link(const struct root *root, const char *path, const char *target,
		      struct err *err);
/* Success if the file is already absent. */
int machine_remove_file(const struct root *root, const char *path, struct err *err);
/* Removes an empty directory; success if already absent; -ENOTEMPTY or -EEXIST if not empty. */
int machine_remove_dir(const struct root *root, const char *path, struct err *err);

/*
 * Makes or removes a directory of configfs, which makes an object of the kernel or a window to one.
 * Success if the directory already exists, or is already gone.
 */
int machine_make_node(const struct root *root, const char *path, struct err *err);
int machine_remove_node(const struct root *root, const char *path, struct err *err);

/* --- machine_boot.c: the boot partition ------------------------------------------------- */

/*
 * Whether this machine boots from the tree below root: it is the root of PID 1, which is the
 * machine's own, or railhead runs in the initramfs with the real root as "/". False below another
 * root, in a chroot that makes an image or a package, and in a container, where the disks, the
 * mounts and the firmware that can be seen are the host's. True if this can't be looked at for lack
 * of a privilege.
 */
bool machine_boots_from(const struct root *root);

/*
 * Replaces len bytes at offset of an existing file without moving the file on disk: pwrite, fsync,
 * then a second read, which must give the same bytes. GRUB replays no journal, so a renamed file
 * would become visible late or never. dirfd: the directory.
 */
int machine_overwrite(int dirfd, const char *name, off_t offset, const void *data, size_t len,
		      struct err *err);

/*
 * Creates a file that survives a power cut: temporary name, fsync, rename, fsync of the directory.
 * dirfd: the directory, below root. Replaces a regular file of that name; the new file gets its
 * owner, mode, ACL and SELinux label.
 *
 * A boot loader replays no journal, so the new name must also leave the journal. If the machine
 * boots from root:
 *  - ext4: EXT4_IOC_CHECKPOINT (Linux 5.14, Documentation/filesystems/ext4/journal.rst) empties the
 *    journal; without a journal, in a container and on older kernels syncfs(2) writes everything
 *    in place, but flushes the disk's cache before instead of after;
 *  - vfat, btrfs: syncfs(2) is enough;
 *  - XFS: no call is enough. The loader finds the old file, or none, until XFS has been unmounted
 *    or remounted read-only, or has been idle for some 30 s (fs.xfs.xfssyncd_centisecs). See
 *    is_passed_by() (boot/trial.c) for the consequences.
 * The file system is never frozen (FIFREEZE), though a freeze would write back XFS, too: a tracer
 * that logs to this file system, or a SIGKILL before the thaw, would stop all its writers for ever.
 */
int machine_create_durable(const struct root *root, int dirfd, const char *name, const void *data,
			   size_t len, struct err *err);

/*
 * Mounts a device without attaching it to a path (fsopen(2), fsmount(2)). Returns the fd of the top
 * directory, for openat(2). The last close unmounts it, even if the process dies, and no other
 * process ever sees it. On kernels before 5.2 the device is briefly mounted below /run/railhead.
 */
int machine_mount_fd(const char *source, const char *fstype, bool read_write, struct err *err);
/* Makes a mounted file system writable or read-only (MS_REMOUNT); the mount's other flags stay. */
int machine_remount(const char *target, bool read_write, struct err *err);

/* --- machine_efi.c: a variable of the EFI firmware -------------------------------------- */

/*
 * Reads efivarfs, which stores four bytes of attributes before the value. name: "Name-GUID". Below
 * a root that is not live, the variable is a plain file of the tree. -ENOENT: no such variable, no
 * EFI, efivarfs is not mounted, or the firmware does not boot this root. -EFBIG: over 1024 bytes.
 * *ret is followed by a NUL; caller frees.
 */
int machine_efi_read(const struct root *root, const char *name, char **ret, size_t *ret_len,
		     struct err *err);

/* --- machine_unit.c: requests to the service manager ---------------------------------------- */

/*
 * Asks for an orderly reboot, as `systemctl reboot`: units are stopped, and locks that delay a
 * shutdown are respected. Never by kexec or a soft-reboot, because firmware and GRUB must run.
 * Returns once the service manager has begun with it.
 */
int machine_reboot(const struct root *root, struct err *err);

/* `systemctl start UNIT`; wait: until the job of the unit is done, at most a minute. */
int machine_start_unit(const char *unit, bool wait, struct err *err);
/* The same within `ms` milliseconds. */
int machine_start_unit_within(const char *unit, unsigned int ms, struct err *err);
/*
 * The last line that the processes of a unit have written in this boot; NULL: unknown. The caller
 * frees.
 */
char *machine_unit_words(const char *unit);
/* `mount -o remount,OPTIONS PATH`: the file system's other options stay. */
int machine_remount_with(const struct root *root, const char *path, const char *options,
			 struct err *err);
/* `systemctl try-restart UNIT`: does not start a unit that is not running. At most a minute. */
int machine_restart_unit(const char *unit, struct err *err);
/*
 * The same without waiting, for a unit that is ordered after our own unit and so cannot start
 * before we end.
 */
int machine_restart_unit_later(const char *unit, struct err *err);
/*
 * Whether the running service manager belongs to this root. False in the initramfs: its manager
 * does not know the real root's units, and reads them when it starts again there.
 */
bool machine_units_are_ours(void);
/* `systemctl daemon-reload`: puts present drop-ins in force. */
int machine_reload_units(struct err *err);
/* `systemctl stop UNIT`, at most a minute. */
int machine_stop_unit(const char *unit, struct err *err);
/*
 * `systemd-run --on-active=SECONDS`: a transient NAME.timer, which starts the installed
 * NAME.service once and then ends. Replaces a waiting timer of the same name.
 */
int machine_run_later(const char *name, uint64_t seconds, struct err *err);
/* Whether a job will end in a boot (reboot.target, kexec.target); a power-off does not count. */
bool machine_reboots(void);
/* Stops a waiting timer of machine_run_later(); success if none waits. */
int machine_run_never(const char *name, struct err *err);

/*
 * Makes udev read its rules again, and returns afterwards, because udev checks for changes only
 * every three seconds. Success without an action if udev does not run yet.
 */
int machine_reload_udev(struct err *err);
/* Asks for a "change" event of each device of a subsystem that has the attribute. */
int machine_trigger_udev(const char *subsystem, const char *attr, struct err *err);
/* Makes systemd-networkd read its files again, if it runs. */
int machine_reload_networkd(struct err *err);

/* --- machine_module.c ---------------------------------------------------------------- */

/* Loads a module with its dependencies through libkmod; success if already loaded. */
int machine_insert_module(const char *name, const char *options, struct err *err);

/* --- machine_link.c ------------------------------------------------------------------- */

/* Sets a netdev administratively up or down (IFF_UP) by interface index. Waits for rtnl. */
int machine_link_up(unsigned int ifindex, bool up, struct err *err);
/* Sets a number of a netdev: IFLA_MTU or IFLA_TXQLEN. Waits for rtnl. */
int machine_link_number(unsigned int ifindex, uint16_t attr, uint32_t value, struct err *err);
/*
 * Sets some items of an ethtool group, all at once; see sys/ethtool.h. Waits for rtnl. -EOPNOTSUPP:
 * the driver or the kernel lacks an item.
 */
int machine_ethtool_set(unsigned int ifindex, enum eth_group group,
			const struct eth_setting *settings, size_t n, struct err *err);
/* Sets one attribute of a VF on its PF's netdev; see sys/vfinfo.h. Waits for rtnl. */
int machine_vf_set(unsigned int ifindex, unsigned int vf, const struct vf_value *value,
		   struct err *err);
/*
 * Changes the eswitch mode of a PF (address "0000:3b:00.0"). Takes seconds, and creates the PF's
 * netdevs and RDMA devices again. -EBUSY: the eswitch is in use; a later attempt may succeed.
 */
int machine_eswitch_mode(const char *addr, enum eswitch_mode mode, struct err *err);
/* Sets whether every network namespace sees the RDMA devices; see sys/rdma.h. */
int machine_rdma_netns(bool shared, struct err *err);

/* --- machine_pci.c ---------------------------------------------------------------------- */

/*
 * Sets the bits of mask to those of value in the 16-bit register at reg of a function's PCI Express
 * capability; the other bits stay. -EOPNOTSUPP: the kernel is locked down, or the function lacks
 * the capability; -EIO: the register did not accept the bits.
 */
int machine_pci_express(const struct root *root, const char *addr, unsigned int reg, uint16_t mask,
			uint16_t value, struct err *err);

/* --- machine_dcb.c: a netdev's Data Center Bridging; see sys/dcb.h -------------------------- */

/*
 * Each function sets a whole structure, so callers read, change and send. They must skip equal
 * values, because a driver may take the link down for a write (mlx5: PFC). All wait for rtnl. The
 * driver's errno passes through one byte: -ENOTSUPP (-524) arrives as -ENOMEM (bnxt_en). A setting
 * without a function in the driver gives no error, so read it back.
 */
int machine_dcb_ets(const char *netdev, const struct ieee_ets *ets, struct err *err);
int machine_dcb_pfc(const char *netdev, const struct ieee_pfc *pfc, struct err *err);
int machine_dcb_buffer(const char *netdev, const struct dcbnl_buffer *buffer, struct err *err);
/* Adds an entry to the APP table, or deletes the entry that is equal in all three fields. */
int machine_dcb_app(const char *netdev, const struct dcb_app *app, bool add, struct err *err);
int machine_dcb_trust(const char *netdev, const uint8_t *selectors, size_t n, struct err *err);
/* dcbx: DCB_CAP_DCBX_*. -EPERM: rejected without a reason. */
int machine_dcb_mode(const char *netdev, uint8_t dcbx, struct err *err);
