/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of changes: the one model that plan, apply, verify, text and JSON are loops
 * and renderings of. Sections make changes, kinds look at and set them, the engine runs them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "plan/kind.h"
#include "profile/yaml.h"

enum stage { STAGE_INITRD, STAGE_EARLY, STAGE_DEVICES, STAGE_GATE, STAGE_COUNT };

/*
 * Phases run in this order, with a barrier between two. Inside one, lanes run side by
 * side and the changes of a lane in their order in the list. The order of the devices
 * stage follows what resets what: VFs exist before they are addressed, and are addressed
 * before a driver reads their address.
 */
enum phase {
	PHASE_FILES,  /* drop-ins that later loads and units read */
	PHASE_MEMORY, /* hugepages, while memory is whole */
	PHASE_BOOT,   /* kernel arguments: may end in the one reboot */
	PHASE_MODULES,
	PHASE_SYSCTL,
	PHASE_SYSFS,
	PHASE_LINK_UP,	      /* PFs whose VFs come up only (or faster) with a link */
	PHASE_AUTOPROBE_HOLD, /* sriov_drivers_autoprobe to 0, for the time of creation */
	PHASE_ESWITCH,	      /* of drivers that change its mode while there is no VF */
	PHASE_NUMVFS,
	PHASE_VF_ESWITCH, /* ... of those that have VFs first, and none of them bound */
	PHASE_VF_ADDRESS, /* what a VF's driver reads when it is bound */
	PHASE_AUTOPROBE,  /* the steady value again */
	PHASE_VF_DRIVER,
	PHASE_PORT,    /* a function's own settings; in a lane in the list's order */
	PHASE_VF_LINK, /* netdevs of VFs */
	PHASE_MOUNT,
	PHASE_IRQ,  /* channels are what they are to be: no vector is made anew any more */
	PHASE_LATE, /* sysctl and sysfs of things that exist only now */
	PHASE_CHECK,
	PHASE_COUNT,
};

/* Of what is set, what is looked at and what is measured. */
enum change_state {
	CHANGE_UNKNOWN, /* not looked at yet */
	CHANGE_SAME,	/* as the profile says; of a measurement: it is enough */
	CHANGE_DIFFERS,
	CHANGE_WAITS, /* for another change, or for a reboot: see reason */
	CHANGE_SET,
	CHANGE_FAILED,	    /* could not be set; of a measurement: its program crashed or hung */
	CHANGE_UNSUPPORTED, /* this kernel, driver or root can't; no failure (see reason) */
	/* Of measurements alone: */
	CHANGE_SLOW,	       /* measured twice, and not enough: its on_fail */
	CHANGE_INTERMITTENT,   /* slow in one look, and not in the next: its on_intermittent */
	CHANGE_INVALID,	       /* others disturbed it, so that its figure says nothing: waiting */
	CHANGE_NOT_YET,	       /* a port or peer that comes up still: waiting */
	CHANGE_CANNOT_MEASURE, /* something that it needs is missing: its on_fail */
	CHANGE_TO_MEASURE,     /* known when the gate has run (see gate_plan()) */
	CHANGE_STATE_COUNT,
};

enum compare {
	COMPARE_TEXT,	  /* equal but for white space; "[x] y" is x */
	COMPARE_AT_LEAST, /* numbers */
	COMPARE_PARAM,	  /* as the kernel prints module parameters: Y is 1, N is 0 */
	COMPARE_MASK,	  /* hexadecimal words, whatever zeros are in front */
	COMPARE_VERSION,  /* ">=24.10" or "24.10" (base/version.h) */
};

/* What a failed check does to the verdict. */
enum on_fail { ON_FAIL_BLOCK, ON_FAIL_DEGRADE, ON_FAIL_WARN };

/* Another change that may be about one of the same files. */
struct rival {
	char *id;
	char *pattern; /* its files */
	char *desired;
	enum compare compare;
	struct place origin;
	bool own_ports; /* representors have none of its files */
	bool alias;	/* the two may reach one file by different names, as sysfs has them */
};

