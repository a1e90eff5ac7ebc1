/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/vf_values.h"

#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/vf_address.h"
#include "kinds/function.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

const char *const vf_key[VF_ITEMS] = {
	[VF_MAC] = "mac",	    [VF_GUID] = "guid",
	[VF_VLAN] = "vlan",	    [VF_MIN_RATE] = "min_rate",
	[VF_MAX_RATE] = "max_rate", [VF_SPOOF_CHECK] = "spoof_check",
	[VF_TRUST] = "trust",	    [VF_LINK_STATE] = "link_state",
};
const char *const vf_link_state[VF_LINK_STATES] = {[IFLA_VF_LINK_STATE_AUTO] = "auto",
						   [IFLA_VF_LINK_STATE_ENABLE] = "enable",
						   [IFLA_VF_LINK_STATE_DISABLE] = "disable"};
const char *const vf_policy[VF_LINK_STATES] = {[IFLA_VF_LINK_STATE_AUTO] = "Follow",
					       [IFLA_VF_LINK_STATE_ENABLE] = "Up",
					       [IFLA_VF_LINK_STATE_DISABLE] = "Down"};

void vf_free(struct vf *vf)
{
	free(vf->pf);
	free(vf->addr);
	free(vf->driver);
}

/* The files are there for Ethernet too, but speak of the InfiniBand port that is not there. */
static bool has_files(const struct root *root, const struct vf *vf)
{
	cleanup_strv struct strv devices = {0};
	cleanup_free char *layer = NULL;

	return root_exists(root, DEV "%s/sriov/%u/node", vf->pf, vf->index) &&
	       read_dir(root, &devices, NULL, DEV "%s/infiniband", vf->pf) == 0 && devices.n &&
	       read_text(root, &layer, NULL, DEV "%s/infiniband/%s/ports/1/link_layer", vf->pf,
			 devices.v[0]) == 0 &&
	       streq(layer, "InfiniBand");
}

int vf_find(const struct root *root, const char *text, struct vf *ret, struct err *err)
{
	int r = function_vf(root, text, &ret->addr, err);

	if (r < 0)
		return r;
	ret->pf = xstrndup(text, strcspn(text, "/"));
	ret->index = (unsigned int)strtoul(text + strlen(ret->pf) + 1, NULL, 10);
	if (read_link_name(root, &ret->driver, NULL, DEV "%s/driver", ret->pf) < 0)
		ret->driver = xstrdup("none");
	ret->ofed = has_files(root, ret);
	return 0;
}

int values_parse(const char *desired, struct vf_values *ret, struct err *err)
{
	cleanup_free char *copy = xstrdup(desired);
	char *rest = NULL;

	memset(ret, 0, sizeof(*ret));
	for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		const char *value = strtok_r(NULL, " ", &rest);
		enum vf_item i = 0;

		while (i < VF_ITEMS && !streq(name, vf_key[i]))
			i++;
		if (i == VF_ITEMS || !value || strlen(value) >= sizeof(ret->of[i]))
			return err_set(err, -EINVAL, "%s: not a list of attributes of a VF",
				       desired);
		snprintf(ret->of[i], sizeof(ret->of[i]), "%s", value);
	}
	return 0;
}

bool vf_by_file(const struct vf *vf, enum vf_item i)
{
	return vf->ofed && (i == VF_GUID || i == VF_LINK_STATE);
}

bool values_need_netlink(const struct vf *vf, const struct vf_values *wanted)
{
	for (enum vf_item i = 0; i < VF_ITEMS; i++)
		if (wanted->of[i][0] && !vf_by_file(vf, i))
			return true;
	return false;
}

/* "b8ce:f603:001b:2c3d" of the PF's own RDMA device. */
static int pf_node_guid(const struct root *root, const char *pf, uint64_t *ret, struct err *err)
{
	cleanup_strv struct strv devices = {0};
	cleanup_free char *text = NULL;
	unsigned int part[4];

	if (read_dir(root, &devices, NULL, DEV "%s/infiniband", pf) < 0 || !devices.n)
		return err_set(err, -ENODEV,
			       "%s has no RDMA device whose node GUID those of its VFs could be "
			       "derived from; is mlx5_ib loaded?",
			       pf);
	if (read_text(root, &text, err, DEV "%s/infiniband/%s/node_guid", pf, devices.v[0]) < 0)
		return err->code;
	if (sscanf(text, "%4x:%4x:%4x:%4x", &part[0], &part[1], &part[2], &part[3]) != 4)
		return err_set(err, -EINVAL, "node GUID of %s: '%s' is none", pf, text);
	*ret = (uint64_t)part[0] << 48 | (uint64_t)part[1] << 32 | (uint64_t)part[2] << 16 |
	       part[3];
	return 0;
}

