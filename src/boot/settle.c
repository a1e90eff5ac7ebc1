/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/settle.h"

#include "base/mem.h"
#include "base/str.h"
#include "boot/counters.h"
#include "boot/health.h"
#include "boot/view.h"
#include "boot/witness.h"
#include "sys/state.h"

#define COUNTED "healthy" /* in STATE_DIR: railhead_healthy has counted this boot */

void settled_free(struct settled *s)
{
	strv_free(&s->failed);
	free(s->lack);
	free(s->counted);
	free(s->not_set_back);
	*s = (struct settled){0};
}

/* The state of one settlement. */
struct work {
	const struct root *root;
	const struct boot_view *v;
	const char *profile;
	const struct strv *failed; /* in this boot */
	char wanted[KARGS_HASH_LEN + 1];
	struct settled *out;
	bool held; /* the count of railhead's reboots forbids the reboot, and stays */
};

static struct health of_this_boot(const struct work *w, const char *args)
{
	struct health h = {.profile = xstrdup(w->profile), .kernel = xstrdup(w->v->id.kernel)};

	snprintf(h.args, sizeof(h.args), "%s", args);
	for (size_t i = 0; i < w->failed->n; i++)
		strv_add(&h.failed, w->failed->v[i]);
	return h;
}

static void hash_slot(const struct work *w, char slot, char ret[KARGS_HASH_LEN + 1])
{
	kargs_hash_line(env_slot(&w->v->env, slot), ret);
}

/* False: the record can't be kept, so the next boot can't compare with it. */
static bool keep(struct work *w, enum health_of which, const struct health *h)
{
	struct err err = {0};

	if (health_keep(w->root, which, h, &err) == 0)
		return true;
	free(w->out->lack);
	w->out->lack = xstrdup(err.text);
	return false;
}

/* --- this boot is the trial ------------------------------------------------------------------ */

static enum trial_health compare_trial(struct work *w)
{
	cleanup_health struct health mine = of_this_boot(w, w->wanted), before = {0};
	char good[KARGS_HASH_LEN + 1];

	if (!w->failed->n)
		return TRIAL_FIT;
	hash_slot(w, w->v->env.good, good);
	if (health_kept(w->root, HEALTH_BEFORE, w->profile, w->v->id.kernel, good, &before))
		return health_news(w->failed, &before.failed, &w->out->failed) ? TRIAL_UNFIT
									       : TRIAL_FIT;
	health_news(w->failed, &before.failed, &w->out->failed);
	/* Going back is useless if the next boot would know no more than this one. */
	return keep(w, HEALTH_OF_TRIAL, &mine) ? TRIAL_NOT_COMPARED : TRIAL_UNFIT;
}

/* --- this boot has the earlier args ---------------------------------------------------------- */

static enum trial_health compare_back(struct work *w)
{
	cleanup_health struct health trial = {0}, mine = {0};
	char args[KARGS_HASH_LEN + 1];

	if (health_kept(w->root, HEALTH_OF_TRIAL, w->profile, w->v->id.kernel, w->wanted, &trial) &&
	    health_news(&trial.failed, w->failed, &w->out->failed))
		return TRIAL_UNFIT;
	hash_slot(w, w->v->trial.slot, args);
	mine = of_this_boot(w, args);
	return keep(w, HEALTH_BEFORE, &mine) ? TRIAL_FIT : TRIAL_UNFIT;
}

/*
 * Keeps a record in case an operator reboots, or no args are on trial yet: a later trial then need
 * not go back.
 */
static void keep_before(struct work *w)
{
	const struct trial *t = &w->v->trial;
	cleanup_health struct health mine = {0};
	char args[KARGS_HASH_LEN + 1];

	if (!w->v->have_env || t->is_trial || t->slot == ENV_NONE ||
	    !(t->missing.n || t->dropped.n))
		return;
	hash_slot(w, t->slot, args);
	mine = of_this_boot(w, args);
	health_keep(w->root, HEALTH_BEFORE, &mine, NULL); /* if this fails, a trial goes back */
}

/* --- both ----------------------------------------------------------------------------------------
 */

