/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends the settings that a PF makes for a VF, one attribute each. */
#include <errno.h>
#include <linux/if_link.h>

#include "base/mem.h"
#include "kinds/function.h"
#include "kinds/refusal.h"
#include "kinds/vf_address.h"
#include "plan/change.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/uevent.h"

#define DEV "/sys/bus/pci/devices/"

static int refused(int r, const struct vf *vf, const struct part *part, const char *name,
		   const char *value, struct err *err)
{
	const struct vf_setting *setting = part->item;
	const char *why = refusal(VF_ATTR + setting->attr, vf->driver, &r);

	if (r == -EOPNOTSUPP)
		err_wrap(err,
			 "VF %d of %s: the driver %s offers no %s; "
			 "leave sriov.SET.vf.%s out",
			 vf->c->on.vf, vf->pf, vf->driver, name, name);
	else
		err_wrap(err, "VF %d of %s: driver %s rejects %s %s%s%s%s", vf->c->on.vf, vf->pf,
			 vf->driver, name, value, why ? " (" : "", or_empty(why), why ? ")" : "");
	return r;
}

static int send_message(const struct vf *vf, const struct part *part, const struct vf_value *value,
			const char *name, const char *text, struct err *err)
{
	int r = machine_vf_set(vf->ifindex, (unsigned int)vf->c->on.vf, value, err);

	return r < 0 ? refused(r, vf, part, name, text, err) : 0;
}

static int send_guids(const struct vf *vf, const struct part *part, uint64_t guid, const char *text,
		      struct err *err)
{
	struct vf_value value = {.attr = IFLA_VF_IB_NODE_GUID, .guid = guid};
	int r = send_message(vf, part, &value, part->name, text, err);

	value.attr = IFLA_VF_IB_PORT_GUID;
	return r < 0 ? r : send_message(vf, part, &value, part->name, text, err);
}

/* --- rates -------------------------------------------------------------------------------- */

static bool has_carrier(void *arg)
{
	const struct vf *vf = arg;
	const struct root *root = vf->ctx->root;
	struct netdev netdev;
	uint64_t carrier = 0;

	if (function_netdev(root, vf->pf, &netdev, NULL) == 0)
		read_u64(root, &carrier, NULL, "/sys/class/net/%s/carrier", netdev.name);
	return carrier;
}

/*
 * Some drivers reject a rate while there is no link (igb_ndo_set_vf_bw()), and lose the link for
 * seconds when the number of VFs changes.
 */
static int send_rate(const struct vf *vf, const struct part *part, const struct vf_value *value,
		     const char *name, const char *text, struct err *err)
{
	struct vf waiting = *vf;
	bool linked = has_carrier(&waiting);
	int r = send_message(vf, part, value, name, text, err);

	if (r != -EINVAL || linked || !uevent_wait(has_carrier, &waiting, vf->ctx->deadline))
		return r;
	*err = (struct err){0};
	return send_message(vf, part, value, name, text, err);
}

/* The part with the other number of the attribute; parts.n: there is none. */
static size_t other_half(const struct vf *vf, size_t i)
{
	const struct vf_setting *own = vf->c->parts.v[i].item;
	size_t other = 0;

	for (; other < vf->c->parts.n; other++) {
		const struct vf_setting *setting = vf->c->parts.v[other].item;

		if (setting->attr == own->attr && setting->second != own->second)
			break;
	}
	return other;
}

/* Both rates are one attribute, so a rate that the profile does not name is sent as it is. */
static int send_rates(const struct vf *vf, size_t i, struct err *err)
{
	const struct part *part = &vf->c->parts.v[i];
	const struct vf_setting *setting = part->item;
	size_t other = other_half(vf, i);
	bool asked = other < vf->c->parts.n, both = asked && vf_differs(vf, other);
	uint32_t own = (uint32_t)vf->state[i].want, rest = 0;
	struct vf_value value = {.attr = setting->attr};
	cleanup_free char *text = NULL;

	if (both && other < i) /* sent with the other rate */
		return 0;
	if (asked)
		rest = (uint32_t)vf->state[other].want;
	else
		vf_info_number(vf->info, setting->attr, !setting->second, &rest);
	value.number = setting->second ? rest : own;
	value.second = setting->second ? own : rest;
	text = both ? xasprintf("%u to %u", value.number, value.second) : vf_text(part, own);
	return send_rate(vf, part, &value, both ? "min_rate and max_rate" : part->name, text, err);
}

/* --- each ---------------------------------------------------------------------------------- */

static int send_part(const struct vf *vf, size_t i, struct err *err)
{
	const struct part *part = &vf->c->parts.v[i];
	const struct vf_setting *setting = part->item;
	uint64_t want = vf->state[i].want;
	cleanup_free char *text = vf_text(part, want);
	struct vf_value value = {.attr = setting->attr, .number = (uint32_t)want};

	if (setting->attr == IFLA_VF_RATE)
		return send_rates(vf, i, err);
	if (setting->how == VF_GUID)
		return send_guids(vf, part, want, text, err);
	for (size_t octet = 0; setting->how == VF_MAC && octet < sizeof(value.mac); octet++)
		value.mac[octet] = (uint8_t)(want >> 8 * (sizeof(value.mac) - 1 - octet));
	return send_message(vf, part, &value, part->name, text, err);
}

static int write_ofed(const struct vf *vf, const char *file, const char *text, struct err *err)
{
	cleanup_free char *path = xasprintf(DEV "%s/sriov/%d/%s", vf->pf, vf->c->on.vf, file);

	return machine_write_attr(vf->ctx->root, path, text, err);
}

static int write_part(const struct vf *vf, size_t i, struct err *err)
{
	const struct part *part = &vf->c->parts.v[i];
	const struct vf_setting *setting = part->item;
	cleanup_free char *text = vf_text(part, vf->state[i].want);
	int r;

	if (setting->how != VF_GUID)
		return write_ofed(vf, "policy", vf_policy[vf->state[i].want], err);
	r = write_ofed(vf, "node", text, err);
	return r < 0 ? r : write_ofed(vf, "port", text, err);
}

int vf_send(const struct vf *vf, struct err *err)
{
	struct err missing = {0};

	for (size_t i = 0; i < vf->c->parts.n; i++) {
		const struct part *part = &vf->c->parts.v[i];
		int r;

		if (!vf_differs(vf, i))
			continue;
		if (!vf->state[i].told)
			r = vf_not_offered(vf, part, err);
		else if (vf_by_file(vf, part->item))
			r = write_part(vf, i, err);
		else
			r = send_part(vf, i, err);
		if (r == -EOPNOTSUPP && vf->c->optional)
			missing = *err;
		else if (r < 0)
			return r;
	}
	return missing.code ? err_copy(err, missing.code, &missing) : 0;
}
