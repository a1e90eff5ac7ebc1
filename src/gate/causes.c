/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gate/causes.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "profile/section.h"
#include "sys/pci_link.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"
#define CPU "/sys/devices/system/cpu/cpu%d/"

/* NICs of 100G and more are tuned to this value; firmware leaves 512. */
enum { READ_REQUEST_USUAL = 4096 };

void cause_add(struct causes *causes, bool suspect, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vec_push(&causes->list, ((struct cause){NULL, xvasprintf(fmt, ap), suspect}));
	va_end(ap);
}

void cause_part(struct causes *causes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	causes->list.v[causes->list.n - 1].part = xvasprintf(fmt, ap);
	va_end(ap);
}

void causes_compare(struct causes *causes, const struct binding *then, const struct binding *now)
{
	if (!binding_same_machine(then, now))
		return;
	for (size_t i = 0; i < causes->list.n; i++) {
		struct cause *c = &causes->list.v[i];
		const struct binding_part *was = c->part ? binding_find(then, c->part) : NULL;
		const struct binding_part *is = c->part ? binding_find(now, c->part) : NULL;
		bool same = was && is && streq(was->value, is->value);
		char *seen = c->seen;

		if (!was || !is || (same && !c->suspect))
			continue;
		c->seen = same ? xasprintf("%s, as at the last good look", seen)
			       : xasprintf("%s, %s at the last good look", seen, was->value);
		c->suspect = !same;
		free(seen);
	}
}

static void add_group(struct str *out, const struct causes *causes, bool suspect)
{
	const char *sep = "";

	for (size_t i = 0; i < causes->list.n; i++) {
		if (causes->list.v[i].suspect != suspect)
			continue;
		str_addf(out, "%s%s", sep, causes->list.v[i].seen);
		sep = "; ";
	}
}

char *causes_text(const struct causes *causes)
{
	struct str likely = {0}, besides = {0}, out = {0};

	add_group(&likely, causes, true);
	add_group(&besides, causes, false);
	if (likely.len)
		str_addf(&out, "likely: %s", likely.s);
	if (besides.len)
		str_addf(&out, "%s%s%s", out.len ? " (also seen: " : "seen: ", besides.s,
			 out.len ? ")" : "");
	str_free(&likely);
	str_free(&besides);
	return out.s ? str_take(&out) : xstrdup("");
}

void causes_free(struct causes *causes)
{
	for (size_t i = 0; i < causes->list.n; i++) {
		free(causes->list.v[i].part);
		free(causes->list.v[i].seen);
	}
	vec_free(&causes->list);
}

/* --- of a function ----------------------------------------------------------------------- */

static void look_at_link(const struct root *root, const char *addr, enum pci_link_quantity q,
			 const char *what, double unit, const char *sign, struct causes *ret)
{
	struct pci_link link cleanup_pci_link = {0};
	uint32_t best;

	pci_link_read(root, addr, q, &link);
	best = pci_link_best(&link);
	if (!link.now)
		return;
	if (best > link.now)
		cause_add(ret, true, "%s of %s is %g%s, and both ends are capable of %g%s", what,
			  link.addr, link.now / unit, sign, best / unit, sign);
	else
		cause_add(ret, false, "%s of %s %g%s", what, link.addr, link.now / unit, sign);
	cause_part(ret, "link %s of %s", q == PCI_LINK_WIDTH ? "width" : "speed", link.addr);
}

static void look_at_read_request(const struct root *root, const char *addr, struct causes *ret)
{
	int bytes = read_max_read_request(root, addr);

	if (bytes < 0)
		return;
	cause_add(ret, bytes < READ_REQUEST_USUAL, "MaxReadRequest of %s %d%s", addr, bytes,
		  bytes < READ_REQUEST_USUAL ? " (pcie.max_read_request: 4096 is usual)" : "");
	cause_part(ret, "MaxReadRequest of %s", addr);
}

static void look_at_iommu(const struct root *root, const char *addr, struct causes *ret)
{
	cleanup_free char *type = read_iommu(root, addr);

	if (!type)
		cause_add(ret, false, "no IOMMU");
	else if (streq(type, "DMA"))
		cause_add(ret, true,
			  "IOMMU of %s translates and flushes at once (DMA; kernel_args.iommu: "
			  "passthrough does not)",
			  addr);
	else
		cause_add(ret, false, "IOMMU of %s %s", addr, type);
	cause_part(ret, "IOMMU of %s", addr);
}

