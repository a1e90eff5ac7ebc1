/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared code of the GPU checks. */
#pragma once

#include "checks/probe.h"

#define GPU_NVIDIA_VERSION "/proc/driver/nvidia/version"

/* The flavor of NVIDIA's modules: "open" or "proprietary", static; NULL: not loaded, or a captured
 * tree lacks the file. */
const char *gpu_nvidia_flavor(const struct root *root);
/* The result of a look at a GPU without nvidia or amdgpu: sets CHANGE_DIFFERS, returns 0. */
int gpu_unbound(struct change *c, const char *addr, const char *driver);

/* The set that a key of the check names; NULL: the node has none. */
const struct device_set *gpu_set(const struct checked *t, const char *key);
/* Adds a probe of the check's benchmark that queries the GPU's driver for faults, without load. */
struct probe *gpu_asks(const struct checked *t, const struct pci_fn *gpu, struct probes *ret);
/*
 * Prepares the probe for the first use of a GPU: allows time for it, shares one process among all
 * GPUs, and keeps measurements off the CPUs that the driver spins on.
 */
void gpu_starts(struct probe *p, const struct checked *t);
/*
 * Calls each() for each NIC of with: and its GPU of on:, as pairs: judges nearness, or else the
 * nearest GPU. Does nothing if a set is empty; the expect of the set decides if that is allowed.
 */
void gpu_pairs(const struct checked *t,
	       void (*each)(const struct checked *t, const struct pci_fn *nic,
			    const struct pci_fn *gpu, void *arg),
	       void *arg);
