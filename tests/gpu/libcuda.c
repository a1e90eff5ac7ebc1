/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for libcuda.so.1 (model.h): as strict about contexts and pointers as the real
 * one, with a GPU's memory that is the host's and a time that is reckoned: a stream is the
 * moment when its work will be done, an event such a moment. Only small copies move bytes.
 *
 * With -DOLD it is a library of before: it has no cuMemHostAlloc.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "model.h"

enum {
	SUCCESS = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201,
	OPERATING_SYSTEM = 304,
	INVALID_HANDLE = 400,
	PEER_ACCESS_NOT_ENABLED = 705,
	NOT_SUPPORTED = 801,
	GPUS = 8,
	ALLOCATIONS = 64,
	DMA_BUF_SUPPORTED = 124,
	MOVED_MOST = 4 << 20,
};

struct context {
	char addr[32];
	int users;
	bool may_access[GPUS];
};

struct stream {
	struct context *ctx;
	double until; /* when its work is done, in seconds */
};

struct event {
	struct context *ctx;
	double at;
};

static struct allocation {
	void *p;
	size_t len;
	struct context *ctx; /* NULL: the host's */
} allocations[ALLOCATIONS];

#define LATE 0.05 /* seconds */

static atomic_bool up;
static struct context contexts[GPUS];
static _Thread_local struct context *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of allocations */
static pthread_mutex_t making[GPUS] = {[0 ... GPUS - 1] = PTHREAD_MUTEX_INITIALIZER};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define BEGIN()                                 \
	do {                                    \
		ENTER();                        \
		if (!up)                        \
			return NOT_INITIALIZED; \
	} while (0)

/* --- memory ------------------------------------------------------------------------------ */

static int allocate_locked(void **ret, size_t len, struct context *ctx)
{
	for (int i = 0; i < ALLOCATIONS; i++) {
		if (allocations[i].p)
			continue;
		void *p =
			mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return OUT_OF_MEMORY;
		allocations[i] = (struct allocation){p, len, ctx};
		*ret = p;
		return SUCCESS;
	}
	return OUT_OF_MEMORY;
}

static int allocate(void **ret, size_t len, struct context *ctx)
{
	int r;

	pthread_mutex_lock(&lock);
	r = allocate_locked(ret, len, ctx);
	pthread_mutex_unlock(&lock);
	return r;
}

static int release_locked(void *p, bool host)
{
	for (int i = 0; i < ALLOCATIONS; i++)
		if (allocations[i].p == p && p && host == !allocations[i].ctx) {
			munmap(p, allocations[i].len);
			allocations[i] = (struct allocation){0};
			return SUCCESS;
		}
	return INVALID_VALUE;
}

static int release(void *p, bool host)
{
	int r;

	pthread_mutex_lock(&lock);
	r = release_locked(p, host);
	pthread_mutex_unlock(&lock);
	return r;
}

static bool is_inside(uintptr_t p, size_t len, const struct context *ctx)
{
	bool inside = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < ALLOCATIONS && !inside; i++) {
		uintptr_t from = (uintptr_t)allocations[i].p;

		inside = allocations[i].p && allocations[i].ctx == ctx && p >= from &&
			 p + len <= from + allocations[i].len;
	}
	pthread_mutex_unlock(&lock);
	return inside;
}

int cuMemAlloc_v2(unsigned long long *ret, size_t len)
{
	void *p;
	int r;

	BEGIN();
	if (!current)
		return INVALID_CONTEXT;
	r = allocate(&p, len, current);
	if (r == SUCCESS)
		*ret = (uintptr_t)p;
	return r;
}

int cuMemFree_v2(unsigned long long p)
{
	BEGIN();
	return current ? release((void *)(uintptr_t)p, false) : INVALID_CONTEXT;
}

#ifndef OLD
int cuMemHostAlloc(void **ret, size_t len, unsigned int flags)
{
	BEGIN();
	if (!current)
		return INVALID_CONTEXT;
	return flags & ~7u ? INVALID_VALUE : allocate(ret, len, NULL);
}
#endif

