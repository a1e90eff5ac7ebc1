/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

void mem_exhausted(void)
{
	static const char msg[] = "railhead: out of memory\n";
	ssize_t n = write(STDERR_FILENO, msg, sizeof(msg) - 1);

	(void)n;
	_exit(EXIT_FAILURE);
}

static void *check(void *p)
{
	if (!p)
		mem_exhausted();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	return check(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	return check(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return check(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return check(strndup(s, n));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;
	int r = vasprintf(&s, fmt, ap);

	return check(r < 0 ? NULL : s);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}
