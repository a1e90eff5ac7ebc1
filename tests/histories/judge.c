/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge.h"

#include <string.h>

#include "base/mem.h"
#include "boot/attempts.h"

const char *const invariant_name[INVARIANT_COUNT] = {
#define X(name, text, unless) #name,
	INVARIANTS(X)
#undef X
};
const char *const invariant_text[INVARIANT_COUNT] = {
#define X(name, text, unless) text,
	INVARIANTS(X)
#undef X
};
const char *const invariant_unless[INVARIANT_COUNT] = {
#define X(name, text, unless) unless,
	INVARIANTS(X)
#undef X
};

enum {
	LOST_NONE = 1, /* 0: one that is excused already, since the excuse came before it */
	LOST_ON_TRIAL = 2,
	LOST_GOOD = 3, /* two that were counted, and a trial */
	REBOOTS_MOST = 3,
	CALM_BOOTS = 5,
	CALM_BOOTS_ALL = 8,
	ENDED_MOST = 2,
	ENDED_CHANGED, /* by others: the count says what it says, until a verdict */
};

enum mark {
	MARK_TORN = 1,	   /* a byte was changed in a slot, a name or the signature */
	MARK_SELECTOR = 2, /* ... in railhead_good or railhead_try */
	MARK_NO_SAVE = 4,  /* ... behind the values, so that GRUB counts no boots */
	MARK_UNFAIR = 8,   /* args were refused for no reason */
	/* Since the last reboot, which both count: */
	MARK_FILE = 16,	  /* railhead.env was lost, changed or replaced */
	MARK_RECORD = 32, /* /var/lib/railhead was */
			  /* Since the boot began: */
};

/* What the last verdict without a trial has shown. */
enum known {
	KNOWN_KERNEL = 3,	/* of that verdict: one more than its number; 0: there was none */
	KNOWN_FAILED = 4,	/* the item */
	KNOWN_HELD = 8,		/* the measurement */
	KNOWN_UP = 16,		/* the carrier */
	KNOWN_TO_RAILHEAD = 32, /* perhaps: its record came back, or was cut off */
};

enum { DEATHS = 3, DEATHS_BITS = 2 };

static void less(uint8_t *n)
{
	if (*n)
		--*n;
}

static void more(uint8_t *n, uint8_t most)
{
	if (*n < most)
		++*n;
}

static void one_more_each(struct state *s)
{
	for (enum args a = 0; a < ARGS_COUNT; a++)
		for (uint8_t k = 0; k < KERNELS; k++)
			if (world_effect(s, a, k) == EFFECT_KILLS)
				less(&s->past.lost[a][k]);
}

static void begin_again(struct state *s)
{
	memset(s->past.lost, LOST_NONE, sizeof(s->past.lost));
	s->past.reboots = 0;
}

void judge_init(struct state *s)
{
	begin_again(s);
}

static unsigned int deaths(const struct state *s, enum args args)
{
	return s->past.died >> args * DEATHS_BITS & DEATHS;
}

static void set_deaths(struct state *s, enum args args, unsigned int to)
{
	s->past.died &= (uint8_t) ~(DEATHS << args * DEATHS_BITS);
	s->past.died |= (uint8_t)((to > DEATHS ? DEATHS : to) << args * DEATHS_BITS);
}

/* Of these args; of ARGS_OTHER: of any. */
static void may_have_died(struct state *s, enum args args)
{
	for (enum args a = 0; a < ARGS_COUNT; a++)
		if (a == args || args == ARGS_OTHER)
			set_deaths(s, a, deaths(s, a) + 1);
}

static bool tears(uint8_t flip)
{
	uint16_t at = flips[flip].offset;

	return at < 39 || at == 40 || at == 72 || (at >= 523 && at < 3584);
}

/* save_env wants a line feed before the '#' at the end, and the snippet a count. */
static bool keeps_grub_from_counting(const struct flip *f)
{
	return f->offset > 3599 || (f->offset == 3599 && f->to == 'x');
}

