/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All benchmarks. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "bench/benchmark.h"
#include "bench/gpu_copy.h"
#include "bench/gpu_fabric.h"
#include "bench/gpu_health.h"
#include "bench/gpu_peer.h"
#include "bench/gpu_rdma.h"
#include "bench/jitter.h"
#include "bench/memory_bandwidth.h"
#include "bench/memory_latency.h"
#include "bench/rdma.h"
#include "bench/storage_read.h"

const struct benchmark *const benchmarks[] = {
	&memory_bandwidth, &memory_latency, &jitter,   &rdma_loopback, &rdma_pairs,   &gpu_health,
	&gpu_fabric,	   &gpu_copy,	    &gpu_peer, &gpu_rdma,      &storage_read, NULL,
};

const struct benchmark *benchmark_find(const char *name)
{
	for (size_t i = 0; benchmarks[i]; i++)
		if (streq(benchmarks[i]->name, name))
			return benchmarks[i];
	return NULL;
}
