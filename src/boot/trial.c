/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/trial.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "boot/ends.h"

/* COMMAND_LINE_SIZE of x86 and arm64; the kernel cuts longer lines without a message. */
enum { CMDLINE_MAX = 2047 };

#define MARK_SLOT "railhead.slot"
#define MARK_TRIAL "railhead.trial"

#define REMEDY_RETRY \
	"Change the arguments in the profile, or run `railhead apply --retry` and reboot"

const char *kargs_decision_name(enum kargs_decision d)
{
	static const char *const names[] = {
		[KARGS_SAME] = "same",
		[KARGS_WRITE_AND_REBOOT] = "reboot",
		[KARGS_WRITE_NO_REBOOT] = "write",
		[KARGS_NOT_ARRIVED] = "not-arrived",
		[KARGS_REJECTED] = "rejected",
		[KARGS_UNFIT] = "unfit",
		[KARGS_CONFLICT] = "conflict",
		[KARGS_NO_LOADER] = "no-loader",
		[KARGS_DAMAGED] = "damaged",
		[KARGS_COUNTED] = "counted",
		[KARGS_SEALED] = "sealed",
		[KARGS_HELD] = "held",
	};

	return names[d];
}

void trial_free(struct trial *t)
{
	free(t->why);
	kargs_free(&t->missing);
	kargs_free(&t->dropped);
	kargs_free(&t->conflicts);
	kargs_free(&t->owned);
	*t = (struct trial){0};
}

static void __attribute__((format(printf, 3, 4)))
decide(struct trial *t, enum kargs_decision d, const char *fmt, ...)
{
	struct str why = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&why, fmt, ap);
	va_end(ap);
	t->decision = d;
	t->why = str_take(&why);
}

/* "+a=1 -b=2": the wanted args that this boot lacks, and our args that are not wanted. */
static char *difference(const struct trial *t)
{
	struct str s = {0};

	str_add(&s, "");
	for (size_t i = 0; i < t->missing.n; i++)
		str_addf(&s, "%s+%s", s.len ? " " : "", t->missing.v[i].text);
	for (size_t i = 0; i < t->dropped.n; i++)
		str_addf(&s, "%s-%s", s.len ? " " : "", t->dropped.v[i].text);
	return str_take(&s);
}

/* Whether a slot holds the wanted args. */
static bool slot_is(const struct boot_env *env, char slot, const struct kargs *wanted)
{
	cleanup_kargs struct kargs l = {0};

	kargs_split(&l, env_slot(env, slot), NULL);
	return kargs_same(&l, wanted);
}

static bool written_now(const struct trial_facts *f)
{
	char boot[ENV_BOOT_LEN + 1];

	env_boot(f->boot_id, boot);
	return f->env && *boot && streq(f->env->state.boot, boot);
}

/* The state in the file describes the wanted args on this kernel. */
static bool state_is_ours(const struct trial_facts *f)
{
	char hash[KARGS_HASH_LEN + 1];

	kargs_hash(f->wanted, hash);
	return f->env && streq(f->env->state.hash, hash) && streq(f->env->state.kernel, f->kernel);
}

static char slot_of_boot(const char *cmdline)
{
	cleanup_free char *slot = kargs_value(cmdline, MARK_SLOT);

	return slot && strlen(slot) == 1 && env_slot_index(*slot) >= 0 ? *slot : ENV_NONE;
}

bool trial_on_line(const char *cmdline)
{
	cleanup_free char *trial = kargs_value(cmdline, MARK_TRIAL);

	return trial;
}

char trial_left_out(const char *cmdline)
{
	cleanup_free char *mark = kargs_value(cmdline, MARK_SLOT);
	const size_t len = strlen(ENV_LEFT_OUT);

	return mark && str_starts(mark, ENV_LEFT_OUT) && strlen(mark) == len + 1 &&
			       env_slot_index(mark[len]) >= 0
		       ? mark[len]
		       : ENV_NONE;
}

