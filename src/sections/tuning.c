/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/tuning.h"

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"
#include "profile/language.h"
#include "sections/kernel_line.h"
#include "sections/members.h"
#include "sys/sysctl_d.h"

#define PROC_SYS "/proc/sys/"

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
	cleanup_free char *name = xstrndup(id, strcspn(id, "/"));
	const struct section *of = section_find(name);
	const struct ynode *section = profile_section(ctx->profile, name);
	const char *key = id + strlen(name) + 1;
	cleanup_free char *first = xstrndup(key, strcspn(key, "/"));
	struct change *c = plan_add(plan, of->name, &kind_attr, STAGE_EARLY,
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

static void emit_row(const struct section_ctx *ctx, const struct tuning *t, const char *id,
		     const struct ynode *value, struct plan *plan)
{
	bool other = t->other_file && !root_exists(ctx->root, "%s", t->file) &&
		     root_exists(ctx->root, "%s", t->other_file);
	cleanup_free char *desired = in_file(t, value, other ? t->other_values : t->values);

	if (t->emit)
		t->emit(ctx, t, id, value, plan);
	else
		tuning_add(ctx, t, id, value, other ? t->other_file : t->file, desired, plan);
}

static void emit_rows(const struct section_ctx *ctx, const struct field *row, const char *id,
		      const struct ynode *node, struct plan *plan)
{
	for (; row->name; row++) {
		const struct ynode *value = ynode_get(node, row->name);
		cleanup_free char *below = xasprintf("%s/%s", id, row->name);

		if (value && row->item)
			emit_row(ctx, row->item, below, value, plan);
		else if (value && row->spec->kind == SPEC_MAP)
			emit_rows(ctx, row->spec->fields, below, value, plan);
	}
}

void tuning_emit_all(const struct section_ctx *ctx, const char *section, const struct ynode *node,
		     struct plan *plan)
{
	emit_rows(ctx, section_find(section)->spec->fields, section, node, plan);
}

static void add_files(const struct field *row, struct strv *ret)
{
	for (; row->name; row++) {
		const struct tuning *t = row->item;

		if (!t) {
			if (row->spec->kind == SPEC_MAP)
				add_files(row->spec->fields, ret);
			continue;
		}
		strv_add(ret, t->file);
		if (t->other_file)
			strv_add(ret, t->other_file);
		if (t->attr.offers) {
			cleanup_free char *offers =
				xasprintf("%.*s/%s", (int)(strrchr(t->file, '/') - t->file),
					  t->file, t->attr.offers);

			strv_add(ret, offers);
		}
	}
}

void tuning_files(const char *section, struct strv *ret)
{
	add_files(section_find(section)->spec->fields, ret);
}

/* --- rules -------------------------------------------------------------------------------- */

/* A key in the profile: its path, row and value. */
struct given {
	const char *key;
	const struct tuning *tuning;
	const struct ynode *value;
};

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
		cleanup_free char *below = sysctl_path(sysctl->keys.v[i]->text);
		cleanup_free char *path = xasprintf(PROC_SYS "%s", below);

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

static void judge_rows(struct ruling *r, const struct field *row, const char *path,
		       const struct ynode *node)
{
	for (; row->name; row++) {
		const struct ynode *value = ynode_get(node, row->name);
		cleanup_free char *key = xasprintf("%s.%s", path, row->name);
		const struct given given = {key, row->item, value};

		if (!value)
			continue;
		if (!row->item && row->spec->kind == SPEC_MAP)
			judge_rows(r, row->spec->fields, key, value);
		/* skip values that the schema has rejected */
		if (!row->item || value->kind != YAML_SCALAR || !value->value.spec)
			continue;
		judge_lines(r, &given);
		judge_argument(r, &given);
	}
}

void tunings_are_said_once(struct ruling *r, const char *name)
{
	judge_rows(r, section_find(name)->spec->fields, name, section(r, name));
}
