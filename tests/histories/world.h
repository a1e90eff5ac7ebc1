/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node and all that can happen to it.
 *
 * Two histories are merged where they lead to the same struct state. Such a state decides all that
 * can happen from it on, because
 *  - a boot begins from the file, the record, what the profile wants and the kernel alone;
 *  - a boot id only matters by whether this boot wrote the record (machine_aged());
 *  - counts of what has been, which the judge keeps, stop at the number above which they say
 *    nothing else. They tell more states apart than the product does; they merge none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* What arguments do on a kernel; for each machine it is always the same. */
enum effect {
	EFFECT_GOOD,
	EFFECT_KILLS,	   /* no boot with them comes to its verdict */
	EFFECT_DROPPED,	   /* the kernel loses one */
	EFFECT_FAILS,	   /* an item fails with them */
	EFFECT_MISSES,	   /* a measurement does */
	EFFECT_NO_CARRIER, /* a carrier goes */
};

struct nature {
	const char *name;
	enum effect effect[ARGS_COUNT][KERNELS];
	bool broken;	     /* other items, measurements and carriers fail in each boot */
	bool read_only;	     /* GRUB can't write */
	bool forgets;	     /* railhead.env is lost before each boot */
	bool forgets_record; /* /var/lib/railhead is */
};
extern const struct nature natures[];
extern const unsigned int n_natures;

struct state {
	uint32_t file;
	uint32_t saved;	 /* a copy of the file that somebody made; 0: none */
	uint16_t record; /* of attempts */
	uint16_t saved_record;
	uint16_t line; /* of this boot; 0: the machine is off, or on its way */
	uint8_t nature : 4;
	uint8_t wanted : 2;  /* enum args: by the profile */
	uint8_t kernel : 1;  /* that the menu boots */
	uint8_t runs : 1;    /* the kernel of this boot */
	uint8_t up : 1;	     /* it has come to its end: the operator can log in */
	uint8_t alone : 1;   /* railhead=off, rescue: no unit of railhead runs */
	uint8_t counter : 1; /* an updater's counter is armed */
	uint8_t end : 3;     /* enum trial_end */
	uint8_t marked : 1;  /* the other kernel was installed by a package that says so */
	uint8_t zero : 1;
	uint8_t unsettled; /* of the judge: reboots by railhead since the last settled verdict */
	struct {	   /* so many so far */
		uint8_t faults;
		uint8_t incidents; /* events that are no ordinary boot */
	} had;
	struct { /* of the judge: see judge.c */
		uint8_t lost[ARGS_COUNT][KERNELS];
		uint8_t reboots;
		uint8_t proven; /* bits: 1 << enum args */
		uint8_t marks;
		uint8_t ended; /* boots that GRUB counted, in a row, that had no verdict */
		uint8_t died;  /* two bits each: trials of these args without a verdict */
		uint8_t known; /* enum known: what the last verdict without a trial has shown */
	} past;
	uint8_t zeros[1];
};
/* States are compared as bytes, so none may be between the members. */
_Static_assert(sizeof(struct state) == 32 && offsetof(struct state, zeros) == 31,
	       "no byte is between the members");

/* --- events: a row is what people read ------------------------------------------------------- */

/* X(name, faults that it counts as, text) */
#define EVENTS(X)                                                                            \
	/* a boot, by how it ends */                                                         \
	X(BOOT, 0, "a boot, to its end")                                                     \
	X(BOOT_FAILS, 0, "a boot in which an item fails")                                    \
	X(BOOT_WAITS, 0, "a boot whose verdict waits")                                       \
	X(BOOT_NO_PROFILE, 0, "a boot in which no profile can be read")                      \
	X(PANIC, 0, "a boot that panics before its verdict")                                 \
	X(HANG, 0, "a boot that hangs before its verdict, until the timer resets it")        \
	X(CUT, 0, "a boot whose power is cut before its verdict")                            \
	X(CUT_GRUB, 0, "a boot whose power is cut before GRUB writes")                       \
	X(STOP, 0, "a boot that is stopped in order before its verdict")                     \
	X(ALONE, 0, "a boot that railhead leaves alone (railhead=off, rescue)")              \
	X(CUT_WRITE, 0, "a boot whose power is cut at a write of railhead")                  \
	X(KILL_WRITE, 0, "a boot in which railhead is killed at a write")                    \
	/* in a system that runs */                                                          \
	X(AGAIN, 0, "the gate again, or a soft-reboot")                                      \
	X(AGAIN_FAILS, 0, "the gate again, and an item fails")                               \
	X(RETRY, 0, "railhead apply --retry, by hand")                                       \
	X(RESET, 0, "railhead kargs --reset")                                                \
	X(HAND_CUT, 0, "power is cut at a write of a railhead that was run by hand")         \
	X(HAND_KILL, 0, "a railhead that was run by hand is killed at a write")              \
	/* what people and updaters do */                                                    \
	X(WANT_NONE, 0, "the profile wants no arguments")                                    \
	X(WANT_ONE, 0, "the profile wants a=1")                                              \
	X(WANT_TWO, 0, "the profile wants a=2")                                              \
	X(OTHER_KERNEL, 0, "the menu boots the other kernel, of which nobody told railhead") \
	X(NEW_KERNEL, 0, "another kernel is installed, and the menu boots it")               \
	X(COUNTER, 0, "an updater arms its counter, or disarms it")                          \
	/* faults */                                                                         \
	X(SAVE, 0, "somebody copies railhead.env and /var/lib/railhead")                     \
	X(RESTORE, 1, "the copy of railhead.env comes back")                                 \
	X(ROLL_BACK, 1, "the copy of /var/lib/railhead comes back")                          \
	X(LOST, 1, "railhead.env is lost")                                                   \
	X(EMPTIED, 1, "railhead.env is empty")                                               \
	X(FORGOTTEN, 1, "/var/lib/railhead is lost")                                         \
	X(FLIP, 1, "one byte changes")

