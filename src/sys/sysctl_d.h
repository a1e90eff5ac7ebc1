/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of sysctls: the rules of sysctl.d(5) and of kernel arguments, and systemd-sysctl's files.
 */
#pragma once

#include "sys/root.h"

#define PROC_SYS "/proc/sys/"

/*
 * The path below /proc/sys. If the first separator of a key is a dot, dots and slashes change
 * places, so that net.ipv4.conf.enp3s0/200.forwarding names the VLAN enp3s0.200. The caller frees.
 */
char *sysctl_path(const char *key);
/* The same as an absolute path. The caller frees. */
char *sysctl_file(const char *key);
/*
 * The same of the name of a kernel argument, "sysctl.vm.swappiness" or "sysctl/vm/swappiness", in
 * which each dot is a slash (process_sysctl_arg() of fs/proc/proc_sysctl.c). NULL: another
 * argument. The caller frees.
 */
char *sysctl_arg_file(const char *name);

/* The directories of systemd-sysctl, the first directory first; procps also reads SYSCTL_CONF. */
enum { SYSCTL_D_DIRS = 4 };
extern const char *const sysctl_d_dirs[SYSCTL_D_DIRS];
#define SYSCTL_CONF "/etc/sysctl.conf"

/*
 * The value that a line, "key = value" or "-key=value" (the dash: ignore errors), gives to the file
 * at path, below /proc/sys. Returns a part of line, which is modified; NULL: no value for that
 * file.
 */
char *sysctl_d_value(char *line, const char *path);
/*
 * "/etc/sysctl.d/99-x.conf:3": the line in these files that gives the value to the file at path,
 * below /proc/sys; NULL: no line. The caller frees.
 */
char *sysctl_d_line(const struct root *root, const char *path, const char *value);
