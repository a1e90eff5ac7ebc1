/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "world.h"

#include <stddef.h>
#include <string.h>

#include "boot/trial.h"
#include "judge.h"

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
	{.name = "the kernel loses one of a=2",
	 .effect = {[ARGS_TWO] = {EFFECT_DROPPED, EFFECT_DROPPED}}},
	{.name = "an item fails with a=2, on the other kernel a carrier goes",
	 .effect = {[ARGS_TWO] = {EFFECT_FAILS, EFFECT_NO_CARRIER}}},
	{.name = "a measurement fails with a=2",
	 .effect = {[ARGS_TWO] = {EFFECT_MISSES, EFFECT_MISSES}}},
	{.name = "some items, measurements and carriers fail with any arguments", .broken = true},
	{.name = "GRUB can never write", .read_only = true},
	{.name = "railhead.env is lost before each boot", .forgets = true},
	{.name = "/var/lib/railhead is lost before each boot", .forgets_record = true},
	{.name = "a=1 kills each kernel, and /var/lib/railhead is lost before each boot",
	 .effect = {[ARGS_ONE] = {EFFECT_KILLS, EFFECT_KILLS}},
	 .forgets_record = true},
};
const unsigned int n_natures = sizeof(natures) / sizeof(*natures);

/* --- what is the same in all events ---------------------------------------------------------- */

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
	n->runs = 0;
	n->up = n->alone = false;
	n->record = machine_aged(n->record);
	/* Nobody asks how another trial ended than the last one. */
	if (machine_rest(n->file) != REST_TAKEN && machine_rest(n->file) != REST_ARMED)
		n->end = END_NONE;
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
	n->record = s->record;
	n->end = s->end & 7;
}

static struct call call(const struct state *s, enum op op, unsigned int flags)
{
	struct facts f = {.op = (uint8_t)op,
			  .file = s->file,
			  .record = s->record,
			  .line = s->line,
			  .wanted = s->wanted,
			  .kernel = s->runs,
			  .end = s->end,
			  .flags = (uint8_t)(flags | (s->counter ? FACT_COUNTER : 0))};

	/* As few distinct calls as there can be. */
	if (op != OP_GATE)
		f.wanted = 0, f.flags = flags & FACT_CAN_SAVE;
	if (op == OP_RESET || op == OP_KERNEL)
		f.line = 0;
	if (op != OP_GATE && op != OP_NO_JUDGE && op != OP_KERNEL)
		f.kernel = 0;
	if (op == OP_GRUB)
		f.line = f.record = 0, f.end = 0;
	{
		struct call c = *machine_call(&f);

		if (op == OP_GRUB) {
			c.end.record = s->record;
			c.end.end = s->end;
		}
		return c;
	}
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
	static const unsigned int flags[] = {[EFFECT_FAILS] = FACT_FAILS,
					     [EFFECT_MISSES] = FACT_MISSES,
					     [EFFECT_NO_CARRIER] = FACT_NO_CARRIER};

	return flags[effect(n)] | (natures[n->nature].broken ? FACT_BROKEN : 0);
}

/* --- the gate -------------------------------------------------------------------------------- */

static bool is_by_hand(enum event_kind kind)
{
	return kind == EVENT_AGAIN || kind == EVENT_AGAIN_FAILS;
}

static void gate(struct state n, unsigned int flags, enum event_kind kind, bool with_faults)
{
	unsigned int fails = flags & (FACT_FAILS | FACT_MISSES | FACT_NO_CARRIER | FACT_BROKEN);
	struct seen seen = w.seen;
	struct call c = call(&n, OP_GATE, flags);
	struct state end = n;

	seen.judges = !c.waits;
	seen.kernel = n.runs;
	seen.failed = fails & FACT_FAILS;
	seen.missed = fails & FACT_MISSES;
	seen.no_carrier = fails & FACT_NO_CARRIER;
	seen.measured = c.measured;
	for (uint8_t i = 0; with_faults && !w.calm && i < c.n_cuts; i++) {
		struct state cut = n;

		snapped(&cut, &c.cut[i]);
		off(is_by_hand(kind) ? EVENT_HAND_CUT : EVENT_CUT_WRITE, (uint8_t)(100 + i), cut,
		    &seen);
	}
	for (uint8_t i = 0; with_faults && !w.calm && i < c.n_kills; i++) {
		struct state killed = n;

		snapped(&killed, &c.kill[i]);
		up(is_by_hand(kind) ? EVENT_HAND_KILL : EVENT_KILL_WRITE, (uint8_t)(100 + i),
		   killed, &seen);
	}
	snapped(&end, &c.end);
	seen.judged = true;
	seen.settled = c.settled;
	seen.committed = c.result == TRIAL_COMMITTED;
	seen.ready = c.same && !c.blocked && !fails;
	seen.wrote =
		end.file != n.file || (end.record != n.record && !natures[n.nature].forgets_record);
	seen.rebooted = c.reboot;
	if (seen.rebooted)
		off(kind, 0, end, &seen);
	else
		up(kind, 0, end, &seen);
}

bool world_is_cut_off(const struct state *s)
{
	return machine_rest(s->file) == REST_ARMED && machine_armed(s->record) &&
	       s->end != END_LEFT && !natures[s->nature].forgets_record;
}

/* --- a boot, from railhead on ---------------------------------------------------------------- */

/* The units note how the boot ends, or the gate what it can't judge. */
static struct state noted(struct state n, enum op op)
{
	struct call c = call(&n, op, 0);

	snapped(&n, &c.end);
	return n;
}

