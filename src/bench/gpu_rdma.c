/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUDirect RDMA: writes of a NIC, out of one port and back, from a GPU's memory into the same
 * GPU's memory. No byte passes through the host's memory; the PCIe path between NIC and GPU carries
 * each byte both ways.
 *
 * The NIC gets the memory by dma-buf, the kernel's interface (needs the open nvidia modules and an
 * RDMA driver with dma-buf). If that fails, it gets the memory by address, which needs
 * nvidia_peermem. "path" names the way that worked.
 */
#include "bench/gpu_rdma.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/pool.h"
#include "bench/cuda.h"
#include "bench/facts.h"
#include "bench/gpu_facts.h"
#include "bench/rdma_link.h"
#include "bench/rounds.h"

#define SIZE (1u << 20)
#define BUDGET_MS 1500
#define WINDOW_NS 2000000u
#define AGREE_PCT 0.5
#define GPU_PAGE (2u << 20) /* the unit in which CUDA allocates larger memory */
#define PATTERN 0x5a
#define ARRIVE_NS 500000000u

struct direct {
	struct cuda cuda;
	struct gpu gpu;
	struct rdma_link *link;
	cu_ptr memory[RDMA_SIDES];
	int dmabuf[RDMA_SIDES]; /* -1: none */
	unsigned char *look;	/* pinned memory of the host: the bytes that arrived */
	size_t size, len;	/* size of a write, length of each memory */
	const char *path;
	struct err no_dmabuf; /* why dma-buf failed; empty while path is "dma-buf" */
};

/* --- memory ------------------------------------------------------------------------------ */

/*
 * A file descriptor for GPU memory. The memory must be whole pages of the host, which CUDA's
 * allocations of 2M pages are. CUDA Driver API reference, cuMemGetHandleForAddressRange.
 */
static int export_memory(struct direct *d, enum rdma_side side, struct err *err)
{
	const struct cuda *c = &d->cuda;
	int supported = 0, fd = -1, r;

	if (!c->range_handle)
		return err_set(err, -EOPNOTSUPP, "the driver is older than CUDA 11.7");
	r = cuda_check(c,
		       c->device_attribute(&supported, CU_ATTRIBUTE_DMA_BUF_SUPPORTED, d->gpu.dev),
		       err, "query for dma-buf");
	if (r == 0 && !supported)
		return err_set(err, -EOPNOTSUPP,
			       "this driver exports no dma-buf: install the open nvidia modules");
	if (r == 0)
		r = cuda_check(c,
			       c->range_handle(&fd, d->memory[side], d->len,
					       CU_RANGE_HANDLE_DMA_BUF_FD, 0),
			       err, "export of GPU memory");
	if (r == 0)
		d->dmabuf[side] = fd;
	return r;
}

static int give_dmabuf(struct direct *d, struct err *err)
{
	int r = 0;

	for (int side = 0; side < RDMA_SIDES && r == 0; side++) {
		r = export_memory(d, (enum rdma_side)side, err);
		if (r == 0)
			r = rdma_link_dmabuf(d->link, (enum rdma_side)side, d->dmabuf[side], 0,
					     d->len, d->memory[side], err);
	}
	return r;
}

static int give_address(struct direct *d, struct err *err)
{
	int r = 0;

	for (int side = 0; side < RDMA_SIDES && r == 0; side++)
		r = rdma_link_memory(d->link, (enum rdma_side)side,
				     (void *)(uintptr_t)d->memory[side], d->len, err);
	return r;
}

static int give_memory(struct direct *d, struct err *err)
{
	struct err second = {0};

	d->path = "dma-buf";
	if (give_dmabuf(d, &d->no_dmabuf) == 0)
		return 0;
	d->path = "peermem";
	if (give_address(d, &second) == 0)
		return 0;
	return err_set(err, -ENXIO,
		       "the NIC can't access the GPU's memory: load the open nvidia modules, or "
		       "nvidia_peermem, which needs the RDMA stack of DOCA-OFED (by dma-buf: %s; "
		       "by nvidia_peermem: %s)",
		       d->no_dmabuf.text, second.text);
}

static int allocate(struct direct *d, struct err *err)
{
	const struct cuda *c = &d->cuda;
	int r = 0;

	d->len = (d->size * RDMA_LISTS + GPU_PAGE - 1) / GPU_PAGE * GPU_PAGE;
	for (int side = 0; side < RDMA_SIDES && r == 0; side++) {
		r = cuda_check(c, c->mem_alloc(&d->memory[side], d->len), err,
			       "%s: %zu MiB of its memory", d->gpu.addr, d->len >> 20);
		if (r == 0)
			r = cuda_check(c,
				       c->memset_bytes(d->memory[side],
						       side == RDMA_NEAR ? PATTERN : 0, d->len),
				       err, "%s: fill its memory", d->gpu.addr);
	}
	if (r == 0)
		r = cuda_check(c, c->host_alloc((void **)&d->look, d->size, CU_HOST_ALLOC_PORTABLE),
			       err, "%zu KiB of pinned memory", d->size >> 10);
	return r;
}

/* --- measuring --------------------------------------------------------------------------- */

static int window(void *ctx, size_t kind, double *ret_rate, struct err *err)
{
	const struct direct *d = ctx;
	double messages = 0;
	int r = rdma_link_write_window(d->link, d->size, WINDOW_NS, &messages, err);

	(void)kind;
	*ret_rate = messages * (double)d->size;
	return r;
}

/* Copies the far memory into d->look. */
static int read_far(struct direct *d, struct err *err)
{
	const struct cuda *c = &d->cuda;
	int e = c->copy_to_host(d->look, d->memory[RDMA_FAR], d->size, d->gpu.stream);

	if (e == CU_SUCCESS)
		e = c->event_record(d->gpu.to, d->gpu.stream);
	if (e == CU_SUCCESS)
		e = c->event_wait(d->gpu.to);
	return cuda_check(c, e, err, "%s: read its memory", d->gpu.addr);
}

