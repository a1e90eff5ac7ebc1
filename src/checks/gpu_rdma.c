/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_rdma: writes of a NIC from and to a GPU's memory, through one port and back. */
#include <string.h>

#include "base/mem.h"
#include "checks/gpu.h"
#include "kinds/roce.h"
#include "profile/section.h"

static void want_pair(const struct checked *t, const struct pci_fn *nic, const struct pci_fn *gpu,
		      void *probes)
{
	struct probe *p = probe_add(probes, t, "%s-%s", nic->addr, gpu->addr);
	struct cc_place place;
	struct ceilings ceilings;

	probe_subject(p, "gpu_rdma of %s with %s", nic->addr, gpu->addr);
	cc_place_find(t->ctx->root, nic->addr, &place);
	if (place.ibdev) {
		probe_option(p, "--gpu", "%s", gpu->addr);
		probe_option(p, "--device", "%s", place.ibdev);
		probe_passes(p, t, "size");
		probe_needs_function(p, nic);
		if (!streq(place.owner, nic->addr))
			probe_resource(p, "%s", place.owner);
		probe_needs_function(p, gpu);
		probe_needs_node(p, t->ctx->node, nic->numa); /* a CPU of that node polls */
		ceilings = probe_ceilings(t->ctx, nic, place.ibdev, gpu, NULL);
		probe_judges(p, t, "min", "value", &ceilings);
		p->remedy = "see whether a PCIe switch is above both of them (`railhead survey`), "
			    "ACS of the bridges between them, and the IOMMU mode";
		gpu_starts(p, t);
	} else {
		probe_declines(p, CHANGE_CANNOT_MEASURE,
			       "%s has no RDMA device" TO_MEND
			       "see that its RDMA module (mlx5_ib, irdma, "
			       "bnxt_re) is loaded",
			       nic->addr);
	}
	cc_place_free(&place);
}

static void want_rdma(const struct checked *t, struct probes *ret)
{
	gpu_pairs(t, want_pair, ret);
}

CHECK(gpu_rdma, .nvidia = true, .required = {"on", "with", "min"}, .optional = {"floor", "size"},
      .shares = "line pcie set", .measure = want_rdma, .slow = FAULT_GPU_RDMA);
