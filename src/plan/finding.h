/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings: each look, set and measurement yields one, or adds to it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/stored.h"
#include "base/vec.h"

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
 * The last stage of this boot that tried to set an item learned why it could not; a later look sees
 * only that the value differs. words NULL: it was set, or not tried.
 */
struct tried {
	enum stage stage;
	enum fault fault;
	char *words;   /* the answer of the kernel or of the driver, as a sentence */
	char *remedy;  /* a sentence; or NULL */
	char *follows; /* id of the item whose failure was the cause; or NULL */
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

/*
 * An item of the profile, or a fact of the node, that does not hold. The parts are data for every
 * reader; sentences are made of them at the end (finding_text()). All texts are owned; NULL: none.
 */
struct finding {
	char *id; /* of the change or measurement; NULL: the whole node */
	enum change_state state;
	enum on_fail on_fail;
	enum fault fault;
	enum fault lasting;   /* if it may still come: the fault if it does not */
	bool final;	      /* of a look: waiting changes nothing */
	char *wanted, *found; /* of an item that differs; else NULL */
	/*
	 * Before it was set. After the load of the gate's benchmarks: before that load, if it
	 * differed.
	 */
	char *before;
	char *why;		/* a sentence of the look, the set or the measurement */
	char *note;		/* which other changes own or set some of its files */
	char *causes;		/* "likely: ..." */
	char *follows;		/* id of the change whose failure is this one's cause */
	struct strv covers;	/* the parts that a look found and judged: see kinds/cover.h */
	struct tried tried;	/* why a stage of this boot could not set it */
	char *load;		/* the benchmarks under whose load it failed */
	bool late;		/* it held before that load, and later looks do not find it */
	bool drifted;		/* it held at the verdict, and another program has set it since */
	char *by;		/* that program's line, if it is known: "/etc/sysctl.d/x.conf:3" */
	char *remedy;		/* a sentence */
	char *apply;		/* the place whose value `railhead apply` sets */
	unsigned int followers; /* others that wait for it */
};

struct findings {
	VEC(struct finding) list;
};

/* How they are stored; with the sentence, code, action and remedy for readers who need no parts. */
extern const struct stored tried_stored[], finding_stored[], findings_stored[];
/* Those that held: their parts and how much it matters if one is gone, by id. */
extern const struct stored held_stored[];
#define STATE_WORDS .word = state_name, .words = CHANGE_STATE_COUNT
#define FAULT_WORDS .word = fault_code, .words = FAULT_COUNT
#define ON_FAIL_WORDS .word = on_fail_name, .words = ON_FAIL_WARN + 1
#define STAGE_WORDS .word = stage_name, .words = STAGE_COUNT

/* Sets why and remedy. Takes ownership of text; NULL: neither is known. mend: as in struct err. */
void finding_say(struct finding *f, char *text, unsigned int mend);
/*
 * The value differs, and a stage of this boot could not set it: the stage knows why, and the look
 * does not.
 */
bool finding_was_refused(const struct finding *f);
/* Why it is so, by that stage or by the look, the causes and the remedy. NULL: not known. Caller
 * frees. */
char *finding_reason(const struct finding *f);
/* One line: "ID: found '1', expected '2'; the remedy". Caller frees. */
char *finding_text(const struct finding *f);
/* The same without the id and the remedy. Caller frees. */
char *finding_what(const struct finding *f);
/*
 * Its own remedy, or else that of the fault, and that of the fault that it becomes if the wait is
 * in vain; NULL: none. Caller frees.
 */
char *finding_remedy(const struct finding *f);
/* The same for a person, who may run `railhead apply` where that sets the value. Caller frees. */
char *finding_next_step(const struct finding *f);
bool finding_same(const struct finding *a, const struct finding *b);

/* Copies the finding. Those that block work come first, in order of addition. */
void findings_add(struct findings *l, const struct finding *f);
/* A sentence. id: or NULL. */
void findings_say(struct findings *l, enum fault fault, const char *id, const char *why);
/* NULL: none with that id. */
const struct finding *findings_find(const struct findings *l, const char *id);
/* Removes those with that fault. */
void findings_drop(struct findings *l, enum fault fault);
void findings_free(struct findings *l);

/* A fault of one or more findings. */
struct fault_seen {
	enum fault fault;
	enum on_fail on_fail; /* the gravest of them */
	size_t n;
	const struct finding *first;
};

/* Each fault once, in the order of the findings. Returns how many there are. */
size_t findings_faults(const struct findings *l, struct fault_seen ret[FAULT_COUNT]);

const char *stage_name(enum stage s);
int stage_parse(const char *name, enum stage *ret); /* -EINVAL */
const char *state_name(enum change_state s);

const char *on_fail_name(enum on_fail f);
int on_fail_parse(const char *name, enum on_fail *ret); /* -EINVAL */
