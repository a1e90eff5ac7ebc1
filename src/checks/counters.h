/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evidence around the load: counters that the kernel or a device keeps of errors, looked at before
 * the benchmarks of the gate and after them (engine/judgement.c). A counter is a row of its
 * family's table; a family says where its members are and how they are read. What rose, by how
 * much, what began again and what is gone is told alike of all. What only a GPU's driver knows is
 * asked around the load as well: gate/asked.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checks/check.h"

enum counter_class {
	COUNTER_FAULT = 1, /* anything but 0 is a fault, whenever it came */
	COUNTER_STILL = 2, /* any rise under load is a fault */
	COUNTER_RISE = 4,  /* a rise under load by more than `rise`, or else than .spare */
	COUNTER_WEAR = 8,  /* judged by a key of the check alone */
};

struct counter {
	const char *file; /* below the member's directory; of a log: what its field is called */
	const char *text; /* what a sentence calls it; NULL: the last part of file */
	enum counter_class class;
	enum fault fault;
	const char *remedy;
	uint64_t spare; /* a rise that passes where the check says nothing */
	uint64_t top;	/* where it stops to count; 0: it does not */
	/* Of a log: little-endian, so many bytes at an offset; of those, one bit from 1; 0: all. */
	uint16_t at;
	uint8_t bytes, bit;
};

struct counter_family {
	const char *sort; /* targets begin with it */
	const struct counter *counters;
	size_t n;
	const char *waits_on; /* what a read may hang on, so that it is done apart; NULL: nothing */
	/* The paths of the members, appended; none: nothing counts here. */
	int (*find)(const struct root *root, const struct change *c, struct strv *ret,
		    struct err *err);
	/* What a sentence calls a member, which the caller frees. Alike: one member, which has the
	 * highest of their values. */
	char *(*name)(const struct root *root, const char *path, const struct counter *k);
	/*
	 * A member's values, by row; there: false of those that it does not have. NULL: each is a
	 * file.
	 */
	int (*read)(const struct root *root, const char *path, const struct counter_family *f,
		    uint64_t *values, bool *there, struct err *err);
	const char *absent; /* a sentence with the remedy, of a machine on which nothing counts */
};

/* A look at some of the counters of a family; on.item of its change. */
struct counter_look {
	struct target_item item;
	const struct counter_family *family;
	unsigned int classes;
	bool at_most; /* the values themselves are judged, by want.number */
	bool follows; /* another look of the subject says what cannot be seen */
};

int counters_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
#define COUNTER_LOOK(f, fault_, ...)                                                   \
	{                                                                              \
		.item = {.kind = &kind_check, .look = counters_look, .fault = fault_}, \
		.family = f, __VA_ARGS__                                               \
	}

/* Adds the look to the plan. */
void counters_emit(const struct checked *t, struct subject of, const char *suffix,
		   const struct counter_look *look, const char *desired);
/* Of the check's key `rise`; on_rise: with that key's consequence, which is a warning by default.
 */
void counters_emit_rise(const struct checked *t, struct subject of, const char *suffix,
			const struct counter_look *look, bool on_rise);
/* Of a key that says how many there may be, where the check has it. NULL: it has not. */
struct change *counters_emit_at_most(const struct checked *t, struct subject of, const char *key,
				     const struct counter_look *look);
