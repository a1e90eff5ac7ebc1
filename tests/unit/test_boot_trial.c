/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one boot finds, decides and stores. Series of boots are in tests/histories, which drives the
 * same functions through all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/trial.h"

#define BARE "BOOT_IMAGE=/vmlinuz root=/dev/vda1 ro"
#define TRIAL_B " railhead.trial=b " ENV_TRIAL_EXTRA

struct boot {
	struct boot_env env, seen;
	struct attempts past;
	struct kargs wanted;
	struct trial_facts facts;
	struct trial trial;
	struct strv news;
};

static int boot_begin(void **state)
{
	struct boot *b = xnew(struct boot);

	env_init(&b->env);
	b->facts = (struct trial_facts){.wanted = &b->wanted,
					.cmdline = BARE " railhead.slot=a",
					.boot_id = "this-boot",
					.kernel = "6.1",
					.profile = "sku 1",
					.end = "",
					.env = &b->env,
					.seen = &b->seen,
					.past = &b->past};
	*state = b;
	return 0;
}

static int boot_end(void **state)
{
	struct boot *b = *state;

	trial_free(&b->trial);
	attempts_free(&b->past);
	kargs_free(&b->wanted);
	strv_free(&b->news);
	free(b);
	return 0;
}

static void want(struct boot *b, const char *line)
{
	kargs_free(&b->wanted);
	kargs_split(&b->wanted, line, NULL);
}

static void decides(struct boot *b, enum kargs_decision d, const char *why)
{
	trial_free(&b->trial);
	trial_arrive(&b->facts);
	trial_decide(&b->facts, &b->trial);
	if (b->trial.decision != d || !strstr(b->trial.why, why))
		fail_msg("%s: %s; expected %s: %s", kargs_decision_name(b->trial.decision),
			 b->trial.why, kargs_decision_name(d), why);
}

/* In an earlier boot a trial of slot b was armed, and GRUB took it. */
static void take_trial(struct boot *b, const char *args)
{
	want(b, args);
	decides(b, KARGS_ARM, "trial ");
	assert_int_equal(trial_arm(&b->facts, &b->trial, NULL), 0);
	assert_int_equal(b->env.try_, 'b');
	assert_true(b->past.armed);
	b->env.try_ = ENV_TAKEN;
	b->facts.boot_id = "another-boot";
}

static enum trial_result settle(struct boot *b, struct outcome *o)
{
	enum trial_result r;

	o->profile = "sku";
	strv_free(&b->news);
	r = trial_settle(&b->facts, &b->trial, o, &b->news);
	outcome_free(o);
	return r;
}

/* --- what a boot decides ---------------------------------------------------------------------- */

static void test_same(void **state)
{
	struct boot *b = *state;

	decides(b, KARGS_SAME, "all kernel arguments are in force");
	assert_int_equal(b->trial.note, NOTE_NONE);
	b->facts.absent = true;
	b->facts.cmdline = BARE;
	decides(b, KARGS_SAME, "all kernel arguments are in force");
}

static void test_arm(void **state)
{
	struct boot *b = *state;

	b->facts.absent = true;
	b->facts.cmdline = BARE;
	want(b, "a=1 iommu=pt");
	decides(b, KARGS_ARM, "kernel arguments differ (+a=1 +iommu=pt): trial 1 of 2");
	assert_int_equal(trial_arm(&b->facts, &b->trial, NULL), 0);
	assert_int_equal(b->env.good, 'a');
	assert_int_equal(b->env.try_, 'b');
	assert_string_equal(b->env.slot[1], "a=1 iommu=pt");
	b->facts.absent = false;
	decides(b, KARGS_ARMED, "a trial of slot b is armed");
	/* the profile changes before the reboot */
	want(b, "a=2");
	decides(b, KARGS_ARM, "+a=2");
	want(b, "");
	decides(b, KARGS_SAME, "in force");
	assert_int_equal(b->trial.note, NOTE_DROP);
	settle(b, &(struct outcome){0});
	assert_int_equal(b->env.try_, ENV_NONE);
	assert_false(b->past.armed);
}

