/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sriov: VFs of each PF of a set. The order that makes it fast and safe: the PF's link up
 * where its VF driver waits for it, autoprobe off so that the kernel's global lock is held
 * for the creation alone, numvfs on each PF, autoprobe on again, then the VFs of all PFs
 * bound side by side, each in a lane of its own.
 */
#include "base/mem.h"
#include "profile/language.h"
#include "sections/overlay.h"
#include "sections/sriov_net.h"
#include "sections/sriov_vf.h"

/* PF drivers whose VFs come up only, or seven times faster, when the PF's link is up. */
static const char *const wants_link[] = {"igb", "bnxt_en"};

enum {
	NUMVFS_MS = 30000, /* a write for one PF, autoprobe off: a second or two */
	PER_VF_MS = 250,   /* ... and what firmware takes for each VF */
	BIND_MS = 30000,
	BINDS = 256, /* of all PFs at a time: a probe sleeps most of its time */
};

/* link: {SET: {up: false}} is what the profile's author wants to be seen at the end. */
static bool to_be_down(const struct section_ctx *ctx, const struct pci_fn *pf)
{
	const struct ynode *section = profile_section(ctx->profile, "link");
	const struct ynode *up = section ? overlay_value(ctx, section, pf, "up") : NULL;

	return up && streq(up->text, "false");
}

static void emit_link(const struct pci_fn *pf, const struct ynode *at, struct plan *plan)
{
	for (size_t i = 0; i < array_len(wants_link); i++) {
		struct change *c;

		if (!pf->driver || !streq(pf->driver, wants_link[i]))
			continue;
		c = plan_add(plan, "sriov", &kind_netlink, STAGE_DEVICES, PHASE_LINK_UP, at->at,
			     "sriov/%s/link", pf->addr);
		change_target(c, "up:%s", pf->addr);
		change_desired(c, "up");
		change_lane(c, "%s", pf->addr);
		c->deadline_ms = BIND_MS;
	}
}

static void emit_autoprobe(const struct pci_fn *pf, const struct ynode *at, bool hold,
			   struct plan *plan)
{
	struct change *c =
		plan_add(plan, "sriov", &kind_attr, STAGE_DEVICES,
			 hold ? PHASE_AUTOPROBE_HOLD : PHASE_AUTOPROBE, at->at,
			 hold ? "sriov/%s/autoprobe_hold" : "sriov/%s/autoprobe", pf->addr);

	change_target(c, "/sys/bus/pci/devices/%s/sriov_drivers_autoprobe", pf->addr);
	change_desired(c, hold ? "0" : "1");
	change_lane(c, "%s", pf->addr);
	c->steady = !hold;
	if (hold)
		change_while(c, "sriov/%s/numvfs", pf->addr);
}

static unsigned int duration_ms(const struct ynode *value, unsigned int otherwise)
{
	uint64_t usec;

	return ynode_number(value, &usec) ? (unsigned int)(usec / 1000) : otherwise;
}

static void emit_numvfs(const struct pci_fn *pf, const struct ynode *at, unsigned int vfs,
			const struct ynode *timeout, struct plan *plan)
{
	struct change *c = plan_add(plan, "sriov", &kind_vf, STAGE_DEVICES, PHASE_NUMVFS, at->at,
				    "sriov/%s/numvfs", pf->addr);

	change_target(c, "numvfs:%s", pf->addr);
	/* "max" of a PF without SR-IOV is no number: the kind says what is missing. */
	if (vfs || at->value.type != VALUE_WORD)
		change_desired(c, "%u", vfs);
	else
		change_desired(c, "max");
	change_lane(c, "%s", pf->addr);
	/* The profile's own limit, or what a healthy PF stays far below. */
	c->deadline_ms = duration_ms(timeout, NUMVFS_MS + vfs * PER_VF_MS);
	c->queues = true; /* one global lock around all of them, on current kernels */
}

/* What the profile says of the VFs of one PF. */
struct vf_wish {
	const struct ynode *at;
	const char *driver;
	unsigned int deadline_ms, workers;
};

static struct vf_wish vf_wish(const struct section_ctx *ctx, const struct ynode *section,
			      const struct pci_fn *pf, const struct ynode *at, unsigned int vfs)
{
	const struct ynode *driver = overlay_value(ctx, section, pf, "vf.driver");
	const struct ynode *workers = overlay_value(ctx, section, pf, "workers");
	uint64_t n = BINDS;

	ynode_number(workers, &n);
	return (struct vf_wish){
		.at = at,
		.driver = driver ? driver->text : "netdev",
		.deadline_ms = duration_ms(overlay_value(ctx, section, pf, "vf.timeout"),
					   BIND_MS + vfs * PER_VF_MS),
		.workers = (unsigned int)n,
	};
}

static void emit_driver(const struct pci_fn *pf, unsigned int vf, const struct vf_wish *wish,
			struct plan *plan)
{
	struct change *c = plan_add(plan, "sriov", &kind_vf, STAGE_DEVICES, PHASE_VF_DRIVER,
				    wish->at->at, "sriov/%s/vf%u/driver", pf->addr, vf);

	change_target(c, "driver:%s/%u", pf->addr, vf);
	change_desired(c, "%s", wish->driver);
	change_lane(c, "%s/vf%u", pf->addr, vf);
	change_waits_for(c, "sriov/%s/numvfs", pf->addr);
	c->remade = true;
	c->deadline_ms = wish->deadline_ms;
	c->parallel = wish->workers;
}

static void emit_pf(const struct section_ctx *ctx, const struct ynode *section,
		    const struct pci_fn *pf, struct plan *plan)
{
	const struct ynode *at = overlay_value(ctx, section, pf, "vfs");
	unsigned int vfs = overlay_vfs(ctx, pf);
	struct vf_wish wish;

	if (!at)
		return;
	if (vfs && !to_be_down(ctx, pf))
		emit_link(pf, at, plan);
	emit_autoprobe(pf, at, true, plan);
	sriov_emit_eswitch(ctx, section, pf, false, plan);
	emit_numvfs(pf, at, vfs, overlay_value(ctx, section, pf, "timeout"), plan);
	sriov_emit_eswitch(ctx, section, pf, true, plan);
	for (unsigned int i = 0; i < vfs; i++)
		sriov_emit_vf_address(ctx, section, pf, i, plan);
	emit_autoprobe(pf, at, false, plan);
	wish = vf_wish(ctx, section, pf, at, vfs);
	for (unsigned int i = 0; i < vfs; i++)
		emit_driver(pf, i, &wish, plan);
	sriov_order(pf, vfs, plan);
}

static int emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan,
		struct err *err)
{
	struct fn_list pfs = {0};

	(void)err;
	overlay_functions(ctx, section, &pfs);
	for (size_t i = 0; i < pfs.n; i++)
		emit_pf(ctx, section, pfs.v[i], plan);
	sriov_net_emit(ctx, section, &pfs, plan);
	vec_free(&pfs);
	return 0;
}

const struct section section_sriov = {
	.name = "sriov",
	.spec = &spec_sriov,
	.help = "Virtual functions of the members of a set.",
	.class = KEY_SETS,
	.awaits_netdevs = true,
	.emit = emit,
};
