/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the checks of GPUs share. */
#pragma once

#include "checks/probe.h"

#define GPU_NVIDIA_VERSION "/proc/driver/nvidia/version"

/* The driver that is bound to a function, or NULL. The caller frees. */
char *gpu_driver_of(const struct root *root, const char *addr);
/* Of NVIDIA's modules: "open" or "proprietary", static; NULL: not loaded, or a captured tree does
 * not tell. */
const char *gpu_nvidia_flavor(const struct root *root);
/* What a look finds of a GPU that neither nvidia nor amdgpu has: CHANGE_DIFFERS; 0. */
int gpu_unbound(struct change *c, const char *addr, const char *driver);

/* The set that a key of the check names; NULL: the node has none. */
const struct device_set *gpu_set(const struct checked *t, const char *key);
/* Adds a probe of the check's benchmark that asks the GPU's driver for faults, without load. */
struct probe *gpu_asks(const struct checked *t, const struct pci_fn *gpu, struct probes *ret);
/*
 * The first use of a GPU: the time that it may take, one process for all of them, and no
 * measurement on the CPUs that it spins on.
 */
void gpu_starts(struct probe *p, const struct checked *t);
/*
 * Each NIC of with: and the GPU of on: that is its own by nearness, as pairs: judges, or else the
 * nearest. None where a set is empty: its expect says whether it may be.
 */
void gpu_pairs(const struct checked *t,
	       void (*each)(const struct checked *t, const struct pci_fn *nic,
			    const struct pci_fn *gpu, void *arg),
	       void *arg);