static void count_event(struct state *n, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_RETRY:
	case EVENT_RESET:
		n->past.died = 0;
		n->past.marks &= (uint8_t) ~(MARK_FILE | MARK_RECORD);
		n->unsettled = 0;
		begin_again(n);
		break;
	case EVENT_RESTORE:
		n->past.ended = ENDED_CHANGED;
		n->past.died = UINT8_MAX; /* what was counted may be counted again */
					  /* fall through */
	case EVENT_LOST:
	case EVENT_EMPTIED:
		n->past.marks |= MARK_FILE;
		begin_again(n);
		break;
	case EVENT_ROLL_BACK:
		n->past.died = UINT8_MAX;
		/* fall through */
	case EVENT_FORGOTTEN: /* and how the trial ended */
		may_have_died(n, ARGS_OTHER);
		n->past.marks |= MARK_RECORD;
		begin_again(n);
		break;
	case EVENT_FLIP:
		n->past.marks |= MARK_FILE;
		may_have_died(n, ARGS_OTHER);
		/* GRUB writes it, so that no sum has it: it counts as what it says. */
		if (flips[e->which].offset == 3599)
			n->past.ended = ENDED_CHANGED;
		if (flips[e->which].offset == 39 || flips[e->which].offset == 54)
			n->past.marks |= MARK_SELECTOR;
		if (tears(e->which))
			n->past.marks |= MARK_TORN;
		if (keeps_grub_from_counting(&flips[e->which]))
			n->past.marks |= MARK_NO_SAVE;
		begin_again(n);
		break;
	case EVENT_COUNTER:
	case EVENT_OTHER_KERNEL:
	case EVENT_NEW_KERNEL:
		begin_again(n);
		break;
	case EVENT_WANT_NONE:
	case EVENT_WANT_ONE:
	case EVENT_WANT_TWO:
		one_more_each(n);
		n->past.reboots = 0;
		break;
	case EVENT_CUT_WRITE:
	case EVENT_KILL_WRITE:
	case EVENT_HAND_CUT:
	case EVENT_HAND_KILL:
		if (e->which >= 200)
			begin_again(n);
		one_more_each(n);
		less(&n->past.reboots);
		break;
	case EVENT_PANIC:
	case EVENT_HANG:
	case EVENT_CUT:
	case EVENT_STOP:
	case EVENT_ALONE:
		less(&n->past.reboots);
		break;
	default:
		break;
	}
	if (e->entry != ENTRY_MENU)
		less(&n->past.reboots);
	if (e->entry == ENTRY_READ_ONLY || e->entry == ENTRY_KEXEC || e->entry == ENTRY_KEXEC_OTHER)
		one_more_each(n);
	if (e->entry == ENTRY_KEXEC_OTHER) /* its reboot was for the other kernel */
		begin_again(n);
}

/* A trial that ends so had no verdict, and was not shut down in order. */
static bool dies(const struct event *e, const struct seen *seen)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_PANIC:
	case EVENT_HANG:
	case EVENT_CUT:
	case EVENT_ALONE:
	case EVENT_CUT_WRITE:
	case EVENT_KILL_WRITE:
		return true;
	default:
		return seen->killed;
	}
}

static void count_deaths(const struct state *before, struct state *n, const struct event *e,
			 const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);

	if (e->kind == EVENT_RETRY && line->trial && machine_rest(n->file) == REST_TAKEN)
		may_have_died(n, ARGS_OTHER); /* it may still */
	else if (seen->committed)
		set_deaths(n, (enum args)line->args, 0);
	else if (line->trial ? dies(e, seen)
			     : seen->wrote_grub && machine_rest(before->file) == REST_ARMED)
		may_have_died(n, line->trial ? (enum args)line->args : ARGS_OTHER);
	if (line->left_out)
		may_have_died(n, ARGS_OTHER);
}

enum fit { FIT, UNFIT, FIT_PERHAPS };

/* Whether something failed in this boot that held before, as far as anybody knows. */
static enum fit fits(const struct state *before, const struct seen *seen)
{
	uint8_t known = before->past.known;
	bool same = (known & KNOWN_KERNEL) == 1 + seen->kernel;

