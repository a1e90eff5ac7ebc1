/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Non-temporal stores of SSE2: the CPU writes a whole line without reading it first. */
#include "bench/line.h"

#include <emmintrin.h>
#include <stdint.h>

#include "bench/chain.h"

#define WORDS (CHAIN_LINE / sizeof(long long))

void line_put(char *p, const char *link)
{
	_mm_stream_si64((long long *)p, (long long)(uintptr_t)link);
	for (size_t i = 1; i < WORDS; i++)
		_mm_stream_si64((long long *)p + i, 0);
}

void line_fence(void)
{
	_mm_sfence();
}
