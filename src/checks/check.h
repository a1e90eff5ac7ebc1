/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A check of the gate: the meaning of one `run:` word of a profile. Each check is a row, in its own
 * file or its family's file, and a line in this room's table.c. A check either looks, by changes of
 * kind check, or measures, by probes (checks/probe.h) that gate/ runs.
 */
#pragma once

#include "kinds/target.h"

struct plan; /* of plan/plan.h */
struct probes;
struct section_ctx; /* of profile/section.h */
struct ynode;	    /* of profile/yaml.h */

/* The subject of a look: a function, one of its VFs if vf is not -1, or a unit. */
struct subject {
	const char *name;
	int vf;
};

/* An entry of gate.checks. */
struct checked {
	const struct section_ctx *ctx;
	const struct check *check;
	const char *name;	 /* given by the profile */
	const struct ynode *map; /* its keys */
	struct plan *plan;	 /* gets the looks; NULL: the caller needs only the probes */
};

struct check {
	const char *run;
	/* Accepted keys, in addition to run, timeout, on_fail, and on_intermittent of figures. */
	const char *required[3], *optional[6];
	const char *shares; /* bases for a percentage in min: "line pcie set"; NULL: none */
	/* One of these three; a check with look may have look_whole too, if it names no set. */
	void (*look)(const struct checked *t, struct subject of); /* at each function of its set */
	void (*look_whole)(const struct checked *t);
	void (*measure)(const struct checked *t, struct probes *ret);
	enum fault slow;   /* the fault if a figure fails its threshold */
	enum fault failed; /* the fault if the program gives no figure; FAULT_NONE: GATE_PROGRAM */
	bool nvidia;	   /* asks libraries or the driver of NVIDIA: no GPU of another vendor */
	bool no_load;	   /* measured, but only by queries to a driver */
};

/* CHECK(carrier, .required = {"on"}, .look = emit); */
#define CHECK(name, ...) const struct check check_##name = {.run = #name, __VA_ARGS__}

extern const struct check *const check_table[];	 /* NULL-terminated */
extern const char *const check_words[];		 /* their `run:` words; NULL-terminated */
const struct check *check_find(const char *run); /* NULL: no check has this name */
/* Calls one() for each check of the profile, in its order; plan: see struct checked. */
void checks_each(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		 void (*one)(const struct checked *t, void *arg), void *arg);

/* Whether a set of the check has no member; the expect of the set decides if that is allowed. */
bool check_may_lack(const struct checked *t);
#define NOTHING_TO_CHECK                                                                 \
	"this check has no subject on the node: no VF, NUMA node or pair to check; see " \
	"`railhead match --explain`, or remove the check"

/* --- looks: ids are gate/NAME/ADDRESS[/VF], for units gate/NAME/UNIT ------------------------ */

/* sort: the first word of the target; suffix: of the id */
struct change *check_look(const struct checked *t, struct subject of, const char *suffix,
			  const struct target_item *item, const char *sort, const char *desired);
/* value: of the check; NULL: otherwise is the wanted word (max, unlimited) */
struct change *check_look_wanting(const struct checked *t, struct subject of, const char *suffix,
				  const struct target_item *item, const char *sort,
				  const struct ynode *value, const char *otherwise);
/* Sets the check's timeout as the time that a link may take to come up: links train for seconds. */
void check_settles(const struct checked *t, struct change *c);
