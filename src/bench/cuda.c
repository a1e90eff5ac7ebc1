/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/symbols.h"
#include "bench/pool.h"
#include "bench/nvidia.h"

#define LIBRARY "libcuda.so.1"
#define COPIES_MOST 1024

static const struct symbol symbols[] = {
	SYMBOL(struct cuda, init, "cuInit"),
	SYMBOL(struct cuda, driver_version, "cuDriverGetVersion"),
	SYMBOL(struct cuda, error_string, "cuGetErrorString"),
	SYMBOL(struct cuda, device_by_address, "cuDeviceGetByPCIBusId"),
	SYMBOL(struct cuda, device_attribute, "cuDeviceGetAttribute"),
	SYMBOL(struct cuda, can_access_peer, "cuDeviceCanAccessPeer"),
	SYMBOL(struct cuda, context_retain, "cuDevicePrimaryCtxRetain"),
	SYMBOL(struct cuda, context_set, "cuCtxSetCurrent"),
	SYMBOL(struct cuda, enable_peer, "cuCtxEnablePeerAccess"),
	SYMBOL(struct cuda, mem_alloc, "cuMemAlloc_v2"),
	SYMBOL(struct cuda, mem_free, "cuMemFree_v2"),
	SYMBOL(struct cuda, host_alloc, "cuMemHostAlloc"),
	SYMBOL(struct cuda, host_free, "cuMemFreeHost"),
	SYMBOL(struct cuda, memset_bytes, "cuMemsetD8_v2"),
	SYMBOL(struct cuda, copy_to_device, "cuMemcpyHtoDAsync_v2"),
	SYMBOL(struct cuda, copy_to_host, "cuMemcpyDtoHAsync_v2"),
	SYMBOL(struct cuda, copy_to_peer, "cuMemcpyPeerAsync"),
	SYMBOL(struct cuda, stream_create, "cuStreamCreate"),
	SYMBOL(struct cuda, stream_destroy, "cuStreamDestroy_v2"),
	SYMBOL(struct cuda, event_create, "cuEventCreate"),
	SYMBOL(struct cuda, event_record, "cuEventRecord"),
	SYMBOL(struct cuda, event_wait, "cuEventSynchronize"),
	SYMBOL(struct cuda, event_elapsed, "cuEventElapsedTime"),
	SYMBOL(struct cuda, event_destroy, "cuEventDestroy_v2"),
	OPTIONAL_SYMBOL(struct cuda, range_handle, "cuMemGetHandleForAddressRange"),
	{0},
};

/* --- what a failure means -------------------------------------------------------------- */

