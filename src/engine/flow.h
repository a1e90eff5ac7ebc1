/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state machine of the verdict. Each change of a boot's verdict, or of its publication, is an
 * event of the table in flow.c; docs/verdict.md is made from the same table.
 *
 * The state is not stored: it follows from the record (flow_state()). An event that can't happen in
 * a state, or whose verdict leads to a state that the table does not allow, is a defect of
 * railhead: it is reported, and no verdict is written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/status.h"
#include "engine/watch.h"

enum flow_state {
	FLOW_UNJUDGED, /* no gate has judged this user space, or not with this profile */
	FLOW_AT_WORK,  /* a gate has begun, and has no verdict: it measures, or was killed */
	FLOW_WAITING,  /* the verdict waits for something; the retry timer looks again */
	FLOW_ADMITTED, /* the verdict admits work */
	FLOW_LAPSED,   /* the verdict admitted work until a device or the ready file was lost */
	FLOW_KEPT_OUT, /* blocked, degraded, off or no profile */
	FLOW_STATE_COUNT
};

enum flow_event {
	/* of a stage */
	FLOW_USER_SPACE, /* the first run (a gate too) in the user space after a soft-reboot */
	/* a stage begins, or the unit of the gate is stopped, and no verdict is recorded */
	FLOW_NO_RECORD,
	FLOW_STAGE_BEGINS, /* while no work is admitted */
	FLOW_STAGE_HELD,   /* no failure keeps work out; with the profile of the record */
	FLOW_STAGE_OTHER,  /* no failure keeps work out; with another profile */
	FLOW_STAGE_FAILED,
	FLOW_STAGE_NO_PROFILE, /* there is no profile to apply: railhead=off, none matches, invalid
				*/
	FLOW_STAGE_NO_PROFILE_STILL, /* there is no profile, and the gate has admitted work */
	/* of a gate */
	FLOW_GATE,	    /* with the profile of the record */
	FLOW_GATE_AGAIN,    /* --again, or with another profile, or without a profile */
	FLOW_GATE_LET_IN,   /* of the unit, while work is admitted by hand */
	FLOW_GATE_KILLED,   /* of the unit, after the previous ones were killed too often */
	FLOW_GATE_SPECIAL,  /* in a boot where nothing may be written: rescue, kdump, a container */
	FLOW_RETRY,	    /* --retry */
	FLOW_RETRY_WHOLE,   /* --retry, without an earlier look to continue from */
	FLOW_JUDGED_ADMITS, /* the verdict of a gate */
	FLOW_JUDGED_WAITS,
	FLOW_JUDGED_KEEPS_OUT,
	FLOW_NO_PROFILE,	/* of a gate that has no profile to judge by */
	FLOW_NO_PROFILE_ADMITS, /* the gate has no profile, and railhead.conf admits work */
	FLOW_NOT_WRITTEN,	/* a verdict that admits work could not be written */
	FLOW_STOPPED,		/* railhead-gate.service was stopped */
	FLOW_STOPPED_REBOOTS,	/* by a reboot */
	FLOW_RENEW,		/* --recheck, without a look */
	FLOW_LOOKED,		/* --recheck */
	/* of a device */
	FLOW_DEVICE, /* an event of a function that is watched */
	FLOW_DEVICE_LOST,
	FLOW_DEVICE_AWAY, /* judged again: a device is still lost, or a fault keeps work out */
	FLOW_DEVICE_BACK, /* judged again: admits work */
	/* of a later look */
	FLOW_DRIFTED,  /* the grounds of the verdict hold no more */
	FLOW_STILL_SO, /* the grounds of the verdict hold; the warnings have changed */
	/* of a person, or of the timer that ends an admission by hand */
	FLOW_ADMIT,
	FLOW_ADMIT_ENDS,
	FLOW_EVENT_COUNT
};

