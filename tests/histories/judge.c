/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge.h"

#include <string.h>

#include "boot/trial.h"

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
	LOST_ON_TRIAL = 2,
	LOST_GOOD = 3, /* two that began, and a trial */
	REBOOTS_MOST = 3,
	CALM_BOOTS = 6,
	ENDED_MOST = 2,
};

enum mark {
	MARK_FLIPPED = 1,  /* a byte, anywhere */
	MARK_TORN = 2,	   /* ... in a slot, a name or the signature */
	MARK_REPLACED = 4, /* the file was lost, emptied, or another one came back */
	MARK_COUNTER = 8,  /* an updater's counter was armed */
	MARK_KEXEC = 16,   /* a kernel was started with the line of another boot */
	MARK_KERNEL = 32,  /* the kernel has changed */
	MARK_CUT = 64,	   /* the power was cut at a write, or railhead killed */
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
	memset(s->past.lost, 0, sizeof(s->past.lost));
	s->past.reboots = 0;
}

static bool tears(uint8_t flip)
{
	uint16_t at = flips[flip].offset;

	return at < 39 || at == 40 || at == 72 || (at >= 523 && at < 3584);
}

static void count_event(struct state *n, const struct event *e)
{
	switch ((enum event_kind)e->kind) {
	case EVENT_RETRY:
	case EVENT_RESET:
		n->past.ended[n->wanted] = 0;
		n->past.failed &= (uint8_t)~(1 << n->wanted);
		begin_again(n);
		break;
	case EVENT_RESTORE:
		memset(n->past.ended, ENDED_MOST, sizeof(n->past.ended)); /* as it says */
		n->past.failed = 0xff;
		n->past.marks |= MARK_REPLACED;
		begin_again(n);
		break;
	case EVENT_LOST:
	case EVENT_EMPTIED:
		n->past.marks |= MARK_REPLACED;
		begin_again(n);
		break;
	case EVENT_FORGOTTEN:
		begin_again(n);
		break;
	case EVENT_FLIP:
		n->past.marks |= (uint8_t)(MARK_FLIPPED | (tears(e->which) ? MARK_TORN : 0));
		begin_again(n);
		break;
	case EVENT_COUNTER:
		n->past.marks |= MARK_COUNTER;
		begin_again(n);
		break;
	case EVENT_OTHER_KERNEL:
		n->past.marks |= MARK_KERNEL;
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
		n->past.marks |= MARK_CUT;
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
	if (e->entry == ENTRY_KEXEC_OTHER)
		n->past.marks |= MARK_KERNEL;
	if (e->entry == ENTRY_KEXEC || e->entry == ENTRY_KEXEC_OTHER)
		n->past.marks |= MARK_KEXEC;
}

void judge_count(const struct state *before, struct state *n, const struct event *e,
		 const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);
	enum args args = (enum args)line->args;

	count_event(n, e);
	if (seen->rebooted)
		more(&n->past.reboots, REBOOTS_MOST + 1);
	if (seen->began && !seen->settled && !seen->rebooted) {
		if (args < ARGS_COUNT)
			more(&n->past.ended[args], ENDED_MOST);
		if (args != before->wanted)
			more(&n->past.ended[before->wanted], ENDED_MOST);
	}
	if (seen->killed && seen->by_grub && seen->could_save)
		more(&n->past.lost[args][before->kernel], LOST_GOOD + 1);
	if (!seen->settled)
		return;
	if (!seen->fit)
		n->past.failed |= (uint8_t)(1 << before->wanted);
	else if (args < ARGS_COUNT)
		n->past.proven |= (uint8_t)(1 << args);
}

static unsigned int lost_most(const struct state *s, enum args args)
{
	return s->past.proven & 1 << args ? LOST_GOOD : LOST_ON_TRIAL;
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
	return len > 0 && !(before->past.marks & MARK_TORN);
}

static bool is_whole(const struct state *before, const struct line *line)
{
	return line->args != ARGS_OTHER ||
	       world_effect(before, ARGS_TWO, before->kernel) == EFFECT_DROPPED;
}

enum invariant judge_event(const struct state *before, const struct state *n,
			   const struct event *e, const struct seen *seen)
{
	const struct line *line = machine_line(seen->line);
	enum args args = (enum args)line->args;

	(void)e;
	if (is_lost(n))
		return INVARIANT_LOST;
	if (n->past.reboots > REBOOTS_MOST)
		return INVARIANT_REBOOTS;
	if (seen->by_grub && reads(before) && !(seen->counts && is_whole(before, line)))
		return INVARIANT_BOOTABLE;
	if (seen->by_grub && !line->trial && (args == ARGS_ONE || args == ARGS_TWO) &&
	    !(before->past.proven & 1 << args))
		return INVARIANT_COMMITTED;
	if (seen->ready && args != before->wanted)
		return INVARIANT_READY;
	return INVARIANT_NONE;
}

/* A person, or an updater, is needed: what docs/operating.md and the reports say. */
static bool needs_person(const struct state *s)
{
	return s->counter || natures[s->nature].read_only ||
	       world_effect(s, (enum args)s->wanted, s->kernel) != EFFECT_GOOD ||
	       s->past.ended[s->wanted] >= ENDED_MOST || s->past.failed & 1 << s->wanted;
}

enum invariant judge_state(const struct state *s)
{
	struct state at = *s, next;
	struct seen seen = {0};

	if (needs_person(s))
		return INVARIANT_NONE;
	for (int i = 0; i < CALM_BOOTS; i++) {
		world_calm_boot(&at, &next, &seen);
		at = next;
		if (seen.settled && !seen.rebooted &&
		    (seen.ready || (natures[s->nature].broken && seen.settled)))
			break;
	}
	if (natures[s->nature].broken)
		return INVARIANT_NONE;
	if (!seen.ready)
		return INVARIANT_STUCK;
	world_calm_boot(&at, &next, &seen);
	return seen.ready && !seen.wrote ? INVARIANT_NONE : INVARIANT_QUIET;
}

/* X(the invariant, whether the history is one of these, its name) */
#define KNOWN_FAULTS(X)

const char *judge_known(enum invariant broken, const struct state *before, const struct state *next,
			const struct event *e, const struct seen *seen)
{
	unsigned int marks = next->past.marks;

	(void)broken, (void)before, (void)e, (void)seen, (void)marks;
#define X(invariant, is, name)                            \
	if (broken == INVARIANT_##invariant && (is))      \
		return name;
	KNOWN_FAULTS(X)
#undef X
	return NULL;
}