/* This trial failed at its verdict, and GRUB takes the earlier args from now on. */
static bool trial_is_lost(const struct trial_facts *f, char slot)
{
	const struct env_refused *no = env_refused(f->env, f->wanted, f->kernel);

	return f->env->try_ == ENV_NONE && slot_is(f->env, slot, f->wanted) &&
	       ((no && no->unfit) || (f->env->state.look == ENV_LOOK_BACK && state_is_ours(f)));
}

/* A boot is no longer a trial once it is committed, although its line still has the mark. */
static bool line_says_trial(const struct trial_facts *f, char slot)
{
	cleanup_free char *trial = kargs_value(f->cmdline, MARK_TRIAL);

	return trial && slot != ENV_NONE && *trial == slot && f->env && f->env->good != slot;
}

/*
 * The file may have been replaced since, for example by a backup, and then does not know this
 * trial.
 */
static bool trial_of_boot(const struct trial_facts *f, char slot)
{
	return line_says_trial(f, slot) && (f->env->try_ == ENV_TAKEN || trial_is_lost(f, slot));
}

/* GRUB took a trial, and this boot, which GRUB brought too, is a different boot. */
static bool trial_died(const struct trial_facts *f, const struct trial *t)
{
	return f->env && f->env->try_ == ENV_TAKEN && !t->is_trial && t->slot != ENV_NONE;
}

static unsigned int count_deaths(const struct trial_facts *f, const struct trial *t)
{
	if (!state_is_ours(f) || f->retry)
		return 0;
	return f->env->state.deaths + (trial_died(f, t) && !ends_give_back(f->env->ends));
}

static void gather(const struct trial_facts *f, struct trial *t)
{
	t->left_out = trial_left_out(f->cmdline);
	t->slot = slot_of_boot(f->cmdline);
	/* The boot counts as one with the empty slot instead: see trial_arrived(). */
	if (t->left_out != ENV_NONE && f->env &&
	    (f->env->good != t->left_out || !*env_slot(f->env, f->env->good)))
		t->slot = f->env->good;
	if (t->slot == t->left_out)
		t->left_out = ENV_NONE; /* the slot had no args */
	t->is_trial = trial_of_boot(f, t->slot);
	t->deaths = count_deaths(f, t);
	t->note = trial_died(f, t) ? NOTE_DIED : NOTE_NONE;
	t->end = t->note == NOTE_DIED ? ends_last(f->env->ends) : '\0';
	/* The line is this boot's, but the file may have been replaced since. */
	if (!kargs_between_marks(f->cmdline, &t->owned) && f->env)
		kargs_split(&t->owned, env_slot(f->env, t->slot), NULL);
	kargs_missing(f->wanted, f->cmdline, &t->missing);
	kargs_dropped(&t->owned, f->wanted, f->cmdline, &t->dropped);
	kargs_conflicts(f->wanted, &t->owned, f->cmdline, &t->conflicts);
}

/* The entry that rejects the wanted args, unless --retry overrides it. */
static const struct env_refused *refused(const struct trial_facts *f)
{
	return f->env && !f->retry ? env_refused(f->env, f->wanted, f->kernel) : NULL;
}

unsigned int trial_boots_left(const struct trial_facts *f)
{
	unsigned int healthy = f->env ? f->env->healthy : 0;

	return healthy < f->retry_after ? f->retry_after - healthy : 0;
}

char *trial_again_text(unsigned int boots)
{
	return boots ? xasprintf("; they are tried again after %u more healthy boot%s", boots,
				 boots == 1 ? "" : "s")
		     : xstrdup("");
}

/* The last sentence for rejected args. Caller frees. */
static char *remedy_retry(const struct trial_facts *f)
{
	cleanup_free char *again = trial_again_text(trial_boots_left(f));

	return xasprintf(REMEDY_RETRY "%s", again);
}

/* --- failed items of a trial ------------------------------------------------------------------ */

/*
 * A boot with the earlier args, the next one or this one, must show which items fail without the
 * wanted args.
 */
static bool looks_back(const struct trial_facts *f)
{
	return f->env && f->env->state.look == ENV_LOOK_BACK && f->env->try_ == ENV_NONE &&
	       !f->retry;
}

