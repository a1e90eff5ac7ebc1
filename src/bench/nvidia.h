/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVIDIA's libraries, which come with its driver. */
#pragma once

#include "base/err.h"

/* -ENOENT with the remedy if the library is missing. It is never closed, because its threads and
 * exit handlers keep running. */
int nvidia_open(void **ret, const char *library, struct err *err);

/* Of the loaded kernel module: "570.86.15", or "version unknown". buf is returned. */
const char *nvidia_driver_version(char buf[32]);
