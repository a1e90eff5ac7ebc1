/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: checks that have a file of their own. arg: what follows "CHECKER:". */
#pragma once

#include "kinds/kind.h"

/* carrier:ADDR or carrier:PF/INDEX; desired: "up" */
int check_carrier(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
/* speed:, the same; desired: a rate such as 400Gb/s, and that or more is right */
int check_speed(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
/* iommu-group:ADDR or iommu-group:PF/INDEX; desired: "isolated" or "any" */
int check_iommu_group(const struct kind_ctx *ctx, struct change *c, const char *arg,
		      struct err *err);
/* iommu-type:ADDR or iommu-type:PF/INDEX; desired: as the kernel writes the group's type */
int check_iommu_type(const struct kind_ctx *ctx, struct change *c, const char *arg,
		     struct err *err);

/*
 * check_pcie.c. pcie-width:ADDR, pcie-speed:ADDR (or PF/INDEX: a VF has its PF's link): at least
 * as desired; "max": as much as both ends of the link are capable of.
 */
int check_pcie_width(const struct kind_ctx *ctx, struct change *c, const char *arg,
		     struct err *err);
int check_pcie_speed(const struct kind_ctx *ctx, struct change *c, const char *arg,
		     struct err *err);
/* pcie-payload:ADDR: at least so many bytes of payload in a packet */
int check_pcie_payload(const struct kind_ctx *ctx, struct change *c, const char *addr,
		       struct err *err);

/*
 * check_rdma.c. rdma-link:ADDR or rdma-link:PF/INDEX; desired: "ACTIVE", every port of its RDMA
 * devices. rdma-speed:, the same; desired: a rate, and that or more is right.
 */
int check_rdma_link(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
int check_rdma_speed(const struct kind_ctx *ctx, struct change *c, const char *arg,
		     struct err *err);

/*
 * check_aer.c. pcie-errors:ADDR or pcie-errors:PF/INDEX; desired: "0", uncorrected since boot.
 * pcie-corrected:, the same; desired: "100 or fewer".
 */
int check_pcie_errors(const struct kind_ctx *ctx, struct change *c, const char *arg,
		      struct err *err);
int check_pcie_corrected(const struct kind_ctx *ctx, struct change *c, const char *arg,
			 struct err *err);

/* memlock:UNIT; desired: "unlimited" or a size, which each of its processes may lock at least */
int check_memlock(const struct kind_ctx *ctx, struct change *c, const char *unit, struct err *err);

/*
 * check_gpu.c. gpu-driver:ADDR; desired: "open", "proprietary" or "any": NVIDIA's modules that
 * are bound, and the device nodes that work opens are there.
 */
int check_gpu_driver(const struct kind_ctx *ctx, struct change *c, const char *addr,
		     struct err *err);
/* gpudirect:NIC,GPU; desired: "dma-buf or nvidia_peermem", and observed which of the two */
int check_gpudirect(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
/* gpu-xid:ADDR; desired: "none" in the kernel's log that is a fault of the GPU or node */
int check_gpu_xid(const struct kind_ctx *ctx, struct change *c, const char *addr, struct err *err);