static void decide_look_back(const struct trial_facts *f, struct trial *t, const char *diff)
{
	t->note = state_is_ours(f) && slot_is(f->env, env_free_slot(f->env), f->wanted)
			  ? NOTE_LOOKED_BACK
			  : NOTE_LOOK_OVER;
	t->next_boot_tries = true;
	decide(t, KARGS_NOT_ARRIVED,
	       "kernel arguments differ (%s): an item failed in a trial, so this boot has the "
	       "earlier arguments, and its verdict shows which items fail without the new ones; "
	       "the next boot tries the new ones",
	       diff);
}

static void decide_lost(const struct trial_facts *f, struct trial *t)
{
	cleanup_free char *line = kargs_line(f->wanted), *remedy = remedy_retry(f);

	if (f->retry && f->held) {
		decide(t, f->held_as,
		       "kernel arguments (%s) were on trial in this boot, and do not get another "
		       "trial now: %s",
		       line, f->held);
	} else if (f->retry) {
		decide(t, KARGS_WRITE_AND_REBOOT,
		       "kernel arguments (%s) were on trial in this boot, and get another trial",
		       line);
	} else if (f->env->state.look == ENV_LOOK_BACK) {
		t->next_boot_tries = true;
		decide(t, KARGS_NOT_ARRIVED,
		       "an item failed in this trial of kernel arguments (%s): the next boot has "
		       "the earlier arguments, and shows which items fail without the new ones",
		       line);
	} else {
		decide(t, KARGS_UNFIT,
		       "kernel arguments (%s) are REFUSED: an item failed in this trial that held "
		       "before; the next boot has the earlier arguments. %s",
		       line, remedy);
	}
}

/* A word of the wanted args would end or break the line on its way to the kernel. */
static bool loader_misreads(const struct trial_facts *f, struct err *err)
{
	return f->loader_parses && kargs_check_parsed(f->wanted, err) < 0;
}

/* --- this boot has the wanted args, and no others of ours ------------------------------------- */

/* Another line at the next boot locks a disk, even with the same args. */
static bool is_sealed(const struct trial_facts *f)
{
	return f->held && f->held_as == KARGS_SEALED;
}

static bool is_armed(const struct trial_facts *f)
{
	return f->env && env_slot_index(f->env->try_) >= 0;
}

/*
 * The args came by a trial, but the file describes none of their trials: it was replaced in this
 * boot. No verdict about them was ever written there, so they are not made good.
 */
static bool is_unknown_trial(const struct trial_facts *f)
{
	return f->env && trial_on_line(f->cmdline) && !slot_is(f->env, f->env->good, f->wanted);
}

static void decide_unknown_trial(const struct trial_facts *f, struct trial *t)
{
	/* Disarm armed args that are not wanted. */
	decide(t, is_armed(f) ? KARGS_WRITE_NO_REBOOT : KARGS_SAME,
	       "all kernel arguments are in force by a trial that is not in %s, because the file "
	       "was replaced since. The next boot has the earlier arguments, and starts a trial of "
	       "these",
	       ENV_FILE_NAME);
}

/* Why arguments that are in force are not stored for the next boot; NULL: they are. */
static const char *why_not_stored(const struct trial_facts *f, struct err *err)
{
	if (!f->loader_ok)
		return f->loader_why ? f->loader_why : "no boot loader";
	if (loader_misreads(f, err))
		return err->text;
	return is_sealed(f) && !is_armed(f) ? f->held : NULL;
}

static void decide_arrived(const struct trial_facts *f, struct trial *t)
{
	/* After a commit the line still has the mark, but the slot may hold other args by then. */
	bool of_wanted = t->is_trial && slot_is(f->env, t->slot, f->wanted);
	const char *why_not;
	struct err err = {0};

	/* The trial's args are no longer wanted, and the kernel lost them: not a death. */
	if (t->is_trial && !of_wanted && f->env->try_ == ENV_TAKEN)
		t->note = NOTE_SUPERSEDED;
	if (t->is_trial && trial_is_lost(f, t->slot)) {
		decide_lost(f, t);
	} else if (of_wanted) {
		t->note = NOTE_COMMIT;
		decide(t, KARGS_SAME, "all kernel arguments of the trial of slot %c arrived",
		       t->slot);
	} else if (f->env ? slot_is(f->env, env_next_slot(f->env), f->wanted) : f->wanted->n == 0) {
		decide(t, KARGS_SAME, "all kernel arguments are in force");
	} else if (is_unknown_trial(f)) {
		decide_unknown_trial(f, t);
	} else if ((why_not = why_not_stored(f, &err))) {
		decide(t, KARGS_SAME,
		       "all kernel arguments are in force; they do not come from railhead (%s)",
		       why_not);
	} else {
		decide(t, KARGS_WRITE_NO_REBOOT,
		       "this boot has all kernel arguments, the next boot would not: railhead "
		       "updates %s",
		       ENV_FILE_NAME);
	}
}

