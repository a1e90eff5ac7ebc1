/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A drive's report on its own health: the SMART / Health Information log page (NVM Express Base
 * Specification, Get Log Page, identifier 02h), by NVME_IOCTL_ADMIN_CMD of linux/nvme_ioctl.h.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "sys/root.h"

enum { NVME_HEALTH_SIZE = 512 };

/*
 * Reads the page of the whole controller, "nvme0", and changes nothing on the drive. Blocks as long
 * as the kernel's driver does, which waits 3 s for a missing drive, and then for its reset. -EIO
 * with the drive's status if the drive rejects the command.
 */
int nvme_health(const struct root *root, const char *name, uint8_t ret[NVME_HEALTH_SIZE],
		struct err *err);
