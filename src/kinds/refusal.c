/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: net/dcb/dcbnl.c and drivers/pci/iov.c; drivers/net/ethernet: mellanox/mlx5/core/en_dcbnl.c
 * and eswitch_offloads.c, intel/ice/ice_dcb_nl.c and ice_eswitch.c, broadcom/bnxt/bnxt_dcb.c,
 * intel/igb/igb_main.c (igb_ndo_set_vf_bw()).
 */
#include "kinds/refusal.h"

#include <errno.h>
#include <linux/if_link.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/*
 * The first row that fits counts. In a row of DCB "{netdev}" is the port; the text of DCB_MODE
 * follows "turn it off".
 */
static const struct {
	unsigned int what;
	const char *driver; /* NULL: any */
	int code;
	int really; /* the errno to report instead; 0: the same */
	const char *text;
} rows[] = {
	{DCB_AT_ALL, "ionic", -EOPNOTSUPP, 0,
	 "the adapter's own program sets it (nicctl update qos, nicctl update port)"},
	{DCB_MODE, "ice", -EPERM, 0, ": ethtool --set-priv-flags {netdev} fw-lldp-agent off"},
	{DCB_MODE, NULL, -EPERM, 0,
	 " in the firmware's settings (mlx5: LLDP_NB_DCBX_P1; bnxt: niccli, lldp_nearest_bridge "
	 "and "
	 "dcbx_mode) and cold-boot"},
	{DCB_DSCP, "bnxt_en", -ENOMEM, -EOPNOTSUPP,
	 "the driver returned ENOTSUPP (-524), of which one byte arrives: the adapter's firmware "
	 "does not map DSCPs" TO_MEND "write trust: pcp and leave dscp_map out"},
	{DCB_GROUPS, "bnxt_en", -EINVAL, 0,
	 "it accepts this only in the host's DCBX mode and with its own firmware agents off "
	 "(niccli, options dcbx_mode and lldp_nearest_bridge; then a cold boot)"},
	{DCB_GROUPS, "ice", -EINVAL, 0,
	 "it accepts this only while its firmware's LLDP agent is off (ethtool --set-priv-flags "
	 "{netdev} fw-lldp-agent off) and the port is in no bond"},
	{DCB_DSCP, "mlx5_core", -EOPNOTSUPP, 0,
	 "this function does not manage its port (multi-host, or privileges that the firmware "
	 "keeps from the host)" TO_MEND "leave trust and dscp_map out of the profile"},
	{DCB_ETS, NULL, -EINVAL, 0,
	 "the shares of all ets classes, including those that the profile does not name, must sum "
	 "up to 100%, and the driver must have that many classes"},
	{DCB_BUFFER, NULL, -EINVAL, 0,
	 "together the buffers are larger than the port's, or a priority's buffer is too small"},
	{DCB_GROUPS, NULL, -EPERM, 0, "CAP_NET_ADMIN is required"},
	{PF_NUMVFS, NULL, -EBUSY, 0,
	 "the PF has VFs that are in use, or that another program has just created" TO_MEND
	 "look for VMs and containers that have them (fuser /dev/vfio/*, lsns -t net) and for "
	 "other programs "
	 "that write sriov_numvfs (a udev rule, an SR-IOV operator)"},
	{PF_NUMVFS, NULL, -ERANGE, 0,
	 "the driver accepts fewer VFs than sriov_totalvfs" TO_MEND
	 "request fewer, or raise the firmware's number"},
	{PF_NUMVFS, NULL, -ENOMEM, 0,
	 "no room for the VFs' memory or bus numbers" TO_MEND
	 "use pci=realloc, or the BIOS options for SR-IOV and above-4G decoding"},
	{PF_NUMVFS, NULL, -EINVAL, 0,
	 "the driver rejected the number: a mode of the PF may prevent VFs (eswitch, bonding, safe "
	 "mode); the kernel log says which"},
	{PF_NUMVFS, NULL, -EIO, 0,
	 "the PF did not answer its driver; the kernel log says what failed (firmware, AER)" TO_MEND
	 "reset the PF or power-cycle the node"},
	{PF_NUMVFS, NULL, -EPERM, 0,
	 "kernel, driver or firmware forbid VFs on this PF; the kernel log says why"},
	{PF_NUMVFS, NULL, -EOPNOTSUPP, 0,
	 "the driver offers no VFs in this state of the PF; the kernel log says why"},
	{PF_ESWITCH, NULL, -EBUSY, 0,
	 "the eswitch stays busy (a firmware reset, traffic rules, or another change of it)" TO_MEND
	 "run railhead apply again when that is over"},
	{PF_ESWITCH, NULL, -EPERM, 0,
	 "this function may not change it (part of a Socket Direct card, or a function whose "
	 "eswitch another host manages)" TO_MEND "leave sriov.SET.mode out"},
	{PF_ESWITCH, NULL, -EOPNOTSUPP, 0,
	 "the driver rejects the mode in the present state (IPsec offload, active traps) or has no "
	 "such mode" TO_MEND "change the state, or leave sriov.SET.mode out"},
	{PF_ESWITCH, NULL, -EINVAL, 0, "the driver rejects the mode; the kernel log says why"},
	{VF_ATTR + IFLA_VF_MAC, NULL, -EINVAL, 0, "an address must be unicast"},
	{VF_ATTR + IFLA_VF_RATE, "igb", -EINVAL, 0,
	 "igb accepts no min_rate, and max_rate only while the PF's link is up"},
	{VF_MSIX, "mlx5_core", -ENXIO, 0,
	 "its firmware does not share MSI-X vectors among VFs" TO_MEND
	 "turn on DYNAMIC_VF_MSIX_TABLE in the firmware, or leave vf.msix out"},
	{VF_MSIX, NULL, -ENXIO, 0,
	 "the driver of the PF offers no MSI-X count per VF, as mlx5_core does" TO_MEND
	 "leave vf.msix out"},
};

static bool covers(unsigned int row, unsigned int what)
{
	return row == what || (row == DCB_GROUPS && what < DCB_GROUPS);
}

const char *refusal(unsigned int what, const char *driver, int *code)
{
	for (size_t i = 0; i < array_len(rows); i++)
		if (covers(rows[i].what, what) && rows[i].code == *code &&
		    (!rows[i].driver || (driver && streq(rows[i].driver, driver)))) {
			*code = rows[i].really ? rows[i].really : *code;
			return rows[i].text;
		}
	return NULL;
}