/* --- this boot lacks wanted args, and a reboot would not help --------------------------------- */

static void decide_trial(const struct trial_facts *f, struct trial *t, const char *diff)
{
	if (!slot_is(f->env, t->slot, f->wanted)) {
		t->note = NOTE_SUPERSEDED;
		decide(t, KARGS_NOT_ARRIVED,
		       "the profile's kernel arguments changed (%s) while others are on trial in "
		       "this boot; the next boot tries them",
		       diff);
		t->next_boot_tries = true;
		return;
	}
	t->note = NOTE_NOT_ARRIVED;
	decide(t, KARGS_NOT_ARRIVED,
	       "kernel arguments did not arrive (%s): GRUB took slot %c of %s, and the arguments "
	       "are not in force on the kernel's command line; the kernel or the boot loader "
	       "dropped the arguments, or another argument overrides them (see `railhead kargs`)",
	       diff, t->slot, ENV_FILE_NAME);
}

/* GRUB did not bring this boot with our file, although the file was there. */
static bool loader_passed_by(const struct trial_facts *f, const struct trial *t)
{
	if (!f->env || t->slot != ENV_NONE || written_now(f) || f->retry)
		return false;
	/*
	 * Before the first trial the file may be newer than the state that a power cut left to
	 * GRUB.
	 */
	if (!*f->env->state.hash)
		return false;
	/* After a reset no slot is good, and GRUB leaves no marker. */
	return f->env->good != ENV_NONE || f->env->try_ != ENV_NONE;
}

/* GRUB passes the kernel's name with its path; other loaders pass it without, if at all. */
static bool grub_brought_it(const char *cmdline)
{
	cleanup_free char *image = kargs_value(cmdline, "BOOT_IMAGE");

	return image && strchr("/(", *image) && *image;
}

static void decide_passed_by(const struct trial_facts *f, struct trial *t, const char *diff)
{
	if (f->env->try_ == ENV_TAKEN)
		t->note = NOTE_NO_VARIABLE;
	if (t->note == NOTE_NO_VARIABLE || f->env->state.no_variable)
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments did not arrive (%s): GRUB read %s, but the menu entry "
		       "that was booted has no $%s (another entry, or the variable was removed "
		       "from it); boot the default entry and run update-grub",
		       diff, ENV_FILE_NAME, ENV_VAR_KARGS);
	else if (grub_brought_it(f->cmdline))
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments did not arrive (%s): this boot has no %s: GRUB booted a "
		       "menu entry without $%s, or from another disk; boot the default entry and "
		       "run update-grub; railhead does not reboot again",
		       diff, MARK_SLOT "=", ENV_VAR_KARGS);
	else
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments did not arrive (%s): this boot has no %s, and GRUB did "
		       "not bring it from this disk's %s (kexec, network boot, another disk); "
		       "railhead does not reboot again",
		       diff, MARK_SLOT "=", ENV_FILE_NAME);
}

static bool armed_but_not_taken(const struct trial_facts *f)
{
	return is_armed(f) && slot_is(f->env, f->env->try_, f->wanted);
}

/* ", the last one armed 2026-11-21 08:12 UTC"; "" if the time is unknown. Caller frees. */
static char *last_armed(int64_t when)
{
	time_t t = (time_t)when;
	struct tm tm;
	char text[64];

	if (when <= 0 || !gmtime_r(&t, &tm) ||
	    !strftime(text, sizeof(text), ", the last trial armed %Y-%m-%d %H:%M UTC", &tm))
		return xstrdup("");
	return xstrdup(text);
}

