/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own hang detectors, which a trial of kernel arguments turns into panics
 * (ENV_TRIAL_EXTRA). The boot of a trial that succeeds goes on for months, and a hang of its
 * workload must not panic the node, so the settings are set back once the trial is over.
 */
#pragma once

#include "base/err.h"
#include "plan/change.h"
#include "sys/root.h"

/*
 * Sets back each setting that still has the trial's value, unless the plan, a file of sysctl.d(5)
 * or another argument of the command line gives that value. The new value comes from the argument,
 * else from the kernel's build configuration (/boot/config-RELEASE, /lib/modules/RELEASE/config),
 * else from the kernel's default. plan: the profile's, or NULL. Settings that this kernel lacks are
 * skipped. Tries all settings; returns 0, or the first error.
 */
int detectors_set_back(const struct root *root, const char *cmdline, const struct plan *plan,
		       struct err *err);
/* The same for the single setting of a boot that GRUB counts (ENV_BEGUN_EXTRA). */
int detectors_set_panic_back(const struct root *root, const char *cmdline, struct err *err);
