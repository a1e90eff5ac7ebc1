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
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/vf_address.h"
#include "kinds/netlink.h"
#include "sys/machine.h"
#include "sys/read.h"
#include "sys/vfinfo.h"

#define DEV "/sys/bus/pci/devices/"

/* In the order in which they are set: some drivers want an address before they check it. */
enum item { MAC, GUID, VLAN, MIN_RATE, MAX_RATE, SPOOF_CHECK, TRUST, LINK_STATE, ITEMS };

/* The profile's keys. */
static const char *const key[ITEMS] = {
	[MAC] = "mac",		 [GUID] = "guid",
	[VLAN] = "vlan",	 [MIN_RATE] = "min_rate",
	[MAX_RATE] = "max_rate", [SPOOF_CHECK] = "spoof_check",
	[TRUST] = "trust",	 [LINK_STATE] = "link_state",
};
static const char *const link_state[] = {[IFLA_VF_LINK_STATE_AUTO] = "auto",
					 [IFLA_VF_LINK_STATE_ENABLE] = "enable",
					 [IFLA_VF_LINK_STATE_DISABLE] = "disable"};
/* The same, as OFED's policy file has it (drivers/infiniband/hw/mlx5, sriov_sysfs.c there). */
static const char *const policy[] = {[IFLA_VF_LINK_STATE_AUTO] = "Follow",
				     [IFLA_VF_LINK_STATE_ENABLE] = "Up",
				     [IFLA_VF_LINK_STATE_DISABLE] = "Down"};

/* A value of each key; "": not asked for, or not told. */
struct values {
	char of[ITEMS][2 * GUID_TEXT];
};

struct vf {
	char *pf;
	unsigned int index;
	char *addr;   /* of the VF */
	char *driver; /* of the PF; "none" */
	bool ofed;    /* GUIDs and policy go through files */
};

static void vf_free(struct vf *vf)
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

/* "PF/INDEX"; -ENOENT while there is no such VF. */
static int vf_find(const struct root *root, const char *text, struct vf *ret, struct err *err)
{
	const char *slash = strchr(text, '/');
	int r;

	if (!slash)
		return err_set(err, -EINVAL, "%s: not PF/INDEX", text);
	ret->pf = xstrndup(text, (size_t)(slash - text));
	ret->index = (unsigned int)strtoul(slash + 1, NULL, 10);
	r = read_link_name(root, &ret->addr, err, DEV "%s/virtfn%u", ret->pf, ret->index);
	if (r < 0)
		return r;
	if (read_link_name(root, &ret->driver, NULL, DEV "%s/driver", ret->pf) < 0)
		ret->driver = xstrdup("none");
	ret->ofed = has_files(root, ret);
	return 0;
}

/* --- what is asked for --------------------------------------------------------------------- */

static int parse_wanted(const char *desired, struct values *ret, struct err *err)
{
	cleanup_free char *copy = xstrdup(desired);
	char *rest = NULL;

	memset(ret, 0, sizeof(*ret));
	for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		const char *value = strtok_r(NULL, " ", &rest);
		enum item i = 0;

		while (i < ITEMS && !streq(name, key[i]))
			i++;
		if (i == ITEMS || !value || strlen(value) >= sizeof(ret->of[i]))
			return err_set(err, -EINVAL, "%s: not a list of attributes of a VF",
				       desired);
		snprintf(ret->of[i], sizeof(ret->of[i]), "%s", value);
	}
	return 0;
}

/* OFED's files serve GUIDs and the link state of InfiniBand, nothing else. */
static bool by_file(const struct vf *vf, enum item i)
{
	return vf->ofed && (i == GUID || i == LINK_STATE);
}

