/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing HTML. Names of devices, firmware strings and texts of profiles are foreign input, so
 * html() escapes each text argument, and only its format, which is ours, is markup.
 */
#pragma once

#include <stdio.h>

/*
 * Markup with values: %s (a text, escaped; control characters become '?', NULL is ""), %d, %u, %zu,
 * %lld, %llu and %f with a precision; %% is a percent sign. An escaped text is safe between tags
 * and in a quoted attribute.
 */
void html(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The value of id= for a function's box, and of links to it: "pci-0000-18-00-0". Caller frees. */
char *html_anchor(const char *addr);
