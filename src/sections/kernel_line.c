/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/kernel_line.h"

#include "profile/language.h"

static const struct spec line_text = {
	.what = "a value (text on one line)",
	.check = value_line,
	.pattern = "^" LINE_CHAR "+$",
};

static const struct spec line_map = {
	.kind = SPEC_MAP,
	.what = "a map such as {value: 1, optional: true}",
	.fields = FIELDS(KEY("value", &line_text, "Value of the file.", .flags = FIELD_REQUIRED),
			 KEY("optional", &spec_bool,
			     "Whether the kernel may lack the file; default false.",
			     .class = KEY_GOVERNS),
			 KEY("on_drift", &spec_on_drift,
			     "Consequence of a changed value after the verdict; default lapse.",
			     .class = KEY_GOVERNS)),
};
const struct spec kernel_line = {
	.kind = SPEC_EITHER,
	.what = "a value, or {value: ..., optional: true}",
	.scalar = &line_text,
	.map = &line_map,
};

void kernel_line_emit(const char *section, enum phase phase, const struct ynode *key,
		      const struct ynode *line, const char *path, struct plan *plan)
{
	struct change *c = plan_add(plan, section, &kind_attr, STAGE_EARLY, phase, key->at, "%s/%s",
				    section, key->text);

	change_target(c, "%s", path);
	change_want(c, line_value(line));
	c->optional = line->kind == YAML_MAP && ynode_bool(line, "optional", false);
	c->drift_warns =
		line->kind == YAML_MAP && ynode_is_word(ynode_get(line, "on_drift"), ON_DRIFT_WARN);
	c->late = true;
}

void kernel_line_differs(struct ruling *r, const struct ynode *value, const char *key,
			 const struct ynode *arg)
{
	rule_error(r, value, key,
		   "%.80s at %s of kernel_args.set sets a different value; make the two agree, "
		   "or drop one",
		   arg->text, seen(r, arg));
}