/* ": both panicked"; "" if the file does not describe the trials of these args. Caller frees. */
static char *how_they_died(const struct trial_facts *f)
{
	cleanup_free char *how = state_is_ours(f) ? ends_deaths(f->env->ends) : NULL;

	return how && *how ? xasprintf(": %s", how) : xstrdup("");
}

/* If good args were left out there are no earlier ones. */
static const char *in_force(const struct trial *t)
{
	return t->owned.n ? "the earlier arguments are in force"
			  : "no arguments of railhead's are in force";
}

static void decide_rejected(const struct trial_facts *f, struct trial *t, unsigned int deaths,
			    int64_t when, const char *diff)
{
	cleanup_free char *last = last_armed(when), *how = how_they_died(f);
	cleanup_free char *remedy = remedy_retry(f);

	t->deaths = deaths;
	decide(t, KARGS_REJECTED,
	       "kernel arguments REJECTED (%s): %u trial boot%s with them on kernel %s died%s%s; "
	       "%s. %s",
	       diff, deaths, deaths == 1 ? "" : "s", f->kernel, last, how, in_force(t), remedy);
}

static void decide_refused(const struct trial_facts *f, struct trial *t,
			   const struct env_refused *e, const char *diff)
{
	cleanup_free char *last = last_armed(e->time), *remedy = remedy_retry(f);

	/* Count once per boot, and not in the boot that rejected the args. */
	if (t->note == NOTE_NONE && f->retry_after && !written_now(f))
		t->note = NOTE_HEALTHY;
	/* One trial since the rejection has died, too. */
	if (t->note == NOTE_DIED && state_is_ours(f))
		decide_rejected(f, t, e->deaths + t->deaths, f->env->state.time, diff);
	else if (e->deaths)
		decide_rejected(f, t, e->deaths, e->time, diff);
	else if (e->unfit)
		decide(t, KARGS_UNFIT,
		       "kernel arguments REFUSED (%s): an item failed in a trial with them on "
		       "kernel %s that held before%s; %s. %s",
		       diff, f->kernel, last, in_force(t), remedy);
	else
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments did not arrive in an earlier trial (%s)%s, and are not "
		       "tried again on kernel %s. %s",
		       diff, last, f->kernel, remedy);
}

/* --- whether the next boot would have the args ------------------------------------------------ */

