/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies between two GPUs, each direction alone: "to_peer" and "from_peer" in B/s; "value" is the
 * lower rate; "link" is the path between them, NVLink or PCIe, if NVML reports it.
 *
 * Each GPU must have access to the memory of the other. Without access CUDA copies through the
 * host's memory, and the rate would be that of another path.
 */
#include "bench/gpu_peer.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "bench/cuda.h"
#include "bench/gpu_facts.h"
#include "bench/rounds.h"

#define SIZE (128u << 20)
#define BUDGET_MS 1500
#define WINDOW_NS 4000000u
#define AGREE_PCT 0.3

enum way { TO_PEER, FROM_PEER, WAYS };

struct peers {
	struct cuda cuda;
	struct gpu gpu[WAYS]; /* gpu[TO_PEER] is --gpu and copies to the peer; gpu[FROM_PEER] is the
				 peer and copies back */
	cu_ptr memory[WAYS];  /* of the same GPUs */
	enum way way;	      /* of the current window */
	double rate[WAYS];    /* of the last window */
	size_t size;
};

/* The stream is that of the source, because the source's copy engine pushes. */
static int copy(void *ctx)
{
	const struct peers *p = ctx;
	enum way from = p->way, to = from == TO_PEER ? FROM_PEER : TO_PEER;

	return p->cuda.copy_to_peer(p->memory[to], p->gpu[to].ctx, p->memory[from],
				    p->gpu[from].ctx, p->size, p->gpu[from].stream);
}

static int window(void *ctx, size_t kind, double *ret_rate, struct err *err)
{
	struct peers *p = ctx;
	int r = gpu_use(&p->gpu[kind], err);

	p->way = (enum way)kind;
	if (r == 0)
		r = gpu_time(&p->gpu[kind], copy, p, p->size,
			     gpu_copies(p->rate[kind], p->size, WINDOW_NS), ret_rate, err);
	if (r == 0)
		p->rate[kind] = *ret_rate;
	return r;
}

/* --- preparing --------------------------------------------------------------------------- */

/* Finds out whether CUDA denies access by the hardware's design or because of a fault. */
static int no_access(const struct gpu *from, const struct gpu *to, struct err *err)
{
	bool by_design = false;
	const char *why = NULL;

	if (gpu_path_between(from->addr, to->addr, &by_design, &why) == GPU_PATH_NONE)
		return err_set(err, by_design ? -EOPNOTSUPP : -ENXIO,
			       "%s can't access the memory of %s: %s", from->addr, to->addr, why);
	return err_set(err, -ENXIO,
		       "%s can't access the memory of %s, and NVML reports no reason: see the "
		       "NVLinks and the fabric's state in `nvidia-smi -q`, nvidia-fabricmanager's "
		       "log, and ACS of the bridges between them",
		       from->addr, to->addr);
}

/* Gives the first GPU, in its context, access to the memory of the second. */
static int allow(struct peers *p, const struct gpu *from, const struct gpu *to, struct err *err)
{
	const struct cuda *c = &p->cuda;
	int can = 0, r;

	r = cuda_check(c, c->can_access_peer(&can, from->dev, to->dev), err,
		       "query whether %s can access %s", from->addr, to->addr);
	if (r == 0 && !can)
		return no_access(from, to, err);
	if (r == 0)
		r = gpu_use(from, err);
	if (r < 0)
		return r;
	r = c->enable_peer(to->ctx, 0);
	if (r == CU_PEER_ACCESS_ALREADY_ENABLED)
		return 0;
	return cuda_check(c, r, err, "access of %s to %s", from->addr, to->addr);
}

static int open_one(struct peers *p, enum way which, const char *addr, struct err *err)
{
	int r = gpu_open(&p->gpu[which], &p->cuda, addr, err);

	if (r == 0)
		r = cuda_check(&p->cuda, p->cuda.mem_alloc(&p->memory[which], p->size), err,
			       "%s: %zu MiB of its memory", addr, p->size >> 20);
	return r;
}

static int prepare(struct peers *p, const struct options *o, struct err *err)
{
	const char *gpu = option_text(o, "gpu", ""), *peer = option_text(o, "peer", "");
	int r;

	p->size = option_size(o, "size", SIZE);
	if (streq(gpu, peer))
		return err_set(err, -EINVAL, "%s can't be its own peer", gpu);
	r = cuda_open(&p->cuda, err);
	if (r == 0)
		r = open_one(p, TO_PEER, gpu, err);
	if (r == 0)
		r = open_one(p, FROM_PEER, peer, err);
	if (r == 0)
		r = allow(p, &p->gpu[TO_PEER], &p->gpu[FROM_PEER], err);
	if (r == 0)
		r = allow(p, &p->gpu[FROM_PEER], &p->gpu[TO_PEER], err);
	return r;
}

static void clear(struct peers *p)
{
	for (int i = 0; i < WAYS; i++) {
		if (p->memory[i] && gpu_use(&p->gpu[i], NULL) == 0)
			p->cuda.mem_free(p->memory[i]);
		gpu_close(&p->gpu[i]);
	}
}

/* ------------------------------------------------------------------------------------------ */

static void report(struct peers *p, json_t *line)
{
	const struct gpu *peer = &p->gpu[FROM_PEER];
	bool by_design;
	const char *why;
	enum gpu_path path = gpu_path_between(p->gpu[TO_PEER].addr, peer->addr, &by_design, &why);

	p->gpu[TO_PEER].setup_ns += peer->setup_ns;
	gpu_facts_report(&p->gpu[TO_PEER], peer->addr, line);
	json_object_set_new(line, "peer", json_string(peer->addr));
	json_object_set_new(line, "peer_access", json_true());
	if (path == GPU_PATH_NVLINK || path == GPU_PATH_PCIE)
		json_object_set_new(line, "link",
				    json_string(path == GPU_PATH_NVLINK ? "nvlink" : "pcie"));
	json_object_set_new(line, "size", json_integer((json_int_t)p->size));
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	static const char *const names[WAYS] = {"to_peer", "from_peer"};
	struct peers p = {0};
	struct rounds rounds = {
		.kinds = WAYS,
		.window = window,
		.ctx = &p,
		.budget_ns = option_number(o, "budget", BUDGET_MS) * 1000000u,
		.agree_pct = AGREE_PCT,
	};
	int r = prepare(&p, o, err);

	if (r == 0)
		r = rounds_warm_up(&rounds, err);
	if (r == 0)
		r = rounds_run(&rounds, err);
	if (r == 0) {
		report(&p, line);
		rounds_report(&rounds, names, line);
	}
	clear(&p);
	return r;
}

const struct benchmark gpu_peer = {
	.name = "gpu_peer",
	.summary = "rate of copies between two GPUs, each way (NVLink or PCIe)",
	.options = {{.name = "gpu",
		     .arg = "ADDRESS",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "PCI address of a GPU"},
		    {.name = "peer",
		     .arg = "ADDRESS",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "PCI address of the other GPU"},
		    {.name = "size",
		     .arg = "SIZE",
		     .type = OPTION_SIZE,
		     .help = "size of one copy (128M)"},
		    OPTION_BUDGET("1500")},
	.run = run,
	.gpu = true,
};
