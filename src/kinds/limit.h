/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resource limits (getrlimit(2)) of running processes. A process takes over its limits when it
 * starts, and the unit's files may have changed since, so the processes themselves are looked at.
 */
#pragma once

#include "kinds/kind.h"

/* A resource limit, by its names in other programs. */
struct limit {
	const char *name;      /* in limits.conf(5) */
	const char *directive; /* in systemd.exec(5); with the prefix Default in system.conf */
	const char *shown;     /* in /proc/PID/limits, see proc(5) */
	bool bytes;	       /* limits.conf(5) counts in KiB */
	bool soft_counts;      /* otherwise programs lower their own soft limit as they like */
	/* The default soft limit of services; NULL: the same as the hard limit. */
	const char *soft;
};

extern const struct limit limit_memlock;

/* Whether a unit directory of systemd has a file of that name. */
bool limit_unit_exists(const struct root *root, const char *unit);