static void decide_conflict(struct trial *t, const struct kargs *missing)
{
	cleanup_free char *wanted = kargs_line(missing), *others = kargs_line(&t->conflicts);

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
	const size_t marks = strlen(ENV_ARG_TRIAL "a " ENV_TRIAL_EXTRA "  " ENV_ARG_SLOT "a");
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

static void decide_held(const struct trial_facts *f, struct trial *t, const char *diff)
{
	decide(t, f->held_as,
	       "kernel arguments differ (%s), and railhead does not reboot for them: %s", diff,
	       f->held);
}

static const char *left_out_note(const struct trial *t)
{
	return t->left_out == ENV_NONE
		       ? ""
		       : "; GRUB left the earlier arguments out of this boot, because two boots in "
			 "a row with them did not reach stage early";
}

/* The last trial of the wanted args did not count against them, so they are tried again. */
static bool was_given_back(const struct trial_facts *f, const struct trial *t)
{
	return t->note == NOTE_DIED && state_is_ours(f) && ends_give_back(f->env->ends);
}

static const char *given_back_note(const struct trial_facts *f, const struct trial *t)
{
	if (!was_given_back(f, t))
		return "";
	return t->end == ENV_END_STOP ? " again, because the last trial was shut down or rebooted "
					"in order before its verdict"
				      : " again, because railhead was told to leave the boot of "
					"the last trial alone";
}

static void decide_differs(const struct trial_facts *f, struct trial *t, const char *diff)
{
	const struct env_refused *no = refused(f);

	t->again = no && f->retry_after && (!trial_boots_left(f) || was_given_back(f, t));
	if (t->is_trial) {
		decide_trial(f, t, diff);
	} else if (armed_but_not_taken(f) && written_now(f) && f->held) {
		t->note = NOTE_SUPERSEDED;
		decide_held(f, t, diff);
	} else if (armed_but_not_taken(f) && written_now(f)) {
		t->armed = true;
		decide(t, KARGS_WRITE_AND_REBOOT,
		       "a trial of slot %c is armed (%s); it takes a reboot%s", f->env->try_, diff,
		       left_out_note(t));
	} else if (loader_passed_by(f, t)) {
		decide_passed_by(f, t, diff);
	} else if (looks_back(f)) {
		decide_look_back(f, t, diff);
	} else if (armed_but_not_taken(f) && !f->retry) {
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments did not arrive (%s): GRUB read %s, but took no trial: "
		       "GRUB can't write to that disk, or this boot came by kexec",
		       diff, ENV_FILE_NAME);
	} else if (no && !t->again) {
		decide_refused(f, t, no, diff);
	} else if (t->deaths >= TRIAL_MAX) {
		decide_rejected(f, t, t->deaths, f->env->state.time, diff);
	} else if (line_says_trial(f, t->slot) && !f->retry) {
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments differ (%s), and the trial of other arguments in this "
		       "boot is not in %s; the next boot tries the new ones",
		       diff, ENV_FILE_NAME);
		t->next_boot_tries = true;
	} else if (t->note == NOTE_DIED && !state_is_ours(f) && !f->retry) {
		decide(t, KARGS_NOT_ARRIVED,
		       "kernel arguments differ (%s); a trial of other arguments has just died, so "
		       "this boot has the earlier ones; the next boot tries the new ones",
		       diff);
		t->next_boot_tries = true;
	} else if (conflicts(f, t)) {
		return;
	} else if (f->held) {
		decide_held(f, t, diff);
	} else if (t->again && !was_given_back(f, t)) {
		decide(t, KARGS_WRITE_AND_REBOOT,
		       "kernel arguments differ (%s), and were rejected: tried again after %u "
		       "healthy boot%s%s",
		       diff, f->env->healthy, f->env->healthy == 1 ? "" : "s", left_out_note(t));
	} else {
		decide(t, KARGS_WRITE_AND_REBOOT,
		       "kernel arguments differ (%s): trial %u of %d%s%s%s%s", diff, t->deaths + 1,
		       TRIAL_MAX, given_back_note(f, t), left_out_note(t),
		       f->env_damage ? "; railhead writes the file again, because " : "",
		       f->env_damage ? f->env_damage : "");
	}
}

static void decide_without_loader(const struct trial_facts *f, struct trial *t, const char *diff)
{
	cleanup_free char *line = kargs_line(f->wanted);

	decide(t, KARGS_NO_LOADER, "kernel arguments differ (%s): %s. Wanted: %s", diff,
	       f->loader_ok ? f->no_trial_why
			    : (f->loader_why ? f->loader_why : "no boot loader is known here"),
	       *line ? line : "none");
}

static void decide_damaged(const struct trial_facts *f, struct trial *t)
{
	bool gives = f->env_gives && *f->env_gives;

	decide(t, KARGS_DAMAGED,
	       "%s; GRUB takes %s%s%s from the file for the next boot. `railhead kargs --reset` "
	       "writes the file again",
	       f->env_damage, gives ? "'" : "no arguments", gives ? f->env_gives : "",
	       gives ? "'" : "");
}

void trial_decide(const struct trial_facts *f, struct trial *ret)
{
	cleanup_free char *diff = NULL;
	struct err err = {0};

	*ret = (struct trial){0};
	gather(f, ret);
	diff = difference(ret);
	/* Makes a damaged file again, with the args in force, or for a trial of the wanted args. */
	if (!*diff)
		decide_arrived(f, ret);
	else if (!f->loader_ok || f->no_trial_why)
		f->env_damage ? decide_damaged(f, ret) : decide_without_loader(f, ret, diff);
	else if (loader_misreads(f, &err))
		decide(ret, KARGS_CONFLICT, "kernel arguments can't come into force (%s): %s", diff,
		       err.text);
	else
		decide_differs(f, ret, diff);
}

