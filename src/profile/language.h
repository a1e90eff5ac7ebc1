/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Macros for the tables of the language, here and in sections/, and the values that they share. */
#pragma once

#include "profile/schema.h"
#include "profile/value.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* .meanings = WORDS(MEANS("none", "no driver"), MEANS("all", "...")) */
#define MEANS(word, meaning) word, meaning
#define FIELDS(...) ((const struct field[]){__VA_ARGS__, {.name = NULL}})
/* KEY("mtu", &mtu, "MTU of the netdev.", .since = KERNEL(5, 7)) */
#define KEY(key, of, ...)                                        \
	{                                                        \
		.name = (key), .spec = (of), .help = __VA_ARGS__ \
	}

/* The spec of a section that is a map of device sets. */
#define BY_SET(table, of, text)                      \
	const struct spec table = {                  \
		.kind = SPEC_MAP_OF,                 \
		.any = "SET",                        \
		.what = "a map of device sets" text, \
		.key = &spec_set_name,               \
		.item = &(of),                       \
	}

/* A number that only one row uses: KEY("rx", A_NUMBER_OF("queues", 1, 8192), "...") */
#define A_NUMBER_OF(text, least, most)       \
	(&(const struct spec){               \
		.what = "a number of " text, \
		.unit = text,                \
		.check = value_int,          \
		.min = (least),              \
		.max = (most),               \
	})

/* The keys `optional` (keys of a set or section that may be lacking) and `on_drift`. */
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
		    "Consequence of a changed value after the verdict; default lapse.", \
		    .class = KEY_GOVERNS)

/*
 * Parts of patterns. A pattern may use only syntax with the same meaning in ECMA 262 and in POSIX:
 * no class escapes, and a literal bracket stands outside of bracket expressions.
 */
#define NUMBER_OF "(0|[1-9][0-9]*)" /* before a unit */
#define LINE_CHAR "[^\x01-\x08\x0a-\x1f]"
#define CPUS "^0*[0-9]{1,4}(-0*[0-9]{1,4})?(,0*[0-9]{1,4}(-0*[0-9]{1,4})?)*$"
/*
 * "/a/b" without empty, "." and ".." parts. The arguments are a part's characters: all but the dot,
 * and all.
 */
#define PATH_PARTS(no_dot, any) "(/(\\.?" no_dot "|\\.\\." any ")" any "*)+"
#define ABSOLUTE_PATH "^" PATH_PARTS("[^\x01- ./\\\\]", "[^\x01- /\\\\]") "$"

#define SECOND 1000000LL	/* durations are in microseconds */
#define MEGABIT (1000000LL / 8) /* rates are in bytes per second */
#define GIGABIT (1000 * MEGABIT)

/* Values that several tables use. */
enum { ON_DRIFT_LAPSE, ON_DRIFT_WARN }; /* words of spec_on_drift */
extern const struct spec spec_page_size, spec_bool, spec_cpus, spec_module, spec_set_name,
	spec_numa_node, spec_mtu, spec_on_drift, spec_cpu_vendor, spec_memlock, spec_units;

/* The keys of a profile that are not sections. */
extern const struct spec schema_document;
