/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge.h"

#include <string.h>

#include "base/mem.h"
#include "boot/trial.h"
#include "boot/witness.h"

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
	LOST_GOOD = 4, /* two that began, a trial, and one that was armed before */
	LOST_UNDISTURBED = 3,
	REBOOTS_MOST = 3,
	CALM_BOOTS = 9,
	CALM_BOOTS_ALL = 11,
	ENDED_MOST = 2,
	ENDED_CHANGED, /* by others: the count says what it says, until stage early */
};

enum mark {
	MARK_FLIPPED = 1,  /* a byte, anywhere */
	MARK_TORN = 2,	   /* ... in a slot, a name or the signature */
	MARK_SELECTOR = 4, /* ... railhead_good or railhead_try */
	MARK_TWICE = 8,	   /* ... a second one */
	MARK_NO_SAVE = 16, /* GRUB counts no boots */
};

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
	for (int a = 0; a < ARGS_COUNT; a++)
		for (int k = 0; k < KERNELS; k++)
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

static bool tears(uint8_t flip)
{
	uint16_t at = flips[flip].offset;

	return at < 39 || at == 40 || at == 72 || (at >= 523 && at < 3584);
}

/* save_env wants a line feed before the '#' at the end. */
static bool keeps_grub_from_writing(uint8_t flip)
{
	return flips[flip].offset >= 3985;
}

static void count_event(const struct state *before, struct state *n, const struct event *e,
			const struct seen *seen)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_RETRY:
		/* It is about the kernel that runs. */
		if (n->file == before->file || n->runs != n->kernel)
			break;
		/* fall through */
	case EVENT_RESET:
		n->past.failed &= (uint8_t) ~(1 << n->wanted);
		begin_again(n);
		break;
	case EVENT_RESTORE:
		n->past.ended = ENDED_CHANGED;
		n->past.failed = (1 << ARGS_OTHER) - 1;
		begin_again(n);
		break;
	case EVENT_LOST:
	case EVENT_EMPTIED:
	case EVENT_FORGOTTEN:
		begin_again(n);
		break;
	case EVENT_FLIP:
		n->past.marks |= MARK_FLIPPED;
		if (keeps_grub_from_writing(e->which))
			n->past.marks |= MARK_NO_SAVE;
		/* GRUB writes it, so that no sum has it: it counts as what it says. */
		if (flips[e->which].offset == 3599)
			n->past.ended = ENDED_CHANGED;
		if (flips[e->which].offset == 39 || flips[e->which].offset == 54)
			n->past.marks |= MARK_SELECTOR;
		if (tears(e->which))
			n->past.marks |= MARK_TORN;
		if (!machine_sound(before->file) || before->past.marks & MARK_FLIPPED)
			n->past.marks |= MARK_TWICE;
		begin_again(n);
		break;
	case EVENT_COUNTER:
	case EVENT_OTHER_KERNEL:
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
	case EVENT_ALONE:
	case EVENT_LATE_PANIC:
	case EVENT_LATE_HANG:
	case EVENT_LATE_CUT:
	case EVENT_LATE_STOP:
		less(&n->past.reboots);
		break;
	default:
		break;
	}
	if (e->entry != ENTRY_MENU)
		less(&n->past.reboots);
	if (e->entry == ENTRY_BARE)
		n->past.reboots = seen->rebooted; /* the trial counts as never made */
	if (e->entry == ENTRY_READ_ONLY || e->entry == ENTRY_KEXEC || e->entry == ENTRY_KEXEC_OTHER)
		one_more_each(n);
	if (e->entry == ENTRY_KEXEC_OTHER) /* its reboot was for the other kernel */
		begin_again(n);
}

/* As GRUB counts them: trials apart, and those that railhead ends in the initrd stage. */
static void count_boot(struct state *n, const struct seen *seen, const struct line *line)
{
	if (!seen->began)
		return;
	if (seen->came || (seen->rebooted && !seen->judged && n->past.ended != ENDED_CHANGED))
		n->past.ended = 0;
	else if (seen->ran_grub && !line->trial && n->past.ended < ENDED_MOST)
		more(&n->past.ended, ENDED_MOST);
}

