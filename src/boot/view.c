/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/ends.h"
#include "boot/health.h"
#include "boot/mode.h"
#include "boot/pstore.h"
#include "boot/seal.h"
#include "boot/service.h"
#include "profile/site.h"
#include "sys/read.h"

/* GRUB is more lenient than we are, so find the args that it would give to the next boot. */
static void read_damaged(struct boot_view *v)
{
	cleanup_free char *text = NULL;
	size_t len;

	if (env_read_bytes(v->part.dirfd, &text, &len, NULL) == 0)
		env_grub_read(text, len, !v->part.no_trial_why, &v->grub);
}

static int read_env(struct boot_view *v, struct err *err)
{
	struct err why = {0};
	int r = v->part.dirfd < 0 ? -ENOENT : env_read(v->part.dirfd, &v->env, &why);

	/* A file that can be mended counts as the file that was written. */
	v->have_env = r >= 0;
	if (r == -EBADMSG) {
		snprintf(v->env_damage, sizeof(v->env_damage), "%s", why.text);
		read_damaged(v);
	} else if (r < 0 && r != -ENOENT) {
		return err_set(err, r, "%s", why.text);
	}
	return 0;
}

/* The file has the time of the last write, which was the arming. */
static void look_for_panic(const struct root *root, const char *cmdline, struct boot_env *env)
{
	if (env->try_ == ENV_TAKEN && !trial_on_line(cmdline) &&
	    pstore_has_panic(root, env->state.time))
		ends_note(env->ends, ENV_END_PANIC);
}

/* Adds the items that failed in the trial, if the record is there; the initramfs has no records. */
static void name_items(const struct root *root, const struct kargs *wanted, struct boot_view *v)
{
	cleanup_free char *was = v->trial.why, *names = NULL;
	cleanup_health struct health h = {0};
	char args[KARGS_HASH_LEN + 1];

	kargs_hash(wanted, args);
	v->trial.why = NULL;
	if (health_kept(root, HEALTH_OF_TRIAL, NULL, v->id.kernel, args, &h) && h.refused &&
	    h.failed.n)
		names = strv_some(&h.failed, HEALTH_NAMED);
	v->trial.why = names ? xasprintf("%s. Failed in the trial: %s", was, names) : xstrdup(was);
}

/* Reads the site's setting only if args were rejected. */
static unsigned int retry_after(const struct root *root, const struct boot_view *v)
{
	struct diags diags = {0};
	struct site site;

	if (!v->have_env || (!v->env.state.n_refused && !v->env.state.deaths))
		return 0;
	site_load(root, &site, &diags); /* the first reader reports errors */
	diags_free(&diags);
	return site.retry_after;
}

/* Takes over why, which may be NULL. */
static void hold(struct boot_view *v, enum kargs_decision as, char *why)
{
	if (!why)
		return;
	v->held = why;
	v->facts.held = why;
	v->facts.held_as = as;
	trial_free(&v->trial);
	trial_decide(&v->facts, &v->trial);
}

/* --retry sets the count back, so the witness is not asked. */
static void ask_witness(const struct root *root, bool retry, struct boot_view *v)
{
	cleanup_free char *was = NULL;

	if (v->trial.armed || retry)
		return;
	witness_read(root, &v->witness);
	hold(v, KARGS_HELD, witness_why_held(&v->witness));
	if (!v->held && v->witness.reboots) {
		was = v->trial.why;
		v->trial.why = xasprintf("%s; reboots by railhead since the last verdict: %u of at "
					 "most %d%s%s",
					 was, v->witness.reboots, REBOOTS_MAX,
					 v->witness.damage ? "; " : "",
					 v->witness.damage ? v->witness.damage : "");
	}
}

/* Asks what may forbid a reboot, or another line, only where these would follow. */
static void ask_others(const struct root *root, bool retry, struct boot_view *v)
{
	if (v->trial.decision == KARGS_WRITE_AND_REBOOT)
		ask_witness(root, retry, v);
	if (v->trial.decision == KARGS_WRITE_AND_REBOOT)
		hold(v, KARGS_COUNTED, counters_why_held(root, &v->part.counters));
	if (v->trial.decision == KARGS_WRITE_AND_REBOOT ||
	    v->trial.decision == KARGS_WRITE_NO_REBOOT)
		hold(v, KARGS_SEALED, seal_why_refused(root));
}

