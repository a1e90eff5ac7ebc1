/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/text.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

char *text_place(const char *origin)
{
	const char *slash = strrchr(origin, '/'), *base = slash ? slash + 1 : origin;
	const char *column = strrchr(base, ':');

	return xstrndup(base, column ? (size_t)(column - base) : strlen(base));
}

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += begins_character(*s);
	return n;
}

/* The length in bytes of that many characters. */
static size_t bytes_of(const char *s, size_t characters)
{
	size_t i = 0;

	for (size_t n = 0; s[i]; i++)
		if (begins_character(s[i]) && n++ == characters)
			break;
	return i;
}

char *text_cut(const char *s, size_t columns, bool utf8)
{
	const char *mark = utf8 ? "…" : "...";
	size_t width = text_width(mark);

	if (text_width(s) <= columns)
		return xstrdup(s);
	if (columns < width)
		return xstrndup(s, bytes_of(s, columns));
	return xasprintf("%.*s%s", (int)bytes_of(s, columns - width), s, mark);
}

void text_wrap(FILE *out, const char *s, size_t columns, size_t indent)
{
	size_t at = 0;

	while (*s) {
		size_t blanks = strspn(s, " "), n = strcspn(s + blanks, " "), width = blanks;

		for (size_t i = 0; i < n; i++)
			width += begins_character(s[blanks + i]);
		if (at > indent && at + width > columns) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent + width - blanks;
		} else {
			fprintf(out, "%*s", (int)blanks, "");
			at += width;
		}
		fwrite(s + blanks, 1, n, out);
		s += blanks + n;
	}
	fputc('\n', out);
}

void text_labelled(FILE *out, const struct screen *screen, const char *label, size_t width,
		   const char *fmt, ...)
{
	cleanup_str struct str line = {0};
	va_list ap;

	str_addf(&line, "%-*s", (int)width, label);
	va_start(ap, fmt);
	str_vaddf(&line, fmt, ap);
	va_end(ap);
	str_make_line(line.s);
	if (screen->terminal)
		text_wrap(out, line.s, screen->columns, width);
	else
		fprintf(out, "%s\n", line.s);
}
