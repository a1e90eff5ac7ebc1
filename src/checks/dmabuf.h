/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a NIC can be given a GPU's memory by dma-buf, as the running kernel shows it. */
#pragma once

#include "kinds/kind.h"

enum dmabuf { DMABUF_WORKS, DMABUF_LACKS, DMABUF_UNKNOWN };

/*
 * By the functions that the kernel, the RDMA driver of the NIC and the GPU's driver have: no
 * version says what was built or backported. gpu_driver: nvidia or amdgpu. *why (the caller frees)
 * says what is missing or not known, unless it works.
 */
enum dmabuf dmabuf_of(const struct kind_ctx *ctx, const char *nic, const char *gpu_driver,
		      char **why);