struct rivals {
	VEC(struct rival) list;
};

/* What a change is about, for kinds that read no text. */
struct target {
	char *name;		  /* a unit, a function's address: see the kind; or NULL */
	int vf;			  /* which VF of name, a PF, from 0; -1: none */
	const void *item;	  /* which of its things, of the kind's own type; static */
	const char *key;	  /* what the profile calls item; static or of it; or NULL */
	const struct ynode *node; /* of the profile, which outlives the plan; or NULL */
};

/* One of several values that are set at a time, by one message. */
struct part {
	char *name;	    /* of the profile: "rx"; a kernel argument */
	const void *item;   /* as that of a target */
	unsigned int index; /* of a table's entry: the priority, the DSCP; else 0 */
	struct value want;
};

/* A counter, as a look found it. */
struct count {
	char *member;	  /* whose: "mlx5_0 port 1" */
	unsigned int row; /* which, in the table of its family (checks/counters.h) */
	uint64_t value;
};

struct count_list {
	VEC(struct count) list;
};

struct change {
	char *id;	     /* profile path + PCI address + VF index; the same in every run */
	const char *section; /* its name; static */
	const struct kind *kind;
	enum stage stage;
	enum phase phase;
	char *lane;   /* a PCI address, or "" for the stage's own lane */
	char *target; /* what the kind resolves when it looks */
	char *desired;
	struct target on; /* of a kind that reads no text: target and desired render these */
	struct value want;
	VEC(struct part) parts; /* instead of want: desired renders all of them */
	/*
	 * A pattern over the files of sysfs in which the value of a change of another kind shows;
	 * NULL: none. Those of kind_attr are its target. Of netdevs, representors are left out.
	 */
	char *file;
	struct rivals yields_to; /* more specific lines: they have the files that both match */
	struct rivals contests;	 /* of other sections, the most specific first */
	enum compare compare;
	struct place origin;

	char *waits_for; /* id of a change that must hold first, or NULL */
	char *needs;	 /* id of another one that must hold first; remade is not about it */
	bool remade;	 /* waits_for makes this one's target anew: it can't hold before either */
	/*
	 * A temporary value: wanted only while the change of this id is still to be done.
	 * A later change asserts the steady value, so that a run after a kill repairs it.
	 */
	char *while_id;
	bool steady;	  /* ... such a later change: looked at again in its phase, same or not */
	bool optional;	  /* what the driver or kernel lacks is unsupported, not failed */
	bool drift_warns; /* that it holds no more, after the verdict, keeps no work out */
	bool late;	  /* absent in early is no fault: looked for again in devices */
	bool of_args;	  /* depends on the kernel arguments: no trial of them is judged by it */
	bool premise;	  /* a check of what the other changes take for granted: reported first */
	bool settles;	  /* a check that comes true by itself soon after boot: a carrier */
	unsigned int deadline_ms; /* of its set; of one that settles: how long it may take */
	/*
	 * Its set may stand in line in the kernel behind those of the other changes that say
	 * this: its time counts from the last of them that came back.
	 */
	bool queues;
	unsigned int parallel; /* begins while fewer than so many are under way; 0: PARALLEL */
	enum on_fail on_fail;
	bool of_load; /* what the gate's load brought out, a later look does not find again */

	enum change_state state;
	/* Of a look at counters: what it found; and of one after the gate's load (change_loaded()),
	 * what the look before it had found. */
	struct count_list counts, unloaded;
	bool loaded;
	char *observed; /* what is there now; NULL if it could not be read */
	/*
	 * Of a change that was set: what was there before. Of a look after the load of the gate's
	 * benchmarks: what was there before that load, if it was something else.
	 */
	char *before;
	char *reason; /* of waits, failed, unsupported: why, and what to do */
	/* Which fault it is while it does not hold; FAULT_NONE: that of its section. */
	enum fault fault;
	char *withheld;	   /* why what differs is not set; or NULL */
	char *note;	   /* which other changes have or set some of its files; or NULL */
	uint64_t started;  /* of one that was set: clock_usec() when its set began; else 0 */
	uint64_t duration; /* microseconds in set */
	uint64_t written;  /* ... until the kernel had taken the last value; 0: not known */
	bool reboot;	   /* what was set, or waits, takes effect with a reboot */
};

