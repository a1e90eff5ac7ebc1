/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/nvme.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/mem.h"

enum {
	GET_LOG_PAGE = 0x02,
	HEALTH = 0x02,
	HEALTH_MS = 3000, /* below NETLINK_APART_MS, so that the drive's own error is reported */
};
#define ALL_NAMESPACES 0xffffffffu

int nvme_health(const struct root *root, const char *name, uint8_t ret[NVME_HEALTH_SIZE],
		struct err *err)
{
	struct nvme_admin_cmd cmd = {
		.opcode = GET_LOG_PAGE,
		.nsid = ALL_NAMESPACES,
		.addr = (uint64_t)(uintptr_t)ret,
		.data_len = NVME_HEALTH_SIZE,
		/* the number of dwords less one, above the page */
		.cdw10 = (NVME_HEALTH_SIZE / 4 - 1) << 16 | HEALTH,
		.timeout_ms = HEALTH_MS,
	};
	cleanup_free char *path = xasprintf("/dev/%s", name);
	cleanup_close int fd = root_open_device(root, path);
	int r;

	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	memset(ret, 0, NVME_HEALTH_SIZE);
	r = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd);
	if (r < 0)
		return err_set(err, -errno, "/dev/%s: its health log: %s", name, strerror(errno));
	if (r > 0)
		return err_set(err, -EIO,
			       "/dev/%s rejects the request for its health log: status 0x%x", name,
			       (unsigned int)r);
	return 0;
}
