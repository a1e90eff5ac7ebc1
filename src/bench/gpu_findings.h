/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The faults of a GPU: "value" in the line is their count, "faults" are their texts. */
#pragma once

#include <jansson.h>

#include "base/fault.h"
#include "bench/nvml.h"

struct gpu_findings {
	const char *addr;
	struct nvml nvml;
	nvml_device dev;
	json_t *line; /* the benchmark's; borrowed */
	json_t *faults, *hidden;
	enum fault gravest;
	bool unfit; /* the GPU must be reset or replaced before it gets load */
};

/*
 * Opens NVML and looks the GPU up. A broken GPU is a fault rather than an error: then it returns 0,
 * and f->dev is NULL. gpu_findings_end() must follow in any case.
 */
int gpu_findings_begin(struct gpu_findings *f, const char *addr, json_t *line, struct err *err);
/* Adds the findings to the line if r is 0; frees f. Returns r. */
int gpu_findings_end(struct gpu_findings *f, int r);

/* Adds a fault. The text is a sentence with the remedy. */
void gpu_fault(struct gpu_findings *f, enum fault code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds to the line; takes ownership of the value. */
void gpu_show(struct gpu_findings *f, const char *key, json_t *value);
/*
 * True if NVML answered. A query that NVML hides is named in "not_shown"; any other
 * failure is a fault of the GPU, because NVML answered the earlier calls.
 */
bool gpu_answered(struct gpu_findings *f, int result, const char *what);
