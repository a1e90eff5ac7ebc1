/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is asked of the service manager: the one reboot, opening the target, and the time that a
 * trial boot has (units/railhead-trial.timer, units/railhead-trial-guard.service,
 * units/railhead-trial-stop.service).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/change.h"
#include "sys/root.h"

/* `systemctl --force reboot`; see machine_reboot(). Returns only on failure. */
int service_reboot(const struct root *root, struct err *err);

/*
 * Starts railhead-ready.target and with it what Wants it. wait: until the job is done
 * (by hand); a unit that the target itself waits for must not.
 */
int service_open_target(bool wait, struct err *err);

/*
 * For a boot that tries kernel arguments (its command line says so), else 0 and nothing
 * done. begins: the gate has a deadline of its own, so its ten minutes begin anew. over: the
 * verdict is there, the boot is not ended any more: /run/railhead/trial-over holds the units back
 * from then on, however they are started (a soft-reboot, emergency and back), and the kernel's
 * detectors are set back (boot/detectors.h); plan: of the profile, or NULL.
 */
int service_trial_gate_begins(const struct root *root, const char *cmdline, struct err *err);
int service_trial_over(const struct root *root, const char *cmdline, const struct plan *plan,
		       struct err *err);

/* Whether that mark is there; it stays for the whole boot. */
bool service_trial_is_over(const struct root *root);

/*
 * For a boot that GRUB counted (its command line says so), else 0 and nothing done: it came as far
 * as the root file system, so that a panic ends as the kernel was told. Once a boot:
 * /run/railhead/begun-over.
 */
int service_begun_over(const struct root *root, struct err *err);

/*
 * While the verdict is waiting, units/railhead-retry.timer looks again. Nothing to do below
 * another root. Stopping a timer that does not run is success.
 */
int service_retry(const struct root *root, bool on, struct err *err);

/*
 * In so many seconds `railhead admit --end` runs, by a transient timer of systemd's, which needs
 * nothing of railhead's to live until then. over: there is no such timer any more. Nothing to do
 * below another root.
 */
int service_admission_ends(const struct root *root, uint64_t seconds, struct err *err);
int service_admission_over(const struct root *root, struct err *err);

/* Whether a shutdown is under way that ends in a boot; below another root it always is. */
bool service_reboots(const struct root *root);
