/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which loader booted this machine, as reported by the variables of the Boot Loader Interface
 * (https://systemd.io/BOOT_LOADER_INTERFACE), which last for this boot only, and by ostree's mark.
 */
#pragma once

#include "base/err.h"
#include "sys/root.h"

/*
 * The text of a Boot Loader Interface variable ("LoaderInfo"), with '?' for each non-ASCII
 * character. NULL if the variable is absent, empty or not text. Caller frees.
 */
char *loader_variable(const struct root *root, const char *name);

/*
 * 0 if GRUB may have booted this machine: the variables name GRUB, or are absent. -ENOENT and a
 * sentence with the remedy if another loader did, which passes none of GRUB's variables to the
 * kernel, even if there is a grub.cfg.
 */
int booted_check(const struct root *root, struct err *err);
