/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/trial.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* COMMAND_LINE_SIZE of x86 and arm64; the kernel cuts longer lines without a message. */
enum { CMDLINE_MAX = 2047 };
enum { ARGS_TEXT_MAX = 400 }; /* of a text, below ERR_TEXT_MAX with all the rest of it */

#define MARK_SLOT "railhead.slot"
#define MARK_TRIAL "railhead.trial"

#define REMEDY_RETRY \
	"Change the arguments in the profile and its version, or run `railhead apply --retry`"
#define REMEDY_RESET "`railhead kargs --reset` writes the file again"

const char *kargs_decision_name(enum kargs_decision d)
{
	static const char *const names[] = {
		[KARGS_SAME] = "same",
		[KARGS_ARM] = "reboot",
		[KARGS_ARMED] = "armed",
		[KARGS_ADOPT] = "write",
		[KARGS_NOT_ARRIVED] = "not-arrived",
		[KARGS_NEXT_BOOT] = "next-boot",
		[KARGS_REJECTED] = "rejected",
		[KARGS_UNFIT] = "unfit",
		[KARGS_CONFLICT] = "conflict",
		[KARGS_NO_LOADER] = "no-loader",
		[KARGS_DAMAGED] = "damaged",
		[KARGS_COUNTED] = "counted",
		[KARGS_SEALED] = "sealed",
		[KARGS_HELD] = "held",
		[KARGS_NO_GATE] = "no-gate",
	};

	return names[d];
}

bool kargs_decision_reboots(enum kargs_decision d)
{
	return d == KARGS_ARM || d == KARGS_ARMED;
}

void trial_free(struct trial *t)
{
	free(t->why);
	kargs_free(&t->missing);
	kargs_free(&t->dropped);
	kargs_free(&t->conflicts);
	kargs_free(&t->owned);
	free(t->now.kernel);
	free(t->now.profile);
	*t = (struct trial){0};
}

static void __attribute__((format(printf, 3, 4)))
decide(struct trial *t, enum kargs_decision d, const char *fmt, ...)
{
	char *before = t->why;
	va_list ap;

	va_start(ap, fmt);
	t->why = xvasprintf(fmt, ap);
	va_end(ap);
	free(before);
	t->decision = d;
}

void trial_keep(struct trial *t, const char *why)
{
	decide(t, KARGS_SAME,
	       "all kernel arguments are in force; they do not come from railhead (%s)", why);
}

/* --- what the line and the records say ------------------------------------------------------- */

static bool slot_is(const struct boot_env *env, char slot, const struct kargs *wanted)
{
	cleanup_kargs struct kargs l = {0};

	kargs_split(&l, env_slot(env, slot), NULL);
	return kargs_same(&l, wanted);
}

static char slot_of_mark(const char *cmdline, const char *mark, const char *before)
{
	cleanup_free char *value = kargs_value(cmdline, mark);
	size_t len = strlen(before);

	return value && str_starts(value, before) && strlen(value) == len + 1 &&
			       env_slot_index(value[len]) >= 0
		       ? value[len]
		       : ENV_NONE;
}

bool trial_on_line(const char *cmdline)
{
	cleanup_free char *trial = kargs_value(cmdline, MARK_TRIAL);

	return trial;
}

/* GRUB read the file for this boot, and put its mark on the line. */
static bool has_mark(const char *cmdline)
{
	return slot_of_mark(cmdline, MARK_SLOT, "") != ENV_NONE ||
	       slot_of_mark(cmdline, MARK_SLOT, ENV_LEFT_OUT) != ENV_NONE;
}

/*
 * This boot is the trial that GRUB took. After its verdict the line still has the mark, and the
 * file may have been replaced since, as by a backup. An argument may not have come to the line.
 */
static bool is_trial(const struct trial_facts *f)
{
	char slot = slot_of_mark(f->cmdline, MARK_TRIAL, "");
	cleanup_kargs struct kargs owned = {0}, others = {0};

	if (slot == ENV_NONE || f->env->try_ != ENV_TAKEN || slot != env_free_slot(f->env) ||
	    !kargs_between_marks(f->cmdline, &owned))
		return false;
	kargs_missing(&owned, env_slot(f->env, slot), &others);
	return others.n == 0;
}

