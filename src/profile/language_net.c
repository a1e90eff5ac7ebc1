/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile language: VFs, by device set. Ranges are those of the kernel's interfaces; where the
 * driver or the firmware knows better it refuses, and its words are passed on.
 */
#include "profile/language.h"

#define NUMBER(table, text, least, most)     \
	static const struct spec table = {   \
		.what = "a number of " text, \
		.unit = text,                \
		.check = value_int,          \
		.min = (least),              \
		.max = (most),               \
	}

/* --- sriov -------------------------------------------------------------------------------- */

static const struct spec vf_count = {
	.what = "a count of VFs, or max",
	.unit = "VFs",
	.check = value_int,
	.words = WORDS("max"),
	.min = 0,
	.max = 65535,
};
static const struct spec vf_driver = {
	.what = "a binding of VFs",
	.check = value_word,
	.words = WORDS("netdev", "vfio-pci", "none"),
};
/* IFLA_MTU; 65535 is the most that any driver takes. */
const struct spec spec_mtu = {
	.what = "an MTU in bytes",
	.unit = "bytes",
	.check = value_int,
	.min = 68,
	.max = 65535,
};
static const struct spec mac = {
	.what = "a MAC address such as \"02:00:00:00:00:01\"",
	.check = value_mac,
	.pattern = "^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$",
};
static const struct spec mac_list = {
	.kind = SPEC_LIST,
	.what = "a list of MAC addresses, one for each VF",
	.item = &mac,
	.identity = ITEM_TEXT,
};
static const struct spec mac_rule = {
	.what = "a rule for MAC addresses",
	.check = value_word,
	.words = WORDS("derived", "driver"),
};
/* derived: stable, from the PF's own address and the VF's index */
static const struct spec vf_mac = {
	.kind = SPEC_EITHER,
	.what = "derived, driver, or a list of MAC addresses, one for each VF",
	.scalar = &mac_rule,
	.list = &mac_list,
};
static const struct spec guid = {
	.what = "a GUID such as \"02:00:00:00:00:00:00:01\"",
	.check = value_guid,
	.pattern = "^([0-9a-f]{2}:){7}[0-9a-f]{2}$",
};
static const struct spec guid_list = {
	.kind = SPEC_LIST,
	.what = "a list of GUIDs, one for each VF",
	.item = &guid,
	.identity = ITEM_TEXT,
};
static const struct spec guid_rule = {
	.what = "a rule for GUIDs",
	.check = value_word,
	.words = WORDS("derived"),
};
static const struct spec vf_guid = {
	.kind = SPEC_EITHER,
	.what = "derived, or a list of GUIDs, one for each VF",
	.scalar = &guid_rule,
	.list = &guid_list,
};
static const struct spec vlan = {
	.what = "a VLAN id",
	.check = value_int,
	.min = 0,
	.max = 4094,
};
/* IFLA_VF_LINK_STATE; of InfiniBand the port's policy: Follow, Up, Down */
static const struct spec vf_link_state = {
	.what = "a link state",
	.check = value_word,
	.words = WORDS("auto", "enable", "disable"),
};
/* IFLA_VF_RATE counts in Mb/s. */
static const struct spec vf_rate = {
	.what = "a rate such as 10Gb/s",
	.check = value_rate,
	.min = MEGABIT,
	.max = 1600 * GIGABIT,
	.pattern = "^[1-9][0-9]*[MG][Bb]/s$",
};
NUMBER(vf_msix, "MSI-X vectors of one VF", 0, 2047);
/* Below the budget of the devices stage, 150 s. */
static const struct spec sriov_timeout = {
	.what = "a duration such as 30s",
	.check = value_duration,
	.min = SECOND,
	.max = 120 * SECOND,
};
static const struct spec vf = {
	.kind = SPEC_MAP,
	.what = "a map such as {driver: netdev}",
	.fields = FIELDS(
		KEY("driver", &vf_driver,
		    "Driver that VFs are bound to; default netdev, the VF's own driver."),
		KEY("timeout", &sriov_timeout,
		    "Time until a VF is bound and its netdev named; default 30s and 250ms for each "
		    "VF.",
		    .class = KEY_GOVERNS),
		KEY("mtu", &spec_mtu, "MTU of the netdevs of VFs; a VF cannot exceed its PF."),
		KEY("mac", &vf_mac,
		    "MAC addresses of VFs: derived from the PF, left to the driver, or listed."),
		KEY("guid", &vf_guid,
		    "Node and port GUIDs of InfiniBand VFs: derived from the PF, or listed."),
		KEY("trust", &spec_bool,
		    "Whether a VF may change its own address and receive all frames."),
		KEY("spoof_check", &spec_bool,
		    "Whether frames of a VF with another source address are dropped."),
		KEY("vlan", &vlan, "VLAN that the frames of VFs are put into; 0 is none."),
		KEY("link_state", &vf_link_state, "Link state of VFs; auto follows the port."),
		KEY("min_rate", &vf_rate, "Rate that a VF is guaranteed."),
		KEY("max_rate", &vf_rate, "Rate that a VF may send at most."),
		KEY("msix", &vf_msix, "MSI-X vectors of each VF; 0 leaves the count to the PF.",
		    .since = KERNEL(5, 13)),
		KEY("unmanaged", &spec_bool,
		    "Whether NetworkManager and systemd-networkd leave the netdevs of VFs alone.")),
};
/* Each is a process that sleeps in the kernel; the engine has room for so many. */
NUMBER(workers, "VFs that are bound at the same time", 1, 256);
static const struct spec eswitch_mode = {
	.what = "an eswitch mode",
	.check = value_word,
	.words = WORDS("legacy", "switchdev"),
};
static const struct spec sriov_set = {
	.kind = SPEC_MAP,
	.what = "a map such as {vfs: 8, vf: {driver: netdev}}",
	/* vfs may come from a wider set: see rules_sriov.c */
	.fields = FIELDS(KEY("vfs", &vf_count,
			     "Number of VFs of each member, or max for all that it can have."),
			 KEY("vf", &vf, "Settings of each VF."),
			 KEY("timeout", &sriov_timeout,
			     "Time until the kernel has made the VFs of one member; default 30s "
			     "and 250ms for each VF.",
			     .class = KEY_GOVERNS),
			 KEY("wait", &sriov_timeout,
			     "Time that the devices stage waits at boot for the members and their "
			     "driver; default 30s.",
			     .class = KEY_GOVERNS),
			 KEY("workers", &workers,
			     "Number of VFs that are bound at the same time; default 256.",
			     .class = KEY_GOVERNS),
			 KEY("mode", &eswitch_mode, "Mode of the eswitch, set by devlink.")),
};
BY_SET(spec_sriov, sriov_set, "");
