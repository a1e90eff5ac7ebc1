/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which network namespaces see RDMA devices. */
#include <errno.h>

#include "kinds/netlink.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/module.h"
#include "sys/rdma.h"

#define MODULE "ib_core"

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	enum module_state state;
	bool shared;
	int r;

	if (!ctx->root->live)
		return look_elsewhere(c);
	r = module_state(ctx->root, MODULE, &state, err);
	if (r == 0 && state == MODULE_MISSING)
		return err_set(err, -ENOENT,
			       "the running kernel has no " MODULE TO_MEND
			       "install the package that brings "
			       "it, or leave rdma.netns out");
	if (r == 0 && state < MODULE_LIVE) {
		change_observe(c, MODULE " is not loaded");
		c->now.state = CHANGE_DIFFERS;
		return 0;
	}
	if (r == 0)
		r = rdma_netns_shared(&shared, err);
	if (r < 0)
		return r;
	change_found(c, !shared);
	return 0;
}

/*
 * Loads ib_core if it is not loaded yet, because other network namespaces may exist by the time a
 * device loads it. The kernel accepts the present mode even if other namespaces exist.
 */
static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	bool shared = !c->want.number;
	enum module_state state;
	int r = netlink_only_here(ctx->root, err);

	if (r == 0)
		r = module_state(ctx->root, MODULE, &state, err);
	if (r == 0 && state < MODULE_LIVE)
		r = machine_insert_module(MODULE, NULL, err);
	if (r == 0)
		r = machine_rdma_netns(shared, err);
	if (r == -EBUSY)
		return err_wrap(
			err,
			"other network namespaces exist already (of containers, or of services "
			"with PrivateNetwork=); "
			"set the mode before they start: modules: {options: "
			"{ib_core: {netns_mode: %d}}}, which applies when ib_core is loaded",
			shared);
	return r;
}

const struct target_item rdma_netns = {.kind = &kind_netlink, .look = look, .set = set};
