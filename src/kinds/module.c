/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules, by their names in on.name, which must be live or built in; libkmod inserts them. */
#include <errno.h>

#include "kinds/kind.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/module.h"

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	static const char *const names[] = {[MODULE_MISSING] = "no such module",
					    [MODULE_ABSENT] = "absent",
					    [MODULE_COMING] = "loading",
					    [MODULE_LIVE] = "live",
					    [MODULE_BUILTIN] = "builtin"};
	enum module_state state;
	int r = module_state(ctx->root, c->on.name, &state, err);

	if (r < 0)
		return r;
	change_observe(c, "%s", names[state]);
	c->now.state = state >= MODULE_LIVE ? CHANGE_SAME : CHANGE_DIFFERS;
	if (state == MODULE_ABSENT && c->optional && ctx->running == STAGE_GATE) {
		/* stage early has tried; most likely the hardware is absent */
		change_reason(c, "optional, and not loaded");
		c->now.state = CHANGE_UNSUPPORTED;
	}
	if (state != MODULE_MISSING)
		return 0;
	return err_set(err, -ENOENT,
		       "the running kernel has no such module" TO_MEND
		       "install the package that brings it, "
		       "or mark it optional");
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	if (!ctx->root->live)
		return err_set(err, -EOPNOTSUPP,
			       "modules can be inserted only on the running machine");
	return machine_insert_module(c->on.name, NULL, err);
}

const struct kind kind_module = {
	.name = "module", .blocks = true, .optional_may_fail = true, .look = look, .set = set};
