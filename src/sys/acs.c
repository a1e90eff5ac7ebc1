/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/acs.h"

#include <errno.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sys/read.h"

enum {
	ACS_REQUIRED = PCI_ACS_CTRL_VALID | PCI_ACS_CTRL_REQ_RED | PCI_ACS_CTRL_CMPLT_RED |
		       PCI_ACS_CTRL_FORWARD
};

/* libpci's error handler must not return, and its own exits; only main() may do that. */
static __thread jmp_buf *on_error;

static void __attribute__((noreturn)) give_up(char *msg, ...)
{
	(void)msg;
	longjmp(*on_error, 1);
}

static void ignore(char *msg, ...)
{
	(void)msg;
}

/* Only ports that face downwards can keep the functions below them apart. */
static bool faces_down(struct pci_dev *dev)
{
	struct pci_cap *exp = pci_find_cap(dev, PCI_CAP_ID_EXP, PCI_CAP_NORMAL);
	int type;

	if (!exp)
		return false;
	type = (pci_read_word(dev, (int)exp->addr + PCI_EXP_FLAGS) & PCI_EXP_FLAGS_TYPE) >> 4;
	return type == PCI_EXP_TYPE_ROOT_PORT || type == PCI_EXP_TYPE_DOWNSTREAM;
}

static char *blame_port(struct pci_dev *dev, const char *addr)
{
	struct pci_cap *acs;
	unsigned int can, does;

	if (!faces_down(dev))
		return NULL;
	acs = pci_find_cap(dev, PCI_EXT_CAP_ID_ACS, PCI_CAP_EXTENDED);
	if (!acs)
		return xasprintf(
			"port %s above it has no ACS: only other hardware, or another slot, "
			"isolates what is below",
			addr);
	can = pci_read_word(dev, (int)acs->addr + PCI_ACS_CAP);
	does = pci_read_word(dev, (int)acs->addr + PCI_ACS_CTRL);
	if ((does & ACS_REQUIRED) == ACS_REQUIRED)
		return NULL;
	return xasprintf(
		"port %s above it has ACS control 0x%04x, 0x%04x needed (it is capable of "
		"0x%04x): enable ACS in the BIOS, and the IOMMU, which makes the kernel ask "
		"for it",
		addr, does, ACS_REQUIRED, can);
}

static char *blame_address(struct pci_access *access, const char *addr)
{
	unsigned int domain, bus, slot, fn;
	struct pci_dev *dev;
	char *blame;

	if (sscanf(addr, "%x:%x:%x.%x", &domain, &bus, &slot, &fn) != 4)
		return NULL;
	dev = pci_get_dev(access, (int)domain, (int)bus, (int)slot, (int)fn);
	pci_fill_info(dev, PCI_FILL_CAPS | PCI_FILL_EXT_CAPS);
	blame = blame_port(dev, addr);
	pci_free_dev(dev);
	return blame;
}

/* The device's place in the tree: ".../pci0000:40/0000:40:00.0/0000:41:00.0". */
static char *blame_path(struct pci_access *access, char *path)
{
	char *blame = NULL, *save = NULL;
	char *last = strrchr(path, '/');

	if (last)
		*last = '\0'; /* the function itself is no bridge */
	for (char *p = strtok_r(path, "/", &save); p && !blame; p = strtok_r(NULL, "/", &save))
		blame = blame_address(access, p);
	return blame;
}

int acs_blame(const struct root *root, const char *addr, char **ret, struct err *err)
{
	cleanup_free char *path = NULL;
	struct pci_access *access;
	char sysfs[64];
	jmp_buf env;
	int r = read_link(root, &path, err, "/sys/bus/pci/devices/%s", addr);

	if (r < 0)
		return r;
	access = pci_alloc();
	on_error = &env;
	if (setjmp(env)) /* nothing is freed: libpci is in the middle of something */
		return err_set(err, -EIO, "libpci can't read config space");
	access->error = give_up;
	access->warning = ignore;
	access->method = PCI_ACCESS_SYS_BUS_PCI;
	snprintf(sysfs, sizeof(sysfs), "/proc/self/fd/%d/sys/bus/pci", root->fd);
	pci_set_param(access, (char *)"sysfs.path", sysfs);
	pci_init(access);
	*ret = blame_path(access, path);
	pci_cleanup(access);
	return 0;
}
