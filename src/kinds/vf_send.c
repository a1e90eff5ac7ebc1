/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Setting what a PF sets for a VF, one attribute each. */
#include "kinds/vf_values.h"

#include <errno.h>
#include <linux/if_link.h>
#include <string.h>

#include "base/vf_address.h"
#include "kinds/function.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/uevent.h"

#define DEV "/sys/bus/pci/devices/"

static int refused(int r, const struct vf *vf, const char *name, const char *value, struct err *err)
{
	const char *hint = "";

	if (r == -EOPNOTSUPP) {
		err_wrap(err, "VF %u of %s: the driver %s offers no %s; leave sriov.SET.vf.%s out",
			 vf->index, vf->pf, vf->driver, name, name);
		return r;
	}
	if (streq(name, "mac"))
		hint = " (an address must be unicast)";
	else if (strstr(name, "rate"))
		hint = " (igb takes no min_rate, and max_rate only while the PF's link is up)";
	err_wrap(err, "VF %u of %s: driver %s rejects %s %s%s", vf->index, vf->pf, vf->driver, name,
		 value, hint);
	return r;
}

static int send_value(const struct vf *vf, unsigned int ifindex, const struct vf_value *value,
		      const char *name, const char *text, struct err *err)
{
	int r = machine_vf_set(ifindex, vf->index, value, err);

	return r < 0 ? refused(r, vf, name, text, err) : 0;
}

static int send_guids(const struct vf *vf, unsigned int ifindex, const char *text, struct err *err)
{
	struct vf_value value = {.attr = IFLA_VF_IB_NODE_GUID};
	int r;

	guid_parse(text, &value.guid);
	r = send_value(vf, ifindex, &value, "guid", text, err);
	value.attr = IFLA_VF_IB_PORT_GUID;
	return r < 0 ? r : send_value(vf, ifindex, &value, "guid", text, err);
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

struct carrier {
	const struct root *root;
	const char *pf;
};

static bool has_carrier(void *arg)
{
	const struct carrier *w = arg;
	struct netdev netdev;
	uint64_t carrier = 0;

	if (function_netdev(w->root, w->pf, &netdev, NULL) == 0)
		read_u64(w->root, &carrier, NULL, "/sys/class/net/%s/carrier", netdev.name);
	return carrier;
}

/*
 * Some drivers know no rate without a link (igb_ndo_set_vf_bw()), and lose the link for
 * seconds when the number of VFs changes.
 */
static int send_rate(const struct kind_ctx *ctx, const struct vf *vf, unsigned int ifindex,
		     const struct vf_value *value, const char *name, const char *text,
		     struct err *err)
{
	struct carrier w = {ctx->root, vf->pf};
	bool linked = has_carrier(&w);
	int r = send_value(vf, ifindex, value, name, text, err);

	if (r != -EINVAL || linked || !uevent_wait(has_carrier, &w, ctx->deadline))
		return r;
	*err = (struct err){0};
	return send_value(vf, ifindex, value, name, text, err);
}

/* Both rates are one attribute: the one that is not asked for stays as it is. */
static int send_rates(const struct kind_ctx *ctx, const struct vf *vf, unsigned int ifindex,
		      const struct vf_values *wanted, const struct vf_values *have, enum vf_item i,
		      struct err *err)
{
	const char *min =
		wanted->of[VF_MIN_RATE][0] ? wanted->of[VF_MIN_RATE] : have->of[VF_MIN_RATE];
	const char *max =
		wanted->of[VF_MAX_RATE][0] ? wanted->of[VF_MAX_RATE] : have->of[VF_MAX_RATE];
	struct vf_value value = {
		.attr = IFLA_VF_RATE, .min_rate = number(min), .max_rate = number(max)};
	bool both = values_differ(wanted, have, VF_MIN_RATE) &&
		    values_differ(wanted, have, VF_MAX_RATE);
	cleanup_free char *text = both ? xasprintf("%s to %s", min, max) : xstrdup(wanted->of[i]);

	if (both && i == VF_MAX_RATE) /* it went with the other */
		return 0;
	return send_rate(ctx, vf, ifindex, &value, both ? "min_rate and max_rate" : vf_key[i], text,
			 err);
}

static int send_item(const struct kind_ctx *ctx, const struct vf *vf, unsigned int ifindex,
		     const struct vf_values *wanted, const struct vf_values *have, enum vf_item i,
		     struct err *err)
{
	static const int attr[VF_ITEMS] = {[VF_VLAN] = IFLA_VF_VLAN,
					   [VF_SPOOF_CHECK] = IFLA_VF_SPOOFCHK,
					   [VF_TRUST] = IFLA_VF_TRUST,
					   [VF_LINK_STATE] = IFLA_VF_LINK_STATE};
	const char *text = wanted->of[i];
	struct vf_value value = {.attr = attr[i], .number = number(text)};

	switch (i) {
	case VF_MAC:
		value.attr = IFLA_VF_MAC;
		mac_parse(text, value.mac);
		break;
	case VF_GUID:
		return send_guids(vf, ifindex, text, err);
	case VF_MIN_RATE:
	case VF_MAX_RATE:
		return send_rates(ctx, vf, ifindex, wanted, have, i, err);
	case VF_LINK_STATE:
		for (uint32_t s = 0; s < array_len(vf_link_state); s++)
			if (streq(text, vf_link_state[s]))
				value.number = s;
		break;
	case VF_SPOOF_CHECK:
	case VF_TRUST:
		value.number = streq(text, "on");
		break;
	default:
		break;
	}
	return send_value(vf, ifindex, &value, vf_key[i], text, err);
}

static int write_ofed(const struct root *root, const struct vf *vf, const char *file,
		      const char *text, struct err *err)
{
	cleanup_free char *path = xasprintf(DEV "%s/sriov/%u/%s", vf->pf, vf->index, file);

	return machine_write_attr(root, path, text, err);
}

static int write_item(const struct root *root, const struct vf *vf, const char *text,
		      enum vf_item i, struct err *err)
{
	int r;

	if (i == VF_GUID) {
		r = write_ofed(root, vf, "node", text, err);
		return r < 0 ? r : write_ofed(root, vf, "port", text, err);
	}
	for (size_t s = 0; s < array_len(vf_link_state); s++)
		if (streq(text, vf_link_state[s]))
			return write_ofed(root, vf, "policy", vf_policy[s], err);
	return err_set(err, -EINVAL, "'%s' is no link state", text);
}

int vf_send(const struct kind_ctx *ctx, const struct change *c, const struct vf *vf,
	    unsigned int ifindex, const struct vf_values *wanted, const struct vf_values *have,
	    struct err *err)
{
	struct err missing = {0};

	for (enum vf_item i = 0; i < VF_ITEMS; i++) {
		int r = 0;

		if (!values_differ(wanted, have, i))
			continue;
		if (!have->of[i][0])
			r = vf_not_offered(vf, i, err);
		else if (vf_by_file(vf, i))
			r = write_item(ctx->root, vf, wanted->of[i], i, err);
		else
			r = send_item(ctx, vf, ifindex, wanted, have, i, err);
		if (r == -EOPNOTSUPP && c->optional)
			missing = *err;
		else if (r < 0)
			return r;
	}
	return missing.code ? err_set(err, missing.code, "%s", missing.text) : 0;
}
