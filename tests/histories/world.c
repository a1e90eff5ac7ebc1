/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "world.h"

#include <stddef.h>
#include <string.h>

#include "boot/trial.h"
#include "judge.h"
#include "plan/change.h"

const char *const event_text[EVENT_COUNT] = {
#define X(name, faults, text) text,
	EVENTS(X)
#undef X
};

static const uint8_t event_faults[EVENT_COUNT] = {
#define X(name, faults, text) faults,
	EVENTS(X)
#undef X
};

const char *const entry_text[ENTRY_COUNT] = {
#define X(name, faults, text) text,
	ENTRIES(X)
#undef X
};

static const uint8_t entry_faults[ENTRY_COUNT] = {
#define X(name, faults, text) faults,
	ENTRIES(X)
#undef X
};

#define GOOD EFFECT_GOOD
const struct nature natures[] = {
	{.name = "all arguments are good"},
	{.name = "a=1 kills each kernel", .effect = {[ARGS_ONE] = {EFFECT_KILLS, EFFECT_KILLS}}},
	{.name = "a=1 kills the other kernel", .effect = {[ARGS_ONE] = {GOOD, EFFECT_KILLS}}},
	{.name = "a=1 kills each kernel after the initrd stage",
	 .effect = {[ARGS_ONE] = {EFFECT_KILLS_LATE, EFFECT_KILLS_LATE}}},
	{.name = "a=1 kills the other kernel after the initrd stage",
	 .effect = {[ARGS_ONE] = {GOOD, EFFECT_KILLS_LATE}}},
	{.name = "a=1 kills the other kernel after stage early",
	 .effect = {[ARGS_ONE] = {GOOD, EFFECT_KILLS_LAST}}},
	{.name = "the kernel loses one of a=2",
	 .effect = {[ARGS_TWO] = {EFFECT_DROPPED, EFFECT_DROPPED}}},
	{.name = "an item fails with a=2", .effect = {[ARGS_TWO] = {EFFECT_FAILS, EFFECT_FAILS}}},
	{.name = "an item fails with any arguments", .broken = true},
	{.name = "GRUB can never write", .read_only = true},
	{.name = "railhead.env is lost before each boot", .forgets = true},
};
const unsigned int n_natures = sizeof(natures) / sizeof(*natures);

/* --- what is the same in all events -------------------------------------------------------------
 */

static struct {
	const struct state *s; /* before the event */
	void (*emit)(const struct state *next, const struct event *e, const struct seen *seen);
	struct event event;
	struct seen seen;
	struct bounds most;
	/* Nothing but a boot to its end: where that leads. */
	bool calm;
	struct state *calm_end;
	struct seen calm_seen;
} w;

/* False: that is one too many. What is not bounded is not counted, so that it parts no states. */
static bool count(uint8_t *n, uint8_t most, int more)
{
	if (most != UNBOUNDED)
		*n = (uint8_t)(*n + more);
	return *n <= most;
}

static void emit(enum event_kind kind, uint8_t which, struct state n, const struct seen *seen)
{
	struct event e = w.event;

	e.kind = (uint8_t)kind;
	e.which = which;
	if (w.calm) {
		*w.calm_end = n;
		w.calm_seen = *seen;
		return;
	}
	if (count(&n.had.faults, w.most.faults, event_faults[kind] + entry_faults[e.entry]) &&
	    count(&n.had.incidents, w.most.incidents, kind != EVENT_BOOT || e.entry != ENTRY_MENU))
		w.emit(&n, &e, seen);
}

static void switch_off(struct state *n)
{
	n->line = 0;
	n->boot = 0;
	n->runs = 0;
	n->up = n->alone = n->counted = false;
	n->witness &= (uint8_t)~1;
	n->file = machine_aged(n->file);
	/* Nobody asks for the record of another trial than the one that GRUB took. */
	if (machine_rest(n->file) != REST_TAKEN)
		n->panicked = false;
}

static void off(enum event_kind kind, uint8_t which, struct state n, const struct seen *seen)
{
	switch_off(&n);
	emit(kind, which, n, seen);
}

