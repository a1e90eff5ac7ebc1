/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MTU of a VF's netdev, by its sysfs file, which takes the same lock and asks the same driver
 * as netlink does (net/core/net-sysfs.c).
 */
#include <errno.h>

#include "kinds/vf.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

/* The files of the VF's netdevs in this network namespace. */
static int mtu_files(const struct root *root, const struct change *c, struct strv *ret,
		     struct err *err)
{
	cleanup_free char *pattern = xasprintf(DEV "%s/virtfn%d/net/*/mtu", c->on.name, c->on.vf);

	return read_glob(root, pattern, ret, err);
}

/* No netdev here: the VF or its driver is not there yet, or a container has the netdev. */
static int no_netdev(const struct kind_ctx *ctx, struct change *c)
{
	change_observe(c, "no netdev");
	if (root_exists(ctx->root, DEV "%s/virtfn%d/net", c->on.name, c->on.vf))
		return target_in_namespace(c, "netdev");
	change_reason(c, "VF %d of %s has no netdev", c->on.vf, c->on.name);
	c->now.state = CHANGE_WAITS;
	return 0;
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_strv struct strv files = {0};
	int r = mtu_files(ctx->root, c, &files, err);

	if (r < 0)
		return r;
	if (!files.n)
		return no_netdev(ctx, c);
	for (size_t i = 0; i < files.n; i++) {
		uint64_t mtu;

		r = read_u64(ctx->root, &mtu, err, "%s", files.v[i]);
		if (r < 0)
			return r;
		change_found(c, (int64_t)mtu);
		if (c->now.state != CHANGE_SAME)
			break;
	}
	return 0;
}

static int refused(const struct root *root, const struct change *c, struct err *err)
{
	cleanup_free char *pattern = xasprintf(DEV "%s/net/*/mtu", c->on.name);
	cleanup_free char *pf_mtu = NULL;
	cleanup_strv struct strv files = {0};

	if (read_glob(root, pattern, &files, NULL) == 0 && files.n)
		read_attr(root, &pf_mtu, NULL, "%s", files.v[0]);
	return err_set(err, -EINVAL,
		       "VF %d of %s: an MTU of %lld is more than its driver or the PF's port "
		       "accepts (the PF has %s): raise link.mtu of the PF, or write less",
		       c->on.vf, c->on.name, (long long)c->want.number,
		       pf_mtu ? pf_mtu : "no netdev");
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *mtu = xasprintf("%lld", (long long)c->want.number);
	cleanup_strv struct strv files = {0};
	int r = mtu_files(ctx->root, c, &files, err);

	for (size_t i = 0; r == 0 && i < files.n; i++)
		r = machine_write_attr(ctx->root, files.v[i], mtu, err);
	return r == -EINVAL ? refused(ctx->root, c, err) : r;
}

const struct target_item vf_mtu = {.kind = &kind_vf, .look = look, .set = set};
