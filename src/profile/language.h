/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the tables of the language are written, here and in sections, and what they share. */
#pragma once

#include "profile/schema.h"
#include "profile/value.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FIELDS(...) ((const struct field[]){__VA_ARGS__, {.name = NULL}})
/* KEY("mtu", &mtu, "MTU of the netdev.", .since = KERNEL(5, 7)) */
#define KEY(key, of, ...)                                        \
	{                                                        \
		.name = (key), .spec = (of), .help = __VA_ARGS__ \
	}

/* What a section holds for each set that it names. */
#define BY_SET(table, of, text)                      \
	const struct spec table = {                  \
		.kind = SPEC_MAP_OF,                 \
		.any = "SET",                        \
		.what = "a map of device sets" text, \
		.key = &spec_set_name,               \
		.item = &(of),                       \
	}

/* The value of a row that has it alone: KEY("rx", A_NUMBER_OF("queues", 1, 8192), "...") */
#define A_NUMBER_OF(text, least, most)       \
	(&(const struct spec){               \
		.what = "a number of " text, \
		.unit = text,                \
		.check = value_int,          \
		.min = (least),              \
		.max = (most),               \
	})

/* Which keys of a set or section (`of`) may be lacking, and what becomes of later changes. */
#define OPTIONAL_KEYS_OF(of, table, ...)                                                   \
	static const struct spec table = {                                                 \
		.kind = SPEC_EITHER,                                                       \
		.what = "true, or a list of the " of "'s keys",                            \
		.scalar = &spec_bool,                                                      \
		.list =                                                                    \
			&(const struct spec){                                              \
				.kind = SPEC_LIST,                                         \
				.what = "a list of the " of "'s keys",                     \
				.item = &(const struct spec){.what = "a key of the " of,   \
							     .check = value_word,          \
							     .meaning = "may be lacking",  \
							     .words = WORDS(__VA_ARGS__)}, \
				.identity = ITEM_TEXT,                                     \
			},                                                                 \
	}
#define GOVERNING_KEYS_OF(of, who, table)                                               \
	KEY("optional", &(table),                                                       \
	    "Keys of the " of " that the " who " may lack: true for all of them, or a " \
	    "list; default false.",                                                     \
	    .class = KEY_GOVERNS),                                                      \
		KEY("on_drift", &spec_on_drift,                                         \
		    "Consequence of another value after the verdict; default lapse.",   \
		    .class = KEY_GOVERNS)

/*
 * Parts of patterns. A pattern may use only what means the same in ECMA 262 and in POSIX: so
 * no class escapes, and a bracket that is meant stands outside of brackets.
 */
#define NUMBER_OF "(0|[1-9][0-9]*)" /* in front of a unit */
#define LINE_CHAR "[^\x01-\x08\x0a-\x1f]"
#define CPUS "^0*[0-9]{1,4}(-0*[0-9]{1,4})?(,0*[0-9]{1,4}(-0*[0-9]{1,4})?)*$"
/* "/a/b", no part of it empty, "." or "..": what a part may hold, without and with the dot */
#define PATH_PARTS(no_dot, any) "(/(\\.?" no_dot "|\\.\\." any ")" any "*)+"
#define ABSOLUTE_PATH "^" PATH_PARTS("[^\x01- ./\\\\]", "[^\x01- /\\\\]") "$"

#define SECOND 1000000LL	/* of a duration: microseconds */
#define MEGABIT (1000000LL / 8) /* of a rate: bytes per second */
#define GIGABIT (1000 * MEGABIT)

/* Values that more than one table has. */
enum { ON_DRIFT_LAPSE, ON_DRIFT_WARN }; /* of spec_on_drift */
extern const struct spec spec_page_size, spec_bool, spec_cpus, spec_module, spec_set_name,
	spec_numa_node, spec_mtu, spec_on_drift, spec_cpu_vendor, spec_memlock, spec_units;

/* The keys of a profile that are no section. */
extern const struct spec schema_document;
