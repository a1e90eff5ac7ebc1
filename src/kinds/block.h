/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes of the queues of a function's disks (Documentation/ABI/stable/sysfs-block): on.name is
 * the function's address, on.item a block_item, on.node whether the disk that carries the running
 * system is one of them (a boolean; NULL: it is not). desired is as the kernel writes it.
 *
 * A write of most of them freezes the queue until all I/O in flight is done (block/blk-sysfs.c), so
 * what reads as wanted is never written.
 */
#pragma once

#include "kinds/kind.h"
#include "kinds/target.h"

struct block_item {
	struct target_item sort; /* of io_poll alone, which is judged */
	const char *file;	 /* below queue/ */
	bool of_head;		 /* with NVMe multipath: the head's, not the path's */
};

#define BLOCK(of, ...) (&(const struct block_item){.file = (of), __VA_ARGS__})

/* Whether the driver has queues for polled I/O; a boolean is wanted. */
extern const struct block_item block_poll_item;
