/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile language: what concerns network devices, by device set. Ranges are those of
 * the kernel's interfaces; where the driver or the firmware knows better (a ring's length,
 * DCQCN's parameters) it refuses, and its words are passed on.
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

/* --- qos ---------------------------------------------------------------------------------- */

static const struct spec prio = {
	.what = "a priority",
	.check = value_int,
	.min = 0,
	.max = 7,
};
static const struct spec prio_list = {
	.kind = SPEC_LIST,
	.what = "a list of priorities, such as [3]",
	.item = &prio,
	.identity = ITEM_TEXT,
};
static const struct spec dscp = {
	.what = "a DSCP",
	.check = value_int,
	.min = 0,
	.max = 63,
};
static const struct spec dscps = {
	.what = "one DSCP or several, such as 26 or 24-31,46",
	.check = value_numbers,
	.max = 63,
	.pattern = "^0*[0-9]{1,2}(-0*[0-9]{1,2})?(,0*[0-9]{1,2}(-0*[0-9]{1,2})?)*$",
};
static const struct spec dscp_map = {
	.kind = SPEC_MAP_OF,
	.any = "DSCPS",
	.what = "a map of DSCPs to priorities, such as {26: 3, 48: 6}",
	.key = &dscps,
	.item = &prio,
};
static const struct spec trust = {
	.what = "a trust mode",
	.check = value_word,
	.words = WORDS("dscp", "pcp"),
};
static const struct spec prio_to_class = {
	.kind = SPEC_MAP_OF,
	.any = "PRIORITY",
	.what = "a map of priorities to traffic classes or buffers, such as {0: 0, 3: 3}",
	.key = &prio,
	.item = &prio,
};
static const struct spec scheduling = {
	.what = "a transmission selection",
	.check = value_word,
	.words = WORDS("ets", "strict", "vendor"),
};
static const struct spec class_scheduling = {
	.kind = SPEC_MAP_OF,
	.any = "CLASS",
	.what = "a map of traffic classes to ets, strict or vendor",
	.key = &prio,
	.item = &scheduling,
};
static const struct spec percent = {
	.what = "a share such as 50%",
	.check = value_percent,
	.min = 0,
	.max = 100,
	.pattern = "^(100|[1-9]?[0-9])%$",
};
static const struct spec class_shares = {
	.kind = SPEC_MAP_OF,
	.any = "CLASS",
	.what = "a map of traffic classes to shares, such as {0: 10%, 3: 90%}",
	.key = &prio,
	.item = &percent,
};
static const struct spec ets = {
	.kind = SPEC_MAP,
	.what = "a map (priorities, scheduling, bandwidth)",
	.fields = FIELDS(
		KEY("priorities", &prio_to_class, "Traffic class of each priority."),
		KEY("scheduling", &class_scheduling,
		    "Transmission selection of traffic classes; classes that are not named keep "
		    "theirs."),
		KEY("bandwidth", &class_shares, "Share of each traffic class; the sum is 100%.")),
};
static const struct spec buffer_size = {
	.what = "a size such as 256K",
	.check = value_size,
	.max = 1 << 30,
	.pattern = "^(0T|" NUMBER_OF "[KMG])$",
};
static const struct spec buffer_sizes = {
	.kind = SPEC_MAP_OF,
	.any = "BUFFER",
	.what = "a map of buffers to sizes, such as {0: 128K, 1: 512K}",
	.key = &prio,
	.item = &buffer_size,
};
static const struct spec buffers = {
	.kind = SPEC_MAP,
	.what = "a map (sizes, priorities)",
	.fields = FIELDS(KEY("sizes", &buffer_sizes, "Size of each receive buffer of the port."),
			 KEY("priorities", &prio_to_class, "Receive buffer of each priority.")),
};
/* mlx5 takes what is below 1000 for metres and leaves the rest alone (en_dcbnl.c). */
static const struct spec cable_length = {
	.what = "a cable's length such as 5m",
	.check = value_metres,
	.min = 1,
	.max = 999,
	.pattern = "^[1-9][0-9]{0,2}m$",
};
/* The whole byte, ECN bits included: DSCP 26 with ECT(0) is 106. */
static const struct spec tos = {
	.what = "a ToS byte",
	.check = value_int,
	.min = 0,
	.max = 255,
};

