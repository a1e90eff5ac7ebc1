/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sriov: VFs of each PF of a set. The order makes it fast and safe: the PF's link up if its VF
 * driver waits for it; autoprobe off, so that creating VFs holds the kernel's global lock only
 * briefly; numvfs on each PF; the PF's settings for each VF; autoprobe on; then the VFs of all PFs
 * are bound in parallel, each in its own lane. The eswitch's mode changes before or after the VFs
 * are created, depending on the driver. Ranges are those of the kernel's interfaces; a driver or
 * firmware may reject further values, and its message is passed on.
 */
#include "sections/sriov.h"

#include <linux/if_link.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/file.h"
#include "kinds/netlink.h"
#include "kinds/target.h"
#include "kinds/vf.h"
#include "kinds/vf_address.h"
#include "node/drivers.h"
#include "plan/change.h"
#include "profile/language.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sections/members.h"

enum {
	NUMVFS_MS = 30000, /* one PF's write with autoprobe off: a second or two */
	PER_VF_MS = 250,   /* ... plus the firmware's time for each VF */
	BIND_MS = 30000,
	BINDS = 256,	    /* of all PFs together; a probe mostly sleeps */
	ESWITCH_MS = 60000, /* 3 to 4 s, longer while the firmware is busy */
	ADDRESS_MS = 20000, /* milliseconds, once rtnl is free */
	SET_MS = 30000,	    /* one value of one VF, set by its firmware */
};

/* --- keys: addresses -------------------------------------------------------------------------- */

enum { ADDRESS_DERIVED, ADDRESS_OF_DRIVER };

static const struct spec mac = SCALAR(
	"a MAC address such as \"02:00:00:00:00:01\"", value_id,
	"^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$", .min = 1,
	.note = "write six pairs of lower case hex digits, separated by colons, with an even "
		"first byte (an odd one marks a group address)");
static const struct spec mac_list =
	LIST_OF("a list of MAC addresses, one for each VF", mac, ITEM_TEXT);
static const struct spec mac_rule = ONE_OF_WORDS(
	"a rule for MAC addresses",
	WORDS([ADDRESS_DERIVED] = "derived", [ADDRESS_OF_DRIVER] = "driver"),
	.meanings = WORDS(MEANS("derived", "the same at each boot, derived from the PF's permanent "
					   "address and the VF's index"),
			  MEANS("driver", "the driver's choice, which may be random")));
/* derived: stable, from the PF's own address and the VF's index */
static const struct spec vf_mac =
	EITHER("derived, driver, or a list of MAC addresses, one for each VF", .scalar = &mac_rule,
	       .list = &mac_list);
static const struct spec guid = SCALAR(
	"a GUID such as \"02:00:00:00:00:00:00:01\"", value_id, "^([0-9a-f]{2}:){7}[0-9a-f]{2}$",
	.min = 1, .note = "write eight pairs of lower case hex digits, separated by colons");
static const struct spec guid_list = LIST_OF("a list of GUIDs, one for each VF", guid, ITEM_TEXT);
static const struct spec guid_rule = ONE_OF_WORDS(
	"a rule for GUIDs", WORDS([ADDRESS_DERIVED] = "derived"),
	.meanings = WORDS(
		MEANS("derived",
		      "the same at each boot, derived from the PF's GUID and the VF's index")));
static const struct spec vf_guid = EITHER("derived, or a list of GUIDs, one for each VF",
					  .scalar = &guid_rule, .list = &guid_list);

/* --- keys: each VF ---------------------------------------------------------------------------- */

static const struct spec vlan = INT("a VLAN id", 0, 4094);
/* For InfiniBand the port's policy: Follow, Up, Down. */
static const struct spec link_state = ONE_OF_WORDS(
	"a link state",
	WORDS([IFLA_VF_LINK_STATE_AUTO] = "auto", [IFLA_VF_LINK_STATE_ENABLE] = "enable",
	      [IFLA_VF_LINK_STATE_DISABLE] = "disable"),
	.meanings = WORDS(
		MEANS("auto", "the VF's link follows the port; of InfiniBand the policy Follow"),
		MEANS("enable", "up, also while the port is down: VFs of one PF reach each other"),
		MEANS("disable", "down")));
/* IFLA_VF_RATE is in Mb/s. */
static const struct spec rate =
	SCALAR("a rate such as 10Gb/s", value_amount, "^[1-9][0-9]*[MG][Bb]/s$",
	       .units = &units_rate, .min = MEGABIT, .max = 1600 * GIGABIT);
