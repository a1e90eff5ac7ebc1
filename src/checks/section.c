/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section gate: turns the looks of its checks into changes; gate/ runs the measurements. */
#include "base/mem.h"
#include "base/str.h"
#include "checks/check.h"
#include "checks/section.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "sections/members.h"

struct change *check_look(const struct checked *t, struct subject of, const char *suffix,
			  const struct target_item *item, const char *sort, const char *desired)
{
	cleanup_free char *where =
		of.vf < 0 ? xstrdup(of.name) : xasprintf("%s/%d", of.name, of.vf);
	struct change *c = plan_add(t->plan, "gate", &kind_check, STAGE_GATE, PHASE_CHECK,
				    t->map->at, "gate/%s/%s%s", t->name, where, suffix);

	change_on(c, of.name, item);
	c->on.vf = of.vf;
	c->on.key = t->name;
	change_target(c, "%s:%s", sort, where);
	change_desired(c, "%s", desired);
	on_fail_parse(ynode_text(t->map, "on_fail", "block"), &c->on_fail);
	c->optional = ynode_bool(t->map, "optional", false);
	c->drift_warns = ynode_is_word(ynode_get(t->map, "on_drift"), ON_DRIFT_WARN);
	return c;
}

struct change *check_look_wanting(const struct checked *t, struct subject of, const char *suffix,
				  const struct target_item *item, const char *sort,
				  const struct ynode *value, const char *otherwise)
{
	struct change *c = check_look(t, of, suffix, item, sort, value ? value->text : otherwise);

	c->want = value ? value->value : (struct value){.type = VALUE_WORD};
	return c;
}

void check_settles(const struct checked *t, struct change *c)
{
	c->settles = true;
	c->deadline_ms = (unsigned int)(ynode_number_of(t->map, "timeout", 0) / 1000);
}

void checks_each(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		 void (*one)(const struct checked *t, void *arg), void *arg)
{
	const struct ynode *map = ynode_get(section, "checks");

	for (size_t i = 0; map && i < map->keys.n; i++) {
		const struct checked t = {
			.ctx = ctx,
			.check = check_find(ynode_text(map->items.v[i], "run", "")),
			.name = map->keys.v[i]->text,
			.map = map->items.v[i],
			.plan = plan,
		};

		if (t.check)
			one(&t, arg);
	}
}

bool check_may_lack(const struct checked *t)
{
	return device_sets_lack(t->ctx->sets, ynode_text(t->map, "on", "")) ||
	       device_sets_lack(t->ctx->sets, ynode_text(t->map, "with", ""));
}

static void look_at_each(const struct checked *t)
{
	bool vfs;
	const char *name = set_name_in(ynode_text(t->map, "on", ""), &vfs);
	const struct device_set *set = device_sets_find(t->ctx->sets, name);

	for (size_t i = 0; set && i < set->fn.n; i++) {
		const struct pci_fn *fn = set->fn.v[i];
		unsigned int n = vfs ? function_vfs(t->ctx, fn) : 0;

		for (unsigned int v = 0; v < n; v++)
			t->check->look(t, (struct subject){fn->addr, (int)v});
		if (!vfs)
			t->check->look(t, (struct subject){fn->addr, -1});
	}
}

/* Complains about a check without a subject, because every node would pass it. */
static void complain_of_nothing(const struct checked *t)
{
	struct change *c = check_look(t, (struct subject){"none", -1}, "", &given_item, "given",
				      "something to look at");

	change_observe(c, "nothing");
	change_reason(c, NOTHING_TO_CHECK);
	c->fault = FAULT_PROFILE_CHECKS_NOTHING;
	c->now.state = CHANGE_DIFFERS;
}

static void emit_one(const struct checked *t, void *arg)
{
	size_t before = t->plan->list.n;

	(void)arg;
	if (t->check->measure)
		return;
	if (t->check->look && (!t->check->look_whole || ynode_get(t->map, "on")))
		look_at_each(t);
	else
		t->check->look_whole(t);
	if (t->plan->list.n == before && !check_may_lack(t))
		complain_of_nothing(t);
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	checks_each(ctx, section, plan, emit_one, NULL);
}

const struct section section_gate = {
	.name = "gate",
	.spec = &gate_language,
	.help = "Checks that decide whether the node is ready.",
	.class = KEY_JUDGES,
	.differs = FAULT_GATE_CANNOT_MEASURE,
	.failed = FAULT_GATE_CANNOT_MEASURE,
	.rules = gate_rules,
	.emit = emit,
};
