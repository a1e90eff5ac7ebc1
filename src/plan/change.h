/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A change of the list (plan/plan.h): sections make changes, kinds look at changes and set them,
 * the engine runs them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "plan/finding.h"
#include "plan/kind.h"
#include "plan/plan.h"
#include "profile/place.h"
#include "profile/meaning.h"

struct ynode; /* of profile/yaml.h */

enum compare {
	COMPARE_TEXT,	  /* equal, ignoring white space; "[x] y" is x. Enough for all but bounds */
	COMPARE_NUMBERS,  /* words, of which numbers are in any base: "4 0x10 010" */
	COMPARE_LIST,	  /* sets of numbers: "9100-9101,30000" */
	COMPARE_WORDS,	  /* sets of words */
	COMPARE_SWITCH,	  /* 1 is true and Y, 0 is false and N: kstrtobool() of the kernel */
	COMPARE_AT_LEAST, /* a bound: decimal numbers, "16" or ">=16" */
	COMPARE_PARAM,	  /* as the kernel prints module parameters: Y is 1, N is 0 */
	COMPARE_MASK,	  /* hexadecimal words, ignoring leading zeros */
	COMPARE_VERSION,  /* a bound: ">=24.10" or "24.10" (base/version.h) */
};

/* Another change that may share a file with this change. */
struct rival {
	char *id;
	char *pattern; /* its files */
	char *desired;
	enum compare compare;
	struct place origin;
	bool own_ports; /* its files exclude those of representors */
	bool alias;	/* both may reach the same file of sysfs by different names */
};

struct rivals {
	VEC(struct rival) list;
};

/* The target of a change, for kinds that do not use the text. */
struct target {
	char *name;		  /* a unit, a function's address: see the kind; or NULL */
	int vf;			  /* index of a VF of the PF `name`; -1: none */
	const void *item;	  /* the item of the target, of the kind's own type; static */
	const char *key;	  /* the profile's name of item; static or the profile's; or NULL */
	const struct ynode *node; /* of the profile, which outlives the plan; or NULL */
};

/* One of several values that one message sets. */
struct part {
	char *name;	    /* of the profile: "rx"; a kernel argument */
	const void *item;   /* as in struct target */
	unsigned int index; /* the entry of a table: the priority, the DSCP; else 0 */
	struct value want;
};

struct change {
	char *id;	     /* profile path + PCI address + VF index; the same in every run */
	const char *section; /* its name; static */
	const struct kind *kind;
	enum stage stage;
	enum phase phase;
	char *lane;   /* a PCI address, or "" for the stage's own lane */
	char *target; /* the kind resolves it when it looks */
	char *desired;
	struct target on; /* for kinds that do not use the text: target and desired render these */
	struct value want;
	VEC(struct part) parts; /* instead of want: desired renders all parts */
	/*
	 * A pattern for the sysfs files that show the value, for kinds other than kind_attr (whose
	 * files are its target); NULL: none. Among netdevs, representors are excluded.
	 */
	char *file;
	struct rivals yields_to; /* more specific lines, which own the files that both match */
	struct rivals contests;	 /* of other sections, the most specific first */
	enum compare compare;
	struct place origin;