/*
 * The args of this boot came by a trial, and nobody made them good: it is over, or the file knows
 * nothing of it.
 */
static bool is_unjudged_trial(const struct trial_facts *f)
{
	cleanup_kargs struct kargs owned = {0};

	return trial_on_line(f->cmdline) && !is_trial(f) &&
	       !(kargs_between_marks(f->cmdline, &owned) && slot_is(f->env, f->env->good, &owned));
}

static void name_attempt(const struct trial_facts *f, const char *line, struct attempt *ret)
{
	kargs_hash_line(line, ret->hash);
	ret->kernel = xstrdup(f->kernel);
	ret->profile = xstrdup(f->profile);
}

static void attempt_clear(struct attempt *a)
{
	free(a->kernel);
	free(a->profile);
}

/* --- arrival --------------------------------------------------------------------------------- */

/* One trial of the last attempt has died: the last of TRIALS_MAX refuses it. */
static void count_death(struct attempts *past)
{
	past->armed = false;
	if (++past->deaths >= TRIALS_MAX)
		attempts_refuse(past, &past->last, REFUSAL_DIED);
}

/*
 * The record says what was armed. Without it, as on a root that forgets, the death counts for what
 * is tried next, if it is the same.
 */
static void arrive_after_trial(const struct trial_facts *f)
{
	struct attempts *past = f->past;
	struct attempt tried = {0};

	f->env->try_ = ENV_NONE;
	if (!*past->last.hash) {
		name_attempt(f, env_slot(f->env, env_free_slot(f->env)), &tried);
		attempts_begin(past, &tried);
		past->armed = true;
		attempt_clear(&tried);
	}
	if (past->armed && (!*f->end || streq(f->end, "left") || streq(f->end, "timer")))
		count_death(past);
	past->armed = false;
}

/* The args become those of a trial that died, on this kernel. */
static void arrive_left_out(const struct trial_facts *f)
{
	struct boot_env *env = f->env;
	struct attempt good = {0};

	name_attempt(f, env_slot(env, env->good), &good);
	attempts_begin(f->past, &good);
	count_death(f->past);
	attempt_clear(&good);
	env->good = env_free_slot(env);
	env_set_slot(env, env->good, "");
	env->try_ = env->begun = ENV_NONE;
}

void trial_arrive(const struct trial_facts *f)
{
	char left_out = slot_of_mark(f->cmdline, MARK_SLOT, ENV_LEFT_OUT);

	/* Without a mark another loader or entry brought this boot: the trial may still come. */
	if (f->env->try_ == ENV_TAKEN && has_mark(f->cmdline) && !is_trial(f))
		arrive_after_trial(f);
	if (left_out != ENV_NONE && left_out == f->env->good && *env_slot(f->env, left_out))
		arrive_left_out(f);
}

/* --- texts ----------------------------------------------------------------------------------- */

/* Returns how many have no room: a text must have some for its reason and its remedy. */
static size_t name_args(struct str *s, const char *sign, const struct kargs *l)
{
	size_t n = 0;

	while (n < l->n && s->len + strlen(l->v[n].text) <= ARGS_TEXT_MAX) {
		str_addf(s, "%s%s%s", s->len ? " " : "", sign, l->v[n].text);
		n++;
	}
	return l->n - n;
}

static void count_others(struct str *s, size_t n)
{
	if (n)
		str_addf(s, "%s%zu %s", s->len ? " and " : "", n, s->len ? "more" : "long ones");
}

static char *list_names(const struct kargs *l)
{
	struct str s = {0};

	str_add(&s, "");
	count_others(&s, name_args(&s, "", l));
	return str_take(&s);
}

/* "+a=1 -b=2": the wanted args that this boot lacks, and our args that are not wanted. */
static char *difference(const struct trial *t)
{
	struct str s = {0};
	size_t more;

	str_add(&s, "");
	more = name_args(&s, "+", &t->missing);
	count_others(&s, more + name_args(&s, "-", &t->dropped));
	return str_take(&s);
}

void trial_hold(struct trial *t, enum kargs_decision d, const char *why)
{
	cleanup_free char *diff = difference(t);

	/* That of other args, which is armed, stays what it is: to be dropped. */
	if (t->decision == KARGS_ARMED)
		t->note = NOTE_DROP;
	decide(t, d, "kernel arguments differ (%s), and railhead does not reboot for them: %s",
	       diff, why);
}