static bool needs_netlink(const struct vf *vf, const struct values *wanted)
{
	for (enum item i = 0; i < ITEMS; i++)
		if (wanted->of[i][0] && !by_file(vf, i))
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

/* pf: may be empty if netlink is not needed. */
static int resolve(const struct root *root, const struct vf *vf, const struct pf_info *pf,
		   struct values *wanted, struct err *err)
{
	int r = 0;

	if (wanted->of[MAC][0])
		r = resolve_mac(vf, pf, wanted->of[MAC], err);
	if (r == 0 && wanted->of[GUID][0])
		r = resolve_guid(root, vf, wanted->of[GUID], err);
	return r;
}

/* --- what is there ------------------------------------------------------------------------- */

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

static void values_of(const struct pf_info *pf, const struct vf_info *info, struct values *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (info->has_mac && !pf->infiniband) /* where it repeats the PF's own */
		mac_format(info->mac, ret->of[MAC]);
	if (info->has_guids)
		put_guids(ret->of[GUID], info->node_guid, info->port_guid);
	put_number(ret->of[VLAN], info->vlan);
	put_number(ret->of[MIN_RATE], info->min_rate);
	put_number(ret->of[MAX_RATE], info->max_rate);
	put_switch(ret->of[SPOOF_CHECK], info->spoof_check);
	put_switch(ret->of[TRUST], info->trust);
	if (info->link_state < array_len(link_state))
		strcpy(ret->of[LINK_STATE], link_state[info->link_state]);
}

static int read_ofed(const struct root *root, const struct vf *vf, struct values *ret,
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
	put_guids(ret->of[GUID], a, b);
	ret->of[LINK_STATE][0] = '\0';
	for (size_t i = 0; i < array_len(policy); i++)
		if (streq(state, policy[i]))
			strcpy(ret->of[LINK_STATE], link_state[i]);
	return 0;
}

static int by_index(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

/*
 * The PF's netdevs, oldest first: in switchdev mode its uplink, whose number stays, before the
 * representors.
 */
static void netdevs_of(const struct root *root, const char *pf, struct ifindexes *ret)
{
	cleanup_strv struct strv names = {0};

	read_dir(root, &names, NULL, DEV "%s/net", pf);
	for (size_t i = 0; i < names.n; i++) {
		uint64_t index;

		if (read_u64(root, &index, NULL, "/sys/class/net/%s/ifindex", names.v[i]) == 0)
			vec_push(&ret->list, (unsigned int)index);
	}
	if (ret->list.n)
		qsort(ret->list.v, ret->list.n, sizeof(*ret->list.v), by_index);
}

static int no_netdev(const char *pf, bool guid, struct err *err)
{
	if (guid)
		return err_set(
			err, -ENODEV,
			"%s has no IPoIB netdev, through which the GUIDs of its VFs are set; "
			"load ib_ipoib (modules: {load: [ib_ipoib]})",
			pf);
	return err_set(err, -ENODEV,
		       "%s has no netdev in this network namespace, through which its VFs are "
		       "addressed; is its driver loaded?",
		       pf);
}

/* apart: from the engine's own process. */
static int ask(const struct root *root, const char *pf, bool guid, bool apart, struct pf_info *ret,
	       struct err *err)
{
	struct ifindexes netdevs = {0};
	struct netlink_answer got cleanup_answer = {0};
	int r;

	netdevs_of(root, pf, &netdevs);
	if (!netdevs.list.n)
		return no_netdev(pf, guid, err);
	r = apart ? netlink_ask_apart(pf_info_question, &netdevs, "rtnl", NETLINK_APART_MS, &got,
				      err)
		  : pf_info_question(&netdevs, &got, err);
	vec_free(&netdevs.list);
	return r < 0 ? r : pf_info_parse(got.data, got.len, ret, err);
}

/* --- what was heard ------------------------------------------------------------------------ */

struct heard {
	char *pf;
	int result;
	struct err err;
	struct pf_info info;
};

static VEC(struct heard *) memory;
/* All PFs have one rtnl: who does not get it once is not made to wait for each. */
static struct err rtnl_held;

void forget_vf_address(const struct change *c)
{
	size_t kept = 0;

	if (!c)
		rtnl_held.code = 0;
	for (size_t i = 0; i < memory.n; i++) {
		struct heard *h = memory.v[i];

		if (change_concerns(c, h->pf)) {
			pf_info_free(&h->info);
			free(h->pf);
			free(h);
		} else {
			memory.v[kept++] = h;
		}
	}
	memory.n = kept;
	if (!kept)
		vec_free(&memory);
}

static const struct heard *hear(const struct root *root, const char *pf, bool guid)
{
	struct heard *h;

	for (size_t i = 0; i < memory.n; i++)
		if (streq(memory.v[i]->pf, pf))
			return memory.v[i];
	h = xnew(struct heard);
	h->pf = xstrdup(pf);
	if (rtnl_held.code) {
		h->err = rtnl_held;
		h->result = rtnl_held.code;
	} else {
		h->result = ask(root, pf, guid, true, &h->info, &h->err);
	}
	if (h->result == -ETIMEDOUT)
		rtnl_held = h->err;
	vec_push(&memory, h);
	return h;
}

/* --- looking ------------------------------------------------------------------------------- */

/*
 * Fills what is there. pf: what the PF told, or NULL if netlink is not needed. -EOPNOTSUPP
 * if it says nothing of this VF.
 */
static int observe(const struct root *root, const struct vf *vf, const struct pf_info *pf,
		   struct values *ret, struct err *err)
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
	return vf->ofed ? read_ofed(root, vf, ret, err) : 0;
}

static char *describe(const struct values *wanted, const struct values *have)
{
	struct str text = {0};

	for (enum item i = 0; i < ITEMS; i++)
		if (wanted->of[i][0])
			str_addf(&text, "%s%s %s", text.len ? " " : "", key[i],
				 have->of[i][0] ? have->of[i] : "?");
	return str_take(&text);
}

static int not_offered(const struct vf *vf, enum item i, struct err *err)
{
	if (i == GUID)
		return err_set(err, -EOPNOTSUPP,
			       "the driver %s offers no guid for the VFs of %s: it is for "
			       "InfiniBand, with ib_ipoib loaded",
			       vf->driver, vf->pf);
	return err_set(err, -EOPNOTSUPP,
		       "the driver %s offers no %s for VFs; leave sriov.SET.vf.%s out", vf->driver,
		       key[i], key[i]);
}

/* What the driver does not even tell is not offered; else it differs or it does not. */
static int compare(struct change *c, const struct vf *vf, const struct values *wanted,
		   const struct values *have, struct err *err)
{
	struct err missing = {0};

	c->state = CHANGE_SAME;
	for (enum item i = 0; i < ITEMS; i++) {
		if (!wanted->of[i][0])
			continue;
		if (!have->of[i][0])
			not_offered(vf, i, &missing);
		else if (!streq(wanted->of[i], have->of[i]))
			c->state = CHANGE_DIFFERS;
	}
	if (!missing.code)
		return 0;
	if (!c->optional)
		return err_set(err, missing.code, "%s", missing.text);
	if (c->state == CHANGE_SAME) { /* all that can be is so */
		change_reason(c, "%s", missing.text);
		c->state = CHANGE_UNSUPPORTED;
	}
	return 0;
}

static int judge(const struct kind_ctx *ctx, struct change *c, const struct vf *vf,
		 const struct pf_info *pf, struct values *wanted, struct err *err)
{
	static const struct pf_info none;
	struct values have;
	cleanup_free char *text = NULL;
	int r = observe(ctx->root, vf, pf, &have, err);

	if (r == 0)
		r = resolve(ctx->root, vf, pf ? pf : &none, wanted, err);
	if (r < 0)
		return r;
	text = describe(wanted, &have);
	change_observe(c, "%s", text);
	r = compare(c, vf, wanted, &have, err);
	if (r == 0 && c->state == CHANGE_DIFFERS && strstr(c->desired, "derived")) {
		cleanup_free char *want = describe(wanted, wanted);

		change_reason(c, "derived, that is: %s", want);
	}
	return r;
}

static int waits(struct change *c)
{
	change_observe(c, "no such VF");
	change_reason(c, "the VF does not exist yet");
	c->state = CHANGE_WAITS;
	return 0;
}

int look_vf_address(const struct kind_ctx *ctx, struct change *c, const char *text, struct err *err)
{
	struct vf vf cleanup(vf_free) = {0};
	struct values wanted;
	const struct heard *h;
	int r = parse_wanted(c->desired, &wanted, err);

	if (r == 0)
		r = vf_find(ctx->root, text, &vf, err);
	if (r == -ENOENT)
		return waits(c);
	if (r < 0)
		return r;
	if (!needs_netlink(&vf, &wanted))
		return judge(ctx, c, &vf, NULL, &wanted, err);
	if (!ctx->root->live)
		return look_elsewhere(c);
	h = hear(ctx->root, vf.pf, wanted.of[GUID][0]);
	if (h->result < 0)
		return err_set(err, h->result, "%s", h->err.text);
	return judge(ctx, c, &vf, &h->info, &wanted, err);
}

/* --- setting ------------------------------------------------------------------------------- */

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
	err_wrap(err, "VF %u of %s: the driver %s refuses %s %s%s", vf->index, vf->pf, vf->driver,
		 name, value, hint);
	return r;
}

