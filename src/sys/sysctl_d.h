/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sysctl.d(5) says: keys, and the files that systemd-sysctl reads. */
#pragma once

#include "sys/root.h"

/*
 * The path below /proc/sys. Where the first separator of a key is a dot, dots and slashes change
 * places, so that net.ipv4.conf.enp3s0/200.forwarding names the VLAN enp3s0.200. The caller frees.
 */
char *sysctl_path(const char *key);

/* Where systemd-sysctl looks, the first directory first; procps reads that file, too. */
enum { SYSCTL_D_DIRS = 4 };
extern const char *const sysctl_d_dirs[SYSCTL_D_DIRS];
#define SYSCTL_CONF "/etc/sysctl.conf"

/*
 * The value that a line, "key = value" or "-key=value" (the dash: errors are passed over), gives
 * the file at path, below /proc/sys. A part of line, which is cut up; NULL: the line gives none.
 */
char *sysctl_d_value(char *line, const char *path);
/*
 * "/etc/sysctl.d/99-x.conf:3": a line that gives the file at path, below /proc/sys, that value;
 * NULL: none does, of the files that are read. The caller frees.
 */
char *sysctl_d_line(const struct root *root, const char *path, const char *value);
