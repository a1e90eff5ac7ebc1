// SPDX-License-Identifier: GPL-2.0
/*
 * A PCI function that no longer answers, for tests.
 *
 *   insmod frozen.ko function=0000:41:00.0 how=lock
 *   insmod frozen.ko function=0000:41:00.0 how=configure
 *
 * lock: somebody holds the function's device lock for ever. A write to its
 * sriov_numvfs waits for it, and so does a read on this kernel.
 *
 * configure: the driver's sriov_configure never returns, as with firmware
 * that has hung. Reads work until the first write.
 *
 * There is no way back and no unloading: the guest goes back to a snapshot.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pci.h>

static char *function;
module_param(function, charp, 0444);
static char *how = "lock";
module_param(how, charp, 0444);

static struct pci_dev *frozen;
static int (*driver_configure)(struct pci_dev *dev, int vfs);
static DECLARE_COMPLETION(locked);

/* A thread of its own: a mutex is released by the task that took it. */
static int hold_lock(void *unused)
{
	device_lock(&frozen->dev);
	complete(&locked);
	for (;;)
		msleep(1000);
	return 0;
}

static int never_configure(struct pci_dev *dev, int vfs)
{
	if (dev != frozen)
		return driver_configure(dev, vfs);
	for (;;)
		msleep(1000);
	return 0;
}

static int freeze_lock(void)
{
	struct task_struct *task = kthread_run(hold_lock, NULL, "frozen");

	if (IS_ERR(task))
		return PTR_ERR(task);
	wait_for_completion(&locked);
	return 0;
}

static int freeze_configure(void)
{
	struct pci_driver *driver = to_pci_driver(frozen->dev.driver);

	if (!driver || !driver->sriov_configure)
		return -ENODEV;
	driver_configure = driver->sriov_configure;
	driver->sriov_configure = never_configure;
	return 0;
}

static struct pci_dev *find_function(const char *name)
{
	unsigned int domain, bus, slot, func;

	if (!name || sscanf(name, "%x:%x:%x.%x", &domain, &bus, &slot, &func) != 4)
		return NULL;
	return pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, func));
}

static int __init frozen_init(void)
{
	frozen = find_function(function);
	if (!frozen)
		return -ENODEV;
	return strcmp(how, "lock") == 0 ? freeze_lock() : freeze_configure();
}
module_init(frozen_init);

MODULE_DESCRIPTION("Tests: a PCI function that no longer answers");
MODULE_LICENSE("GPL");
