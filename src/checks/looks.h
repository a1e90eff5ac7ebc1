/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of kind check for this room's looks, for other rooms and unit tests. on.name is the
 * address of a function, or of a PF if on.vf selects one of its VFs.
 */
#pragma once

#include "kinds/target.h"

/* the carrier is up; the port has at least this speed, in bytes/s */
extern const struct target_item carrier_item, port_speed_item;
/* every port of its RDMA devices is ACTIVE; every port has at least this speed, in bytes/s */
extern const struct target_item rdma_link_item, rdma_speed_item;
/*
 * The minimum of lanes, and of tenths of GT/s; the word max is the most that both ends of the link
 * can do. A VF has its PF's link.
 */
extern const struct target_item pcie_width_item, pcie_speed_item;
/* no uncorrected error since boot; at most this number of corrected errors */
extern const struct target_item pcie_errors_item, pcie_corrected_item;
/* isolated (1), or in any group (0); the type of the group, a word as the kernel writes it */
extern const struct target_item iommu_group_item, iommu_type_item;
/*
 * NVIDIA's modules of this flavor (GPU_ANY: any) are bound, and the device nodes that work opens
 * exist.
 */
enum { GPU_OPEN, GPU_PROPRIETARY, GPU_ANY };
extern const struct target_item gpu_driver_item;
/* on.name: a NIC; the names of the parts: its GPUs. dma-buf works, or nvidia_peermem is loaded */
extern const struct target_item gpudirect_item;
/* the kernel's log has no Xid that is a fault of the GPU or node */
extern const struct target_item gpu_xid_item;
/*
 * Counters around the load (checks/counters.h). The node's: uncorrected memory errors, memory
 * errors that rose under load, a maximum of corrected memory errors; throttling.
 */
struct counter_look;
extern const struct counter_look memory_errors_look, memory_rise_look, memory_corrected_look;
extern const struct counter_look throttling_look;
/* A function's: counters that must not rise, counters with a maximum rise; the wear of a drive. */
extern const struct counter_look port_errors_look, port_rise_look;
extern const struct counter_look nvme_health_look, nvme_rise_look, nvme_wear_look;
