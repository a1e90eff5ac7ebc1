/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The invariants of trials, as code. docs/trials.md has their table, which is made from this one.
 */
#pragma once

#include "world.h"

/* X(NAME, what always holds, where it is not promised) */
#define INVARIANTS(X)                                                                              \
	X(LOST,                                                                                    \
	  "args on trial kill at most 2 boots, good args that kill another kernel at most 3 (4 "   \
	  "where a trial was armed)",                                                              \
	  "GRUB can't write; a cut or a kill at a write, two changed bytes, other args in "        \
	  "between, and a boot that "                                                              \
	  "GRUB's entry did not begin may cost one more each")                                     \
	X(REBOOTS,                                                                                 \
	  "railhead makes at most 3 reboots for what a profile wants on a kernel, and as many "    \
	  "after healthy boots that forgive",                                                      \
	  "a boot that was cut, stopped, killed or left alone may cost one more, and two changed " \
	  "bytes may cost a series")                                                               \
	X(BUDGET,                                                                                  \
	  "railhead makes at most 5 reboots without a settled verdict in between, whichever "      \
	  "files are lost",                                                                        \
	  "")                                                                                      \
	X(BOOTABLE,                                                                                \
	  "GRUB reads the file, and gives a boot a complete set of written args, or no args",      \
	  "a byte of a slot, a name or the signature was changed by others")                       \
	X(COMMITTED,                                                                               \
	  "args that a boot has without a trial reached a verdict before, in which no item "       \
	  "failed that holds without the args",                                                    \
	  "")                                                                                      \
	X(KEPT,                                                                                    \
	  "GRUB leaves good args out only after two boots in a row that ended before stage early", \
	  "the count of such boots, a slot or a name was changed by others, or two bytes were")    \
	X(READY, "a node that is ready has the args that its profile wants, and no others", "")    \
	X(STUCK,                                                                                   \
	  "undisturbed boots with good args reach ready, in at most 9 boots: rejected and "        \
	  "refused args are forgiven after healthy boots, here 2",                                 \
	  "GRUB can't write, the file is lost before each boot, an updater's counter is armed, "   \
	  "two bytes were changed, the 5 reboots of BUDGET were made")                             \
	X(QUIET, "an undisturbed boot of a ready node writes nothing", "")

enum invariant {
#define X(name, text, unless) INVARIANT_##name,
	INVARIANTS(X)
#undef X
		INVARIANT_COUNT,
	INVARIANT_NONE = INVARIANT_COUNT
};

extern const char *const invariant_name[INVARIANT_COUNT];
extern const char *const invariant_text[INVARIANT_COUNT];
extern const char *const invariant_unless[INVARIANT_COUNT];

/* Nothing has been yet. */
void judge_init(struct state *s);
/* Counts what has been, in next->past. */
void judge_count(const struct state *before, struct state *next, const struct event *e,
		 const struct seen *seen);
/* The invariant that the event breaks, or INVARIANT_NONE. */
enum invariant judge_event(const struct state *before, const struct state *next,
			   const struct event *e, const struct seen *seen);
/* The invariant that what follows from a state breaks, if nothing happens to it any more. */
enum invariant judge_state(const struct state *s);

/*
 * Of two states that differ in what has been alone: whether the first breaks each invariant that
 * the second breaks, now and after any events. It has lost as many boots and made as many reboots,
 * and nothing more that excuses it; no event changes that, since each changes both in the same way.
 */
bool judge_covers(const struct state *a, const struct state *b);

/* Faults that are known: a line each, which goes with the fault. NULL: it is none of them. */
const char *judge_known(enum invariant broken, const struct state *before, const struct state *next,
			const struct event *e, const struct seen *seen);