/*
 * Whether the verdict of a boot that railhead did not end begins another series of its reboots: not
 * that of a boot that the budget held back (boot/witness.h).
 */
static bool settles(const struct state *n, const struct seen *seen)
{
	return seen->settled &&
	       (seen->ready || (!natures[n->nature].forgets && n->witness / 2 < REBOOTS_MAX));
}

void judge_count(const struct state *before, struct state *n, const struct event *e,
		 const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);
	enum args args = (enum args)line->args;

	if (seen->rebooted) /* first: a boot that was cut gives back its own, too */
		more(&n->past.reboots, REBOOTS_MOST + 1);
	count_event(before, n, e, seen);
	if (seen->came && machine_sound(n->file))
		n->past.marks &= (uint8_t)~MARK_NO_SAVE;
	/* GRUB marked none that it began: a name was changed. */
	if (seen->ran_grub && !line->slot && before->past.marks & MARK_TORN)
		one_more_each(n);
	count_boot(n, seen, line);
	if (seen->healthy) { /* one of those that forgive */
		one_more_each(n);
		n->past.reboots = 0;
	}
	if (seen->rebooted)
		more(&n->unsettled, REBOOTS_MAX + 1);
	else if (settles(n, seen))
		n->unsettled = 0;
	/* It set the count back, for a verdict or a person, and was cut or killed then. */
	if ((seen->judged || !seen->began) && !n->witness)
		n->unsettled = 0;
	if (e->kind == EVENT_RETRY || e->kind == EVENT_RESET)
		n->unsettled = 0;
	if (seen->killed && seen->by_grub && seen->could_save)
		more(&n->past.lost[args]
				  [line->trial ? machine_trial_kernel(before->file, before->kernel)
					       : before->kernel],
		     LOST_NONE + LOST_GOOD + 2);
	if (!seen->judged)
		return;
	if (!seen->fit)
		n->past.failed |= (uint8_t)(1 << args);
	/* What fails with other arguments, too, is no fault of these. */
	if (args < ARGS_COUNT && (seen->fit || n->past.failed & ~(1 << args)))
		n->past.proven |= (uint8_t)(1 << args);
}

static unsigned int lost_most(const struct state *s, enum args args)
{
	unsigned int most = s->past.proven & 1 << args ? LOST_GOOD : LOST_ON_TRIAL;

	/* The copy may be from before the trial. */
	return LOST_NONE + most + !!(s->past.marks & MARK_TWICE);
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

enum invariant judge_event(const struct state *before, const struct state *n, const struct event *e,
			   const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);
	enum args args = (enum args)line->args;

	(void)e;
	if (is_lost(n))
		return INVARIANT_LOST;
	if (n->past.reboots > REBOOTS_MOST && !natures[n->nature].forgets &&
	    !(n->past.marks & MARK_TWICE))
		return INVARIANT_REBOOTS;
	if (n->unsettled > REBOOTS_MAX)
		return INVARIANT_BUDGET;
	if (seen->by_grub && reads(before) && !(seen->counts && is_whole(before, line)))
		return INVARIANT_BOOTABLE;
	if (seen->by_grub && !line->trial && (args == ARGS_ONE || args == ARGS_TWO) &&
	    !(before->past.proven & 1 << args))
		return INVARIANT_COMMITTED;
	if (seen->by_grub && line->left_out && before->past.ended < ENDED_MOST &&
	    !(before->past.marks & (MARK_TORN | MARK_TWICE)))
		return INVARIANT_KEPT;
	if (seen->ready && args != before->wanted &&
	    !(args == ARGS_OTHER && before->past.marks & MARK_TORN))
		return INVARIANT_READY;
	return INVARIANT_NONE;
}

/* A person, or an updater, is needed: what docs/operating.md and the reports say. */
static bool needs_person(const struct state *s)
{
	return s->counter || natures[s->nature].read_only || natures[s->nature].forgets ||
	       world_effect(s, (enum args)s->wanted, s->kernel) != EFFECT_GOOD;
}

