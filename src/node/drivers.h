/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the drivers of PCI functions: code asks for a fact, and compares no name.
 * kinds/refusal.c has the errors of drivers, kinds/roce_vendors.c the places of DCQCN.
 */
#pragma once

#include <stdbool.h>

#define DRIVER_VFIO "vfio-pci"

struct driver {
	const char *name;      /* as in sysfs */
	const char *vf;	       /* the driver of its VFs; NULL: unknown */
	const char *rdma;      /* the module with its RDMA devices; NULL: none */
	bool may_lack_rdma;    /* only some of its cards do RDMA */
	bool vfs_do_rdma;      /* where the PF has an RDMA device, each VF gets one too */
	bool vfs_need_link;    /* while the PF's link is down, VFs come late or not at all */
	bool eswitch_with_vfs; /* changes its eswitch mode with VFs, unbound; others without VFs */
	bool eighth_of_dscp;   /* the default priority of a DSCP is an eighth of the DSCP */
	bool replaces_dscp;    /* a second entry for a DSCP replaces the first */
	bool roce_by_app;      /* RoCE has the priority of its entry in the APP table */
	bool always_active;    /* an RDMA port reports ACTIVE in every state of its link */
	const char *netdevs;   /* a pattern for those of a device below the function; or NULL */
	const char *disks;     /* a pattern for its disks below the function; NULL: as of SCSI */
};

/* The table, which ends with a row without name, whose facts are those of an unknown driver. */
extern const struct driver drivers[];
/* The row of a driver; the last row for an unknown name, or NULL. */
const struct driver *driver_find(const char *name);
