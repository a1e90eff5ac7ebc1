/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel arguments of the next boot. boot/trial.c decides; this file turns the decision into
 * the state of one change. Only the gate arms a trial (engine/judgement.c).
 */
#include <errno.h>

#include "boot/view.h"
#include "kinds/kind.h"
#include "plan/change.h"

/* A captured machine or an image tree may lack a boot partition. */
static int unsupported(struct change *c, const char *why)
{
	change_reason(c, "%s", why);
	c->now.state = CHANGE_UNSUPPORTED;
	return 0;
}

/* The faults of the decisions that lead to no boot. */
static const enum fault faults[] = {
	[KARGS_NO_LOADER] = FAULT_BOOT_NO_LOADER,    [KARGS_NOT_ARRIVED] = FAULT_BOOT_ARGS_LOST,
	[KARGS_REJECTED] = FAULT_BOOT_ARGS_REJECTED, [KARGS_CONFLICT] = FAULT_BOOT_ARGS_CONFLICT,
	[KARGS_DAMAGED] = FAULT_BOOT_ENV_DAMAGED,    [KARGS_UNFIT] = FAULT_BOOT_ARGS_UNFIT,
	[KARGS_COUNTED] = FAULT_BOOT_COUNTED,	     [KARGS_HELD] = FAULT_BOOT_LOOP,
	[KARGS_SEALED] = FAULT_BOOT_SEALED,	     [KARGS_NEXT_BOOT] = FAULT_BOOT_ARGS_DIFFER,
	[KARGS_NO_GATE] = FAULT_BOOT_NO_GATE,
};

static int judge(const struct kind_ctx *ctx, struct change *c, const struct boot_view *v,
		 struct err *err)
{
	const struct trial *t = &v->trial;
	/* No boot has the armed arguments yet. */
	char slot = t->decision == KARGS_ARMED ? t->slot : env_next_slot(&v->env);

	change_observe(c, "%s", v->facts.absent ? "" : env_slot(&v->env, slot));
	change_reason(c, "%s", t->why);
	switch (t->decision) {
	case KARGS_SAME:
	case KARGS_ADOPT: /* no stage writes: the gate does, at a verdict that they pass */
		c->now.state = CHANGE_SAME;
		return 0;
	case KARGS_ARM:
	case KARGS_ARMED:
		c->reboot = true;
		c->now.state = t->decision == KARGS_ARMED ? CHANGE_WAITS : CHANGE_DIFFERS;
		return 0;
	case KARGS_NO_LOADER:
		if (!ctx->root->live)
			return unsupported(c, t->why);
		break;
	default:
		break;
	}
	err_set(err, -EIO, "%s", t->why);
	return err_fault(err, -EIO, faults[t->decision]);
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct kargs wanted cleanup_kargs = {0};
	struct kargs_want want = {
		.root = ctx->root, .node = ctx->node, .kargs = &wanted, .profile = c->on.name};
	struct boot_view v;
	int r, closed;

	for (size_t i = 0; i < c->parts.n; i++) /* each part is one argument */
		kargs_add(&wanted, c->parts.v[i].name, NULL);
	r = boot_view_open(&want, &v, err);
	if (r == -ENOENT && !ctx->root->live)
		return unsupported(c, err->text);
	if (r < 0)
		return r;
	r = judge(ctx, c, &v, err);
	closed = boot_view_close(&v, r < 0 ? NULL : err);
	return r < 0 ? r : closed;
}

const struct kind kind_bootenv = {.name = "bootenv", .look = look};