	if (!seen->failed && !seen->missed && !seen->no_carrier)
		return FIT;
	if (known & KNOWN_TO_RAILHEAD)
		return FIT_PERHAPS;
	if (seen->failed && !(same && known & KNOWN_FAILED))
		return UNFIT;
	return same && ((seen->missed && known & KNOWN_HELD) ||
			(seen->no_carrier && known & KNOWN_UP))
		       ? UNFIT
		       : FIT;
}

static void learn(const struct state *before, struct state *n, const struct event *e,
		  const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);
	/* The line of a boot that goes on, or came by kexec, has the mark of a trial that is over.
	 */
	bool on_trial = line->trial && !seen->committed &&
			machine_good(before->file) != (enum args)line->args;
	uint8_t known = n->past.known;

	if (e->kind == EVENT_RESET || e->kind == EVENT_FORGOTTEN)
		n->past.known = 0;
	if (e->kind == EVENT_ROLL_BACK || e->kind == EVENT_RESTORE || e->kind == EVENT_FLIP ||
	    e->which >= 200)
		n->past.known = KNOWN_TO_RAILHEAD;
	if (seen->judges && !seen->judged)
		n->past.known = KNOWN_TO_RAILHEAD; /* cut or killed */
	if (natures[n->nature].forgets_record)
		n->past.known = 0;
	if (!seen->judged || !seen->judges || on_trial)
		return;
	if (known & KNOWN_TO_RAILHEAD && !seen->measured)
		return; /* the measurement before may be known to it */
	if ((known & KNOWN_KERNEL) != 1 + seen->kernel)
		known = (uint8_t)(1 + seen->kernel);
	known &= (uint8_t) ~(KNOWN_FAILED | KNOWN_UP | (seen->measured ? KNOWN_HELD : 0));
	if (seen->failed)
		known |= KNOWN_FAILED;
	if (!seen->no_carrier)
		known |= KNOWN_UP;
	if (seen->measured && !seen->missed)
		known |= KNOWN_HELD;
	n->past.known = known;
}

/* Each refusal that this event made has a reason. */
static void judge_refusals(const struct state *before, struct state *n, const struct event *e,
			   const struct seen *seen)
{
	uint32_t made = machine_refusals(n->record) & ~machine_refusals(before->record);
	const struct line *line = machine_line(seen->line);

	if (!made || e->kind == EVENT_ROLL_BACK)
		return;
	for (enum args a = 0; a < ARGS_COUNT; a++)
		for (uint8_t k = 0; k < KERNELS; k++) {
			if ((made & machine_refusal(WHY_DIED, a, k) && deaths(n, a) < 2) ||
			    (made & machine_refusal(WHY_UNFIT, a, k) &&
			     (!line->trial || line->args != a || fits(before, seen) == FIT)) ||
			    (made & machine_refusal(WHY_LOST, a, k) &&
			     (!line->trial || line->args == a)))
				n->past.marks |= MARK_UNFAIR;
			if (made & machine_refusal(WHY_DIED, a, k))
				set_deaths(n, a, 0);
		}
}

/* railhead set the count back, for a verdict or a person, and was cut or killed then. */
static uint8_t set_back(const struct state *before, const struct state *n, const struct event *e)
{
	uint8_t marks = 0;

	if (e->kind != EVENT_CUT_WRITE && e->kind != EVENT_KILL_WRITE &&
	    e->kind != EVENT_HAND_CUT && e->kind != EVENT_HAND_KILL)
		return 0;
	if (machine_counted(before->file, 0) > 0 && machine_counted(n->file, 0) == 0)
		marks |= MARK_FILE;
	if (machine_counted(0, before->record) > 0 && machine_counted(0, n->record) == 0)
		marks |= MARK_RECORD;
	return marks;
}

static void count_unsettled(const struct state *before, struct state *n, const struct event *e,
			    const struct seen *seen)
{
	const struct nature *nature = &natures[n->nature];
	uint8_t both = MARK_FILE | MARK_RECORD, lost;

	n->past.marks |= set_back(before, n, e);
	lost = (uint8_t)(n->past.marks | (nature->forgets ? MARK_FILE : 0) |
			 (nature->forgets_record ? MARK_RECORD : 0));
	if (seen->rebooted)
		more(&n->unsettled, REBOOTS_MOST + 1);
	else if (seen->settled || (lost & both) == both)
		n->unsettled = 0;
	else
		return;
	n->past.marks &= (uint8_t)~both;
}

