/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each vector width is compiled by a target attribute and chosen at run time, so that the
 * program starts on any x86-64 (QEMU's qemu64 has SSE2 only) without an illegal instruction.
 * Reading goes through four pages at once: prefetchers follow a stream within its page only, and
 * one core's loads in flight are not used up by one stream (copying is a tenth faster so). A
 * sfence ends a run of non-temporal stores, so that the time taken includes their leaving the
 * write-combining buffers.
 */
#include "bench/stream.h"

#include <immintrin.h>

/* Uses a value, so that the load of it can't be left out. */
#define KEEP(v) __asm__ volatile("" : : "x"(v))

#define DEFINE_STREAM(id, features, vec, load, stream, set1, or)                                 \
	__attribute__((target(features))) static void id##_read(const void *src, size_t len)     \
	{                                                                                        \
		const size_t page = STREAM_PAGE / sizeof(vec);                                   \
		vec a[STREAM_PAGES] = {set1(0), set1(0), set1(0), set1(0)};                      \
                                                                                                 \
		for (const vec *s = src; len > 0; len -= STREAM_ALIGN, s += STREAM_PAGES * page) \
			for (size_t i = 0; i < page; i += 2)                                     \
				for (size_t w = 0; w < STREAM_PAGES; w++)                        \
					a[w] = or (a[w], or (load(s + w * page + i),             \
							     load(s + w * page + i + 1)));       \
		KEEP(or (or (a[0], a[1]), or (a[2], a[3])));                                     \
	}                                                                                        \
	__attribute__((target(features))) static void id##_write(void *dst, size_t len)          \
	{                                                                                        \
		vec *d = dst;                                                                    \
		vec v = set1(0x5a5a5a5a);                                                        \
                                                                                                 \
		for (size_t i = 0; i < len / sizeof(vec); i += 8)                                \
			for (size_t k = 0; k < 8; k++)                                           \
				stream(d + i + k, v);                                            \
		_mm_sfence();                                                                    \
	}                                                                                        \
	__attribute__((target(features))) static void id##_copy(void *dst, const void *src,      \
								size_t len)                      \
	{                                                                                        \
		const size_t page = STREAM_PAGE / sizeof(vec);                                   \
		const vec *s = src;                                                              \
		vec *d = dst;                                                                    \
                                                                                                 \
		for (; len > 0;                                                                  \
		     len -= STREAM_ALIGN, s += STREAM_PAGES * page, d += STREAM_PAGES * page)    \
			for (size_t i = 0; i < page; i += 4) {                                   \
				vec v[STREAM_PAGES][4];                                          \
                                                                                                 \
				for (size_t w = 0; w < STREAM_PAGES; w++)                        \
					for (size_t k = 0; k < 4; k++)                           \
						v[w][k] = load(s + w * page + i + k);            \
				for (size_t w = 0; w < STREAM_PAGES; w++)                        \
					for (size_t k = 0; k < 4; k++)                           \
						stream(d + w * page + i + k, v[w][k]);           \
			}                                                                        \
		_mm_sfence();                                                                    \
	}

DEFINE_STREAM(avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512, _mm512_set1_epi32,
	      _mm512_or_si512)
DEFINE_STREAM(avx2, "avx2", __m256i, _mm256_load_si256, _mm256_stream_si256, _mm256_set1_epi32,
	      _mm256_or_si256)
DEFINE_STREAM(sse2, "sse2", __m128i, _mm_load_si128, _mm_stream_si128, _mm_set1_epi32, _mm_or_si128)

/* These ask for the operating system's part too (XCR0), not only for the CPU's. */
static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool has_sse2(void)
{
	return __builtin_cpu_supports("sse2");
}

static const struct stream_ops avx512 = {"avx512", has_avx512, avx512_read, avx512_write,
					 avx512_copy};
static const struct stream_ops avx2 = {"avx2", has_avx2, avx2_read, avx2_write, avx2_copy};
static const struct stream_ops sse2 = {"sse2", has_sse2, sse2_read, sse2_write, sse2_copy};

const struct stream_ops *const stream_all[] = {&avx512, &avx2, &sse2, &stream_plain, NULL};
