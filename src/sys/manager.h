/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries the service manager about itself and about this process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Whether this process belongs to one of railhead's own services. Uses the control group instead of
 * libsystemd, because the units must know without that library. A shell that a person uses in the
 * same slice is in session-N.scope or a getty's service.
 */
bool in_own_service(void);
/* The same for a line of /proc/PID/cgroup: "0::/system.slice/railhead-early.service". */
bool is_own_service(const char *cgroup);

/*
 * Identifies the user space, for comparison: a soft-reboot (systemd-soft-reboot.service(8), since
 * systemd 254) begins a new user space, and keeps the kernel, its boot id and /run. "soft-reboots
 * N" (SoftRebootsCount of org.freedesktop.systemd1(5), since 256). "" on earlier versions, without
 * systemd, and if the manager cannot be asked, for example by an ordinary user before dbus.service
 * runs. "not known" without libsystemd, which counts as a different user space. (UserspaceTimestamp
 * of 254 and 255 survives a soft-reboot.) Caller frees.
 */
char *manager_user_space(void);

/*
 * A numeric property of the Manager of org.freedesktop.systemd1(5), such as DefaultLimitNOFILE. 0;
 * -EOPNOTSUPP: no service manager answers; -ELIBACC; -EIO: no such property.
 */
int manager_number(const char *property, uint64_t *ret, struct err *err);

/*
 * ActiveState of a unit, which this call loads: "activating", "failed" (systemd(1)); also
 * "activating" if a job of the unit still waits for other jobs. NULL if the service manager does
 * not answer. Caller frees.
 */
char *manager_unit_state(const char *unit);

/*
 * Microseconds from one run of the timer's unit to the next, by OnUnitActiveSec= and
 * OnUnitInactiveSec= (systemd.timer(5)): the shortest, because a drop-in adds to the unit's own. 0:
 * the timer has none, or the service manager does not answer.
 */
uint64_t manager_timer_interval(const char *timer);

/*
 * The program that forbids a shutdown, by a lock of systemd-logind that blocks it
 * (systemd-inhibit(1)): "fwupd (Firmware update in progress)". NULL if none does, or logind does
 * not answer: then logind forbids nothing either. Caller frees.
 */
char *manager_inhibitor(void);

/*
 * Whether this user space has passed sysinit.target. Also false if the service manager does not
 * answer. When a failed unit that the target wants is started again by another unit that pulls in
 * the target, such as a login, this returns true.
 */
bool manager_has_booted(void);