/* As GRUB counts them. */
static void count_boot(struct state *n, const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);

	/* Nobody can set back the count in a file that is damaged. */
	if (seen->judged && line->slot && line->args == machine_good(n->file) &&
	    machine_rest(n->file) != REST_DAMAGED)
		n->past.ended = 0;
	else if (seen->counted && n->past.ended < ENDED_MOST)
		more(&n->past.ended, ENDED_MOST);
}

void judge_count(const struct state *before, struct state *n, const struct event *e,
		 const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);
	enum args args = (enum args)line->args;

	if (seen->rebooted) /* first: a boot that was cut gives back its own, too */
		more(&n->past.reboots, REBOOTS_MOST + 1);
	count_event(n, e);
	if (machine_sound(n->file))
		n->past.marks &= (uint8_t)~MARK_NO_SAVE;
	/* GRUB marked none that it began: a name was changed. */
	if (seen->ran_grub && !line->slot && before->past.marks & MARK_TORN)
		one_more_each(n);
	count_boot(n, seen);
	count_deaths(before, n, e, seen);
	judge_refusals(before, n, e, seen);
	count_unsettled(before, n, e, seen);
	if (seen->killed && seen->by_grub && seen->could_save && (line->trial || line->counted))
		more(&n->past.lost[args][before->kernel], LOST_NONE + LOST_GOOD + 2);
	learn(before, n, e, seen);
	if (seen->judges && args < ARGS_COUNT && fits(before, seen) != UNFIT)
		n->past.proven |= (uint8_t)(1 << args);
}

static unsigned int lost_most(const struct state *s, enum args args)
{
	unsigned int most = s->past.proven & 1 << args ? LOST_GOOD : LOST_ON_TRIAL;

	if (natures[s->nature].forgets_record)
		most = REBOOTS_MOST;
	return LOST_NONE + most;
}

static bool is_lost(const struct state *n)
{
	for (int a = 0; a < ARGS_COUNT; a++)
		for (int k = 0; k < KERNELS; k++)
			if (n->past.lost[a][k] > lost_most(n, (enum args)a))
				return true;
	return false;
}

/* The file was there, and nobody else has written to it. */
static bool reads(const struct state *before)
{
	size_t len;

	machine_file(before->file, &len);
	return len > 0 && !(before->past.marks & MARK_TORN) && !natures[before->nature].forgets;
}

static bool is_whole(const struct state *before, const struct line *line)
{
	return line->args != ARGS_OTHER ||
	       world_effect(before, ARGS_TWO, before->kernel) == EFFECT_DROPPED;
}

/* GRUB wrote, or put more onto the line, by itself. */
static bool is_constant(const struct state *before, const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);

	if (!seen->ran_grub || machine_marked(before->file))
		return true;
	return !seen->wrote_grub && (!seen->by_grub || (!line->trial && !line->counted));
}

static bool is_attended(const struct state *before, const struct state *n, const struct event *e)
{
	if (machine_rest(before->file) == REST_ARMED || machine_rest(n->file) != REST_ARMED)
		return true;
	switch ((enum event_kind)e->kind) {
	case EVENT_BOOT:
	case EVENT_BOOT_FAILS:
	case EVENT_BOOT_WAITS:
	case EVENT_CUT_WRITE:
	case EVENT_KILL_WRITE:
	case EVENT_AGAIN:
	case EVENT_AGAIN_FAILS:
	case EVENT_HAND_CUT:
	case EVENT_HAND_KILL:
	case EVENT_RESTORE:
	case EVENT_FLIP:
		return true;
	default:
		return false;
	}
}

/* Good args kill a kernel that came without a word to railhead. */
static bool is_unannounced(const struct state *s)
{
	for (enum args a = 0; a < ARGS_COUNT; a++)
		if (s->past.proven & 1 << a && !s->marked &&
		    world_effect(s, a, s->kernel) == EFFECT_KILLS)
			return true;
	return false;
}

