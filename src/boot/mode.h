/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether railhead may act in this boot at all. In kdump, rescue, emergency and single mode, in an
 * initramfs stopped for debugging, with another init, on live and network roots and in containers
 * railhead alters nothing, and above all never reboots.
 */
#pragma once

#include <stdbool.h>

#include "sys/root.h"

enum boot_mode {
	BOOT_NORMAL,
	BOOT_OFF,     /* railhead=off, 0, no or false */
	BOOT_SPECIAL, /* see *why */
};

/*
 * why: a sentence fragment such as "rescue mode (systemd.unit=rescue.target)", NULL for
 * BOOT_NORMAL; the caller frees it; the pointer may be NULL. cmdline is that of this boot. Reads
 * below root: proc/vmcore, run/systemd/container, proc/1/environ. A live root inside a container
 * counts as a container. On a root that is not live only the command line counts.
 */
enum boot_mode boot_mode(const struct root *root, const char *cmdline, char **why);
/*
 * Whether the root's files belong to the machine's boots: false in a crash kernel, a container or a
 * chroot.
 */
bool boot_is_of_machine(const struct root *root);