static const struct spec driver = ONE_OF_WORDS(
	"a binding of VFs", vf_driver_words,
	.meanings =
		WORDS(MEANS("netdev",
			    "the VF's own driver, such as mlx5_core: for the host and containers"),
		      MEANS(DRIVER_VFIO, "for VMs and user space drivers; needs an IOMMU"),
		      MEANS("none", "no driver: another program binds the VFs")));
/* Less than the budget of the devices stage, 150 s. */
static const struct spec timeout = DURATION("a duration such as 30s", SECOND, 120 * SECOND);
/*
 * The PF sets the fields with an item, in this order, because some drivers need an address before
 * they enable its check.
 */
static const struct spec vf = MAP(
	"a map such as {driver: netdev}",
	KEY("driver", &driver,
	    "Driver that VFs are bound to; default netdev, the VF's own driver."),
	KEY("timeout", &timeout,
	    "Time until a VF is bound and its netdev named; default 30s and 250ms for each VF.",
	    .class = KEY_GOVERNS),
	KEY("mtu", &spec_mtu, "MTU of the netdevs of VFs; a VF cannot exceed its PF."),
	KEY("mac", &vf_mac,
	    "MAC addresses of VFs: derived from the PF, left to the driver, or listed.",
	    .item = VF_SETTING(VF_MAC, IFLA_VF_MAC)),
	KEY("guid", &vf_guid,
	    "Node and port GUIDs of InfiniBand VFs: derived from the PF, or listed.",
	    .item = VF_SETTING(VF_GUID, IFLA_VF_IB_NODE_GUID)),
	KEY("vlan", &vlan, "VLAN of the frames of VFs; 0 is no VLAN.",
	    .item = VF_SETTING(VF_NUMBER, IFLA_VF_VLAN)),
	KEY("min_rate", &rate, "Guaranteed rate of a VF.",
	    .item = VF_SETTING(VF_NUMBER, IFLA_VF_RATE, .scale = MEGABIT)),
	KEY("max_rate", &rate, "Highest rate that a VF may send.",
	    .item = VF_SETTING(VF_NUMBER, IFLA_VF_RATE, .second = true, .scale = MEGABIT)),
	KEY("spoof_check", &spec_bool,
	    "Whether frames of a VF with another source address are dropped.",
	    .item = VF_SETTING(VF_SWITCH, IFLA_VF_SPOOFCHK)),
	KEY("trust", &spec_bool, "Whether a VF may change its own address and receive all frames.",
	    .item = VF_SETTING(VF_SWITCH, IFLA_VF_TRUST)),
	KEY("link_state", &link_state, "Link state of VFs; auto follows the port.",
	    .item = VF_SETTING(VF_WORD, IFLA_VF_LINK_STATE)),
	KEY("msix", A_NUMBER_OF("MSI-X vectors of one VF", 0, 2047),
	    "MSI-X vectors of each VF; 0 leaves the count to the PF.", .since = KERNEL(5, 13)),
	KEY("unmanaged", &spec_bool,
	    "Whether NetworkManager and systemd-networkd leave the netdevs of VFs alone."));

/* --- keys: each PF ---------------------------------------------------------------------------- */

static const struct spec count_of_vfs =
	INT("a count of VFs, or max", 0, 65535, .unit = "VFs",
	    .meanings = WORDS(MEANS("max", "as many as each member can have")));
static const struct spec mode = ONE_OF_WORDS(
	"an eswitch mode", eswitch_words,
	.meanings =
		WORDS(MEANS("legacy", "the embedded switch forwards by MAC address and VLAN"),
		      MEANS("switchdev", "each VF has a representor, and flows can be offloaded")));
/* `optional` does not cover the VFs or the mode. */
static const struct spec optional = OPTIONAL_OF("set", WORDS("vf"));
static const struct spec keys = MAP(
	"a map such as {vfs: 8, vf: {driver: netdev}}",
	/* vfs may be inherited from a wider set: see sriov_rules.c */
	KEY("vfs", &count_of_vfs, "Number of VFs of each member, or max for as many as possible."),
	KEY("vf", &vf, "Settings of each VF."),
	KEY("timeout", &timeout,
	    "Time until the kernel has created the VFs of one member; default 30s and 250ms for "
	    "each VF.",
	    .class = KEY_GOVERNS),
	KEY("wait", &timeout,
	    "Time that the devices stage waits at boot for the members and their driver; default "
	    "30s.",
	    .class = KEY_GOVERNS),
	/* Each is a process that sleeps in the kernel; the engine has room for 256. */
	KEY("workers", A_NUMBER_OF("VFs that are bound at the same time", 1, 256),
	    "Number of VFs that are bound at the same time; default 256.", .class = KEY_GOVERNS),
	KEY("mode", &mode, "Mode of the eswitch, set by devlink."),
	KEY("optional", &optional,
	    "Whether the driver may lack settings of vf that the PF applies: true, or [vf]; "
	    "default false.",
	    .class = KEY_GOVERNS),
	KEY("on_drift", &spec_on_drift,
	    "Consequence of other settings of vf after the verdict; default lapse.",
	    .class = KEY_GOVERNS));
