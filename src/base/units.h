/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers with units, in the form of profiles, and CPU lists, in the form of the kernel. All
 * parsers read the whole string: -EINVAL for trailing text, -ERANGE for overflow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NSEC_PER_USEC = 1000 };

int parse_u64(const char *s, uint64_t *ret); /* decimal digits only, no sign, no space */

/* Sizes: "64K" "2M" "1G" "16T", powers of 1024, the kernel's names. Unit is required. */
int parse_size(const char *s, uint64_t *ret_bytes);
/* 10 for the unit K of a size, 20 for M, 30 for G, 40 for T, in either case; else 0. */
unsigned int size_shift(char unit);

/* Durations: "50us" "100ms" "30s" "10m" "4h" "7d". Unit is required. */
int parse_duration(const char *s, uint64_t *ret_usec);

/* For people, in whole seconds: "0 s", "42 s", "2 min 5 s", "4 h", "2 days 3 h". */
char *format_duration(uint64_t usec); /* caller frees */

/* Latencies: "150ns" "50us" "2ms". Unit is required. */
int parse_latency(const char *s, uint64_t *ret_nsec);

/* Rates: "180GB/s" "100MB/s" (powers of 1000, bytes) and "400Gb/s" (bits). In bytes/s. */
int parse_rate(const char *s, uint64_t *ret_bytes_per_s);

/* Messages per second: "500/s" "800K/s" "2M/s", powers of 1000. */
int parse_message_rate(const char *s, uint64_t *ret_per_s);

/* PCIe speeds as sysfs prints them: "32GT/s", "2.5 GT/s PCIe". In units of 0.1 GT/s. */
int parse_gts(const char *s, uint32_t *ret_tenths);

/* A set of small numbers: CPUs or NUMA nodes. */
#define CPUS_MAX 8192 /* CONFIG_NR_CPUS of the largest distribution kernels */
struct cpus {
	uint64_t bit[CPUS_MAX / 64];
};

/*
 * "2-47,50-95" -> set. An empty string is the empty set. -EINVAL for malformed text or a range that
 * runs backwards, -ERANGE above CPUS_MAX-1. See Documentation/admin-guide/kernel-parameters.rst,
 * "cpu lists" (strides and N are rejected).
 */
int cpus_parse(const char *s, struct cpus *ret);
char *cpus_format(const struct cpus *c); /* caller frees */
/*
 * The form of the kernel's %*pb: "3", "00000001,0000ff00", hexadecimal groups of 32 bits, the
 * highest first. -EINVAL for other text, -ERANGE above CPUS_MAX-1.
 */
int cpus_parse_mask(const char *s, struct cpus *ret);
char *cpus_format_mask(const struct cpus *c); /* caller frees */
/* Whether both are masks of the same CPUs; leading zeros do not matter. */
bool cpus_same_mask(const char *a, const char *b);
/*
 * Whether both are lists of the same numbers below 65536, such as CPUs or ports: "9100-9101,30000".
 * A number with a leading zero is no number here: some files of the kernel take it for octal.
 */
bool numbers_same_set(const char *a, const char *b);
bool cpus_has(const struct cpus *c, unsigned int n);
void cpus_add(struct cpus *c, unsigned int n);
void cpus_add_all(struct cpus *c, const struct cpus *more);    /* c |= more */
void cpus_remove_all(struct cpus *c, const struct cpus *gone); /* c &= ~gone */
size_t cpus_count(const struct cpus *c);
int cpus_last(const struct cpus *c);  /* highest member, or -1 */
int cpus_first(const struct cpus *c); /* lowest member, or -1 */
/* for (int n = cpus_next(c, -1); n >= 0; n = cpus_next(c, n)) */
int cpus_next(const struct cpus *c, int after);
