/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

#include "cmd/cmd.h"

const struct verb *const verbs[] = {
	&verb_check,   &verb_explain, &verb_show,  &verb_match,	 &verb_survey,	 &verb_draft,
	&verb_import,  &verb_plan,    &verb_apply, &verb_verify, &verb_gate,	 &verb_status,
	&verb_history, &verb_why,     &verb_diff,  &verb_admit,	 &verb_maintain, &verb_calibrate,
	&verb_kargs,   &verb_bake,    NULL,
};
