/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random files of the kind of railhead.env: sound ones that env_render() made of random
 * content, and damaged ones. The first SAMPLE_CORNERS are corner cases.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kargs/env_layout.h"

enum { SAMPLE_MAX = 20000 }; /* the longest file */

struct sample {
	char text[SAMPLE_MAX + ENV_SIZE];
	size_t len;
	const char *kind; /* "corner", "sound", or the first damage that befell it */
};

/* The kinds of damage by number; NULL behind the last. */
const char *sample_kind(size_t k);

/*
 * File i of a seed, always the same. With GRUB_SAMPLES=DIR in the environment: the file DIR/%06zu,
 * and no kind of damage is expected.
 */
void sample_make(uint64_t seed, size_t i, struct sample *ret);