/* It was killed while it took the arming back, or somebody changed a byte. */
static void test_half_armed(void **state)
{
	struct boot *b = *state;

	want(b, "a=1");
	decides(b, KARGS_ARM, "trial 1");
	trial_arm(&b->facts, &b->trial, NULL);
	trial_count_reboot(&b->facts);
	decides(b, KARGS_ARMED, "is armed");
	b->past.armed = false;
	decides(b, KARGS_ARM, "trial 1");
	b->past.armed = true;
	b->env.reboots = 0;
	decides(b, KARGS_ARM, "trial 1");
}

/* Good args that a profile no longer has are a difference, too. */
static void test_dropped(void **state)
{
	struct boot *b = *state;

	env_set_slot(&b->env, 'a', "a=1");
	b->facts.cmdline = BARE " a=1 railhead.slot=a";
	decides(b, KARGS_ARM, "kernel arguments differ (-a=1): trial 1 of 2");
}

static void test_args_that_cannot_travel(void **state)
{
	struct boot *b = *state;
	struct err err = {0};

	want(b, "a=b'c");
	decides(b, KARGS_ARM, "trial 1");
	assert_int_equal(trial_arm(&b->facts, &b->trial, &err), -EINVAL);
	assert_int_equal(b->env.try_, ENV_NONE);
}

static int adopt(struct boot *b, struct outcome *o)
{
	int r;

	o->profile = "sku";
	r = trial_adopt(&b->facts, &b->trial, o, NULL);
	outcome_free(o);
	return r;
}

static void test_adopt(void **state)
{
	struct boot *b = *state;

	want(b, "a=1");
	b->facts.cmdline = BARE " a=1 railhead.slot=a";
	decides(b, KARGS_ADOPT, "the next boot would not");
	b->past.armed = true; /* for a trial that no boot needs any more */
	assert_int_equal(adopt(b, &(struct outcome){.waits = true}), 0);
	assert_string_equal(b->env.slot[1], "");
	assert_int_equal(adopt(b, &(struct outcome){0}), 0);
	assert_int_equal(b->env.good, 'b');
	assert_string_equal(b->env.slot[1], "a=1");
	assert_int_equal(b->env.try_, ENV_NONE);
	assert_false(b->past.armed);
	/* nobody can store them */
	env_init(&b->env);
	b->facts.loader_why = "systemd-boot booted this machine";
	decides(b, KARGS_SAME, "they do not come from railhead (systemd-boot booted");
	assert_int_equal(adopt(b, &(struct outcome){0}), 0);
	assert_string_equal(b->env.slot[1], "");
}

/* Somebody typed them in GRUB's menu: a verdict decides, as at a trial. */
static void test_adopt_only_what_holds(void **state)
{
	struct boot *b = *state;
	struct outcome o = {0};

	want(b, "a=1");
	b->facts.cmdline = BARE " a=1 railhead.slot=a";
	decides(b, KARGS_ADOPT, "at its verdict");
	/* whether it held before is not known */
	attempts_add(&o.failed, "link/x");
	adopt(b, &o);
	assert_string_equal(b->env.slot[1], "");
	/* it held without them */
	b->facts.cmdline = BARE " railhead.slot=a";
	decides(b, KARGS_ARM, "trial 1");
	settle(b, &(struct outcome){.reboots = true});
	b->facts.cmdline = BARE " a=1 railhead.slot=a";
	decides(b, KARGS_ADOPT, "at its verdict");
	attempts_add(&o.failed, "link/x");
	adopt(b, &o);
	assert_string_equal(b->env.slot[1], "");
	/* they were refused in a trial */
	attempts_refuse(&b->past, &b->trial.now, REFUSAL_DIED);
	decides(b, KARGS_SAME, "a trial of them failed on this kernel");
	adopt(b, &(struct outcome){0});
	assert_string_equal(b->env.slot[1], "");
}

