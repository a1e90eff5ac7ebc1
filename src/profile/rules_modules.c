/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contradictions: modules and their options. */
#include "profile/rules.h"

#include <string.h>

static const char *module_name(const struct ynode *item)
{
	return item->kind == YAML_SCALAR ? item->text : ynode_text(item, "name", "");
}

static bool names_same(const char *a, const char *b)
{
	return strlen(a) == strlen(b) && dash_equal(a, b, strlen(a));
}

static void loaded_is_not_blacklisted(struct ruling *r)
{
	const struct ynode *load = ynode_get(section(r, "modules"), "load");
	const struct ynode *black = ynode_get(section(r, "modules"), "blacklist");

	for (size_t i = 0; i < count(black, YAML_LIST); i++)
		for (size_t j = 0; j < count(load, YAML_LIST); j++) {
			const char *name = module_name(load->items.v[j]);

			if (item_same(ITEM_NAME, black->items.v[i], load->items.v[j]))
				rule_error(r, black->items.v[i], "modules.blacklist",
					   "%.64s is to be loaded at %u:%u; remove it from one of "
					   "the two",
					   name, load->items.v[j]->at.line,
					   load->items.v[j]->at.col);
		}
}

/* Modules that tutorials load and no kernel has. */
static const struct {
	const char *name, *why;
} no_modules[] = {
	{"ib_ucm", "the kernel has no such module any more; leave it out (rdma_ucm is another)"},
	{"rpcrdma_core", "no kernel has such a module; write rpcrdma"},
	{"dma_buf", "it is built into the kernel, never a module; leave it out"},
	{"dmabuf", "it is built into the kernel, never a module; leave it out"},
};

static void modules_exist(struct ruling *r)
{
	const struct ynode *load = ynode_get(section(r, "modules"), "load");

	for (size_t i = 0; i < count(load, YAML_LIST); i++)
		for (size_t j = 0; j < array_len(no_modules); j++)
			if (names_same(module_name(load->items.v[i]), no_modules[j].name))
				rule_error(r, load->items.v[i], "modules.load", "%.64s: %s",
					   module_name(load->items.v[i]), no_modules[j].why);
}

/* --- options ------------------------------------------------------------------------------ */

static const struct {
	const char *module, *param, *why;
} no_params[] = {
	{"nvidia_peermem", "peermem_enabled",
	 "the module has no such parameter; loading it is what enables it (its parameters are "
	 "peerdirect_support and persistent_api_support)"},
};

static void judge_option(struct ruling *r, const char *module, const struct ynode *param)
{
	cleanup_free char *key = xasprintf("modules.options.%.64s.%.64s", module, param->text);
	cleanup_free char *arg = xasprintf("%s.%s", module, param->text);
	const struct ynode *given = find_arg(r, arg);

	for (size_t i = 0; i < array_len(no_params); i++)
		if (names_same(module, no_params[i].module) &&
		    names_same(param->text, no_params[i].param))
			rule_error(r, param, key, "%s", no_params[i].why);
	if (given)
		rule_error(r, param, key,
			   "%.80s at %u:%u of kernel_args.set sets this parameter too, and which "
			   "one holds depends on who loads the module; keep one",
			   given->text, given->at.line, given->at.col);
}

static void options_are_sound(struct ruling *r)
{
	const struct ynode *options = ynode_get(section(r, "modules"), "options");

	for (size_t i = 0; i < count(options, YAML_MAP); i++)
		for (size_t j = 0; j < count(options->items.v[i], YAML_MAP); j++)
			judge_option(r, options->keys.v[i]->text, options->items.v[i]->keys.v[j]);
}

static void blacklisted_needs_no_options(struct ruling *r)
{
	const struct ynode *options = ynode_get(section(r, "modules"), "options");
	const struct ynode *black = ynode_get(section(r, "modules"), "blacklist");

	for (size_t i = 0; i < count(options, YAML_MAP); i++)
		for (size_t j = 0; j < count(black, YAML_LIST); j++) {
			const struct ynode *module = options->keys.v[i];
			cleanup_free char *key = xasprintf("modules.options.%.64s", module->text);

			if (names_same(module->text, scalar(black->items.v[j])))
				rule_warn(r, module, key,
					  "the module is blacklisted at %u:%u, so its options wait "
					  "for somebody who loads it by hand",
					  black->items.v[j]->at.line, black->items.v[j]->at.col);
		}
}

const struct rule rules_modules[] = {
	RULE("loaded-is-not-blacklisted", loaded_is_not_blacklisted),
	RULE("modules-exist", modules_exist),
	RULE("options-are-sound", options_are_sound),
	RULE("blacklisted-needs-no-options", blacklisted_needs_no_options),
	NO_MORE_RULES,
};