static const char *in_force(const struct trial *t)
{
	return t->owned.n ? "the earlier arguments are in force"
			  : "no arguments of railhead's are in force";
}

/* args: those that are refused, by whatever text. */
static void decide_refused(const struct trial_facts *f, struct trial *t, const struct refused *no,
			   const char *args)
{
	cleanup_free char *names = strv_some(&f->past->items, NAMED_MAX);

	switch (no->why) {
	case REFUSAL_DIED:
		decide(t, KARGS_REJECTED,
		       "kernel arguments REJECTED on kernel %s (%s): %d trial boots with them "
		       "died%s; %s. " REMEDY_RETRY,
		       f->kernel, args, TRIALS_MAX,
		       streq(f->end, "timer") ? ", the last by the trial's timer" : "",
		       in_force(t));
		break;
	case REFUSAL_UNFIT:
		decide(t, KARGS_UNFIT,
		       "kernel arguments REFUSED (%s): %s failed in a trial with them on kernel "
		       "%s, and held before; %s. Correct them and the profile's version, or repair "
		       "what failed and run `railhead apply --retry`",
		       args, *names ? names : "an item", f->kernel,
		       trial_on_line(f->cmdline) ? "the next boot has the earlier arguments"
						 : in_force(t));
		break;
	case REFUSAL_LOST:
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments (%s) were not in force in their trial, and are not tried "
		       "again on kernel %s: the kernel or the boot loader dropped them, or another "
		       "argument overrides them. " REMEDY_RETRY,
		       args, f->kernel);
		break;
	}
}

/* --- this boot has the wanted args, and no others of ours ------------------------------------- */

/* The next boot would have other args, by a file that railhead can write. */
static bool must_adopt(const struct trial_facts *f)
{
	cleanup_kargs struct kargs good = {0};

	kargs_split(&good, env_slot(f->env, f->env->good), NULL);
	return f->damage ||
	       (f->absent ? f->wanted->n > 0 : !kargs_same_but_order(&good, f->wanted));
}

/* A word of the wanted args would end or break the line on its way to the kernel. */
static bool loader_misreads(const struct trial_facts *f, struct err *err)
{
	return f->loader_parses && kargs_check_parsed(f->wanted, err) < 0;
}

static void decide_arrived(const struct trial_facts *f, struct trial *t)
{
	const struct refused *no = attempts_refused(f->past, &t->now);
	cleanup_free char *line = list_names(f->wanted);
	struct err err = {0};

	if (is_trial(f)) {
		t->note = NOTE_RUNS;
		decide(t, KARGS_SAME, "all kernel arguments of the trial of slot %c arrived",
		       t->slot);
	} else if (is_unjudged_trial(f) && no) {
		decide_refused(f, t, no, line);
	} else if (is_unjudged_trial(f)) {
		decide(t, KARGS_SAME,
		       "all kernel arguments are in force by a trial that is not in %s, because "
		       "the file was replaced since. The next boot has the earlier arguments, and "
		       "tries these",
		       ENV_FILE_NAME);
	} else if (must_adopt(f) && f->loader_why) {
		trial_keep(t, f->loader_why);
	} else if (must_adopt(f) && loader_misreads(f, &err)) {
		trial_keep(t, err.text);
	} else if (must_adopt(f) && no) {
		trial_keep(t, "a trial of them failed on this kernel, so railhead does not store "
			      "them; `railhead apply --retry` forgives that trial");
	} else if (must_adopt(f)) {
		decide(t, KARGS_ADOPT,
		       "this boot has all kernel arguments, the next boot would not: the gate "
		       "updates %s at its verdict",
		       ENV_FILE_NAME);
	} else {
		decide(t, KARGS_SAME, "all kernel arguments are in force");
	}
	if (f->damage && t->decision == KARGS_SAME)
		decide(t, KARGS_SAME, "%s. But %s. " REMEDY_RESET, t->why, f->damage);
}

/* --- this boot lacks wanted args, or has others ----------------------------------------------- */

