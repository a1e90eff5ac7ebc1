/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * require: the least versions of kernel, drivers and firmware that the profile was written
 * for. Checks: nothing here installs or flashes anything.
 */
#include "base/mem.h"
#include "base/str.h"
#include "base/version.h"
#include "profile/language.h"
#include "sections/judged.h"

static void require_kernel(const struct section_ctx *ctx, const struct ynode *want,
			   struct plan *plan)
{
	if (!want)
		return;
	judged(plan, "require", want->at, "require/kernel", want->text, xstrdup(ctx->node->kernel),
	       version_fits(want->text, ctx->node->kernel),
	       "this kernel is not the one that the profile asks for; install it, or boot it");
}

static struct change *check(struct plan *plan, const struct ynode *want, const char *id,
			    const char *checker, const char *arg)
{
	struct change *c =
		plan_add(plan, "require", &kind_check, STAGE_GATE, PHASE_CHECK, want->at, "%s", id);

	change_target(c, "%s:%s", checker, arg);
	change_desired(c, "%s", want->text);
	c->compare = COMPARE_VERSION;
	return c;
}

static void require_drivers(const struct ynode *drivers, struct plan *plan)
{
	for (size_t i = 0; drivers && i < drivers->keys.n; i++) {
		const char *module = drivers->keys.v[i]->text;
		cleanup_free char *id = xasprintf("require/driver/%s", module);

		check(plan, drivers->items.v[i], id, "driver-version", module);
	}
}

static void require_firmware(const struct section_ctx *ctx, const struct ynode *firmware,
			     struct plan *plan)
{
	for (size_t i = 0; firmware && i < firmware->keys.n; i++) {
		const struct device_set *set =
			device_sets_find(ctx->sets, firmware->keys.v[i]->text);

		for (size_t j = 0; set && j < set->fn.n; j++) {
			const char *addr = set->fn.v[j]->addr;
			cleanup_free char *id =
				xasprintf("require/firmware/%s/%s", set->sel->name, addr);

			check(plan, firmware->items.v[i], id, "firmware-version", addr);
		}
	}
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	(void)err;
	require_kernel(ctx, ynode_get(section, "kernel"), plan);
	require_drivers(ynode_get(section, "driver"), plan);
	require_firmware(ctx, ynode_get(section, "firmware"), plan);
	return 0;
}

const struct section section_require = {
	.name = "require",
	.spec = &spec_require,
	.help = "Versions that the node must have.",
	.class = KEY_JUDGES,
	.emit = emit,
};
