/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers for settings by netlink, and one item: all netdevs of a PF are administratively up. The
 * look reads sysfs flags, which takes no rtnl; the set takes rtnl, so it runs in a worker.
 */
#include "kinds/netlink.h"

#include <errno.h>
#include <net/if.h>

#include "kinds/function.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/read.h"

static int netdevs_of(const struct root *root, const char *pf, struct strv *ret)
{
	return read_dir(root, ret, NULL, "/sys/bus/pci/devices/%s/net", pf);
}

static int look_up(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_strv struct strv names = {0};
	bool up = true;

	if (netdevs_of(ctx->root, c->on.name, &names) < 0 || !names.n) {
		change_observe(c, "no netdev");
		change_reason(c, "the PF has no netdev (yet); is its driver bound?");
		c->now.state = CHANGE_WAITS;
		return 0;
	}
	for (size_t i = 0; i < names.n; i++) {
		uint64_t flags;
		int r = read_u64(ctx->root, &flags, err, "/sys/class/net/%s/flags", names.v[i]);

		if (r < 0)
			return r;
		up &= flags & IFF_UP;
	}
	change_observe(c, up ? "up" : "down");
	c->now.state = up ? CHANGE_SAME : CHANGE_DIFFERS;
	return 0;
}

static int set_up(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_strv struct strv names = {0};
	int r = netlink_only_here(ctx->root, err);

	if (r < 0)
		return r;
	r = function_wait_named(ctx->root, c->on.name, ctx->deadline, err);
	netdevs_of(ctx->root, c->on.name, &names);
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		uint64_t index;

		r = read_u64(ctx->root, &index, err, "/sys/class/net/%s/ifindex", names.v[i]);
		if (r == 0)
			r = machine_link_up((unsigned int)index, true, err);
		if (r < 0)
			err_wrap(err, "%s", names.v[i]);
	}
	return r;
}

static char *desired_up(const struct change *c)
{
	(void)c;
	return xstrdup("up");
}

const struct target_item netdevs_up = {
	.kind = &kind_netlink, .look = look_up, .set = set_up, .desired = desired_up};

int look_elsewhere(struct change *c)
{
	change_observe(c, "unknown");
	change_reason(c, "netlink answers only on the running machine");
	c->now.state = CHANGE_DIFFERS;
	return 0;
}

int netlink_only_here(const struct root *root, struct err *err)
{
	return root->live ? 0
			  : err_set(err, -EOPNOTSUPP,
				    "netlink settings apply only to the running machine");
}

const struct kind kind_netlink = {
	.name = "netlink", .blocks = true, .look = item_look, .set = item_set};
