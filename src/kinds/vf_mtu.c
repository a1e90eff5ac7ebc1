/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MTU of a VF's netdev. By its sysfs file, which takes the same lock and asks the same
 * driver as netlink does (net/core/net-sysfs.c).
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "kinds/vf_net.h"
#include "sys/machine.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

/* "PF/INDEX" -> the pattern of the MTU files of its netdevs */
static int mtu_files(const struct root *root, const char *vf, struct strv *ret, struct err *err)
{
	const char *slash = strchr(vf, '/');
	cleanup_free char *pattern = NULL;

	if (!slash)
		return err_set(err, -EINVAL, "%s: not PF/INDEX", vf);
	pattern = xasprintf(DEV "%.*s/virtfn%s/net/*/mtu", (int)(slash - vf), vf, slash + 1);
	return read_glob(root, pattern, ret, err);
}

/* No netdev here: the VF or its driver is not there yet, or a container has the netdev. */
static void no_netdev(const struct kind_ctx *ctx, struct change *c, const char *vf)
{
	const char *slash = strchr(vf, '/');

	change_observe(c, "no netdev");
	if (root_exists(ctx->root, DEV "%.*s/virtfn%s/net", (int)(slash - vf), vf, slash + 1)) {
		change_reason(c, "its netdev is in a network namespace of its own (a container), "
				 "and is left alone there");
		c->state = CHANGE_UNSUPPORTED;
		return;
	}
	change_reason(c, "VF %s of %.*s has no netdev", slash + 1, (int)(slash - vf), vf);
	c->state = CHANGE_WAITS;
}

int vf_look_mtu(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err)
{
	cleanup_strv struct strv files = {0};
	int r = mtu_files(ctx->root, vf, &files, err);

	if (r < 0)
		return r;
	if (!files.n) {
		no_netdev(ctx, c, vf);
		return 0;
	}
	for (size_t i = 0; i < files.n; i++) {
		cleanup_free char *text = NULL;

		r = read_text(ctx->root, &text, err, "%s", files.v[i]);
		if (r < 0)
			return r;
		change_observe(c, "%s", text);
		change_judge(c);
		if (c->state != CHANGE_SAME)
			break;
	}
	return 0;
}

static int refused(const struct root *root, const char *vf, const char *mtu, struct err *err)
{
	cleanup_free char *pattern = xasprintf(DEV "%.*s/net/*/mtu", (int)strcspn(vf, "/"), vf);
	cleanup_free char *pf_mtu = NULL;
	cleanup_strv struct strv files = {0};

	if (read_glob(root, pattern, &files, NULL) == 0 && files.n)
		read_text(root, &pf_mtu, NULL, "%s", files.v[0]);
	return err_set(err, -EINVAL,
		       "VF %s of %.*s: an MTU of %s is more than its driver or the PF's port takes "
		       "(the PF has %s): raise link.mtu of the PF, or ask less",
		       strchr(vf, '/') + 1, (int)strcspn(vf, "/"), vf, mtu,
		       pf_mtu ? pf_mtu : "no netdev");
}

int vf_set_mtu(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err)
{
	cleanup_strv struct strv files = {0};
	int r = mtu_files(ctx->root, vf, &files, err);

	for (size_t i = 0; r == 0 && i < files.n; i++)
		r = machine_write_attr(ctx->root, files.v[i], c->desired, err);
	return r == -EINVAL ? refused(ctx->root, vf, c->desired, err) : r;
}