static int send(const struct vf *vf, unsigned int ifindex, const struct vf_value *value,
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
	r = send(vf, ifindex, &value, "guid", text, err);
	value.attr = IFLA_VF_IB_PORT_GUID;
	return r < 0 ? r : send(vf, ifindex, &value, "guid", text, err);
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

static bool differs(const struct values *wanted, const struct values *have, enum item i)
{
	return wanted->of[i][0] && !streq(wanted->of[i], have->of[i]);
}

/* Both rates are one attribute: the one that is not asked for stays as it is. */
static int send_rates(const struct vf *vf, unsigned int ifindex, const struct values *wanted,
		      const struct values *have, enum item i, struct err *err)
{
	const char *min = wanted->of[MIN_RATE][0] ? wanted->of[MIN_RATE] : have->of[MIN_RATE];
	const char *max = wanted->of[MAX_RATE][0] ? wanted->of[MAX_RATE] : have->of[MAX_RATE];
	struct vf_value value = {
		.attr = IFLA_VF_RATE, .min_rate = number(min), .max_rate = number(max)};
	bool both = differs(wanted, have, MIN_RATE) && differs(wanted, have, MAX_RATE);
	cleanup_free char *text = both ? xasprintf("%s to %s", min, max) : xstrdup(wanted->of[i]);

	if (both && i == MAX_RATE) /* it went with the other */
		return 0;
	return send(vf, ifindex, &value, both ? "min_rate and max_rate" : key[i], text, err);
}

static int send_item(const struct vf *vf, unsigned int ifindex, const struct values *wanted,
		     const struct values *have, enum item i, struct err *err)
{
	static const int attr[ITEMS] = {[VLAN] = IFLA_VF_VLAN,
					[SPOOF_CHECK] = IFLA_VF_SPOOFCHK,
					[TRUST] = IFLA_VF_TRUST,
					[LINK_STATE] = IFLA_VF_LINK_STATE};
	const char *text = wanted->of[i];
	struct vf_value value = {.attr = attr[i], .number = number(text)};

	switch (i) {
	case MAC:
		value.attr = IFLA_VF_MAC;
		mac_parse(text, value.mac);
		break;
	case GUID:
		return send_guids(vf, ifindex, text, err);
	case MIN_RATE:
	case MAX_RATE:
		return send_rates(vf, ifindex, wanted, have, i, err);
	case LINK_STATE:
		for (uint32_t s = 0; s < array_len(link_state); s++)
			if (streq(text, link_state[s]))
				value.number = s;
		break;
	case SPOOF_CHECK:
	case TRUST:
		value.number = streq(text, "on");
		break;
	default:
		break;
	}
	return send(vf, ifindex, &value, key[i], text, err);
}

static int write_ofed(const struct root *root, const struct vf *vf, const char *file,
		      const char *text, struct err *err)
{
	cleanup_free char *path = xasprintf(DEV "%s/sriov/%u/%s", vf->pf, vf->index, file);

	return machine_write_attr(root, path, text, err);
}

static int write_item(const struct root *root, const struct vf *vf, const char *text, enum item i,
		      struct err *err)
{
	int r;

	if (i == GUID) {
		r = write_ofed(root, vf, "node", text, err);
		return r < 0 ? r : write_ofed(root, vf, "port", text, err);
	}
	for (size_t s = 0; s < array_len(link_state); s++)
		if (streq(text, link_state[s]))
			return write_ofed(root, vf, "policy", policy[s], err);
	return err_set(err, -EINVAL, "'%s' is no link state", text);
}

/*
 * Sends what differs, one attribute each. What a driver does not offer keeps the others from
 * nothing where the profile lets it be skipped; it is the result then.
 */
static int set_items(const struct kind_ctx *ctx, const struct change *c, const struct vf *vf,
		     unsigned int ifindex, const struct values *wanted, const struct values *have,
		     struct err *err)
{
	struct err missing = {0};

	for (enum item i = 0; i < ITEMS; i++) {
		int r = 0;

		if (!differs(wanted, have, i))
			continue;
		if (!have->of[i][0])
			r = not_offered(vf, i, err);
		else if (by_file(vf, i))
			r = write_item(ctx->root, vf, wanted->of[i], i, err);
		else
			r = send_item(vf, ifindex, wanted, have, i, err);
		if (r == -EOPNOTSUPP && c->optional)
			missing = *err;
		else if (r < 0)
			return r;
	}
	return missing.code ? err_set(err, missing.code, "%s", missing.text) : 0;
}

int set_vf_address(const struct kind_ctx *ctx, struct change *c, const char *text, struct err *err)
{
	struct vf vf cleanup(vf_free) = {0};
	struct pf_info pf cleanup_pf_info = {0};
	struct values wanted, have;
	bool netlink;
	int r = parse_wanted(c->desired, &wanted, err);

	if (r == 0)
		r = vf_find(ctx->root, text, &vf, err);
	if (r < 0)
		return r;
	netlink = needs_netlink(&vf, &wanted);
	if (netlink && !ctx->root->live)
		return err_set(err, -EOPNOTSUPP, "netlink speaks to the machine itself only");
	if (netlink)
		r = ask(ctx->root, vf.pf, wanted.of[GUID][0], false, &pf, err);
	if (r == 0)
		r = observe(ctx->root, &vf, netlink ? &pf : NULL, &have, err);
	if (r == 0)
		r = resolve(ctx->root, &vf, &pf, &wanted, err);
	if (r < 0)
		return r;
	/*
	 * Its driver has read the old address and keeps it until it is bound again. Unbound before
	 * the address is there: a run that is killed in between leaves a difference to be seen.
	 */
	if (differs(&wanted, &have, MAC) || differs(&wanted, &have, GUID))
		r = vf_unbind(ctx->root, vf.addr, err);
	if (r == 0)
		r = set_items(ctx, c, &vf, pf.ifindex, &wanted, &have, err);
	return r;
}
