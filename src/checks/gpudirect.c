/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GPUDirect RDMA: by which way a NIC may read a GPU's memory: dma-buf or nvidia_peermem. */
#include <string.h>

#include "base/str.h"
#include "base/version.h"
#include "checks/gpu.h"
#include "checks/looks.h"
#include "kinds/function.h"
#include "sys/read.h"

/* PCI drivers whose RDMA drivers have reg_user_mr_dmabuf: mlx5_ib, irdma, bnxt_re, efa. */
static const char *const takes_dmabuf[] = {"mlx5_core", "ice", "i40e", "idpf", "bnxt_en", "efa"};

static bool nic_takes_dmabuf(const char *driver)
{
	for (size_t i = 0; i < array_len(takes_dmabuf); i++)
		if (driver && streq(takes_dmabuf[i], driver))
			return true;
	return false;
}

/* Of the three things that dma-buf takes, the first that is missing; NULL: none. */
static char *no_dmabuf(const struct kind_ctx *ctx, const char *nic, const char *gpu_driver)
{
	cleanup_free char *driver = gpu_driver_of(ctx->root, nic);
	const char *flavor = streq(gpu_driver, "nvidia") ? gpu_nvidia_flavor(ctx->root) : "open";

	if (!nic_takes_dmabuf(driver))
		return xasprintf("the driver of %s (%s) takes no dma-buf", nic,
				 driver ? driver : "none");
	if (!flavor || !streq(flavor, "open"))
		return xstrdup("the nvidia modules are not the open ones");
	if (!version_fits(">=5.12", ctx->node->kernel))
		return xasprintf("kernel %s is older than 5.12", ctx->node->kernel);
	return NULL;
}

static bool has_peermem(const struct root *root)
{
	return root_exists(root, "/sys/module/nvidia_peermem") ||
	       root_exists(root, "/sys/module/nv_peer_mem");
}

static int judge_paths(const struct kind_ctx *ctx, struct change *c, const char *nic,
		       const char *gpu_driver)
{
	cleanup_free char *lacks = no_dmabuf(ctx, nic, gpu_driver);

	c->state = CHANGE_SAME;
	if (!lacks) {
		change_observe(c, "dma-buf");
		return 0;
	}
	if (streq(gpu_driver, "nvidia") && has_peermem(ctx->root)) {
		change_observe(c, "nvidia_peermem");
		return 0;
	}
	change_observe(c, "neither");
	change_reason(
		c,
		"%s, and nvidia_peermem is not loaded: install the open kernel modules, or load "
		"nvidia_peermem (modules.load), which needs the RDMA stack of DOCA-OFED",
		lacks);
	c->state = CHANGE_DIFFERS;
	return 0;
}

static int look_direct(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const char *nic = c->on.name, *gpu = c->parts.v[0].name;
	cleanup_free char *driver = NULL;
	int r = function_gone(ctx->root, nic, err);

	if (r == 0)
		r = function_gone(ctx->root, gpu, err);
	if (r < 0)
		return r;
	driver = gpu_driver_of(ctx->root, gpu);
	if (!driver || (!streq(driver, "nvidia") && !streq(driver, "amdgpu")))
		return gpu_unbound(c, gpu, driver);
	if (!ctx->root->live && streq(driver, "nvidia") && !gpu_nvidia_flavor(ctx->root)) {
		c->state = CHANGE_UNSUPPORTED;
		change_reason(c, "this tree does not tell which modules of NVIDIA's ran");
		return 0;
	}
	return judge_paths(ctx, c, nic, driver);
}

const struct target_item gpudirect_item = {
	.kind = &kind_check, .look = look_direct, .fault = FAULT_GPU_DIRECT};

static void emit_pair(const struct checked *t, const struct pci_fn *nic, const struct pci_fn *gpu,
		      void *arg)
{
	struct change *c = check_look(t, (struct subject){nic->addr, -1}, "", &gpudirect_item,
				      "gpudirect", "dma-buf or nvidia_peermem");

	(void)arg;
	change_part(c, gpu->addr, NULL, NULL);
	change_target(c, "gpudirect:%s,%s", nic->addr, gpu->addr);
	check_settles(t, c);
}

static void emit(const struct checked *t)
{
	gpu_pairs(t, emit_pair, NULL);
}

CHECK(gpudirect, .required = {"on", "with"}, .look_whole = emit);
