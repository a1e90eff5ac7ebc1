/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a look, a set or a measurement learned of an item of the profile. */
#pragma once

#include "base/fault.h"

enum stage { STAGE_INITRD, STAGE_EARLY, STAGE_DEVICES, STAGE_GATE, STAGE_COUNT };

/* The state of an item that is set, looked at or measured. */
enum change_state {
	CHANGE_UNKNOWN, /* not looked at yet */
	CHANGE_SAME,	/* as the profile says; of a measurement: it is enough */
	CHANGE_DIFFERS,
	CHANGE_WAITS, /* for another change, or for a reboot: see reason */
	CHANGE_SET,
	CHANGE_FAILED,	    /* could not be set; of a measurement: its program crashed or hung */
	CHANGE_UNSUPPORTED, /* impossible with this kernel, driver or root; counts as holding */
	/* Only for measurements: */
	CHANGE_SLOW,	       /* measured twice, and below the threshold: its on_fail */
	CHANGE_INTERMITTENT,   /* slow in one look, and not in the next: its on_intermittent */
	CHANGE_INVALID,	       /* disturbed, so that the figure is meaningless: waiting */
	CHANGE_NOT_YET,	       /* a port or peer is still coming up: waiting */
	CHANGE_CANNOT_MEASURE, /* a prerequisite is missing: its on_fail */
	CHANGE_TO_MEASURE,     /* not measured before the gate runs (see gate_plan()) */
	CHANGE_STATE_COUNT,
};

/* The effect of a failed check on the verdict. */
enum on_fail { ON_FAIL_BLOCK, ON_FAIL_DEGRADE, ON_FAIL_WARN };

/*
 * What the last stage of this boot that tried to set an item learned, if it could not: a later look
 * sees only that the value differs. words NULL: set, or not tried.
 */
struct tried {
	enum stage stage;
	enum fault fault;
	char *words;   /* the answer of the kernel or of the driver, as a sentence */
	char *follows; /* id of the item whose failure was the cause; or NULL */
};

/* Copies the texts, which may be NULL. */
void tried_set(struct tried *t, enum stage stage, enum fault fault, const char *words,
	       const char *follows);
void tried_free(struct tried *t);

const char *stage_name(enum stage s);
int stage_parse(const char *name, enum stage *ret); /* -EINVAL */
const char *state_name(enum change_state s);

const char *on_fail_name(enum on_fail f);
int on_fail_parse(const char *name, enum on_fail *ret); /* -EINVAL */
