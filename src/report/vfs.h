/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the VFs of each PF took in a stage that made or bound some:
 *
 *	{"pf": "0000:18:00.0", "vfs": 16, "numvfs": "set", "numvfs_usec": 120000,
 *	 "bound": 16, "failed": 0, "bind_min_usec": 500000, "bind_max_usec": 530000,
 *	 "timeline": [{"part": "numvfs", "from_usec": 9000, "to_usec": 129000}, ...]}
 *
 * numvfs and numvfs_usec are there if their number was set, bind_* if any was bound; both with what
 * was spent in line or waiting for events.
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

#include <jansson.h>

#include "engine/run.h"

/* A new list of such objects, by PF; empty if the stage had none to make or bind. */
json_t *vfs_to_json(const struct run *run, unsigned int stages, const struct stage_result *result);
/* "16 VFs  numvfs 0.12 s  bind 0.50..0.53 s" of such an object; the caller frees. */
char *vfs_line(const json_t *vfs);
