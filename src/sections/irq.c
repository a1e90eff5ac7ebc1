/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irq: assigns CPUs to a function's interrupts, and keeps irqbalance away from them. A drop-in for
 * irqbalance's unit adds our script (--policyscript of irqbalance(1)), which tells irqbalance to
 * ignore the interrupts of the functions in a list. The drop-in exists before the real root's
 * service manager reads the unit. The list is written in stage devices, and irqbalance starts after
 * that.
 */
#include "base/mem.h"
#include "base/str.h"
#include "kinds/file.h"
#include "kinds/isolation.h"
#include "kinds/near_cpus.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/rules.h"
#include "profile/section.h"
#include "sections/kernel_args.h"
#include "sections/members.h"

#define DROP_IN "/run/systemd/system/irqbalance.service.d/50-railhead.conf"
#define LIST "/run/railhead/irq-functions"

static const struct spec cpus =
	SCALAR("local_node or a CPU list such as 2-17", value_cpus, CPUS,
	       .meanings = WORDS(MEANS("local_node", "the CPUs of the member's NUMA node")));
static const struct spec keys =
	MAP("a map such as {affinity: local_node}",
	    KEY("affinity", &cpus,
		"CPUs that serve the interrupts of each member, isolated CPUs excepted.",
		.item = &irq_affinity),
	    GOVERNING_KEYS(keys));
static const struct spec by_set = BY_SET(keys, ", such as {rails: {affinity: local_node}}");

/* --- changes ------------------------------------------------------------------------------ */

static const struct ynode *isolated_of(const struct profile *profile)
{
	return ynode_get(profile_section(profile, "kernel_args"), "isolate_cpus");
}

static void extend(const struct section_ctx *ctx, const struct member *m, struct change *c)
{
	const struct ynode *isolated = isolated_of(ctx->profile);

	c->phase = PHASE_IRQ;
	c->on.node = isolated;
	change_target(c, "affinity:%s%s%s", m->fn->addr, isolated ? "/" : "",
		      isolated ? ynode_text(isolated, "keep", isolated->text) : "");
}

static const struct settings settings = {.extend = extend};

/*
 * The units of all distributions run /usr/sbin/irqbalance with its arguments in one of the two
 * variables. Our script is the last argument, so that it is in effect.
 */
static char *drop_in(const struct section_ctx *ctx)
{
	return xasprintf(FILE_HEADER
			 "[Unit]\n"
			 "After=railhead-devices.service\n"
			 "\n"
			 "[Service]\n"
			 "ExecStart=\n"
			 "ExecStart=/usr/sbin/irqbalance --foreground $OPTIONS $IRQBALANCE_ARGS "
			 "--policyscript=/usr/libexec/railhead/irqbalance-policy\n",
			 ctx->profile->name);
}

static char *list_of(const struct section_ctx *ctx, const struct members *members)
{
	struct str text = {0};

	str_addf(&text, "# Written by railhead for profile %s: not irqbalance's business.\n",
		 ctx->profile->name);
	for (size_t i = 0; i < members->list.n; i++)
		if (member_value(&members->list.v[i], "affinity"))
			str_addf(&text, "%s\n", members->list.v[i].fn->addr);
	return str_take(&text);
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	bool any = section->keys.n; /* else remove the files of an earlier profile of this boot */
	cleanup_free char *service = any ? drop_in(ctx) : xstrdup(""), *list = NULL;
	cleanup(members_free) struct members members = {0};

	members_find(ctx, section, &members);
	list = any ? list_of(ctx, &members) : xstrdup("");
	if (any || root_exists(ctx->root, DROP_IN))
		plan_add_file(plan, "irq", STAGE_INITRD, section->at, DROP_IN, service,
			      "irq/irqbalance/service")
			->on.item = &irqbalance_unit_file;
	if (any || root_exists(ctx->root, LIST))
		plan_add_file(plan, "irq", STAGE_DEVICES, section->at, LIST, list,
			      "irq/irqbalance/functions")
			->on.item = &irqbalance_list_file;
	for (size_t i = 0; i < members.list.n; i++)
		setting_emit(ctx, &members.list.v[i], keys.fields, plan);
}

/* --- rules -------------------------------------------------------------------------------- */

static void irqs_have_cpus(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	const struct ynode *list = tree_get(view, "irq.affinity");
	cleanup_free char *key = set_key(r, s, view, "irq.affinity");

	want_cpus(r, list, key, ynode_cpus(list));
}

static void irqs_keep_off_isolated(struct ruling *r, const struct selector *s,
				   const struct ynode *view)
{
	const struct ynode *list = tree_get(view, "irq.affinity");
	const struct ynode *isolated = isolated_of(r->p);
	struct cpus left, gone;

	if (!ynode_cpus(list) || !isolated_here(r, &gone, NULL))
		return;
	left = *ynode_cpus(list);
	cpus_remove_all(&left, &gone);
	if (!cpus_count(&left))
		set_error(r, s, view, "irq.affinity",
			  "isolate_cpus: %.80s (at %s) isolates all of these CPUs, and isolated "
			  "CPUs serve no interrupts; name other CPUs, or isolate fewer",
			  ynode_text(isolated, "keep", isolated->text), seen(r, isolated));
}

static const struct set_rule set_rules[] = {
	{"irqs-have-cpus", irqs_have_cpus},
	{"irqs-keep-off-isolated", irqs_keep_off_isolated},
	NO_MORE_SET_RULES,
};

const struct section section_irq = {
	.name = "irq",
	.spec = &by_set,
	.help = "Interrupts of the members of a set.",
	.class = KEY_SETS,
	.differs = FAULT_CPU_IRQ_DIFFERS,
	.failed = FAULT_CPU_IRQ_FAILED,
	.awaits_netdevs = true,
	.always = true,
	.set_rules = set_rules,
	.emit = emit,
	.settings = &settings,
};