	char *waits_for; /* id of a change that must hold first, or NULL */
	char *needs;	 /* id of another change that must hold first; remade ignores it */
	bool remade;	 /* waits_for recreates the target: this change can't hold before it */
	/*
	 * A temporary value: wanted only while the change of this id has yet to be done. A later
	 * change sets the steady value, so that a run after a kill repairs it.
	 */
	char *while_id;
	bool steady;	  /* sets the steady value: always looked at again in its phase */
	bool optional;	  /* unsupported, not failed, if the driver or kernel lacks it */
	bool drift_warns; /* if it no longer holds after the verdict, work stays admitted */
	bool came_later;  /* absent when the node was judged: it did not hold then */
	bool late;	  /* may be absent in early: looked for again in devices */
	bool named;   /* a file that the profile names itself: judged, see kinds/kernel_file.h */
	bool forced;  /* by `force: true`, which helps against some judgements */
	bool of_args; /* depends on the kernel arguments: does not judge their trial */
	bool premise; /* a check of an assumption of the other changes: reported first */
	bool settles; /* a check that comes true by itself soon after boot: a carrier */
	unsigned int deadline_ms; /* of its set; if it settles: the time that it may take */
	/*
	 * Its set may queue in the kernel behind the sets of the other changes with this flag: its
	 * time counts from the last of those sets that returned.
	 */
	bool queues;
	unsigned int parallel; /* starts while fewer than this many are running; 0: PARALLEL */
	enum on_fail on_fail;
	enum fault fault; /* while it does not hold; FAULT_NONE: as its look or its section says */
	char *withheld;	  /* why a difference is not set; or NULL */
	bool of_load;	  /* appears only under the gate's load: later looks do not find it */
	bool foreign;	  /* judges a file of another program, which may go with that program */
	/*
	 * In a look after the verdict: the parts that the look before the verdict covered, sorted,
	 * and owned by the record; else NULL.
	 */
	const struct strv *covered;

	/* Looks and sets write what they learn here, and change no member above. */
	struct finding now;
	/* The counters that a look found; unloaded: those of the look before the gate's load, if
	 * this look is after it (change_loaded()). */
	struct count_list counts, unloaded;
	bool loaded;
	/*
	 * Counters that stand still in health, by name: the values with which a later look compares
	 * them. before: those of this look, if it is after the verdict, owned by the record; else
	 * NULL.
	 */
	struct count_list still;
	const struct count_list *still_before;
	uint64_t started;  /* clock_usec() when its set began; 0: not set */
	uint64_t duration; /* microseconds in set */
	uint64_t written;  /* microseconds until the kernel accepted the last value; 0: not known */
	bool reboot;	   /* takes effect with a reboot */
};

/* Setters that own their text. */
void change_target(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* name may be NULL. */
void change_on(struct change *c, const char *name, const void *item);
/* Sets both want and desired to the value of the profile. */
void change_want(struct change *c, const struct ynode *value);
/* value: NULL if the part is only a name. The result is valid until the next part is added. */
struct part *change_part(struct change *c, const char *name, const void *item,
			 const struct ynode *value);
void change_desired(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_lane(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_waits_for(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A difference fails with this reason and is not set. NULL: it is set. Copied. */
void change_withhold(struct change *c, const char *why);
void change_needs(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_while(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_observe(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The cause, and after TO_MEND (base/err.h) the remedy. */
void change_reason(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_file(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_note(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The change fails because the change of that id does. */
void change_follows(struct change *c, const char *id);

/* The next look comes after the load of the gate's benchmarks. */
void change_loaded(struct change *c);
/* member is copied. */
void counts_add(struct count_list *counts, const char *member, unsigned int row, uint64_t value);
/* NULL: not in the list. */
const struct count *counts_find(const struct count_list *counts, const char *member,
				unsigned int row);
void counts_free(struct count_list *counts);
/*
 * Notes a counter that stands still in health for the looks after the verdict, and compares it.
 * Returns its rise after the verdict if that is more than `once`, which planned work causes; the
 * next rise counts from there. 0 before the verdict, and for a VF, whose counters rise as
 * containers and guests get it and give it back.
 */
uint64_t change_count_still(struct change *c, const char *counter, uint64_t value, uint64_t once);

/* Compares the number with want: sets observed, and SAME or DIFFERS. */
void change_found(struct change *c, int64_t number);
/* Compares observed with desired; sets SAME or DIFFERS. */
void change_judge(struct change *c);
bool change_equal(enum compare how, const char *desired, const char *observed);

/* SAME and SET hold; UNSUPPORTED counts as holding, because the machine can't do more. */
bool change_holds(const struct change *c);
/* The change differs, and may come true by itself. */
bool change_may_come(const struct change *c);
/* The change is a premise that was looked at and does not hold. */
bool change_broken_premise(const struct change *c);
