/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which names the kernel has, whatever the one that runs here has: those of its documents, as
 * Debian packages them (kernel_names.inc says of which versions). A name that no document has may
 * be one of a vendor's kernel, and is a misspelt one most of the time.
 */
#pragma once

#include <stdbool.h>

#include "sys/root.h"

/* Of an argument, by what stands before its '='; one with a dot is a module's, and always known. */
bool kernel_arg_known(const char *arg);
/* The name that may be meant by an unknown one; NULL: none is near. The caller frees. */
char *kernel_arg_near(const char *arg);

/*
 * By the path below /proc/sys: "net/core/rmem_max". One in the directory of a module
 * that no document is about is known.
 */
bool sysctl_known(const char *path);
/* As kernel_arg_near(), with dots: "net.core.rmem_max". */
char *sysctl_near(const char *path);

/* For an author: "did you mean 'vm.swappiness'?"; without a near name whether it is misspelt. */
char *kernel_name_hint(const char *near); /* the caller frees */

/*
 * The interface that a file of /proc/sys is about, by its whole path: "eth0.5" of
 * "/proc/sys/net/ipv4/conf/eth0.5/rp_filter". NULL: none. The caller frees.
 */
char *sysctl_interface(const char *path);

/*
 * Whether a kernel, driver or machine may well lack the file, a path or pattern of which nothing
 * is there: each of the missing names is one that the kernel has, or they are below a device or a
 * module's directory that is absent.
 */
bool kernel_path_may_lack(const struct root *root, const char *path);