/* The kernel reads them alike, so nothing is written that no boot had. */
static void test_another_order(void **state)
{
	struct boot *b = *state;

	env_set_slot(&b->env, 'a', "a=1 b=2 c=3");
	b->facts.cmdline = BARE " railhead.args a=1 b=2 c=3 railhead.slot=a";
	want(b, "c=3 a=1 b=2");
	decides(b, KARGS_SAME, "in force");
	/* the last console is the one that init has */
	env_set_slot(&b->env, 'a', "console=tty0 console=ttyS0");
	b->facts.cmdline = BARE " railhead.args console=tty0 console=ttyS0 railhead.slot=a";
	want(b, "console=ttyS0 console=tty0");
	decides(b, KARGS_ADOPT, "the next boot would not");
}

static void test_damage(void **state)
{
	struct boot *b = *state;

	b->facts.damage = "railhead.env is damaged: 3 bytes long";
	decides(b, KARGS_ADOPT, "the gate updates railhead.env");
	want(b, "a=1");
	decides(b, KARGS_DAMAGED, "3 bytes long. `railhead kargs --reset`");
	b->facts.cmdline = BARE " a=1 railhead.slot=a";
	decides(b, KARGS_ADOPT, "the gate updates railhead.env");
	/* who does not store them says that the file stays as it is */
	b->facts.loader_why = "systemd-boot booted this machine";
	decides(b, KARGS_SAME,
		"booted this machine). But railhead.env is damaged: 3 bytes long. "
		"`railhead kargs --reset`");
	b->facts.loader_why = NULL;
	/* GRUB passed what a profile has dropped since */
	want(b, "");
	env_set_slot(&b->seen, 'a', "a=1");
	decides(b, KARGS_DAMAGED, "kernel arguments differ (-a=1)");
}

static void test_no_loader(void **state)
{
	struct boot *b = *state;

	want(b, "a=1");
	b->facts.loader_why = "GRUB can't write to md0";
	decides(b, KARGS_NO_LOADER, "GRUB can't write to md0. Wanted: a=1");
}

static void test_conflict(void **state)
{
	struct boot *b = *state;

	want(b, "a=1");
	b->facts.cmdline = BARE " railhead.slot=a a=2";
	decides(b, KARGS_CONFLICT, "the command line already has a=2, which railhead does not own");
}

static void test_line_too_long(void **state)
{
	struct boot *b = *state;
	cleanup_free char *line = xasprintf(BARE " quiet=%01990d railhead.slot=a", 1);

	want(b, "b=1");
	b->facts.cmdline = line;
	decides(b, KARGS_CONFLICT, "characters long, and the kernel cuts the line after 2047");
}

static void test_hold(void **state)
{
	struct boot *b = *state;

	want(b, "a=1");
	decides(b, KARGS_ARM, "trial 1");
	trial_hold(&b->trial, KARGS_COUNTED, "greenboot counts boots");
	assert_int_equal(b->trial.decision, KARGS_COUNTED);
	assert_non_null(strstr(b->trial.why, "(+a=1), and railhead does not reboot for "
					     "them: greenboot counts boots"));
}

/* --- GRUB did not do its part ----------------------------------------------------------------- */

static void test_passed_by(void **state)
{
	struct boot *b = *state;

	take_trial(b, "a=1");
	b->facts.cmdline = BARE;
	decides(b, KARGS_NOT_ARRIVED, "GRUB booted a menu entry without $railhead_kargs");
	assert_int_equal(b->env.try_, ENV_TAKEN); /* it may have been taken before */
	b->facts.cmdline = "root=/dev/vda1";
	decides(b, KARGS_NOT_ARRIVED, "GRUB did not bring it from this disk's railhead.env");
	/* /var/lib/railhead is lost: GRUB has taken what an earlier boot armed */
	attempts_free(&b->past);
	decides(b, KARGS_NOT_ARRIVED, "GRUB did not bring it from this disk's railhead.env");
}