static const struct spec by_set = BY_SET(keys, "");

/* --- changes of a PF -------------------------------------------------------------------------- */

struct pf {
	const struct section_ctx *ctx;
	const struct member *member;
	const struct pci_fn *fn;
	unsigned int vfs; /* wanted by the profile */
	struct plan *plan;
};

static const struct ynode *value_of(const struct pf *pf, const char *path)
{
	return member_value(pf->member, path);
}

static unsigned int duration_ms(const struct ynode *value, unsigned int otherwise)
{
	uint64_t usec;

	return ynode_number(value, &usec) ? (unsigned int)(usec / 1000) : otherwise;
}

/* id: "numvfs"; sort: prefix of its target */
static struct change *add(const struct pf *pf, const char *id, const char *sort,
			  const struct target_item *item, enum phase phase, const struct ynode *at)
{
	const char *addr = pf->fn->addr;
	struct change *c = plan_add(pf->plan, "sriov", item->kind, STAGE_DEVICES, phase, at->at,
				    "sriov/%s/%s", addr, id);

	change_on(c, addr, item);
	change_target(c, "%s:%s", sort, addr);
	change_lane(c, "%s", addr);
	return c;
}

/* Whether section link wants the PF down at the end (up: false). */
static bool to_be_down(const struct pf *pf)
{
	const struct ynode *up = function_value(pf->ctx, "link", pf->fn, "up");

	return up && !ynode_is_true(up);
}

static void emit_link(const struct pf *pf, const struct ynode *at)
{
	struct change *c;

	if (!pf->vfs || to_be_down(pf) || !driver_find(pf->fn->driver)->vfs_need_link)
		return;
	c = add(pf, "link", "up", &netdevs_up, PHASE_LINK_UP, at);
	item_desired(c);
	c->deadline_ms = BIND_MS;
}

static void emit_autoprobe(const struct pf *pf, const struct ynode *at, bool hold)
{
	const char *addr = pf->fn->addr;
	struct change *c = plan_add(pf->plan, "sriov", &kind_attr, STAGE_DEVICES,
				    hold ? PHASE_AUTOPROBE_HOLD : PHASE_AUTOPROBE, at->at,
				    hold ? "sriov/%s/autoprobe_hold" : "sriov/%s/autoprobe", addr);

	change_target(c, "/sys/bus/pci/devices/%s/sriov_drivers_autoprobe", addr);
	change_desired(c, hold ? "0" : "1");
	change_lane(c, "%s", addr);
	c->steady = !hold;
	if (hold)
		change_while(c, "sriov/%s/numvfs", addr);
}

static struct change *emit_numvfs(const struct pf *pf, const struct ynode *at)
{
	struct change *c = add(pf, "numvfs", "numvfs", &vf_numvfs, PHASE_NUMVFS, at);

	/* A PF without SR-IOV keeps the word "max": the kind reports the missing capability. */
	c->want = pf->vfs ? (struct value){.type = VALUE_NUMBER, .number = pf->vfs} : at->value;
	item_desired(c);
	/* The profile's limit, or one that a healthy PF stays far below. */
	c->deadline_ms = duration_ms(value_of(pf, "timeout"), NUMVFS_MS + pf->vfs * PER_VF_MS);
	c->queues = true; /* current kernels hold one global lock for all of them */
	return c;
}

static struct change *emit_eswitch(const struct pf *pf)
{
	const struct ynode *value = value_of(pf, "mode");
	struct change *c;

	if (!value)
		return NULL;
	c = driver_find(pf->fn->driver)->eswitch_with_vfs
		    ? add(pf, "eswitch", "eswitch_with_vfs", &eswitch_with_vfs, PHASE_VF_ESWITCH,
			  value)
		    : add(pf, "eswitch", "eswitch", &eswitch_without_vfs, PHASE_ESWITCH, value);
	change_want(c, value);
	c->deadline_ms = ESWITCH_MS;
	return c;
}

