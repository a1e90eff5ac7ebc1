/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in the documentation of the kernel, as packaged by Debian (kernel_names.inc lists the
 * versions); independent of the running kernel. A name without documentation may belong to a
 * vendor's kernel, but is mostly misspelt.
 */
#pragma once

#include <stdbool.h>

#include "sys/root.h"

/*
 * Checks the name of an argument, before its '='. A name with a dot belongs to a module and is
 * always known.
 */
bool kernel_arg_known(const char *arg);
/* The most similar known name; NULL: no name is near. The caller frees. */
char *kernel_arg_near(const char *arg);

/*
 * Checks a path below /proc/sys: "net/core/rmem_max". Also true for paths in a module's directory
 * that has no documentation.
 */
bool sysctl_known(const char *path);
/* Checks the same, without these directories. */
bool sysctl_documented(const char *path);
/* Like kernel_arg_near(), with dots: "net.core.rmem_max". */
char *sysctl_near(const char *path);

/*
 * A hint for the author of a profile: "did you mean 'vm.swappiness'?"; without a near name, a
 * question whether the name is misspelt.
 */
char *kernel_name_hint(const char *near); /* the caller frees */

/* The module that sysctls come with. */
struct sysctl_module {
	const char *prefix;
	const char *name;
	const char *users; /* a pattern of other modules that load it; or NULL */
};
/* The row of an absolute path; NULL: none is known. */
const struct sysctl_module *sysctl_module_of(const char *path);

/*
 * The interface in an absolute path of /proc/sys: "eth0.5" in
 * "/proc/sys/net/ipv4/conf/eth0.5/rp_filter". NULL: none. The caller frees.
 */
char *sysctl_interface(const char *path);

/*
 * Whether a kernel, driver or machine may legitimately lack a file, given a path or pattern without
 * a match: all missing names are names of the kernel, or are below an absent device or module
 * directory.
 */
bool kernel_path_may_lack(const struct root *root, const char *path);
