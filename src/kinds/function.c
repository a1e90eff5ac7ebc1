/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/function.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "sys/clock.h"
#include "sys/read.h"
#include "sys/uevent.h"

#define DEV "/sys/bus/pci/devices/"

enum { GOING_US = 1000000 };

struct function {
	const struct root *root;
	const char *addr;
};

static bool is_gone(void *arg)
{
	const struct function *fn = arg;

	return !root_exists(fn->root, DEV "%s", fn->addr);
}

int function_gone(const struct root *root, const char *addr, struct err *err)
{
	struct function fn = {root, addr};

	if (!is_gone(&fn))
		return 0;
	err_set(err, -ENODEV,
		"%s is gone from the bus: pulled out, or its link failed; the kernel log says "
		"which (AER, DPC, pciehp)" TO_MEND "reseat it or power-cycle the node",
		addr);
	return err_fault(err, -ENODEV, FAULT_PCI_GONE);
}

int function_going(const struct root *root, const char *addr, int r, struct err *err)
{
	struct function fn = {root, addr};

	if (r != -EIO && r != -ENODEV && r != -ENOENT && r != -ENXIO)
		return 0;
	uevent_wait(is_gone, &fn, clock_usec() + GOING_US);
	return function_gone(root, addr, err);
}

int function_vf(const struct root *root, const char *pf, int vf, char **ret, struct err *err)
{
	return read_link_name(root, ret, err, DEV "%s/virtfn%d", pf, vf);
}

int function_or_vf(const struct root *root, const char *pf, int vf, char **ret, struct err *err)
{
	if (vf >= 0)
		return function_vf(root, pf, vf, ret, err);
	*ret = xstrdup(pf);
	return 0;
}

/*
 * Counts links instead of reading sriov_numvfs, whose show() takes the device lock: a look must not
 * hang behind a writer that is stuck.
 */
int function_count_vfs(const struct root *root, const char *pf, unsigned int *ret, struct err *err)
{
	cleanup_strv struct strv names = {0};
	int r = read_dir(root, &names, err, DEV "%s", pf);

	*ret = 0;
	for (size_t i = 0; r == 0 && i < names.n; i++)
		*ret += str_starts(names.v[i], "virtfn");
	return r;
}

static int by_index(const void *a, const void *b)
{
	const struct netdev *x = a, *y = b;

	return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

int function_netdevs(const struct root *root, const char *addr, struct netdevs *ret,
		     struct err *err)
{
	static const char *const places[] = {DEV "%s/net/*/ifindex",
					     DEV "%s/virtio*/net/*/ifindex"};

	/* A function has its netdevs in one of the two places. */
	for (size_t p = 0; p < array_len(places) && !ret->n; p++) {
		cleanup_free char *pattern = xasprintf(places[p], addr);
		cleanup_strv struct strv files = {0};

		read_glob(root, pattern, &files, NULL);
		for (size_t i = 0; i < files.n; i++) {
			struct netdev dev = {0};
			uint64_t index;
			char *end = strrchr(files.v[i], '/');

			if (read_u64(root, &index, NULL, "%s", files.v[i]) < 0)
				continue;
			*end = '\0';
			snprintf(dev.name, sizeof(dev.name), "%s", strrchr(files.v[i], '/') + 1);
			dev.ifindex = (unsigned int)index;
			vec_push(ret, dev);
		}
	}
	if (!ret->n)
		return err_set(err, -ENODEV,
			       "%s has no netdev in this network namespace; is its driver loaded?",
			       addr);
	qsort(ret->v, ret->n, sizeof(*ret->v), by_index);
	return 0;
}

int function_netdev(const struct root *root, const char *addr, struct netdev *ret, struct err *err)
{
	struct netdevs all = {0};
	int r = function_netdevs(root, addr, &all, err);

	if (r == 0)
		*ret = all.v[0];
	free(all.v);
	return r;
}

/*
 * Checks for the directory, because a netdev or RDMA device that was moved to the network namespace
 * of a container is visible only there, and its directory stays, empty from here
 * (drivers/base/core.c, class_dir). Nothing is missing then, and the device must be left alone.
 */
char *function_driver(const struct root *root, const char *addr)
{
	char *driver = NULL;

	read_link_name(root, &driver, NULL, DEV "%s/driver", addr);
	return driver;
}

bool function_has(const struct root *root, const char *addr, const char *class)
{
	return root_exists(root, DEV "%s/%s", addr, class);
}

bool function_gave_away(const struct root *root, const char *addr, const char *class)
{
	cleanup_free char *ibdev = NULL;
	struct netdev dev;

	if (!function_has(root, addr, class))
		return false;
	if (streq(class, "net"))
		return function_netdev(root, addr, &dev, NULL) < 0;
	ibdev = function_ibdev(root, addr);
	return !ibdev;
}

char *function_ibdev(const struct root *root, const char *addr)
{
	cleanup_strv struct strv devices = {0};

	return read_dir(root, &devices, NULL, DEV "%s/infiniband", addr) == 0 && devices.n
		       ? xstrdup(devices.v[0])
		       : NULL;
}

/*
 * udev writes the time at which it finished a device to the line I: of the device's file in the
 * database. The file alone proves nothing: since systemd 250 udev creates it before it renames a
 * netdev, with E:ID_RENAMING=1 (rename_netif() in src/udev/udev-event.c).
 */
static bool is_initialized(const struct root *root, unsigned int ifindex)
{
	cleanup_free char *text = NULL;

	return read_text(root, &text, NULL, "/run/udev/data/n%u", ifindex) == 0 &&
	       (str_starts(text, "I:") || strstr(text, "\nI:"));
}

bool function_named(const struct root *root, const char *addr)
{
	struct netdevs all = {0};
	bool named = function_netdevs(root, addr, &all, NULL) == 0;

	for (size_t i = 0; i < all.n; i++)
		named = named && is_initialized(root, all.v[i].ifindex);
	vec_free(&all);
	return named;
}

static bool is_named(void *arg)
{
	const struct function *fn = arg;

	return function_named(fn->root, fn->addr);
}

int function_wait_named(const struct root *root, const char *addr, uint64_t deadline,
			struct err *err)
{
	struct function fn = {root, addr};

	if (uevent_wait(is_named, &fn, deadline))
		return 0;
	return err_set(err, -ETIMEDOUT,
		       "udev has not named the netdev of %s in time; is systemd-udevd running, and "
		       "do its rules finish?",
		       addr);
}
