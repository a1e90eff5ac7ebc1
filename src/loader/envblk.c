/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loader/envblk.h"

#include <string.h>

#include "kargs/env_layout.h"

#define SIGNATURE_LEN strlen(ENV_SIGNATURE)

bool envblk_loads(const char *buf, size_t len)
{
	return len > SIGNATURE_LEN && memcmp(buf, ENV_SIGNATURE, SIGNATURE_LEN) == 0;
}

/* The position of the line feed; len or len + 1: none, because a backslash may be last. */
static size_t line_end(const char *buf, size_t len, size_t pos)
{
	while (pos < len && buf[pos] != '\n')
		pos += buf[pos] == '\\' ? 2 : 1;
	return pos;
}

static void unescape(char *value, const char *end)
{
	char *to = value;

	for (const char *p = value; p < end; p++) {
		if (*p == '\\')
			p++;
		*to++ = *p;
	}
	*to = '\0';
}

void envblk_each(char *buf, size_t len,
		 void (*each)(const char *name, const char *value, void *data), void *data)
{
	size_t pos = SIGNATURE_LEN, end;
	char *name, *equals;

	for (; pos < len; pos = end + 1) {
		if (buf[pos] == '#') {
			end = line_end(buf, len, pos);
			continue;
		}
		name = buf + pos;
		equals = memchr(name, '=', len - pos);
		if (!equals)
			return;
		end = line_end(buf, len, (size_t)(equals + 1 - buf));
		if (end >= len)
			return;
		*equals = '\0';
		unescape(equals + 1, buf + end);
		each(name, equals + 1, data);
	}
}
