/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_peer: copies between two GPUs. */
#include "checks/gpu.h"

static void want_one_peer(const struct checked *t, const struct pci_fn *a, const struct pci_fn *b,
			  struct probes *ret)
{
	struct probe *p = probe_add(ret, t, "%s-%s", a->addr, b->addr);
	struct ceilings ceilings = probe_ceilings(t->ctx, a, NULL, b, NULL);

	probe_subject(p, "gpu_peer between %s and %s", a->addr, b->addr);
	probe_option(p, "--gpu", "%s", a->addr);
	probe_option(p, "--peer", "%s", b->addr);
	probe_passes(p, t, "size");
	probe_needs_function(p, a);
	probe_needs_function(p, b);
	probe_judges(p, t, "min", "value", &ceilings);
	p->remedy = "see the state of NVLinks and their errors (`nvidia-smi nvlink -s`, `-e`), and "
		    "nvidia-fabricmanager's log";
	gpu_starts(p, t);
}

/*
 * A ring: each GPU with the next, the last with the first. The ring uses every GPU's links in both
 * directions; all pairs of eight GPUs would take 28 turns, and behind an NVSwitch give the same
 * information.
 */
static void want_peer(const struct checked *t, struct probes *ret)
{
	const struct device_set *gpus = gpu_set(t, "on");
	size_t n = gpus ? gpus->fn.n : 0, pairs = n > 2 ? n : n / 2;

	for (size_t i = 0; i < pairs; i++)
		want_one_peer(t, gpus->fn.v[i], gpus->fn.v[(i + 1) % n], ret);
	if (n == 1) {
		const char *addr = gpus->fn.v[0]->addr;
		struct probe *p = probe_add(ret, t, "%s", addr);

		probe_subject(p, "gpu_peer of %s", addr);
		probe_declines(p, CHANGE_CANNOT_MEASURE,
			       "it is the only GPU of the set, and a pair needs two");
	}
}

CHECK(gpu_peer, .nvidia = true, .required = {"on", "min"}, .optional = {"floor", "size"},
      .shares = "pcie set", .measure = want_peer, .slow = FAULT_GPU_PEER);
