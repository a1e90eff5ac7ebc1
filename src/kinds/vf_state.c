/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings that a PF makes for a VF: whether they differ, the way to send them, and their text.
 */
#include <errno.h>
#include <linux/if_link.h>

#include "base/mem.h"
#include "base/vf_address.h"
#include "kinds/vf_address.h"
#include "plan/change.h"
#include "profile/value.h"

const char *const vf_policy[VF_POLICIES] = {[IFLA_VF_LINK_STATE_AUTO] = "Follow",
					    [IFLA_VF_LINK_STATE_ENABLE] = "Up",
					    [IFLA_VF_LINK_STATE_DISABLE] = "Down"};

bool vf_by_file(const struct vf *vf, const struct vf_setting *setting)
{
	return vf->ofed && (setting->how == VF_GUID || setting->attr == IFLA_VF_LINK_STATE);
}

bool vf_differs(const struct vf *vf, size_t part)
{
	const struct vf_setting *setting = vf->c->parts.v[part].item;
	const struct vf_state *s = &vf->state[part];

	return !s->told || s->have != s->want || (setting->how == VF_GUID && s->port != s->want);
}

char *vf_text(const struct part *part, uint64_t number)
{
	const struct vf_setting *setting = part->item;
	char *text;

	switch (setting->how) {
	case VF_MAC:
		text = xcalloc(1, MAC_TEXT);
		mac_format(number, text);
		return text;
	case VF_GUID:
		text = xcalloc(1, GUID_TEXT);
		guid_format(number, text);
		return text;
	case VF_SWITCH:
		return xstrdup(number ? "on" : "off");
	case VF_WORD:
		text = value_text(&part->want, (int64_t)number);
		return text ? text : xstrdup("?");
	case VF_NUMBER:
		break;
	}
	return xasprintf("%llu", (unsigned long long)number);
}

int vf_not_offered(const struct vf *vf, const struct part *part, struct err *err)
{
	const struct vf_setting *setting = part->item;

	if (setting->how == VF_GUID)
		return err_set(err, -EOPNOTSUPP,
			       "the driver %s offers no guid for the VFs of %s: it is for "
			       "InfiniBand, with ib_ipoib loaded",
			       vf->driver, vf->pf);
	return err_set(err, -EOPNOTSUPP,
		       "the driver %s offers no %s for VFs" TO_MEND "leave sriov.SET.vf.%s out",
		       vf->driver, part->name, part->name);
}
