/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for devices by events, with a deadline: never udev-settle, never a blind sleep. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns true as soon as ready(arg) does, false once clock_usec() reaches deadline.
 * ready is asked again after every uevent of the kernel or of udev (netlink
 * KOBJECT_UEVENT, both groups), and besides after 5 ms, then less and less often down to
 * every 250 ms: events get lost when the socket overflows, some state (a driver link)
 * appears just after its event, and a tree below --root has no events.
 */
bool uevent_wait(bool (*ready)(void *arg), void *arg, uint64_t deadline);
