/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * require: minimum versions of kernel, drivers and firmware. Only checks; nothing is installed or
 * flashed.
 */
#include "base/mem.h"
#include "base/version.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sections/judged.h"

static const struct spec version_wanted =
	TEXT("a version such as \">=6.1\"", "^(>=)?[0-9][A-Za-z0-9.+~_-]*$",
	     "write an exact version, or >= and the lowest accepted version, without blanks",
	     .bytes = 64);
static const struct spec driver_versions =
	MAP_OF("MODULE", "a map of modules to versions, such as {mlx5_core: \">=24.10\"}",
	       spec_module, version_wanted);
static const struct spec firmware_versions =
	BY_SET(version_wanted, " to versions, such as {rails: \">=28.39.1002\"}");
static const struct spec keys =
	MAP("a map (kernel, driver, firmware)",
	    KEY("kernel", &version_wanted, "Release of the running kernel."),
	    KEY("driver", &driver_versions, "Versions of kernel modules."),
	    KEY("firmware", &firmware_versions, "Firmware versions of the members of sets."));

/* --- changes ------------------------------------------------------------------------------ */

static void require_kernel(const struct section_ctx *ctx, const struct ynode *want,
			   struct plan *plan)
{
	if (!want)
		return;
	judged(plan, "require", want->at, "require/kernel", want->text, xstrdup(ctx->node->kernel),
	       version_fits(want->text, ctx->node->kernel),
	       "the running kernel is not the required one; install or boot the required kernel");
}

static struct change *check(struct plan *plan, const struct ynode *want, const char *id,
			    const struct target_item *item, const char *sort, const char *name)
{
	struct change *c =
		plan_add(plan, "require", &kind_check, STAGE_GATE, PHASE_CHECK, want->at, "%s", id);

	change_on(c, name, item);
	change_target(c, "%s:%s", sort, name);
	change_desired(c, "%s", want->text);
	c->compare = COMPARE_VERSION;
	return c;
}

static void require_drivers(const struct ynode *drivers, struct plan *plan)
{
	for (size_t i = 0; drivers && i < drivers->keys.n; i++) {
		const char *module = drivers->keys.v[i]->text;
		cleanup_free char *id = xasprintf("require/driver/%s", module);

		check(plan, drivers->items.v[i], id, &driver_version_item, "driver-version",
		      module);
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

			check(plan, firmware->items.v[i], id, &firmware_version_item,
			      "firmware-version", addr);
		}
	}
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	require_kernel(ctx, ynode_get(section, "kernel"), plan);
	require_drivers(ynode_get(section, "driver"), plan);
	require_firmware(ctx, ynode_get(section, "firmware"), plan);
}

const struct section section_require = {
	.name = "require",
	.spec = &keys,
	.help = "Versions that the node must have.",
	.class = KEY_JUDGES,
	.differs = FAULT_KERNEL_VERSION,
	.failed = FAULT_KERNEL_VERSION,
	.emit = emit,
};
