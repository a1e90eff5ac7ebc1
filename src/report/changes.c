/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/changes.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/change.h"
#include "plan/render.h"
#include "report/sides.h"
#include "report/text.h"

enum rank { PREMISES, FAILURES, DONE, DIFFERENCES, WAITING, UNSUPPORTED, UNMEASURABLE, NO_RANK };

/* The order of changes on a page, gravest first. */
static enum rank rank_of(const struct change *c)
{
	if (change_broken_premise(c))
		return PREMISES;
	switch (c->now.state) {
	case CHANGE_FAILED:
		return FAILURES;
	case CHANGE_SET:
		return DONE;
	case CHANGE_DIFFERS:
	case CHANGE_SLOW:
	case CHANGE_INTERMITTENT:
	case CHANGE_INVALID:
	case CHANGE_NOT_YET:
	case CHANGE_CANNOT_MEASURE:
		return DIFFERENCES;
	case CHANGE_WAITS:
		return WAITING;
	case CHANGE_UNSUPPORTED:
		return UNSUPPORTED;
	case CHANGE_TO_MEASURE:
		return c->now.note ? UNMEASURABLE : NO_RANK; /* could not be measured now */
	default:
		return NO_RANK;
	}
}

struct ordered {
	VEC(const struct change *) list;
};

/* Orders changes by rank, and within a rank by stage. */
static void put_in_order(const struct run *run, unsigned int stages, enum stage running,
			 struct ordered *ret)
{
	for (enum rank rank = PREMISES; rank < NO_RANK; rank++)
		for (enum stage s = 0; s < STAGE_COUNT; s++)
			for (size_t i = 0; i < run->plan.list.n; i++) {
				const struct change *c = run->plan.list.v[i];

				if (c->stage == s && rank_of(c) == rank &&
				    (run_covers(c, stages, running) ||
				     (rank == PREMISES && running == STAGE_COUNT)))
					vec_push(&ret->list, c);
			}
}

const char *changes_wanted(const struct change *c)
{
	return c->kind == &kind_file && *c->desired ? "the profile's text" : c->desired;
}

/* With the note, which names the files of other writers. NULL: no reason. */
static char *reason_of(const struct change *c)
{
	char *reason = finding_reason(&c->now), *whole;

	if (!reason || !c->now.note)
		return reason || !c->now.note ? reason : xstrdup(c->now.note);
	whole = xasprintf("%s; %s", reason, c->now.note);
	free(reason);
	return whole;
}

/* The present value, or the value before the change was set. */
static const char *found_of(const struct change *c)
{
	const char *found = c->now.state == CHANGE_SET ? c->now.before : c->now.found;

	return found ? found : "unknown";
}

static void print_whole(FILE *out, const struct change *c)
{
	struct side_line line = {state_name(c->now.state), c->id,	 found_of(c),
				 changes_wanted(c),	   reason_of(c), NULL};

	sides_print_whole(out, &line);
	free(line.reason);
}

static char *short_place(struct place at)
{
	cleanup_free char *origin = render_place(at);

	return at.line ? text_place(origin) : NULL;
}

void changes_print(FILE *out, const struct run *run, const struct change *const *changes, size_t n,
		   const struct screen *screen, size_t most)
{
	cleanup(record_sets_free) struct record_sets sets = {0};
	cleanup(sides_free) struct sides lines = {0};

	for (size_t i = 0; i < n; i++) {
		const struct change *c = changes[i];
		bool one_value = c->now.state == CHANGE_SAME ||
				 (c->now.state == CHANGE_TO_MEASURE && !c->now.note);

		vec_push(&lines.list,
			 ((struct side_line){state_name(c->now.state), c->id,
					     one_value ? changes_wanted(c) : found_of(c),
					     one_value ? NULL : changes_wanted(c), reason_of(c),
					     short_place(c->origin)}));
	}
	record_sets_add(&sets, &run->sets);
	sides_render(out, &lines, &sets, screen, most);
}

void changes_render(FILE *out, const struct run *run, unsigned int stages, enum stage running,
		    const struct screen *screen)
{
	struct ordered changes = {0};

	put_in_order(run, stages, running, &changes);
	if (screen->terminal)
		changes_print(out, run, changes.list.v, changes.list.n, screen, SIZE_MAX);
	for (size_t i = 0; !screen->terminal && i < changes.list.n; i++)
		print_whole(out, changes.list.v[i]);
	vec_free(&changes.list);
}
