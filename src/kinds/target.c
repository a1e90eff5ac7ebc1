/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/target.h"

#include "kinds/function.h"
#include "plan/change.h"

int item_look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct target_item *item = c->on.item;

	if (item->fault)
		c->now.fault = item->fault;
	return item->look(ctx, c, err);
}

int item_set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct target_item *item = c->on.item;

	return item->set(ctx, c, err);
}

int item_complete(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	const struct target_item *item = c->on.item;

	return item->complete ? item->complete(ctx, c, err) : 0;
}

void item_desired(struct change *c)
{
	const struct target_item *item = c->on.item;
	cleanup_free char *text = item->desired ? item->desired(c) : NULL;

	if (text)
		change_desired(c, "%s", text);
}

int target_in_namespace(struct change *c, const char *device)
{
	change_reason(
		c,
		"its %s is in another network namespace (of a container), and is left alone there",
		device);
	c->now.state = CHANGE_UNSUPPORTED;
	return 0;
}

int target_no_netdev(const struct root *root, struct change *c, const char *remedy)
{
	change_observe(c, "no netdev");
	if (function_has(root, c->on.name, "net"))
		return target_in_namespace(c, "netdev");
	change_reason(c, "%s has no netdev (yet); is its driver bound%s?", c->on.name, remedy);
	c->now.fault = FAULT_NIC_NETDEV;
	c->now.state = CHANGE_WAITS;
	return 0;
}

int target_no_vf(struct change *c)
{
	change_observe(c, "no such VF");
	change_reason(c, "the VF does not exist yet");
	c->now.fault = FAULT_NIC_VF_ABSENT;
	c->now.state = CHANGE_WAITS;
	return 0;
}

int target_lacks(struct change *c, const struct err *missing, struct err *err)
{
	if (!missing->code)
		return 0;
	if (!c->optional)
		return err_copy(err, missing->code, missing);
	if (c->now.state == CHANGE_SAME) { /* all values that the driver has are right */
		change_reason(c, "%s", missing->text);
		c->now.state = CHANGE_UNSUPPORTED;
	}
	return 0;
}
