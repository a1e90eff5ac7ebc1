/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_health: what GPUs' driver knows to be wrong. */
#include "checks/gpu.h"

static void want_health(const struct checked *t, struct probes *ret)
{
	const struct device_set *gpus = gpu_set(t, "on");

	for (size_t i = 0; gpus && i < gpus->fn.n; i++) {
		const char *addr = gpus->fn.v[i]->addr;
		struct probe *p = probe_add(ret, t, "%s", addr);

		probe_subject(p, "gpu_health of %s", addr);
		probe_option(p, "--gpu", "%s", addr);
		probe_resource(p, "%s", addr);
		probe_wants_no_faults(p);
		gpu_gives_time(p);
	}
}

CHECK(gpu_health, .required = {"on"}, .measure = want_health, .slow = FAULT_GPU_HEALTH,
      .no_load = true);
