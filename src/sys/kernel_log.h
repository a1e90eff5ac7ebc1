/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel's log, as far back as its ring buffer reaches. */
#pragma once

#include "base/err.h"

/*
 * Reads the whole log; each line begins with "<6>[  12.345678] ". The caller frees *ret. -EPERM
 * without CAP_SYSLOG where kernel.dmesg_restrict is set. syslog(2), SYSLOG_ACTION_READ_ALL.
 */
int kernel_log_read(char **ret, struct err *err);
