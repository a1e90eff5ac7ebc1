/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "steps/step.h"

#include <stddef.h>

#include "base/str.h"

/*
 * Every section of the profile language; what a function is told of in one phase it is told in
 * this order. A section without emit() is refused by the schema, by name, until its step is
 * written.
 */
static const struct step step_limits = {.section = "limits"}, step_mounts = {.section = "mounts"};

const struct step *const steps[] = {
	&step_expect, &step_kernel_args, &step_hugepages, &step_modules, &step_rdma,   &step_sriov,
	&step_pcie,   &step_link,	 &step_qos,	  &step_irq,	 &step_sysctl, &step_sysfs,
	&step_limits, &step_mounts,	 &step_pairs,	  &step_require, &step_gate,   NULL,
};

int steps_kargs(const struct step_ctx *ctx, struct kargs *ret, struct err *err)
{
	int r = 0;

	for (const struct step *const *s = steps; r == 0 && *s; s++) {
		const struct ynode *section = profile_section(ctx->profile, (*s)->section);

		if (section && (*s)->kargs)
			r = (*s)->kargs(ctx, section, ret, err);
		if (r < 0)
			err_wrap(err, "%s", (*s)->section);
	}
	return r < 0 ? r : kargs_check(ret, err);
}

bool step_skips_unsupported(const struct step_ctx *ctx)
{
	const struct ynode *policy = profile_section(ctx->profile, "unsupported");

	return policy && streq(policy->text, "skip");
}

static void apply_policy(const struct step_ctx *ctx, const struct step *step, struct plan *plan,
			 size_t from)
{
	if (!step->knobs || !step_skips_unsupported(ctx))
		return;
	for (size_t i = from; i < plan->list.n; i++)
		plan->list.v[i]->optional = true;
}

int steps_emit(const struct step_ctx *ctx, struct plan *ret, struct err *err)
{
	static const struct ynode nothing = {.kind = YAML_MAP};

	for (const struct step *const *s = steps; *s; s++) {
		const struct ynode *section = profile_section(ctx->profile, (*s)->section);
		size_t from = ret->list.n;
		int r;

		if (!section && (*s)->always)
			section = &nothing;
		if (!section || !(*s)->emit)
			continue;
		r = (*s)->emit(ctx, section, ret, err);
		if (r < 0)
			return err_wrap(err, "%s", (*s)->section);
		apply_policy(ctx, *s, ret, from);
	}
	plan_find_contests(ret, step_sysfs.section);
	return 0;
}
