/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel arguments of the next boot. boot/trial.c decides; this file turns the decision into
 * the state of one change, and the set into the write in place.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "boot/view.h"
#include "kinds/kind.h"

static void observe(struct change *c, const struct boot_view *v)
{
	if (v->have_env)
		change_observe(c, "%s", env_slot(&v->env, env_next_slot(&v->env)));
	else
		change_observe(c, "%s", "");
}

/* A captured machine or an image tree may lack a boot partition. */
static int unsupported(struct change *c, const char *why)
{
	change_reason(c, "%s", why);
	c->state = CHANGE_UNSUPPORTED;
	return 0;
}

/* The faults of the decisions that lead to no boot. */
static const enum fault faults[] = {
	[KARGS_NO_LOADER] = FAULT_BOOT_NO_LOADER,
	[KARGS_NOT_ARRIVED] = FAULT_BOOT_ARGS_LOST,
	[KARGS_REJECTED] = FAULT_BOOT_ARGS_REJECTED,
	[KARGS_CONFLICT] = FAULT_BOOT_ARGS_CONFLICT,
	[KARGS_DAMAGED] = FAULT_BOOT_ENV_DAMAGED,
	[KARGS_UNFIT] = FAULT_BOOT_ARGS_UNFIT,
	[KARGS_COUNTED] = FAULT_BOOT_COUNTED,
	[KARGS_SEALED] = FAULT_BOOT_SEALED,
	[KARGS_HELD] = FAULT_BOOT_LOOP,
};

static int judge(const struct kind_ctx *ctx, struct change *c, const struct boot_view *v,
		 struct err *err)
{
	const struct trial *t = &v->trial;

	observe(c, v);
	if (t->why)
		change_reason(c, "%s", t->why);
	switch (t->decision) {
	case KARGS_SAME:
		c->state = CHANGE_SAME;
		return 0;
	case KARGS_WRITE_AND_REBOOT:
		c->reboot = true;
		c->state = t->armed ? CHANGE_WAITS : CHANGE_DIFFERS;
		if (t->armed && !t->why)
			change_reason(c, "written; takes effect with the next boot");
		return 0;
	case KARGS_WRITE_NO_REBOOT:
		c->state = CHANGE_DIFFERS;
		return 0;
	case KARGS_NO_LOADER:
		if (!ctx->root->live)
			return unsupported(c, t->why);
		break;
	case KARGS_NOT_ARRIVED:
	case KARGS_REJECTED:
	case KARGS_UNFIT:
	case KARGS_CONFLICT:
	case KARGS_DAMAGED:
	case KARGS_COUNTED:
	case KARGS_SEALED:
	case KARGS_HELD:
		break;
	}
	err_set(err, -EIO, "%s", t->why ? t->why : kargs_decision_name(t->decision));
	return err_fault(err, -EIO,
			 t->next_boot_tries ? FAULT_BOOT_ARGS_DIFFER : faults[t->decision]);
}

/* Each part is one argument. */
static void wanted_of(const struct change *c, struct kargs *ret)
{
	for (size_t i = 0; i < c->parts.n; i++)
		kargs_add(ret, c->parts.v[i].name, NULL);
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct kargs wanted cleanup_kargs = {0};
	struct boot_view v;
	int r, closed;

	wanted_of(c, &wanted);
	r = boot_view_open(ctx->root, ctx->node, &wanted, false, ctx->retry, &v, err);
	if (r == -ENOENT && !ctx->root->live)
		return unsupported(c, err->text);
	if (r < 0)
		return r;
	r = judge(ctx, c, &v, err);
	closed = boot_view_close(&v, r < 0 ? NULL : err);
	return r < 0 ? r : closed;
}

/* Returns the same as trial_write(). */
static int write_once(const struct kind_ctx *ctx, const struct kargs *wanted, struct err *err)
{
	struct boot_view v;
	int r, closed;

	r = boot_view_open(ctx->root, ctx->node, wanted, true, ctx->retry, &v, err);
	if (r < 0)
		return r;
	r = trial_write(ctx->root, v.part.dirfd, &v.facts, &v.trial, &v.id, err);
	if (r < 0)
		err_wrap(err, "%s", v.part.path);
	closed = boot_view_close(&v, r < 0 ? NULL : err);
	return closed < 0 && r >= 0 ? closed : r;
}

static int write_env(const struct kind_ctx *ctx, const struct kargs *wanted, struct err *err)
{
	int r = write_once(ctx, wanted, err);

	if (r > 0)
		r = write_once(ctx, wanted, err);
	if (r > 0)
		return err_set(err, -EIO, "%s was created, but does not exist", ENV_FILE_NAME);
	return r;
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct kargs wanted cleanup_kargs = {0};
	int r;

	wanted_of(c, &wanted);
	/* Before the trial is armed, because its reboot and later reboots need the whole budget. */
	r = ctx->retry ? witness_set_back(ctx->root, NULL, err) : 0;
	return r < 0 ? r : write_env(ctx, &wanted, err);
}

/* Mounting and writing a boot partition can hang on a dying disk: set runs in a worker. */
const struct kind kind_bootenv = {.name = "bootenv", .blocks = true, .look = look, .set = set};
