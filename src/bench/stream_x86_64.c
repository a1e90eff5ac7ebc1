/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each vector width is compiled by a target attribute and chosen at run time, so that the program
 * starts on any x86-64 (QEMU's qemu64 has SSE2 only) without an illegal instruction. An sfence ends
 * a run of non-temporal stores, so that the measured time includes their leaving the
 * write-combining buffers. The loops are unrolled by a pragma, because at -O2 the compiler keeps an
 * array that a loop indexes in memory, and each vector would pass through the stack.
 */
#include "bench/stream.h"

#include <immintrin.h>

/* Uses a value, so that the compiler keeps the load. */
#define KEEP(v) __asm__ volatile("" : : "x"(v))

#define UNROLL _Pragma("GCC unroll 8")
#define AT_ONCE 4 /* vectors of one page: a cache line or more */

#define DEFINE_WALK(id, pages, features, vec, load, stream, zero, or)                             \
	__attribute__((target(features))) static void id##_read_##pages(const void *src,          \
									size_t len)               \
	{                                                                                         \
		const size_t page = STREAM_PAGE / sizeof(vec);                                    \
		vec a[pages][AT_ONCE];                                                            \
                                                                                                  \
		UNROLL for (size_t w = 0; w < pages; w++)                                         \
			UNROLL for (size_t k = 0; k < AT_ONCE; k++) a[w][k] = zero();             \
		for (const vec *s = src; len > 0; len -= pages * STREAM_PAGE, s += pages * page)  \
			for (size_t i = 0; i < page; i += AT_ONCE)                                \
				UNROLL for (size_t w = 0; w < pages; w++)                         \
					UNROLL for (size_t k = 0; k < AT_ONCE; k++) a[w][k] =     \
						or (a[w][k], load(s + w * page + i + k));         \
		UNROLL for (size_t w = 0; w < pages; w++)                                         \
			UNROLL for (size_t k = 0; k < AT_ONCE; k++) KEEP(a[w][k]);                \
	}                                                                                         \
	__attribute__((target(features))) static void id##_copy_##pages(                          \
		void *dst, const void *src, size_t len)                                           \
	{                                                                                         \
		const size_t page = STREAM_PAGE / sizeof(vec);                                    \
		const vec *s = src;                                                               \
		vec *d = dst;                                                                     \
                                                                                                  \
		for (; len > 0; len -= pages * STREAM_PAGE, s += pages * page, d += pages * page) \
			for (size_t i = 0; i < page; i += AT_ONCE) {                              \
				vec v[pages][AT_ONCE];                                            \
                                                                                                  \
				UNROLL for (size_t w = 0; w < pages; w++)                         \
					UNROLL for (size_t k = 0; k < AT_ONCE; k++) v[w][k] =     \
						load(s + w * page + i + k);                       \
				UNROLL for (size_t w = 0; w < pages; w++)                         \
					UNROLL for (size_t k = 0; k < AT_ONCE; k++)               \
						stream(d + w * page + i + k, v[w][k]);            \
			}                                                                         \
		_mm_sfence();                                                                     \
	}

#define DEFINE_STREAM(id, features, vec, load, stream, set1, zero, or)                    \
	DEFINE_WALK(id, 1, features, vec, load, stream, zero, or)                         \
	DEFINE_WALK(id, 4, features, vec, load, stream, zero, or)                         \
	__attribute__((target(features))) static void id##_write(void *dst, size_t len)   \
	{                                                                                 \
		vec *d = dst;                                                             \
		vec v = set1(0x5a5a5a5a);                                                 \
                                                                                          \
		for (size_t i = 0; i < len / sizeof(vec); i += AT_ONCE)                   \
			UNROLL for (size_t k = 0; k < AT_ONCE; k++) stream(d + i + k, v); \
		_mm_sfence();                                                             \
	}                                                                                 \
	static const struct stream_ops id = {.name = #id,                                 \
					     .usable = has_##id,                          \
					     .read = {id##_read_1, id##_read_4},          \
					     .write = id##_write,                         \
					     .copy = {id##_copy_1, id##_copy_4}};

/* The checks include the operating system's support (XCR0). */
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

DEFINE_STREAM(avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512, _mm512_set1_epi32,
	      _mm512_setzero_si512, _mm512_or_si512)
DEFINE_STREAM(avx2, "avx2", __m256i, _mm256_load_si256, _mm256_stream_si256, _mm256_set1_epi32,
	      _mm256_setzero_si256, _mm256_or_si256)
DEFINE_STREAM(sse2, "sse2", __m128i, _mm_load_si128, _mm_stream_si128, _mm_set1_epi32,
	      _mm_setzero_si128, _mm_or_si128)

const struct stream_ops *const stream_all[] = {&avx512, &avx2, &sse2, &stream_plain, NULL};
