/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of other tools for what a profile says: of sriov-network-operator, tuned, kubelet,
 * OpenShift's PerformanceProfile, ethtool, the kernel. They are rejected, and the error has the
 * right word. One row each in synonyms.c.
 */
#pragma once

#include "profile/yaml.h"

struct spec;

/*
 * The path of the row that an unknown key means: "sriov.SET.vfs" for numVfs. Case, '-' and '_' do
 * not count. NULL: none is known.
 */
const char *synonym_key(const char *said);

/* Whether a key of the map is another tool's word for that one, which its own error says. */
bool synonym_is_in(const struct ynode *map, const char *key);

/* Whether a spec accepts a text, written without quotes: spec_accepts(). */
typedef bool synonym_test(const struct spec *spec, const char *text);

/*
 * The value in this language for a scalar that spec rejects, such as 400Gb/s for 400Gbps, if spec
 * accepts that; NULL otherwise. The caller frees.
 */
char *synonym_value(const struct spec *spec, synonym_test *accepts, const char *said);

/* For the test that each row leads somewhere. */
struct synonym {
	const char *said, *meant;
};
extern const struct synonym synonyms_of_keys[], synonyms_of_words[]; /* NULL-ended */
