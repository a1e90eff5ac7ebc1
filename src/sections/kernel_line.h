/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of sysctl and sysfs: a file of the kernel and its value, passed on verbatim. */
#pragma once

#include "plan/plan.h"
#include "profile/rules.h"
#include "sections/sections.h"

/* The value of a line: a text, or a map {value: text, optional: bool, force: bool}. */
extern const struct spec kernel_line;

/* Whether the kernel is known to read nothing but numbers from the file at an absolute path. */
bool kernel_line_has_numbers(const char *path);
/* Whether the line has `force: true`. */
bool kernel_line_forced(const struct ynode *line);
/* Whether the line has `on_drift: warn`. */
bool kernel_line_may_drift(const struct ynode *line);
/* Reports an error at key if the line must not name the file, or sets it to a fatal value. */
void kernel_line_judge(struct ruling *r, const char *section, const struct ynode *key,
		       const struct ynode *line, const char *path);

/*
 * Judges the files that the lines of a profile have below a root by what they are, such as files
 * that can't be read. Adds an error for each line.
 */
void kernel_lines_judge_files(const struct root *root, const struct profile *p,
			      struct diags *diags);

/* Adds the change of a line of a section; kind_attr writes its file. */
void kernel_line_emit(const char *section, enum phase phase, const struct ynode *key,
		      const struct ynode *line, const char *path, struct plan *plan);
/* Reports an error for a value that a kernel argument contradicts. */
void kernel_line_differs(struct ruling *r, const struct ynode *value, const char *key,
			 const struct ynode *arg);
