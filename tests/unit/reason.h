/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdlib.h>

#include "plan/change.h"

/* The whole reason of a change, with its remedy; NULL: none. Valid until the next call. */
static inline const char *reason_of(const struct change *c)
{
	static char *text;

	free(text);
	text = finding_reason(&c->now);
	return text;
}