/* The next boot has them, by the default entry: no trial is needed. */
static void test_good_passed_by(void **state)
{
	struct boot *b = *state;

	env_set_slot(&b->env, 'a', "a=1");
	want(b, "a=1");
	b->facts.cmdline = BARE;
	decides(b, KARGS_NOT_ARRIVED, "GRUB booted a menu entry without $railhead_kargs");
}

/* Before the first trial the file may be newer than this boot. */
static void test_not_passed_by(void **state)
{
	struct boot *b = *state;

	b->facts.cmdline = BARE;
	want(b, "a=1");
	decides(b, KARGS_ARM, "trial 1");
	/* a power cut before the file said that the trial is armed: GRUB may not have seen its name
	 */
	take_trial(b, "a=1");
	env_init(&b->env);
	decides(b, KARGS_ARM, "trial 1");
}

static void test_not_taken(void **state)
{
	struct boot *b = *state;

	take_trial(b, "a=1");
	b->env.try_ = 'b';
	/* after a power cut GRUB may have read an earlier file */
	decides(b, KARGS_ARM, "trial 1");
	b->facts.end = "left";
	decides(b, KARGS_NOT_ARRIVED, "GRUB read railhead.env, but took no trial");
	/* that verdict is not settled, because the trial may still come */
	trial_count_reboot(&b->facts);
	settle(b, &(struct outcome){0});
	assert_int_equal(b->past.reboots, 1);
	/* other args are tried */
	want(b, "a=2");
	decides(b, KARGS_ARM, "+a=2");
}

/* GRUB saw no file after a power cut: it has passed by nothing, also once the trial is withdrawn.
 */
static void test_not_seen(void **state)
{
	struct boot *b = *state;

	take_trial(b, "a=1");
	b->env.try_ = 'b';
	b->facts.cmdline = BARE;
	decides(b, KARGS_ARM, "+a=1");
	want(b, "a=2");
	decides(b, KARGS_ARM, "+a=2");
	settle(b, &(struct outcome){.reboots = true});
	assert_int_equal(b->env.try_, ENV_NONE);
	decides(b, KARGS_ARM, "+a=2");
}

/* --- a trial ---------------------------------------------------------------------------------- */

static void run_trial(struct boot *b)
{
	take_trial(b, "a=1");
	b->facts.cmdline = BARE TRIAL_B " a=1 railhead.slot=b";
	decides(b, KARGS_SAME, "all kernel arguments of the trial of slot b arrived");
	assert_int_equal(b->trial.note, NOTE_RUNS);
}

static void test_commit(void **state)
{
	struct boot *b = *state;

	run_trial(b);
	trial_count_reboot(&b->facts);
	assert_int_equal(settle(b, &(struct outcome){.waits = true}), TRIAL_NONE);
	assert_int_equal(b->env.try_, ENV_TAKEN);
	assert_int_equal(b->env.reboots, 1);
	assert_int_equal(settle(b, &(struct outcome){0}), TRIAL_COMMITTED);
	assert_int_equal(b->env.good, 'b');
	assert_int_equal(b->env.try_, ENV_NONE);
	assert_int_equal(b->env.reboots, 0);
	assert_int_equal(b->past.reboots, 0);
	assert_false(b->past.armed);
	/* the line still has the mark of the trial */
	decides(b, KARGS_SAME, "all kernel arguments are in force");
	assert_int_equal(b->trial.note, NOTE_NONE);
	want(b, "a=2");
	decides(b, KARGS_ARM, "+a=2 -a=1");
}

