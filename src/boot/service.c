/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/service.h"

#include "base/mem.h"
#include "boot/mode.h"
#include "boot/panic.h"
#include "boot/trial.h"
#include "kargs/kargs.h"
#include "sys/machine.h"
#include "sys/manager.h"
#include "sys/read.h"
#include "sys/state.h"

#define TRIAL_TIMER "railhead-trial.timer"
#define TRIAL_STOP "railhead-trial-stop.service"
#define TRIAL_OVER "trial-over" /* in STATE_DIR; conditions of the timer and its service */
#define BEGUN_OVER "begun-over"
#define MARK_BEGUN "railhead.begun"
#define GATE "railhead-gate.service"
#define RETRY_TIMER "railhead-retry.timer"

int service_reboot(const struct root *root, struct err *err)
{
	return machine_reboot(root, err);
}

int service_open_target(bool wait, struct err *err)
{
	return machine_start_unit("railhead-ready.target", wait, err);
}

int service_trial_gate_begins(const struct root *root, const char *cmdline, struct err *err)
{
	if (!root->live || !trial_on_line(cmdline))
		return 0;
	return machine_restart_unit(TRIAL_TIMER, err);
}

/*
 * Stops the unit that notes an orderly shutdown, too, because the note has no use after the
 * verdict.
 */
static int stop_clocks(const struct root *root, struct err *err)
{
	static const char *const units[] = {TRIAL_TIMER, TRIAL_STOP};
	struct err later = {0};
	int r = 0;

	for (size_t i = 0; root->live && i < array_len(units); i++) {
		int s = machine_stop_unit(units[i], r < 0 ? &later : err);

		r = r < 0 ? r : s;
	}
	return r;
}

bool service_trial_is_over(const struct root *root)
{
	return root_exists(root, STATE_DIR "/" TRIAL_OVER);
}

int service_trial_over(const struct root *root, const char *cmdline, const struct plan *plan,
		       struct err *err)
{
	struct err later = {0};
	int r, s;

	if (!trial_on_line(cmdline) || service_trial_is_over(root))
		return 0;
	/* First, because no later call does it once the mark is there. */
	r = panic_set_back(root, cmdline, plan, err);
	s = state_write(root, TRIAL_OVER, "the verdict is there\n", r < 0 ? &later : err);
	r = r < 0 ? r : s;
	s = stop_clocks(root, r < 0 ? &later : err);
	return r < 0 ? r : s;
}

int service_begun_over(const struct root *root, struct err *err)
{
	cleanup_free char *cmdline = NULL, *begun = NULL;
	int r;

	if (!boot_is_of_machine(root) || read_attr(root, &cmdline, NULL, "/proc/cmdline") < 0)
		return 0;
	begun = kargs_value(cmdline, MARK_BEGUN);
	if (!begun || root_exists(root, STATE_DIR "/" BEGUN_OVER))
		return 0;
	r = state_write(root, BEGUN_OVER, "the root file system is there\n", err);
	return r < 0 ? r : panic_set_back(root, cmdline, NULL, err);
}

int service_retry(const struct root *root, bool on, struct err *err)
{
	if (!root->live)
		return 0;
	return on ? machine_start_unit(RETRY_TIMER, true, err)
		  : machine_stop_unit(RETRY_TIMER, err);
}

int service_window_ends(const struct root *root, const char *verb, uint64_t seconds,
			struct err *err)
{
	cleanup_free char *name = xasprintf("railhead-%s-end", verb);

	return root->live ? machine_run_later(name, seconds, err) : 0;
}

int service_window_over(const struct root *root, const char *verb, struct err *err)
{
	cleanup_free char *name = xasprintf("railhead-%s-end", verb);

	return root->live ? machine_run_never(name, err) : 0;
}

bool service_reboots(const struct root *root)
{
	return !root->live || machine_reboots();
}

/* As systemctl(1) mask makes it. */
static bool is_masked(const struct root *root, const char *unit)
{
	static const char *const dirs[] = {"/etc/systemd/system", "/run/systemd/system"};

	for (size_t i = 0; i < array_len(dirs); i++) {
		cleanup_free char *to = NULL;

		if (read_link(root, &to, NULL, "%s/%s", dirs[i], unit) == 0 &&
		    streq(to, "/dev/null"))
			return true;
	}
	return false;
}

char *gate_why_absent(const struct root *root)
{
	cleanup_free char *state = NULL;

	if (is_masked(root, GATE))
		return xstrdup(GATE
			       " is masked, so no boot would judge a trial: `systemctl unmask " GATE
			       "`");
	state = root->live ? manager_unit_state(GATE) : NULL;
	if (state && streq(state, "inactive"))
		return xstrdup(GATE " has not run in this boot, so the next one may have none that "
				    "judges a trial: `systemctl enable railhead-early "
				    "railhead-devices railhead-ready.target`, and reboot");
	return NULL;
}