/* A trial was taken before this boot: GRUB counts each boot after a trial, with any menu entry. */
static bool is_after_trial(const struct boot_env *env, const struct arrival *a)
{
	return (env->begun != ENV_NONE && env->begun != '0') || !grub_brought_it(a->cmdline);
}

/* GRUB took a trial that died, or took it for this boot, with an entry without the variable. */
static void plan_unmarked(const struct boot_env *env, const struct arrival *a,
			  const struct boot_id *id, struct env_plan *ret)
{
	struct boot_id nobody = *id; /* the look checks whether this boot has armed a trial */
	struct boot_env counts;

	*nobody.id = '\0';
	env_plan_arrived(env, a->counts, a->in_root, ret);
	counts = ret->after;
	if (is_after_trial(env, a))
		env_plan_died(&counts, TRIAL_MAX, &nobody, ret);
	else
		env_plan_no_variable(&counts, &nobody, ret);
}

static bool is_unmarked(const char *cmdline)
{
	cleanup_free char *mark = kargs_value(cmdline, MARK_SLOT);

	return !mark;
}

static void plan_arrived(const struct boot_env *env, const struct arrival *a,
			 const struct boot_id *id, struct env_plan *ret)
{
	if (env->try_ == ENV_TAKEN && is_unmarked(a->cmdline) &&
	    (!a->alone || is_after_trial(env, a)))
		plan_unmarked(env, a, id, ret);
	else if (*env_slot(env, env->good) && env->good == trial_left_out(a->cmdline))
		env_plan_left_out(env, id, ret);
	else
		env_plan_arrived(env, a->counts, a->in_root, ret);
}

bool trial_arrival_is_due(int dirfd, const struct arrival *a)
{
	const struct boot_id nobody = {.id = ""};
	struct env_plan plan;
	struct boot_env env;
	int r = env_read(dirfd, &env, NULL);

	if (r == 0)
		plan_arrived(&env, a, &nobody, &plan);
	return r > 0 || (r == 0 && plan.n > 0);
}

/* 1: the file had to be mended, and has been; *err has the damage. */
static int mend(int dirfd, const struct boot_id *id, struct err *err)
{
	cleanup_free char *text = NULL;
	struct err later = {0};
	struct boot_env env;
	struct env_plan plan;
	size_t len;
	int r = env_read_bytes(dirfd, &text, &len, err), w;

	if (r == 0)
		r = env_parse(text, len, &env, err);
	if (r <= 0)
		return r;
	env_plan_mend(text, &env, id, &plan);
	w = env_write(dirfd, &plan, &later);
	if (w < 0)
		*err = later;
	return w < 0 ? w : 1;
}

