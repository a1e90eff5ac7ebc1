/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of kind vf: on.name is the address of a PF, on.vf the index of a VF. All sets run in
 * workers: a numvfs write holds the PF's device lock and, on current kernels, one global lock
 * around the whole creation; a bind takes the time of a driver's probe.
 */
#pragma once

#include "kinds/target.h"

/* vf_numvfs.c: the number of VFs of the PF; the word max where the number is unknown */
extern const struct target_item vf_numvfs;

/* vf_driver.c: one of these words */
enum { VF_DRIVER_NETDEV, VF_DRIVER_VFIO, VF_DRIVER_NONE };
extern const char *const vf_driver_words[]; /* NULL-ended */
extern const struct target_item vf_driver;
/*
 * Loads, on the running machine, the module for vfio-pci or for a function's own driver (by its
 * alias). A failure shows as a VF without a driver, except for -ELIBACC: a library is missing.
 */
int vf_load_driver(const struct root *root, const char *addr, bool vfio, struct err *err);

/* vf_mtu.c: the MTU of a VF's netdevs */
extern const struct target_item vf_mtu;

/*
 * vf_msix.c: the number of MSI-X vectors of a VF. A bound VF is unbound first; the change of its
 * driver, in a later phase of the same lane, binds it again.
 */
extern const struct target_item vf_msix;

/* vf_bound.c */

/*
 * The user that would lose the VF at this address if its driver were unbound or the VF were
 * removed: a sentence, "its netdev is in another network namespace"; or NULL.
 */
const char *vf_user(const struct root *root, const char *addr);
/*
 * Unbinds a VF. A VF without a driver stays as it is, and so does a VF with vfio-pci, whose user
 * resets it, unless vfio_too. -EBUSY: the VF is in use.
 */
int vf_unbind(const struct root *root, const char *addr, bool vfio_too, struct err *err);

/* vf.c: where a worker sleeps, by its kernel stack */
enum whereabouts vf_where(const struct root *root, pid_t worker, struct str *in);