static void decide_trial(const struct trial_facts *f, struct trial *t, const char *diff)
{
	if (slot_is(f->env, t->slot, f->wanted)) {
		t->note = NOTE_LOST;
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments did not arrive (%s): GRUB took slot %c of %s, and the "
		       "arguments are not in force on the kernel's command line; the kernel or the "
		       "boot loader dropped them, or another argument overrides them (see "
		       "`railhead kargs`)",
		       diff, t->slot, ENV_FILE_NAME);
		return;
	}
	t->note = NOTE_DROP;
	decide(t, KARGS_NEXT_BOOT,
	       "the profile's kernel arguments changed (%s) while others are on trial in this "
	       "boot; "
	       "the next boot tries them",
	       diff);
}

/* GRUB passes the kernel's name with its path; other loaders pass it without, if at all. */
static bool grub_brought_it(const char *cmdline)
{
	cleanup_free char *image = kargs_value(cmdline, "BOOT_IMAGE");

	return image && *image && strchr("/(", *image);
}

/*
 * The boot that armed the trial was not shut down in order, so that GRUB may have read an earlier
 * file: on XFS the name of a new file, or a block that was shared with a copy, comes late.
 */
static bool is_cut_off(const struct trial_facts *f)
{
	return f->past->armed && !streq(f->past->boot, f->boot_id) && !streq(f->end, "left");
}

/*
 * GRUB did not bring this boot with our file, although the file was there: a trial was armed in an
 * earlier boot, or these very args are good.
 */
static bool is_passed_by(const struct trial_facts *f)
{
	bool earlier = f->env->try_ == ENV_TAKEN ||
		       (*f->past->boot && !streq(f->past->boot, f->boot_id) && !is_cut_off(f));

	return !f->absent && f->env->good != ENV_NONE && !has_mark(f->cmdline) &&
	       (earlier || slot_is(f->env, f->env->good, f->wanted));
}

static void decide_passed_by(const struct trial_facts *f, struct trial *t, const char *diff)
{
	decide(t, KARGS_NOT_ARRIVED,
	       "kernel arguments did not arrive (%s): this boot has no %s=: %s; railhead does not "
	       "reboot again",
	       diff, MARK_SLOT,
	       grub_brought_it(f->cmdline)
		       ? "GRUB booted a menu entry without $" ENV_VAR_KARGS
			 ", or from another disk; boot the default entry and run update-grub"
		       : "GRUB did not bring it from this disk's " ENV_FILE_NAME
			 " (kexec, network boot, another disk)");
}

static void decide_conflict(struct trial *t, const struct kargs *missing)
{
	cleanup_free char *wanted = list_names(missing), *others = list_names(&t->conflicts);

	decide(t, KARGS_CONFLICT,
	       "kernel arguments can't come into force (%s): %s%s, which railhead does not own. "
	       "Remove it from the boot loader's configuration (on Debian and Ubuntu "
	       "/etc/default/grub, on Fedora and RHEL grubby --remove-args), or from the profile; "
	       "railhead does not reboot for these arguments",
	       wanted,
	       t->conflicts.n ? "the command line already has "
			      : "an argument of the command line contradicts them",
	       others);
}

/* True if other args on the line would keep the wanted args out of force in the next boot. */
static bool conflicts(const struct trial_facts *f, struct trial *t)
{
	/* the words that GRUB adds to a trial */
	const size_t marks =
		strlen(ENV_ARG_TRIAL "a " ENV_TRIAL_EXTRA " " ENV_ARG_BEGIN "  " ENV_ARG_SLOT "a");
	cleanup_free char *next = kargs_predict(f->cmdline, &t->owned, f->wanted);
	cleanup_kargs struct kargs missing = {0};

	kargs_missing(f->wanted, next, &missing);
	if (missing.n) {
		decide_conflict(t, &missing);
		return true;
	}
	if (strlen(next) + marks <= CMDLINE_MAX)
		return false;
	decide(t, KARGS_CONFLICT,
	       "kernel arguments can't come into force: the command line would be %zu characters "
	       "long, and the kernel cuts the line after %d; shorten the profile's arguments or "
	       "those of the boot loader's configuration",
	       strlen(next) + marks, CMDLINE_MAX);
	return true;
}

unsigned int trial_reboots(const struct trial_facts *f)
{
	return f->env->reboots > f->past->reboots ? f->env->reboots : f->past->reboots;
}

/* This boot has asked for a reboot already, for other args: it makes one. */
static bool has_asked(const struct trial_facts *f)
{
	return *f->boot_id && streq(f->past->boot, f->boot_id) && trial_reboots(f) > 0;
}

