/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share. Each target is one file with one entry, linked with libFuzzer
 * (make fuzz) or with replay.c, which runs the files of its corpus (make check-fast).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property: also holds where assert() is compiled out. */
#define must(what)                                                                         \
	do {                                                                               \
		if (!(what)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                           \
		}                                                                          \
	} while (0)

/* A directory of the target's own. Who runs it sets TMPDIR and empties it: tests/lib/run-fuzz. */
static inline char *fuzz_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *path = NULL;

	must(asprintf(&path, "%s/railhead-fuzz-XXXXXX", tmp ? tmp : "/tmp") > 0);
	must(mkdtemp(path));
	return path;
}

/* The file below the directory; makes the directories of its path. */
static inline void fuzz_put(const char *dir, const char *file, const void *data, size_t len)
{
	char *path = NULL;
	FILE *f;

	must(asprintf(&path, "%s/%s", dir, file) > 0);
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	must(f && fwrite(data, 1, len, f) == len && fclose(f) == 0);
	free(path);
}

static inline void fuzz_put_text(const char *dir, const char *file, const char *text)
{
	fuzz_put(dir, file, text, strlen(text));
}