/* A person, or an updater, is needed: what docs/operating.md and the reports say. */
static bool needs_person(const struct state *s)
{
	return s->counter || is_unannounced(s) || natures[s->nature].read_only ||
	       natures[s->nature].forgets || natures[s->nature].broken ||
	       world_effect(s, (enum args)s->wanted, s->kernel) != EFFECT_GOOD;
}

/* railhead says so: the file is damaged, the args are refused, or its reboots were made. */
static bool is_given_up(const struct state *s)
{
	uint32_t refused = 0;

	for (enum refusal_why why = 0; why < WHY_COUNT; why++)
		refused |= machine_refusal(why, (enum args)s->wanted, s->kernel);
	return machine_refusals(s->record) & refused || machine_rest(s->file) == REST_DAMAGED ||
	       machine_counted(s->file, s->record) >= REBOOTS_MOST;
}

/*
 * GRUB has read an earlier file of railhead's own, and railhead leaves it at that. The line is then
 * as of a GRUB that can't write.
 */
static bool is_left_alone(const struct state *before, const struct state *n, const struct event *e,
			  const struct seen *seen)
{
	return e->kind == EVENT_BOOT && (e->entry == ENTRY_UNSEEN || e->entry == ENTRY_READ_ONLY) &&
	       world_is_cut_off(before) && !(before->past.marks & (MARK_FILE | MARK_SELECTOR)) &&
	       seen->judged && !seen->ready && !seen->rebooted && !needs_person(before) &&
	       !is_given_up(n);
}

enum invariant judge_event(const struct state *before, const struct state *n, const struct event *e,
			   const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);
	enum args args = (enum args)line->args;

	if (is_lost(n))
		return INVARIANT_LOST;
	if (n->past.reboots > REBOOTS_MOST && !natures[n->nature].forgets)
		return INVARIANT_REBOOTS;
	if (n->unsettled > REBOOTS_MOST)
		return INVARIANT_BUDGET;
	if (n->past.marks & MARK_UNFAIR)
		return INVARIANT_FAIR;
	if (seen->by_grub && reads(before) && !(seen->counts && is_whole(before, line)))
		return INVARIANT_BOOTABLE;
	if (seen->by_grub && !line->trial && (args == ARGS_ONE || args == ARGS_TWO) &&
	    !(before->past.proven & 1 << args))
		return INVARIANT_COMMITTED;
	if (seen->by_grub && line->left_out && before->past.ended < ENDED_MOST &&
	    !(before->past.marks & (MARK_TORN | MARK_SELECTOR)))
		return INVARIANT_KEPT;
	if (!is_constant(before, seen))
		return INVARIANT_CONSTANT;
	if (!is_attended(before, n, e))
		return INVARIANT_ATTENDED;
	if (seen->ready && args != before->wanted &&
	    !(args == ARGS_OTHER && before->past.marks & MARK_TORN))
		return INVARIANT_READY;
	return is_left_alone(before, n, e, seen) ? INVARIANT_STUCK : INVARIANT_NONE;
}

static enum invariant undisturbed(const struct state *s)
{
	unsigned int killed = 0, reboots = 0, all = s->unsettled;
	struct state at = *s, next;
	struct seen seen = {0};
	bool ready = false, quiet = false;

	for (int i = 0; i < CALM_BOOTS_ALL; i++, at = next) {
		world_calm_boot(&at, &next, &seen);
		if (machine_line(seen.line)->trial || machine_line(seen.line)->counted)
			killed += seen.killed;
		reboots += seen.rebooted;
		all += seen.rebooted;
		if (seen.settled)
			all = 0;
		if (all > REBOOTS_MOST)
			return INVARIANT_BUDGET;
		ready |= i < CALM_BOOTS && seen.ready && !seen.rebooted;
		quiet = seen.ready && !seen.wrote;
	}
	if (killed > LOST_GOOD && !natures[s->nature].read_only)
		return INVARIANT_LOST;
	if (reboots > REBOOTS_MOST && !natures[s->nature].forgets)
		return INVARIANT_REBOOTS;
	if (!ready)
		return is_given_up(&at) ? INVARIANT_NONE : INVARIANT_STUCK;
	/* GRUB counts until the verdict of a kernel that the menu does not boot. */
	return quiet || machine_expects_other(at.record, at.kernel) ||
			       machine_rest(at.file) == REST_DAMAGED
		       ? INVARIANT_NONE
		       : INVARIANT_QUIET;
}