int cuMemFreeHost(void *p)
{
	BEGIN();
	return release(p, true);
}

int cuMemsetD8_v2(unsigned long long p, unsigned char value, size_t len)
{
	BEGIN();
	if (!current)
		return INVALID_CONTEXT;
	if (!is_inside(p, len, current))
		return INVALID_VALUE;
	memset((void *)(uintptr_t)p, value, len);
	return SUCCESS;
}

int cuMemGetHandleForAddressRange(void *ret, unsigned long long p, size_t len, int type,
				  unsigned long long flags)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd;

	BEGIN();
	if (!current || !model_number(current->addr, "dma_buf", 0))
		return NOT_SUPPORTED;
	if (type != 1 || flags || p % (unsigned long)page || len % (unsigned long)page ||
	    !is_inside(p, len, current))
		return INVALID_VALUE;
	fd = memfd_create("no dma-buf", MFD_CLOEXEC); /* what an RDMA driver refuses */
	memcpy(ret, &fd, sizeof(fd));
	return SUCCESS;
}

/* --- devices ----------------------------------------------------------------------------- */

/* As the real one, which looks at itself below /proc by its number. */
static bool sees_itself(void)
{
	char self[32] = "";

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 && atoi(self) == getpid();
}

int cuInit(unsigned int flags)
{
	ENTER();
	if (!sees_itself())
		return OPERATING_SYSTEM;
	up = true;
	return flags ? INVALID_VALUE : SUCCESS;
}

int cuDriverGetVersion(int *ret)
{
	ENTER();
	*ret = (int)model_number("driver", "cuda", 12040);
	return SUCCESS;
}

int cuGetErrorString(int result, const char **ret)
{
	static _Thread_local char text[32];

	ENTER();
	snprintf(text, sizeof(text), "stand-in's %d", result);
	*ret = text;
	return SUCCESS;
}

int cuDeviceGetByPCIBusId(int *ret, const char *addr)
{
	long long index = -1;

	BEGIN();
	if (getenv("CUDA_VISIBLE_DEVICES") || !model_get(addr, "gpu", &index) || index < 0 ||
	    index >= GPUS)
		return INVALID_DEVICE;
	snprintf(contexts[index].addr, sizeof(contexts[index].addr), "%s", addr);
	*ret = (int)index;
	return SUCCESS;
}

static bool is_device(int dev)
{
	return dev >= 0 && dev < GPUS && *contexts[dev].addr;
}

int cuDeviceGetAttribute(int *ret, int attribute, int dev)
{
	BEGIN();
	if (!is_device(dev))
		return INVALID_DEVICE;
	if (attribute != DMA_BUF_SUPPORTED)
		return INVALID_VALUE;
	*ret = (int)model_number(contexts[dev].addr, "dma_buf", 0);
	return SUCCESS;
}

int cuDeviceCanAccessPeer(int *ret, int dev, int peer)
{
	BEGIN();
	if (!is_device(dev) || !is_device(peer))
		return INVALID_DEVICE;
	*ret = model_number(contexts[dev].addr, contexts[peer].addr, 0) > 0;
	return SUCCESS;
}

int cuDevicePrimaryCtxRetain(struct context **ret, int dev)
{
	BEGIN();
	if (!is_device(dev))
		return INVALID_DEVICE;
	pthread_mutex_lock(&making[dev]);
	if (contexts[dev].users++ == 0) {
		double end =
			now() + (double)model_number(contexts[dev].addr, "context_us", 0) / 1e6;

		while (now() < end) /* whatever signal comes */
			usleep((useconds_t)((end - now()) * 1e6 > 0 ? (end - now()) * 1e6 : 0));
	}
	pthread_mutex_unlock(&making[dev]);
	*ret = &contexts[dev];
	return SUCCESS;
}

int cuCtxSetCurrent(struct context *ctx)
{
	BEGIN();
	if (ctx && !ctx->users)
		return INVALID_CONTEXT;
	current = ctx;
	return SUCCESS;
}