static void test_lost(void **state)
{
	struct boot *b = *state;

	take_trial(b, "a=1 b=1");
	b->facts.cmdline = BARE TRIAL_B " a=1 b=1 railhead.slot=b b=2";
	decides(b, KARGS_NOT_ARRIVED, "GRUB took slot b of railhead.env");
	assert_int_equal(settle(b, &(struct outcome){0}), TRIAL_LOST);
	assert_int_equal(b->env.try_, ENV_NONE);
	b->facts.cmdline = BARE " railhead.slot=a";
	decides(b, KARGS_NOT_ARRIVED, "were not in force in their trial");
	b->facts.kernel = "6.9";
	decides(b, KARGS_ARM, "trial 1 of 2");
}

/* One did not even come to the line: the trial has not died for that. */
static void test_lost_on_the_way(void **state)
{
	struct boot *b = *state;

	take_trial(b, "a=1 b=1");
	b->facts.cmdline = BARE TRIAL_B " a=1 railhead.slot=b";
	decides(b, KARGS_NOT_ARRIVED, "did not arrive (+b=1): GRUB took slot b of railhead.env");
	assert_int_equal(b->past.deaths, 0);
	assert_int_equal(settle(b, &(struct outcome){0}), TRIAL_LOST);
}

static void test_superseded(void **state)
{
	struct boot *b = *state;

	run_trial(b);
	want(b, "a=2");
	decides(b, KARGS_NEXT_BOOT, "while others are on trial in this boot");
	assert_int_equal(settle(b, &(struct outcome){0}), TRIAL_NONE);
	assert_int_equal(b->env.try_, ENV_NONE);
	decides(b, KARGS_NEXT_BOOT, "this boot had others on trial");
	b->facts.cmdline = BARE " railhead.slot=a";
	decides(b, KARGS_ARM, "+a=2");
}

/* A backup came back in the trial: no verdict about its args is in the file. */
static void test_replaced(void **state)
{
	struct boot *b = *state;

	run_trial(b);
	env_init(&b->env);
	decides(b, KARGS_SAME, "the file was replaced since");
	assert_int_equal(settle(b, &(struct outcome){0}), TRIAL_NONE);
	assert_string_equal(env_slot(&b->env, b->env.good), "");
}

static void test_deaths(void **state)
{
	struct boot *b = *state;

	for (int i = 1; i <= 2; i++) {
		take_trial(b, "a=1");
		trial_arrive(&b->facts);
		assert_int_equal(b->env.try_, ENV_NONE);
		assert_int_equal(b->past.deaths, i);
		assert_false(b->past.armed);
		/* a power cut before railhead.env was written: counted once */
		b->env.try_ = ENV_TAKEN;
		trial_arrive(&b->facts);
		assert_int_equal(b->past.deaths, i);
		if (i == 1)
			decides(b, KARGS_ARM, "trial 2 of 2");
	}
	decides(b, KARGS_REJECTED, "REJECTED on kernel 6.1 (+a=1): 2 trial boots with them died");
	b->facts.end = "timer";
	decides(b, KARGS_REJECTED, "died, the last by the trial's timer");
	/* another kernel, another version of the profile, other args */
	b->facts.kernel = "6.9";
	decides(b, KARGS_ARM, "trial 1 of 2");
	b->facts.kernel = "6.1";
	b->facts.profile = "sku 2";
	decides(b, KARGS_ARM, "trial 1 of 2");
	b->facts.profile = "sku 1";
	want(b, "a=2");
	decides(b, KARGS_ARM, "trial 1 of 2");
	want(b, "a=1");
	decides(b, KARGS_REJECTED, "REJECTED");
	attempts_forgive_all(&b->past);
	decides(b, KARGS_ARM, "trial 1 of 2");
}

/*
 * Another kernel was installed between the arming and the reboot, or after it: nobody knows on
 * which of the two the trial died.
 */
