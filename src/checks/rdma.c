/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA devices of functions: each with itself (rdma_loopback), and pairs of them (rdma_pairs). A
 * function's device is its own, or the soft device on its netdev; the first port is measured. For a
 * VF, settings of sets are those of its PF.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "checks/probe.h"
#include "kinds/roce.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sections/members.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

enum { BUDGET_MS = 800 };

/* One end: a function of the check. */
struct rdma_fn {
	char *name;		 /* for ids: "0000:3b:00.0", for a VF "0000:3b:00.0/2" */
	const struct pci_fn *fn; /* NULL: absent */
	const struct pci_fn *pf; /* of the set */
	char *ibdev;		 /* NULL: none */
	char *driver;
	char owner[PCI_ADDR_MAX]; /* owner of the RDMA device; "": not known */
};
struct rdma_fns {
	VEC(struct rdma_fn) list;
};

static void fns_free(struct rdma_fns *fns)
{
	for (size_t i = 0; i < fns->list.n; i++) {
		free(fns->list.v[i].name);
		free(fns->list.v[i].ibdev);
		free(fns->list.v[i].driver);
	}
	vec_free(&fns->list);
}
#define cleanup_fns __attribute__((__cleanup__(fns_free)))

/* --- which ---------------------------------------------------------------------------------- */

static void add_end(const struct section_ctx *ctx, const struct pci_fn *pf, const struct pci_fn *fn,
		    char *name, struct rdma_fns *ret)
{
	struct rdma_fn end = {.name = name, .fn = fn, .pf = pf};
	struct cc_place place;

	if (fn) {
		cc_place_find(ctx->root, fn->addr, &place);
		end.ibdev = take_ptr(place.ibdev);
		end.driver = take_ptr(place.driver);
		memcpy(end.owner, place.owner, sizeof(end.owner));
		cc_place_free(&place);
	}
	vec_push(&ret->list, end);
}

static void add_vfs(const struct section_ctx *ctx, const struct pci_fn *pf, struct rdma_fns *ret)
{
	unsigned int vfs = function_vfs(ctx, pf);

	for (unsigned int v = 0; v < vfs; v++) {
		cleanup_free char *addr = NULL;

		read_link_name(ctx->root, &addr, NULL, DEV "%s/virtfn%u", pf->addr, v);
		add_end(ctx, pf, addr ? node_find(ctx->node, addr) : NULL,
			xasprintf("%s/%u", pf->addr, v), ret);
	}
}

static void find_ends(const struct section_ctx *ctx, const char *on, struct rdma_fns *ret)
{
	bool vfs;
	const struct device_set *set = device_sets_find(ctx->sets, set_name_in(on, &vfs));

	for (size_t i = 0; set && i < set->fn.n; i++) {
		const struct pci_fn *fn = set->fn.v[i];

		if (vfs)
			add_vfs(ctx, fn, ret);
		else
			add_end(ctx, fn, fn, xstrdup(fn->addr), ret);
	}
}

/* --- probes --------------------------------------------------------------------------------- */

/* The measurement uses the ToS that the profile gives to the PF's traffic. */
static const char *traffic_class(const struct section_ctx *ctx, const struct pci_fn *pf)
{
	const struct ynode *value = function_value(ctx, "qos", pf, "traffic_class");

	if (!value)
		value = function_value(ctx, "qos", pf, "roce_tos");
	return value ? value->text : NULL;
}

/* False: the function has no RDMA device, and the probe reports it. */
static bool is_usable(struct probe *p, const struct rdma_fn *end)
{
	if (end->ibdev)
		return true;
	if (!end->fn)
		probe_declines(p, CHANGE_CANNOT_MEASURE, "there is no VF %s", end->name);
	else if (!end->driver)
		probe_declines(p, CHANGE_CANNOT_MEASURE,
			       "%s has no driver, and so no RDMA device" TO_MEND
			       "see the modules section",
			       end->name);
	else
		probe_declines(p, CHANGE_CANNOT_MEASURE,
			       "%s has no RDMA device with the driver %s" TO_MEND
			       "see that the module that "
			       "adds one (mlx5_ib, irdma, bnxt_re) is loaded",
			       end->name, end->driver);
	return false;
}

