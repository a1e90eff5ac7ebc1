/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/pairs.h"

#include <errno.h>
#include <pci/header.h>

#include "base/mem.h"
#include "base/str.h"
#include "kargs/kargs.h"
#include "kinds/checks.h"
#include "kinds/pci.h"
#include "node/node.h"
#include "node/p2p.h"
#include "profile/yaml.h"
#include "sections/want_arg.h"
#include "sys/pci_express.h"

/* The bits that the kernel sets with an IOMMU: pci_std_enable_acs() of drivers/pci/pci.c. */
enum {
	ISOLATED = PCI_ACS_CTRL_VALID | PCI_ACS_CTRL_REQ_RED | PCI_ACS_CTRL_CMPLT_RED |
		   PCI_ACS_CTRL_FORWARD,
};

bool pairs_set_acs(const struct ynode *section)
{
	return streq(ynode_text(section, "acs", ""), "set");
}

bool pair_is_near(const struct pair *p, const struct ynode *within)
{
	return p->gpu && p->how <= (enum nearness)within->value.number;
}

struct job {
	const struct section_ctx *ctx;
	enum p2p_wish wish;
	bool bits;
	struct str value;
};

static void add_ports(struct job *job, const struct strv *ports, size_t from, size_t to)
{
	uint16_t control = job->wish == P2P_WISH_DIRECT	      ? 0
			   : job->wish == P2P_WISH_TRANSLATED ? ISOLATED | PCI_ACS_CTRL_TRANS
							      : ISOLATED;

	for (size_t i = from; i < to; i++)
		p2p_argument_add(&job->value, ports->v[i], control, job->bits);
}

static void add_port(struct job *job, const struct strv *ports, size_t at, uint16_t without)
{
	if (at < ports->n)
		p2p_argument_add(&job->value, ports->v[at], ISOLATED & ~without, job->bits);
}

/*
 * Direct traffic turns around below the bridge common to both. Traffic translated by the IOMMU
 * turns around at the highest port that is only above the NIC. `translated` requires an IOMMU, so
 * the kernel has set the other bits of that port, and all bits of the other ports.
 */
static int add_pair(struct job *job, const struct pair *p, struct err *err)
{
	cleanup_strv struct strv mover = {0}, gpu = {0}, own = {0};
	size_t common = 0;
	int r = pci_ports_above(job->ctx->root, p->mover->addr, &mover, err);

	if (r == 0)
		r = pci_ports_above(job->ctx->root, p->gpu->addr, &gpu, err);
	if (r == 0 && job->wish == P2P_WISH_ISOLATED)
		r = pci_ports_above(job->ctx->root, p->nic->addr, &own, err);
	if (r < 0)
		return r;
	while (common < mover.n && common < gpu.n && streq(mover.v[common], gpu.v[common]))
		common++;
	if (job->wish == P2P_WISH_TRANSLATED) {
		add_ports(job, &mover, common, common < mover.n ? common + 1 : common);
		return 0;
	}
	if (job->wish == P2P_WISH_DIRECT && p->mover != p->nic) {
		/* the three ports whose bits differ from the kernel's (p2p_off_for_direct()) */
		if (common)
			add_port(job, &mover, 0, PCI_ACS_CTRL_VALID);
		add_port(job, &mover, common, PCI_ACS_CTRL_REQ_RED);
		add_port(job, &gpu, common, PCI_ACS_CTRL_CMPLT_RED);
		return 0;
	}
	add_ports(job, &mover, job->wish == P2P_WISH_ISOLATED ? 0 : common, mover.n);
	add_ports(job, &gpu, common, gpu.n);
	add_ports(job, &own, 0, own.n);
	return 0;
}

static bool all_are_known(const struct pairs *pairs, const struct ynode *within)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (!pair_is_near(&pairs->v[i], within) || !pairs->v[i].mover)
			return false;
	return true;
}

static bool any_has_data_direct(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (pairs->v[i].mover != pairs->v[i].nic)
			return true;
	return false;
}

static int want_argument(struct job *job, const struct pairs *pairs, const struct ynode *acs,
			 struct kargs *wanted, struct err *err)
{
	bool data_direct = any_has_data_direct(pairs);
	cleanup_free char *arg = NULL;
	int r = 0;

	if (!job->bits && (job->wish != P2P_WISH_DIRECT || data_direct))
		return err_set(err, -EOPNOTSUPP,
			       "acs: set: Linux %s has no pci=config_acs=, which %u:%u needs for "
			       "every setting except p2p: direct without Data Direct; use Linux "
			       "6.11, or leave ACS to the kernel and the BIOS (acs: judge)",
			       job->ctx->node->kernel, acs->at.line, acs->at.col);
	if (data_direct && job->wish == P2P_WISH_TRANSLATED)
		return err_set(err, -EOPNOTSUPP,
			       "acs: set: NICs of this node move data by Data Direct functions, "
			       "and no ACS bits are known for direct traffic that the IOMMU "
			       "checks; write p2p: direct or isolated");
	for (size_t i = 0; r == 0 && i < pairs->n; i++)
		r = add_pair(job, &pairs->v[i], err);
	if (r < 0 || !job->value.len)
		return r;
	arg = p2p_argument(&job->value, job->bits);
	kargs_want(wanted, acs, arg);
	return 0;
}

/* While a NIC, a GPU or a VPD is missing, the next boot keeps the argument of this boot. */
static void keep_present(const struct section_ctx *ctx, const struct ynode *acs,
			 struct kargs *wanted)
{
	cleanup_free char *present = acs_argument(ctx->node->cmdline);

	if (present)
		kargs_want(wanted, acs, present);
}

int pairs_kargs(const struct section_ctx *ctx, const struct ynode *section, struct kargs *wanted,
		struct err *err)
{
	const struct device_set *nics =
		device_sets_find(ctx->sets, ynode_text(section, "nics", ""));
	const struct device_set *gpus =
		device_sets_find(ctx->sets, ynode_text(section, "gpus", ""));
	const struct ynode *p2p = ynode_get(section, "p2p");
	struct job job = {.ctx = ctx, .bits = p2p_kernel_has_bits(ctx->node->kernel)};
	struct pairs pairs = {0};
	int r = 0;

	if (!pairs_set_acs(section) || !p2p || !nics || !gpus)
		return 0;
	job.wish = (enum p2p_wish)p2p->value.number;
	pairs_find(ctx->root, ctx->node, nics->fn.v, nics->fn.n, gpus->fn.v, gpus->fn.n, &pairs);
	if (device_set_holds(nics) && device_set_holds(gpus) &&
	    all_are_known(&pairs, ynode_get(section, "within")))
		r = want_argument(&job, &pairs, ynode_get(section, "acs"), wanted, err);
	else
		keep_present(ctx, ynode_get(section, "acs"), wanted);
	vec_free(&pairs);
	str_free(&job.value);
	return r;
}

/* --- without a node -------------------------------------------------------------------------- */

static const struct ynode *lacks_bridges(const struct node *node, const struct ynode *section)
{
	return pairs_set_acs(section) && !node_functions(node)->n ? ynode_get(section, "acs")
								  : NULL;
}

const struct kargs_need pairs_needs[] = {
	{"acs", lacks_bridges,
	 "acs: the argument names the bridges of the machine; look at a node"},
	NO_MORE_NEEDS,
};
