/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What booted this machine, as far as it says so itself: the variables of the Boot Loader
 * Interface (https://systemd.io/BOOT_LOADER_INTERFACE), which are of this boot and not kept
 * over the next, and ostree's mark.
 */
#pragma once

#include "base/err.h"
#include "sys/root.h"

/*
 * The text of such a variable ("LoaderInfo"); what is not ASCII shows as '?'. NULL if it is
 * absent, empty or no text. Caller frees.
 */
char *loader_variable(const struct root *root, const char *name);

/*
 * 0 if GRUB may have booted this machine: it said so, or nothing spoke. -ENOENT and a sentence
 * with the remedy if something else did that gives a kernel no variables of GRUB's, whatever
 * grub.cfg lies around.
 */
int booted_check(const struct root *root, struct err *err);
