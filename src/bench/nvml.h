/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVIDIA's management library, libnvidia-ml.so.1, opened at run time like libcuda (cuda.h).
 * Names, numbers and layouts are those of the NVML API reference (nvml.h, which NVIDIA also
 * publishes in github.com/NVIDIA/go-nvml, gen/nvml): nvmlInit and the lookup by address are
 * _v2, the others have no suffix; nvmlDevice_t is an opaque pointer;
 * enums are int, counters unsigned long long.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* The results with their own message. */
enum nvml_result {
	NVML_SUCCESS = 0,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_POWER = 8,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_IRQ_ISSUE = 11,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_CORRUPTED_INFOROM = 14,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_OPERATING_SYSTEM = 17,
	NVML_LIB_RM_VERSION_MISMATCH = 18,
	NVML_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_DEPRECATED = 26,
	NVML_UNKNOWN = 999,
};

enum {
	NVML_ERROR_UNCORRECTED = 1, /* nvmlMemoryErrorType_t */
	NVML_VOLATILE = 0,	    /* nvmlEccCounterType_t: since the driver was loaded */
	NVML_RETIRED_SINGLE_BIT = 0,
	NVML_RETIRED_DOUBLE_BIT = 1,
	NVML_P2P_NVLINK = 2, /* nvmlGpuP2PCapsIndex_t */
	NVML_P2P_READ = 0,
};

enum nvml_p2p_status { /* nvmlGpuP2PStatus_t */
		       NVML_P2P_OK = 0,
		       NVML_P2P_CHIPSET_NOT_SUPPORTED = 1,
		       NVML_P2P_GPU_NOT_SUPPORTED = 2,
		       NVML_P2P_TOPOLOGY_NOT_SUPPORTED = 3,
		       NVML_P2P_DISABLED_BY_REGKEY = 4,
		       NVML_P2P_NOT_SUPPORTED = 5,
};

enum { /* nvmlClocksEventReasons */
       NVML_CLOCKS_SW_THERMAL = 0x20,
       NVML_CLOCKS_HW_SLOWDOWN = 0x08,
       NVML_CLOCKS_HW_THERMAL = 0x40,
       NVML_CLOCKS_HW_POWER_BRAKE = 0x80,
};

enum { /* nvmlGpuFabricState_t */
       NVML_FABRIC_NOT_SUPPORTED = 0,
       NVML_FABRIC_NOT_STARTED = 1,
       NVML_FABRIC_IN_PROGRESS = 2,
       NVML_FABRIC_COMPLETED = 3,
};

enum { /* nvmlGpuFabricInfo_v3_t.healthSummary */
       NVML_FABRIC_HEALTHY = 1,
       NVML_FABRIC_UNHEALTHY = 2,
       NVML_FABRIC_LIMITED_CAPACITY = 3,
};

#define NVML_FABRIC_UUID_LEN 16

struct nvml_fabric { /* nvmlGpuFabricInfo_t */
	unsigned char cluster[NVML_FABRIC_UUID_LEN];
	int status; /* of a completed fabric: an enum nvml_result */
	unsigned int clique;
	unsigned char state;
};

/* nvmlGpuFabricInfo_v3_t. Version 2 is the same without the summary. */
struct nvml_fabric_v3 {
	unsigned int version; /* NVML_FABRIC_V2 or V3, set by the caller */
	unsigned char cluster[NVML_FABRIC_UUID_LEN];
	int status;
	unsigned int clique;
	unsigned char state;
	unsigned int health;   /* the mask: see gpu_fabric.c */
	unsigned char summary; /* version 3 alone; 0: not supported */
};

/* NVML_STRUCT_VERSION: the size of the struct, with the version in the highest byte. */
#define NVML_FABRIC_V2 (36u | 2u << 24)
#define NVML_FABRIC_V3 ((unsigned int)sizeof(struct nvml_fabric_v3) | 3u << 24)

struct nvml_process { /* nvmlProcessInfo_t, of _v3 */
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};

typedef struct nvml_device *nvml_device;

/* Optional functions (see nvml.c) are NULL if the library is too old. */
struct nvml {
	void *lib;
	bool up; /* initialised */

	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int result);
	int (*device_by_address)(const char *addr, nvml_device *ret);
	int (*persistence)(nvml_device d, int *ret);
	int (*ecc_mode)(nvml_device d, int *ret_current, int *ret_pending);
	int (*ecc_errors)(nvml_device d, int type, int counter, unsigned long long *ret);
	int (*mig_mode)(nvml_device d, unsigned int *ret_current, unsigned int *ret_pending);
	int (*remapped_rows)(nvml_device d, unsigned int *ret_corrected,
			     unsigned int *ret_uncorrected, unsigned int *ret_pending,
			     unsigned int *ret_failed);
	int (*retired_pages)(nvml_device d, int cause, unsigned int *count,
			     unsigned long long *addresses);
	int (*retired_pending)(nvml_device d, int *ret);
	int (*pcie_width)(nvml_device d, unsigned int *ret);
	int (*pcie_width_max)(nvml_device d, unsigned int *ret);
	int (*pcie_generation)(nvml_device d, unsigned int *ret);
	int (*pcie_generation_max)(nvml_device d, unsigned int *ret);
	int (*clocks_reasons)(nvml_device d, unsigned long long *ret);
	int (*clocks_reasons_old)(nvml_device d, unsigned long long *ret);
	/* *n: in, the room in ret; out, the number of processes. */
	int (*compute_processes)(nvml_device d, unsigned int *n, struct nvml_process *ret);
	int (*p2p_status)(nvml_device a, nvml_device b, int index, int *ret);
	/* The first is deprecated since CUDA 13.0, and does not report health. */
	int (*fabric)(nvml_device d, struct nvml_fabric *ret);
	int (*fabric_versioned)(nvml_device d, struct nvml_fabric_v3 *ret);
};

/* Opens and initialises the library. A failure sets *err, with the remedy. */
int nvml_open(struct nvml *n, struct err *err);
void nvml_close(struct nvml *n);

/* As cuda_check(). */
int nvml_check(const struct nvml *n, int result, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * True if the question has no answer: the GPU does not support it, the driver lacks the function,
 * or a newer library has removed it.
 */
bool nvml_is_hidden(int result);
/* True if an error of the lookup is a fault of the GPU itself, not of the driver's installation. */
bool nvml_is_broken_gpu(int result);
