/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"
#include "kargs/kargs.h"
#include "kinds/checks.h"
#include "loader/bootpart.h"
#include "plan/change.h"

#define ARRIVED "on the command line"
#define TAKEN "menu entries use them"

static int look_arrived(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	bool there = kargs_has(ctx->node->cmdline, c->on.name);

	(void)err;
	change_observe(c, "%s", there ? ARRIVED : "not " ARRIVED);
	c->now.state = there ? CHANGE_SAME : CHANGE_DIFFERS;
	return 0;
}

static char *desired_arrived(const struct change *c)
{
	(void)c;
	return xstrdup(ARRIVED);
}

const struct target_item arrived_item = {.kind = &kind_check,
					 .look = look_arrived,
					 .desired = desired_arrived,
					 .fault = FAULT_BOOT_ARGS_LOST};

static int look_entries(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct bootpart part;
	int r = bootpart_open(ctx->root, false, &part, err);

	if (r < 0)
		return r;
	c->now.state = part.entry_lacks_kargs ? CHANGE_DIFFERS : CHANGE_SAME;
	change_observe(c, "%s",
		       part.entry_lacks_kargs ? "an entry lacks them"
		       : !part.loader_why     ? TAKEN
					      : "the loader is not GRUB");
	if (part.entry_lacks_kargs)
		change_reason(c, "%s", part.loader_why);
	return bootpart_close(&part, err);
}

static char *desired_entries(const struct change *c)
{
	(void)c;
	return xstrdup(TAKEN);
}

const struct target_item entries_item = {.kind = &kind_check,
					 .look = look_entries,
					 .desired = desired_entries,
					 .fault = FAULT_BOOT_ENTRIES};
