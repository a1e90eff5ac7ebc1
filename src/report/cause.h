/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a verdict's reason, for its display as text (status_text.h) and in a page. */
#pragma once

#include "engine/record.h"

/* A reason is "ID: fault; why, and remedy". */
struct cause {
	char *id; /* "": the sentence has no id */
	char *what;
	const char *rest; /* a part of the reason; or NULL */
};

/* The result points into the reason. */
struct cause cause_of(const char *reason);
void cause_free(struct cause *c);

/* The change of that id, from the last stage that had it; NULL: no stage had it. */
const struct record_change *cause_change(const struct record *r, const char *id);
/*
 * The remedy of a cause without one: railhead sets the value, else the fault's remedy. NULL: none,
 * because the cause has no fault. The caller frees.
 */
char *cause_usual_remedy(const struct record *r, const char *id, enum fault fault);

/* "work is not admitted", "work is admitted by hand" */
const char *admission_text(const struct record *r);