int trial_arrived(int dirfd, const struct arrival *a, const struct boot_id *id, struct err *err)
{
	struct boot_env env;
	struct env_plan plan;
	int mended = mend(dirfd, id, err);
	int r = mended < 0 ? mended : env_read(dirfd, &env, NULL);

	if (r > 0)
		return err_set(err, -EIO, "%s could not be mended", ENV_FILE_NAME);
	if (r < 0)
		return r;
	plan_arrived(&env, a, id, &plan);
	r = env_write(dirfd, &plan, mended ? NULL : err);
	return r < 0 ? r : mended ? 2 : plan.n > 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

int trial_write(const struct root *root, int dirfd, const struct trial_facts *f,
		const struct trial *t, const struct boot_id *id, struct err *err)
{
	struct env_plan plan;
	int r;

	if ((t->decision != KARGS_WRITE_AND_REBOOT && t->decision != KARGS_WRITE_NO_REBOOT) ||
	    t->armed)
		return 0;
	/*
	 * Check before the file is created, because args that can't travel must leave no file
	 * behind.
	 */
	r = kargs_check(f->wanted, err);
	if (r < 0)
		return r;
	if (!f->env) {
		r = env_create(root, dirfd, id, NULL, err);
		return r < 0 ? r : 1;
	}
	if (t->decision == KARGS_WRITE_AND_REBOOT && t->again)
		r = env_plan_try_again(f->env, f->wanted, id, &plan, err);
	else if (t->decision == KARGS_WRITE_AND_REBOOT)
		r = env_plan_arm(f->env, f->wanted, t->deaths, id, &plan, err);
	else if (slot_is(f->env, f->env->good, f->wanted) || is_unknown_trial(f) || is_sealed(f))
		env_plan_disarm(f->env, id, &plan);
	else
		r = env_plan_adopt(f->env, f->wanted, !f->no_trial_why, id, &plan, err);
	return r < 0 ? r : env_write(dirfd, &plan, err);
}

void trial_weigh(const struct boot_env *env, enum trial_health health, struct trial *t)
{
	bool second = env->state.look == ENV_LOOK_SECOND;

	if (t->note == NOTE_COMMIT && health != TRIAL_FIT) {
		t->note = health == TRIAL_UNFIT || second ? NOTE_UNFIT : NOTE_LOOK_BACK;
		t->reboot = !second; /* the third reboot led into this trial */
	} else if (t->note == NOTE_LOOKED_BACK) {
		t->note = health == TRIAL_FIT ? NOTE_LOOKED_BACK : NOTE_UNFIT;
		t->reboot = health == TRIAL_FIT;
	} else if (t->note == NOTE_HEALTHY && health != TRIAL_FIT) {
		t->note = NOTE_NONE;
	}
}

static void plan_note(const struct boot_env *env, const struct trial *t, const struct boot_id *id,
		      struct env_plan *ret)
{
	switch (t->note) {
	case NOTE_COMMIT:
		env_plan_commit(env, t->slot, id, ret);
		break;
	case NOTE_DIED:
		env_plan_died(env, TRIAL_MAX, id, ret);
		break;
	case NOTE_NOT_ARRIVED:
		env_plan_not_arrived(env, id, ret);
		break;
	case NOTE_NO_VARIABLE:
		env_plan_no_variable(env, id, ret);
		break;
	case NOTE_UNFIT:
		env_plan_unfit(env, id, ret);
		break;
	case NOTE_LOOK_BACK:
		env_plan_look_back(env, id, ret);
		break;
	case NOTE_LOOKED_BACK:
		env_plan_look_again(env, id, ret);
		break;
	case NOTE_LOOK_OVER:
		env_plan_look_over(env, id, ret);
		break;
	case NOTE_HEALTHY:
		env_plan_healthy(env, ret);
		break;
	case NOTE_SUPERSEDED:
	case NOTE_NONE:
		env_plan_disarm(env, id, ret);
		break;
	}
}

/* Whether the boot with that line is the trial that GRUB took, as far as the line shows. */
static bool is_that_trial(const struct boot_env *env, const char *cmdline, enum env_end end)
{
	cleanup_free char *trial = kargs_value(cmdline, MARK_TRIAL);
	cleanup_free char *slot = kargs_value(cmdline, MARK_SLOT);

	if (trial)
		return slot && streq(slot, trial) && *slot != env->good;
	/* GRUB takes a trial before it shows its menu, and recovery entries have no variable. */
	return end == ENV_END_ALONE && !slot;
}

int trial_ended(int dirfd, const char *cmdline, enum env_end end, bool write, struct err *err)
{
	struct env_plan plan;
	struct boot_env env;
	int r = env_read(dirfd, &env, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	env_plan_ended(&env, end, &plan);
	if (!plan.n || !is_that_trial(&env, cmdline, end))
		return 0;
	r = write ? env_write(dirfd, &plan, err) : 0;
	return r < 0 ? r : 1;
}

int trial_settle(int dirfd, const struct trial *t, const struct boot_id *id, struct err *err)
{
	struct boot_env env;
	struct env_plan plan;
	int r;

	if (t->note == NOTE_NONE)
		return 0;
	r = env_read(dirfd, &env, err);
	if (r < 0)
		return r;
	if (t->end) /* pstore has reported a panic, which is not in the file */
		ends_note(env.ends, t->end);
	plan_note(&env, t, id, &plan);
	r = env_write(dirfd, &plan, err);
	return r < 0 ? r : plan.n > 0;
}
