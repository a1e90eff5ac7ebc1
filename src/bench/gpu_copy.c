/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies between a GPU and pinned memory of a NUMA node (usually the GPU's node), each direction
 * alone: "h2d" and "d2h" in B/s; "value" is the lower rate. The benchmark finds a link that trained
 * too narrow or too slow, an IOMMU in the path, and a GPU at the other socket.
 *
 * The context is created before the windows, and "setup_ms" is the time for that, because a
 * sleeping GPU takes seconds to wake.
 */
#include "bench/gpu_copy.h"

#include "base/mem.h"
#include "bench/cuda.h"
#include "bench/gpu_facts.h"
#include "bench/rounds.h"

#define SIZE (128u << 20) /* many times the part of a CPU's cache that devices may write to */
#define BUDGET_MS 1500
#define WINDOW_NS 4000000u
#define AGREE_PCT 0.3

enum way { TO_DEVICE, TO_HOST, WAYS };

struct copy {
	struct cuda cuda;
	struct gpu gpu;
	cu_ptr device;
	void *host;
	size_t size;
	double rate[WAYS]; /* of the last window */
};

static int to_device(void *ctx)
{
	struct copy *c = ctx;

	return c->cuda.copy_to_device(c->device, c->host, c->size, c->gpu.stream);
}

static int to_host(void *ctx)
{
	struct copy *c = ctx;

	return c->cuda.copy_to_host(c->host, c->device, c->size, c->gpu.stream);
}

static int window(void *ctx, size_t kind, double *ret_rate, struct err *err)
{
	static int (*const ways[WAYS])(void *ctx) = {to_device, to_host};
	struct copy *c = ctx;
	size_t n = gpu_copies(c->rate[kind], c->size, WINDOW_NS);
	int r = gpu_time(&c->gpu, ways[kind], c, c->size, n, ret_rate, err);

	if (r == 0)
		c->rate[kind] = *ret_rate;
	return r;
}

static int allocate(struct copy *c, struct err *err)
{
	const struct cuda *cu = &c->cuda;
	int r = cuda_check(cu, cu->mem_alloc(&c->device, c->size), err, "%s: %zu MiB of its memory",
			   c->gpu.addr, c->size >> 20);

	if (r == 0)
		r = cuda_check(cu, cu->host_alloc(&c->host, c->size, CU_HOST_ALLOC_PORTABLE), err,
			       "%zu MiB of pinned memory", c->size >> 20);
	return r;
}

static int prepare(struct copy *c, const struct options *o, struct err *err)
{
	int r = 0;

	c->size = option_size(o, "size", SIZE);
	if (option_text(o, "node", NULL))
		r = gpu_stand_on((unsigned int)option_number(o, "node", 0), err);
	if (r == 0)
		r = cuda_open(&c->cuda, err);
	if (r == 0)
		r = gpu_open(&c->gpu, &c->cuda, option_text(o, "gpu", ""), err);
	return r == 0 ? allocate(c, err) : r;
}

static void clear(struct copy *c)
{
	if (c->host)
		c->cuda.host_free(c->host);
	if (c->device)
		c->cuda.mem_free(c->device);
	gpu_close(&c->gpu);
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	static const char *const names[WAYS] = {"h2d", "d2h"};
	struct copy c = {0};
	struct rounds rounds = {
		.kinds = WAYS,
		.window = window,
		.ctx = &c,
		.budget_ns = option_number(o, "budget", BUDGET_MS) * 1000000u,
		.agree_pct = AGREE_PCT,
	};
	int r = prepare(&c, o, err);

	if (r == 0)
		r = rounds_warm_up(&rounds, err);
	if (r == 0)
		r = rounds_run(&rounds, err);
	if (r == 0) {
		gpu_facts_report(&c.gpu, NULL, line);
		if (option_text(o, "node", NULL))
			json_object_set_new(line, "node",
					    json_integer((json_int_t)option_number(o, "node", 0)));
		json_object_set_new(line, "size", json_integer((json_int_t)c.size));
		rounds_report(&rounds, names, line);
	}
	clear(&c);
	return r;
}

const struct benchmark gpu_copy = {
	.name = "gpu_copy",
	.summary = "rate of copies between a GPU and pinned memory of the host, each way",
	.options = {{.name = "gpu",
		     .arg = "ADDRESS",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "PCI address of the GPU"},
		    {.name = "node",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .max = 1023,
		     .help = "NUMA node of the host's memory (the kernel's choice)"},
		    {.name = "size",
		     .arg = "SIZE",
		     .type = OPTION_SIZE,
		     .help = "size of one copy (128M)"},
		    OPTION_BUDGET("1500")},
	.run = run,
	.gpu = true,
};
