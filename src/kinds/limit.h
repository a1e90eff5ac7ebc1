/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resource limits (getrlimit(2)) of running processes. Limits are taken over when a process starts,
 * so the unit's files may by now say something else: the processes themselves are looked at.
 */
#pragma once

#include "kinds/kind.h"

/* A resource limit by the names that others have for it. */
struct limit {
	const char *name;      /* in limits.conf(5) */
	const char *directive; /* in systemd.exec(5); system.conf has it behind Default */
	const char *shown;     /* in /proc/PID/limits, see proc(5) */
	bool bytes;	       /* limits.conf(5) counts in KiB */
	bool soft_counts;      /* else programs lower their own soft limit as they like */
	/* What services get as their soft limit by default; NULL: as the hard one. */
	const char *soft;
};

extern const struct limit limit_memlock;

/* Whether some directory of systemd's has a file of that name. */
bool limit_unit_exists(const struct root *root, const char *unit);
