/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A boot on trial panics at an oops, and reboots 30 s after a panic; a boot that GRUB counts does
 * the second (ENV_TRIAL_EXTRA, ENV_BEGUN_EXTRA). Such a boot goes on for months, so
 * kernel.panic_on_oops and kernel.panic (admin-guide/sysctl/kernel.rst) are set back.
 */
#pragma once

#include "base/err.h"
#include "sys/root.h"

struct plan; /* of plan/plan.h */

/*
 * Sets back what the marks on cmdline, of a trial or a count, say was added. A setting stays as it
 * is if it has another value by now, or if the plan, a file of sysctl.d(5) or another argument of
 * the line gives it that value. The new value comes from another argument, else from the kernel's
 * build configuration (/boot/config-RELEASE, /lib/modules/RELEASE/config), else it is 0, the
 * kernel's default. plan: the profile's, or NULL. Tries both settings; returns 0, or the first
 * error.
 */
int panic_set_back(const struct root *root, const char *cmdline, const struct plan *plan,
		   struct err *err);
