/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CUDA's driver library, libcuda.so.1, opened at run time, because it comes with the driver and
 * only nodes with NVIDIA GPUs have it. No header of CUDA is needed or copied; the few types and
 * numbers below are the driver API's ABI:
 *
 *  - names: cuda.h defines cuMemAlloc as cuMemAlloc_v2 and so on (the _v2 of CUDA 3.2 and 4.0,
 *    64-bit sizes); a compiled program calls the symbol with the suffix, and the library keeps
 *    every version of a symbol;
 *  - types: CUdevice is int, CUdeviceptr 64 bits wide on LP64, contexts, streams and events
 *    are opaque pointers;
 *  - numbers: enum CUresult, CUdevice_attribute, CUmemRangeHandleType of the CUDA Driver API
 *    reference, "Data types used by CUDA driver".
 *
 * A GPU is named by its PCI address, never by an index: the order of indexes is by speed
 * unless CUDA_DEVICE_ORDER says otherwise.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The results with their own message. */
enum cu_result {
	CU_SUCCESS = 0,
	CU_OUT_OF_MEMORY = 2,
	CU_STUB_LIBRARY = 34,
	CU_DEVICE_UNAVAILABLE = 46,
	CU_NO_DEVICE = 100,
	CU_INVALID_DEVICE = 101,
	CU_ECC_UNCORRECTABLE = 214,
	CU_NVLINK_UNCORRECTABLE = 220,
	CU_OPERATING_SYSTEM = 304,
	CU_PEER_ACCESS_ALREADY_ENABLED = 704,
	CU_NOT_PERMITTED = 800,
	CU_NOT_SUPPORTED = 801,
	CU_SYSTEM_NOT_READY = 802,
	CU_SYSTEM_DRIVER_MISMATCH = 803,
	CU_UNKNOWN = 999,
};

enum {
	CU_ATTRIBUTE_DMA_BUF_SUPPORTED = 124, /* CUDA 11.7 */
	CU_RANGE_HANDLE_DMA_BUF_FD = 1,
	CU_HOST_ALLOC_PORTABLE = 1,
	CU_STREAM_NON_BLOCKING = 1,
	CU_EVENT_DEFAULT = 0,
};

typedef int cu_device;
typedef unsigned long long cu_ptr;
typedef struct cu_context *cu_context;
typedef struct cu_stream *cu_stream;
typedef struct cu_event *cu_event;

struct cuda {
	void *lib;
	int version; /* of the driver: 12020 is CUDA 12.2 */

	int (*init)(unsigned int flags);
	int (*driver_version)(int *ret);
	int (*error_string)(int result, const char **ret);
	int (*device_by_address)(cu_device *ret, const char *addr);
	int (*device_attribute)(int *ret, int attribute, cu_device dev);
	int (*can_access_peer)(int *ret, cu_device dev, cu_device peer);
	int (*context_retain)(cu_context *ret, cu_device dev);
	int (*context_set)(cu_context ctx);
	int (*enable_peer)(cu_context peer, unsigned int flags);
	int (*mem_alloc)(cu_ptr *ret, size_t len);
	int (*mem_free)(cu_ptr p);
	int (*host_alloc)(void **ret, size_t len, unsigned int flags);
	int (*host_free)(void *p);
	int (*memset_bytes)(cu_ptr p, unsigned char value, size_t len);
	int (*copy_to_device)(cu_ptr dst, const void *src, size_t len, cu_stream s);
	int (*copy_to_host)(void *dst, cu_ptr src, size_t len, cu_stream s);
	int (*copy_to_peer)(cu_ptr dst, cu_context dst_ctx, cu_ptr src, cu_context src_ctx,
			    size_t len, cu_stream s);
	int (*stream_create)(cu_stream *ret, unsigned int flags);
	int (*stream_destroy)(cu_stream s);
	int (*event_create)(cu_event *ret, unsigned int flags);
	int (*event_record)(cu_event e, cu_stream s);
	int (*event_wait)(cu_event e);
	int (*event_elapsed)(float *ret_ms, cu_event from, cu_event to);
	int (*event_destroy)(cu_event e);
	/* CUDA 11.7; NULL with an older driver */
	int (*range_handle)(void *ret, cu_ptr p, size_t len, int type, unsigned long long flags);
};

/* Removes CUDA's variables from the environment. Call it before starting any thread. */
void cuda_forget_environment(void);
/*
 * Opens and initialises the library, once in a process. CUDA's variables are removed from the
 * environment first (CUDA_VISIBLE_DEVICES hides GPUs). -EAGAIN: the fabric manager is not up yet.
 */
int cuda_open(struct cuda *c, struct err *err);

/*
 * 0 for CU_SUCCESS; else *err with the failed call, CUDA's message and the remedy, and -EAGAIN for
 * an error that a retry may resolve, another code for other errors.
 */
int cuda_check(const struct cuda *c, int result, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * One GPU with its primary context, which other users of this process share, and a stream. The
 * context lives as long as the process, so that later benchmarks need not wait for it again.
 */
struct gpu {
	const struct cuda *cuda;
	const char *addr; /* the caller's */
	cu_device dev;
	cu_context ctx;	   /* NULL: none */
	cu_stream stream;  /* NULL: none */
	cu_event from, to; /* NULL: none */
	uint64_t setup_ns; /* time to create the context: a second, if the GPU was asleep */
};

/* Makes the context current, until the next gpu_open() or gpu_use(). */
int gpu_open(struct gpu *g, const struct cuda *c, const char *addr, struct err *err);
int gpu_use(const struct gpu *g, struct err *err);
void gpu_close(struct gpu *g);

/*
 * Times count calls of copy, each of len bytes, by events on the GPU's stream: *ret_rate in
 * bytes/s. The GPU's context must be current.
 */
int gpu_time(const struct gpu *g, int (*copy)(void *ctx), void *ctx, size_t len, size_t count,
	     double *ret_rate, struct err *err);

/* The number of copies of len bytes that take about window_ns at that rate; 1..1024. */
size_t gpu_copies(double rate, size_t len, uint64_t window_ns);