static bool is_armed(const struct trial_facts *f)
{
	return env_slot_index(f->env->try_) >= 0 && slot_is(f->env, f->env->try_, f->wanted);
}

/* The record must say so, too: else a death would not be counted, or the reboot. */
static bool is_armed_on_record(const struct trial_facts *f)
{
	return is_armed(f) && f->past->armed && f->past->reboots == f->env->reboots;
}

static void decide_to_arm(const struct trial_facts *f, struct trial *t, const char *diff)
{
	decide(t, KARGS_ARM, "kernel arguments differ (%s): trial %u of %d%s", diff,
	       attempts_deaths(f->past, &t->now) + 1, TRIALS_MAX,
	       t->left_out == ENV_NONE
		       ? ""
		       : "; GRUB left the earlier arguments out of this boot, because two boots "
			 "in a row of a kernel that is new had no verdict with them");
}

static void decide_differs(const struct trial_facts *f, struct trial *t, const char *diff)
{
	const struct refused *no = attempts_refused(f->past, &t->now);
	bool this_boot = streq(f->past->boot, f->boot_id);
	struct err err = {0};

	if (is_trial(f)) {
		decide_trial(f, t, diff);
	} else if (this_boot && is_armed_on_record(f)) {
		decide(t, KARGS_ARMED, "a trial of slot %c is armed (%s); it takes a reboot",
		       f->env->try_, diff);
	} else if (f->loader_why) {
		cleanup_free char *line = kargs_line(f->wanted);

		decide(t, KARGS_NO_LOADER, "kernel arguments differ (%s): %s. Wanted: %s", diff,
		       f->loader_why, *line ? line : "none");
	} else if (loader_misreads(f, &err)) {
		decide(t, KARGS_CONFLICT, "kernel arguments can't come into force (%s): %s", diff,
		       err.text);
	} else if (is_passed_by(f)) {
		decide_passed_by(f, t, diff);
	} else if (!this_boot && is_armed(f) && !is_cut_off(f)) {
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments did not arrive (%s): GRUB read %s, but took no trial: "
		       "GRUB can't write to that disk, or this boot came by kexec",
		       diff, ENV_FILE_NAME);
	} else if (no) {
		decide_refused(f, t, no, diff);
	} else if (is_unjudged_trial(f)) {
		decide(t, KARGS_NEXT_BOOT,
		       "kernel arguments differ (%s), and this boot had others on trial; the next "
		       "boot tries them",
		       diff);
	} else if (conflicts(f, t)) {
		return;
	} else if (trial_reboots(f) >= REBOOTS_MAX && !has_asked(f)) {
		decide(t, KARGS_HELD,
		       "kernel arguments differ (%s), and railhead does not reboot for them: it "
		       "has made %u reboots with no settled verdict in between. Check that each "
		       "boot requires the same arguments; then `railhead apply --retry` sets the "
		       "count back",
		       diff, trial_reboots(f));
	} else {
		decide_to_arm(f, t, diff);
	}
}

static void gather(const struct trial_facts *f, struct trial *t)
{
	cleanup_free char *line = kargs_line(f->wanted);

	t->left_out = slot_of_mark(f->cmdline, MARK_SLOT, ENV_LEFT_OUT);
	t->slot = slot_of_mark(f->cmdline, MARK_SLOT, "");
	name_attempt(f, line, &t->now);
	if (!kargs_between_marks(f->cmdline, &t->owned) && t->left_out == ENV_NONE)
		kargs_split(&t->owned, env_slot(f->damage ? f->seen : f->env, t->slot), NULL);
	kargs_missing(f->wanted, f->cmdline, &t->missing);
	kargs_dropped(&t->owned, f->wanted, f->cmdline, &t->dropped);
	kargs_conflicts(f->wanted, &t->owned, f->cmdline, &t->conflicts);
}

void trial_decide(const struct trial_facts *f, struct trial *ret)
{
	cleanup_free char *diff = NULL;

	*ret = (struct trial){0};
	gather(f, ret);
	diff = difference(ret);
	if (!*diff)
		decide_arrived(f, ret);
	else if (f->damage)
		decide(ret, KARGS_DAMAGED, "kernel arguments differ (%s), and %s. " REMEDY_RESET,
		       diff, f->damage);
	else
		decide_differs(f, ret, diff);
	/* Whatever else is armed is not wanted any more. */
	if (ret->note == NOTE_NONE && env_slot_index(f->env->try_) >= 0 && !is_armed(f))
		ret->note = NOTE_DROP;
}

