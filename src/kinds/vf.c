/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VFs: how many a PF has, and which driver each has. All sets run in workers: a numvfs
 * write holds the PF's device lock and, on current kernels, one global lock around the
 * whole creation; a bind takes the time of a driver's probe.
 */
#include "kinds/vf.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

static const struct {
	const char *prefix;
	int (*look)(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
	int (*set)(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
} targets[] = {
	{"numvfs:", vf_look_numvfs, vf_set_numvfs},
	{"driver:", vf_look_driver, vf_set_driver},
};

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	for (size_t i = 0; i < array_len(targets); i++)
		if (str_starts(c->target, targets[i].prefix))
			return targets[i].look(ctx, c, c->target + strlen(targets[i].prefix), err);
	return err_set(err, -EINVAL, "%s: not a target of kind vf", c->target);
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	for (size_t i = 0; i < array_len(targets); i++)
		if (str_starts(c->target, targets[i].prefix))
			return targets[i].set(ctx, c, c->target + strlen(targets[i].prefix), err);
	return err_set(err, -EINVAL, "%s: not a target of kind vf", c->target);
}

const struct kind kind_vf = {
	.name = "vf",
	.blocks = true,
	.look = look,
	.set = set,
	.where = vf_where,
	.line = "the kernel's lock for VF creation",
};
