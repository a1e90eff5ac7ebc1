/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/kargs_story.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/ends.h"

enum story_state {
	STORY_NONE,    /* no trial yet, or all were given up */
	STORY_ARMED,   /* the next boot tries the arguments */
	STORY_RUNNING, /* this boot is the trial */
	STORY_ENDED,   /* the trial ended before its verdict, without consequences yet */
	STORY_KEPT,    /* the arguments are good */
	STORY_REFUSED, /* the arguments are not tried again */
	STORY_LOOKING, /* a boot with the earlier arguments must show which items fail without the
			  new ones */
	STORY_STOPPED, /* some trials ended, and no trial is under way */
};

static const char *const names[] = {
	[STORY_NONE] = "none",	     [STORY_ARMED] = "armed",	  [STORY_RUNNING] = "running",
	[STORY_ENDED] = "ended",     [STORY_KEPT] = "kept",	  [STORY_REFUSED] = "refused",
	[STORY_LOOKING] = "looking", [STORY_STOPPED] = "stopped",
};

/* --- what it speaks of ------------------------------------------------------------------- */

/* The slot with the arguments of the state, or ENV_NONE. */
static char slot_told(const struct boot_env *env)
{
	char hash[KARGS_HASH_LEN + 1];

	for (char slot = 'a'; slot <= 'b'; slot++) {
		kargs_hash_line(env_slot(env, slot), hash);
		if (*env_slot(env, slot) && streq(hash, env->state.hash))
			return slot;
	}
	return ENV_NONE;
}

static const struct env_refused *refused(const struct boot_view *v, char slot)
{
	cleanup_kargs struct kargs args = {0};

	kargs_split(&args, env_slot(&v->env, slot), NULL);
	return env_refused(&v->env, &args, v->env.state.kernel);
}

static enum story_state state_of(const struct boot_view *v, char slot)
{
	const struct boot_env *env = &v->env;

	if (!v->have_env || !*env->state.hash || (slot == ENV_NONE && !*env->ends))
		return STORY_NONE;
	if (env_slot_index(env->try_) >= 0)
		return STORY_ARMED;
	if (v->trial.is_trial && env->try_ == ENV_TAKEN)
		return STORY_RUNNING;
	if (env->try_ == ENV_TAKEN)
		return STORY_ENDED;
	if (env->state.look == ENV_LOOK_BACK)
		return STORY_LOOKING;
	if (refused(v, slot))
		return STORY_REFUSED;
	return slot != ENV_NONE && slot == env->good ? STORY_KEPT : STORY_STOPPED;
}

/* --- each boot --------------------------------------------------------------------------- */

/* True for the last letter while its trial is still to end. */
static bool is_open(const struct boot_view *v, enum story_state state, size_t i)
{
	return !v->env.ends[i + 1] && ends_last(v->env.ends) &&
	       (state == STORY_ARMED || state == STORY_RUNNING);
}

/* True if this boot did not use the armed trial. */
static bool was_passed_by(const struct boot_view *v)
{
	return v->trial.decision == KARGS_NOT_ARRIVED;
}

/* Why a trial lost at its verdict; the file knows the reason of the last trial only. */
static const char *lost_text(const struct boot_view *v, char slot, size_t i)
{
	const struct env_refused *no = refused(v, slot);

	if (v->env.state.look != ENV_LOOK_NONE || (no && no->unfit))
		return "at the verdict something failed";
	if (no && !no->deaths && !v->env.ends[i + 1])
		return "at the verdict the arguments were not in force";
	return end_text(ENV_END_LOST);
}

static char *boot_text(const struct boot_view *v, char slot, enum story_state state, size_t i)
{
	char end = v->env.ends[i];

	if (is_open(v, state, i) && ends_last(v->env.ends) == ENV_END_UNKNOWN)
		return xstrdup(state == STORY_RUNNING ? "this boot"
			       : was_passed_by(v)     ? "not taken yet"
						      : "the next boot");
	return xasprintf("%s%s", end == ENV_END_LOST ? lost_text(v, slot, i) : end_text(end),
			 ends_counts(v->env.ends, i) ? "" : "; not counted");
}

/* --- what happens next ------------------------------------------------------------------- */

static char *next_trial(const struct boot_view *v)
{
	if (v->trial.again)
		return xstrdup("`railhead apply`, or the initramfs of the next boot, arms one more "
			       "trial of the required arguments, after healthy boots");
	return xasprintf(
		"`railhead apply`, or the initramfs of the next boot, arms trial %u of %d of "
		"the required arguments",
		v->trial.deaths + 1, TRIAL_MAX);
}

/* The next step of arguments that are not on trial, by the decision of this boot. */
static char *next_of_others(const struct boot_view *v)
{
	if (v->trial.decision == KARGS_WRITE_AND_REBOOT)
		return v->trial.armed ? xstrdup("a reboot tries them") : next_trial(v);
	if (v->trial.decision == KARGS_SAME || v->trial.decision == KARGS_WRITE_NO_REBOOT)
		return xstrdup("no trial: this boot has the required arguments");
	if (v->trial.next_boot_tries)
		return xstrdup("the next boot tries the required arguments");
	if (v->trial.note == NOTE_NO_VARIABLE || v->env.state.no_variable)
		return xstrdup("the next boot by a menu entry with the variable tries the required "
			       "arguments");
	if (v->trial.decision == KARGS_COUNTED)
		return xstrdup("the first boot that nothing else counts tries the required "
			       "arguments");
	return xstrdup("no trial; the state says why");
}

