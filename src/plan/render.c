/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/render.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/change.h"

enum { VALUE_MAX = 60, ID_WIDTH = 40 };

char *render_place(struct place at)
{
	if (!at.file)
		return xstrdup("");
	return at.line ? xasprintf("%s:%u:%u", at.file, at.line, at.col) : xstrdup(at.file);
}

char *render_line(struct place at)
{
	const char *slash = at.file ? strrchr(at.file, '/') : NULL;

	return at.file ? xasprintf("%s:%u", slash ? slash + 1 : at.file, at.line)
		       : xstrdup("the profile");
}

/* A value as one short line: the first line, cut, in quotes. */
static char *brief(const char *value)
{
	size_t len = strcspn(value, "\n");
	bool cut = value[len] || len > VALUE_MAX;

	return xasprintf("'%.*s%s'", (int)(len > VALUE_MAX ? VALUE_MAX : len), value,
			 cut ? "..." : "");
}

static void render_remark(FILE *out, const char *text)
{
	cleanup_free char *line = str_printable(text, SIZE_MAX);

	fprintf(out, "  %-11s   %s\n", "", line);
}

static void render_one(FILE *out, const struct change *c)
{
	cleanup_free char *desired = brief(c->desired);
	cleanup_free char *observed = brief(c->now.found ? c->now.found : "unknown");
	cleanup_free char *reason = finding_reason(&c->now);

	fprintf(out, "  %-11s %-*s ", state_name(c->now.state), ID_WIDTH, c->id);
	if (c->now.state == CHANGE_SAME || c->now.state == CHANGE_SET)
		fprintf(out, "%s\n", observed);
	else if (c->now.state == CHANGE_TO_MEASURE)
		fprintf(out, "%s\n", desired);
	else
		fprintf(out, "%s -> %s\n", observed, desired);
	if (reason && c->now.state != CHANGE_SAME)
		render_remark(out, reason);
	if (c->now.note)
		render_remark(out, c->now.note);
}

void render_changes(FILE *out, const struct plan *plan, unsigned int stages)
{
	for (enum stage s = 0; s < STAGE_COUNT; s++) {
		bool titled = false;

		for (size_t i = 0; i < plan->list.n; i++) {
			const struct change *c = plan->list.v[i];

			if (c->stage != s || c->now.state == CHANGE_UNKNOWN ||
			    !(stages & (1u << s) || change_broken_premise(c)))
				continue;
			if (!titled)
				fprintf(out, "%s\n", stage_name(s));
			titled = true;
			render_one(out, c);
		}
	}
}