/* DCQCN: names of the driver's own files; where a range is not published it is the field's. */
static const struct spec dcqcn_interval = {
	.what = "a duration such as 4us",
	.check = value_duration,
	.min = 0,
	.max = UINT32_MAX,
};
static const struct spec dcqcn_rtt = {
	.what = "a duration such as 1us",
	.check = value_duration,
	.min = 1,
	.max = 131071,
};
static const struct spec dcqcn_rate = {
	.what = "a rate such as 50Mb/s",
	.check = value_rate,
	.min = 0,
	.max = 1600 * GIGABIT,
	.pattern = "^" NUMBER_OF "[MG][Bb]/s$",
};
NUMBER(fixed_point, "1024ths", 0, 1023);
NUMBER(initial_alpha, "1024ths", 1, 1023);
NUMBER(byte_units, "the firmware's byte units", 0, INT32_MAX);
NUMBER(rounds, "rounds", 1, 31);
NUMBER(gain, "bits of the gain", 10, 11);
static const struct spec dcqcn_np = {
	.kind = SPEC_MAP,
	.what = "a map such as {cnp_dscp: 48}",
	.fields = FIELDS(
		KEY("cnp_dscp", &dscp, "DSCP of congestion notification packets."),
		KEY("cnp_802p_prio", &prio, "VLAN priority of congestion notification packets."),
		KEY("min_time_between_cnps", &dcqcn_interval,
		    "Least time between two congestion notification packets of a flow.")),
};
static const struct spec dcqcn_rp = {
	.kind = SPEC_MAP,
	.what = "a map of parameters of the reaction point",
	.fields = FIELDS(
		KEY("clamp_tgt_rate", &spec_bool,
		    "Whether each notification lowers the target rate to the current rate."),
		KEY("clamp_tgt_rate_after_time_inc", &spec_bool,
		    "Whether a notification lowers the target rate after the timer raised the "
		    "rate, too."),
		KEY("rpg_time_reset", &dcqcn_interval,
		    "Time between two increases of the rate without a notification."),
		KEY("rpg_byte_reset", &byte_units,
		    "Amount sent between two increases of the rate without a notification."),
		KEY("rpg_threshold", &rounds,
		    "Increases by time or bytes after which additive increase begins."),
		KEY("rpg_max_rate", &dcqcn_rate, "Highest rate of a flow; 0Mb/s is the line rate."),
		KEY("rpg_ai_rate", &dcqcn_rate, "Step of additive increase."),
		KEY("rpg_hai_rate", &dcqcn_rate, "Step of hyper-active increase."),
		KEY("rpg_min_dec_fac", &percent,
		    "Smallest part of the rate that one decrease may leave."),
		KEY("rpg_min_rate", &dcqcn_rate, "Lowest rate of a flow."),
		KEY("rate_to_set_on_first_cnp", &dcqcn_rate,
		    "Rate of a flow after its first notification; 0Mb/s leaves the rate alone."),
		KEY("dce_tcp_g", &fixed_point,
		    "Weight of a new sample in the estimate of congestion, alpha."),
		KEY("dce_tcp_rtt", &dcqcn_rtt, "Time between two updates of alpha."),
		KEY("rate_reduce_monitor_period", &dcqcn_interval,
		    "Least time between two decreases of the rate."),
		KEY("initial_alpha_value", &initial_alpha,
		    "Alpha of a flow at its first notification."),
		KEY("rpg_gd", &gain, "Weight of alpha in a decrease, as an exponent of 2.")),
};
static const struct spec dcqcn = {
	.kind = SPEC_MAP,
	.what = "a map such as {priorities: [3], np: {cnp_dscp: 48}}",
	.fields = FIELDS(KEY("priorities", &prio_list,
			     "Priorities on which DCQCN is on; it is off on all others."),
			 KEY("np", &dcqcn_np, "Parameters of the notification point."),
			 KEY("rp", &dcqcn_rp, "Parameters of the reaction point.")),
};
static const struct spec qos_set = {
	.kind = SPEC_MAP,
	.what = "a map such as {trust: dscp, pfc: [3]}",
	.fields =
		FIELDS(KEY("trust", &trust, "Field that the priority of a packet is taken from."),
		       KEY("dscp_map", &dscp_map,
			   "Priority of each DSCP; DSCPs that are not named keep theirs."),
		       KEY("pfc", &prio_list, "Priorities that are lossless (PFC); no others are."),
		       KEY("ets", &ets, "Enhanced transmission selection (802.1Qaz)."),
		       KEY("buffers", &buffers, "Receive buffers of the port."),
		       KEY("cable_length", &cable_length,
			   "Length of the cable, from which mlx5 computes the headroom of a "
			   "lossless buffer."),
		       KEY("roce_tos", &tos,
			   "ToS byte that RDMA-CM gives new connections: the DSCP times four, plus "
			   "two bits of ECN."),
		       KEY("traffic_class", &tos, "ToS byte that is forced upon all queue pairs."),
		       KEY("dcqcn", &dcqcn, "Congestion control of RoCE.")),
};
BY_SET(spec_qos, qos_set, ", such as {rails: {trust: dscp, pfc: [3]}}");
