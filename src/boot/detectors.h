/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own detectors of hangs, which a trial of kernel arguments makes panic
 * (ENV_TRIAL_EXTRA). A trial that is kept is the node's boot for months, and a hang of its
 * workload is no reason to panic: so they are set back once the trial is over.
 */
#pragma once

#include "base/err.h"
#include "plan/change.h"
#include "sys/root.h"

/*
 * Sets back each setting that still has the trial's value and that neither the plan, nor a file of
 * sysctl.d(5), nor another argument of the command line gives that value: to what the argument
 * says, or to what the kernel was built with (/boot/config-RELEASE, /lib/modules/RELEASE/config),
 * or to the kernel's default. plan: the profile's, or NULL if there is none. A setting that this
 * kernel lacks is passed over. 0, or the first error, after all of them were tried.
 */
int detectors_set_back(const struct root *root, const char *cmdline, const struct plan *plan,
		       struct err *err);
/* The same of the one setting that a boot which GRUB counts has (ENV_BEGUN_EXTRA). */
int detectors_set_panic_back(const struct root *root, const char *cmdline, struct err *err);
