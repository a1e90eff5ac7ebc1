/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a PF says of one of its VFs: addresses, VLAN, rates and switches. Two ways lead there:
 * rtnetlink on the PF's netdev (of InfiniBand: its IPoIB netdev), and for GUIDs and policy the
 * files that the vendor's own driver package (OFED) puts below the PF.
 *
 * All values are compared and shown as text, one form for each, so that "derived" is the
 * only one that needs to be worked out.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "kinds/netlink.h"
#include "kinds/target.h"
#include "kinds/vf_values.h"

int vf_not_offered(const struct vf *vf, enum vf_item i, struct err *err)
{
	if (i == VF_GUID)
		return err_set(err, -EOPNOTSUPP,
			       "the driver %s offers no guid for the VFs of %s: it is for "
			       "InfiniBand, with ib_ipoib loaded",
			       vf->driver, vf->pf);
	return err_set(err, -EOPNOTSUPP,
		       "the driver %s offers no %s for VFs; leave sriov.SET.vf.%s out", vf->driver,
		       vf_key[i], vf_key[i]);
}

/* --- looking ------------------------------------------------------------------------------- */

/*
 * Fills what is there. pf: what the PF told, or NULL if netlink is not needed. -EOPNOTSUPP
 * if it says nothing of this VF.
 */
static int observe(const struct root *root, const struct vf *vf, const struct pf_info *pf,
		   struct vf_values *ret, struct err *err)
{
	const struct vf_info *info = pf ? pf_info_vf(pf, vf->index) : NULL;

	memset(ret, 0, sizeof(*ret));
	if (pf && !info)
		return err_set(
			err, -EOPNOTSUPP,
			"the driver %s tells nothing of VF %u by netlink, so that nothing but "
			"its driver, mtu and msix can be set in sriov.SET.vf",
			vf->driver, vf->index);
	if (info)
		values_of(pf, info, ret);
	return vf->ofed ? values_of_files(root, vf, ret, err) : 0;
}

/* What the driver does not even tell is not offered; else it differs or it does not. */
static int compare(struct change *c, const struct vf *vf, const struct vf_values *wanted,
		   const struct vf_values *have, struct err *err)
{
	struct err missing = {0};

	c->state = CHANGE_SAME;
	for (enum vf_item i = 0; i < VF_ITEMS; i++) {
		if (!wanted->of[i][0])
			continue;
		if (!have->of[i][0])
			vf_not_offered(vf, i, &missing);
		else if (!streq(wanted->of[i], have->of[i]))
			c->state = CHANGE_DIFFERS;
	}
	return target_lacks(c, &missing, err);
}

static int judge(const struct kind_ctx *ctx, struct change *c, const struct vf *vf,
		 const struct pf_info *pf, struct vf_values *wanted, struct err *err)
{
	static const struct pf_info none;
	struct vf_values have;
	cleanup_free char *text = NULL;
	int r = observe(ctx->root, vf, pf, &have, err);

	if (r == 0)
		r = values_resolve(ctx->root, vf, pf ? pf : &none, wanted, err);
	if (r < 0)
		return r;
	text = values_describe(wanted, &have);
	change_observe(c, "%s", text);
	r = compare(c, vf, wanted, &have, err);
	if (r == 0 && c->state == CHANGE_DIFFERS && strstr(c->desired, "derived")) {
		cleanup_free char *want = values_describe(wanted, wanted);

		change_reason(c, "derived, that is: %s", want);
	}
	return r;
}

int look_vf_address(const struct kind_ctx *ctx, struct change *c, const char *text, struct err *err)
{
	struct vf vf cleanup(vf_free) = {0};
	struct vf_values wanted;
	const struct heard *h;
	int r = values_parse(c->desired, &wanted, err);

	if (r == 0)
		r = vf_find(ctx->root, text, &vf, err);
	if (r == -ENOENT)
		return target_no_vf(c);
	if (r < 0)
		return r;
	if (!values_need_netlink(&vf, &wanted))
		return judge(ctx, c, &vf, NULL, &wanted, err);
	if (!ctx->root->live)
		return look_elsewhere(c);
	h = vf_hear(ctx->root, vf.pf);
	if (h->result == -ENODEV && wanted.of[VF_GUID][0])
		return vf_no_ipoib(vf.pf, err);
	if (h->result < 0)
		return err_set(err, h->result, "%s", h->err.text);
	return judge(ctx, c, &vf, h->info, &wanted, err);
}

int set_vf_address(const struct kind_ctx *ctx, struct change *c, const char *text, struct err *err)
{
	struct vf vf cleanup(vf_free) = {0};
	struct pf_info pf cleanup_pf_info = {0};
	struct vf_values wanted, have;
	bool netlink;
	int r = values_parse(c->desired, &wanted, err);

	if (r == 0)
		r = vf_find(ctx->root, text, &vf, err);
	if (r < 0)
		return r;
	netlink = values_need_netlink(&vf, &wanted);
	if (netlink)
		r = netlink_only_here(ctx->root, err);
	if (r == 0 && netlink)
		r = vf_ask(ctx->root, vf.pf, false, &pf, err);
	if (r == -ENODEV && netlink && wanted.of[VF_GUID][0])
		r = vf_no_ipoib(vf.pf, err);
	if (r == 0)
		r = observe(ctx->root, &vf, netlink ? &pf : NULL, &have, err);
	if (r == 0)
		r = values_resolve(ctx->root, &vf, &pf, &wanted, err);
	if (r < 0)
		return r;
	/*
	 * Its driver has read the old address and keeps it until it is bound again. Unbound before
	 * the address is there: a run that is killed in between leaves a difference to be seen.
	 */
	if (values_differ(&wanted, &have, VF_MAC) || values_differ(&wanted, &have, VF_GUID))
		r = vf_unbind(ctx->root, vf.addr, err);
	if (r == 0)
		r = vf_send(ctx, c, &vf, pf.ifindex, &wanted, &have, err);
	return r;
}