static int resolve_mac(const struct vf *vf, const struct pf_info *pf, char *value, struct err *err)
{
	uint8_t mac[6];
	int r = 0;

	if (streq(value, "derived")) {
		if (!pf->has_mac)
			return err_set(err, -ENODEV,
				       "%s has no MAC address to derive those of its "
				       "VFs from",
				       vf->pf);
		r = vf_derived_mac(pf->mac, vf->index, mac, err);
	} else if (!mac_parse(value, mac)) {
		return err_set(err, -EINVAL, "'%s' is no MAC address", value);
	}
	if (r == 0)
		mac_format(mac, value);
	return r;
}

static int resolve_guid(const struct root *root, const struct vf *vf, char *value, struct err *err)
{
	uint64_t guid;
	int r = 0;

	if (streq(value, "derived")) {
		r = pf_node_guid(root, vf->pf, &guid, err);
		if (r == 0)
			r = vf_derived_guid(guid, vf->index, &guid, err);
	} else if (!guid_parse(value, &guid)) {
		return err_set(err, -EINVAL, "'%s' is no GUID", value);
	}
	if (r == 0)
		guid_format(guid, value);
	return r;
}

int values_resolve(const struct root *root, const struct vf *vf, const struct pf_info *pf,
		   struct vf_values *wanted, struct err *err)
{
	int r = 0;

	if (wanted->of[VF_MAC][0])
		r = resolve_mac(vf, pf, wanted->of[VF_MAC], err);
	if (r == 0 && wanted->of[VF_GUID][0])
		r = resolve_guid(root, vf, wanted->of[VF_GUID], err);
	return r;
}

static void put_number(char *to, uint32_t n)
{
	snprintf(to, 2 * GUID_TEXT, "%u", n);
}

static void put_switch(char *to, uint32_t setting)
{
	if (setting != VF_UNKNOWN)
		strcpy(to, setting ? "on" : "off");
}

/* One GUID if node and port have the same, as we set them. */
static void put_guids(char *to, uint64_t node, uint64_t port)
{
	char a[GUID_TEXT], b[GUID_TEXT];

	snprintf(to, 2 * GUID_TEXT, node == port ? "%s" : "%s/%s", guid_format(node, a),
		 guid_format(port, b));
}

void values_of(const struct pf_info *pf, const struct vf_info *info, struct vf_values *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (info->has_mac && !pf->infiniband) /* where it repeats the PF's own */
		mac_format(info->mac, ret->of[VF_MAC]);
	if (info->has_guids)
		put_guids(ret->of[VF_GUID], info->node_guid, info->port_guid);
	put_number(ret->of[VF_VLAN], info->vlan);
	put_number(ret->of[VF_MIN_RATE], info->min_rate);
	put_number(ret->of[VF_MAX_RATE], info->max_rate);
	put_switch(ret->of[VF_SPOOF_CHECK], info->spoof_check);
	put_switch(ret->of[VF_TRUST], info->trust);
	if (info->link_state < array_len(vf_link_state))
		strcpy(ret->of[VF_LINK_STATE], vf_link_state[info->link_state]);
}

int values_of_files(const struct root *root, const struct vf *vf, struct vf_values *ret,
		    struct err *err)
{
	cleanup_free char *node = NULL, *port = NULL, *state = NULL;
	uint64_t a, b;
	int r = read_text(root, &node, err, DEV "%s/sriov/%u/node", vf->pf, vf->index);

	if (r == 0)
		r = read_text(root, &port, err, DEV "%s/sriov/%u/port", vf->pf, vf->index);
	if (r == 0)
		r = read_text(root, &state, err, DEV "%s/sriov/%u/policy", vf->pf, vf->index);
	if (r < 0)
		return r;
	if (!guid_parse(node, &a) || !guid_parse(port, &b))
		return err_set(err, -EINVAL, "GUIDs of VF %u of %s: '%s' or '%s' is none",
			       vf->index, vf->pf, node, port);
	put_guids(ret->of[VF_GUID], a, b);
	ret->of[VF_LINK_STATE][0] = '\0';
	for (size_t i = 0; i < array_len(vf_policy); i++)
		if (streq(state, vf_policy[i]))
			strcpy(ret->of[VF_LINK_STATE], vf_link_state[i]);
	return 0;
}

char *values_describe(const struct vf_values *wanted, const struct vf_values *have)
{
	struct str text = {0};

	for (enum vf_item i = 0; i < VF_ITEMS; i++)
		if (wanted->of[i][0])
			str_addf(&text, "%s%s %s", text.len ? " " : "", vf_key[i],
				 have->of[i][0] ? have->of[i] : "?");
	return str_take(&text);
}

bool values_differ(const struct vf_values *wanted, const struct vf_values *have, enum vf_item i)
{
	return wanted->of[i][0] && !streq(wanted->of[i], have->of[i]);
}
