/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The story of the last trials of kernel arguments, as railhead.env keeps it: what was tried, what
 * became of each boot and why, and what happens next. For `railhead kargs`.
 */
#pragma once

#include <jansson.h>

#include "boot/view.h"

/* Lines for people, in the columns of `railhead kargs`. */
void kargs_story_print(const struct boot_view *v);
/* The same as an object; see railhead(8). */
json_t *kargs_story_json(const struct boot_view *v);
