/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The invariants of trials, as code. docs/trials.md has their table, which is made from this one.
 */
#pragma once

#include "world.h"

/* X(NAME, what always holds, where it is not promised) */
#define INVARIANTS(X)                                                                              \
	X(LOST,                                                                                    \
	  "args on trial kill at most 2 boots, and good args that kill a kernel that is "          \
	  "installed at most 3",                                                                   \
	  "GRUB can't write; /var/lib/railhead is lost before each boot (3); a kernel came "       \
	  "without a word to railhead; a cut or a kill at a write, other args in between, and a "  \
	  "boot that GRUB's entry did not begin may cost one more each")                           \
	X(REBOOTS, "railhead makes at most 3 reboots for what a profile wants on a kernel",        \
	  "a boot that was cut, stopped, killed or left alone may cost one more")                  \
	X(BUDGET,                                                                                  \
	  "railhead makes at most 3 reboots without a settled verdict in between, whether "        \
	  "railhead.env or /var/lib/railhead is lost",                                             \
	  "both are lost")                                                                         \
	X(FAIR,                                                                                    \
	  "args are refused only after 2 trials that died, or in a trial in which an item failed " \
	  "that held before, or in which they were not in force",                                  \
	  "an old file or record came back, a record was lost, or a byte was changed: each may "   \
	  "count as a death")                                                                      \
	X(BOOTABLE,                                                                                \
	  "GRUB reads the file, and gives a boot a complete set of written args, or no args",      \
	  "a byte of a slot, a name or the signature was changed by others")                       \
	X(COMMITTED,                                                                               \
	  "args that a boot has without a trial reached a verdict before, in which nothing "       \
	  "failed that holds without the args",                                                    \
	  "railhead can't know that a measurement or a carrier held, since its record is lost or " \
	  "of another kernel")                                                                     \
	X(KEPT,                                                                                    \
	  "GRUB leaves good args out only after two boots in a row of a kernel that was "          \
	  "installed, which ended before a verdict",                                               \
	  "the file is damaged, so that the count is not set back; the count, a slot or a name "   \
	  "was changed by others")                                                                 \
	X(CONSTANT,                                                                                \
	  "GRUB writes, and the line has more than the args and their slot, only while a trial "   \
	  "is armed or a kernel was installed",                                                    \
	  "")                                                                                      \
	X(ATTENDED, "a trial is armed only by a gate, in a boot that has come to its verdict", "") \
	X(READY, "a node that is ready has the args that its profile wants, and no others", "")    \
	X(STUCK,                                                                                   \
	  "undisturbed boots with good args reach ready, in at most 5 boots, and one whose GRUB "  \
	  "read an earlier file, since power was cut, is ready or reboots",                        \
	  "railhead says so: the args are refused, the 3 reboots of BUDGET were made, the file "   \
	  "is damaged, an updater's counter is armed; or GRUB can't write, or the file, or the "   \
	  "record of what was cut off, is lost before each boot")                                  \
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
