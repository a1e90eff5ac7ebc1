/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks/check.h"

#include "base/mem.h"

#define CHECKS(X)           \
	X(memory_bandwidth) \
	X(memory_latency)   \
	X(jitter)           \
	X(pcie_link)        \
	X(pcie_errors)      \
	X(memory_errors)    \
	X(port_errors)      \
	X(nvme_health)      \
	X(throttling)       \
	X(iommu_groups)     \
	X(carrier)          \
	X(rdma_link)        \
	X(rdma_loopback)    \
	X(rdma_pairs)       \
	X(gpu_driver)       \
	X(gpu_health)       \
	X(gpu_fabric)       \
	X(gpu_xid)          \
	X(gpu_copy)         \
	X(gpu_peer)         \
	X(gpudirect)        \
	X(gpu_rdma)         \
	X(storage_read)     \
	X(memlock)          \
	X(command)

#define DECLARE(name) extern const struct check check_##name;
#define LIST(name) &check_##name,
#define WORD(name) #name,

CHECKS(DECLARE)
const struct check *const check_table[] = {CHECKS(LIST) NULL};
const char *const check_words[] = {CHECKS(WORD) NULL};

const struct check *check_find(const char *run)
{
	for (const struct check *const *c = check_table; *c; c++)
		if (streq((*c)->run, run))
			return *c;
	return NULL;
}
