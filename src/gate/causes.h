/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: why a working part is slow. Causes are checked in order of likelihood: PCIe
 * width and speed, MaxReadRequest, IOMMU mode, NUMA, throttling. Each check reports its finding, so
 * that the reader need not repeat the check.
 */
#pragma once

#include <jansson.h>

#include "base/units.h"
#include "base/vec.h"
#include "gate/binding.h"

struct section_ctx; /* of profile/section.h */

struct cause {
	char *part;   /* its name in a binding (gate/binding.h); NULL: of this measurement alone */
	char *seen;   /* "PCIe width x8, x16 is possible" */
	bool suspect; /* it explains a slow part */
};

struct causes {
	VEC(struct cause) list;
};

/* The causes of a function and the path to it. A VF has those of its PF, but its IOMMU group. */
void causes_of_function(const struct section_ctx *ctx, const char *addr, struct causes *ret);
/* The causes of the CPUs and memory of those NUMA nodes. */
void causes_of_nodes(const struct section_ctx *ctx, const struct cpus *nodes, struct causes *ret);

/* 0 where the line has no such number. */
double line_number(const json_t *line, const char *key);
/* The causes that a benchmark's line reports: steal, SMIs, interrupts, other tasks. */
void causes_of_line(const json_t *line, struct causes *ret);

void cause_add(struct causes *causes, bool suspect, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The name of the last cause in a binding. */
void cause_part(struct causes *causes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * A value that is as it was at the last good look explains nothing; one that has changed since
 * is suspect. then: empty if it is not known.
 */
void causes_compare(struct causes *causes, const struct binding *then, const struct binding *now);
/* "likely: A; B (also seen: C; D)"; "": no causes. The caller frees it. */
char *causes_text(const struct causes *causes);
void causes_free(struct causes *causes);