static void up(enum event_kind kind, uint8_t which, struct state n, const struct seen *seen)
{
	n.up = true;
	emit(kind, which, n, seen);
}

static void snapped(struct state *n, const struct snap *s)
{
	n->file = s->file;
	n->before = s->before;
	n->trial = s->trial;
	n->witness = s->witness;
	n->counted = s->counted;
}

/* What the call was not told, and so has not touched. */
static void restore(const struct state *s, enum op op, struct snap *to)
{
	if (op == OP_STAGE || op == OP_SETTLE)
		return;
	to->before = s->before;
	to->trial = s->trial;
	to->counted = s->counted;
	if (op == OP_COUNT)
		to->file = s->file;
	else if (op != OP_RESET)
		to->witness = s->witness;
}

static struct call call(const struct state *s, enum op op, unsigned int flags)
{
	struct facts f = {.op = (uint8_t)op,
			  .file = s->file,
			  .line = s->line,
			  .wanted = s->wanted,
			  .kernel = s->runs,
			  .boot = s->boot,
			  .witness = s->witness,
			  .counted = s->counted,
			  .flags = (uint8_t)(flags | (s->counter ? FACT_COUNTER : 0))};

	/* As few distinct calls as there can be. */
	switch (op) {
	case OP_GRUB:
		f.line = 0, f.wanted = 0, f.kernel = 0, f.boot = 0;
		f.flags = flags & FACT_CAN_SAVE;
		f.witness = f.counted = 0;
		break;
	case OP_ARRIVE:
	case OP_ROOT:
	case OP_STOP:
	case OP_TIMER:
		f.wanted = 0;
		f.flags = flags & FACT_ALONE;
		f.witness = f.counted = 0;
		break;
	case OP_COUNT:
		f.file = 0;
		f.line = 0;
		/* fall through */
	case OP_RESET:
		f.wanted = 0;
		f.flags = 0;
		f.counted = 0;
		break;
	case OP_STAGE:
	case OP_SETTLE:
		f.before = s->before;
		f.trial = s->trial;
		f.flags |= s->panicked ? FACT_PANICKED : 0;
		break;
	}
	{
		struct call c = *machine_call(&f);

		restore(s, op, &c.end);
		return c;
	}
}

static void snapped_of(const struct state *s, struct state *n, const struct snap *snap, enum op op)
{
	struct snap whole = *snap;

	restore(s, op, &whole);
	snapped(n, &whole);
}

enum effect world_effect(const struct state *s, enum args args, uint8_t kernel)
{
	return args >= ARGS_COUNT ? EFFECT_GOOD : natures[s->nature].effect[args][kernel];
}

/* Of the arguments on the line of this boot. */
static enum effect effect(const struct state *n)
{
	return world_effect(n, machine_line(n->line)->args, n->runs);
}

static unsigned int failing(const struct state *n)
{
	return (effect(n) == EFFECT_FAILS ? FACT_FAILS : 0) |
	       (natures[n->nature].broken ? FACT_FAILS_TOO : 0);
}

/* As reboot_node(): true, and the boot is over, unless the count of reboots forbids it. */
static bool reboots(struct state *n)
{
	struct call c = call(n, OP_COUNT, 0);

	snapped(n, &c.end);
	return !c.failed;
}

/* --- the gate
 * -------------------------------------------------------------------------------------- */