static void test_deaths_on_two_kernels(void **state)
{
	struct boot *b = *state;

	take_trial(b, "a=1");
	b->facts.kernel = "6.9";
	decides(b, KARGS_ARM, "trial 2 of 2");
	take_trial(b, "a=1");
	decides(b, KARGS_REJECTED, "REJECTED on kernel 6.9 (+a=1): 2 trial boots with them died");
	b->facts.kernel = "6.1";
	decides(b, KARGS_ARM, "trial 1 of 2");
	/* the operator goes back to the older kernel, without another boot of the newer one */
	attempts_forgive_all(&b->past);
	b->facts.kernel = "6.9";
	take_trial(b, "a=1");
	decides(b, KARGS_ARM, "trial 2 of 2");
	take_trial(b, "a=1");
	b->facts.kernel = "6.1";
	decides(b, KARGS_ARM, "trial 1 of 2");
}

/* An orderly shutdown, or a verdict that could not judge them, is no death. */
static void test_no_death(void **state)
{
	static const char *const ends[] = {"stop", "verdict", "word of a later version"};
	struct boot *b = *state;

	for (size_t i = 0; i < array_len(ends); i++) {
		take_trial(b, "a=1");
		b->facts.end = ends[i];
		decides(b, KARGS_ARM, "trial 1 of 2");
		assert_int_equal(b->past.deaths, 0);
	}
}

static void test_budget(void **state)
{
	struct boot *b = *state;

	want(b, "a=1");
	for (unsigned int i = 1; i <= REBOOTS_MAX; i++) {
		assert_true(trial_count_reboot(&b->facts));
		assert_int_equal(b->env.reboots, i);
		assert_int_equal(b->past.reboots, i);
		/* one of the two is lost */
		if (i % 2)
			b->past.reboots = 0;
		else
			b->env.reboots = 0;
	}
	assert_false(trial_count_reboot(&b->facts));
	decides(b, KARGS_HELD, "3 reboots with no settled verdict in between");
	/* a verdict that this very budget held back settles nothing */
	settle(b, &(struct outcome){0});
	decides(b, KARGS_HELD, "3 reboots");
}

/* --- what failed ------------------------------------------------------------------------------ */

static void list(struct strv *l, const char *words)
{
	cleanup_free char *copy = xstrdup(words);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			strv_add(l, word);
}

struct results {
	const char *failed, *missed, *held, *up;
};

static struct outcome outcome(const struct results *r)
{
	struct outcome o = {0};

	list(&o.failed, or_empty(r->failed));
	list(&o.missed, or_empty(r->missed));
	list(&o.held, or_empty(r->held));
	list(&o.up, or_empty(r->up));
	return o;
}

/* The results of a boot without the args, and of one with them: the news. */
static void compare(struct boot *b, struct results before, struct results with, const char *news)
{
	struct outcome o = outcome(&before);
	enum trial_result r;

	want(b, "");
	decides(b, KARGS_SAME, "");
	settle(b, &o);
	run_trial(b);
	o = outcome(&with);
	r = settle(b, &o);
	assert_int_equal(r, *news ? TRIAL_UNFIT : TRIAL_COMMITTED);
	assert_int_equal(b->news.n != 0, *news != 0);
	if (*news)
		assert_string_equal(b->news.v[0], news);
}

#define COMPARE(name, news, before, with)                                            \
	static void test_##name(void **state)                                        \
	{                                                                            \
		compare(*state, (struct results)before, (struct results)with, news); \
	}
#define R(...)              \
	{                   \
		__VA_ARGS__ \
	}
COMPARE(look_fails, "sysctl/x", R(0), R(.failed = "sysctl/x"))
COMPARE(look_failed_before, "", R(.failed = "sysctl/x"), R(.failed = "sysctl/x"))
COMPARE(measurement_fails, "gate/m", R(.held = "gate/m"), R(.missed = "gate/m"))
COMPARE(measurement_failed_before, "", R(.missed = "gate/m"), R(.missed = "gate/m"))
COMPARE(measurement_is_new, "", R(0), R(.missed = "gate/m"))
COMPARE(carrier_goes, "carrier/0000:41:00.0", R(.up = "0000:41:00.0 0000:42:00.0"),
	R(.up = "0000:42:00.0"))
