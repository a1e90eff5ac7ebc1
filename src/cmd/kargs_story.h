/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of the last trials of kernel arguments in railhead.env: the arguments, the result of
 * each boot with its reason, and the next step. For `railhead kargs`.
 */
#pragma once

#include <jansson.h>

#include "boot/view.h"

/* Lines for people, in the columns of `railhead kargs`. */
void kargs_story_print(const struct boot_view *v);
/* The same as an object; see railhead(8). */
json_t *kargs_story_json(const struct boot_view *v);
