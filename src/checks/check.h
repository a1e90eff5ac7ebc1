/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A check of the gate: what one `run:` word of a profile means. Each is a row, in a file of its own
 * or of its family, and a line in this room's table.c. It is looked at, by changes of kind check,
 * or measured, by probes (checks/probe.h) that gate/ runs.
 */
#pragma once

#include "kinds/target.h"
#include "sections/sections.h"

struct probes;

/* What a look is about: a function, or where vf is not -1 one of its VFs; or a unit. */
struct subject {
	const char *name;
	int vf;
};

/* An entry of gate.checks. */
struct checked {
	const struct section_ctx *ctx;
	const struct check *check;
	const char *name;	 /* the profile's own */
	const struct ynode *map; /* its keys */
	struct plan *plan; /* which looks are added to; NULL: only what is measured is asked */
};

struct check {
	const char *run;
	/* Keys that it takes, besides run, timeout and on_fail, and on_intermittent of figures. */
	const char *required[3], *optional[6];
	const char *shares; /* of what a min may be a share: "line pcie set"; NULL: of nothing */
	/* One of these three; look_whole as well as look: where the check names no set. */
	void (*look)(const struct checked *t, struct subject of); /* at each function of its set */
	void (*look_whole)(const struct checked *t);
	void (*measure)(const struct checked *t, struct probes *ret);
	enum fault slow;   /* which fault a figure that is not enough is */
	enum fault failed; /* ... and a program that gives none; FAULT_NONE: GATE_PROGRAM */
	bool no_load;	   /* of one that is measured: it asks a driver, and no more */
};

/* CHECK(carrier, .required = {"on"}, .look = emit); */
#define CHECK(name, ...) const struct check check_##name = {.run = #name, __VA_ARGS__}

extern const struct check *const check_table[];	 /* NULL-terminated */
extern const char *const check_words[];		 /* their words, the same */
const struct check *check_find(const char *run); /* NULL: none is called so */
/* Calls one() for each check of the profile, in its order; plan as that of struct checked. */
void checks_each(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		 void (*one)(const struct checked *t, void *arg), void *arg);

/* Whether a set that the check is on has no member: its expect says then whether it may. */
bool check_may_lack(const struct checked *t);
#define NOTHING_TO_CHECK                                                                           \
	"there is nothing that this check is about: no VF, NUMA node or pair that it could take; " \
	"see `railhead match --explain`, or leave the check out"

/* --- looks: ids are gate/NAME/ADDRESS[/VF], of units gate/NAME/UNIT ------------------------- */

/* sort: what its target begins with; suffix: of its id */
struct change *check_look(const struct checked *t, struct subject of, const char *suffix,
			  const struct target_item *item, const char *sort, const char *desired);
/* value: of the check; NULL: the word that says so by itself (max, unlimited) */
struct change *check_look_wanting(const struct checked *t, struct subject of, const char *suffix,
				  const struct target_item *item, const char *sort,
				  const struct ynode *value, const char *otherwise);
/* Links train for seconds: the check's timeout is how long it may take until they are there. */
void check_settles(const struct checked *t, struct change *c);