int cuCtxEnablePeerAccess(struct context *peer, unsigned int flags)
{
	BEGIN();
	if (!current || !peer || !peer->users)
		return INVALID_CONTEXT;
	if (flags)
		return INVALID_VALUE;
	current->may_access[peer - contexts] = true;
	return SUCCESS;
}

/* --- streams and events -------------------------------------------------------------------- */

int cuStreamCreate(struct stream **ret, unsigned int flags)
{
	BEGIN();
	if (!current)
		return INVALID_CONTEXT;
	if (flags > 1)
		return INVALID_VALUE;
	*ret = calloc(1, sizeof(**ret));
	(*ret)->ctx = current;
	return SUCCESS;
}

int cuStreamDestroy_v2(struct stream *s)
{
	BEGIN();
	free(s);
	return SUCCESS;
}

int cuEventCreate(struct event **ret, unsigned int flags)
{
	BEGIN();
	if (!current)
		return INVALID_CONTEXT;
	if (flags > 7)
		return INVALID_VALUE;
	*ret = calloc(1, sizeof(**ret));
	(*ret)->ctx = current;
	return SUCCESS;
}

int cuEventDestroy_v2(struct event *e)
{
	BEGIN();
	free(e);
	return SUCCESS;
}

/*
 * When what is queued now begins. A machine that is busy with other tests comes late to queue
 * it: that is not the GPU's doing, and isn't reckoned.
 */
static double ready_at(const struct stream *s)
{
	double t = now();

	return s->until > t - LATE ? s->until : t;
}

int cuEventRecord(struct event *e, struct stream *s)
{
	BEGIN();
	if (e->ctx != s->ctx || s->ctx != current)
		return INVALID_HANDLE;
	s->until = ready_at(s);
	e->at = s->until;
	return SUCCESS;
}

int cuEventSynchronize(const struct event *e)
{
	double left;

	BEGIN();
	left = e->at - now();
	if (left > 0)
		usleep((useconds_t)(left * 1e6));
	return SUCCESS;
}

int cuEventElapsedTime(float *ret_ms, const struct event *from, const struct event *to)
{
	BEGIN();
	*ret_ms = (float)((to->at - from->at) * 1e3);
	return SUCCESS;
}

static int copy(struct stream *s, size_t len, long long rate)
{
	if (s->ctx != current)
		return INVALID_HANDLE;
	if (rate <= 0)
		return NOT_SUPPORTED;
	s->until = ready_at(s) + (double)len / (double)rate;
	return SUCCESS;
}

int cuMemcpyHtoDAsync_v2(unsigned long long dst, const void *src, size_t len, struct stream *s)
{
	BEGIN();
	if (!is_inside(dst, len, s->ctx) || !is_inside((uintptr_t)src, len, NULL))
		return INVALID_VALUE;
	return copy(s, len, model_number(s->ctx->addr, "h2d", 2000000000));
}

int cuMemcpyDtoHAsync_v2(void *dst, unsigned long long src, size_t len, struct stream *s)
{
	BEGIN();
	if (!is_inside((uintptr_t)dst, len, NULL) || !is_inside(src, len, s->ctx))
		return INVALID_VALUE;
	if (len <= MOVED_MOST)
		memcpy(dst, (const void *)(uintptr_t)src, len);
	return copy(s, len, model_number(s->ctx->addr, "d2h", 2000000000));
}

int cuMemcpyPeerAsync(unsigned long long dst, struct context *dst_ctx, unsigned long long src,
		      struct context *src_ctx, size_t len, struct stream *s)
{
	BEGIN();
	if (!is_inside(dst, len, dst_ctx) || !is_inside(src, len, src_ctx))
		return INVALID_VALUE;
	if (!src_ctx->may_access[dst_ctx - contexts])
		return PEER_ACCESS_NOT_ENABLED;
	return copy(s, len, model_number(src_ctx->addr, dst_ctx->addr, 0));
}
