/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/html.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/screen.h"

static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void put_text(FILE *out, const char *text)
{
	cleanup_free char *clean = scrub(or_empty(text));

	for (const char *p = clean; *p; p++) {
		const char *entity = entity_of(*p);

		if (entity)
			fputs(entity, out);
		else
			fputc(*p, out);
	}
}

/* Writes one conversion; spec begins with its '%'. */
static void put_value(FILE *out, const char *spec, va_list *ap)
{
	size_t n = strlen(spec);

	if (streq(spec, "%%"))
		fputc('%', out);
	else if (streq(spec, "%s"))
		put_text(out, va_arg(*ap, const char *));
	else if (streq(spec, "%zu"))
		fprintf(out, "%zu", va_arg(*ap, size_t));
	else if (streq(spec, "%llu"))
		fprintf(out, "%llu", va_arg(*ap, unsigned long long));
	else if (streq(spec, "%lld"))
		fprintf(out, "%lld", va_arg(*ap, long long));
	else if (streq(spec, "%u"))
		fprintf(out, "%u", va_arg(*ap, unsigned int));
	else if (streq(spec, "%d"))
		fprintf(out, "%d", va_arg(*ap, int));
	else if (n == 4 && spec[1] == '.' && isdigit((unsigned char)spec[2]) && spec[3] == 'f')
		fprintf(out, "%.*f", spec[2] - '0', va_arg(*ap, double));
	else
		abort(); /* our format has a conversion that html.h does not list */
}

void html(FILE *out, const char *fmt, ...)
{
	struct {
		va_list ap;
	} values;

	va_start(values.ap, fmt);
	while (*fmt) {
		size_t n = strcspn(fmt, "%");
		char spec[8] = "";

		fwrite(fmt, 1, n, out);
		fmt += n;
		if (!*fmt)
			break;
		n = 1 + strcspn(fmt + 1, "%sduf") + 1;
		memcpy(spec, fmt, n < sizeof(spec) ? n : sizeof(spec) - 1);
		put_value(out, spec, &values.ap);
		fmt += n;
	}
	va_end(values.ap);
}

char *html_anchor(const char *addr)
{
	char *id = xasprintf("pci-%s", addr);

	for (char *p = id; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '-';
	return id;
}
