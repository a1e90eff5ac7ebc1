/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends of messages that reject a statement found in tutorials: a reference to its section in
 * docs/tutorials.md, which cites the kernel source. tests/tutorials.bats compares the numbers with
 * the page.
 */
#pragma once

#define TUTORIALS(n) " (docs/tutorials.md, " #n ")"

#define TUTORIAL_AMD_IOMMU_ON TUTORIALS(1)
#define TUTORIAL_IOMMU_ON TUTORIALS(2)
#define TUTORIAL_IOMMU_OFF TUTORIALS(3)
#define TUTORIAL_GROUP_TYPE TUTORIALS(4)
#define TUTORIAL_SRIOV_IOMMU TUTORIALS(6)
#define TUTORIAL_PEERMEM_ENABLED TUTORIALS(8)
#define TUTORIAL_DMABUF TUTORIALS(9)
#define TUTORIAL_RPCRDMA_CORE TUTORIALS(10)
#define TUTORIAL_VF_ID TUTORIALS(11)
#define TUTORIAL_NUMVFS TUTORIALS(16)
#define TUTORIAL_HUGEPAGES TUTORIALS(17)
#define TUTORIAL_ISOLCPUS TUTORIALS(19)
#define TUTORIAL_IB_UCM TUTORIALS(22)
