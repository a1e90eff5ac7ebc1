/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot/service.h"

#include "sys/machine.h"

int service_reboot(const struct root *root, struct err *err)
{
	return machine_reboot(root, err);
}

int service_open_target(bool wait, struct err *err)
{
	return machine_start_unit("railhead-ready.target", wait, err);
}
