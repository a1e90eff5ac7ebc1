/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/cause.h"

#include <string.h>

#include "base/mem.h"
#include "kinds/kind.h"
#include "report/text.h"

struct cause cause_of(const char *reason)
{
	const char *colon = strstr(reason, ": "), *blank = strchr(reason, ' ');
	bool has_id = colon && blank > colon;
	const char *what = has_id ? colon + 2 : reason, *rest = strstr(what, "; ");

	return (struct cause){
		.id = has_id ? xstrndup(reason, (size_t)(colon - reason)) : xstrdup(""),
		.what = rest ? xstrndup(what, (size_t)(rest - what)) : xstrdup(what),
		.rest = rest ? rest + 2 : NULL,
	};
}

void cause_free(struct cause *c)
{
	free(c->id);
	free(c->what);
}

const struct record_change *cause_change(const struct record *r, const char *id)
{
	for (int s = STAGE_COUNT - 1; s >= 0; s--)
		for (size_t i = 0; i < r->stage[s].changes.n; i++)
			if (streq(r->stage[s].changes.v[i].id, id))
				return &r->stage[s].changes.v[i];
	return NULL;
}

char *cause_usual_remedy(const struct record *r, const char *id, enum fault fault)
{
	const struct record_change *c = cause_change(r, id);
	const struct kind *kind = c && c->kind ? kind_find(c->kind) : NULL;
	cleanup_free char *place = NULL;

	if (!kind || !kind->set || c->state != CHANGE_DIFFERS || c->tried.words)
		return fault == FAULT_NONE ? NULL : xstrdup(fault_row(fault)->remedy);
	place = text_place(c->origin ? c->origin : "the profile");
	return xasprintf("`railhead apply` sets the value of %s; then run `railhead gate`", place);
}

/* The verdicts off and none do not judge the node: work is admitted by the site's setting. */
const char *admission_text(const struct record *r)
{
	enum verdict_kind kind = r->verdict.kind;

	if (!record_admits(r))
		return "work is not admitted";
	if (!r->verdict.admit)
		return "work is admitted by hand";
	return kind == VERDICT_OFF || kind == VERDICT_NONE ? "work is admitted by railhead.conf"
							   : "work is admitted";
}
