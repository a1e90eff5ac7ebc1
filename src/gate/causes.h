/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: what makes a part slow although it works, in the order in which it is
 * likely: PCIe width and speed, MaxReadRequest, IOMMU mode, NUMA, throttling. Each is looked
 * at, and what was seen is said of each, so that the reader need not ask again.
 */
#pragma once

#include <jansson.h>

#include "base/units.h"
#include "base/vec.h"
#include "sections/sections.h"

struct cause {
	char *seen;   /* "PCIe width x8, x16 is possible" */
	bool suspect; /* it explains a slow part */
};

struct causes {
	VEC(struct cause) list;
};

/* Of a function and the way to it; a VF's are its PF's, but its IOMMU group is its own. */
void causes_of_function(const struct section_ctx *ctx, const char *addr, struct causes *ret);
/* Of CPUs and memory of those nodes. */
void causes_of_nodes(const struct section_ctx *ctx, const struct cpus *nodes, struct causes *ret);

/* 0 where the line has no such number. */
double line_number(const json_t *line, const char *key);
/* Causes in the measuring program's line: steal, SMIs, interrupts, other tasks. */
void causes_of_line(const json_t *line, struct causes *ret);

void cause_add(struct causes *causes, bool suspect, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "likely: A; B (seen besides: C; D)"; "" for none. The caller frees it. */
char *causes_text(const struct causes *causes);
void causes_free(struct causes *causes);
