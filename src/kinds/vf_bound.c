/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "kinds/function.h"
#include "kinds/vf.h"
#include "node/drivers.h"
#include "sys/machine.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

static bool is_vfio(const struct root *root, const char *addr)
{
	cleanup_free char *driver = function_driver(root, addr);

	return driver && streq(driver, DRIVER_VFIO);
}

const char *vf_user(const struct root *root, const char *addr)
{
	cleanup_strv struct strv names = {0};
	uint64_t enabled;

	/*
	 * The class directory stays while a netdev is in another namespace, and shows only netdevs
	 * of this namespace.
	 */
	if (read_dir(root, &names, NULL, DEV "%s/net", addr) == 0 && !names.n)
		return "its netdev is in another network namespace (of a container)";
	/* vfio-pci enables the device only when a user opens it. */
	if (is_vfio(root, addr) && read_u64(root, &enabled, NULL, DEV "%s/enable", addr) == 0 &&
	    enabled)
		return "a guest uses it";
	return NULL;
}

int vf_unbind(const struct root *root, const char *addr, bool vfio_too, struct err *err)
{
	cleanup_free char *path = xasprintf(DEV "%s/driver/unbind", addr);
	const char *user = vf_user(root, addr);
	int r;

	if (user)
		return err_set(err, -EBUSY,
			       "VF %s is in use (%s)" TO_MEND "run railhead apply when it is "
			       "free",
			       addr, user);
	if (!root_exists(root, DEV "%s/driver", addr) || (!vfio_too && is_vfio(root, addr)))
		return 0;
	r = machine_write_attr(root, path, addr, err);
	return r == -ENODEV ? 0 : r; /* the driver was unbound meanwhile */
}
