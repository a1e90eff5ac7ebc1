/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_fabric: whether GPUs have joined the NVLink fabric of their node. */
#include "base/str.h"
#include "checks/gpu.h"
#include "profile/yaml.h"

static char *others_of(const struct device_set *gpus, size_t self)
{
	struct str out = {0};

	for (size_t i = 0; i < gpus->fn.n; i++)
		if (i != self)
			str_addf(&out, "%s%s", out.len ? "," : "", gpus->fn.v[i]->addr);
	return out.len ? str_take(&out) : NULL;
}

static void want_fabric(const struct checked *t, struct probes *ret)
{
	const struct device_set *gpus = gpu_set(t, "on");

	for (size_t i = 0; gpus && i < gpus->fn.n; i++) {
		struct probe *p = gpu_asks(t, gpus->fn.v[i], ret);
		cleanup_free char *others = others_of(gpus, i);

		probe_passes(p, t, "mode");
		if (others && streq(ynode_text(t->map, "mode", ""), "multinode"))
			probe_option(p, "--others", "%s", others);
	}
}

CHECK(gpu_fabric, .nvidia = true, .required = {"on", "mode"}, .measure = want_fabric,
      .slow = FAULT_GPU_FABRIC, .no_load = true);