/* The acts of an event, in this order. */
enum flow_act {
	FLOW_REFUSES = 1 << 0,	  /* nothing; the caller reports why */
	FLOW_FORGETS = 1 << 1,	  /* the boot chooses its profile again */
	FLOW_UNWATCHES = 1 << 2,  /* devices have no events any more */
	FLOW_WITHDRAWS = 1 << 3,  /* the ready file is removed, and readers are informed */
	FLOW_KEEPS_PASS = 1 << 4, /* the measurements are kept for the next boot */
	FLOW_DROPS_PASS = 1 << 5, /* the next boot may not use the measurements */
	FLOW_KEEPS_LOSS = 1 << 6, /* the list of lost devices is kept until they are back */
	FLOW_HAND_OVER = 1 << 7,  /* the admission by hand ends, with a journal entry */
	FLOW_JUDGES = 1 << 8,	  /* the record gets the verdict that comes with the event */
	FLOW_BEGINS = 1 << 9,	  /* the verdict is that a gate is at work; nothing is measured */
	FLOW_WAIT_OVER = 1 << 10, /* the time of waiting is cleared */
	FLOW_RECORDS = 1 << 11,	  /* the record is written, without a ready file */
	FLOW_CLAIMS = 1 << 12,	  /* the record is written, and the ready file if it admits work */
	FLOW_STORES_PASS = 1 << 13, /* the next boot may use the measurements */
	/* the journal gets the verdict and its faults, if they differ from the record's */
	FLOW_JOURNALS = 1 << 14,
	FLOW_JOURNALS_HAND = 1 << 15, /* the journal gets the person who admitted work */
	FLOW_RENEWS = 1 << 16,	      /* readers are informed again, before labels lapse */
	FLOW_TRIAL_BEGINS = 1 << 17,  /* a trial of kernel arguments has the time of a gate again */
	FLOW_TRIAL_OVER = 1 << 18,    /* the timer of a trial of kernel arguments is stopped */
	FLOW_RETRY_ON = 1 << 19,      /* the retry timer runs */
	FLOW_RETRY_OFF = 1 << 20,     /* the retry timer does not run */
	FLOW_HAND_TIMER_OFF = 1 << 21, /* the timer of an admission by hand does not run */
	FLOW_HISTORY = 1 << 22,	       /* the history gets this boot's result, if it has changed */
};
#define FLOW_ACTS 23

struct flow_row {
	enum flow_event event;
	unsigned int from; /* bits, FLOW_BIT() of each state */
	unsigned int next; /* bits too, of the possible next states; FLOW_NEVER, FLOW_SAME */
	unsigned int acts; /* bits, enum flow_act */
};
#define FLOW_BIT(state) (1u << (state))
#define FLOW_NEVER 0 /* the event can't happen in that state */
#define FLOW_SAME FLOW_BIT(FLOW_STATE_COUNT)

extern const struct flow_row flow_rows[];
extern const size_t flow_row_count;
/* NULL: the table has no such row. */
const struct flow_row *flow_find(enum flow_event event, enum flow_state from);

const char *flow_state_name(enum flow_state s); /* "at work" */
const char *flow_event_name(enum flow_event e); /* a clause: "a gate begins" */

enum flow_state flow_state(const struct record *r);

struct flow {
	const struct root *root;
	struct status *status;
	const struct run *run;		    /* for FLOW_STORES_PASS, FLOW_HISTORY */
	unsigned int reboots;		    /* for FLOW_HISTORY: counted when the gate began */
	struct watch *watch;		    /* for FLOW_KEEPS_LOSS */
	const char *over;		    /* for FLOW_HAND_OVER: the reason */
	void (*complain)(const char *text); /* about an act that failed; the others are done */
	bool retries;			    /* the retry timer started this run, so it is running */
	bool news; /* set by flow_move(): the record had another verdict before */
};

/*
 * Moves the verdict. v: the verdict of an event that has one, else NULL; it is copied. Returns the
 * first error, after complain() has reported it.
 */
int flow_move(struct flow *f, enum flow_event event, const struct verdict *v);
