/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scalar_checks that the tables refer to. */
#pragma once

#include "profile/schema.h"

/*
 * A number in a profile's notation, in the type of v: true, 4096, the word with that index. NULL:
 * no notation exists. The caller frees.
 */
char *value_text(const struct value *v, int64_t number);

/* A text of at most spec->bytes that spec->pattern matches. */
scalar_check value_pattern;
/* The same; a number behind ">=" is at_least. */
scalar_check value_line;
scalar_check value_schema, value_bool, value_int, value_count, value_word;
/* A number with one of spec->units, in the range; above zero, if the spec has no range. */
scalar_check value_amount;
extern const struct units units_bytes, units_duration, units_latency, units_rate, units_messages,
	units_percent, units_metres, units_per_node;
scalar_check value_page_size, value_mode, value_measure, value_speed, value_capability;
scalar_check value_numbers, value_cpus, value_memory;
scalar_check value_id, value_kernel_arg, value_sysctl_key;
