/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_copy: copies to and from the memory of a GPU's own NUMA node. */
#include "checks/gpu.h"
#include "profile/section.h"

static void want_copy(const struct checked *t, struct probes *ret)
{
	const struct device_set *gpus = gpu_set(t, "on");

	for (size_t i = 0; gpus && i < gpus->fn.n; i++) {
		const struct pci_fn *gpu = gpus->fn.v[i];
		struct probe *p = probe_add(ret, t, "%s", gpu->addr);
		struct ceilings ceilings = probe_ceilings(t->ctx, gpu, NULL, gpu, NULL);

		probe_subject(p, "gpu_copy of %s", gpu->addr);
		probe_option(p, "--gpu", "%s", gpu->addr);
		if (gpu->numa >= 0)
			probe_option(p, "--node", "%d", gpu->numa);
		probe_passes(p, t, "size");
		probe_needs_function(p, gpu);
		probe_needs_node(p, t->ctx->node, gpu->numa);
		probe_judges(p, t, "min", "value", &ceilings);
		p->remedy = "see the GPU's PCIe link and clocks under load (`nvidia-smi -q -d "
			    "PERFORMANCE,CLOCK`), and what else uses it";
		gpu_starts(p, t);
	}
}

CHECK(gpu_copy, .nvidia = true, .required = {"on", "min"}, .optional = {"floor", "size"},
      .shares = "pcie set", .measure = want_copy, .slow = FAULT_GPU_COPY);
