/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI bus and the driver core: devices and their locks, which driver takes which
 * device (drivers/pci/pci-driver.c), bind, unbind and probe (drivers/base/bus.c, dd.c),
 * and a device that is pulled out (drivers/pci/hotplug/pciehp).
 */
#include "simnode.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

#define VFIO "vfio-pci"
/* What show() prints of a driver_override that is not set: printf's %s of NULL. */
#define NOT_SET "(null)"

static VEC(struct device *) devices;
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t rescan = PTHREAD_MUTEX_INITIALIZER;

/* --- devices -------------------------------------------------------------------------------- */

static struct device *known_device(const char *addr)
{
	for (size_t i = 0; i < devices.n; i++)
		if (streq(devices.v[i]->addr, addr))
			return devices.v[i];
	return NULL;
}

struct device *pci_add(const char *addr, const char *driver)
{
	struct device *dev;

	pthread_mutex_lock(&devices_lock);
	dev = known_device(addr);
	if (!dev) {
		dev = xnew(struct device);
		snprintf(dev->addr, sizeof(dev->addr), "%s", addr);
		dev->own = driver ? xstrdup(driver) : NULL;
		pthread_mutex_init(&dev->lock, NULL);
		vec_push(&devices, dev);
	}
	pthread_mutex_unlock(&devices_lock);
	return dev;
}

bool pci_there(const struct device *dev)
{
	return tree_has(PCI "%s", dev->addr);
}

struct device *pci_find(const char *addr)
{
	cleanup_free char *name = xstrndup(addr, strcspn(addr, "\n"));
	struct device *dev;

	pthread_mutex_lock(&devices_lock);
	dev = known_device(name);
	pthread_mutex_unlock(&devices_lock);
	return dev && pci_there(dev) ? dev : NULL;
}

void pci_lock(struct device *dev)
{
	pthread_mutex_lock(&dev->lock);
}

void pci_unlock(struct device *dev)
{
	pthread_mutex_unlock(&dev->lock);
}

void pci_rescan_lock(void)
{
	if (global_lock)
		pthread_mutex_lock(&rescan);
}

void pci_rescan_unlock(void)
{
	if (global_lock)
		pthread_mutex_unlock(&rescan);
}

/* --- which driver --------------------------------------------------------------------------- */

/* driver_override, or NULL if it is not set. The caller frees. */
static char *override_of(const struct device *dev)
{
	char *text = tree_get(PCI "%s/driver_override", dev->addr);

	if (text && streq(text, NOT_SET)) {
		free(text);
		return NULL;
	}
	return text;
}

/* pci_match_device(): an override admits its driver alone; vfio-pci is taken only by one. */
static bool matches(const struct device *dev, const char *driver)
{
	cleanup_free char *override = override_of(dev);

	return streq(driver, override ? override : dev->own ? dev->own : "");
}

/* pci_device_can_probe(): the PF's autoprobe keeps drivers off, unless there is an override. */
static bool can_probe(const struct device *dev)
{
	cleanup_free char *pf = tree_link_name(PCI "%s/physfn", dev->addr);
	cleanup_free char *override = override_of(dev);

	return !pf || override || tree_number(PCI "%s/sriov_drivers_autoprobe", pf);
}

static int probe(struct device *dev, const char *driver)
{
	int r;

	log_event("probe %s %s", dev->addr, driver);
	r = script_meet(OP_PROBE, dev->addr, dev, NULL);
	if (r == 0 && !streq(driver, VFIO))
		r = sim_sleep(latency.probe, dev);
	if (r == 0) {
		cleanup_free char *dir = tree_follow(PCI "%s", dev->addr);
		cleanup_free char *to = xasprintf(DRIVERS "%s", driver);

		tree_link(dir, DRIVERS "%s/%s", driver, dev->addr);
		tree_link(to, "%s/driver", dir);
		if (!streq(driver, VFIO))
			netdev_appear(dev);
	}
	log_event("probe-end %s %s", dev->addr, log_result(r));
	return r;
}

