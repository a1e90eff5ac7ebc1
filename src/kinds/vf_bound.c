/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/str.h"
#include "kinds/netlink.h"
#include "sys/machine.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

bool vf_in_use(const struct root *root, const char *addr)
{
	cleanup_strv struct strv names = {0};

	/* The class directory stays while a netdev is away, and shows those of our namespace. */
	return read_dir(root, &names, NULL, DEV "%s/net", addr) == 0 && !names.n;
}

int vf_unbind(const struct root *root, const char *addr, struct err *err)
{
	cleanup_free char *path = xasprintf(DEV "%s/driver/unbind", addr), *driver = NULL;
	int r;

	read_link_name(root, &driver, NULL, DEV "%s/driver", addr);
	if (!driver || streq(driver, "vfio-pci"))
		return 0;
	if (vf_in_use(root, addr))
		return err_set(
			err, -EBUSY,
			"%s is in use: its netdev is in another network namespace; it gets its "
			"driver anew when that container has ended",
			addr);
	r = machine_write_attr(root, path, addr, err);
	return r == -ENODEV ? 0 : r; /* gone by itself meanwhile */
}
