/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/finding.h"

#include <errno.h>

#include "base/mem.h"
#include "base/str.h"

static const char *const stage_names[] = {[STAGE_INITRD] = "initrd",
					  [STAGE_EARLY] = "early",
					  [STAGE_DEVICES] = "devices",
					  [STAGE_GATE] = "gate"};

static const char *const state_names[] = {[CHANGE_UNKNOWN] = "unknown",
					  [CHANGE_SAME] = "same",
					  [CHANGE_DIFFERS] = "differs",
					  [CHANGE_WAITS] = "waits",
					  [CHANGE_SET] = "set",
					  [CHANGE_FAILED] = "failed",
					  [CHANGE_UNSUPPORTED] = "unsupported",
					  [CHANGE_SLOW] = "slow",
					  [CHANGE_INTERMITTENT] = "intermittent",
					  [CHANGE_INVALID] = "invalid",
					  [CHANGE_NOT_YET] = "not yet",
					  [CHANGE_CANNOT_MEASURE] = "cannot measure",
					  [CHANGE_TO_MEASURE] = "to measure"};

static const char *const on_fail_names[] = {
	[ON_FAIL_BLOCK] = "block", [ON_FAIL_DEGRADE] = "degrade", [ON_FAIL_WARN] = "warn"};

const char *stage_name(enum stage s)
{
	return stage_names[s];
}

int stage_parse(const char *name, enum stage *ret)
{
	int i = str_index(name, stage_names, array_len(stage_names));

	if (i >= 0)
		*ret = (enum stage)i;
	return i < 0 ? -EINVAL : 0;
}

const char *state_name(enum change_state s)
{
	return state_names[s];
}

const char *on_fail_name(enum on_fail f)
{
	return on_fail_names[f];
}

int on_fail_parse(const char *name, enum on_fail *ret)
{
	int i = str_index(name, on_fail_names, array_len(on_fail_names));

	if (i >= 0)
		*ret = (enum on_fail)i;
	return i < 0 ? -EINVAL : 0;
}

void tried_set(struct tried *t, enum stage stage, enum fault fault, const char *words,
	       const char *follows)
{
	tried_free(t);
	*t = (struct tried){stage, fault, words ? xstrdup(words) : NULL,
			    follows ? xstrdup(follows) : NULL};
}

void tried_free(struct tried *t)
{
	free(t->words);
	free(t->follows);
	*t = (struct tried){0};
}
