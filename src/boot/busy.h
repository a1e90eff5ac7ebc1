/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that an orderly reboot would cut off now, and that will end by itself: a package
 * transaction, the first boot's cloud-init, a lock of systemd-logind that blocks a shutdown.
 */
#pragma once

#include "sys/root.h"

/* The work, as a main clause without full stop. NULL: there is none. Caller frees. */
char *busy_why(const struct root *root);
