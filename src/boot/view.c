/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/mode.h"
#include "boot/seal.h"
#include "boot/service.h"
#include "loader/counters.h"
#include "loader/loader.h"
#include "sys/read.h"
#include "sys/state.h"

static int read_env(struct boot_view *v, struct err *err)
{
	struct err why = {0};
	int r = loader_find(&v->part)->look(&v->part, &v->was, &why);

	if (r == -EBADMSG) {
		v->seen = v->was;
		env_init(&v->was);
	}
	v->env = v->was;
	v->make = r != 0;
	v->renew = r == 1;
	v->facts.absent = r == -ENOENT;
	if (r == -EBADMSG)
		snprintf(v->damage, sizeof(v->damage), "%s", why.text);
	else if (r < 0 && r != -ENOENT)
		return err_set(err, r, "%s: %s", v->part.path ? v->part.path : ENV_FILE_NAME,
			       why.text);
	return 0;
}

static void read_boot(const struct root *root, struct boot_view *v)
{
	struct utsname u;

	state_boot_id(root, v->boot_id);
	if (root->live && uname(&u) == 0)
		snprintf(v->kernel, sizeof(v->kernel), "%.64s", u.release);
}

/* No boot of a kernel that was removed again will end GRUB's count: the next verdict does. */
static void forget_removed_kernel(const struct root *root, struct attempts *past)
{
	if (past->new_kernel && *past->new_kernel &&
	    !root_exists(root, "lib/modules/%s", past->new_kernel))
		*past->new_kernel = '\0';
}

static int read_all(struct boot_view *v, struct err *err)
{
	const struct root *root = v->want.root;
	int r = read_env(v, err);

	if (r == 0)
		r = attempts_read(root, &v->past, err);
	forget_removed_kernel(root, &v->past);
	if (r == 0 && state_kept(root, ATTEMPT_END_FILE, &v->end, NULL) == 0)
		v->end[strcspn(v->end, "\n")] = '\0';
	return r;
}

static void hold(struct boot_view *v, enum kargs_decision d, char *why)
{
	if (why)
		trial_hold(&v->trial, d, why);
	free(why);
}

/* Whatever else decides on the next boot is asked only if a trial, or other args, would be next. */
static void ask_others(struct boot_view *v)
{
	const struct root *root = v->want.root;
	cleanup_free char *sealed = NULL, *why = NULL;

	if (kargs_decision_reboots(v->trial.decision))
		hold(v, KARGS_COUNTED, counters_why_held(root, &v->part.counters));
	if (kargs_decision_reboots(v->trial.decision))
		hold(v, KARGS_NO_GATE, gate_why_absent(root));
	/* The file that `railhead kargs --reset` makes is another one, too. */
	if (kargs_decision_reboots(v->trial.decision) || v->trial.decision == KARGS_DAMAGED)
		hold(v, KARGS_SEALED, seal_why_refused(root));
	if (v->trial.decision != KARGS_ADOPT)
		return;
	sealed = seal_why_refused(root);
	if (!sealed)
		return;
	why = *v->damage ? xasprintf("%s; and %s", sealed, v->damage) : xstrdup(sealed);
	trial_keep(&v->trial, why);
}

int boot_view_open(const struct kargs_want *want, struct boot_view *ret, struct err *err)
{
	struct boot_view *v = ret;
	int r;

	memset(v, 0, sizeof(*v));
	v->want = *want;
	r = bootpart_open(want->root, false, &v->part, err);
	if (r < 0)
		return err_wrap(err, "boot partition");
	read_boot(want->root, v);
	r = read_all(v, err);
	if (r < 0) {
		boot_view_close(v, NULL);
		return r;
	}
	v->facts.wanted = want->kargs;
	v->facts.cmdline = want->node->cmdline;
	v->facts.loader_why = v->part.loader_why ? v->part.loader_why : v->part.no_trial_why;
	v->facts.loader_parses = v->part.parses_value;
	v->facts.boot_id = v->boot_id;
	v->facts.kernel = v->kernel;
	v->facts.profile = want->profile;
	v->facts.end = v->end ? v->end : "";
	v->facts.damage = *v->damage ? v->damage : NULL;
	v->facts.seen = &v->seen;
	v->facts.env = &v->env;
	v->facts.past = &v->past;
	trial_arrive(&v->facts);
	trial_decide(&v->facts, &v->trial);
	ask_others(v);
	return 0;
}

int boot_view_close(struct boot_view *v, struct err *err)
{
	trial_free(&v->trial);
	attempts_free(&v->past);
	free(v->end);
	return bootpart_close(&v->part, err);
}

/* --- storing --------------------------------------------------------------------------------- */

