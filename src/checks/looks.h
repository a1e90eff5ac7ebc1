/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of kind check that this room's looks are about, for others and unit tests. on.name is
 * the address of a function, or of a PF where on.vf says which of its VFs is meant.
 */
#pragma once

#include "kinds/target.h"

/* up; and at least so many bytes/s */
extern const struct target_item carrier_item, port_speed_item;
/* every port of its RDMA devices is ACTIVE; and has at least so many bytes/s */
extern const struct target_item rdma_link_item, rdma_speed_item;
/*
 * At least so many lanes, and tenths of GT/s; a word is max, as much as both ends of the link are
 * capable of. A VF has its PF's link.
 */
extern const struct target_item pcie_width_item, pcie_speed_item;
/* no uncorrected error since boot; and so many corrected ones or fewer */
extern const struct target_item pcie_errors_item, pcie_corrected_item;
/* isolated (1), or in any group (0); and a word, as the kernel writes the type */
extern const struct target_item iommu_group_item, iommu_type_item;
/*
 * NVIDIA's modules that are bound, of any flavor (GPU_ANY) or this one, and the device nodes that
 * work opens are there.
 */
enum { GPU_OPEN, GPU_PROPRIETARY, GPU_ANY };
extern const struct target_item gpu_driver_item;
/* on.name: of a NIC, a part's of a GPU: dma-buf or nvidia_peermem */
extern const struct target_item gpudirect_item;
/* none in the kernel's log that is a fault of the GPU or node */
extern const struct target_item gpu_xid_item;
/*
 * Counters around the load (checks/counters.h). The node's: uncorrected, those that rose under
 * load, and so many corrected ones or fewer; what throttled.
 */
struct counter_look;
extern const struct counter_look memory_errors_look, memory_rise_look, memory_corrected_look;
extern const struct counter_look throttling_look;
/* A function's: what may not rise, and what may by so many; of a drive what it has used up. */
extern const struct counter_look port_errors_look, port_rise_look;
extern const struct counter_look nvme_health_look, nvme_rise_look, nvme_wear_look;
