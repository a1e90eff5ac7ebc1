/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dma-buf needs three parts. The GPU's driver exports: nv_dma_buf_map() of nvidia, built if the
 * kernel has dma-buf, and usable only in the open modules; amdgpu needs the kernel's p2pdma to
 * leave the memory on the GPU. The umem of the RDMA core imports: ib_umem_dmabuf_get(), since 5.12
 * and in backports. The NIC's driver has reg_user_mr_dmabuf, which all drivers name
 * DRIVER_reg_user_mr_dmabuf (mlx5_ib, irdma, bnxt_re, efa, mana_ib, ionic_rdma).
 */
#include "checks/dmabuf.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "checks/gpu.h"
#include "kinds/cache.h"
#include "kinds/function.h"
#include "node/drivers.h"
#include "sys/kallsyms.h"

#define TAKES "_reg_user_mr_dmabuf"

struct built {
	bool any, umem, p2pdma, nvidia;
	struct strv takers; /* modules; of built-in drivers the function's name before TAKES */
};

static void note(const char *name, const char *module, void *arg)
{
	struct built *b = arg;
	const char *end = strstr(name, TAKES);

	b->any = true;
	b->umem |= streq(name, "ib_umem_dmabuf_get");
	b->p2pdma |= str_starts(name, "pci_p2pdma_");
	b->nvidia |= str_starts(name, "nv_dma_buf_map") && streq(module, "nvidia");
	if (end && *module) {
		strv_add(&b->takers, module);
	} else if (end) {
		cleanup_free char *driver = xstrndup(name, (size_t)(end - name));

		strv_add(&b->takers, driver);
	}
}

static void built_free(void *info)
{
	struct built *b = info;

	strv_free(&b->takers);
	free(b);
}

static int ask(const struct root *root, const char *what, void **ret, struct err *err)
{
	struct built *b = xnew(struct built);

	(void)what;
	*ret = b;
	return kallsyms_walk(root, note, b, err);
}

static struct cache kernel = {.ask = ask, .free = built_free};

/* A built-in ionic_rdma names its function ionic_reg_user_mr_dmabuf. */
static bool takes(const struct built *b, const char *module)
{
	for (size_t i = 0; i < b->takers.n; i++)
		if (streq(b->takers.v[i], module) ||
		    (str_starts(module, b->takers.v[i]) && module[strlen(b->takers.v[i])] == '_'))
			return true;
	return false;
}

static enum dmabuf judge_nic(const struct kind_ctx *ctx, const struct built *b, const char *nic,
			     char **why)
{
	cleanup_free char *driver = function_driver(ctx->root, nic);
	const char *module = driver_find(driver)->rdma;

	if (!driver) {
		*why = xasprintf("%s has no driver", nic);
		return DMABUF_LACKS;
	}
	if (!module) {
		*why = xasprintf("which module has the RDMA device of %s (%s) is not known", nic,
				 driver);
		return DMABUF_UNKNOWN;
	}
	if (takes(b, module))
		return DMABUF_WORKS;
	*why = root_exists(ctx->root, "/sys/module/%s", module)
		       ? xasprintf("the driver of %s (%s) does not support dma-buf", nic, module)
		       : xasprintf("module %s, the RDMA driver of %s, is not loaded", module, nic);
	return DMABUF_LACKS;
}

static enum dmabuf judge_gpu(const struct built *b, bool nvidia, char **why)
{
	if (nvidia ? b->nvidia : b->p2pdma)
		return DMABUF_WORKS;
	*why = xstrdup(nvidia ? "the nvidia modules show no function that exports dma-buf"
			      : "the kernel was built without CONFIG_PCI_P2PDMA");
	return nvidia ? DMABUF_UNKNOWN : DMABUF_LACKS;
}

enum dmabuf dmabuf_of(const struct kind_ctx *ctx, const char *nic, const char *gpu_driver,
		      char **why)
{
	bool nvidia = streq(gpu_driver, "nvidia");
	const char *flavor = nvidia ? gpu_nvidia_flavor(ctx->root) : "open";
	const struct cached *answer;
	const struct built *b;
	enum dmabuf nic_does;

	if (!flavor || !streq(flavor, "open")) {
		*why = xstrdup("the nvidia modules are not the open ones");
		return DMABUF_LACKS;
	}
	answer = cache_get(&kernel, ctx->root, "/proc/kallsyms");
	b = answer->info;
	if (!b || !b->any) {
		*why = xasprintf("%s/proc/kallsyms lists no function of the kernel",
				 ctx->root->live ? "" : "in this tree ");
		return DMABUF_UNKNOWN;
	}
	nic_does = judge_nic(ctx, b, nic, why);
	if (nic_does != DMABUF_WORKS)
		return nic_does;
	if (!b->umem) {
		*why = xstrdup(
			"the kernel's RDMA core does not support dma-buf (ib_umem_dmabuf_get, "
			"Linux 5.12)");
		return DMABUF_LACKS;
	}
	return judge_gpu(b, nvidia, why);
}