struct plan {
	VEC(struct change *) list;
};

/* Appends a change; the caller fills what it wants to differ from the defaults. */
struct change *plan_add(struct plan *plan, const char *section, const struct kind *kind,
			enum stage stage, enum phase phase, struct place origin, const char *id_fmt,
			...) __attribute__((format(printf, 7, 8)));
/* A file that railhead owns whole, of kind_file; text "" takes it away. */
struct change *plan_add_file(struct plan *plan, const char *section, enum stage stage,
			     struct place origin, const char *path, const char *text,
			     const char *id_fmt, ...) __attribute__((format(printf, 7, 8)));
struct change *plan_find(const struct plan *plan, const char *id);
/* Takes out, and frees, the changes that keep() is not true of. */
void plan_filter(struct plan *plan, bool (*keep)(const struct change *c, const void *arg),
		 const void *arg);
void plan_free(struct plan *plan);
/*
 * Settles which of the changes from the given index on, all of kind_attr and in document order,
 * has a file that the targets of several match: the most specific one, which is a path before a
 * pattern and among patterns the one with more literal text, and between equals the later. Which
 * files that are is found at each look, since files come and go.
 */
void plan_share_files(struct plan *plan, size_t from);
/*
 * Lets the changes of that section, all of kind_attr, and those of other sections know of one
 * another where both may be about one file.
 */
void plan_find_contests(struct plan *plan, const char *section);

/* Setters that own their text. */
void change_target(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* name may be NULL. */
void change_on(struct change *c, const char *name, const void *item);
/* Both want and desired are what the profile says there. */
void change_want(struct change *c, const struct ynode *value);
/* value: NULL where the name is all there is. Valid until the next one is added. */
struct part *change_part(struct change *c, const char *name, const void *item,
			 const struct ynode *value);
void change_desired(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_lane(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_waits_for(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What differs fails by this reason, and is not set. NULL: nothing does. Copied. */
void change_withhold(struct change *c, const char *why);
void change_needs(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_while(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_observe(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_reason(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Behind the reason that there is, and "; ". */
void change_reason_more(struct change *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void change_file(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void change_note(struct change *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The next look is one after the load of the gate's benchmarks. */
void change_loaded(struct change *c);
/* member is copied. */
void counts_add(struct count_list *counts, const char *member, unsigned int row, uint64_t value);
/* NULL: it has none. */
const struct count *counts_find(const struct count_list *counts, const char *member,
				unsigned int row);
void counts_free(struct count_list *counts);

/* The number that is there in the place of want's: sets observed, and SAME or DIFFERS. */
void change_found(struct change *c, int64_t number);
/* Observed against desired; sets SAME or DIFFERS. */
void change_judge(struct change *c);
bool change_equal(enum compare how, const char *desired, const char *observed);

/* SAME and SET hold; UNSUPPORTED is none of this machine's business. */
bool change_holds(const struct change *c);
/* A premise that was looked at and does not hold. */
bool change_broken_premise(const struct change *c);

const char *stage_name(enum stage s);
int stage_parse(const char *name, enum stage *ret); /* -EINVAL */
const char *state_name(enum change_state s);
int state_parse(const char *name, enum change_state *ret); /* -EINVAL */
/* Before a look after the verdict is judged: `on_drift: warn` of those that hold no more. */
void plan_take_drift(struct plan *plan);

const char *on_fail_name(enum on_fail f);
int on_fail_parse(const char *name, enum on_fail *ret); /* -EINVAL */

/* How the engine tells what it does; cmd/ connects it to report/. All may be NULL. */
struct sink {
	void *data;
	void (*change_done)(void *data, enum stage stage, const struct change *c);
	void (*progress)(void *data, enum stage stage, const char *text);
};
