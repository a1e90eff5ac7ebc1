/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time that the VFs of each PF took in a stage that made or bound VFs.
 *
 * The time line lists the parts of the work in their order. A part lasts from the begin of its
 * first change to the end of its last change, counted from the begin of the stage:
 *
 *	link_up	     the PF's link
 *	eswitch	     the PF's eswitch mode
 *	numvfs	     the kernel makes the VFs, or waits in line to
 *	vfs_seen     the links of the VFs are there, and the module of their driver
 *	addresses    the settings that the PF makes for the VFs
 *	bind	     the kernel probes their driver
 *	ready	     their netdevs and RDMA devices are there, and udev has named them
 *	mtu	     of their netdevs
 *	look_again   the second look at all changes of the stage, at its end
 */
#pragma once

#include "base/stored.h"
#include "engine/run.h"

/* Times in microseconds. */
struct vfs_part {
	char *name;
	uint64_t from, to; /* since the stage began */
};

/* One PF. The times include waiting for locks and events. */
struct vfs_work {
	char *pf;
	unsigned int vfs, bound, failed;
	enum change_state numvfs; /* UNKNOWN: their number was not set */
	uint64_t numvfs_time;
	uint64_t bind_min, bind_max; /* bind_max 0: none was bound */
	VEC(struct vfs_part) timeline;
};

struct vfs_works {
	VEC(struct vfs_work) list; /* by PF */
};

/* Empty if the stage had no VFs to make or bind. */
void vfs_works_find(const struct run *run, unsigned int stages, const struct stage_result *result,
		    struct vfs_works *ret);
/* How they are stored, as an array. */
extern const struct stored vfs_works_stored[];
/* "16 VFs  numvfs 0.12 s  bind 0.50..0.53 s"; the caller frees. */
char *vfs_work_line(const struct vfs_work *work);
