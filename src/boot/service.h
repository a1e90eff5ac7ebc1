/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the service manager: the one reboot, opening the target, and the time limit of a
 * trial boot (units/railhead-trial.timer, units/railhead-trial-stop.service).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/root.h"

struct plan; /* of plan/plan.h */

/* See machine_reboot(). */
int service_reboot(const struct root *root, struct err *err);

/*
 * Starts railhead-ready.target and the units that it Wants. wait: until the job is done (by hand).
 * A unit that the target itself waits for must not wait.
 */
int service_open_target(bool wait, struct err *err);

/*
 * Both act only in a boot that tries kernel arguments, as its command line shows; else they return
 * 0.
 *
 * begins: the gate has a deadline of its own, so the trial's ten minutes begin again.
 *
 * over: the verdict is there, so the boot must not be ended any more. /run/railhead/trial-over
 * holds the units back from then on, however they are started (a soft-reboot, emergency and back),
 * and how the kernel panics is set back (boot/panic.h). plan: of the profile, or NULL.
 */
int service_trial_gate_begins(const struct root *root, const char *cmdline, struct err *err);
int service_trial_over(const struct root *root, const char *cmdline, const struct plan *plan,
		       struct err *err);

/* Whether /run/railhead/trial-over exists; it stays for the whole boot. */
bool service_trial_is_over(const struct root *root);

/*
 * Acts only in a boot that GRUB counted, as its command line shows; else returns 0. The boot has
 * reached the root file system, so the kernel's own panic setting is put back. Acts once per boot:
 * /run/railhead/begun-over.
 */
int service_begun_over(const struct root *root, struct err *err);

/*
 * While the verdict is waiting, units/railhead-retry.timer looks again. Does nothing below another
 * root. Stopping a timer that does not run succeeds.
 */
int service_retry(const struct root *root, bool on, struct err *err);

/*
 * After that many seconds `railhead VERB --end` runs (verb: "admit" or "maintain"), started by a
 * transient systemd timer, so that no process of railhead's has to live until then. over: removes
 * that timer. Does nothing below another root.
 */
int service_window_ends(const struct root *root, const char *verb, uint64_t seconds,
			struct err *err);
int service_window_over(const struct root *root, const char *verb, struct err *err);

/* Whether a shutdown is under way that ends in a boot; always true below another root. */
bool service_reboots(const struct root *root);

/*
 * Why the next boot would have no gate that judges a trial: its unit is masked, or has not run in
 * this boot, as where the units are disabled. A clause with the remedy; NULL: it will. Caller
 * frees.
 */
char *gate_why_absent(const struct root *root);
