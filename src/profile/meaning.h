/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of nodes of a profile (yaml.h), and the parsed meaning of a scalar. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpus; /* of base/units.h */
struct spec; /* of profile/schema.h */

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

enum value_type {
	VALUE_TEXT, /* the text is the whole meaning; also before a spec has accepted the scalar */
	VALUE_WORD, /* number: index into the words of its spec, such as max or unlimited, from 0 */
	VALUE_BOOL, /* number: 0 or 1 */
	VALUE_NUMBER,
	VALUE_GTS,   /* number: a PCIe speed in tenths of GT/s */
	VALUE_SHARE, /* number: percent of what `of` names */
	VALUE_ID,    /* number: vendor << 16 | device, a MAC address or a GUID */
	VALUE_SET,   /* set: CPUs or DSCPs */
};

/*
 * Set once by the spec that accepted the scalar (value.c). number is in base units, independent of
 * the text: bytes, bytes/s, microseconds, for a latency nanoseconds.
 */
struct value {
	enum value_type type;
	const struct spec *spec; /* the spec that accepted it; NULL: none yet */
	bool at_least;		 /* ">=N" */
	int64_t number;
	const char *of;	  /* "line", "pcie" or "set"; static */
	struct cpus *set; /* owned */
};
