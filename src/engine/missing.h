/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of device sets that are gone from the bus, and that an earlier boot of this machine had
 * by the history. There are none if the history is absent, damaged or another machine's, or if
 * cards may have got other addresses since.
 */
#pragma once

#include <stdbool.h>

#include "base/stored.h"
#include "base/vec.h"

/* Owns its texts; "": not known. Times are those of history_time(). */
struct missing {
	char *addr;
	struct strv ids;  /* of the checks of the sets that had it: "devices/gpus/expect" */
	char *model;	  /* "10de:2330 10de:16c1": its ids, and those of its subsystem */
	char *root_port;  /* above it */
	char *numa;	  /* the number of its NUMA node */
	char *last_seen;  /* the last boot with it */
	char *gone_since; /* the first boot without it; "": this boot, before its verdict */
};

struct missing_list {
	VEC(struct missing) list;
	bool sought;
};

extern const struct stored missing_stored[], missing_list_stored[];

/* "last seen in the boot of 2026-11-27 14:02Z, gone since this boot". The caller frees. */
char *missing_text(const struct missing *m);