int boot_view_open(const struct root *root, const struct node *node, const struct kargs *wanted,
		   bool write, bool retry, struct boot_view *ret, struct err *err)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = bootpart_open(root, write, &ret->part, err);
	if (r < 0)
		return err_wrap(err, "boot partition");
	boot_id_read(root, &ret->id);
	r = read_env(ret, err);
	if (r < 0) {
		err_wrap(err, "%s", ret->part.path ? ret->part.path : ENV_FILE_NAME);
		bootpart_close(&ret->part, NULL);
		return r;
	}
	if (ret->have_env)
		look_for_panic(root, node->cmdline, &ret->env);
	ret->facts = (struct trial_facts){
		.wanted = wanted,
		.cmdline = node->cmdline,
		.env = ret->have_env ? &ret->env : NULL,
		.env_damage = *ret->env_damage ? ret->env_damage : NULL,
		.env_gives = ret->grub.kargs,
		.loader_ok = ret->part.loader == LOADER_GRUB,
		.loader_why = ret->part.loader_why,
		.loader_parses = ret->part.parses_value,
		.no_trial_why = ret->part.no_trial_why,
		.boot_id = ret->id.id,
		.kernel = ret->id.kernel,
		.retry = retry,
		.retry_after = retry_after(root, ret),
	};
	trial_decide(&ret->facts, &ret->trial);
	ask_others(root, retry, ret);
	if (ret->trial.decision == KARGS_UNFIT)
		name_items(root, wanted, ret);
	return 0;
}

int boot_view_close(struct boot_view *v, struct err *err)
{
	trial_free(&v->trial);
	witness_free(&v->witness);
	free(v->held);
	return bootpart_close(&v->part, err);
}

/* --- first thing in a boot -------------------------------------------------------------------
 */

static int arrived(const struct root *root, struct arrival a, struct err *err)
{
	struct bootpart part;
	struct boot_id id;
	int r, closed;
	bool due;

	if (bootpart_open(root, false, &part, NULL) < 0)
		return 0;
	a.counts = !part.no_trial_why;
	due = trial_arrival_is_due(part.dirfd, &a);
	bootpart_close(&part, NULL);
	if (!due)
		return 0;
	r = bootpart_open(root, true, &part, err);
	if (r < 0)
		return r;
	boot_id_read(root, &id);
	a.counts = !part.no_trial_why;
	r = trial_arrived(part.dirfd, &a, &id, err);
	if (r < 0)
		err_wrap(err, "%s", part.path);
	closed = bootpart_close(&part, r < 0 ? NULL : err);
	return closed < 0 && r >= 0 ? closed : r;
}

int boot_arrived(const struct root *root, bool in_root, struct err *err)
{
	cleanup_free char *cmdline = NULL;
	struct err later = {0};
	struct arrival a = {0};
	int r, noted = 0;

	if (!boot_is_of_machine(root) || read_attr(root, &cmdline, NULL, "/proc/cmdline") < 0)
		return 0;
	a.cmdline = cmdline;
	a.alone = boot_mode(root, cmdline, NULL) != BOOT_NORMAL;
	a.in_root = in_root || a.alone;
	r = arrived(root, a, err);
	if (a.alone)
		noted = boot_ended(root, ENV_END_ALONE, r < 0 ? &later : err);
	return noted < 0 && r >= 0 ? noted : r;
}

/* 1: a note was due, and was written if write is set. */
static int ended(const struct root *root, const char *cmdline, enum env_end end, bool write,
		 struct err *err)
{
	struct bootpart part;
	int r = bootpart_open(root, write, &part, err), closed;

	if (r < 0)
		return r;
	r = trial_ended(part.dirfd, cmdline, end, write, err);
	if (r < 0)
		err_wrap(err, "%s", part.path);
	closed = bootpart_close(&part, r < 0 ? NULL : err);
	return closed < 0 && r >= 0 ? closed : r;
}

int boot_ended(const struct root *root, enum env_end end, struct err *err)
{
	cleanup_free char *cmdline = NULL;

	if (!boot_is_of_machine(root) || service_trial_is_over(root) ||
	    read_attr(root, &cmdline, NULL, "/proc/cmdline") < 0 ||
	    ended(root, cmdline, end, false, NULL) <= 0)
		return 0;
	return ended(root, cmdline, end, true, err);
}

int boot_env_reset(const struct root *root, char **ret_path, struct err *err)
{
	struct env_plan plan;
	struct bootpart part;
	struct boot_env env;
	struct boot_id id;
	int r = witness_set_back(root, NULL, err), closed;

	if (r >= 0)
		r = bootpart_open(root, true, &part, err);
	if (r < 0)
		return r;
	boot_id_read(root, &id);
	if (part.dirfd < 0) {
		r = err_set(err, -ENOENT, "%s",
			    part.loader_why ? part.loader_why : "no directory of GRUB was found");
	} else {
		r = env_read(part.dirfd, &env, err);
		if (r == -ENOENT || r == -EBADMSG || r > 0) {
			r = env_create(root, part.dirfd, &id, &env, err);
		} else if (r == 0) {
			env_plan_reset(&env, &id, &plan);
			r = env_write(part.dirfd, &plan, err);
		}
	}
	if (r == 0 && ret_path)
		*ret_path = xstrdup(part.path);
	closed = bootpart_close(&part, r < 0 ? NULL : err);
	return r < 0 ? r : closed;
}
