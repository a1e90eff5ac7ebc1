/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcie: what config space of a function is to hold. The payload's size is a matter of the whole
 * path and the kernel's: it is judged, never set.
 */
#include "base/mem.h"
#include "base/str.h"
#include "profile/language.h"
#include "sections/overlay.h"

static void emit_set(const struct section_ctx *ctx, const struct ynode *section,
		     const struct pci_fn *fn, const char *key, struct plan *plan)
{
	const struct ynode *value = overlay_value(ctx, section, fn, key);
	struct change *c;

	if (!value)
		return;
	c = plan_add(plan, "pcie", &kind_pci, STAGE_DEVICES, PHASE_PORT, value->at, "pcie/%s/%s",
		     fn->addr, key);
	change_target(c, "%s:%s", key, fn->addr);
	change_desired(c, "%s", value->text);
	change_lane(c, "%s", fn->addr);
	if (streq(key, "aspm"))
		change_file(c, "/sys/bus/pci/devices/%s/link/l*_aspm", fn->addr);
}

static void emit_payload(const struct section_ctx *ctx, const struct ynode *section,
			 const struct pci_fn *fn, struct plan *plan)
{
	const struct ynode *value = overlay_value(ctx, section, fn, "max_payload");
	struct change *c;

	if (!value)
		return;
	c = plan_add(plan, "pcie", &kind_check, STAGE_GATE, PHASE_CHECK, value->at,
		     "pcie/%s/max_payload", fn->addr);
	change_target(c, "pcie-payload:%s", fn->addr);
	change_desired(c, "%s", value->text);
	c->compare = COMPARE_AT_LEAST;
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	static const char *const keys[] = {"max_read_request", "relaxed_ordering", "aspm"};
	struct fn_list fns = {0};

	(void)err;
	overlay_functions(ctx, section, &fns);
	for (size_t i = 0; i < fns.n; i++) {
		for (size_t k = 0; k < array_len(keys); k++)
			emit_set(ctx, section, fns.v[i], keys[k], plan);
		emit_payload(ctx, section, fns.v[i], plan);
	}
	vec_free(&fns);
	return 0;
}

const struct section section_pcie = {
	.name = "pcie",
	.spec = &spec_pcie,
	.help = "PCIe settings of the members of a set.",
	.class = KEY_SETS,
	.knobs = true,
	.emit = emit,
};