/* --- changes of the records ------------------------------------------------------------------- */

/* Returns the slot, which is free. */
static int store_wanted(const struct trial_facts *f, struct err *err)
{
	cleanup_free char *line = kargs_line(f->wanted);
	char slot = env_free_slot(f->env);
	int r = kargs_check(f->wanted, err);

	if (r < 0)
		return r;
	f->env->try_ = ENV_NONE;
	env_set_slot(f->env, slot, line);
	return slot;
}

int trial_arm(const struct trial_facts *f, const struct trial *t, struct err *err)
{
	struct boot_env *env = f->env;
	int slot = store_wanted(f, err);

	if (slot < 0)
		return slot;
	/* A slot must be good, so that GRUB's mark shows that it reads, even if the trial dies. */
	if (env->good == ENV_NONE) {
		env->good = slot == 'a' ? 'b' : 'a';
		env_set_slot(env, env->good, "");
	}
	env->try_ = (char)slot;
	attempts_begin(f->past, &t->now);
	snprintf(f->past->boot, sizeof(f->past->boot), "%s", f->boot_id);
	f->past->armed = true;
	return 0;
}

bool trial_count_reboot(const struct trial_facts *f)
{
	unsigned int n = trial_reboots(f) + !has_asked(f);

	if (n > REBOOTS_MAX)
		return false;
	f->env->reboots = f->past->reboots = n;
	return true;
}

void trial_expect_kernel(const struct trial_facts *f, const char *release)
{
	f->env->begun = '0'; /* also without args, because a trial may be under way */
	free(f->past->new_kernel);
	f->past->new_kernel = xstrdup(release);
}

/*
 * Not by another menu entry, as the trial of others, or because GRUB left them out. An argument
 * that another one overrules was brought, too.
 */
static bool has_good_args(const struct trial_facts *f)
{
	cleanup_kargs struct kargs good = {0}, missing = {0}, owned = {0};

	kargs_split(&good, env_slot(f->env, f->env->good), NULL);
	kargs_missing(&good, f->cmdline, &missing);
	return missing.n == 0 ||
	       (kargs_between_marks(f->cmdline, &owned) && kargs_same(&owned, &good));
}

/* Another kernel may still be to come. */
void trial_reach_verdict(const struct trial_facts *f)
{
	const char *expected = f->past->new_kernel;

	if (f->env->begun == ENV_NONE || !has_good_args(f))
		return;
	f->env->begun = '0';
	if (expected && *expected && !streq(expected, f->kernel))
		return;
	f->env->begun = ENV_NONE;
	free(f->past->new_kernel);
	f->past->new_kernel = NULL;
}

/* --- the verdict ------------------------------------------------------------------------------ */

static bool is_comparable(const struct trial_facts *f, const struct outcome *o)
{
	const struct before *b = &f->past->before;

	return b->profile && streq(b->profile, o->profile) && streq(b->kernel, f->kernel);
}

static void add_if(const struct strv *now, const struct strv *before, bool there, const char *kind,
		   struct strv *news)
{
	for (size_t i = 0; i < now->n; i++)
		if ((strv_contains(before, now->v[i]) != 0) == there) {
			cleanup_free char *id = xasprintf("%s%s", kind, now->v[i]);

			attempts_add(news, id);
		}
}

static void find_news(const struct trial_facts *f, const struct outcome *o, struct strv *news)
{
	const struct before *b = &f->past->before;

	if (!is_comparable(f, o))
		return;
	add_if(&o->failed, &b->failed, false, "", news);
	add_if(&o->missed, &b->held, true, "", news);
	add_if(&b->up, &o->up, false, "carrier/", news);
}

/* An item that was not looked at now is as it was: those of `was` without `gone`, and `now`. */
static void merge(struct strv *was, const struct strv *gone, const struct strv *now)
{
	struct strv all = {0};

	for (size_t i = 0; i < was->n; i++)
		if (!gone || !strv_contains(gone, was->v[i]))
			attempts_add(&all, was->v[i]);
	for (size_t i = 0; i < now->n; i++)
		attempts_add(&all, now->v[i]);
	strv_sort(&all);
	strv_free(was);
	*was = all;
}

