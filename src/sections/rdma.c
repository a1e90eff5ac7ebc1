/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma: the network namespaces that see RDMA devices. Set in stage early, after the profile's
 * modules are loaded and before a program creates a second namespace; again in stage devices,
 * because programs that reload the RDMA stack (such as a vendor's openibd) restore the default.
 */
#include "kinds/netlink.h"
#include "profile/language.h"
#include "sections/sections.h"

static const struct spec mode = ONE_OF(
	"a network namespace mode", MEANS("shared", "all network namespaces see each RDMA device"),
	MEANS("exclusive", "an RDMA device is seen in the network namespace that it was moved to"));
static const struct spec keys =
	MAP("a map (netns)",
	    KEY("netns", &mode,
		"Network namespaces that see an RDMA device: all of them, or only its own.",
		.since = KERNEL(5, 2), .item = &rdma_netns));

static void emit_row(const struct field *row, const struct ynode *value, struct plan *plan)
{
	struct change *c = plan_add(plan, "rdma", &kind_netlink, STAGE_EARLY, PHASE_SYSCTL,
				    value->at, "rdma/%s", row->name);

	change_on(c, NULL, row->item);
	change_target(c, "rdma_%s", row->name);
	change_want(c, value);
	change_lane(c, "rdma");
	c->late = true;
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	(void)ctx;
	(void)err;
	for (const struct field *row = keys.fields; row->name; row++) {
		const struct ynode *value = ynode_get(section, row->name);

		if (value)
			emit_row(row, value, plan);
	}
	return 0;
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
