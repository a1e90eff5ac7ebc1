/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of kind check: facts that are judged and never set. on.name is the address of a
 * function, or of a PF where on.vf says which of its VFs is meant.
 */
#pragma once

#include "kinds/target.h"

/* check.c: the section has judged topology already */
extern const struct target_item check_given;
/* How many pages there are, neither more nor less. A part: its name is the size's directory
 * ("hugepages-1048576kB"), its index the NUMA node. */
extern const struct target_item check_pages;
/* on.name: a module, on.key: its parameter, where the module shows it; a text is wanted */
extern const struct target_item check_param;
/* on.name: a module that is not live */
extern const struct target_item check_unloaded;
/* on.name: a module; and of a function. A version is wanted (COMPARE_VERSION). */
extern const struct target_item check_driver_version, check_firmware_version;

/* check_kargs.c. on.name: an argument that the kernel of this boot was given, and nothing
 * overrides it */
extern const struct target_item check_arrived;
/*
 * Menu entries still take railhead's variable: that matters only to the next boot, and only where
 * GRUB reads railhead's file at all, since a network boot has no such entries.
 */
extern const struct target_item check_entries;

/* check_carrier.c: up; and at least so many bytes/s */
extern const struct target_item check_carrier, check_speed;

/* check_iommu.c: isolated (1), or in any group (0); and a word, as the kernel writes the type */
extern const struct target_item check_iommu_group, check_iommu_type;

/*
 * check_pcie.c: at least so many lanes, and tenths of GT/s; a word is max, as much as both ends of
 * the link are capable of. A VF has its PF's link. And at least that payload of a packet, by its
 * code in the registers: 0 is 128 bytes, 5 is 4096.
 */
extern const struct target_item check_pcie_width, check_pcie_speed, check_pcie_payload;

/* check_rdma.c: every port of its RDMA devices is ACTIVE; and has at least so many bytes/s */
extern const struct target_item check_rdma_link, check_rdma_speed;

/* check_aer.c: no uncorrected error since boot; and so many corrected ones or fewer */
extern const struct target_item check_pcie_errors, check_pcie_corrected;

/* limit.c. on.name: a service; a word is unlimited, or so many bytes: each of its processes may
 * lock them at least */
extern const struct target_item check_memlock;

/*
 * check_gpu.c: NVIDIA's modules that are bound, of any flavor (GPU_ANY) or this one, and the device
 * nodes that work opens are there.
 */
enum { GPU_OPEN, GPU_PROPRIETARY, GPU_ANY };
extern const struct target_item check_gpu_driver;
/* on.name: of a NIC, a part's of a GPU: dma-buf or nvidia_peermem */
extern const struct target_item check_gpudirect;
/* none in the kernel's log that is a fault of the GPU or node */
extern const struct target_item check_gpu_xid;