static void keep_before(const struct trial_facts *f, const struct outcome *o)
{
	struct before *b = &f->past->before;

	if (!is_comparable(f, o)) {
		strv_free(&b->held);
		strv_free(&b->up);
		free(b->profile);
		free(b->kernel);
		b->profile = xstrdup(o->profile);
		b->kernel = xstrdup(f->kernel);
	}
	strv_free(&b->failed);
	merge(&b->failed, NULL, &o->failed);
	merge(&b->held, &o->missed, &o->held);
	if (!o->reboots)
		strv_free(&b->up);
	merge(&b->up, NULL, &o->up);
}

/* Whether the args of this boot can become the good ones, as a result for a trial. */
static enum trial_result compare(const struct trial_facts *f, const struct outcome *o,
				 struct strv *news)
{
	if (o->failed.n && !is_comparable(f, o))
		return TRIAL_UNKNOWN;
	find_news(f, o, news);
	return news->n ? TRIAL_UNFIT : TRIAL_COMMITTED;
}

static enum trial_result judge_trial(const struct trial_facts *f, const struct trial *t,
				     const struct outcome *o, struct strv *news)
{
	enum trial_result result = compare(f, o, news);

	f->env->try_ = ENV_NONE;
	f->past->armed = false;
	if (result == TRIAL_UNFIT) {
		attempts_refuse(f->past, &t->now, REFUSAL_UNFIT);
		strv_free(&f->past->items);
		merge(&f->past->items, NULL, news);
	} else if (result == TRIAL_COMMITTED) {
		attempts_forgive(f->past, &t->now);
		f->env->good = t->slot;
	}
	return result;
}

int trial_adopt(const struct trial_facts *f, const struct trial *t, const struct outcome *o,
		struct err *err)
{
	cleanup_strv struct strv news = {0};
	int slot;

	if (t->decision != KARGS_ADOPT || o->waits || o->reboots ||
	    compare(f, o, &news) != TRIAL_COMMITTED)
		return 0;
	slot = store_wanted(f, err);
	if (slot < 0)
		return slot;
	f->env->good = (char)slot;
	f->past->armed = false;
	return 0;
}

static enum trial_result end_trial(const struct trial_facts *f, const struct trial *t,
				   const struct outcome *o, struct strv *news)
{
	switch (t->note) {
	case NOTE_RUNS:
		return judge_trial(f, t, o, news);
	case NOTE_LOST:
		f->env->try_ = ENV_NONE;
		attempts_refuse(f->past, &t->now, REFUSAL_LOST);
		return TRIAL_LOST;
	case NOTE_DROP:
		f->env->try_ = ENV_NONE;
		/* GRUB may not have seen it, so that it did not pass it by. */
		if (is_cut_off(f))
			*f->past->boot = '\0';
		f->past->armed = false;
		break;
	case NOTE_NONE:
		break;
	}
	return TRIAL_NONE;
}

enum trial_result trial_settle(const struct trial_facts *f, const struct trial *t,
			       const struct outcome *o, struct strv *news)
{
	/* Once its args are good, the boot is like any other, although its line has the mark. */
	bool on_trial = is_trial(f) || is_unjudged_trial(f);
	/* Nobody wants what is armed: that goes at a verdict that waits, too. */
	bool drops = t->note == NOTE_DROP && env_slot_index(f->env->try_) >= 0;
	enum trial_result result;

	result = o->waits && !drops ? TRIAL_NONE : end_trial(f, t, o, news);
	trial_reach_verdict(f);
	if (o->waits)
		return TRIAL_NONE;
	if (result == TRIAL_COMMITTED || !on_trial)
		keep_before(f, o);
	/* A trial that GRUB did not take may still come. */
	if (result != TRIAL_UNFIT && result != TRIAL_UNKNOWN && !o->reboots &&
	    t->decision != KARGS_HELD && env_slot_index(f->env->try_) < 0)
		f->env->reboots = f->past->reboots = 0;
	return result;
}

void outcome_free(struct outcome *o)
{
	strv_free(&o->failed);
	strv_free(&o->missed);
	strv_free(&o->held);
	strv_free(&o->up);
}
