/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs: what their driver knows to be wrong (gpu_health), copies to and from the memory of
 * their own NUMA node (gpu_copy), between two of them (gpu_peer), and writes of a NIC from and
 * to their memory (gpu_rdma).
 */
#include "gate/probe.h"
#include "kinds/roce.h"
#include "node/nearness.h"

/*
 * The first use of a GPU may initialise all of them, where persistence mode is off: seconds
 * each. That is no fault, only a wait.
 */
enum { TIMEOUT_MS = 30000 };

static const char *const copy_remedy = "see the GPU's PCIe link and clocks under load (`nvidia-smi "
				       "-q -d PERFORMANCE,CLOCK`), and what else uses it";

static const struct device_set *set_of(const struct section_ctx *ctx, const struct ynode *check,
				       const char *key)
{
	return device_sets_find(ctx->sets, ynode_text(check, key, ""));
}

static void give_time(struct probe *p)
{
	p->shares_process = true;
	if (!p->timeout_ms)
		p->timeout_ms = TIMEOUT_MS;
}

static void give_size(struct probe *p, const struct ynode *check)
{
	const char *size = ynode_text(check, "size", NULL);

	if (size)
		probe_option(p, "--size", "%s", size);
}

static double lower(double a, double b)
{
	return a <= 0 ? b : b <= 0 ? a : a < b ? a : b;
}

/* --- health --------------------------------------------------------------------------------- */

static void want_health(const struct section_ctx *ctx, const char *name, const struct ynode *check,
			struct probes *ret)
{
	const struct device_set *gpus = set_of(ctx, check, "on");

	for (size_t i = 0; gpus && i < gpus->fn.n; i++) {
		const char *addr = gpus->fn.v[i]->addr;
		struct probe *p = probe_add(ret, name, check, "%s", addr);

		probe_subject(p, "gpu_health of %s", addr);
		probe_option(p, "--gpu", "%s", addr);
		probe_resource(p, "%s", addr);
		probe_wants_no_faults(p);
		give_time(p);
	}
}

/* --- copies to and from the host -------------------------------------------------------------- */

static void want_copy(const struct section_ctx *ctx, const char *name, const struct ynode *check,
		      struct probes *ret)
{
	const struct device_set *gpus = set_of(ctx, check, "on");

	for (size_t i = 0; gpus && i < gpus->fn.n; i++) {
		const struct pci_fn *gpu = gpus->fn.v[i];
		struct probe *p = probe_add(ret, name, check, "%s", gpu->addr);
		struct ceilings ceilings = {.pcie = pcie_ceiling(ctx->root, gpu->addr)};

		probe_subject(p, "gpu_copy of %s", gpu->addr);
		probe_option(p, "--gpu", "%s", gpu->addr);
		if (gpu->numa >= 0)
			probe_option(p, "--node", "%d", gpu->numa);
		give_size(p, check);
		probe_needs_function(p, gpu);
		probe_needs_node(p, ctx->node, gpu->numa);
		probe_judges(p, check, "min", "value", QUANTITY_RATE, &ceilings);
		p->remedy = copy_remedy;
		give_time(p);
	}
}

/* --- between two ---------------------------------------------------------------------------- */

static void want_one_peer(const struct section_ctx *ctx, const char *name,
			  const struct ynode *check, const struct pci_fn *a, const struct pci_fn *b,
			  struct probes *ret)
{
	struct probe *p = probe_add(ret, name, check, "%s-%s", a->addr, b->addr);
	struct ceilings ceilings = {
		.pcie = lower(pcie_ceiling(ctx->root, a->addr), pcie_ceiling(ctx->root, b->addr))};

	probe_subject(p, "gpu_peer between %s and %s", a->addr, b->addr);
	probe_option(p, "--gpu", "%s", a->addr);
	probe_option(p, "--peer", "%s", b->addr);
	give_size(p, check);
	probe_needs_function(p, a);
	probe_needs_function(p, b);
	probe_judges(p, check, "min", "value", QUANTITY_RATE, &ceilings);
	p->remedy = "see the state of NVLinks and their errors (`nvidia-smi nvlink -s`, `-e`), and "
		    "nvidia-fabricmanager's log";
	give_time(p);
}

/*
 * A ring: each GPU with the next, the last with the first. That uses every GPU's links both
 * ways; all pairs of eight would take 28 turns, and behind an NVSwitch tell the same.
 */