/* --- changes of a VF -------------------------------------------------------------------------- */

static struct change *add_of_vf(const struct pf *pf, unsigned int index, const char *id,
				const char *sort, const struct target_item *item, enum phase phase,
				const struct ynode *at)
{
	const char *addr = pf->fn->addr;
	struct change *c = plan_add(pf->plan, "sriov", item->kind, STAGE_DEVICES, phase, at->at,
				    "sriov/%s/vf%u/%s", addr, index, id);

	change_on(c, addr, item);
	c->on.vf = (int)index;
	change_target(c, "%s:%s/%u", sort, addr, index);
	change_lane(c, "%s/vf%u", addr, index);
	return c;
}

/*
 * A set may have ports of both link layers. If it has mac and guid, each port gets its own; a
 * single rule applies to all ports, and a port of the other layer reports an error.
 */
static bool is_for(const struct pf *pf, const struct vf_setting *setting)
{
	bool infiniband = pf->fn->class >> 8 == CLASS_INFINIBAND;

	if (setting->how > VF_GUID || !value_of(pf, "vf.mac") || !value_of(pf, "vf.guid"))
		return true;
	return (setting->how == VF_GUID) == infiniband;
}

/* The value for one VF: from a list the entry at its index; NULL: leave the VF alone. */
static const struct ynode *value_of_vf(const struct ynode *value, unsigned int index)
{
	if (value && value->kind == YAML_LIST)
		return index < value->items.n ? value->items.v[index] : NULL;
	return value && value->value.spec == &mac_rule && ynode_is_word(value, ADDRESS_OF_DRIVER)
		       ? NULL
		       : value;
}

static struct change *emit_address(const struct pf *pf, unsigned int index)
{
	struct change *c = NULL;

	for (const struct field *row = vf.fields; row->name; row++) {
		cleanup_free char *path = xasprintf("vf.%s", row->name);
		const struct ynode *said = row->item ? value_of(pf, path) : NULL;
		const struct ynode *value = value_of_vf(said, index);

		if (!value || !is_for(pf, row->item))
			continue;
		if (!c)
			c = add_of_vf(pf, index, "address", "vf", &vf_address, PHASE_VF_ADDRESS,
				      said);
		change_part(c, row->name, row->item, value);
	}
	if (!c)
		return NULL;
	item_desired(c);
	c->deadline_ms = ADDRESS_MS;
	member_govern(pf->member, "vf", c);
	return c;
}

static struct change *emit_driver(const struct pf *pf, unsigned int index, const struct ynode *at)
{
	const struct ynode *value = value_of(pf, "vf.driver");
	uint64_t workers = BINDS;
	struct change *c = add_of_vf(pf, index, "driver", "driver", &vf_driver, PHASE_VF_DRIVER,
				     value ? value : at);

	c->want = value ? value->value
			: (struct value){.type = VALUE_WORD, .number = VF_DRIVER_NETDEV};
	item_desired(c);
	ynode_number(value_of(pf, "workers"), &workers);
	c->deadline_ms = duration_ms(value_of(pf, "vf.timeout"), BIND_MS + pf->vfs * PER_VF_MS);
	c->parallel = (unsigned int)workers;
	return c;
}

/* Emits the VF's own settings: MSI-X vectors while it has no driver, the MTU once it has one. */
static void emit_own(const struct pf *pf)
{
	const struct ynode *mtu = value_of(pf, "vf.mtu"), *msix = value_of(pf, "vf.msix");
	const char *addr = pf->fn->addr;
	struct change *c;

	for (unsigned int i = 0; i < pf->vfs; i++) {
		if (msix && msix->value.number) { /* 0: the PF's default */
			c = add_of_vf(pf, i, "msix", "msix", &vf_msix, PHASE_VF_ADDRESS, msix);
			change_want(c, msix);
			change_waits_for(c, "sriov/%s/numvfs", addr);
			c->remade = true;
			c->deadline_ms = SET_MS;
		}
		if (mtu) {
			c = add_of_vf(pf, i, "mtu", "mtu", &vf_mtu, PHASE_VF_LINK, mtu);
			change_want(c, mtu);
			change_waits_for(c, "sriov/%s/vf%u/driver", addr, i);
			change_file(c, "/sys/bus/pci/devices/%s/virtfn%u/net/*/mtu", addr, i);
			c->remade = true;
			c->deadline_ms = SET_MS;
		}
	}
}

/* --- network managers ------------------------------------------------------------------------- */

#define RULES "/run/udev/rules.d/70-railhead-vf.rules"
#define NETWORK "/run/systemd/network/00-railhead-vf.network"

