/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the VFs of each PF took in a stage that made or bound some:
 *
 *	{"pf": "0000:18:00.0", "vfs": 16, "numvfs": "set", "numvfs_usec": 120000,
 *	 "bound": 16, "failed": 0, "bind_min_usec": 500000, "bind_max_usec": 530000}
 *
 * numvfs and numvfs_usec are there if their number was set, bind_* if any was bound; both with what
 *was spent in line or waiting for events.
 */
#pragma once

#include <jansson.h>

#include "engine/run.h"

/* A new list of such objects, by PF; empty if the stage had none to make or bind. */
json_t *vfs_to_json(const struct run *run, unsigned int stages, enum stage stage);
/* "16 VFs  numvfs 0.12 s  bind 0.50..0.53 s" of such an object; the caller frees. */
char *vfs_line(const json_t *vfs);