static void settle(struct state n, unsigned int fails, enum event_kind kind, bool with_faults)
{
	struct seen seen = w.seen;
	struct call c = call(&n, OP_SETTLE, fails);
	struct state end = n;

	snapped(&end, &c.end);
	seen.judged = true;
	seen.fit = !(fails & FACT_FAILS);
	for (uint8_t i = 0; with_faults && !w.calm && i < c.n_cuts; i++) {
		struct state cut = n;

		snapped(&cut, &c.cut[i]);
		off(kind == EVENT_SOFT || kind == EVENT_SOFT_FAILS ? EVENT_HAND_CUT
								   : EVENT_CUT_WRITE,
		    (uint8_t)(100 + i), cut, &seen);
	}
	for (uint8_t i = 0; with_faults && !w.calm && i < c.n_kills; i++) {
		struct state killed = n;

		snapped(&killed, &c.kill[i]);
		up(kind == EVENT_SOFT || kind == EVENT_SOFT_FAILS ? EVENT_HAND_KILL
								  : EVENT_KILL_WRITE,
		   (uint8_t)(100 + i), killed, &seen);
	}
	seen.settled = true;
	seen.ready = c.same && !c.blocked && !(fails & (FACT_FAILS | FACT_FAILS_TOO));
	seen.wrote |= end.file != n.file;
	seen.healthy = c.note == NOTE_HEALTHY;
	seen.rebooted = c.reboot && reboots(&end);
	if (seen.rebooted)
		off(kind, 0, end, &seen);
	else
		up(kind, 0, end, &seen);
}

/* --- a boot, from railhead on
 * ------------------------------------------------------------------------ */

/* The units note how the boot ends. */
static void ends(enum event_kind kind, enum op op, struct state n, const struct seen *seen)
{
	struct call c = call(&n, op, 0);

	snapped(&n, &c.end);
	off(kind, 0, n, seen);
}

/* How a boot goes on after a stage that was killed. */
typedef void (*after)(struct state n, enum event_kind kind, uint8_t which, bool with_faults);

static void cuts_and_kills(const struct state *n, const struct call *c, enum op op, uint8_t base,
			   after then)
{
	for (uint8_t i = 0; i < c->n_cuts; i++) {
		struct state cut = *n;

		snapped_of(n, &cut, &c->cut[i], op);
		off(EVENT_CUT_WRITE, (uint8_t)(base + i), cut, &w.seen);
	}
	for (uint8_t i = 0; i < c->n_kills; i++) {
		struct state killed = *n;

		snapped_of(n, &killed, &c->kill[i], op);
		then(killed, EVENT_KILL_WRITE, (uint8_t)(base + i), false);
	}
}

static void end_early(struct state n, uint8_t which)
{
	off(EVENT_LATE_CUT, which, n, &w.seen);
	ends(EVENT_LATE_HANG, OP_TIMER, n, &w.seen);
	ends(EVENT_LATE_STOP, OP_STOP, n, &w.seen);
	n.panicked = true;
	off(EVENT_LATE_PANIC, which, n, &w.seen);
}

static void killed(struct state n, enum event_kind kind, uint8_t which)
{
	struct seen seen = w.seen;

	seen.killed = true;
	off(kind, which, n, &seen);
}

/* Behind the arrival of stage early. */
static void to_verdict(struct state n, enum event_kind kind, uint8_t which, bool with_faults)
{
	if (effect(&n) == EFFECT_KILLS_LAST) {
		killed(n, kind, which);
		return;
	}
	if (with_faults && !w.calm)
		settle(n, failing(&n) | FACT_FAILS, EVENT_BOOT_FAILS, false);
	w.event.which = which;
	settle(n, failing(&n), kind, with_faults);
}

/* Whatever came before the initrd stage's end, which has just been. */
static void go_on(struct state n, enum event_kind kind, uint8_t which, bool with_faults)
{
	uint32_t was = n.file;
	struct call c;

	if (effect(&n) == EFFECT_KILLS_LATE) {
		killed(n, kind, which);
		return;
	}
	c = call(&n, OP_ROOT, 0);
	if (with_faults && !w.calm) {
		end_early(n, 0);
		cuts_and_kills(&n, &c, OP_ROOT, 80, to_verdict);
	}
	snapped(&n, &c.end);
	w.seen.came = true;
	if (with_faults && !w.calm && n.file != was)
		end_early(n, 1);
	to_verdict(n, kind, which, with_faults);
}

