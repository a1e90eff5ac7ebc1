/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/iommu.h"

#include "base/mem.h"
#include "kargs/kargs.h"
#include "sys/read.h"

/* The argument of this boot that keeps the IOMMU off, or NULL. */
static const char *off_argument(const char *cmdline)
{
	static const char *const off[] = {"iommu=off", "intel_iommu=off", "amd_iommu=off"};

	for (size_t i = 0; i < array_len(off); i++)
		if (kargs_has(cmdline, off[i]))
			return off[i];
	return NULL;
}

static char *why_none(const struct kind_ctx *ctx, const char *addr)
{
	const char *off = off_argument(ctx->node->cmdline);
	cleanup_strv struct strv groups = {0};

	if (read_dir(ctx->root, &groups, NULL, "/sys/kernel/iommu_groups") == 0 && groups.n)
		return xasprintf(
			"the IOMMU is on, but not for %s: the firmware's DMAR or IVRS table leaves "
			"it out, or a kernel argument excludes it (intel_iommu=igfx_off)",
			addr);
	if (off)
		return xasprintf("the kernel argument %s of this boot turns the IOMMU off; set "
				 "kernel_args.iommu to passthrough, lazy or strict",
				 off);
	if (node_cpu_vendor(ctx->node) == CPU_INTEL &&
	    !kargs_has(ctx->node->cmdline, "intel_iommu=on"))
		return xstrdup("the IOMMU is off, and no intel_iommu=on on the kernel command "
			       "line: set kernel_args.iommu, and enable VT-d in the BIOS");
	return xstrdup("the IOMMU is off: enable VT-d, AMD-Vi or the SMMU in the BIOS; the "
		       "command line does not forbid it");
}

char *iommu_group_of(const struct kind_ctx *ctx, const char *addr, char **ret_why)
{
	char *group;

	if (read_link_name(ctx->root, &group, NULL, "/sys/bus/pci/devices/%s/iommu_group", addr) ==
	    0)
		return group;
	*ret_why = why_none(ctx, addr);
	return NULL;
}
