/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VFs: how many a PF has, and which driver each has. All sets run in workers: a numvfs
 * write holds the PF's device lock and, on current kernels, one global lock around the
 * whole creation; a bind takes the time of a driver's probe.
 */
#include "kinds/vf.h"

#include "kinds/target.h"
#include "kinds/vf_net.h"

static const struct target_sort targets[] = {
	{"numvfs:", vf_look_numvfs, vf_set_numvfs, NULL},
	{"driver:", vf_look_driver, vf_set_driver, vf_complete_driver},
	{"mtu:", vf_look_mtu, vf_set_mtu, NULL},
	{"msix:", vf_look_msix, vf_set_msix, NULL},
	{NULL, NULL, NULL, NULL},
};

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return target_look(targets, "vf", ctx, c, err);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return target_set(targets, "vf", ctx, c, err);
}

static int complete(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	return target_complete(targets, ctx, c, err);
}

const struct kind kind_vf = {
	.name = "vf",
	.blocks = true,
	.look = look,
	.set = set,
	.complete = complete,
	.where = vf_where,
	.line = "the kernel's lock for VF creation",
};
