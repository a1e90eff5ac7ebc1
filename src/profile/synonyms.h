/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that other tools use for a profile's keys and values: sriov-network-operator, tuned,
 * kubelet, OpenShift's PerformanceProfile, ethtool, the kernel. They are rejected with an error
 * that names the right word. Each is one row in synonyms.c.
 */
#pragma once

#include <stdbool.h>

struct spec;
struct ynode;

/*
 * The path of the row that an unknown key stands for: "sriov.SET.vfs" for numVfs. Case, '-' and '_'
 * are ignored. NULL: unknown.
 */
const char *synonym_key(const char *said);

/* Whether another key of the map is a synonym for that key, and so has its own error. */
bool synonym_is_in(const struct ynode *map, const char *key);

/* Whether a spec accepts a text, written without quotes: spec_accepts(). */
typedef bool synonym_test(const struct spec *spec, const char *text);

/*
 * This language's notation for a scalar that spec rejects, such as 400Gb/s for 400Gbps, if spec
 * accepts that notation; otherwise NULL. The caller frees.
 */
char *synonym_value(const struct spec *spec, synonym_test *accepts, const char *said);

/* For the test that each row leads to a row of the language. */
struct synonym {
	const char *said, *meant;
};
extern const struct synonym synonyms_of_keys[], synonyms_of_words[]; /* NULL-terminated */
