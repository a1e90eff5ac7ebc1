/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Macros for the tables of the language, here and in sections/, and the values that they share. */
#pragma once

#include "profile/schema.h"
#include "profile/value.h"

/*
 * Initializers of struct spec. text is its member what; other members may follow:
 *
 *     static const struct spec prio = INT("a priority", 0, 7);
 *     const struct spec spec_mtu = INT("an MTU in bytes", 68, 65535, .unit = "bytes");
 *
 * A range includes least and most: of DURATION in microseconds, of SIZE in bytes. COUNT is a number
 * of units, or ">=N". SCALAR has a check of value.h, and a pattern for editors. Of TEXT, the
 * pattern is the check. Text that must match has an example behind "such as", and the note says the
 * rest:
 *
 *     static const struct spec name = TEXT("a name such as rails", "^[a-z]+$", "use letters");
 *
 * LINE is any text on one line.
 */
#define IN_RANGE(judge, text, least, most, ...)                                              \
	{                                                                                    \
		.what = (text), .check = (judge), .min = (least), .max = (most), __VA_ARGS__ \
	}
#define INT(text, least, most, ...) \
	IN_RANGE(value_int, text, least, most, .pattern = "^-?" NUMBER_OF "$", __VA_ARGS__)
/* Units larger than the range are left out of the pattern. */
#define DURATION(text, least, most)                                                              \
	IN_RANGE(value_amount, text, least, most, .units = &units_duration,                      \
		 .pattern = (most) < 60 * SECOND	  ? "^(0[mhd]|" NUMBER_OF "(us|ms|s))$"  \
			    : (most) < 3600 * SECOND	  ? "^(0[hd]|" NUMBER_OF "(us|ms|s|m))$" \
			    : (most) < 24 * 3600 * SECOND ? "^(0d|" NUMBER_OF "(us|ms|s|m|h))$"  \
							  : "^" NUMBER_OF "(us|ms|s|m|h|d)$")
#define SIZE(text, least, most, ...) \
	IN_RANGE(value_amount, text, least, most, .units = &units_bytes, __VA_ARGS__)
#define COUNT(text, units, least, most)                                          \
	IN_RANGE(value_count, text ", or \">=N\"", least, most, .unit = (units), \
		 .pattern = "^(>=)?" NUMBER_OF "$")
#define SCALAR(text, judge, form, ...)                                           \
	{                                                                        \
		.what = (text), .check = (judge), .pattern = (form), __VA_ARGS__ \
	}
#define TEXT(text, form, hint, ...) SCALAR(text, value_pattern, form, .note = (hint), ##__VA_ARGS__)
#define LINE(text, ...) \
	TEXT(text, "^" LINE_CHAR "+$", "remove line breaks and control characters", ##__VA_ARGS__)
#define NAME(text)                                \
	TEXT(text, "^[A-Za-z0-9][A-Za-z0-9_-]*$", \
	     "use letters, digits, _ and -, with a letter or digit first", .bytes = 64)
#define LOWER_NAME(text)                                                               \
	TEXT(text, "^[a-z0-9][a-z0-9._-]*$",                                           \
	     "use lower case letters, digits and . _ -, with a letter or digit first", \
	     .bytes = 64)
/*
 * ONE_OF("a trust mode", MEANS("dscp", "the DSCP of the IP header"), MEANS("pcp", "..."))
 * ONE_OF_WORDS("a width", WORDS("1", "2", "4")): without meanings, or in the order of an enum
 */
#define ONE_OF(text, ...) ONE_OF_WORDS(text, NULL, .meanings = WORDS(__VA_ARGS__))
#define ONE_OF_WORDS(text, list, ...)                                             \
	{                                                                         \
		.what = (text), .check = value_word, .words = (list), __VA_ARGS__ \
	}
#define MEANS(word, meaning) word, meaning
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* LIST_OF("a list of priorities", prio, ITEM_TEXT) */
#define LIST_OF(text, items, same)                                                      \
	{                                                                               \
		.kind = SPEC_LIST, .what = (text), .item = &(items), .identity = (same) \
	}
/* EITHER("all, or a list of ports", .scalar = &all, .list = &ports) */
#define EITHER(text, ...)                                        \
	{                                                        \
		.kind = SPEC_EITHER, .what = (text), __VA_ARGS__ \
	}
/* MAP_OF("PRIORITY", "a map of priorities to traffic classes", prio, class) */
#define MAP_OF(placeholder, text, keys, values)                                            \
	{                                                                                  \
		.kind = SPEC_MAP_OF, .any = (placeholder), .what = (text), .key = &(keys), \
		.item = &(values)                                                          \
	}
/* The spec of a section that is a map of device sets. */
#define BY_SET(values, text) MAP_OF("SET", "a map of device sets" text, spec_set_name, values)
/* MAP("a map such as {mtu: 9000}", KEY("mtu", &mtu, "The MTU.", .since = KERNEL(5, 7))) */
#define MAP(text, ...)                                                          \
	{                                                                       \
		.kind = SPEC_MAP, .what = (text), .fields = FIELDS(__VA_ARGS__) \
	}
#define FIELDS(...) ((const struct field[]){__VA_ARGS__, {.name = NULL}})
#define KEY(key, of, ...)                                        \
	{                                                        \
		.name = (key), .spec = (of), .help = __VA_ARGS__ \
	}

/* A number that only one row uses: KEY("rx", A_NUMBER_OF("queues", 1, 8192), "...") */
#define A_NUMBER_OF(text, least, most) \
	(&(const struct spec)INT("a number of " text, least, most, .unit = (text)))

/*
 * The keys `optional` and `on_drift`, the last ones of a map: GOVERNING_KEYS_OF("set", "driver or
 * kernel", keys). Keys of the map that are settings may be optional.
 */
#define OPTIONAL_OF(of, list_of_keys, ...)                                                \
	EITHER("true, or a list of the " of "'s keys", .scalar = &spec_bool,              \
	       .list = &(const struct spec)LIST_OF(                                       \
		       "a list of the " of "'s keys",                                     \
		       ((const struct spec)ONE_OF_WORDS("a key of the " of, list_of_keys, \
							.meaning = "may be lacking",      \
							__VA_ARGS__)),                    \
		       ITEM_TEXT))
#define GOVERNING_KEYS_OF(of, who, map)                                                 \
	KEY("optional", (&(const struct spec)OPTIONAL_OF(of, NULL, .keys_of = &(map))), \
	    "Keys of the " of " that the " who " may lack: true for all of them, or a " \
	    "list; default false.",                                                     \
	    .class = KEY_GOVERNS),                                                      \
		KEY("on_drift", &spec_on_drift,                                         \
		    "Consequence of a changed value after the verdict; default lapse.", \
		    .class = KEY_GOVERNS)

/*
 * Parts of patterns. A pattern may use only syntax with the same meaning in ECMA 262 and in POSIX:
 * no class escapes, and a literal bracket stands outside of bracket expressions. The member bytes
 * limits a length with less memory than {0,63} takes.
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
	spec_on_set, spec_numa_node, spec_mtu, spec_on_drift, spec_cpu_vendor, spec_memlock,
	spec_units;

/* The keys of a profile that are not sections. */
extern const struct spec schema_document;
