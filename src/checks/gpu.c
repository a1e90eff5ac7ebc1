/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks/gpu.h"

#include <string.h>

#include "node/nearness.h"
#include "plan/change.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sys/read.h"

/*
 * The first use of a GPU may initialise all GPUs if persistence mode is off, which takes seconds
 * for each. That is a wait, not a fault.
 */
enum { TIMEOUT_MS = 30000 };

/*
 * The open modules print "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15 ...",
 * the proprietary modules "NVIDIA UNIX x86_64 Kernel Module  535.104.05 ..." (nv-procfs.c of the
 * open modules).
 */
const char *gpu_nvidia_flavor(const struct root *root)
{
	cleanup_free char *text = NULL;

	if (read_text(root, &text, NULL, GPU_NVIDIA_VERSION) < 0)
		return NULL;
	return strstr(text, "Open Kernel Module") ? "open" : "proprietary";
}

int gpu_unbound(struct change *c, const char *addr, const char *driver)
{
	c->now.fault = FAULT_GPU_DRIVER;
	change_observe(c, "%s", driver ? driver : "no driver");
	if (!driver)
		change_reason(
			c,
			"no driver is bound to %s: load nvidia (modules.load), and see NVRM in "
			"the kernel log for why it rejected the GPU",
			addr);
	else if (streq(driver, "nouveau"))
		change_reason(c, "nouveau is bound to it: add nouveau to modules.blacklist, also "
				 "in the initramfs");
	else
		change_reason(c, "%s is bound to %s: was the GPU given to a virtual machine?",
			      driver, addr);
	c->now.state = CHANGE_DIFFERS;
	return 0;
}

const struct device_set *gpu_set(const struct checked *t, const char *key)
{
	return device_sets_find(t->ctx->sets, ynode_text(t->map, key, ""));
}

struct probe *gpu_asks(const struct checked *t, const struct pci_fn *gpu, struct probes *ret)
{
	struct probe *p = probe_add(ret, t, "%s", gpu->addr);

	probe_subject(p, "%s of %s", t->check->run, gpu->addr);
	probe_option(p, "--gpu", "%s", gpu->addr);
	probe_resource(p, "%s", gpu->addr);
	probe_wants_no_faults(p);
	gpu_starts(p, t);
	return p;
}

void gpu_starts(struct probe *p, const struct checked *t)
{
	p->shares_process = true;
	p->late = true;
	probe_starts_driver(p, t->ctx->node);
	if (!p->timeout_ms)
		p->timeout_ms = TIMEOUT_MS;
}

void gpu_pairs(const struct checked *t,
	       void (*each)(const struct checked *t, const struct pci_fn *nic,
			    const struct pci_fn *gpu, void *arg),
	       void *arg)
{
	const struct device_set *gpus = gpu_set(t, "on"), *nics = gpu_set(t, "with");
	struct pairs pairs = {0};

	if (!gpus || !nics || gpus->fn.n == 0)
		return;
	pairs_find(t->ctx->root, t->ctx->node, nics->fn.v, nics->fn.n, gpus->fn.v, gpus->fn.n,
		   &pairs);
	for (size_t i = 0; i < pairs.n; i++) {
		const struct pair *p = &pairs.v[i];

		each(t, p->nic, p->gpu ? p->gpu : p->nearest, arg);
	}
	vec_free(&pairs);
}
