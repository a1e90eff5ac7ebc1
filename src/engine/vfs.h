/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the VFs of each PF took in a stage that made or bound some.
 *
 * The time line has the parts of the work that there were, in their order, from the first change of
 * a part to the end of its last, since the stage began:
 *
 *	link_up	     the PF's link
 *	eswitch	     its mode
 *	numvfs	     the kernel makes the VFs, or waits in line to
 *	vfs_seen     their links are there, and the module of their driver
 *	addresses    what the PF sets for them
 *	bind	     the kernel probes their driver
 *	ready	     their netdevs and RDMA devices are there, and udev has named them
 *	mtu	     of their netdevs
 *	look_again   all changes of the stage, by what is there at its end
 */
#pragma once

#include "engine/run.h"

/* Times in microseconds. */
struct vfs_part {
	char *name;
	uint64_t from, to; /* since the stage began */
};

/* Of one PF. Its times hold what was spent in line or waiting for events, too. */
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

/* Empty if the stage had none to make or bind. */
void vfs_works_find(const struct run *run, unsigned int stages, const struct stage_result *result,
		    struct vfs_works *ret);
void vfs_works_free(struct vfs_works *works);
/* "16 VFs  numvfs 0.12 s  bind 0.50..0.53 s"; the caller frees. */
char *vfs_work_line(const struct vfs_work *work);