static bool has_arrived(const struct direct *d)
{
	for (size_t i = 0; i < d->size; i++)
		if (d->look[i] != PATTERN)
			return false;
	return true;
}

/* Waits up to ARRIVE_NS for the bytes: a write may complete before the GPU sees its bytes. */
static int verify(struct direct *d, struct err *err)
{
	uint64_t end = clock_ns() + ARRIVE_NS;
	int r;

	do {
		r = read_far(d, err);
		if (r < 0 || has_arrived(d))
			return r;
		sleep_ns(1000000);
	} while (clock_ns() < end);
	err_set(err, -EIO,
		"%s completed writes whose bytes did not arrive in the memory of %s: see the "
		"IOMMU's faults in the kernel's log, and ACS of the bridges between them",
		d->link->side[RDMA_NEAR].end.device, d->gpu.addr);
	return err_fault(err, -EIO, FAULT_RDMA_DATA);
}

/* --- preparing --------------------------------------------------------------------------- */

static int open_link(struct direct *d, const struct options *o, struct err *err)
{
	struct rdma_end end = {
		.device = option_text(o, "device", ""),
		.port = (unsigned int)option_number(o, "port", 1),
		.gid_index = option_text(o, "gid-index", NULL)
				     ? (int)option_number(o, "gid-index", 0)
				     : -1,
	};
	struct rdma_link_options wanted = {
		.end = {end, end},
		.traffic_class = (unsigned int)option_number(o, "traffic-class", 0),
		.sl = (unsigned int)option_number(o, "sl", 0),
	};

	return rdma_link_open(&d->link, &wanted, err);
}

/* Runs the polling thread on a CPU of the NIC's node. */
static int stand(const char *device, struct err *err)
{
	cleanup_close int rootfd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int node = facts_rdma_node(rootfd, device);

	return node < 0 ? 0 : gpu_stand_on((unsigned int)node, err);
}

/* The port comes first, because its check takes no time and most often reports "not yet". */
static int prepare(struct direct *d, const struct options *o, struct err *err)
{
	int r = open_link(d, o, err);

	d->size = option_size(o, "size", SIZE);
	if (r == 0)
		r = stand(option_text(o, "device", ""), err);
	if (r == 0)
		r = cuda_open(&d->cuda, err);
	if (r == 0)
		r = gpu_open(&d->gpu, &d->cuda, option_text(o, "gpu", ""), err);
	if (r == 0)
		r = allocate(d, err);
	if (r == 0)
		r = give_memory(d, err);
	return r == 0 ? rdma_link_connect(d->link, err) : r;
}

static void clear(struct direct *d)
{
	rdma_link_close(d->link); /* before its memory is freed, which the NIC may still read */
	for (int side = 0; side < RDMA_SIDES; side++) {
		if (d->dmabuf[side] >= 0)
			close(d->dmabuf[side]);
		if (d->memory[side])
			d->cuda.mem_free(d->memory[side]);
	}
	if (d->look)
		d->cuda.host_free(d->look);
	gpu_close(&d->gpu);
}

static void report(const struct direct *d, json_t *line)
{
	const struct rdma_link_side *s = &d->link->side[RDMA_NEAR];

	gpu_facts_report(&d->gpu, NULL, line);
	json_object_set_new(line, "device", json_string(s->end.device));
	json_object_set_new(line, "port", json_integer(s->end.port));
	json_object_set_new(line, "path", json_string(d->path));
	if (d->no_dmabuf.code)
		json_object_set_new(line, "no_dmabuf", json_string(d->no_dmabuf.text));
	json_object_set_new(line, "size", json_integer((json_int_t)d->size));
}

static int run(const struct options *o, json_t *line, struct err *err)
{
	static const char *const names[] = {"write"};
	struct direct d = {.dmabuf = {-1, -1}};
	struct rounds rounds = {
		.kinds = 1,
		.window = window,
		.ctx = &d,
		.budget_ns = option_number(o, "budget", BUDGET_MS) * 1000000u,
		.agree_pct = AGREE_PCT,
	};
	int r = prepare(&d, o, err);

	if (r == 0)
		r = rounds_warm_up(&rounds, err);
	if (r == 0)
		r = verify(&d, err);
	if (r == 0)
		r = rounds_run(&rounds, err);
	if (r == 0) {
		report(&d, line);
		rounds_report(&rounds, names, line);
	}
	clear(&d);
	return r;
}

const struct benchmark gpu_rdma = {
	.name = "gpu_rdma",
	.summary = "write rate of an RDMA device from and to a GPU's memory",
	.options = {{.name = "gpu",
		     .arg = "ADDRESS",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "PCI address of the GPU"},
		    {.name = "device",
		     .arg = "NAME",
		     .type = OPTION_TEXT,
		     .required = true,
		     .help = "RDMA device: mlx5_0"},
		    {.name = "port",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .min = 1,
		     .max = 255,
		     .help = "port of the RDMA device (1)"},
		    {.name = "gid-index",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .max = 255,
		     .help = "GID of RoCE v2 (IPv4 before global before link-local)"},
		    {.name = "size",
		     .arg = "SIZE",
		     .type = OPTION_SIZE,
		     .help = "size of a write (1M)"},
		    {.name = "traffic-class",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .max = 255,
		     .help = "traffic class of RoCE: DSCP * 4 (0)"},
		    {.name = "sl",
		     .arg = "N",
		     .type = OPTION_NUMBER,
		     .max = 15,
		     .help = "service level (0)"},
		    OPTION_BUDGET("1500")},
	.run = run,
	.gpu = true,
};