void pci_attach(struct device *dev)
{
	cleanup_free char *override = override_of(dev);
	const char *driver = override ? override : dev->own;

	/* A probe that fails is not the writer's error: another driver might have taken it. */
	if (driver && tree_has(DRIVERS "%s", driver) && !tree_has(PCI "%s/driver", dev->addr) &&
	    can_probe(dev))
		probe(dev, driver);
}

void pci_detach(struct device *dev)
{
	cleanup_free char *driver = tree_link_name(PCI "%s/driver", dev->addr);

	if (!driver)
		return;
	if (sriov_remove_all(dev->addr)) /* the PF's driver takes its VFs along */
		sim_sleep(latency.disable, NULL);
	netdev_vanish(dev->addr);
	tree_remove(PCI "%s/driver", dev->addr);
	tree_remove(DRIVERS "%s/%s", driver, dev->addr);
	log_event("unbind %s %s", dev->addr, driver);
}

/* --- what is written ------------------------------------------------------------------------ */

/* "/sys/bus/pci/drivers/NAME/bind"; the caller frees. */
static char *driver_of(const char *name)
{
	const char *driver = name + strlen(DRIVERS);

	return xstrndup(driver, strcspn(driver, "/"));
}

/* Success whether a driver took it or not: what counts is the link (bus_rescan_devices_helper). */
int pci_store_probe(const char *name, char *text)
{
	struct device *dev = pci_find(text);
	int r;

	if (!dev)
		return -ENODEV;
	r = script_meet(OP_WRITE, name, dev, NULL);
	if (r < 0)
		return r;
	pci_lock(dev);
	if (pci_there(dev))
		pci_attach(dev);
	pci_unlock(dev);
	return 0;
}

int pci_store_bind(const char *name, char *text)
{
	cleanup_free char *driver = driver_of(name);
	struct device *dev = pci_find(text);
	int r;

	if (!dev || !matches(dev, driver))
		return -ENODEV;
	r = script_meet(OP_WRITE, name, dev, NULL);
	if (r < 0)
		return r;
	pci_lock(dev);
	if (!pci_there(dev))
		r = -ENODEV;
	else if (tree_has(PCI "%s/driver", dev->addr))
		r = -EBUSY;
	else if (!can_probe(dev))
		r = -ENODEV;
	else
		r = probe(dev, driver);
	pci_unlock(dev);
	return r;
}

int pci_store_unbind(const char *name, char *text)
{
	cleanup_free char *driver = driver_of(name), *bound = NULL;
	struct device *dev = pci_find(text);
	int r;

	if (!dev)
		return -ENODEV;
	r = script_meet(OP_WRITE, name, dev, NULL);
	if (r < 0)
		return r;
	pci_lock(dev);
	bound = tree_link_name(PCI "%s/driver", dev->addr);
	if (bound && streq(bound, driver))
		pci_detach(dev);
	else
		r = -ENODEV;
	pci_unlock(dev);
	return r;
}

/* driver_set_override(): up to the first newline; nothing before it clears. */
int pci_store_override(const char *name, char *text)
{
	const char *addr = name + strlen(PCI);
	cleanup_free char *which = xstrndup(addr, strcspn(addr, "/"));
	struct device *dev = pci_find(which);
	int r;

	if (!dev)
		return -ENODEV;
	if (strlen(text) >= ATTR_MAX - 1)
		return -EINVAL;
	r = script_meet(OP_WRITE, name, dev, NULL);
	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	pci_lock(dev);
	if (pci_there(dev))
		tree_put(*text ? text : NOT_SET, "%s", name);
	else
		r = -ENODEV;
	pci_unlock(dev);
	return r;
}

/* --- pulled out ----------------------------------------------------------------------------- */

struct vanishing {
	struct device *dev;
	uint64_t after;
};

