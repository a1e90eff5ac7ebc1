/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sections/sriov_net.h"

#include "base/mem.h"
#include "base/str.h"

#define RULES "/run/udev/rules.d/70-railhead-vf.rules"
#define NETWORK "/run/systemd/network/00-railhead-vf.network"

enum { SET_MS = 30000 }; /* one value of one VF: its firmware is asked */

/* --- each VF ----------------------------------------------------------------------------- */

static struct change *add(const struct pci_fn *pf, unsigned int vf, const struct ynode *at,
			  enum phase phase, const char *what, struct plan *plan)
{
	struct change *c = plan_add(plan, "sriov", &kind_vf, STAGE_DEVICES, phase, at->at,
				    "sriov/%s/vf%u/%s", pf->addr, vf, what);

	change_target(c, "%s:%s/%u", what, pf->addr, vf);
	change_desired(c, "%s", at->text);
	change_lane(c, "%s/vf%u", pf->addr, vf);
	c->remade = true;
	c->deadline_ms = SET_MS;
	return c;
}

static void emit_vfs(const struct section_ctx *ctx, const struct ynode *section,
		     const struct pci_fn *pf, struct plan *plan)
{
	const struct ynode *mtu = overlay_value(ctx, section, pf, "vf.mtu");
	const struct ynode *msix = overlay_value(ctx, section, pf, "vf.msix");
	unsigned int vfs = overlay_vfs(ctx, pf);

	for (unsigned int i = 0; i < vfs; i++) {
		if (msix && !streq(msix->text, "0")) /* 0: as many as the PF gives by itself */
			change_waits_for(add(pf, i, msix, PHASE_VF_ADDRESS, "msix", plan),
					 "sriov/%s/numvfs", pf->addr);
		if (mtu) {
			struct change *c = add(pf, i, mtu, PHASE_VF_LINK, "mtu", plan);

			change_waits_for(c, "sriov/%s/vf%u/driver", pf->addr, i);
			change_file(c, "/sys/bus/pci/devices/%s/virtfn%u/net/*/mtu", pf->addr, i);
		}
	}
}

/* --- network managers -------------------------------------------------------------------- */

/* The value that asks for it, or NULL. */
static const struct ynode *wants_unmanaged(const struct section_ctx *ctx,
					   const struct ynode *section, const struct pci_fn *pf)
{
	const struct ynode *value = overlay_value(ctx, section, pf, "vf.unmanaged");

	return value && ynode_is_true(value) ? value : NULL;
}

/*
 * A VF's netdev is known by its PF, whose uevent file has its address on a line of its own;
 * names and addresses of VFs are known only when they exist. NetworkManager obeys the property
 * NM_UNMANAGED, systemd-networkd a file that matches ours (systemd 243 and later).
 */
static const struct ynode *make_rules(const struct section_ctx *ctx, const struct ynode *section,
				      const struct fn_list *pfs, struct str *ret)
{
	const struct ynode *why = NULL;

	for (size_t i = 0; i < pfs->n; i++) {
		const struct ynode *value = wants_unmanaged(ctx, section, pfs->v[i]);

		if (!value)
			continue;
		if (!why)
			str_addf(ret,
				 FILE_HEADER "ACTION==\"remove\", GOTO=\"railhead_vf_end\"\n"
					     "SUBSYSTEM!=\"net\", GOTO=\"railhead_vf_end\"\n",
				 ctx->profile->name);
		why = value;
		str_addf(ret,
			 "ATTR{device/physfn/uevent}==\"*PCI_SLOT_NAME=%s*\", "
			 "ENV{NM_UNMANAGED}=\"1\", ENV{RAILHEAD_UNMANAGED}=\"1\"\n",
			 pfs->v[i]->addr);
	}
	if (why)
		str_add(ret, "LABEL=\"railhead_vf_end\"\n");
	return why;
}

/*
 * In the stage that makes the VFs, and before them: then all PFs are there, with the drivers
 * by which a set may choose them. The rules that an earlier profile of this boot left must go;
 * the other file says nothing without them.
 */
static void emit_unmanaged(const struct section_ctx *ctx, const struct ynode *section,
			   const struct fn_list *pfs, struct plan *plan)
{
	cleanup_str struct str rules = {0}, network = {0};
	const struct ynode *why = make_rules(ctx, section, pfs, &rules);

	if (why) {
		str_addf(&network,
			 FILE_HEADER
			 "[Match]\nProperty=RAILHEAD_UNMANAGED=1\n\n[Link]\nUnmanaged=yes\n",
			 ctx->profile->name);
		plan_add_file(plan, "sriov", STAGE_DEVICES, why->at, NETWORK, network.s,
			      "sriov/unmanaged/networkd");
	}
	if (why || root_exists(ctx->root, RULES))
		plan_add_file(plan, "sriov", STAGE_DEVICES, (why ? why : section)->at, RULES,
			      str_get(&rules), "sriov/unmanaged/udev");
}

void sriov_net_emit(const struct section_ctx *ctx, const struct ynode *section,
		    const struct fn_list *pfs, struct plan *plan)
{
	emit_unmanaged(ctx, section, pfs, plan);
	for (size_t i = 0; i < pfs->n; i++)
		emit_vfs(ctx, section, pfs->v[i], plan);
}