/* The results with a remedy. The CUDA Driver API reference, enum CUresult, lists their causes. */
static const struct meaning {
	int result;
	int code;
	enum fault fault; /* FAULT_NONE: the GPU itself may be healthy */
	const char *remedy;
} meanings[] = {
	{CU_SYSTEM_NOT_READY, -EAGAIN, FAULT_GPU_FABRIC_DOWN,
	 "on a board with NVSwitch the fabric manager has not finished: see `systemctl status "
	 "nvidia-fabricmanager` and the fabric's state in `nvidia-smi -q`; the fabric manager must "
	 "have the driver's version"},
	{CU_SYSTEM_DRIVER_MISMATCH, -EINVAL, FAULT_GPU_DRIVER,
	 "libcuda and the loaded kernel module are of different versions, as after an update of "
	 "the driver: reboot, or unload and load the nvidia modules"},
	{CU_NO_DEVICE, -ENODEV, FAULT_GPU_DRIVER,
	 "the driver has no usable GPU: see NVRM in the kernel log, and whether nvidia is bound "
	 "(`lspci -k`)"},
	{CU_INVALID_DEVICE, -ENODEV, FAULT_NONE,
	 "CUDA does not list this GPU: check that nvidia is bound to it, and that neither a "
	 "virtual machine nor MIG uses it; see `nvidia-smi -L` and NVRM in the kernel log"},
	{CU_OUT_OF_MEMORY, -ENOMEM, FAULT_NONE,
	 "other processes use the GPU's memory, or the host's memory that must be pinned: see "
	 "`nvidia-smi`"},
	{CU_DEVICE_UNAVAILABLE, -EBUSY, FAULT_NONE,
	 "its compute mode is exclusive or prohibited: `nvidia-smi -c 0`, or end the process that "
	 "uses the GPU"},
	{CU_ECC_UNCORRECTABLE, -EIO, FAULT_GPU_MEMORY,
	 "the GPU's memory has an uncorrectable error: reset the GPU; if the error returns, "
	 "replace the GPU"},
	{CU_NVLINK_UNCORRECTABLE, -EIO, FAULT_GPU_NVLINK,
	 "an NVLink has an uncorrectable error: reset the GPUs; see `nvidia-smi nvlink -e`"},
	{CU_OPERATING_SYSTEM, -EIO, FAULT_NONE,
	 "a system call of the library failed: check that /dev/nvidiactl, /dev/nvidia-uvm and the "
	 "GPU's /dev/nvidiaN exist, and that the cgroup allows them; `nvidia-modprobe -u -c 0` "
	 "creates them"},
	{CU_NOT_PERMITTED, -EPERM, FAULT_NONE, "the driver denies this user the operation"},
	{CU_STUB_LIBRARY, -ENOENT, FAULT_NONE,
	 LIBRARY " is the stub of a CUDA toolkit, not the driver's: see `ldconfig -p`"},
	{CU_UNKNOWN, -EIO, FAULT_NONE,
	 "most often nvidia_uvm is not loaded, or /dev/nvidia-uvm is missing: `nvidia-modprobe -u "
	 "-c 0`; else see NVRM in the kernel log"},
};

static const struct meaning *meaning_of(int result)
{
	for (size_t i = 0; i < array_len(meanings); i++)
		if (meanings[i].result == result)
			return &meanings[i];
	return NULL;
}

int cuda_check(const struct cuda *c, int result, struct err *err, const char *fmt, ...)
{
	const struct meaning *m = meaning_of(result);
	int code = m ? m->code : -EIO;
	const char *text = NULL;
	char what[128];
	va_list ap;

	if (result == CU_SUCCESS)
		return 0;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (c->error_string(result, &text) != CU_SUCCESS || !text)
		text = "no text";
	err_set(err, code, "%s: CUDA error %d (%s)%s%s", what, result, text, m ? "; " : "",
		m ? m->remedy : "");
	return err_fault(err, code, m ? m->fault : FAULT_NONE);
}

/* --- opening ----------------------------------------------------------------------------- */

/*
 * Removes CUDA_VISIBLE_DEVICES, CUDA_MPS_PIPE_DIRECTORY, ..., because a gate measures the machine.
 */
void cuda_forget_environment(void)
{
	cleanup_strv struct strv names = {0};

	for (char **e = environ; *e; e++)
		if (str_starts(*e, "CUDA_")) {
			cleanup_free char *name = xstrndup(*e, strcspn(*e, "="));

			strv_add(&names, name);
		}
	for (size_t i = 0; i < names.n; i++)
		unsetenv(names.v[i]);
}

static int resolve(struct cuda *c, struct err *err)
{
	const char *missing = symbols_resolve(c->lib, symbols, c);
	char module[32];

	if (!missing)
		return 0;
	if (c->driver_version)
		c->driver_version(&c->version);
	return err_set(err, -ENOSYS,
		       LIBRARY " has no %s: the driver (%s, CUDA %d.%d) is too old; install one "
			       "of CUDA 11.0 or later",
		       missing, nvidia_driver_version(module), c->version / 1000,
		       c->version % 1000 / 10);
}

