/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma: the network namespaces that see RDMA devices. Set in stage early, after the profile's
 * modules are loaded and before a program creates a second namespace; again in stage devices,
 * because programs that reload the RDMA stack (such as a vendor's openibd) restore the default.
 */
#include "kinds/netlink.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "profile/yaml.h"

static const struct spec mode = ONE_OF(
	"a network namespace mode", MEANS("shared", "all network namespaces see each RDMA device"),
	MEANS("exclusive", "an RDMA device is seen in the network namespace that it was moved to"));
static const struct spec keys =
	MAP("a map (netns)",
	    KEY("netns", &mode,
		"Network namespaces that see an RDMA device: all of them, or only its own.",
		.since = KERNEL(5, 2), .item = &rdma_netns));

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	const struct ynode *value = ynode_get(section, "netns");
	struct change *c;

	(void)ctx;
	if (!value)
		return;
	c = plan_add(plan, "rdma", &kind_netlink, STAGE_EARLY, PHASE_SYSCTL, value->at,
		     "rdma/netns");
	change_on(c, NULL, &rdma_netns);
	change_target(c, "rdma_netns");
	change_want(c, value);
	change_lane(c, "rdma");
	c->late = true;
}

const struct section section_rdma = {
	.name = "rdma",
	.spec = &keys,
	.help = "RDMA as a whole.",
	.class = KEY_SETS,
	.differs = FAULT_RDMA_SETTING_DIFFERS,
	.failed = FAULT_RDMA_SETTING_FAILED,
	.emit = emit,
};
