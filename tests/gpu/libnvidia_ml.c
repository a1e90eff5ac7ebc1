/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for libnvidia-ml.so.1 (model.h). What the file does not say of a GPU is as with
 * a healthy one of today: ECC on, no page retirement (it remaps rows), full width.
 *
 * With -DOLD it is a library of before: it can't remap rows, and clocks have "throttle" reasons.
 */
#include <stdatomic.h>

#include "model.h"

enum {
	SUCCESS = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	ARGUMENT_VERSION_MISMATCH = 25,
};

struct device {
	char addr[32];
};

/* As nvml.h has them: the first, and what is asked for by its version and size (2 and 3). */
struct fabric {
	unsigned char cluster[16];
	int status;
	unsigned int clique;
	unsigned char state;
};

struct fabric_v2 {
	unsigned int version;
	unsigned char cluster[16];
	int status;
	unsigned int clique;
	unsigned char state;
	unsigned int health;
};

struct fabric_v3 {
	unsigned int version;
	unsigned char cluster[16];
	int status;
	unsigned int clique;
	unsigned char state;
	unsigned int health;
	unsigned char summary;
};

_Static_assert(sizeof(struct fabric) == 28, "nvmlGpuFabricInfo_t");
_Static_assert(sizeof(struct fabric_v2) == 36, "nvmlGpuFabricInfo_v2_t");
_Static_assert(sizeof(struct fabric_v3) == 40, "nvmlGpuFabricInfo_v3_t");

static atomic_int up; /* inits without a shutdown, as the API reference counts them */

#define BEGIN()                               \
	do {                                  \
		ENTER();                      \
		if (!up)                      \
			return UNINITIALIZED; \
	} while (0)

int nvmlInit_v2(void)
{
	ENTER();
	atomic_fetch_add(&up, 1);
	return SUCCESS;
}

int nvmlShutdown(void)
{
	BEGIN();
	atomic_fetch_sub(&up, 1);
	return SUCCESS;
}

const char *nvmlErrorString(int result)
{
	static _Thread_local char text[32];

	snprintf(text, sizeof(text), "stand-in's %d", result);
	return text;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *addr, struct device **ret)
{
	static struct device devices[8];
	long long index = -1;

	BEGIN();
	if (!model_get(addr, "gpu", &index) || index < 0 || index > 7)
		return NOT_FOUND;
	snprintf(devices[index].addr, sizeof(devices[index].addr), "%s", addr);
	*ret = &devices[index];
	return SUCCESS;
}

/* A number that is -1 in the file isn't supported by that GPU. */
static int get(const struct device *d, const char *key, long long fallback, long long *ret)
{
	*ret = model_number(d->addr, key, fallback);
	return *ret < 0 ? NOT_SUPPORTED : SUCCESS;
}

static int get_uint(const struct device *d, const char *key, long long fallback, unsigned int *ret)
{
	long long v;
	int r = get(d, key, fallback, &v);

	if (r == SUCCESS)
		*ret = (unsigned int)v;
	return r;
}

int nvmlDeviceGetPersistenceMode(const struct device *d, unsigned int *ret)
{
	BEGIN();
	return get_uint(d, "persistence", 1, ret);
}

int nvmlDeviceGetEccMode(const struct device *d, unsigned int *now, unsigned int *next)
{
	int r;

	BEGIN();
	r = get_uint(d, "ecc", 1, now);
	return r == SUCCESS ? get_uint(d, "ecc_next", *now, next) : r;
}

int nvmlDeviceGetTotalEccErrors(const struct device *d, int type, int counter,
				unsigned long long *ret)
{
	long long v;
	int r;

	BEGIN();
	if (type != 1 || counter != 0)
		return INVALID_ARGUMENT;
	r = get(d, "uncorrected", 0, &v);
	if (r == SUCCESS)
		*ret = (unsigned long long)v;
	return r;
}

int nvmlDeviceGetRetiredPages(const struct device *d, int cause, unsigned int *count,
			      unsigned long long *addresses)
{
	BEGIN();
	if (cause < 0 || cause > 1 || (addresses == NULL && *count != 0))
		return INVALID_ARGUMENT;
	return get_uint(d, cause ? "retired_double" : "retired_single", 0, count);
}

int nvmlDeviceGetRetiredPagesPendingStatus(const struct device *d, unsigned int *ret)
{
	BEGIN();
	return get_uint(d, "retire_pending", -1, ret);
}

int nvmlDeviceGetCurrPcieLinkWidth(const struct device *d, unsigned int *ret)
{
	BEGIN();
	return get_uint(d, "width", 16, ret);
}

int nvmlDeviceGetMaxPcieLinkWidth(const struct device *d, unsigned int *ret)
{
	BEGIN();
	return get_uint(d, "width_max", 16, ret);
}

int nvmlDeviceGetCurrPcieLinkGeneration(const struct device *d, unsigned int *ret)
{
	BEGIN();
	return get_uint(d, "generation", 1, ret);
}

