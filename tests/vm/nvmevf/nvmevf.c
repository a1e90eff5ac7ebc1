// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Brings the VFs of an NVMe controller online, for tests:
 *
 *   nvmevf /dev/nvme0 VFS
 *
 * A secondary controller has neither queues nor interrupts until the primary one gives it some
 * (NVMe base specification, Virtualization Management), and no driver can start it before.
 * Each gets two queues and one interrupt. The VFs have controller ids 1 to VFS.
 */
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

enum { VIRT_MGMT = 0x1c, ASSIGN = 8, ONLINE = 9, QUEUES = 0, INTERRUPTS = 1 };

static void manage(int fd, unsigned int controller, unsigned int action, unsigned int resource,
		   unsigned int number)
{
	struct nvme_admin_cmd cmd = {
		.opcode = VIRT_MGMT,
		.cdw10 = controller << 16 | resource << 8 | action,
		.cdw11 = number,
	};
	int r = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd);

	if (r == 0)
		return;
	fprintf(stderr, "nvmevf: controller %u, action %u: ", controller, action);
	if (r < 0)
		perror("NVME_IOCTL_ADMIN_CMD");
	else
		fprintf(stderr, "NVMe status 0x%x\n", r);
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned int vfs = argc == 3 ? (unsigned int)atoi(argv[2]) : 0;
	int fd = vfs ? open(argv[1], O_RDWR) : -1;

	if (fd < 0) {
		fputs("usage: nvmevf DEVICE VFS\n", stderr);
		return 1;
	}
	for (unsigned int i = 1; i <= vfs; i++) {
		manage(fd, i, ASSIGN, QUEUES, 2);
		manage(fd, i, ASSIGN, INTERRUPTS, 1);
		manage(fd, i, ONLINE, 0, 0);
	}
	return 0;
}