/* The device and its VFs: whoever sleeps for one of them in a driver fails now. */
static void mark_gone(struct device *pf)
{
	cleanup_strv struct strv names = {0};

	pf->gone = true;
	tree_list(&names, PCI "%s", pf->addr);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *vf = NULL;
		struct device *dev;

		if (!str_starts(names.v[i], "virtfn"))
			continue;
		vf = tree_link_name(PCI "%s/%s", pf->addr, names.v[i]);
		dev = vf ? pci_find(vf) : NULL;
		if (dev)
			dev->gone = true;
	}
}

static void leave_group(const struct device *dev)
{
	cleanup_free char *group = tree_link_name(PCI "%s/iommu_group", dev->addr);
	cleanup_strv struct strv rest = {0};

	if (!group)
		return;
	tree_remove("/sys/kernel/iommu_groups/%s/devices/%s", group, dev->addr);
	tree_list(&rest, "/sys/kernel/iommu_groups/%s/devices", group);
	if (!rest.n)
		tree_remove("/sys/kernel/iommu_groups/%s", group);
}

void pci_remove(const char *addr)
{
	cleanup_free char *link = xasprintf(PCI "%s", addr);
	cleanup_free char *dir = tree_follow("%s", link);

	tree_remove("%s", link);
	tree_remove("%s", dir);
	fs_gone(link);
	fs_gone(dir);
}

/*
 * The device's lock before the global one, as a numvfs write takes them. (Hotplug in the
 * kernel takes them the other way round and can deadlock with it; a test would only hang.)
 */
static void *vanish(void *arg)
{
	cleanup_free struct vanishing *v = arg;
	struct device *dev = v->dev;

	if (sim_sleep(v->after, NULL) < 0)
		return NULL;
	mark_gone(dev);
	pci_lock(dev);
	pci_rescan_lock();
	if (pci_there(dev)) {
		log_event("vanish %s", dev->addr);
		pci_detach(dev);
		sriov_remove_all(dev->addr);
		leave_group(dev);
		pci_remove(dev->addr);
	}
	pci_rescan_unlock();
	pci_unlock(dev);
	return NULL;
}

void pci_vanish(struct device *dev, uint64_t after_usec)
{
	struct vanishing *v = xnew(struct vanishing);
	cleanup_free char *physfn = tree_link_name(PCI "%s/physfn", dev->addr);
	struct device *pf = physfn ? pci_find(physfn) : NULL;

	v->dev = pf ? pf : dev;
	v->after = after_usec;
	if (!after_usec)
		mark_gone(v->dev);
	sim_background(vanish, v);
}

/* --- start and end -------------------------------------------------------------------------- */

static void start_device(const char *addr)
{
	cleanup_free char *driver = tree_link_name(PCI "%s/driver", addr);

	pci_add(addr, driver);
	if (!tree_has(PCI "%s/driver_override", addr))
		tree_put(NOT_SET, PCI "%s/driver_override", addr);
	if (tree_has(PCI "%s/sriov_totalvfs", addr))
		sriov_start(addr);
}

void pci_start(void)
{
	static const char *const files[] = {"bind", "unbind"};
	cleanup_strv struct strv addrs = {0}, drivers = {0};

	tree_put("", "/sys/bus/pci/drivers_probe");
	tree_list(&drivers, "/sys/bus/pci/drivers");
	if (!strv_contains(&drivers, VFIO))
		strv_add(&drivers, VFIO); /* as if its module were loaded */
	for (size_t i = 0; i < drivers.n; i++)
		for (size_t f = 0; f < array_len(files); f++)
			tree_put("", DRIVERS "%s/%s", drivers.v[i], files[f]);
	tree_list(&addrs, "/sys/bus/pci/devices");
	for (size_t i = 0; i < addrs.n; i++)
		start_device(addrs.v[i]);
}

void pci_stop(void)
{
	for (size_t i = 0; i < devices.n; i++) {
		pthread_mutex_destroy(&devices.v[i]->lock);
		free(devices.v[i]->own);
		free(devices.v[i]);
	}
	vec_free(&devices);
}