/* What has been, and the boot that is, say nothing of the next one. */
static void strip(const struct state *s, struct state *ret)
{
	*ret = (struct state){.file = s->file,
			      .record = machine_aged(s->record),
			      .end = s->end,
			      .nature = s->nature,
			      .wanted = s->wanted,
			      .kernel = s->kernel,
			      .counter = s->counter,
			      .unsettled = s->unsettled};
}

static struct {
	struct verdict_of {
		struct state s;
		uint8_t broken; /* one more than the invariant; 0: a free place */
	} * v;
	size_t n, size;
} known_ends;

static struct verdict_of *place_of(const struct state *s)
{
	size_t at = world_hash(s) & (known_ends.size - 1);

	while (known_ends.v[at].broken && memcmp(&known_ends.v[at].s, s, sizeof(*s)) != 0)
		at = (at + 1) & (known_ends.size - 1);
	return &known_ends.v[at];
}

static void grow_ends(void)
{
	struct verdict_of *was = known_ends.v;
	size_t size = known_ends.size;

	known_ends.size = size ? size * 2 : 1 << 14;
	known_ends.v = xcalloc(known_ends.size, sizeof(*known_ends.v));
	for (size_t i = 0; i < size; i++)
		if (was[i].broken)
			*place_of(&was[i].s) = was[i];
	free(was);
}

enum invariant judge_state(const struct state *s)
{
	struct verdict_of *v;
	enum invariant broken;
	struct state from;

	strip(s, &from);
	if (known_ends.n * 2 >= known_ends.size)
		grow_ends();
	v = place_of(&from);
	if (!v->broken) {
		v->s = from;
		v->broken = (uint8_t)(undisturbed(&from) + 1);
		known_ends.n++;
	}
	broken = (enum invariant)(v->broken - 1);
	if ((broken == INVARIANT_STUCK || broken == INVARIANT_QUIET) && needs_person(s))
		return INVARIANT_NONE;
	return broken;
}

/* X(the invariant, whether the history is one of these, its name) */
/* clang-format off */
#define KNOWN_FAULTS(X)                                                                            \
	X(LOST, marks & MARK_NO_SAVE, NO_SAVE)                                                     \
	X(STUCK, marks & MARK_NO_SAVE, NO_SAVE)                                                    \
	X(LOST, marks & MARK_SELECTOR, SELECTOR)                                                   \
	X(REBOOTS, marks & MARK_SELECTOR, SELECTOR)                                                \
	X(BOOTABLE, marks & MARK_SELECTOR, SELECTOR)                                               \
	X(COMMITTED, marks & MARK_SELECTOR, SELECTOR)
/* clang-format on */

#define NO_SAVE "a byte keeps GRUB from counting boots, then another kernel is installed"
#define SELECTOR \
	"a selector is flipped to a slot that was never on trial, and GRUB boots what it reads"

const char *judge_known(enum invariant broken, const struct state *before, const struct state *next,
			const struct event *e, const struct seen *seen)
{
	unsigned int marks = next->past.marks;

	(void)broken, (void)before, (void)e, (void)seen, (void)marks;
#define X(invariant, is, name)                       \
	if (broken == INVARIANT_##invariant && (is)) \
		return name;
	KNOWN_FAULTS(X)
#undef X
	return NULL;
}

bool judge_covers(const struct state *a, const struct state *b)
{
	for (int i = 0; i < ARGS_COUNT; i++) {
		for (int k = 0; k < KERNELS; k++)
			if (a->past.lost[i][k] < b->past.lost[i][k])
				return false;
		if (deaths(a, (enum args)i) > deaths(b, (enum args)i))
			return false;
	}
	return a->past.reboots >= b->past.reboots && a->unsettled == b->unsettled &&
	       a->had.faults <= b->had.faults && a->had.incidents <= b->had.incidents &&
	       a->past.ended <= b->past.ended && a->past.known == b->past.known &&
	       !(a->past.proven & ~b->past.proven) && !(a->past.marks & ~b->past.marks);
}
