/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins the plan of a run with the record of its boot. */
#pragma once

#include "engine/record.h"

/*
 * Each change gets what the stages of this boot learned when they could not set it (struct tried).
 * A stage that ran later and set it, or another wanted value, leaves nothing to remember.
 */
void join_record(struct plan *plan, const struct record *record);