static void look_at_numa(const struct section_ctx *ctx, const char *addr, struct causes *ret)
{
	const struct pci_fn *fn = node_find(ctx->node, addr);

	if (!fn || cpus_count(&ctx->node->nodes) < 2)
		return;
	if (fn->numa < 0)
		cause_add(ret, true, "the firmware does not report the NUMA node of %s", addr);
	else
		cause_add(ret, false, "%s is on NUMA node %d", addr, fn->numa);
}

void causes_of_function(const struct section_ctx *ctx, const char *addr, struct causes *ret)
{
	look_at_link(ctx->root, addr, PCI_LINK_WIDTH, "PCIe width", 1, " lanes", ret);
	look_at_link(ctx->root, addr, PCI_LINK_SPEED, "PCIe speed", 10, " GT/s", ret);
	look_at_read_request(ctx->root, addr, ret);
	look_at_iommu(ctx->root, addr, ret);
	look_at_numa(ctx, addr, ret);
}

/* --- of nodes ---------------------------------------------------------------------------- */

static uint64_t read_number(const struct root *root, const char *fmt, int cpu)
{
	cleanup_free char *path = NULL;
	uint64_t v = 0;

	if (asprintf(&path, fmt, cpu) < 0)
		abort();
	return read_u64(root, &v, NULL, "%s", path) == 0 ? v : 0;
}

/* The counters run since boot: any throttling since then is worth reporting. */
static void look_at_throttling(const struct root *root, const struct cpus *cpus, struct causes *ret)
{
	uint64_t events = 0;
	int held = -1;

	for (int c = cpus_next(cpus, -1); c >= 0; c = cpus_next(cpus, c)) {
		uint64_t most = read_number(root, CPU "cpufreq/cpuinfo_max_freq", c);
		uint64_t allowed = read_number(root, CPU "cpufreq/scaling_max_freq", c);

		events += read_number(root, CPU "thermal_throttle/core_throttle_count", c);
		if (held < 0 && allowed && allowed < most)
			held = c;
	}
	if (events)
		cause_add(ret, true, "CPUs were throttled for heat %llu times since boot",
			  (unsigned long long)events);
	else
		cause_add(ret, false, "no thermal throttling counted");
	if (held >= 0)
		cause_add(ret, true,
			  "CPU %d is held below its highest frequency (scaling_max_freq)", held);
}

/*
 * The governor "powersave" always means the lowest frequency, unless the CPU itself chooses the
 * frequency (intel_pstate, amd-pstate-epp: Documentation/admin-guide/pm/): there it is the default
 * and allows full speed.
 */
static void look_at_governor(const struct root *root, int node, const struct cpus *cpus,
			     struct causes *ret)
{
	cleanup_free char *governor = NULL, *driver = NULL;

	if (!read_governor(root, cpus, &governor, &driver))
		return;
	cause_add(ret,
		  streq(governor, "powersave") && !streq(driver, "intel_pstate") &&
			  !streq(driver, "amd-pstate-epp"),
		  "frequency governor %s (%s)", governor, driver);
	cause_part(ret, "frequency governor of node %d", node);
}

static void look_at_balancing(const struct section_ctx *ctx, struct causes *ret)
{
	int on = read_numa_balancing(ctx->root);

	if (on < 0 || cpus_count(&ctx->node->nodes) < 2)
		return;
	cause_add(ret, on, "automatic NUMA balancing is %s", on ? "on" : "off");
	cause_part(ret, "automatic NUMA balancing");
}

void causes_of_nodes(const struct section_ctx *ctx, const struct cpus *nodes, struct causes *ret)
{
	for (int n = cpus_next(nodes, -1); n >= 0; n = cpus_next(nodes, n)) {
		struct cpus cpus;

		node_cpus_of(ctx->root, n, &cpus);
		if (!cpus_count(&cpus))
			continue;
		look_at_throttling(ctx->root, &cpus, ret);
		look_at_governor(ctx->root, n, &cpus, ret);
	}
	look_at_balancing(ctx, ret);
}