static void want_peer(const struct section_ctx *ctx, const char *name, const struct ynode *check,
		      struct probes *ret)
{
	const struct device_set *gpus = set_of(ctx, check, "on");
	size_t n = gpus ? gpus->fn.n : 0, pairs = n > 2 ? n : n / 2;

	for (size_t i = 0; i < pairs; i++)
		want_one_peer(ctx, name, check, gpus->fn.v[i], gpus->fn.v[(i + 1) % n], ret);
	if (n == 1) {
		const char *addr = gpus->fn.v[0]->addr;
		struct probe *p = probe_add(ret, name, check, "%s", addr);

		probe_subject(p, "gpu_peer of %s", addr);
		probe_declines(p, CHANGE_CANNOT_MEASURE,
			       "it is the only one of the set, and a pair needs two");
	}
}

/* --- with a NIC ------------------------------------------------------------------------------- */

static void judge_direct(struct probe *p, const struct section_ctx *ctx, const struct ynode *check,
			 const struct pci_fn *nic, const struct pci_fn *gpu, const char *ibdev)
{
	struct ceilings ceilings = {
		.pcie = lower(pcie_ceiling(ctx->root, nic->addr),
			      pcie_ceiling(ctx->root, gpu->addr)),
	};
	double line = probe_line_rate(ctx, nic, ibdev);

	/* through one port and back: no more than PCIe carries */
	ceilings.line = line > 0 ? lower(line, ceilings.pcie) : 0;
	probe_judges(p, check, "min", "value", QUANTITY_RATE, &ceilings);
	p->remedy =
		"see whether a PCIe switch is above both of them (`railhead survey`), ACS of the "
		"bridges between them, and the IOMMU mode";
}

static void want_direct(const struct section_ctx *ctx, const char *name, const struct ynode *check,
			const struct pci_fn *nic, const struct pci_fn *gpu, struct probes *ret)
{
	struct probe *p = probe_add(ret, name, check, "%s-%s", nic->addr, gpu->addr);
	struct cc_place place;

	probe_subject(p, "gpu_rdma of %s with %s", nic->addr, gpu->addr);
	cc_place_find(ctx->root, nic->addr, &place);
	if (place.ibdev) {
		probe_option(p, "--gpu", "%s", gpu->addr);
		probe_option(p, "--device", "%s", place.ibdev);
		give_size(p, check);
		probe_needs_function(p, nic);
		probe_needs_function(p, gpu);
		probe_needs_node(p, ctx->node, nic->numa); /* a CPU of it polls */
		judge_direct(p, ctx, check, nic, gpu, place.ibdev);
		give_time(p);
	} else {
		probe_declines(p, CHANGE_CANNOT_MEASURE,
			       "%s has no RDMA device; see that its RDMA module (mlx5_ib, irdma, "
			       "bnxt_re) is loaded",
			       nic->addr);
	}
	cc_place_free(&place);
}

/* Each NIC with the GPU that is its own by nearness, as pairs: judges; else the nearest. */
static void want_rdma(const struct section_ctx *ctx, const char *name, const struct ynode *check,
		      struct probes *ret)
{
	const struct device_set *gpus = set_of(ctx, check, "on");
	const struct device_set *nics = set_of(ctx, check, "with");
	struct pairs pairs = {0};

	if (!gpus || !nics || gpus->fn.n == 0) /* expect: is about a set that has none */
		return;
	pairs_find(ctx->root, nics->fn.v, nics->fn.n, gpus->fn.v, gpus->fn.n, &pairs);
	for (size_t i = 0; i < pairs.n; i++) {
		const struct pair *p = &pairs.v[i];

		want_direct(ctx, name, check, p->nic, p->gpu ? p->gpu : p->nearest, ret);
	}
	vec_free(&pairs);
}

const struct probe_family probe_gpu_health = {
	.run = "gpu_health", .slow = FAULT_GPU_HEALTH, .want = want_health, .no_load = true};
const struct probe_family probe_gpu_copy = {
	.run = "gpu_copy", .slow = FAULT_GPU_COPY, .want = want_copy};
const struct probe_family probe_gpu_peer = {
	.run = "gpu_peer", .slow = FAULT_GPU_PEER, .want = want_peer};
const struct probe_family probe_gpu_rdma = {
	.run = "gpu_rdma", .slow = FAULT_GPU_RDMA, .want = want_rdma};