static int open_once(struct cuda *c, struct err *err)
{
	int r;

	*c = (struct cuda){0};
	cuda_forget_environment();
	r = nvidia_open(&c->lib, LIBRARY, err);
	if (r == 0)
		r = resolve(c, err);
	if (r < 0)
		return r;
	r = cuda_check(c, c->init(0), err, "cuInit");
	if (r == 0)
		r = cuda_check(c, c->driver_version(&c->version), err, "cuDriverGetVersion");
	return r;
}

int cuda_open(struct cuda *c, struct err *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct cuda opened;
	static bool is_open;
	int r = 0;

	pthread_mutex_lock(&lock);
	if (!is_open)
		r = open_once(&opened, err);
	is_open = r == 0;
	*c = opened;
	pthread_mutex_unlock(&lock);
	return r;
}

/* --- a GPU ------------------------------------------------------------------------------- */

static int make_context(struct gpu *g, struct err *err)
{
	const struct cuda *c = g->cuda;
	uint64_t start = clock_ns();
	int r = cuda_check(c, c->device_by_address(&g->dev, g->addr), err, "%s", g->addr);

	if (r == 0)
		r = cuda_check(c, c->context_retain(&g->ctx, g->dev), err, "%s: context", g->addr);
	g->setup_ns = clock_ns() - start;
	return r == 0 ? gpu_use(g, err) : r;
}

int gpu_open(struct gpu *g, const struct cuda *c, const char *addr, struct err *err)
{
	int r;

	*g = (struct gpu){.cuda = c, .addr = addr};
	r = make_context(g, err);
	if (r == 0)
		r = cuda_check(c, c->stream_create(&g->stream, CU_STREAM_NON_BLOCKING), err,
			       "%s: stream", addr);
	if (r == 0)
		r = cuda_check(c, c->event_create(&g->from, CU_EVENT_DEFAULT), err, "%s: event",
			       addr);
	if (r == 0)
		r = cuda_check(c, c->event_create(&g->to, CU_EVENT_DEFAULT), err, "%s: event",
			       addr);
	return r;
}

int gpu_use(const struct gpu *g, struct err *err)
{
	return cuda_check(g->cuda, g->cuda->context_set(g->ctx), err, "%s: cuCtxSetCurrent",
			  g->addr);
}

void gpu_close(struct gpu *g)
{
	if (!g->ctx)
		return;
	g->cuda->context_set(g->ctx);
	if (g->to)
		g->cuda->event_destroy(g->to);
	if (g->from)
		g->cuda->event_destroy(g->from);
	if (g->stream)
		g->cuda->stream_destroy(g->stream);
	g->ctx = NULL;
}

/* --- timing ------------------------------------------------------------------------------ */

int gpu_time(const struct gpu *g, int (*copy)(void *ctx), void *ctx, size_t len, size_t count,
	     double *ret_rate, struct err *err)
{
	const struct cuda *c = g->cuda;
	float ms = 0;
	int e = c->event_record(g->from, g->stream);

	for (size_t i = 0; e == CU_SUCCESS && i < count; i++)
		e = copy(ctx);
	if (e == CU_SUCCESS)
		e = c->event_record(g->to, g->stream);
	if (e == CU_SUCCESS)
		e = c->event_wait(g->to);
	if (e == CU_SUCCESS)
		e = c->event_elapsed(&ms, g->from, g->to);
	if (e != CU_SUCCESS)
		return cuda_check(c, e, err, "%s: copy", g->addr);
	if (!(ms > 0))
		return err_set(err, -EIO, "%s: CUDA says that %zu copies took no time", g->addr,
			       count);
	*ret_rate = (double)len * (double)count * 1e3 / (double)ms;
	return 0;
}

size_t gpu_copies(double rate, size_t len, uint64_t window_ns)
{
	double n = rate * (double)window_ns / 1e9 / (double)len;

	return n < 1 ? 1 : n > COPIES_MOST ? COPIES_MOST : (size_t)n;
}
