/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of changes: the single model behind plan, apply, verify, text and JSON. Sections make
 * changes, kinds look at changes and set them, the engine runs them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "plan/finding.h"
#include "plan/kind.h"
#include "profile/yaml.h"

/*
 * Phases run in this order, with a barrier between two phases. Inside a phase, lanes run in
 * parallel, and the changes of a lane run in the order of the list. The order of the devices stage
 * follows the dependencies: VFs exist before they get an address, and have an address before a
 * driver reads it.
 */
enum phase {
	PHASE_FILES,  /* drop-ins that later loads and units read */
	PHASE_MEMORY, /* hugepages, while memory is whole */
	PHASE_MODULES,
	PHASE_SYSCTL,
	PHASE_SYSFS,
	PHASE_LINK_UP,	      /* PFs whose VFs come up only (or faster) with a link */
	PHASE_AUTOPROBE_HOLD, /* sriov_drivers_autoprobe to 0, while VFs are created */
	PHASE_ESWITCH,	      /* drivers that change the eswitch mode before VFs exist */
	PHASE_NUMVFS,
	PHASE_VF_ESWITCH, /* drivers that change the eswitch mode with VFs, all unbound */
	PHASE_VF_ADDRESS, /* settings that a VF's driver reads when it binds */
	PHASE_AUTOPROBE,  /* the steady value again */
	PHASE_VF_DRIVER,
	PHASE_PORT,    /* a function's own settings; in a lane in the list's order */
	PHASE_VF_LINK, /* netdevs of VFs */
	PHASE_MOUNT,
	PHASE_IRQ,  /* channels have their final number, so vectors are not allocated again */
	PHASE_LATE, /* sysctl and sysfs of targets that exist only now */
	PHASE_CHECK,
	PHASE_COUNT,
};

enum compare {
	COMPARE_TEXT,	  /* equal, ignoring white space; "[x] y" is x */
	COMPARE_AT_LEAST, /* numbers */
	COMPARE_PARAM,	  /* as the kernel prints module parameters: Y is 1, N is 0 */
	COMPARE_MASK,	  /* hexadecimal words, ignoring leading zeros */
	COMPARE_VERSION,  /* ">=24.10" or "24.10" (base/version.h) */
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

/* A counter, as a look found it. */
struct count {
	char *member;	  /* owner of the counter: "mlx5_0 port 1" */
	unsigned int row; /* in the table of its family (checks/counters.h) */
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

	/* Looks and sets write what they learn here, and change no member above. */
	struct finding now;
	/* The counters that a look found; unloaded: those of the look before the gate's load, if
	 * this look is after it (change_loaded()). */
	struct count_list counts, unloaded;
	bool loaded;
	uint64_t started;  /* clock_usec() when its set began; 0: not set */
	uint64_t duration; /* microseconds in set */
	uint64_t written;  /* microseconds until the kernel accepted the last value; 0: not known */
	bool reboot;	   /* takes effect with a reboot */
};

struct plan {
	VEC(struct change *) list;
};

/* A stage of this boot could not set the change, and learned why. Owns nothing. */
struct lesson {
	const char *id, *desired;
	struct tried tried;
};

struct lessons {
	VEC(struct lesson) list; /* vec_free() */
};

/* Appends a change with defaults; the caller fills in the rest. */
struct change *plan_add(struct plan *plan, const char *section, const struct kind *kind,
			enum stage stage, enum phase phase, struct place origin, const char *id_fmt,
			...) __attribute__((format(printf, 7, 8)));
/* A file that railhead owns completely, of kind_file; text "" removes the file. */
struct change *plan_add_file(struct plan *plan, const char *section, enum stage stage,
			     struct place origin, const char *path, const char *text,
			     const char *id_fmt, ...) __attribute__((format(printf, 7, 8)));
struct change *plan_find(const struct plan *plan, const char *id);
/* Removes and frees the changes for which keep() is false. */
void plan_filter(struct plan *plan, bool (*keep)(const struct change *c, const void *arg),
		 const void *arg);
void plan_free(struct plan *plan);
/* Each change with that id and desired value remembers what was learned. */
void plan_learn(struct plan *plan, const struct lessons *lessons);
/*
 * Decides which change owns a file that the targets of several changes match, for the changes from
 * the given index on, all of kind_attr and in document order. The most specific change owns the
 * file: a path goes before a pattern, a pattern with more literal text before others, and the later
 * of two equals. Each look resolves the files, because files come and go.
 */
void plan_share_files(struct plan *plan, size_t from);
/*
 * Links the changes of that section, all of kind_attr, with the changes of other sections that may
 * share a file with them.
 */
void plan_find_contests(struct plan *plan, const char *section);

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

/* Before a look after the verdict is judged: applies `on_drift: warn` to changes that do not hold.
 */
void plan_take_drift(struct plan *plan);

/* Progress of the engine; cmd/ connects it to report/. All may be NULL. */
struct sink {
	void *data;
	void (*change_done)(void *data, enum stage stage, const struct change *c);
	void (*progress)(void *data, enum stage stage, const char *text);
};
