/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run: one survey, the profile chosen for it, and the plan that follows. A stage looks
 * at its changes, sets what differs phase by phase, and reads back what it set.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/freeze.h"
#include "gate/gate.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/profile.h"
#include "profile/site.h"
#include "sections/sections.h"
#include "sys/root.h"

enum run_status {
	RUN_OK,
	RUN_OFF,     /* railhead=off */
	RUN_SPECIAL, /* rescue, kdump, container, ...: nothing may be done */
	RUN_NONE,    /* no profile matches */
	RUN_TWO,     /* more than one does */
	RUN_INVALID, /* the chosen one or railhead.conf has errors (diags) */
	RUN_CHANGED, /* the profile is not the one that this boot began with */
	RUN_UNFIT,   /* the profile can't be planned on this machine */
};

/* How a verb that applies changes ended. */
enum run_end {
	END_DONE,
	END_REFUSED, /* recovery: the gate has not admitted work before */
	END_UNKNOWN, /* recovery: no such function is watched */
	/* What went wrong first, whatever the verdict is. */
	END_BROKEN,	/* railhead could not work; complain was told why */
	END_NO_PROFILE, /* run_status says why */
	END_NO_ARGS,	/* nothing failed but kernel arguments, which will not come */
	END_FAILED,	/* changes failed */
};
/* The first that went wrong counts; that there is no profile may be no error at all. */
void run_end_at(enum run_end *end, enum run_end at);

struct run_options {
	const char *profile;	     /* --profile: a name or a file; no matching then. Or NULL. */
	const struct root *profiles; /* whose search path; NULL: the node's own */
	char *const *files;	     /* candidates instead of the search path, */
	size_t nfiles;		     /* if there are any */
	enum freeze freeze;
	bool retry;	     /* apply --retry */
	uint64_t waited;     /* what run_wait_devices() of a run before this one said */
	struct node *survey; /* of a run before this one, nothing set since: taken over; or NULL */
};

struct run {
	const struct root *root;
	const struct root *profiles; /* below which the search path is */
	struct run_options opt;
	struct site site; /* railhead.conf of the node */
	char *given;	  /* --profile of this run, or of the one that froze the profile, or NULL */
	char *was;	  /* the name and digest frozen until this run, where they were others */
	enum run_status status;
	struct err why; /* a sentence and its fault, unless RUN_OK */
	struct node node;
	struct match match;	 /* not with --profile */
	struct profile *loaded;	 /* with --profile */
	struct profile *profile; /* the chosen one, or NULL */
	struct diags diags;	 /* of railhead.conf, and of the --profile file */
	struct device_sets sets;
	struct kargs kargs; /* wanted */
	struct plan plan;
	struct acs *acs; /* of sys/acs.h: read as checks ask for it */
};

/* Fails only where railhead itself can't work; what the node or the files are is status. */
int run_open(const struct root *root, const struct run_options *opt, struct run *ret,
	     struct err *err);
/*
 * Of a run that applies no profile, with railhead=off or where none matches: takes away what an
 * earlier boot wrote beyond /run. Returns the first error.
 */
int run_withdraw(const struct run *run, struct err *err);
/* The survey of a run that is about to close; the caller owns it. */
struct node run_take_survey(struct run *run);
void run_close(struct run *run);

/* All errors and warnings of the chosen or given profile, or of railhead.conf; never NULL. */
const struct diags *run_diags(const struct run *run);

/* The verdict that a run means which can't go on, with what railhead.conf says of it. */
void run_verdict(const struct run *run, struct verdict *ret);

/* Stages as a set of bits. */
#define STAGES(s) (1u << (s))
#define STAGES_ALL ((1u << STAGE_COUNT) - 1)

/*
 * Whether a run of `running` over those stages has the change: in its own stage, and in
 * devices too if it is one that early may not have found (late).
 */
bool run_covers(const struct change *c, unsigned int stages, enum stage running);

/*
 * Looks at every change of the stages. running says what absent things mean; STAGE_COUNT:
 * each change by its own stage (a plan of a machine that has not booted with it yet).
 * Never writes. Forks only to ask by netlink (sys/netlink.h), once for each PF whose VFs have
 * addresses, whose eswitch has a mode, or whose link has settings in the profile.
 */
void run_look(struct run *run, unsigned int stages, enum stage running);

struct stage_result {
	enum stage stage;
	uint64_t started, duration;	  /* clock_usec(), microseconds */
	uint64_t look_again;		  /* clock_usec() when its last look began; 0: no look */
	size_t count[CHANGE_STATE_COUNT]; /* by state */
	bool reboot; /* kernel arguments were written, or wait, for the next boot */
	bool wrote;  /* something was set, well or not: the survey of the run is old */
};

/* Looks at all as the gate does; usec: waits for checks that come true, as run_wait_checks(). */
void run_look_gate(struct run *run, uint64_t usec, struct stage_result *ret);

/*
 * Makes it so: looks, then sets what differs. Changes of `also` (stages that should have
 * run before and did not) are done first. deadline: clock_usec(); when it is reached no
 * further change begins, and the rest is failed by name.
 */
void run_apply(struct run *run, enum stage stage, unsigned int also, uint64_t deadline,
	       const struct sink *sink, struct stage_result *ret);

/*
 * Waits until the functions that the sets of the sections sriov, link, qos and irq expect are
 * there, have their driver, and udev has named their netdevs: for each set as long as its `wait`
 * says, 30 s if it says nothing. Which ones are awaited, and which did not come, goes to the sink.
 * Returns how long it waited, in microseconds; not 0: the survey of this run is old, and the caller
 * opens a new one, with this in its options.
 */
uint64_t run_wait_devices(struct run *run, const struct sink *sink);

/*
 * Waits until the functions of all sets have their driver, devices and names, as above, or udev
 * has processed all events (/run/udev/queue, as libudev's udev_queue_get_queue_is_empty()): for at
 * most 30 s. A driver that is still probing would alter the node under the gate, which remembers
 * drivers and serial numbers with its measurements. Returns as above.
 */
uint64_t run_wait_probes(const struct run *run);

/* How long at most that is, by the profile alone; 30 s if it has no sriov section. */
uint64_t run_device_wait(const struct profile *profile);

/*
 * Waits for checks that come true by themselves (carriers) before they are judged: for each as
 * long as it says itself, or else usec microseconds.
 */
void run_wait_checks(struct run *run, uint64_t usec);
