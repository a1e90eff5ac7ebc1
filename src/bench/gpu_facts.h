/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the benchmarks of GPUs say besides their figure, and where they stand. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/cuda.h"

/*
 * Puts this process on the CPUs of a NUMA node and what it allocates from here on (pinned
 * memory, too: the driver allocates it in our name) on its memory. -ENODEV: no such node.
 */
int gpu_stand_on(unsigned int node, struct err *err);

/*
 * Adds the GPU's address, setup_ms and, as far as NVML tells, the state of its PCIe link now
 * (to be asked under load: an idle GPU lets it sleep), a note where persistence mode is off, and
 * in "gpu_users" the other processes that have a context on the GPU or its peer (NULL: none).
 */
void gpu_facts_report(const struct gpu *g, const char *peer, json_t *line);

enum gpu_path { GPU_PATH_UNKNOWN, GPU_PATH_NVLINK, GPU_PATH_PCIE, GPU_PATH_NONE };

/*
 * What NVML says lies between two GPUs. With GPU_PATH_NONE *by_design says whether the
 * hardware has no such path (true) or somebody switched it off, and *why (static) which.
 */
enum gpu_path gpu_path_between(const char *a, const char *b, bool *by_design, const char **why);