COMPARE(carrier_was_down, "", R(.up = "0000:42:00.0"), R(.up = "0000:42:00.0"))

static void test_unfit(void **state)
{
	struct boot *b = *state;

	compare(b, (struct results){0}, (struct results){.failed = "sysctl/x"}, "sysctl/x");
	assert_int_equal(b->env.try_, ENV_NONE);
	assert_int_equal(b->env.good, 'a');
	decides(b, KARGS_UNFIT,
		"sysctl/x failed in a trial with them on kernel 6.1, and held "
		"before; the next boot has the earlier arguments");
	b->facts.cmdline = BARE " railhead.slot=a";
	decides(b, KARGS_UNFIT, "REFUSED (+a=1): sysctl/x failed");
	/* the trial is not what the next one is compared with */
	assert_int_equal(b->past.before.failed.n, 0);
}

/* The verdict before was of another kernel, or its record is lost. */
static void test_unknown(void **state)
{
	struct boot *b = *state;
	struct outcome o = outcome(&(struct results){.failed = "sysctl/x"});

	run_trial(b);
	assert_int_equal(settle(b, &o), TRIAL_UNKNOWN);
	assert_int_equal(b->env.try_, ENV_NONE);
	assert_int_equal(b->env.good, 'a');
	assert_int_equal(b->past.refused.n, 0);
	b->facts.cmdline = BARE " railhead.slot=a";
	decides(b, KARGS_ARM, "trial 1 of 2");
}

/* While a trial is armed nothing is measured, and carriers may not be up yet: what held holds. */
static void test_before_a_reboot(void **state)
{
	struct boot *b = *state;
	struct outcome o = outcome(&(struct results){.held = "gate/m", .up = "0000:41:00.0"});

	decides(b, KARGS_SAME, "");
	settle(b, &o);
	want(b, "a=1");
	decides(b, KARGS_ARM, "");
	o = outcome(&(struct results){.failed = "sysctl/x", .up = "0000:42:00.0"});
	o.reboots = true;
	settle(b, &o);
	assert_int_equal(b->past.before.failed.n, 1);
	assert_true(strv_contains(&b->past.before.held, "gate/m"));
	assert_true(strv_contains(&b->past.before.up, "0000:41:00.0"));
	assert_true(strv_contains(&b->past.before.up, "0000:42:00.0"));
}

/* A boot whose trial is over is like any other: what fails then is no fault of the next args. */
static void test_before_after_a_trial(void **state)
{
	struct boot *b = *state;
	struct outcome o = outcome(&(struct results){.failed = "sysctl/x"});

	run_trial(b);
	settle(b, &(struct outcome){0});
	want(b, "a=2");
	decides(b, KARGS_ARM, "");
	o.reboots = true;
	settle(b, &o);
	assert_true(strv_contains(&b->past.before.failed, "sysctl/x"));
}

/* --- another kernel --------------------------------------------------------------------------- */

static void test_new_kernel(void **state)
{
	struct boot *b = *state;

	env_set_slot(&b->env, 'a', "a=1");
	want(b, "a=1");
	trial_expect_kernel(&b->facts, "6.9");
	assert_int_equal(b->env.begun, '0');
	/* the old kernel once more */
	b->env.begun = '1';
	b->facts.cmdline = BARE " railhead.begun=1 panic=30 a=1 railhead.slot=a";
	decides(b, KARGS_SAME, "in force");
	settle(b, &(struct outcome){.waits = true});
	assert_int_equal(b->env.begun, '0');
	assert_string_equal(b->past.new_kernel, "6.9");
	/* the new one */
	b->env.begun = '1';
	b->facts.kernel = "6.9";
	settle(b, &(struct outcome){.waits = true});
	assert_int_equal(b->env.begun, ENV_NONE);
	assert_null(b->past.new_kernel);
}

