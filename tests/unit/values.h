/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of a structure whose members are all set, for tests of its JSON: the text is the same
 * after reading, and each value alone changes it.
 */
#pragma once

#include <stdbool.h>

#include "base/mem.h"
#include "base/vec.h"
#include "plan/finding.h"

/* Value number `other` is another one than the seed says. */
struct values {
	unsigned int seed, n, other;
};

/* From 1 to n - 1; n: at least 3. */
static inline unsigned int any(struct values *v, unsigned int n)
{
	unsigned int number = 1 + (v->seed * 31 + v->n * 7) % (n - 1);

	return v->n++ == v->other ? 1 + number % (n - 1) : number;
}

static inline bool flag(struct values *v)
{
	return any(v, 3) == 1;
}

static inline char *text(struct values *v)
{
	return xasprintf("\"%u\" \xc3\xa4", any(v, UINT32_MAX));
}

static inline void texts(struct values *v, struct strv *ret)
{
	for (size_t i = 0; i < 2; i++) {
		cleanup_free char *one = text(v);

		strv_add(ret, one);
	}
}

static inline struct tried tried_with(struct values *v)
{
	return (struct tried){any(v, STAGE_COUNT), any(v, FAULT_COUNT), text(v), text(v), text(v)};
}

static inline struct finding finding_with(struct values *v, enum on_fail on_fail)
{
	return (struct finding){
		.id = text(v),
		.state = any(v, CHANGE_STATE_COUNT),
		.on_fail = on_fail,
		.fault = any(v, FAULT_COUNT),
		.lasting = any(v, FAULT_COUNT),
		.wanted = text(v),
		.found = text(v),
		.why = text(v),
		.causes = text(v),
		.tried = tried_with(v),
		.load = text(v),
		.late = flag(v),
		.drifted = flag(v),
		.by = text(v),
		.remedy = text(v),
		.apply = text(v),
		.followers = any(v, INT32_MAX),
	};
}
