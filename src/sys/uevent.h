/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for devices by events, with a deadline: never udev-settle, never a blind sleep. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A socket that gets the uevents of the kernel and of udev (netlink KOBJECT_UEVENT), for who waits
 * for more besides; -1 where there are none (a container). Opened before a look, it has whatever
 * comes after. uevent_drain() takes what has come.
 */
int uevent_open(void);
void uevent_drain(int fd);

/* How long to wait at most until the next look, if no event comes: 5 ms, then twice as long as the
 * last time, 250 ms in the end. Events get lost when the socket overflows, some state (a driver
 * link) appears just after its event, and a tree below --root has no events. */
int uevent_pause_ms(int last);

/*
 * Returns true as soon as ready(arg) does, false once clock_usec() reaches deadline.
 * ready is asked again after uevents, and besides after the pauses above.
 */
bool uevent_wait(bool (*ready)(void *arg), void *arg, uint64_t deadline);
