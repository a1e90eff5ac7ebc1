/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about VFs. */
#include "base/mem.h"
#include "kinds/vf.h"
#include "profile/synonyms.h"
#include "profile/tutorials.h"
#include "profile/view.h"
#include "sections/sriov.h"
#include "sys/devlink.h"

/* Whether the set or a wider one has vfs; another rule reports that there is no such set. */
static bool vfs_given(const struct ruling *r, const char *name)
{
	const struct selector *s = find_set(r, name);
	cleanup_view struct ynode *view = s ? set_view(r->p, s) : NULL;

	return !s || tree_get(view, "sriov.vfs");
}

static void vfs_are_counted(struct ruling *r)
{
	const struct ynode *sriov = section(r, "sriov");

	for (size_t i = 0; i < count(sriov, YAML_MAP); i++) {
		const char *name = sriov->keys.v[i]->text;
		cleanup_free char *key = xasprintf("sriov.%.64s.vfs", name);

		if (sriov->items.v[i]->kind == YAML_MAP && !vfs_given(r, name) &&
		    !synonym_is_in(sriov->items.v[i], "vfs"))
			rule_error(r, sriov->items.v[i], key,
				   "missing; a count of VFs, or max, is required");
	}
}

static void vfio_has_iommu(struct ruling *r)
{
	const struct ynode *sriov = section(r, "sriov"), *off = what_disables_iommu(r);

	for (size_t i = 0; off && i < count(sriov, YAML_MAP); i++) {
		const struct ynode *set = sriov->items.v[i];
		cleanup_free char *key = xasprintf("sriov.%.64s.vf", sriov->keys.v[i]->text);

		if (is_zero(ynode_get(set, "vfs")) ||
		    !ynode_is_word(ynode_get(ynode_get(set, "vf"), "driver"), VF_DRIVER_VFIO))
			continue;
		rule_error(r, ynode_get(set, "vf"), key,
			   "vfio-pci needs the IOMMU, which is disabled at %s; write driver: "
			   "netdev (VFs for containers need no IOMMU) or "
			   "iommu: passthrough" TUTORIAL_SRIOV_IOMMU,
			   seen(r, off));
	}
}

/* --- each set ----------------------------------------------------------------------------- */

static void none_needs_no_more(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	if (is_zero(tree_get(view, "sriov.vfs")) && tree_get(view, "sriov.vf"))
		set_warn(r, s, view, "sriov.vf",
			 "vfs: 0 creates no VF that this could apply to; leave it out");
}

static void netdev_keys_have_one(struct ruling *r, const struct selector *s,
				 const struct ynode *view)
{
	static const char *const keys[] = {"sriov.vf.mtu", "sriov.vf.unmanaged"};
	const struct ynode *driver = tree_get(view, "sriov.vf.driver");

	if (!ynode_is_word(driver, VF_DRIVER_VFIO) && !ynode_is_word(driver, VF_DRIVER_NONE))
		return;
	for (size_t i = 0; i < array_len(keys); i++)
		if (tree_get(view, keys[i]))
			set_error(r, s, view, keys[i],
				  "VFs with driver: %s (at %s) have no netdev; leave it out",
				  driver->text, seen(r, driver));
}

/* A list must have an address for each VF, and belong to one PF only. */
static void addresses_go_round(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	static const char *const lists[] = {"sriov.vf.mac", "sriov.vf.guid"};
	const struct device_set *here = r->sets ? device_sets_find(r->sets, s->name) : NULL;
	uint64_t vfs = 0;

	for (size_t i = 0; i < array_len(lists); i++) {
		const struct ynode *list = tree_get(view, lists[i]);

		if (!list || list->kind != YAML_LIST)
			continue;
		if (ynode_number(tree_get(view, "sriov.vfs"), &vfs) && list->items.n < vfs)
			set_error(
				r, s, view, lists[i],
				"%zu addresses for %llu VFs; write one address per VF, or derived",
				list->items.n, (unsigned long long)vfs);
		if (s->expect > 1 || (here && here->fn.n > 1))
			set_error(r, s, view, lists[i],
				  "this set has more than one function, and the VFs of each would "
				  "get the same addresses; write derived, or one set per function");
	}
}

static void rates_are_in_order(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	set_in_order(r, s, view, "sriov.vf.min_rate", "sriov.vf.max_rate");
}

/* Settings that Ethernet has and InfiniBand lacks. */
static const struct {
	const char *path, *why;
} of_ethernet[] = {
	{"sriov.vf.mac", "VFs of InfiniBand have GUIDs; write guid:"},
	{"sriov.vf.vlan", "VFs of InfiniBand have no VLANs; set partitions in the subnet manager"},
	{"sriov.vf.trust", "only Ethernet VFs have this setting; leave it out"},
	{"sriov.vf.spoof_check", "only Ethernet VFs have this setting; leave it out"},
};