static void needs_end(struct probe *p, const struct section_ctx *ctx, const struct rdma_fn *end)
{
	probe_needs_function(p, end->fn);
	if (!streq(end->owner, end->fn->addr))
		probe_resource(p, "%s", end->owner); /* of a bond: both functions share a device */
	probe_needs_node(p, ctx->node, end->fn->numa);
}

static void judges(struct probe *p, const struct checked *t, const struct rdma_fn *near,
		   const struct rdma_fn *far)
{
	const char *tos = traffic_class(t->ctx, near->pf);
	struct ceilings ceilings =
		probe_ceilings(t->ctx, near->fn, near->ibdev, far->fn, far->ibdev);

	probe_passes(p, t, "size");
	if (tos)
		probe_option(p, "--traffic-class", "%s", tos);
	p->budget_ms = BUDGET_MS;
	p->remedy = "see the port's counters for drops and retransmissions (ethtool -S, "
		    "/sys/class/infiniband/*/ports/*/hw_counters), and what else uses it";
	probe_judges(p, t, "min", "value", &ceilings);
	probe_judges(p, t, "max", "latency", NULL);
	probe_judges(p, t, "min_messages", "messages", NULL);
}

static void want_loopback(const struct checked *t, struct probes *ret)
{
	struct rdma_fns ends cleanup_fns = {0};

	find_ends(t->ctx, ynode_text(t->map, "on", ""), &ends);
	for (size_t i = 0; i < ends.list.n; i++) {
		const struct rdma_fn *end = &ends.list.v[i];
		struct probe *p = probe_add(ret, t, "%s", end->name);

		probe_subject(p, "rdma_loopback of %s", end->name);
		if (!is_usable(p, end))
			continue;
		probe_option(p, "--device", "%s", end->ibdev);
		needs_end(p, t->ctx, end);
		judges(p, t, end, end);
	}
}

static void want_pair(const struct checked *t, const struct rdma_fn *near,
		      const struct rdma_fn *far, struct probes *ret)
{
	struct probe *p;

	if (!far) {
		p = probe_add(ret, t, "%s", near->name);
		probe_subject(p, "rdma_pairs of %s", near->name);
		probe_declines(
			p, CHANGE_CANNOT_MEASURE,
			"it has no partner; a pair needs two of the set, or one of each set");
		return;
	}
	p = probe_add(ret, t, "%s-%s", near->name, far->name);
	probe_subject(p, "rdma_pairs from %s to %s", near->name, far->name);
	if (!is_usable(p, near) || !is_usable(p, far))
		return;
	probe_option(p, "--device", "%s", near->ibdev);
	probe_option(p, "--peer", "%s", far->ibdev);
	needs_end(p, t->ctx, near);
	needs_end(p, t->ctx, far);
	judges(p, t, near, far);
}

/* Two sets: the first function with the first, and so on. One set: a ring. */
static void want_pairs(const struct checked *t, struct probes *ret)
{
	const char *on = ynode_text(t->map, "on", ""), *with = ynode_text(t->map, "with", NULL);
	struct rdma_fns ends cleanup_fns = {0}, others cleanup_fns = {0};

	find_ends(t->ctx, on, &ends);
	find_ends(t->ctx, with ? with : on, &others);
	for (size_t i = 0; i < ends.list.n; i++) {
		size_t k = with ? i : (i + 1) % ends.list.n;
		bool alone = k >= others.list.n || (!with && ends.list.n < 2);

		want_pair(t, &ends.list.v[i], alone ? NULL : &others.list.v[k], ret);
	}
}

CHECK(rdma_loopback, .required = {"on", "min"},
      .optional = {"floor", "max", "min_messages", "size"}, .shares = "line pcie set",
      .measure = want_loopback, .slow = FAULT_RDMA_LOOPBACK);
CHECK(rdma_pairs, .required = {"on", "min"},
      .optional = {"with", "floor", "max", "min_messages", "size"}, .shares = "line pcie set",
      .measure = want_pairs, .slow = FAULT_RDMA_PAIRS);
