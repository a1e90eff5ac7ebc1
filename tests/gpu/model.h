/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node with GPUs that there is not: what both stand-ins know, from the file "node" that
 * lies beside the library that was opened. A line is SUBJECT KEY NUMBER; of a subject's key
 * the last line counts:
 *
 *   0000:3b:00.0 gpu 0                  there is such a GPU
 *   0000:3b:00.0 h2d 2000000000         bytes per second
 *   0000:3b:00.0 0000:86:00.0 2000000000   ... from it to that peer; 0: no access
 *   0000:3b:00.0 remap_pending 1        what NVML says; an absent key is a healthy GPU's; where
 *                                       not, -1: not supported
 *   cuInit fails 802                    so does every function: fails N, hangs 0, crashes 0,
 *                                       sleeps MILLISECONDS, notes 0: a dot in the file "noted";
 *                                       passes MILLISECONDS: of the clock (tests/lib/clock.bash)
 *                                       whose file is "clock"
 *
 * Without the file there is no GPU.
 */
#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline FILE *model_open(const char *name, const char *mode)
{
	char path[4096];
	Dl_info info;

	if (!dladdr((void *)model_open, &info) || !strchr(info.dli_fname, '/'))
		return NULL;
	snprintf(path, sizeof(path), "%.*s/%s",
		 (int)(strrchr(info.dli_fname, '/') - info.dli_fname), info.dli_fname, name);
	return fopen(path, mode);
}

/* False where the file doesn't say; *ret is left alone then. */
static inline bool model_get(const char *subject, const char *key, long long *ret)
{
	FILE *f = model_open("node", "re");
	char s[64], k[64];
	long long v;
	bool found = false;

	while (f && fscanf(f, "%63s %63s %lld", s, k, &v) == 3)
		if (strcmp(s, subject) == 0 && strcmp(k, key) == 0) {
			*ret = v;
			found = true;
		}
	if (f)
		fclose(f);
	return found;
}

static inline long long model_number(const char *subject, const char *key, long long fallback)
{
	model_get(subject, key, &fallback);
	return fallback;
}

static inline void model_note(void)
{
	FILE *f = model_open("noted", "ae");

	if (f) {
		fputc('.', f);
		fclose(f);
	}
}

static inline void model_pass(long long milliseconds)
{
	FILE *f = model_open("clock", "r+e");

	if (f) {
		fseek(f, 0, SEEK_END);
		if (ftruncate(fileno(f), ftell(f) + (off_t)milliseconds) < 0)
			abort();
		fclose(f);
	}
}

/* What a function does before its work: fails with a number, or never comes back. */
static inline int model_enter(const char *function)
{
	long long v;

	if (model_get(function, "crashes", &v))
		*(volatile int *)0 = 1;
	if (model_get(function, "notes", &v))
		model_note();
	if (model_get(function, "passes", &v))
		model_pass(v);
	if (model_get(function, "hangs", &v))
		for (;;)
			pause();
	usleep((useconds_t)model_number(function, "sleeps", 0) * 1000);
	return (int)model_number(function, "fails", 0);
}

#define ENTER()                                 \
	do {                                    \
		int e_ = model_enter(__func__); \
		if (e_)                         \
			return e_;              \
	} while (0)
