/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes of the queues of a function's disks (Documentation/ABI/stable/sysfs-block): on.name is
 * the function's address, on.item a block_item. on.node is a boolean: whether the disk that carries
 * the running system is included (NULL: excluded). desired is as the kernel writes it.
 *
 * Most writes freeze the queue until all I/O in flight is done (block/blk-sysfs.c), so a value that
 * already reads as wanted is never written.
 */
#pragma once

#include "kinds/kind.h"
#include "kinds/target.h"

struct block_item {
	struct target_item sort; /* for io_poll alone, which is checked and never set */
	const char *file;	 /* below queue/ */
	bool of_head;		 /* with NVMe multipath: a file of the head, not of the path */
};

#define BLOCK(of, ...) (&(const struct block_item){.file = (of), __VA_ARGS__})

/* Whether the driver has queues for polled I/O; the wanted value is a boolean. */
extern const struct block_item block_poll_item;