static void no_profile(struct state n)
{
	struct seen seen = w.seen;

	n = noted(n, OP_NO_JUDGE);
	seen.judged = true;
	up(EVENT_BOOT_NO_PROFILE, 0, n, &seen);
}

static void ends_early(struct state n)
{
	off(EVENT_PANIC, 0, n, &w.seen);
	off(EVENT_HANG, 0, noted(n, OP_TIMER), &w.seen);
	off(EVENT_CUT, 0, n, &w.seen);
	off(EVENT_STOP, 0, noted(n, OP_STOP), &w.seen);
	if (effect(&n) == EFFECT_KILLS)
		return;
	no_profile(n);
	n.alone = true;
	up(EVENT_ALONE, 0, n, &w.seen);
}

/* --- a boot ---------------------------------------------------------------------------------- */

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
	if (natures[n.nature].forgets_record)
		n.record = 0, n.end = END_NONE;
	n.runs = kexec ? runs : w.s->kernel;
	n.line = entry == ENTRY_UNSEEN ? LINE_BARE : LINE_NETWORK;
	if (grub) {
		struct call c = call(&n, OP_GRUB, w.seen.could_save ? FACT_CAN_SAVE : 0);

		if (!w.calm && c.end.file != n.file)
			off(EVENT_CUT_GRUB, 0, n, &(struct seen){0});
		w.seen.wrote_grub = c.end.file != n.file;
		w.seen.counted = w.seen.wrote_grub && machine_rest(n.file) != REST_ARMED;
		n.file = c.end.file;
		n.line = entry == ENTRY_BARE ? LINE_BARE : c.line;
		w.seen.counts = c.loads;
	} else if (kexec) {
		n.line = line;
	}
	if (effect(&n) == EFFECT_DROPPED)
		n.line = machine_drop(n.line, machine_line(n.line)->args);
	w.seen.line = n.line;
	w.seen.kernel = n.runs;
	if (!w.calm)
		ends_early(n);
	if (effect(&n) == EFFECT_KILLS) {
		w.seen.killed = true;
		off(EVENT_BOOT, 0, n, &w.seen);
		return;
	}
	if (!w.calm) {
		gate(n, failing(&n) | FACT_FAILS, EVENT_BOOT_FAILS, false);
		gate(n, failing(&n) | FACT_WAITS, EVENT_BOOT_WAITS, false);
	}
	gate(n, failing(&n), EVENT_BOOT, true);
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

/* --- in a system that runs ------------------------------------------------------------------- */

static void by_hand(enum event_kind kind, enum op op, uint8_t base)
{
	struct call c = call(w.s, op, 0);
	struct state n = *w.s;

	w.event = (struct event){0};
	w.seen = (struct seen){.line = w.s->line};
	for (uint8_t i = 0; i < c.n_cuts; i++) {
		snapped(&n, &c.cut[i]);
		off(EVENT_HAND_CUT, (uint8_t)(base + i), n, &w.seen);
	}
	for (uint8_t i = 0; i < c.n_kills; i++) {
		snapped(&n, &c.kill[i]);
		up(EVENT_HAND_KILL, (uint8_t)(base + i), n, &w.seen);
	}
	snapped(&n, &c.end);
	up(kind, 0, n, &w.seen);
}

/* The package's hook, in the boot of the kernel that runs, marks the other one. */
static void install(void)
{
	struct state n = *w.s, as = *w.s;
	struct call c;

	as.runs ^= 1;
	c = call(&as, OP_KERNEL, 0);
	snapped(&n, &c.end);
	n.kernel = as.runs;
	n.marked = true;
	w.event = (struct event){0};
	w.seen = (struct seen){.line = w.s->line};
	up(EVENT_NEW_KERNEL, 0, n, &w.seen);
}

static void running(void)
{
	w.event = (struct event){0};
	w.seen = (struct seen){.line = w.s->line};
	if (!w.s->alone) {
		gate(*w.s, failing(w.s), EVENT_AGAIN, true);
		gate(*w.s, failing(w.s) | FACT_FAILS, EVENT_AGAIN_FAILS, false);
	}
	by_hand(EVENT_RETRY, OP_RETRY, 0);
	by_hand(EVENT_RESET, OP_RESET, 200);
	install();
	boot(ENTRY_KEXEC);
	boot(ENTRY_KEXEC_OTHER);
}

/* --- around it ------------------------------------------------------------------------------- */

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
	n = *w.s, n.kernel ^= 1, n.marked = false, changed(EVENT_OTHER_KERNEL, 0, n);
	n = *w.s, n.counter ^= 1, changed(EVENT_COUNTER, 0, n);
	if (w.most.faults == 0)
		return; /* nobody would bring the copy back */
	n = *w.s, n.saved = n.file, n.saved_record = machine_aged(n.record);
	changed(EVENT_SAVE, 0, n);
	n = *w.s, n.file = n.saved, changed(EVENT_RESTORE, 0, n);
	n = *w.s, n.file = 0, changed(EVENT_LOST, 0, n);
	n = *w.s, n.file = machine_intern("", 0), changed(EVENT_EMPTIED, 0, n);
	n = *w.s, n.record = 0, n.end = END_NONE, changed(EVENT_FORGOTTEN, 0, n);
	n = *w.s, n.record = n.saved_record, changed(EVENT_ROLL_BACK, 0, n);
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
	/* Arguments are good only by a file that GRUB has read before. */
	if (world_is_cut_off(s) && machine_good(s->file) == ARGS_NONE)
		boot(ENTRY_UNSEEN);
	if (s->up)
		running();
	outside();
}
