/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was found of a GPU: "value" of its line counts the faults, "faults" are their texts. */
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
	bool unfit; /* it must be reset or replaced before it takes load */
};

/*
 * Opens NVML and looks the GPU up; 0 too where the GPU is broken: that is its fault, and f->dev is
 * NULL. gpu_findings_end() must follow in any case.
 */
int gpu_findings_begin(struct gpu_findings *f, const char *addr, json_t *line, struct err *err);
/* Adds to the line, if r is 0, what was found; frees. Returns r. */
int gpu_findings_end(struct gpu_findings *f, int r);

/* A fault, a sentence that says what to do. */
void gpu_fault(struct gpu_findings *f, enum fault code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds to the line; takes the value. */
void gpu_show(struct gpu_findings *f, const char *key, json_t *value);
/*
 * True when there is an answer. A question that can't be answered is named in "not_shown"; another
 * failure is a fault of the GPU: NVML answered the calls before.
 */
bool gpu_answered(struct gpu_findings *f, int result, const char *what);
