/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/kargs_story.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"

/* The state of the trials of the wanted arguments, for programs. */
static const char *state_name(const struct boot_view *v)
{
	const struct refused *no = attempts_refused(&v->past, &v->trial.now);

	if (env_slot_index(v->env.try_) >= 0)
		return "armed";
	if (v->trial.note == NOTE_RUNS || v->trial.note == NOTE_LOST)
		return "running";
	if (no)
		return no->why == REFUSAL_DIED	 ? "died"
		       : no->why == REFUSAL_LOST ? "lost"
						 : "unfit";
	return attempts_deaths(&v->past, &v->trial.now) ? "once died" : "none";
}

/* The next boot may have others, although all are in force in this one. */
static const char *next_when_same(const struct boot_view *v)
{
	cleanup_kargs struct kargs next = {0};

	if (v->trial.note == NOTE_RUNS)
		return "the verdict of this boot decides; without one, the node reboots with the "
		       "earlier arguments";
	if (v->trial.note == NOTE_DROP)
		return "the next boot would try others, which are armed: the gate disarms them";
	kargs_split(&next, env_slot(&v->env, env_next_slot(&v->env)), NULL);
	return trial_on_line(v->facts.cmdline) && !kargs_same(&next, v->facts.wanted)
		       ? "the next boot has the earlier arguments, and its gate tries these"
		       : "each boot has them";
}

static const char *next_step(const struct boot_view *v)
{
	switch (v->trial.decision) {
	case KARGS_SAME:
		return next_when_same(v);
	case KARGS_ARM:
		return "the gate arms their trial, and reboots the node";
	case KARGS_ARMED:
		return "a reboot tries them; if that boot dies, the one after it has the earlier "
		       "arguments";
	case KARGS_ADOPT:
		return "the gate stores them for the next boots, at a verdict that a trial would "
		       "pass";
	case KARGS_NEXT_BOOT:
		return "the gate of the next boot arms their trial";
	case KARGS_REJECTED:
	case KARGS_UNFIT:
	case KARGS_NOT_ARRIVED:
		return "this kernel tries them again with a new version of the profile, or after "
		       "`railhead apply --retry`";
	case KARGS_CONFLICT:
	case KARGS_NO_LOADER:
	case KARGS_DAMAGED:
	case KARGS_COUNTED:
	case KARGS_SEALED:
	case KARGS_HELD:
	case KARGS_NO_GATE:
		break;
	}
	return "no trial; the state says why";
}

static void print_row(const char *title, const char *text)
{
	printf("%-10s %s\n", title, text);
}

void kargs_story_print(const struct boot_view *v)
{
	cleanup_free char *items = strv_some(&v->past.items, NAMED_MAX);
	unsigned int deaths = attempts_deaths(&v->past, &v->trial.now);

	if (deaths) /* an end by another word is of a trial that did not die */
		printf("%-10s %u of %d trials died%s\n", "trials", deaths, TRIALS_MAX,
		       streq(v->facts.end, "timer") ? ", the last: timer" : "");
	else
		print_row("trials", state_name(v));
	if (*items)
		print_row("failed", items);
	print_row("what next", next_step(v));
}

json_t *kargs_story_json(const struct boot_view *v)
{
	return json_pack("{s:s, s:i, s:i, s:o, s:s}", "state", state_name(v), "deaths",
			 (int)attempts_deaths(&v->past, &v->trial.now), "reboots",
			 (int)trial_reboots(&v->facts), "items",
			 stored_to_json(texts_stored, &v->past.items), "next", next_step(v));
}