/* Keeps the items for which the args are rejected, so that later boots can report them. */
static void keep_refusal(struct work *w)
{
	cleanup_health struct health h = of_this_boot(w, w->wanted);

	h.refused = true;
	strv_free(&h.failed);
	for (size_t i = 0; i < w->out->failed.n; i++)
		strv_add(&h.failed, w->out->failed.v[i]);
	health_keep(w->root, HEALTH_OF_TRIAL, &h, NULL); /* the journal has them, too */
}

/*
 * A gate run by hand in a boot that was counted does not count again. The mark comes first, because
 * losing one boot is better than counting it twice.
 */
static enum trial_health count_health(struct work *w)
{
	keep_before(w);
	if (w->failed->n || root_exists(w->root, STATE_DIR "/" COUNTED) ||
	    state_write(w->root, COUNTED, "this boot counts as healthy\n", NULL) < 0)
		return TRIAL_UNFIT;
	return TRIAL_FIT;
}

static void weigh(struct work *w, struct trial *t)
{
	enum trial_health health = TRIAL_FIT;

	if (t->note == NOTE_COMMIT)
		health = compare_trial(w);
	else if (t->note == NOTE_LOOKED_BACK)
		health = compare_back(w);
	else if (t->note == NOTE_HEALTHY)
		health = count_health(w);
	else
		keep_before(w);
	if (w->v->have_env)
		trial_weigh(&w->v->env, health, t);
	if (t->note == NOTE_UNFIT && health == TRIAL_NOT_COMPARED)
		w->out->lack = xstrdup("the result of the boot before is lost");
	w->out->note = t->note;
	w->out->trial = t->is_trial;
	w->out->reboot = t->reboot;
	if (t->note == NOTE_UNFIT)
		keep_refusal(w);
}

/* Asks whether the budget allows the reboot. The verdict makes a damaged count again. */
static void ask_witness(struct work *w)
{
	cleanup_witness struct witness now = {0};

	w->held = w->v->trial.decision == KARGS_HELD && !w->v->witness.lost;
	if (!w->out->reboot)
		return;
	witness_read(w->root, &now);
	w->out->counted = witness_why_held(&now);
	if (w->out->counted) {
		w->out->reboot = false;
		w->held = !now.lost;
	}
}

/*
 * Other programs' counters would count the reboot, and may then boot another system, so the change
 * of arguments waits for the next reboot.
 */
static void ask_counters(const struct root *root, struct boot_view *v, struct settled *ret)
{
	if (ret->reboot)
		ret->counted = counters_why_held(root, &v->part.counters);
	ret->reboot &= !ret->counted;
}

static int write_note(const struct root *root, const struct node *node, const struct kargs *wanted,
		      enum trial_note note, struct err *err)
{
	struct boot_view v;
	int r, closed;

	r = boot_view_open(root, node, wanted, true, false, &v, err);
	if (r < 0)
		return r;
	v.trial.note = note;
	r = trial_settle(v.part.dirfd, &v.trial, &v.id, err);
	closed = boot_view_close(&v, r < 0 ? NULL : err);
	return r < 0 ? r : closed < 0 ? closed : r;
}

int boot_settle(const struct root *root, const struct node *node, const struct kargs *wanted,
		const char *profile, const struct strv *failed, struct settled *ret,
		struct err *err)
{
	struct boot_view v;
	struct work w = {.root = root, .v = &v, .profile = profile, .failed = failed, .out = ret};
	struct err later = {0};
	int r;

	*ret = (struct settled){0};
	r = boot_view_open(root, node, wanted, false, false, &v, err);
	if (r < 0)
		return r;
	kargs_hash(wanted, w.wanted);
	weigh(&w, &v.trial);
	ask_witness(&w);
	ask_counters(root, &v, ret);
	ret->reboots = v.witness.lost ? 0 : v.witness.reboots;
	r = boot_view_close(&v, err);
	if (r == 0 && ret->note != NOTE_NONE)
		r = write_note(root, node, wanted, ret->note, err);
	if (r < 0)
		ret->reboot = false; /* a failed write may fail in each boot */
	else if (!ret->reboot && !w.held && witness_set_back(root, &ret->reboots, &later) < 0)
		ret->not_set_back = xstrdup(later.text);
	return r;
}
