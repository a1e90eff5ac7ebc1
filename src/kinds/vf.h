/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of kind vf: on.name is the address of a PF, on.vf which of its VFs. All sets run in
 * workers: a numvfs write holds the PF's device lock and, on current kernels, one global lock
 * around the whole creation; a bind takes the time of a driver's probe.
 */
#pragma once

#include "kinds/target.h"

/* vf_numvfs.c: how many VFs the PF has; a word (max) where no number is known */
extern const struct target_item vf_numvfs;

/* vf_driver.c: a word, of these */
enum { VF_DRIVER_NETDEV, VF_DRIVER_VFIO, VF_DRIVER_NONE };
extern const char *const vf_driver_words[]; /* NULL-ended */
extern const struct target_item vf_driver;
/* The driver that VFs of this PF are for, by its name in sysfs; NULL if that is not known. */
const char *vf_own_driver(const struct root *root, const char *pf);
/*
 * On the machine itself loads the module for vfio-pci, or for a function's own driver (by its
 * alias). A failure shows as a VF without a driver; but for -ELIBACC, a library that is missing.
 */
int vf_load_driver(const struct root *root, const char *addr, bool vfio, struct err *err);

/* vf_mtu.c: the MTU of its netdevs */
extern const struct target_item vf_mtu;

/*
 * vf_msix.c: its MSI-X vectors. A VF that is bound is unbound first; the change of its driver, in a
 * later phase of the same lane, binds it again.
 */
extern const struct target_item vf_msix;

/* vf_bound.c */

/*
 * Who would lose the VF (its address), if its driver were unbound or it were removed: a
 * sentence, "its netdev is in another network namespace", or NULL if nobody.
 */
const char *vf_user(const struct root *root, const char *addr);
/* A VF without a driver, or with vfio-pci, whose user resets it, is left as it is. -EBUSY for
 * one that someone uses. */
int vf_unbind(const struct root *root, const char *addr, struct err *err);

/* vf_where.c: where a worker sleeps, by its kernel stack */
enum whereabouts vf_where(const struct root *root, pid_t worker, struct str *in);
