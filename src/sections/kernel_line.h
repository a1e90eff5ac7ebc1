/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of sysctl and sysfs: a file of the kernel and its value, passed on verbatim. */
#pragma once

#include "profile/rules.h"
#include "sections/sections.h"

/* The value of a line: a text, or a map {value: text, optional: bool}. */
extern const struct spec kernel_line;

/* Adds the change of a line of a section; kind_attr writes its file. */
void kernel_line_emit(const char *section, enum phase phase, const struct ynode *key,
		      const struct ynode *line, const char *path, struct plan *plan);
/* Reports an error for a value that a kernel argument contradicts. */
void kernel_line_differs(struct ruling *r, const struct ynode *value, const char *key,
			 const struct ynode *arg);
