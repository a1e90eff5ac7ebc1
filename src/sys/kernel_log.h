/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel's log, as far back as its ring buffer goes. */
#pragma once

#include "base/err.h"

/*
 * All of it, a line each with "<6>[  12.345678] " before it; the caller frees *ret. -EPERM
 * without CAP_SYSLOG where kernel.dmesg_restrict is set. syslog(2), SYSLOG_ACTION_READ_ALL.
 */
int kernel_log_read(char **ret, struct err *err);
