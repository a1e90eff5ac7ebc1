/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kargs/kargs.h"
#include "plan/change.h"
#include "plan/finding.h"
#include "plan/plan.h"
#include "profile/profile.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sections/sections.h"

#include <stddef.h>

/*
 * Every section of the profile language, in the order of emission, which is also the order of a
 * function's changes within one phase.
 */
#define SECTIONS(X)    \
	X(expect)      \
	X(kernel_args) \
	X(hugepages)   \
	X(modules)     \
	X(rdma)        \
	X(sriov)       \
	X(pcie)        \
	X(link)        \
	X(qos)         \
	X(irq)         \
	X(block)       \
	X(cpu)         \
	X(memory)      \
	X(sysctl)      \
	X(sysfs)       \
	X(limits)      \
	X(mounts)      \
	X(pairs)       \
	X(require)     \
	X(gate)

#define DECLARE(name) extern const struct section section_##name;
#define LIST(name) &section_##name,

SECTIONS(DECLARE)
const struct section *const sections[] = {SECTIONS(LIST) NULL};

int sections_kargs(const struct section_ctx *ctx, struct kargs *ret, struct err *err)
{
	int r = 0;

	for (const struct section *const *s = sections; r == 0 && *s; s++) {
		const struct ynode *section = profile_section(ctx->profile, (*s)->name);

		if (section && (*s)->kargs)
			r = (*s)->kargs(ctx, section, ret, err);
		if (r < 0)
			err_wrap(err, "%s", (*s)->name);
	}
	return r < 0 ? r : kargs_check(ret, err);
}

enum fault fault_of_change(const struct change *c)
{
	const struct section *section = section_find(c->section);

	if (finding_was_refused(&c->now))
		return c->now.tried.fault;
	if (c->now.fault || !section)
		return c->now.fault;
	return c->now.state == CHANGE_FAILED ? section->failed : section->differs;
}

void sections_emit(const struct section_ctx *ctx, struct plan *ret)
{
	static const struct ynode nothing = {.kind = YAML_MAP};
	struct section_ctx own = *ctx;

	for (const struct section *const *s = sections; *s; s++) {
		const struct ynode *section = profile_section(ctx->profile, (*s)->name);

		own.section = *s;
		if (section || (*s)->always)
			(*s)->emit(&own, section ? section : &nothing, ret);
	}
	plan_find_contests(ret, "sysfs");
}