static enum invariant undisturbed(const struct state *s)
{
	unsigned int killed = 0, reboots = 0, all = s->unsettled;
	struct state at = *s, next;
	struct seen seen = {0};
	bool ready = false, quiet = false;

	for (int i = 0; i < CALM_BOOTS_ALL; i++, at = next) {
		world_calm_boot(&at, &next, &seen);
		killed += seen.killed;
		reboots += seen.rebooted;
		all += seen.rebooted;
		if (!seen.rebooted && settles(&next, &seen))
			all = 0;
		if (all > REBOOTS_MAX)
			return INVARIANT_BUDGET;
		if (seen.healthy) { /* one of those that forgive */
			killed -= killed > 0;
			reboots = 0;
		}
		ready |= i < CALM_BOOTS && seen.ready && !seen.rebooted;
		quiet = seen.ready && !seen.wrote;
	}
	if (killed > (unsigned int)LOST_UNDISTURBED + machine_armed(s->file) &&
	    !natures[s->nature].read_only)
		return INVARIANT_LOST;
	if (reboots > REBOOTS_MOST && !natures[s->nature].forgets)
		return INVARIANT_REBOOTS;
	if (!ready)
		return all < REBOOTS_MAX ? INVARIANT_STUCK : INVARIANT_NONE;
	return quiet ? INVARIANT_NONE : INVARIANT_QUIET;
}

/* What has been, and the boot that is, say nothing of the next one. */
static void strip(const struct state *s, struct state *ret)
{
	*ret = (struct state){.file = machine_aged(s->file),
			      .before = s->before,
			      .trial = s->trial,
			      .nature = s->nature,
			      .wanted = s->wanted,
			      .kernel = s->kernel,
			      .counter = s->counter,
			      .panicked = s->panicked,
			      .unsettled = s->unsettled,
			      .witness = s->witness & (uint8_t)~1};
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
	if (s->past.marks & MARK_TWICE)
		return INVARIANT_NONE;
	if ((broken == INVARIANT_STUCK || broken == INVARIANT_QUIET) &&
	    (needs_person(s) || natures[s->nature].broken))
		return INVARIANT_NONE;
	return broken;
}

static bool kills_last(const struct state *s)
{
	for (enum args a = 0; a < ARGS_COUNT; a++)
		if (world_effect(s, a, s->kernel) == EFFECT_KILLS_LAST &&
		    (s->past.proven & 1 << a || s->past.marks & MARK_SELECTOR))
			return true;
	return false;
}

/* X(the invariant, whether the history is one of these, its name) */
/* clang-format off */
#define KNOWN_FAULTS(X)                                                                            \
	X(LOST, marks & MARK_NO_SAVE, NO_SAVE)                                                     \
	X(STUCK, marks & MARK_NO_SAVE, NO_SAVE)                                                    \
	X(LOST, marks & MARK_SELECTOR, SELECTOR)                                                   \
	X(REBOOTS, marks & MARK_SELECTOR, SELECTOR)                                                \
	X(BOOTABLE, marks & MARK_SELECTOR, SELECTOR)                                               \
	X(COMMITTED, marks & MARK_SELECTOR, SELECTOR)                                              \
	X(STUCK, marks & MARK_SELECTOR, SELECTOR)                                                  \
	X(LOST, kills_last(next), LAST)                                                            \
	X(STUCK, kills_last(next), LAST)
/* clang-format on */

#define NO_SAVE "a byte keeps GRUB from counting boots, then another kernel"
#define SELECTOR \
	"a selector is flipped to a slot that was never on trial, and GRUB boots what it reads"
#define LAST "good args kill another kernel behind stage early"

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
	}
	return a->past.reboots >= b->past.reboots && a->unsettled == b->unsettled &&
	       a->had.faults <= b->had.faults && a->had.incidents <= b->had.incidents &&
	       a->past.ended <= b->past.ended && !(a->past.failed & ~b->past.failed) &&
	       !(a->past.proven & ~b->past.proven) && !(a->past.marks & ~b->past.marks);
}
