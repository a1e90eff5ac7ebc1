/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl and sysfs: a line is a file of the kernel and its value, passed on verbatim. */
#pragma once

#include "profile/rules.h"
#include "sections/sections.h"

/* What stands behind the key: a text, or a map {value: text, optional: bool}. */
extern const struct spec kernel_line;

/* Adds the change of a line of a section; its file is that of kind_attr. */
void kernel_line_emit(const char *section, enum phase phase, const struct ynode *key,
		      const struct ynode *line, const char *path, struct plan *plan);
/* The error of a value that a kernel argument contradicts. */
void kernel_line_differs(struct ruling *r, const struct ynode *value, const char *key,
			 const struct ynode *arg);