static bool is_changed(const struct boot_view *v)
{
	const struct boot_env *env = &v->env, *was = &v->was;

	return env->good != was->good || env->try_ != was->try_ || env->begun != was->begun ||
	       env->reboots != was->reboots || !streq(env->slot[0], was->slot[0]) ||
	       !streq(env->slot[1], was->slot[1]);
}

static int store_env(struct boot_view *v, struct err *err)
{
	int r;

	if (!is_changed(v) && !v->renew)
		return 0;
	r = loader_open_to_write(v->want.root, &v->part, err);
	if (r == 0)
		r = loader_find(&v->part)->store(v->want.root, &v->part, v->make ? &v->was : NULL,
						 &v->env, err);
	if (r < 0 && v->part.path)
		err_wrap(err, "%s", v->part.path);
	return r < 0 ? r : 1;
}

/*
 * The record comes first, so that a power cut in between costs one trial at most, and no reboot is
 * made that was not counted; but args are good before the record says that their trial is over.
 */
static int store(struct boot_view *v, bool env_first, struct err *err)
{
	int e = env_first ? store_env(v, err) : 0;
	int r = e < 0 ? e : attempts_write(v->want.root, &v->past, err);

	if (r >= 0 && !env_first)
		e = store_env(v, err);
	return e < 0 ? e : r < 0 ? r : e || r;
}

static int close_view(struct boot_view *v, int r, struct err *err)
{
	int closed = boot_view_close(v, r < 0 ? NULL : err);

	return r < 0 ? r : closed < 0 ? closed : r;
}

int boot_arrive(const struct kargs_want *want, struct err *err)
{
	struct boot_view v;
	int r = boot_view_open(want, &v, err);

	if (r < 0)
		return r;
	return close_view(&v, store(&v, false, err), err);
}

int boot_arm(const struct kargs_want *want, struct err *err)
{
	struct boot_view v;
	int r = boot_view_open(want, &v, err);

	if (r < 0)
		return r;
	if (v.trial.decision == KARGS_ARM) {
		/* The record names the boot that armed the trial: another one has not made it. */
		if (!*v.boot_id)
			r = err_set(err, -EIO, "this boot's id can't be read");
		if (r == 0 && !trial_count_reboot(&v.facts))
			r = err_set(err, -EDQUOT, "the budget of reboots is spent");
		if (r == 0)
			r = trial_arm(&v.facts, &v.trial, err);
		if (r == 0)
			r = state_forget(want->root, ATTEMPT_END_FILE, err);
		if (r == 0)
			r = store(&v, false, err);
	} else if (v.trial.decision != KARGS_ARMED) {
		r = err_set(err, -EPERM, "%s", v.trial.why);
	}
	return close_view(&v, r, err);
}

/* --- the verdict ------------------------------------------------------------------------------ */

void settled_free(struct settled *s)
{
	strv_free(&s->news);
	*s = (struct settled){0};
}

static bool has_counter(struct boot_view *v)
{
	cleanup_free char *why = counters_why_held(v->want.root, &v->part.counters);

	return why;
}

/* 1: wrote. */
static int note_end(const struct root *root, const char *word, struct err *err)
{
	cleanup_free char *text = xasprintf("%s\n", word);
	int r = state_keep(root, ATTEMPT_END_FILE, text, err);

	return r < 0 ? r : 1;
}

/* Whatever ends this boot from here on, its arguments did not keep it from a verdict. */
static int note_verdict(const struct root *root, struct err *err)
{
	return note_end(root, "verdict", err);
}

int boot_settle(const struct kargs_want *want, const struct outcome *o, struct settled *ret,
		struct err *err)
{
	struct boot_view v;
	bool env_first;
	int r;

	*ret = (struct settled){0};
	r = boot_view_open(want, &v, err);
	if (r < 0)
		return r;
	ret->reboots = trial_reboots(&v.facts);
	r = trial_adopt(&v.facts, &v.trial, o, err);
	if (r < 0)
		return close_view(&v, r, err);
	ret->result = trial_settle(&v.facts, &v.trial, o, &ret->news);
	/* A counter of others would count the reboot: then the next boot of the node goes back. */
	if (ret->result == TRIAL_UNFIT)
		ret->reboot = !has_counter(&v) && trial_count_reboot(&v.facts);
	/* A record that can't be written must not have GRUB count on, to where the args go. */
	env_first = ret->result == TRIAL_COMMITTED ||
		    (ret->result == TRIAL_NONE && v.env.begun != v.was.begun);
	r = store(&v, env_first, err);
	if (r >= 0 && o->waits && v.trial.note == NOTE_RUNS)
		r = note_verdict(want->root, err);
	if (r < 0)
		ret->reboot = false; /* a failed write may fail in each boot */
	ret->unrecorded = r < 0 && v.trial.note == NOTE_NONE && !is_changed(&v);
	return close_view(&v, r, err);
}