/* A stage that was killed is done again, by stage early. */
static void initrd(struct state n, enum event_kind kind, uint8_t which, bool with_faults)
{
	struct seen was = w.seen;
	struct call c = call(&n, OP_ARRIVE, 0);
	uint32_t arrived;

	if (with_faults && !w.calm)
		cuts_and_kills(&n, &c, OP_ARRIVE, 0, initrd);
	snapped(&n, &c.end);
	arrived = n.file;
	c = call(&n, OP_STAGE, 0);
	if (with_faults && !w.calm)
		cuts_and_kills(&n, &c, OP_STAGE, 50, initrd);
	snapped(&n, &c.end);
	w.seen.wrote = n.file != arrived;
	w.seen.rebooted = c.reboot && reboots(&n);
	if (w.seen.rebooted)
		off(kind, which, n, &w.seen);
	else
		go_on(n, kind, which, with_faults);
	w.seen = was;
}

static void alone(struct state n)
{
	struct call c = call(&n, OP_ARRIVE, FACT_ALONE);

	snapped(&n, &c.end);
	n.alone = true;
	w.seen.came = true;
	up(EVENT_ALONE, 0, n, &w.seen);
	w.seen.came = false;
}

/* --- a boot
 * -------------------------------------------------------------------------------------------- */

static void boot(enum entry entry)
{
	struct state n = *w.s;
	bool kexec = entry == ENTRY_KEXEC || entry == ENTRY_KEXEC_OTHER;
	bool grub = entry == ENTRY_MENU || entry == ENTRY_BARE || entry == ENTRY_READ_ONLY;
	uint16_t line = w.s->line;
	uint8_t runs = entry == ENTRY_KEXEC ? w.s->runs : w.s->runs ^ 1;

	w.event = (struct event){.entry = (uint8_t)entry};
	w.seen = (struct seen){.began = true,
			       .ran_grub = grub,
			       .by_grub = entry == ENTRY_MENU || entry == ENTRY_READ_ONLY,
			       .could_save = grub && entry != ENTRY_READ_ONLY &&
					     !natures[w.s->nature].read_only};
	switch_off(&n);
	if (natures[n.nature].forgets)
		n.file = 0;
	n.runs = kexec ? runs : w.s->kernel;
	n.boot = machine_free_boot(n.file);
	n.line = LINE_NETWORK;
	if (grub) {
		struct call c = call(&n, OP_GRUB, w.seen.could_save ? FACT_CAN_SAVE : 0);

		if (!w.calm && c.end.file != n.file)
			off(EVENT_CUT_GRUB, 0, n, &(struct seen){0});
		n.file = c.end.file;
		n.line = entry == ENTRY_BARE ? LINE_BARE : c.line;
		w.seen.counts = c.loads;
	} else if (kexec) {
		n.line = line;
	}
	if (effect(&n) == EFFECT_DROPPED)
		n.line = machine_drop(n.line, machine_line(n.line)->args);
	w.seen.line = n.line;
	if (!w.calm) {
		off(EVENT_PANIC, 0, n, &w.seen);
		off(EVENT_HANG, 0, n, &w.seen);
		off(EVENT_CUT, 0, n, &w.seen);
	}
	if (effect(&n) == EFFECT_KILLS) {
		w.seen.killed = true;
		off(EVENT_BOOT, 0, n, &w.seen);
		return;
	}
	if (!w.calm) {
		alone(n);
	}
	initrd(n, EVENT_BOOT, 0, true);
}

void world_calm_boot(const struct state *s, struct state *ret, struct seen *seen)
{
	struct state from = *s;

	w.s = &from;
	w.calm = true;
	w.calm_end = ret;
	boot(ENTRY_MENU);
	w.calm = false;
	*seen = w.calm_seen;
}

/* --- in a system that runs
 * ------------------------------------------------------------------------------- */

static struct state one_by_hand(const struct state *s, enum op op, unsigned int flags, uint8_t base)
{
	struct call c = call(s, op, flags);
	struct state n = *s;

	for (uint8_t i = 0; i < c.n_cuts; i++) {
		snapped_of(s, &n, &c.cut[i], op);
		off(EVENT_HAND_CUT, (uint8_t)(base + i), n, &w.seen);
	}
	for (uint8_t i = 0; i < c.n_kills; i++) {
		snapped_of(s, &n, &c.kill[i], op);
		up(EVENT_HAND_KILL, (uint8_t)(base + i), n, &w.seen);
	}
	snapped_of(s, &n, &c.end, op);
	return n;
}