static void addresses_are_of_the_link(struct ruling *r, const struct selector *s,
				      const struct ynode *view)
{
	bool ib = set_is_infiniband(r, s);

	for (size_t i = 0; ib && i < array_len(of_ethernet); i++)
		if (tree_get(view, of_ethernet[i].path))
			set_error(r, s, view, of_ethernet[i].path, "%s", of_ethernet[i].why);
	if (ib && ynode_is_word(tree_get(view, "sriov.mode"), ESWITCH_SWITCHDEV))
		set_error(r, s, view, "sriov.mode",
			  "an InfiniBand port has no eswitch; write legacy, or leave the key out");
	if (set_is_ethernet(r, s) && tree_get(view, "sriov.vf.guid"))
		set_error(r, s, view, "sriov.vf.guid", "VFs of Ethernet have MACs; write mac:");
}

static void mtu_fits_the_pf(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	uint64_t vf, pf;

	if (!ynode_number(tree_get(view, "sriov.vf.mtu"), &vf) ||
	    !ynode_number(tree_get(view, "link.mtu"), &pf))
		return;
	if (vf > pf)
		set_error(r, s, view, "sriov.vf.mtu",
			  "larger than the PF's MTU, %llu (link at %s), which limits its VFs; "
			  "raise that MTU",
			  (unsigned long long)pf, seen(r, tree_get(view, "link.mtu")));
}

/*
 * Ids that only VFs have: those with MLX5_PCI_DEV_IS_VF in mlx5_core_pci_table
 * (drivers/net/ethernet/mellanox/mlx5/core/main.c).
 */
static bool id_is_of_vfs(int vendor, int device)
{
	static const int vfs[] = {0x1012, 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e, 0xa2d3};

	for (size_t i = 0; vendor == 0x15b3 && i < array_len(vfs); i++)
		if (device == vfs[i])
			return true;
	return false;
}

/* A set of VFs is correct in a guest, and has no VFs of its own. */
static void members_are_no_vfs(struct ruling *r, const struct selector *s, const struct ynode *view)
{
	const struct ynode *vfs = tree_get(view, "sriov.vfs");
	const struct selector *of = s;

	for (size_t i = 0; of && of->device < 0 && i < r->p->devices.n; i++)
		of = find_set(r, of->in);
	if (vfs && !is_zero(vfs) && of && id_is_of_vfs(of->vendor, of->device))
		set_warn(r, s, view, "sriov.vfs",
			 "%04x:%04x is the id of VFs, which have no VFs (a ConnectX-7 is "
			 "15b3:1021); write the id of the PF, "
			 "or leave sriov: out in a guest" TUTORIAL_VF_ID,
			 (unsigned int)of->vendor, (unsigned int)of->device);
}

const struct set_rule sriov_set_rules[] = {
	{"none-needs-no-more", none_needs_no_more},
	{"netdev-keys-have-one", netdev_keys_have_one},
	{"addresses-go-round", addresses_go_round},
	{"rates-are-in-order", rates_are_in_order},
	{"addresses-are-of-the-link", addresses_are_of_the_link},
	{"mtu-fits-the-pf", mtu_fits_the_pf},
	{"members-are-no-vfs", members_are_no_vfs},
	NO_MORE_SET_RULES,
};

/* --- the machine, when it is known -------------------------------------------------------- */

/*
 * Only warns, because the machine is at fault, whether one card or all of them lack VFs (ConnectX-7
 * comes with SRIOV_EN=0): the rest of the profile applies. The stage names the firmware's remedy
 * for each PF, and the node is blocked.
 */
static void warn_of_lack(struct ruling *r, const struct selector *s, const struct ynode *view,
			 const struct pci_fn *fn)
{
	if (!fn->totalvfs)
		set_warn(r, s, view, "sriov.vfs",
			 "%s has no SR-IOV capability; turn it on in its firmware (SRIOV_EN, "
			 "NUM_OF_VFS) or the BIOS",
			 fn->addr);
	else
		set_warn(r, s, view, "sriov.vfs",
			 "%s supports at most %u VFs; ask for fewer, or raise its firmware's limit "
			 "(NUM_OF_VFS)",
			 fn->addr, fn->totalvfs);
}

static void pfs_have_the_vfs(struct ruling *r)
{
	bool here = r->sets && section(r, "sriov");
	const struct pci_functions *functions = here ? node_functions(r->node) : NULL;

	for (size_t i = 0; here && i < functions->n; i++) {
		struct set_list sets = {0};
		cleanup_view struct ynode *view = NULL;
		uint64_t vfs;

		sets_with(r->p, r->sets, &functions->v[i], &sets);
		view = view_new(r->p, &sets);
		if (ynode_number(tree_get(view, "sriov.vfs"), &vfs) &&
		    vfs > functions->v[i].totalvfs)
			warn_of_lack(r, sets.list.v[0], view, &functions->v[i]);
		vec_free(&sets.list);
	}
}

const struct rule sriov_rules[] = {
	RULE_OF_WHOLE("vfs-are-counted", vfs_are_counted),
	RULE("vfio-has-iommu", vfio_has_iommu),
	RULE_OF_WHOLE("pfs-have-the-vfs", pfs_have_the_vfs),
	NO_MORE_RULES,
};
