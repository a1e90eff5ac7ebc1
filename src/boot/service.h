/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of the service manager: the one reboot, and opening the target. */
#pragma once

#include "base/err.h"
#include "sys/root.h"

/* `systemctl --force reboot`; see machine_reboot(). Returns only on failure. */
int service_reboot(const struct root *root, struct err *err);

/*
 * Starts railhead-ready.target and with it what Wants it. wait: until the job is done
 * (by hand); a unit that the target itself waits for must not.
 */
int service_open_target(bool wait, struct err *err);
