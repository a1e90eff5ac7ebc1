/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the service manager says of itself, and of this process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Whether this process is one of railhead's own services. By its control group and not by
 * libsystemd: where that library is missing the units must still know what they are. By hand, a
 * shell in the same slice is in session-N.scope or a getty's service.
 */
bool in_own_service(void);
/* By a line of /proc/PID/cgroup: "0::/system.slice/railhead-early.service". */
bool is_own_service(const char *cgroup);

/*
 * Which user space this is, for comparing: a soft-reboot (systemd-soft-reboot.service(8), since
 * systemd 254) begins a new one, with the kernel, its boot id and /run as they were.
 * "soft-reboots N" (SoftRebootsCount of org.freedesktop.systemd1(5), since 256); "" before that,
 * without systemd, and where it can't be asked, as by an ordinary user before dbus.service runs.
 * Without libsystemd "not known", which is another one. (UserspaceTimestamp of 254 and 255 survives
 * a soft-reboot.) Caller frees.
 */
char *manager_user_space(void);

/*
 * A property of org.freedesktop.systemd1(5)'s Manager that is a number, such as DefaultLimitNOFILE.
 * 0; -EOPNOTSUPP: no service manager answers; -ELIBACC; -EIO: it has no such property.
 */
int manager_number(const char *property, uint64_t *ret, struct err *err);

/*
 * ActiveState of a unit, which is loaded for that: "activating", "failed" (systemd(1)); also
 * "activating" where a job of the unit still waits for others. NULL where the service manager does
 * not answer. Caller frees.
 */
char *manager_unit_state(const char *unit);

/*
 * Whether this user space has come past sysinit.target. False, too, where the service manager does
 * not answer. A unit that the target wants and that has failed is started again by whatever pulls
 * the target in, a login for instance: for such a start this is true.
 */
bool manager_has_booted(void);
