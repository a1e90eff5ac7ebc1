/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for devices by events, with a deadline: never udev-settle, never a blind sleep. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns true as soon as ready(arg) does, false once clock_usec() reaches deadline.
 * ready is asked again after every uevent of the kernel or of udev (netlink
 * KOBJECT_UEVENT, both groups), and every 250 ms besides: events get lost when the
 * socket overflows, and some state (a driver link) appears just after its event.
 */
bool uevent_wait(bool (*ready)(void *arg), void *arg, uint64_t deadline);
