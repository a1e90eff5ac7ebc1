/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GPUDirect RDMA: whether a NIC may read a GPU's memory, by dma-buf or nvidia_peermem. */
#include <string.h>

#include "checks/dmabuf.h"
#include "checks/gpu.h"
#include "checks/looks.h"
#include "kinds/function.h"
#include "plan/change.h"

static void tell_lack(struct change *c, const char *lacks, bool nvidia)
{
	change_observe(c, "neither");
	if (nvidia)
		change_reason(
			c,
			"%s, and nvidia_peermem is not loaded: install the open kernel "
			"modules, or load nvidia_peermem (modules.load), which needs the RDMA "
			"stack of DOCA-OFED",
			lacks);
	else
		change_reason(c,
			      "%s, and amdgpu has no other way: boot a kernel and load a driver of "
			      "the NIC that have it",
			      lacks);
	c->now.state = CHANGE_DIFFERS;
}

static int judge_paths(const struct kind_ctx *ctx, struct change *c, const char *nic,
		       const char *gpu_driver)
{
	bool nvidia = streq(gpu_driver, "nvidia");
	cleanup_free char *why = NULL;
	enum dmabuf by_dmabuf = dmabuf_of(ctx, nic, gpu_driver, &why);

	c->now.state = CHANGE_SAME;
	if (by_dmabuf == DMABUF_WORKS) {
		change_observe(c, "dma-buf");
	} else if (nvidia && (root_exists(ctx->root, "/sys/module/nvidia_peermem") ||
			      root_exists(ctx->root, "/sys/module/nv_peer_mem"))) {
		change_observe(c, "nvidia_peermem");
	} else if (by_dmabuf == DMABUF_UNKNOWN) {
		c->now.state = CHANGE_UNSUPPORTED;
		change_reason(c,
			      "%s, so that nothing tells whether dma-buf works; a check gpu_rdma "
			      "measures it",
			      why);
	} else {
		tell_lack(c, why, nvidia);
	}
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
	driver = function_driver(ctx->root, gpu);
	if (!driver || (!streq(driver, "nvidia") && !streq(driver, "amdgpu")))
		return gpu_unbound(c, gpu, driver);
	if (!ctx->root->live && streq(driver, "nvidia") && !gpu_nvidia_flavor(ctx->root)) {
		c->now.state = CHANGE_UNSUPPORTED;
		change_reason(c, "this tree does not show which NVIDIA modules were loaded");
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
