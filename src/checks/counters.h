/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evidence around the load: error counters of the kernel or of a device, looked at before and after
 * the benchmarks of the gate (engine/judgement.c). A counter is a row of its family's table; a
 * family finds its members and reads them. All families report in the same way which counters
 * rose, by how much, which started again, and which are gone. Faults that only a GPU's driver knows
 * are queried around the load too: gate/asked.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checks/check.h"

enum counter_class {
	COUNTER_FAULT = 1, /* any value above 0 is a fault, whenever the error occurred */
	COUNTER_STILL = 2, /* any rise under load is a fault */
	COUNTER_RISE = 4,  /* a rise under load above `rise` (default: .spare) is a fault */
	COUNTER_WEAR = 8,  /* judged only by a key of the check */
};

struct counter {
	const char *file; /* below the member's directory; in a log: the name of the field */
	const char *text; /* the name in sentences; NULL: the last part of file */
	enum counter_class class;
	enum fault fault;
	const char *remedy;
	uint64_t spare; /* a rise that passes by default */
	uint64_t top;	/* the counter stops at this value; 0: never */
	/* In a log: offset and number of little-endian bytes; bit: one bit, from 1; 0: all bits. */
	uint16_t at;
	uint8_t bytes, bit;
};

struct counter_family {
	const char *sort; /* targets begin with it */
	const struct counter *counters;
	size_t n;
	const char *waits_on; /* a cause for a read to hang, so a worker reads; NULL: none */
	/* Appends the paths of the members; adds none if the machine has no such counters. */
	int (*find)(const struct root *root, const struct change *c, struct strv *ret,
		    struct err *err);
	/* The name of a member in sentences; the caller frees. Members of the same name count as
	 * one, with the highest of their values. */
	char *(*name)(const struct root *root, const char *path, const struct counter *k);
	/*
	 * Reads a member's values, by row; there: false for a counter that the member lacks. NULL:
	 * each counter is a file.
	 */
	int (*read)(const struct root *root, const char *path, const struct counter_family *f,
		    uint64_t *values, bool *there, struct err *err);
	bool of_node; /* it looks at the whole node: each counter must stay after the verdict */
	const char *absent; /* a sentence with the remedy, for a machine without such counters */
	/*
	 * NULL, or: a sentence about parts of the machine whose errors no member counts; NULL:
	 * none. The caller frees.
	 */
	char *(*uncounted)(const struct root *root);
	const char *to_count; /* the remedy */
};

/* A look at some counters of a family; on.item of the change. */
struct counter_look {
	struct target_item item;
	const struct counter_family *family;
	unsigned int classes;
	bool at_most; /* the values themselves are judged, by want.number */
	bool follows; /* another look of the same subject reports counters that can't be read */
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
/* By the check's key `rise`; on_rise: with the consequence of that key, by default a warning. */
void counters_emit_rise(const struct checked *t, struct subject of, const char *suffix,
			const struct counter_look *look, bool on_rise);
/* By a key that sets a maximum. NULL: the check lacks the key. */
struct change *counters_emit_at_most(const struct checked *t, struct subject of, const char *key,
				     const struct counter_look *look);
