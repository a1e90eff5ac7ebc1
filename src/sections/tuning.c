/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/tuning.h"

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "sections/kernel_line.h"
#include "sections/members.h"
#include "sys/sysctl_d.h"

/* --- rows --------------------------------------------------------------------------------- */

/* A row with a tuning. */
struct given {
	const char *key; /* its path from the section on */
	const struct tuning *tuning;
	const struct ynode *value; /* in the profile; NULL: none */
};

/* Calls with() for these rows, and the rows below them. node: their map; may be NULL. */
static void each_row(const struct field *row, const char *above, char separator,
		     const struct ynode *node, void (*with)(const struct given *g, void *arg),
		     void *arg)
{
	for (; row->name; row++) {
		cleanup_free char *key = xasprintf("%s%c%s", above, separator, row->name);
		const struct given g = {key, row->item, ynode_get(node, row->name)};

		if (row->item)
			with(&g, arg);
		else if (row->spec->kind == SPEC_MAP)
			each_row(row->spec->fields, key, separator, g.value, with, arg);
	}
}

/* --- values ------------------------------------------------------------------------------- */

/* The file's content for the key's value, from the words of that file; the caller frees. */
static char *in_file(const struct tuning *t, const struct ynode *value, const char *const *words)
{
	uint64_t n = 0;

	if (words[0])
		return xstrdup(words[value->value.number]);
	if (t->unit && ynode_number(value, &n))
		return xasprintf("%llu", (unsigned long long)n / (unsigned long long)t->unit);
	return xstrdup(value->text);
}

/* --- changes ------------------------------------------------------------------------------ */

struct change *tuning_add(const struct section_ctx *ctx, const struct tuning *t, const char *id,
			  const struct ynode *value, const char *file, const char *desired,
			  struct plan *plan)
{
	const char *name = ctx->section->name, *key = id + strlen(name) + 1;
	const struct ynode *section = profile_section(ctx->profile, name);
	cleanup_free char *first = xstrndup(key, strcspn(key, "/"));
	struct change *c = plan_add(plan, name, &kind_attr, STAGE_EARLY,
				    str_starts(file, PROC_SYS) ? PHASE_SYSCTL : PHASE_SYSFS,
				    value->at, "%s", id);

	change_on(c, NULL, t);
	c->want = value->value;
	change_target(c, "%s", file);
	change_desired(c, "%s", desired);
	c->optional = optional_has(ynode_get(section, "optional"), first);
	c->drift_warns = ynode_is_word(ynode_get(section, "on_drift"), ON_DRIFT_WARN);
	c->late = true; /* the driver of frequencies may be a module */
	return c;
}

struct emission {
	const struct section_ctx *ctx;
	struct plan *plan;
};

static void emit_row(const struct given *g, void *arg)
{
	const struct emission *e = arg;
	const struct tuning *t = g->tuning;
	cleanup_free char *desired = NULL;
	bool other;

	if (!g->value)
		return;
	other = t->other_file && !root_exists(e->ctx->root, "%s", t->file) &&
		root_exists(e->ctx->root, "%s", t->other_file);
	desired = in_file(t, g->value, other ? t->other_values : t->values);
	if (t->emit)
		t->emit(e->ctx, t, g->key, g->value, e->plan);
	else
		tuning_add(e->ctx, t, g->key, g->value, other ? t->other_file : t->file, desired,
			   e->plan);
}

void tunings_emit(const struct section_ctx *ctx, const struct ynode *node, struct plan *plan)
{
	struct emission e = {ctx, plan};

	each_row(ctx->section->spec->fields, ctx->section->name, '/', node, emit_row, &e);
}

static void add_beside(const char *file, const char *name, struct strv *ret)
{
	int dir = (int)(strrchr(file, '/') - file);
	cleanup_free char *path = name ? xasprintf("%.*s/%s", dir, file, name) : NULL;

	if (path)
		strv_add(ret, path);
}

static void add_files(const struct given *g, void *arg)
{
	const struct tuning *t = g->tuning;
	struct strv *ret = arg;

	strv_add(ret, t->file);
	if (t->other_file)
		strv_add(ret, t->other_file);
	add_beside(t->file, t->attr.offers, ret);
	add_beside(t->file, t->attr.cpus, ret);
}

void tunings_files(const struct section *section, struct strv *ret)
{
	each_row(section->spec->fields, section->name, '/', NULL, add_files, ret);
}

/* --- rules -------------------------------------------------------------------------------- */

static void judge_line(struct ruling *r, const struct given *g, const char *section,
		       const struct ynode *line, const struct ynode *value, const char *path)
{
	const struct tuning *t = g->tuning;
	bool other = t->other_file && paths_meet(path, t->other_file);
	cleanup_free char *key = xasprintf("%s.%.120s", section, line->text);
	cleanup_free char *desired = NULL;

	if (!other && !paths_meet(path, t->file))
		return;
	if (!t->emit)
		desired = in_file(t, g->value, other ? t->other_values : t->values);
	if (desired && streq(desired, scalar(value)))
		rule_warn(r, line, key, "%.80s at %s sets the same; leave this line out", g->key,
			  seen(r, g->value));
	else
		rule_error(r, line, key,
			   "%.80s at %s sets the same file to a different value%s%s; drop one of "
			   "the two",
			   g->key, seen(r, g->value), desired ? ", " : "", desired ?: "");
}

static void judge_lines(struct ruling *r, const struct given *g)
{
	const struct ynode *sysctl = section(r, "sysctl"), *sysfs = section(r, "sysfs");

	for (size_t i = 0; i < count(sysctl, YAML_MAP); i++) {
		cleanup_free char *path = sysctl_file(sysctl->keys.v[i]->text);

		judge_line(r, g, "sysctl", sysctl->keys.v[i], line_value(sysctl->items.v[i]), path);
	}
	for (size_t i = 0; i < count(sysfs, YAML_MAP); i++)
		judge_line(r, g, "sysfs", sysfs->keys.v[i], line_value(sysfs->items.v[i]),
			   sysfs->keys.v[i]->text);
}

/* The argument takes effect first and the key's value later, so a difference is a mistake. */
static void judge_argument(struct ruling *r, const struct given *g)
{
	const struct ynode *arg = g->tuning->arg ? find_arg(r, g->tuning->arg) : NULL;
	const char *word;

	if (!arg)
		return;
	word = g->tuning->arg_values[0] ? g->tuning->arg_values[g->value->value.number]
					: g->value->text;
	if (!streq(arg_value(arg->text), word))
		kernel_line_differs(r, g->value, g->key, arg);
}

static void judge_row(const struct given *g, void *arg)
{
	/* skip values that the schema has rejected */
	if (!g->value || g->value->kind != YAML_SCALAR || !g->value->value.spec)
		return;
	judge_lines(arg, g);
	judge_argument(arg, g);
}

void tunings_are_said_once(struct ruling *r, const char *name)
{
	each_row(section_find(name)->spec->fields, name, '.', section(r, name), judge_row, r);
}