enum event_kind {
#define X(name, faults, text) EVENT_##name,
	EVENTS(X)
#undef X
		EVENT_COUNT
};

/* How a boot begins. X(name, faults, text) */
#define ENTRIES(X)                                                     \
	X(MENU, 0, "")                                                 \
	X(BARE, 0, ", by a menu entry without the variable")           \
	X(READ_ONLY, 1, ", while GRUB can't write")                    \
	X(NETWORK, 0, ", not by GRUB")                                 \
	X(UNSEEN, 0, ", by a GRUB that does not see railhead.env yet") \
	X(KEXEC, 0, ", by kexec with the line of this boot")           \
	X(KEXEC_OTHER, 0, ", by kexec with the line of this boot, on the other kernel")

enum entry {
#define X(name, faults, text) ENTRY_##name,
	ENTRIES(X)
#undef X
		ENTRY_COUNT
};

struct event {
	uint8_t kind;  /* enum event_kind */
	uint8_t entry; /* enum entry, of a boot */
	uint8_t which; /* of the writes, of the flips */
	uint8_t resumed;
};

extern const char *const event_text[EVENT_COUNT];
extern const char *const entry_text[ENTRY_COUNT];

/* What was seen on the way, for the judge. */
struct seen {
	uint16_t line;	 /* of the boot that the event began, or went on with */
	uint8_t kernel;	 /* which it runs */
	bool began;	 /* a boot began */
	bool ran_grub;	 /* GRUB ran in it */
	bool wrote_grub; /* and changed the file */
	bool counted;	 /* ... by counting the boot, with whichever menu entry */
	bool by_grub;	 /* with GRUB's file, and our variable */
	bool could_save; /* GRUB could write */
	bool counts;	 /* the file counted for GRUB */
	bool killed;	 /* the arguments ended it */
	bool judges;	 /* it came as far as the settlement of a verdict that does not wait */
	bool judged;	 /* it came to a verdict, whichever */
	bool settled;	 /* ... that does not wait, neither ends in a reboot nor lacks one */
	bool committed;	 /* it made the args of the trial good */
	bool measured;
	bool rebooted;	 /* railhead did */
	bool ready;	 /* the verdict */
	bool failed;	 /* an item that the arguments are to blame for */
	bool missed;	 /* a measurement */
	bool no_carrier; /* a carrier was gone */
	bool wrote;	 /* railhead, to the file or the record */
};

/* Of events of a sort in one history; UNBOUNDED: there may be any number. */
enum { UNBOUNDED = UINT8_MAX };
struct bounds {
	uint8_t faults, incidents;
};

size_t world_hash(const struct state *s);
void world_init(uint8_t nature, struct state *ret);
/* Calls emit for each thing that can happen next. */
void world_expand(const struct state *s, const struct bounds *most,
		  void (*emit)(const struct state *next, const struct event *e,
			       const struct seen *seen));
/* A boot to its end to which nothing happens. */
void world_calm_boot(const struct state *s, struct state *ret, struct seen *seen);
enum effect world_effect(const struct state *s, enum args args, uint8_t kernel);
/*
 * The boot that armed the trial was not shut down in order. GRUB reads XFS without its log then: it
 * may see the file as it was before, or no file. False where the record of that boot is lost.
 */
bool world_is_cut_off(const struct state *s);
