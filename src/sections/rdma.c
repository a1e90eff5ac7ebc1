/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma: which network namespaces see RDMA devices. In early, before anything that makes a second
 * namespace, and after the modules that the profile loads; again in devices, since what
 * reloads the RDMA stack (a vendor's openibd) brings the default back.
 */
#include "profile/language.h"
#include "sections/sections.h"

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	const struct ynode *netns = ynode_get(section, "netns");
	struct change *c;

	(void)ctx;
	(void)err;
	if (!netns)
		return 0;
	c = plan_add(plan, "rdma", &kind_netlink, STAGE_EARLY, PHASE_SYSCTL, netns->at,
		     "rdma/netns");
	change_target(c, "rdma_netns");
	change_desired(c, "%s", netns->text);
	change_lane(c, "rdma");
	c->late = true;
	return 0;
}

const struct section section_rdma = {
	.name = "rdma",
	.spec = &spec_rdma,
	.help = "RDMA as a whole.",
	.class = KEY_SETS,
	.emit = emit,
};