/*
 * The rule matches a VF's netdev by its PF, whose uevent file has the address on a separate line,
 * because names and addresses of VFs are unknown before they exist. NetworkManager obeys the
 * property NM_UNMANAGED; systemd-networkd (243 and later) obeys a file that matches our property.
 */
static const struct ynode *make_rules(const struct section_ctx *ctx, const struct members *members,
				      struct str *ret)
{
	const struct ynode *why = NULL;

	for (size_t i = 0; i < members->list.n; i++) {
		const struct member *m = &members->list.v[i];
		const struct ynode *value = member_value(m, "vf.unmanaged");

		if (!ynode_is_true(value))
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
			 m->fn->addr);
	}
	if (why)
		str_add(ret, "LABEL=\"railhead_vf_end\"\n");
	return why;
}

/*
 * Written in the stage that creates the VFs, before them: all PFs are then present, with the
 * drivers by which a set may select them. Rules of an earlier profile of this boot are removed; the
 * other file has no effect without them.
 */
static void emit_unmanaged(const struct section_ctx *ctx, const struct ynode *section,
			   const struct members *members, struct plan *plan)
{
	cleanup_str struct str rules = {0}, network = {0};
	const struct ynode *why = make_rules(ctx, members, &rules);

	if (why) {
		str_addf(&network,
			 FILE_HEADER
			 "[Match]\nProperty=RAILHEAD_UNMANAGED=1\n\n[Link]\nUnmanaged=yes\n",
			 ctx->profile->name);
		plan_add_file(plan, "sriov", STAGE_DEVICES, why->at, NETWORK, network.s,
			      "sriov/unmanaged/networkd")
			->on.item = &vf_network_file;
	}
	if (why || root_exists(ctx->root, RULES))
		plan_add_file(plan, "sriov", STAGE_DEVICES, (why ? why : section)->at, RULES,
			      str_get(&rules), "sriov/unmanaged/udev")
			->on.item = &vf_rules_file;
}

/* --- the section ------------------------------------------------------------------------------ */

/* Orders c, unless NULL, after `on`, which creates again what c sets. Returns the later one. */
static struct change *then(struct change *on, struct change *c)
{
	if (!c)
		return on;
	if (on) {
		change_waits_for(c, "%s", on->id);
		c->remade = true;
	}
	return c;
}

static void emit_pf(const struct pf *pf)
{
	const struct ynode *at = value_of(pf, "vfs");
	bool vfs_first = driver_find(pf->fn->driver)->eswitch_with_vfs;
	bool has_sriov = pf->fn->totalvfs; /* else there is no file, see numvfs */
	struct change *last, **each;

	if (!at)
		return;
	emit_link(pf, at);
	if (has_sriov)
		emit_autoprobe(pf, at, true);
	last = vfs_first ? NULL : emit_eswitch(pf);
	last = then(last, emit_numvfs(pf, at));
	last = then(last, vfs_first ? emit_eswitch(pf) : NULL);
	each = xcalloc(pf->vfs + 1, sizeof(struct change *));
	for (unsigned int i = 0; i < pf->vfs; i++)
		each[i] = then(last, emit_address(pf, i));
	if (has_sriov)
		emit_autoprobe(pf, at, false);
	for (unsigned int i = 0; i < pf->vfs; i++)
		then(each[i], emit_driver(pf, i, at));
	free(each);
}

static void emit(const struct section_ctx *ctx, const struct ynode *section, struct plan *plan)
{
	cleanup(members_free) struct members members = {0};
	cleanup_free struct pf *pfs = NULL;

	members_find(ctx, section, &members);
	pfs = xcalloc(members.list.n + 1, sizeof(*pfs));
	for (size_t i = 0; i < members.list.n; i++) {
		const struct member *m = &members.list.v[i];

		pfs[i] = (struct pf){ctx, m, m->fn, member_vfs(m), plan};
		emit_pf(&pfs[i]);
	}
	emit_unmanaged(ctx, section, &members, plan);
	for (size_t i = 0; i < members.list.n; i++)
		emit_own(&pfs[i]);
}

const struct section section_sriov = {
	.name = "sriov",
	.spec = &by_set,
	.help = "Virtual functions of the members of a set.",
	.class = KEY_SETS,
	.differs = FAULT_NIC_VF_DIFFERS,
	.failed = FAULT_NIC_VF_FAILED,
	.rules = sriov_rules,
	.set_rules = sriov_set_rules,
	.awaits_netdevs = true,
	.emit = emit,
};
