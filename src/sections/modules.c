/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules: options and blacklist go to /run/modprobe.d from the initramfs, before udev or
 * we load anything in the real root; then each listed module is made live, in list order.
 */
#include "base/mem.h"
#include "base/str.h"
#include "profile/language.h"
#include "sections/sections.h"
#include "sys/module.h"

/*
 * Files of all modprobe.d directories are read sorted by name and the last option wins:
 * systemd's own systemd.conf, say, has "options dummy numdummies=0". The profile's word is
 * to be the last.
 */
#define CONF "/run/modprobe.d/zz-railhead.conf"

static void add_options(struct str *text, const struct ynode *options)
{
	for (size_t i = 0; options && i < options->keys.n; i++) {
		const struct ynode *params = options->items.v[i];

		str_addf(text, "options %s", options->keys.v[i]->text);
		for (size_t j = 0; j < params->keys.n; j++)
			str_addf(text, " %s=%s", params->keys.v[j]->text, params->items.v[j]->text);
		str_add(text, "\n");
	}
}

static void emit_conf(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	const struct ynode *options = ynode_get(section, "options");
	const struct ynode *blacklist = ynode_get(section, "blacklist");
	cleanup_str struct str text = {0};
	struct change *c;

	if (!options && !blacklist)
		return;
	str_addf(&text, FILE_HEADER, ctx->profile->name);
	add_options(&text, options);
	for (size_t i = 0; blacklist && i < blacklist->items.n; i++)
		str_addf(&text, "blacklist %s\n", blacklist->items.v[i]->text);
	c = plan_add(plan, "modules", &kind_file, STAGE_INITRD, PHASE_FILES, section->at,
		     "modules/modprobe.d");
	change_target(c, CONF);
	change_desired(c, "%s", text.s);
}

/* An item is a name, or a map with name and optional. */
static const char *name_of(const struct ynode *item)
{
	return item->kind == YAML_SCALAR ? item->text : ynode_text(item, "name", "");
}

static void emit_load(const struct ynode *load, struct plan *plan)
{
	for (size_t i = 0; load && i < load->items.n; i++) {
		const struct ynode *item = load->items.v[i];
		struct change *c =
			plan_add(plan, "modules", &kind_module, STAGE_EARLY, PHASE_MODULES,
				 item->at, "modules/load/%s", name_of(item));

		change_target(c, "%s", name_of(item));
		change_desired(c, "live");
		change_lane(c, "modules"); /* one lane: list order */
		c->optional = item->kind == YAML_MAP && ynode_bool(item, "optional", false);
	}
}

static void emit_options(const struct ynode *options, struct plan *plan)
{
	for (size_t i = 0; options && i < options->keys.n; i++) {
		const char *module = options->keys.v[i]->text;
		const struct ynode *params = options->items.v[i];
		cleanup_free char *dir = module_sysfs_name(module);

		for (size_t j = 0; j < params->keys.n; j++) {
			const char *param = params->keys.v[j]->text;
			struct change *c = plan_add(plan, "modules", &kind_check, STAGE_GATE,
						    PHASE_CHECK, params->keys.v[j]->at,
						    "modules/options/%s/%s", module, param);

			change_target(c, "param:%s/%s", module, param);
			change_desired(c, "%s", params->items.v[j]->text);
			c->compare = COMPARE_PARAM;
			change_file(c, "/sys/module/%s/parameters/%s", dir, param);
		}
	}
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	const struct ynode *blacklist = ynode_get(section, "blacklist");

	(void)err;
	emit_conf(ctx, section, plan);
	emit_load(ynode_get(section, "load"), plan);
	emit_options(ynode_get(section, "options"), plan);
	for (size_t i = 0; blacklist && i < blacklist->items.n; i++) {
		const struct ynode *item = blacklist->items.v[i];
		struct change *c = plan_add(plan, "modules", &kind_check, STAGE_GATE, PHASE_CHECK,
					    item->at, "modules/blacklist/%s", item->text);

		change_target(c, "unloaded:%s", item->text);
		change_desired(c, "absent");
	}
	return 0;
}

const struct section section_modules = {
	.name = "modules",
	.spec = &spec_modules,
	.help = "Kernel modules.",
	.class = KEY_SETS,
	.emit = emit,
};
