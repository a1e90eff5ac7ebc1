/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory and cleanup attributes.
 *
 * The x* allocators never return NULL: out of memory the program says so and exits with 1. railhead
 * holds a few hundred kilobytes, and Linux overcommits. A node without that memory is lost in any
 * case: the unit fails and the node is blocked. The size of input is checked before its allocation
 * (see profile/yaml.h), so no file can cause this.
 */
#pragma once

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* For libraries that return an error of memory instead: says so, and exits with 1. */
void mem_exhausted(void) __attribute__((noreturn));
void *xcalloc(size_t n, size_t size) __attribute__((malloc));
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s) __attribute__((malloc));
char *xstrndup(const char *s, size_t n) __attribute__((malloc));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0), malloc));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), malloc));

#define xnew(type) ((type *)xcalloc(1, sizeof(type)))

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define cleanup(fn) __attribute__((__cleanup__(fn)))
#define cleanup_free cleanup(cleanup_freep)
#define cleanup_close cleanup(cleanup_closep)
#define cleanup_closedir cleanup(cleanup_closedirp)
#define cleanup_fclose cleanup(cleanup_fclosep)

/* Transfers an owned pointer or fd, so that its cleanup attribute no longer frees it. */
#define take_ptr(p)                     \
	({                              \
		__typeof__(p) t_ = (p); \
		(p) = NULL;             \
		t_;                     \
	})
#define take_fd(fd)            \
	({                     \
		int t_ = (fd); \
		(fd) = -1;     \
		t_;            \
	})

#define array_len(a) (sizeof(a) / sizeof((a)[0]))
#define streq(a, b) (strcmp((a), (b)) == 0)
