/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run: one survey, the profile chosen for it, and the plan that follows. A stage looks at its
 * changes, sets those that differ, phase by phase, and reads them back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/freeze.h"
#include "engine/missing.h"
#include "gate/gate.h"
#include "kargs/kargs.h"
#include "node/node.h"
#include "plan/plan.h"
#include "profile/profile.h"
#include "profile/site.h"
#include "sys/root.h"

enum run_status {
	RUN_OK,
	RUN_OFF,     /* railhead=off */
	RUN_SPECIAL, /* rescue, kdump, container, ...: nothing may be done */
	RUN_NONE,    /* no profile matches */
	RUN_TWO,     /* more than one profile matches */
	RUN_INVALID, /* the chosen profile or railhead.conf has errors (diags) */
	RUN_CHANGED, /* the profile is not the one that this boot began with */
	RUN_UNFIT,   /* the profile can't be planned on this machine */
};

/* How a verb that applies changes ended. */
enum run_end {
	END_DONE,
	END_REFUSED, /* recovery: the gate has not admitted work before */
	END_UNKNOWN, /* recovery: no such function is watched */
	/* The first error, independent of the verdict: */
	END_BROKEN,	/* railhead could not work; complain() reported why */
	END_NO_PROFILE, /* run_status has the reason; may be no error */
	END_FAILED,	/* changes failed */
};
/* Keeps the first end other than END_DONE; END_BROKEN replaces END_NO_PROFILE. */
void run_end_at(enum run_end *end, enum run_end at);

struct run_options {
	const char *profile;	     /* --profile, a name or a file, without matching; or NULL */
	const struct root *profiles; /* root of the search path; NULL: the node's own */
	char *const *files;	     /* candidates instead of the search path, */
	size_t nfiles;		     /* unless 0 */
	bool all;		     /* load all candidates, as in match_profiles() */
	enum freeze freeze;
	uint64_t waited;     /* the result of run_wait_devices() of an earlier run */
	struct node *survey; /* of an earlier run, still valid: moved into this run; or NULL */
	const struct lessons *lessons; /* of this boot, to be joined with the plan; or NULL */
};

struct run {
	const struct root *root;
	const struct root *profiles; /* root of the search path */
	struct run_options opt;
	struct site site; /* railhead.conf of the node */
	char *given;	  /* --profile of this run, or of the one that froze the profile, or NULL */
	char *was;	  /* the name and digest frozen until this run, if they differ; or NULL */
	enum run_status status;
	/*
	 * A sentence and its fault, unless RUN_OK; with FREEZE_LATER, even then: the reason why
	 * this run is not by the files as they are now.
	 */
	struct err why;
	struct node node;
	struct match match;	 /* not with --profile */
	struct profile *loaded;	 /* with --profile */
	struct profile *profile; /* the chosen profile, or NULL */
	struct diags diags;	 /* of railhead.conf, and of the --profile file */
	struct device_sets sets;
	struct kargs kargs; /* wanted */
	struct plan plan;
	struct missing_list missing; /* of a look at the gate's checks */
	struct acs *acs;	     /* of sys/acs.h: read as checks ask for it */
	struct kernel_log *log;	     /* of sys/kernel_log.h, likewise */
};

/* Fails only if railhead itself can't work; problems of the node or the files set status. */
int run_open(const struct root *root, const struct run_options *opt, struct run *ret,
	     struct err *err);
/*
 * For a run without a profile (railhead=off, or no match): removes the files that an earlier boot
 * wrote outside /run. Returns the first error.
 */
int run_withdraw(const struct run *run, struct err *err);
/* For sections and checks; the run must stay. */
struct section_ctx run_sections(const struct run *run);
/* The survey of a run that is about to close; the caller owns it. */
struct node run_take_survey(struct run *run);
void run_close(struct run *run);

/* All errors and warnings of the chosen or given profile, or of railhead.conf; never NULL. */
const struct diags *run_diags(const struct run *run);

/* The verdict of a run that can't go on, which railhead.conf may change. */
void run_verdict(const struct run *run, struct verdict *ret);

/* Adds a warning for each file that looks like configuration and that no boot reads. */
void run_warn_of_unread(const struct run *run, struct verdict *v);

/* Stages as a set of bits. */
#define STAGES(s) (1u << (s))
#define STAGES_ALL ((1u << STAGE_COUNT) - 1)

/*
 * Whether a run of `running` over those stages includes the change: in the change's own stage, and
 * also in devices if the target may be absent in early (late).
 */
bool run_covers(const struct change *c, unsigned int stages, enum stage running);

/*
 * Looks at every change of the stages. running decides how absent targets count; STAGE_COUNT: each
 * change by its own stage (the plan of a machine that has not booted with it yet). Never writes.
 * Forks for netlink queries (sys/netlink.h), once for each PF for which the profile has VF
 * addresses, an eswitch mode or link settings, and with stage gate for the history, if a device set
 * lacks members (engine/missing.h).
 */
void run_look(struct run *run, unsigned int stages, enum stage running);

struct stage_result {
	enum stage stage;
	uint64_t started, duration;	  /* clock_usec(), microseconds */
	uint64_t look_again;		  /* clock_usec() when its last look began; 0: no look */
	size_t count[CHANGE_STATE_COUNT]; /* by state */
	bool wrote; /* a set was tried, so the survey of the run is out of date */
};

/* Looks at everything as the gate does. usec: as in run_wait_checks(). */
void run_look_gate(struct run *run, uint64_t usec, struct stage_result *ret);

/*
 * Looks at the changes, then sets those that differ. The changes of `also` (earlier stages that did
 * not run) come first. deadline: clock_usec(); after it no change begins, and the changes left
 * fail by name.
 */
void run_apply(struct run *run, enum stage stage, unsigned int also, uint64_t deadline,
	       const struct sink *sink, struct stage_result *ret);

/*
 * Waits until the functions that the sets of the sections sriov, link, qos and irq expect are
 * there, have their driver, and udev has named their netdevs: for each set as long as its `wait`,
 * by default 30 s. The sink gets the awaited functions, and those that did not come. Returns the
 * time of waiting in microseconds; unless it is 0, the survey of this run is out of date, and the
 * caller must open a new run with this time in its options.
 */
uint64_t run_wait_devices(struct run *run, const struct sink *sink);

/*
 * Waits until udev has processed all events (/run/udev/queue, as libudev's
 * udev_queue_get_queue_is_empty()): for at most usec, and for 3 s once the functions of all sets
 * have their driver, devices and names, as above. A driver that is still probing would alter the
 * node under the gate, which remembers drivers and serial numbers with its measurements; an event
 * of a judged function starts a recovery. Returns as above.
 */
uint64_t run_wait_probes(const struct run *run, uint64_t usec);

/* The maximum of run_wait_devices() by the profile alone; 30 s without a sriov section. */
uint64_t run_device_wait(const struct profile *profile);

/*
 * Waits, before the checks are judged, for those that come true by themselves (carriers): for each
 * as long as its own deadline, or else usec microseconds.
 */
void run_wait_checks(struct run *run, uint64_t usec);
