/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the engine: a change of a phase that must be set, and its worker. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "kinds/kind.h"
#include "sys/worker.h"

struct job {
	struct change *c;
	struct kind_ctx ctx;
	struct worker worker; /* pid 0: the job never had a worker */
	bool completing;      /* set has returned: see complete of struct kind */
	bool done;
};

struct jobs {
	struct job **v;
	size_t n;
	size_t cap;
};

/*
 * Appends where in the kernel an abandoned job is, as clauses after "; ". For a job that queues:
 * which other jobs it waits behind, or which jobs wait behind it. Returns the only job that it
 * waits behind, or NULL.
 */
const struct job *overdue_explain(const struct root *root, const struct jobs *jobs,
				  const struct job *job, struct str *text);
