/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the running kernel lets a NIC use a GPU's memory by dma-buf. */
#pragma once

#include "kinds/kind.h"

enum dmabuf { DMABUF_WORKS, DMABUF_LACKS, DMABUF_UNKNOWN };

/*
 * Looks for the functions in the kernel, in the NIC's RDMA driver and in the GPU's driver, because
 * no version tells which features were built or backported. gpu_driver: nvidia or amdgpu. Unless
 * the result is DMABUF_WORKS, *why (the caller frees) names the missing or unknown part.
 */
enum dmabuf dmabuf_of(const struct kind_ctx *ctx, const char *nic, const char *gpu_driver,
		      char **why);
