/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a drive says of its own health: the SMART / Health Information log page (NVM Express Base
 * Specification, Get Log Page, identifier 02h), by NVME_IOCTL_ADMIN_CMD of linux/nvme_ioctl.h.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "sys/root.h"

enum { NVME_HEALTH_SIZE = 512 };

/*
 * Of the whole controller, "nvme0". Reads, and changes nothing on the drive. Blocks as long as the
 * kernel's driver does, which waits for a drive that is gone: 3 s, and then for its
 * reset. -EIO with the drive's status where it rejects the command.
 */
int nvme_health(const struct root *root, const char *name, uint8_t ret[NVME_HEALTH_SIZE],
		struct err *err);