/* All stages, where it is apply. */
static void by_hand(enum event_kind kind, enum op op, unsigned int flags)
{
	struct state n = *w.s;

	w.event = (struct event){0};
	w.seen = (struct seen){.line = w.s->line};
	if (op == OP_STAGE)
		n = one_by_hand(&n, OP_ARRIVE, 0, 100);
	n = one_by_hand(&n, op, flags, kind == EVENT_RESET ? 200 : 0);
	if (op == OP_STAGE)
		n = one_by_hand(&n, OP_ROOT, 0, 150);
	up(kind, 0, n, &w.seen);
}

static void running(void)
{
	w.event = (struct event){0};
	w.seen = (struct seen){.line = w.s->line};
	if (!w.s->alone) {
		settle(*w.s, failing(w.s), EVENT_SOFT, true);
		settle(*w.s, failing(w.s) | FACT_FAILS, EVENT_SOFT_FAILS, false);
	}
	by_hand(EVENT_APPLY, OP_STAGE, 0);
	by_hand(EVENT_RETRY, OP_STAGE, FACT_RETRY);
	by_hand(EVENT_RESET, OP_RESET, 0);
	boot(ENTRY_KEXEC);
	boot(ENTRY_KEXEC_OTHER);
}

/* --- around it
 * ---------------------------------------------------------------------------------------------- */

static void changed(enum event_kind kind, uint8_t which, struct state n)
{
	w.event = (struct event){0};
	w.seen = (struct seen){0};
	emit(kind, which, n, &w.seen);
}

static void outside(void)
{
	struct state n;

	for (uint8_t i = 0; i < ARGS_COUNT; i++)
		if (n = *w.s, n.wanted = i, i != w.s->wanted)
			changed((enum event_kind)(EVENT_WANT_NONE + i), 0, n);
	n = *w.s, n.kernel ^= 1, changed(EVENT_OTHER_KERNEL, 0, n);
	n = *w.s, n.counter ^= 1, changed(EVENT_COUNTER, 0, n);
	if (w.most.faults == 0)
		return; /* nobody would bring the copy back */
	n = *w.s, n.saved = machine_aged(n.file), changed(EVENT_SAVE, 0, n);
	n = *w.s, n.file = n.saved, changed(EVENT_RESTORE, 0, n);
	n = *w.s, n.file = 0, changed(EVENT_LOST, 0, n);
	n = *w.s, n.file = machine_intern("", 0), changed(EVENT_EMPTIED, 0, n);
	n = *w.s, n.before = n.trial = 0, changed(EVENT_FORGOTTEN, 0, n);
	for (uint8_t i = 0; i < n_flips; i++)
		if (n = *w.s, n.file = machine_flip(n.file, i), n.file != w.s->file)
			changed(EVENT_FLIP, i, n);
}

size_t world_hash(const struct state *s)
{
	const unsigned char *p = (const void *)s;
	uint64_t h = 0x2545f4914f6cdd1du;

	_Static_assert(sizeof(struct state) % 8 == 0, "hashed by words");
	for (size_t i = 0; i < sizeof(*s); i += 8) {
		uint64_t word;

		memcpy(&word, p + i, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

void world_init(uint8_t nature, struct state *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->nature = nature;
	ret->wanted = ARGS_ONE;
	judge_init(ret);
}

void world_expand(const struct state *s, const struct bounds *most,
		  void (*to)(const struct state *next, const struct event *e,
			     const struct seen *seen))
{
	w.s = s;
	w.emit = to;
	w.most = *most;
	/* Then all that comes is ordinary boots. */
	if (s->had.incidents == most->incidents && most->incidents != UNBOUNDED) {
		struct state next;
		struct seen seen;

		world_calm_boot(s, &next, &seen);
		to(&next, &(struct event){.kind = EVENT_BOOT, .entry = ENTRY_MENU}, &seen);
		return;
	}
	boot(ENTRY_MENU);
	boot(ENTRY_BARE);
	boot(ENTRY_READ_ONLY);
	boot(ENTRY_NETWORK);
	if (s->up)
		running();
	outside();
}
