/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVIDIA's libraries, which come with its driver. */
#pragma once

#include "base/err.h"

/* -ENOENT with the remedy where there is no such library. It is never closed: its threads
 * and exit handlers would run into nothing. */
int nvidia_open(void **ret, const char *library, struct err *err);

/* Of the loaded kernel module: "570.86.15", or "version unknown". buf is returned. */
const char *nvidia_driver_version(char buf[32]);
