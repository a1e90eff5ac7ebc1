/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of /proc/sys and /sys that a line of a profile must not write: commands, which can't be
 * read back, files of other sections, files that make the kernel run a program, and files by which
 * a mistake takes the node down.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "sys/root.h"

/* The end of a message about a file that a line may write with `force: true`. */
#define FORCE_REMEDY "leave it out, or write {value: ..., force: true} if it is meant"

/*
 * Judges a line by its text alone: path, absolute, may be a pattern. Returns the reason with its
 * remedy, a static text, or NULL. forced: the line has `force: true`, which helps against some
 * reasons.
 */
const char *kernel_file_refusal(const char *path, const char *value, bool forced);

/*
 * Judges a file below the root by what it is: its mode, its size, and its path without symbolic
 * links, which must be below /proc/sys, or else /sys, as path is. Opens nothing for reading or
 * writing. 0; -EPERM with the reason and the remedy; another negative errno if the file is absent
 * or can't be looked at.
 */
int kernel_file_judge(const struct root *root, const char *path, const char *value, bool forced,
		      struct err *err);