int nvmlDeviceGetMaxPcieLinkGeneration(const struct device *d, unsigned int *ret)
{
	BEGIN();
	return get_uint(d, "generation_max", 5, ret);
}

/* "clocks" at first, "clocks_later" from the second time on, where the file has it. */
static int get_clocks(const struct device *d, unsigned long long *ret)
{
	static int times;
	long long v = model_number(d->addr, "clocks", 1);

	if (times++)
		model_get(d->addr, "clocks_later", &v);
	*ret = (unsigned long long)v;
	return v < 0 ? NOT_SUPPORTED : SUCCESS;
}

#ifdef OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(const struct device *d, unsigned long long *ret)
{
	BEGIN();
	return get_clocks(d, ret);
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(const struct device *d, unsigned long long *ret)
{
	BEGIN();
	return get_clocks(d, ret);
}

int nvmlDeviceGetRemappedRows(const struct device *d, unsigned int *corrected,
			      unsigned int *uncorrected, unsigned int *pending,
			      unsigned int *failed)
{
	int r;

	BEGIN();
	r = get_uint(d, "rows_corrected", 0, corrected);
	if (r == SUCCESS)
		r = get_uint(d, "rows_uncorrected", 0, uncorrected);
	if (r == SUCCESS)
		r = get_uint(d, "remap_pending", 0, pending);
	return r == SUCCESS ? get_uint(d, "remap_failed", 0, failed) : r;
}

/* "cluster N": its UUID ends with that number; 0: it is zero throughout. */
static int get_fabric(const struct device *d, struct fabric *ret)
{
	long long cluster = model_number(d->addr, "cluster", 0);
	long long state;
	int r = get(d, "fabric", 0, &state);

	if (r != SUCCESS)
		return r;
	memset(ret->cluster, 0, sizeof(ret->cluster));
	for (int i = 15; i >= 8; i--, cluster >>= 8)
		ret->cluster[i] = (unsigned char)cluster;
	ret->status = (int)model_number(d->addr, "fabric_status", 0);
	ret->clique = (unsigned int)model_number(d->addr, "clique", 0);
	ret->state = (unsigned char)state;
	return SUCCESS;
}

int nvmlDeviceGetGpuFabricInfo(const struct device *d, struct fabric *ret)
{
	BEGIN();
	return get_fabric(d, ret);
}

/* "driver fabric_version 2": it knows the structs up to that one. */
int nvmlDeviceGetGpuFabricInfoV(const struct device *d, struct fabric_v3 *ret)
{
	static const unsigned int sizes[] = {
		[2] = sizeof(struct fabric_v2), [3] = sizeof(struct fabric_v3)};
	unsigned int version = ret->version >> 24;
	struct fabric f;
	int r;

	BEGIN();
	if (version < 2 || version > 3 || version > model_number("driver", "fabric_version", 3) ||
	    (ret->version & 0xffffff) != sizes[version])
		return ARGUMENT_VERSION_MISMATCH;
	r = get_fabric(d, &f);
	if (r != SUCCESS)
		return r;
	memcpy(ret->cluster, f.cluster, sizeof(ret->cluster));
	ret->status = f.status;
	ret->clique = f.clique;
	ret->state = f.state;
	ret->health = (unsigned int)model_number(d->addr, "fabric_health", 0);
	if (version == 3)
		ret->summary = (unsigned char)model_number(d->addr, "fabric_summary", 0);
	return SUCCESS;
}

/* Now and after the next reset. */
int nvmlDeviceGetMigMode(const struct device *d, unsigned int *now, unsigned int *next)
{
	int r;

	BEGIN();
	r = get_uint(d, "mig", 0, now);
	if (r == SUCCESS)
		*next = (unsigned int)model_number(d->addr, "mig_next", (int)*now);
	return r;
}
struct process { /* nvmlProcessInfo_t */
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};

_Static_assert(sizeof(struct process) == 24, "nvmlProcessInfo_t");

/* The process that asks, which has a context there, and "user PID", where another has one, too. */
int nvmlDeviceGetComputeRunningProcesses_v3(const struct device *d, unsigned int *n,
					    struct process *ret)
{
	long long other = model_number(d->addr, "user", 0);
	unsigned int room = *n, all = other ? 2 : 1;

	BEGIN();
	*n = all;
	if (room < all)
		return INSUFFICIENT_SIZE;
	memset(ret, 0, all * sizeof(*ret));
	ret[0].pid = (unsigned int)getpid();
	if (other)
		ret[1].pid = (unsigned int)other;
	return SUCCESS;
}
#endif

/* "nvlink 1": to every GPU; "p2p N": the status of reads. */
int nvmlDeviceGetP2PStatus(const struct device *a, const struct device *b, int index, int *ret)
{
	BEGIN();
	if (a == b)
		return INVALID_ARGUMENT;
	if (index == 2)
		*ret = model_number(a->addr, "nvlink", 0) ? 0 : 5;
	else
		*ret = (int)model_number(a->addr, "p2p", 0);
	return SUCCESS;
}
