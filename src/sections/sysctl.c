/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl and sysfs: values passed to the kernel verbatim, in document order. */
#include <string.h>

#include "base/mem.h"
#include "profile/language.h"
#include "sections/sections.h"

/*
 * sysctl.d(5): where the first separator is a dot, dots and slashes change places, so that
 * net.ipv4.conf.enp3s0/200.forwarding names the VLAN enp3s0.200.
 */
static char *sysctl_path(const char *key)
{
	char *path = xasprintf("/proc/sys/%s", key);
	char *p = path + strlen("/proc/sys/");
	const char *first = strpbrk(p, "./");

	if (first && *first == '.')
		for (; *p; p++)
			*p = *p == '.' ? '/' : *p == '/' ? '.' : *p;
	return path;
}

/* A value is text, or a map {value: text, optional: bool}. */
static void emit_value(const char *section, enum phase phase, const struct ynode *key,
		       const struct ynode *value, const char *path, struct plan *plan)
{
	struct change *c = plan_add(plan, section, &kind_attr, STAGE_EARLY, phase, key->at, "%s/%s",
				    section, key->text);

	change_target(c, "%s", path);
	change_desired(c, "%s",
		       value->kind == YAML_SCALAR ? value->text : ynode_text(value, "value", ""));
	c->optional = value->kind == YAML_MAP && ynode_bool(value, "optional", false);
	c->late = true;
}

static int emit_sysctl(const struct section_ctx *ctx, const struct ynode *section,
		       struct plan *plan, struct err *err)
{
	size_t from = plan->list.n;

	(void)ctx;
	(void)err;
	for (size_t i = 0; i < section->keys.n; i++) {
		cleanup_free char *path = sysctl_path(section->keys.v[i]->text);

		emit_value("sysctl", PHASE_SYSCTL, section->keys.v[i], section->items.v[i], path,
			   plan);
	}
	plan_share_files(plan, from);
	return 0;
}

static int emit_sysfs(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		      struct err *err)
{
	size_t from = plan->list.n;

	(void)ctx;
	(void)err;
	for (size_t i = 0; i < section->keys.n; i++)
		emit_value("sysfs", PHASE_SYSFS, section->keys.v[i], section->items.v[i],
			   section->keys.v[i]->text, plan);
	plan_share_files(plan, from);
	return 0;
}

const struct section section_sysctl = {
	.name = "sysctl",
	.spec = &spec_sysctl,
	.help = "Sysctls, by keys as in sysctl.d(5); patterns are accepted.",
	.class = KEY_SETS,
	.knobs = true,
	.emit = emit_sysctl};
const struct section section_sysfs = {.name = "sysfs",
				      .spec = &spec_sysfs,
				      .help = "Files below /sys; patterns are accepted.",
				      .class = KEY_SETS,
				      .knobs = true,
				      .emit = emit_sysfs};
