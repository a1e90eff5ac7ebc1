/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands in a verdict's reason, for those who show it: as text (status_text.h), in a page. */
#pragma once

#include "engine/record.h"

/* A reason is "ID: what is wrong; why, and what to do". */
struct cause {
	char *id; /* "" of a sentence without one */
	char *what;
	const char *rest; /* a part of the reason; or NULL */
};

/* The result points into the reason. */
struct cause cause_of(const char *reason);
void cause_free(struct cause *c);

/* The change of that id as the last stage that had it left it; NULL: none had. */
const struct record_change *cause_change(const struct record *r, const char *id);
/*
 * The remedy where the cause says nothing more: railhead sets the value. NULL: it is none that
 * railhead sets. The caller frees.
 */
char *cause_usual_remedy(const struct record *r, const char *id);

/* "work is not admitted", "work is admitted by hand" */
const char *admission_text(const struct record *r);
