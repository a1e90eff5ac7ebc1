/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the engine: one change of a phase that is to be set, and its worker. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "kinds/kind.h"
#include "sys/worker.h"

struct job {
	struct change *c;
	struct kind_ctx ctx;
	struct worker worker; /* pid 0: it never had one */
	bool completing;      /* its set has returned: see complete of struct kind */
	bool done;
};

struct jobs {
	struct job **v;
	size_t n;
	size_t cap;
};

/*
 * Where in the kernel a job is that is to be given up, as clauses behind "; ". Of one that
 * queues: behind which of the others it waits, or which of them wait behind it.
 */
void overdue_explain(const struct root *root, const struct jobs *jobs, const struct job *job,
		     struct str *text);