/* A menu entry without the variable, or the trial of others, shows nothing about the good args. */
static void test_new_kernel_without_the_args(void **state)
{
	static const char *const lines[] = {BARE, BARE TRIAL_B " a=2 railhead.slot=b"};
	struct boot *b = *state;

	env_set_slot(&b->env, 'a', "a=1");
	env_set_slot(&b->env, 'b', "a=2");
	want(b, "a=2");
	trial_expect_kernel(&b->facts, "6.1");
	b->env.begun = '1';
	b->env.try_ = ENV_TAKEN;
	for (size_t i = 0; i < array_len(lines); i++) {
		b->facts.cmdline = lines[i];
		trial_decide(&b->facts, &b->trial);
		settle(b, &(struct outcome){.waits = true});
		assert_int_equal(b->env.begun, '1');
		trial_free(&b->trial);
	}
	/* it becomes good */
	trial_decide(&b->facts, &b->trial);
	assert_int_equal(settle(b, &(struct outcome){0}), TRIAL_COMMITTED);
	assert_int_equal(b->env.begun, ENV_NONE);
	/* they are in another slot since the boot began */
	trial_expect_kernel(&b->facts, "6.1");
	b->facts.cmdline = BARE " a=2 railhead.slot=a";
	trial_reach_verdict(&b->facts);
	assert_int_equal(b->env.begun, ENV_NONE);
}

static void test_left_out(void **state)
{
	struct boot *b = *state;

	env_set_slot(&b->env, 'a', "a=1");
	env_set_slot(&b->env, 'b', "old=1");
	want(b, "a=1");
	trial_expect_kernel(&b->facts, "6.9");
	b->env.begun = '2';
	b->facts.kernel = "6.9";
	b->facts.cmdline = BARE " railhead.slot=-a";
	decides(b, KARGS_ARM, "trial 2 of 2; GRUB left the earlier arguments out of this boot");
	assert_int_equal(b->env.good, 'b');
	assert_string_equal(b->env.slot[1], "");
	assert_int_equal(b->env.begun, ENV_NONE);
	assert_int_equal(b->trial.dropped.n, 0);
	/* the same line, once the file says so */
	decides(b, KARGS_ARM, "trial 2 of 2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, boot_begin, boot_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_same),
		TEST(test_arm),
		TEST(test_half_armed),
		TEST(test_dropped),
		TEST(test_args_that_cannot_travel),
		TEST(test_adopt),
		TEST(test_adopt_only_what_holds),
		TEST(test_another_order),
		TEST(test_damage),
		TEST(test_no_loader),
		TEST(test_conflict),
		TEST(test_line_too_long),
		TEST(test_hold),
		TEST(test_passed_by),
		TEST(test_good_passed_by),
		TEST(test_not_passed_by),
		TEST(test_not_taken),
		TEST(test_not_seen),
		TEST(test_commit),
		TEST(test_lost),
		TEST(test_lost_on_the_way),
		TEST(test_superseded),
		TEST(test_replaced),
		TEST(test_deaths),
		TEST(test_deaths_on_two_kernels),
		TEST(test_no_death),
		TEST(test_budget),
		TEST(test_look_fails),
		TEST(test_look_failed_before),
		TEST(test_measurement_fails),
		TEST(test_measurement_failed_before),
		TEST(test_measurement_is_new),
		TEST(test_carrier_goes),
		TEST(test_carrier_was_down),
		TEST(test_unfit),
		TEST(test_unknown),
		TEST(test_before_a_reboot),
		TEST(test_before_after_a_trial),
		TEST(test_new_kernel),
		TEST(test_new_kernel_without_the_args),
		TEST(test_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
