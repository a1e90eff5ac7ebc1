/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts that GPU benchmarks report in addition to their figure, and their process's placement. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/cuda.h"

/*
 * Pins this process to the CPUs of a NUMA node, and binds its later allocations to the node's
 * memory (pinned memory too, because the driver allocates it for this process). -ENODEV: no such
 * node.
 */
int gpu_stand_on(unsigned int node, struct err *err);

/*
 * Adds the GPU's address, setup_ms and, as far as NVML reports it, the current state of its PCIe
 * link (call it under load, because an idle GPU lets the link sleep), a note where persistence mode
 * is off, and in "gpu_users" the other processes that have a context on the GPU or its peer (NULL:
 * none).
 */
void gpu_facts_report(const struct gpu *g, const char *peer, json_t *line);

enum gpu_path { GPU_PATH_UNKNOWN, GPU_PATH_NVLINK, GPU_PATH_PCIE, GPU_PATH_NONE };

/*
 * The path between two GPUs, as NVML reports it. With GPU_PATH_NONE, *by_design is true if the
 * hardware lacks a path and false if the path is switched off, and *why (static) is the reason.
 */
enum gpu_path gpu_path_between(const char *a, const char *b, bool *by_design, const char **why);