static char *next_of_running(const struct boot_view *v)
{
	if (ends_last(v->env.ends) == ENV_END_ALONE)
		return xstrdup(
			"railhead leaves this boot alone; the first boot in which it may act "
			"goes on");
	if (v->trial.next_boot_tries)
		return next_of_others(v);
	if (v->trial.decision == KARGS_NOT_ARRIVED)
		return xstrdup(
			"the arguments are not in force; at its verdict this boot drops them, "
			"and the next boot has the earlier arguments");
	return xstrdup("the verdict of this boot decides; without a verdict in ten minutes the "
		       "node reboots with the earlier arguments");
}

static char *next_of_refused(const struct boot_view *v)
{
	unsigned int left = trial_boots_left(&v->facts);

	if (left)
		return xasprintf("they are tried again on this kernel after %u more healthy "
				 "boot%s, or by `railhead apply --retry` and a reboot",
				 left, left == 1 ? "" : "s");
	return xstrdup("this kernel tries them again only after `railhead apply --retry` and a "
		       "reboot");
}

static char *next_of_armed(const struct boot_view *v, char slot)
{
	cleanup_free char *trial = refused(v, slot) ? xstrdup(" once more")
						    : xasprintf(": trial %u of %d",
								v->env.state.deaths + 1, TRIAL_MAX);

	return xasprintf("the next boot%s tries them%s; if it dies, the boot after it has the "
			 "earlier arguments",
			 was_passed_by(v) ? " by a GRUB that can write to " ENV_FILE_NAME : "",
			 trial);
}

static char *next_of(const struct boot_view *v, char slot, enum story_state state)
{
	switch (state) {
	case STORY_ARMED:
		return next_of_armed(v, slot);
	case STORY_RUNNING:
		return next_of_running(v);
	case STORY_KEPT:
		return v->trial.decision == KARGS_SAME ? xstrdup("each boot has them")
						       : next_of_others(v);
	case STORY_REFUSED:
		if (v->trial.decision != KARGS_REJECTED && v->trial.decision != KARGS_UNFIT &&
		    v->trial.decision != KARGS_NOT_ARRIVED)
			return next_of_others(v);
		return next_of_refused(v);
	case STORY_LOOKING:
		return xstrdup("a boot with the earlier arguments shows which checks fail "
			       "without the new arguments; then railhead tries the new arguments "
			       "again or rejects them");
	case STORY_NONE:
	case STORY_ENDED:
	case STORY_STOPPED:
		break;
	}
	if (v->trial.decision == KARGS_REJECTED)
		return next_of_refused(v);
	return next_of_others(v);
}

/* --- both forms -------------------------------------------------------------------------- */

static void print_row(const char *title, const char *text)
{
	printf("%-10s %s\n", title, text);
}

static void print_boots(const struct boot_view *v, char slot, enum story_state state)
{
	for (size_t i = 0; v->env.ends[i]; i++) {
		cleanup_free char *title = xasprintf("trial %zu", i + 1);
		cleanup_free char *text = boot_text(v, slot, state, i);

		print_row(title, text);
	}
}

void kargs_story_print(const struct boot_view *v)
{
	const char *kernel = v->env.state.kernel;
	char slot = v->have_env ? slot_told(&v->env) : ENV_NONE;
	enum story_state state = state_of(v, slot);
	cleanup_free char *next = next_of(v, slot, state), *tried = NULL;

	if (state == STORY_NONE) {
		print_row("trials", "no trial so far");
	} else {
		tried = xasprintf("%s%s%s",
				  slot == ENV_NONE ? "(railhead.env no longer holds the "
						     "arguments)"
						   : env_slot(&v->env, slot),
				  *kernel ? ", on kernel " : "", kernel);
		print_row(state == STORY_KEPT ? "kept" : "tried", tried);
		print_boots(v, slot, state);
	}
	print_row("what next", next);
}

static json_t *boots_json(const struct boot_view *v, char slot, enum story_state state)
{
	json_t *list = json_array();

	for (size_t i = 0; v->env.ends[i]; i++) {
		cleanup_free char *text = boot_text(v, slot, state, i);
		json_t *boot = json_object();

		if (!is_open(v, state, i)) {
			json_object_set_new(boot, "end", json_string(end_name(v->env.ends[i])));
			json_object_set_new(boot, "counts",
					    json_boolean(ends_counts(v->env.ends, i)));
		}
		json_object_set_new(boot, "text", json_string(text));
		json_array_append_new(list, boot);
	}
	return list;
}

json_t *kargs_story_json(const struct boot_view *v)
{
	char slot = v->have_env ? slot_told(&v->env) : ENV_NONE;
	enum story_state state = state_of(v, slot);
	cleanup_free char *next = next_of(v, slot, state);
	json_t *doc = json_object();

	json_object_set_new(doc, "state", json_string(names[state]));
	if (state != STORY_NONE) {
		if (slot != ENV_NONE)
			json_object_set_new(doc, "tried", json_string(env_slot(&v->env, slot)));
		if (*v->env.state.kernel)
			json_object_set_new(doc, "kernel", json_string(v->env.state.kernel));
		json_object_set_new(doc, "boots", boots_json(v, slot, state));
	}
	json_object_set_new(doc, "next", json_string(next));
	return doc;
}
