/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: drivers/ of Linux 6.12, by file and function. vf is the module with the VFs' PCI ids, rdma
 * the module in infiniband/hw with the auxiliary device's id, or the driver's client. Cards may
 * lack RDMA by i40e_main.c (func_caps.iwarp, of X722 alone), cxgb4/device.c rdma_supported(),
 * hnae3.h hnae3_dev_roce_supported(), mana_en.c mana_rdma_probe(); vmw_pvrdma is a function of its
 * own.
 */
#include "node/drivers.h"

#include <string.h>

#include "base/mem.h"

const struct driver drivers[] = {
	/*
	 * eswitch_offloads.c, mlx5_devlink_eswitch_mode_set(); en_dcbnl.c,
	 * mlx5e_dcbnl_ieee_setapp(). att/netarbiter has mlnx_qos print the default priorities.
	 */
	{"mlx5_core", .vf = "mlx5_core", .rdma = "mlx5_ib", .vfs_do_rdma = true,
	 .eswitch_with_vfs = true, .eighth_of_dscp = true, .replaces_dscp = true},
	{"mlx4_core", .vf = "mlx4_core", .rdma = "mlx4_ib", .vfs_do_rdma = true},
	/*
	 * bnxt_sriov.c, bnxt_sriov_configure(), makes no VFs of a netdev that is down; bnxt_dcb.c,
	 * bnxt_hwrm_set_dcbx_app(). The firmware ignores the mark of RoCE's packets.
	 */
	{"bnxt_en", .vf = "bnxt_en", .rdma = "bnxt_re", .vfs_need_link = true, .roce_by_app = true},
	{"ice", .vf = "iavf", .rdma = "irdma"},
	{"i40e", .vf = "iavf", .rdma = "irdma", .may_lack_rdma = true},
	{"idpf", .vf = "idpf", .rdma = "irdma", .may_lack_rdma = true},
	{"ionic", .vf = "ionic", .rdma = "ionic_rdma"},
	{"qede", .vf = "qede", .rdma = "qedr"},
	{"cxgb4", .vf = "cxgb4vf", .rdma = "iw_cxgb4", .may_lack_rdma = true},
	{"hns3", .rdma = "hns_roce_hw_v2", .may_lack_rdma = true},
	{"mana", .rdma = "mana_ib", .may_lack_rdma = true},
	/* efa_verbs.c, efa_query_port(); without a netdev there is no carrier either */
	{"efa", .rdma = "efa", .always_active = true},
	{"vmxnet3", .rdma = "vmw_pvrdma", .may_lack_rdma = true},
	/* igbvf/netdev.c, igbvf_probe(): "Is the PF interface up?" */
	{"igb", .vf = "igbvf", .vfs_need_link = true},
	{"ixgbe", .vf = "ixgbevf"},
	{"nvme", .vf = "nvme", .disks = "nvme/*/nvme*n*"},
	{"virtio-pci", .netdevs = "virtio*/net/*", .disks = "virtio*/block/*"},
	{"ahci", .disks = "ata*/host*/target*/*/block/*"},
	{0},
};

const struct driver *driver_find(const char *name)
{
	const struct driver *d = drivers;

	while (d->name && (!name || !streq(d->name, name)))
		d++;
	return d;
}
