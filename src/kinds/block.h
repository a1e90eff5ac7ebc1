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
	struct target_item sort;
	const char *file;   /* below queue/ */
	bool of_head;	    /* with NVMe multipath: a file of the head, not of the path */
	unsigned int scale; /* units of the profile in one unit of the file; 0: one */
};

int block_look(const struct kind_ctx *ctx, struct change *c, struct err *err);
int block_set(const struct kind_ctx *ctx, struct change *c, struct err *err);
char *block_desired(const struct change *c);
#define BLOCK(of, ...)                                                  \
	(&(const struct block_item){.sort = {.kind = &kind_block,       \
					     .look = block_look,        \
					     .set = block_set,          \
					     .desired = block_desired}, \
				    .file = (of),                       \
				    __VA_ARGS__})

/* Whether the driver has queues for polled I/O; the wanted value is a boolean. */
extern const struct block_item block_poll_item;
