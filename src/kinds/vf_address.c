/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/vf_address.h"

#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vf_address.h"
#include "kinds/function.h"
#include "kinds/netlink.h"
#include "kinds/vf.h"
#include "plan/change.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

/* --- which VF ------------------------------------------------------------------------------ */

/* The files exist for Ethernet too, but are about an InfiniBand port, so the link layer decides. */
static bool has_files(const struct root *root, const struct change *c)
{
	cleanup_free char *device = NULL, *layer = NULL;
	const char *pf = c->on.name;

	if (!root_exists(root, DEV "%s/sriov/%d/node", pf, c->on.vf))
		return false;
	device = function_ibdev(root, pf);
	return device &&
	       read_attr(root, &layer, NULL, DEV "%s/infiniband/%s/ports/1/link_layer", pf,
			 device) == 0 &&
	       streq(layer, "InfiniBand");
}

static void vf_end(struct vf *vf)
{
	free(vf->addr);
	free(vf->driver);
	free(vf->state);
}

/* -ENOENT: the VF does not exist. */
static int vf_begin(const struct kind_ctx *ctx, const struct change *c, struct vf *vf,
		    struct err *err)
{
	int r;

	*vf = (struct vf){.ctx = ctx, .c = c, .pf = c->on.name};
	r = function_vf(ctx->root, vf->pf, c->on.vf, &vf->addr, err);
	if (r < 0)
		return r;
	vf->driver = function_driver(ctx->root, vf->pf) ?: xstrdup("none");
	vf->ofed = has_files(ctx->root, c);
	vf->state = xcalloc(c->parts.n, sizeof(*vf->state));
	return 0;
}

static bool needs_netlink(const struct vf *vf)
{
	for (size_t i = 0; i < vf->c->parts.n; i++)
		if (!vf_by_file(vf, vf->c->parts.v[i].item))
			return true;
	return false;
}

static bool wants_guid(const struct change *c)
{
	for (size_t i = 0; i < c->parts.n; i++) {
		const struct vf_setting *setting = c->parts.v[i].item;

		if (setting->how == VF_GUID)
			return true;
	}
	return false;
}

/* --- what is wanted ------------------------------------------------------------------------ */

/* The wanted number in the kernel's unit. */
static uint64_t number_of(const struct part *part)
{
	const struct vf_setting *setting = part->item;

	return (uint64_t)part->want.number / (setting->scale ? setting->scale : 1);
}

static bool is_derived(const struct part *part)
{
	const struct vf_setting *setting = part->item;

	return setting->how <= VF_GUID && part->want.type == VALUE_WORD;
}

static bool any_derived(const struct change *c)
{
	for (size_t i = 0; i < c->parts.n; i++)
		if (is_derived(&c->parts.v[i]))
			return true;
	return false;
}

static int derive_mac(const struct vf *vf, const struct pf_info *pf, uint64_t *ret, struct err *err)
{
	uint8_t mac[6];
	int r;

	if (!pf->has_mac)
		return err_set(
			err, -ENODEV,
			"%s has no MAC address from which to derive the addresses of its VFs",
			vf->pf);
	r = vf_derived_mac(pf->mac, (unsigned int)vf->c->on.vf, mac, err);
	*ret = r < 0 ? 0 : mac_number(mac);
	return r;
}

/* Reads "b8ce:f603:001b:2c3d", the node GUID of the PF's RDMA device. */
static int pf_node_guid(const struct root *root, const char *pf, uint64_t *ret, struct err *err)
{
	cleanup_free char *device = function_ibdev(root, pf), *text = NULL;
	unsigned int part[4];

	if (!device)
		return err_set(err, -ENODEV,
			       "%s has no RDMA device with the node GUID from which the GUIDs of "
			       "its VFs are derived; is mlx5_ib loaded?",
			       pf);
	if (read_attr(root, &text, err, DEV "%s/infiniband/%s/node_guid", pf, device) < 0)
		return err->code;
	if (sscanf(text, "%4x:%4x:%4x:%4x", &part[0], &part[1], &part[2], &part[3]) != 4)
		return err_set(err, -EINVAL, "node GUID of %s: '%s' is not a GUID", pf, text);
	*ret = (uint64_t)part[0] << 48 | (uint64_t)part[1] << 32 | (uint64_t)part[2] << 16 |
	       part[3];
	return 0;
}

static int derive_guid(const struct vf *vf, uint64_t *ret, struct err *err)
{
	uint64_t guid = 0;
	int r = pf_node_guid(vf->ctx->root, vf->pf, &guid, err);

	return r < 0 ? r : vf_derived_guid(guid, (unsigned int)vf->c->on.vf, ret, err);
}