/* --- outside of the gate ---------------------------------------------------------------------- */

/* A view of nothing that is wanted: the files, and no decision. */
static int open_files(const struct root *root, struct boot_view *v, struct err *err)
{
	int r;

	memset(v, 0, sizeof(*v));
	v->want.root = root;
	r = bootpart_open(root, false, &v->part, err);
	if (r < 0)
		return r;
	r = read_all(v, err);
	if (r < 0)
		boot_view_close(v, NULL);
	v->facts.env = &v->env;
	v->facts.past = &v->past;
	return r;
}

static bool is_trial_boot(const struct root *root)
{
	cleanup_free char *cmdline = NULL;

	return read_attr(root, &cmdline, NULL, "/proc/cmdline") == 0 && trial_on_line(cmdline);
}

/* A trial that GRUB has passed by, or that died, is forgiven, too; one that runs is judged. */
int boot_forgive(const struct root *root, struct err *err)
{
	struct boot_view v;
	int r = open_files(root, &v, err);

	if (r < 0)
		return r;
	attempts_forgive_all(&v.past);
	v.env.reboots = 0;
	if (v.env.try_ != ENV_TAKEN || !is_trial_boot(root))
		v.env.try_ = ENV_NONE;
	return close_view(&v, store(&v, false, err), err);
}

static bool has_args(const struct boot_env *env)
{
	return *env_slot(env, env->good) || env->try_ != ENV_NONE;
}

/* GRUB's count is on the line, so that it would lock a disk that is sealed to the line. */
static int expect_kernel(struct boot_view *v, const char *release, struct err *err)
{
	cleanup_free char *sealed = NULL;

	if (v->facts.absent)
		return 0;
	sealed = seal_why_refused(v->want.root);
	if (sealed)
		return *v->damage || has_args(&v->env)
			       ? err_set(err, -EPERM, "boots are not counted: %s", sealed)
			       : 0;
	if (*v->damage)
		return err_set(err, -EBADMSG, "%s. `railhead kargs --reset` writes the file again",
			       v->damage);
	trial_expect_kernel(&v->facts, release);
	return store(v, false, err);
}

int boot_expect_kernel(const struct root *root, const char *release, struct err *err)
{
	struct boot_view v;
	int r = open_files(root, &v, err);

	if (r == 0)
		r = close_view(&v, expect_kernel(&v, release, err), err);
	return r;
}

int boot_leave_unjudged(const struct root *root, const struct node *node, struct err *err)
{
	struct boot_view v;
	int r = open_files(root, &v, err);

	if (r < 0)
		return r;
	read_boot(root, &v);
	v.facts.kernel = v.kernel;
	v.facts.cmdline = node->cmdline;
	trial_reach_verdict(&v.facts);
	r = store(&v, true, err);
	if (r >= 0 && v.env.try_ == ENV_TAKEN && trial_on_line(node->cmdline))
		r = note_verdict(root, err);
	return close_view(&v, r, err);
}

int boot_note_end(const struct root *root, const char *end, struct err *err)
{
	if (!boot_is_of_machine(root) || service_trial_is_over(root) || !is_trial_boot(root))
		return 0;
	return note_end(root, end, err);
}

int boot_note_left(const struct root *root, struct err *err)
{
	cleanup_attempts struct attempts past = {0};
	char boot[37];
	int r = attempts_read(root, &past, err);

	state_boot_id(root, boot);
	if (r < 0 || !past.armed || !streq(past.boot, boot))
		return r;
	return note_end(root, "left", err);
}

int boot_env_reset(const struct root *root, char **ret_path, struct err *err)
{
	cleanup_free char *sealed = NULL;
	struct boot_view v;
	int r = open_files(root, &v, err);

	if (r < 0)
		return r;
	/* The mark of a good slot goes from the line, too. */
	if (*v.damage || v.env.good != ENV_NONE || v.env.try_ != ENV_NONE)
		sealed = seal_why_refused(root);
	if (sealed)
		return close_view(&v, err_set(err, -EPERM, "nothing is reset: %s", sealed), err);
	v.renew = v.make;
	/* The slots stay, because a boot that goes on has its args from one of them. */
	if (*v.damage)
		memcpy(v.env.slot, v.seen.slot, sizeof(v.env.slot));
	if (!v.facts.absent)
		v.env.good = ENV_NONE;
	v.env.try_ = v.env.begun = ENV_NONE;
	v.env.reboots = 0;
	attempts_free(&v.past);
	r = store(&v, true, err);
	if (r >= 0 && ret_path)
		*ret_path = xstrdup(v.part.path);
	return close_view(&v, r < 0 ? r : 0, err);
}
