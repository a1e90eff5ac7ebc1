/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for devices by events, with a deadline; never udev-settle, never a blind sleep. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A socket for the uevents of the kernel and of udev (netlink KOBJECT_UEVENT), for callers that
 * also wait for other events; -1 if unavailable (a container). If opened before a look, the socket
 * reports every later event. uevent_drain() reads the pending events.
 */
int uevent_open(void);
void uevent_drain(int fd);

/*
 * The longest wait before the next look if no event comes: 5 ms, then twice the last wait, up to
 * 250 ms. Events get lost when the socket overflows, some state (a driver link) appears just after
 * its event, and a tree below --root has no events.
 */
int uevent_pause_ms(int last);

/*
 * Returns true as soon as ready(arg) does, false once clock_usec() reaches deadline. Calls ready
 * again after uevents and after the pauses above; a call that took a time T is followed by a rest
 * of 4 T or of a tenth of the wait so far, whichever is longer, and 250 ms at most.
 */
bool uevent_wait(bool (*ready)(void *arg), void *arg, uint64_t deadline);