static int resolve(const struct vf *vf, const struct pf_info *pf, struct err *err)
{
	for (size_t i = 0; i < vf->c->parts.n; i++) {
		const struct part *part = &vf->c->parts.v[i];
		const struct vf_setting *setting = part->item;
		uint64_t *want = &vf->state[i].want;
		int r = 0;

		*want = number_of(part);
		if (is_derived(part))
			r = setting->how == VF_MAC ? derive_mac(vf, pf, want, err)
						   : derive_guid(vf, want, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- what there is ------------------------------------------------------------------------- */

static void told_mac(const struct vf_info *info, struct vf_state *ret)
{
	uint8_t mac[6];

	ret->told = vf_info_mac(info, mac);
	if (ret->told)
		ret->have = mac_number(mac);
}

static void told_number(const struct vf_info *info, const struct vf_setting *setting,
			struct vf_state *ret)
{
	uint32_t number;

	ret->told = vf_info_number(info, setting->attr, setting->second, &number);
	if (ret->told)
		ret->have = setting->how == VF_SWITCH ? number != 0 : number;
}

static void observe(const struct vf_info *info, bool infiniband, const struct vf_setting *setting,
		    struct vf_state *ret)
{
	if (setting->how == VF_MAC && !infiniband) /* on InfiniBand it repeats the PF's own */
		told_mac(info, ret);
	else if (setting->how == VF_GUID)
		ret->told = vf_info_guid(info, IFLA_VF_IB_NODE_GUID, &ret->have) &&
			    vf_info_guid(info, IFLA_VF_IB_PORT_GUID, &ret->port);
	else if (setting->how != VF_MAC)
		told_number(info, setting, ret);
}

static int observe_guids(const struct vf *vf, struct vf_state *ret, struct err *err)
{
	cleanup_free char *node = NULL, *port = NULL;
	int index = vf->c->on.vf;
	int r = read_attr(vf->ctx->root, &node, err, DEV "%s/sriov/%d/node", vf->pf, index);

	if (r == 0)
		r = read_attr(vf->ctx->root, &port, err, DEV "%s/sriov/%d/port", vf->pf, index);
	if (r < 0)
		return r;
	if (!guid_parse(node, &ret->have) || !guid_parse(port, &ret->port))
		return err_set(err, -EINVAL, "GUIDs of VF %d of %s: '%s' or '%s' is not a GUID",
			       index, vf->pf, node, port);
	ret->told = true;
	return 0;
}

static int observe_policy(const struct vf *vf, struct vf_state *ret, struct err *err)
{
	cleanup_free char *text = NULL;
	int r = read_attr(vf->ctx->root, &text, err, DEV "%s/sriov/%d/policy", vf->pf,
			  vf->c->on.vf);

	for (unsigned int i = 0; r == 0 && i < VF_POLICIES; i++)
		if (streq(text, vf_policy[i])) {
			ret->told = true;
			ret->have = i;
		}
	return r;
}

/*
 * Fills the states. pf: the PF's answer, or NULL if netlink is not needed. -EOPNOTSUPP: the answer
 * lacks this VF.
 */
static int learn(struct vf *vf, const struct pf_info *pf, struct err *err)
{
	static const struct pf_info none;
	int r = 0;

	vf->info = pf ? pf_info_vf(pf, (unsigned int)vf->c->on.vf) : NULL;
	vf->ifindex = pf ? pf->ifindex : 0;
	if (pf && !vf->info)
		return err_set(err, -EOPNOTSUPP,
			       "the driver %s does not report VF %d by netlink, so only its "
			       "driver, mtu and msix can be set in sriov.SET.vf",
			       vf->driver, vf->c->on.vf);
	for (size_t i = 0; r == 0 && i < vf->c->parts.n; i++) {
		const struct vf_setting *setting = vf->c->parts.v[i].item;

		if (!vf_by_file(vf, setting))
			observe(vf->info, pf->infiniband, setting, &vf->state[i]);
		else if (setting->how == VF_GUID)
			r = observe_guids(vf, &vf->state[i], err);
		else
			r = observe_policy(vf, &vf->state[i], err);
	}
	return r < 0 ? r : resolve(vf, pf ? pf : &none, err);
}

/* --- as text ------------------------------------------------------------------------------- */

static void add_text(struct str *text, const struct part *part, const char *value)
{
	str_addf(text, "%s%s %s", text->len ? " " : "", part->name, value);
}

/* One GUID if node and port have the same, as railhead sets them. */
static char *text_there(const struct part *part, const struct vf_state *s)
{
	const struct vf_setting *setting = part->item;
	cleanup_free char *have = vf_text(part, s->have), *port = vf_text(part, s->port);

	if (!s->told)
		return xstrdup("?");
	return setting->how == VF_GUID && s->have != s->port ? xasprintf("%s/%s", have, port)
							     : xstrdup(have);
}

/* "mac 02:... trust on" */
static char *describe(const struct vf *vf, bool wanted)
{
	struct str text = {0};

	for (size_t i = 0; i < vf->c->parts.n; i++) {
		const struct part *part = &vf->c->parts.v[i];
		cleanup_free char *value =
			wanted ? vf_text(part, vf->state[i].want) : text_there(part, &vf->state[i]);

		add_text(&text, part, value);
	}
	return str_take(&text);
}

static char *desired(const struct change *c)
{
	struct str text = {0};

	for (size_t i = 0; i < c->parts.n; i++) {
		const struct part *part = &c->parts.v[i];
		cleanup_free char *value =
			is_derived(part) ? xstrdup("derived") : vf_text(part, number_of(part));

		add_text(&text, part, value);
	}
	return str_take(&text);
}

/* --- looking ------------------------------------------------------------------------------- */

/*
 * A value that the driver does not report is not offered; any other value differs or is the same.
 */
static int compare(struct change *c, const struct vf *vf, struct err *err)
{
	struct err missing = {0};

	c->now.state = CHANGE_SAME;
	for (size_t i = 0; i < c->parts.n; i++)
		if (!vf->state[i].told)
			vf_not_offered(vf, &c->parts.v[i], &missing);
		else if (vf_differs(vf, i))
			c->now.state = CHANGE_DIFFERS;
	return target_lacks(c, &missing, err);
}

static int judge(struct change *c, struct vf *vf, const struct pf_info *pf, struct err *err)
{
	cleanup_free char *text = NULL;
	int r = learn(vf, pf, err);
	const char *user;

	if (r < 0)
		return r;
	text = describe(vf, false);
	change_observe(c, "%s", text);
	r = compare(c, vf, err);
	if (r < 0 || c->now.state != CHANGE_DIFFERS)
		return r;
	/* A CNI and libvirt set these values through the PF, too, of each VF that they give away.
	 */
	user = vf_user(vf->ctx->root, vf->addr);
	if (user) {
		change_reason(c, "%s, and the VF keeps the values that its user has set", user);
		c->now.state = CHANGE_UNSUPPORTED;
	} else if (any_derived(c)) {
		cleanup_free char *want = describe(vf, true);

		change_reason(c, "derived: %s", want);
	}
	return 0;
}

static int look(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct vf vf cleanup(vf_end);
	const struct cached *h;
	int r = vf_begin(ctx, c, &vf, err);

	if (r == -ENOENT)
		return target_no_vf(c);
	if (r < 0)
		return r;
	if (!needs_netlink(&vf))
		return judge(c, &vf, NULL, err);
	if (!ctx->root->live)
		return look_elsewhere(c);
	h = vf_cached(ctx->root, vf.pf);
	if (h->result == -ENODEV && wants_guid(c))
		return vf_no_ipoib(vf.pf, err);
	if (h->result < 0)
		return err_copy(err, h->result, &h->err);
	return judge(c, &vf, h->info, err);
}

/* --- setting ------------------------------------------------------------------------------- */

static bool address_differs(const struct vf *vf)
{
	for (size_t i = 0; i < vf->c->parts.n; i++) {
		const struct vf_setting *setting = vf->c->parts.v[i].item;

		if (setting->how <= VF_GUID && vf_differs(vf, i))
			return true;
	}
	return false;
}

static int set(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	struct pf_info pf cleanup_pf_info = {0};
	struct vf vf cleanup(vf_end);
	bool netlink;
	int r = vf_begin(ctx, c, &vf, err);

	if (r < 0)
		return r;
	netlink = needs_netlink(&vf);
	if (netlink)
		r = netlink_only_here(ctx->root, err);
	if (r == 0 && netlink)
		r = vf_ask(ctx->root, vf.pf, false, &pf, err);
	if (r == -ENODEV && netlink && wants_guid(c))
		r = vf_no_ipoib(vf.pf, err);
	if (r == 0)
		r = learn(&vf, netlink ? &pf : NULL, err);
	if (r < 0)
		return r;
	/*
	 * The VF's driver has read the old address and keeps it until the VF is bound again. The VF
	 * is unbound before the address is set, so that a run that is killed in between leaves a
	 * visible difference.
	 */
	if (address_differs(&vf))
		r = vf_unbind(ctx->root, vf.addr, false, err);
	return r < 0 ? r : vf_send(&vf, err);
}

const struct target_item vf_address = {
	.kind = &kind_netlink, .look = look, .set = set, .desired = desired};
