/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pci_express.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sys/libpci.h"
#include "sys/pci.h"
#include "sys/read.h"

enum { NO_ANSWER = 0xffff };

struct reading {
	const char *addr;
	enum pci_reach reach;
	bool express;
	struct pci_express *out;
};

/*
 * In version 1 the registers end with those of the link, or on root ports with those of the root.
 */
enum { STANDARD_END = 0x100, SIZE_OF_VERSION_1 = 0x24 };

uint16_t pci_express_word(const struct pci_express *x, unsigned int reg)
{
	return reg + 2 <= x->size ? (uint16_t)(x->bytes[reg] | x->bytes[reg + 1] << 8) : 0;
}

uint32_t pci_express_long(const struct pci_express *x, unsigned int reg)
{
	return pci_express_word(x, reg) | (uint32_t)pci_express_word(x, reg + 2) << 16;
}

/*
 * Reads all registers at once, because each read of the file is a system call. A read returns
 * everything or nothing, so in a capture that ends within the capability, read the rest word by
 * word.
 */
static void read_registers(const struct libpci *pci, struct pci_dev *dev, int at,
			   struct pci_express *out)
{
	size_t room = (size_t)(STANDARD_END - at);

	if (room > sizeof(out->bytes))
		room = sizeof(out->bytes);
	if (pci->pci_read_block(dev, at, out->bytes, (int)room))
		out->size = room;
	while (out->size + 2 <= room &&
	       pci->pci_read_block(dev, at + (int)out->size, out->bytes + out->size, 2))
		out->size += 2;
	if ((pci_express_word(out, PCI_EXP_FLAGS) & PCI_EXP_FLAGS_VERS) < 2 &&
	    out->size > SIZE_OF_VERSION_1)
		out->size = SIZE_OF_VERSION_1;
}

static void read_express(const struct libpci *pci, struct pci_access *access, void *arg)
{
	struct reading *r = arg;
	struct pci_dev *dev = pci_lib_function(pci, access, r->addr, &r->reach);
	struct pci_cap *cap;

	if (!dev)
		return;
	if (r->reach >= PCI_REACH_HEADER) {
		r->out->vendor = pci->pci_read_word(dev, PCI_VENDOR_ID);
		r->out->device = pci->pci_read_word(dev, PCI_DEVICE_ID);
	}
	cap = r->reach >= PCI_REACH_STANDARD
		      ? pci->pci_find_cap(dev, PCI_CAP_ID_EXP, PCI_CAP_NORMAL)
		      : NULL;
	if (cap)
		read_registers(pci, dev, (int)cap->addr, r->out);
	r->express = cap != NULL;
	pci->pci_free_dev(dev);
}

static int judge(const struct reading *r, struct err *err)
{
	if (r->reach == PCI_REACH_NONE)
		return err_set(err, -ENOENT, "%s: its config space can't be read", r->addr);
	if (r->out->vendor == NO_ANSWER)
		return err_set(
			err, -ENXIO,
			"%s does not answer: its config space is all ones, as after a failed "
			"link; the kernel log says more (AER, DPC); reseat it or power-cycle "
			"the node",
			r->addr);
	if (r->reach == PCI_REACH_HEADER)
		return err_set(err, -EACCES,
			       "%s: only root can read more than 64 bytes of its config space",
			       r->addr);
	if (!r->express)
		return err_set(err, -EOPNOTSUPP,
			       "%s has no PCI Express capability: the function is conventional "
			       "PCI, or a hypervisor shows it as conventional PCI",
			       r->addr);
	return 0;
}

int pci_express_read(const struct root *root, const char *addr, struct pci_express *ret,
		     struct err *err)
{
	struct pci_lib lib cleanup(pci_lib_close) = {0};
	struct pci_express got = {0};
	struct reading reading = {.addr = addr, .out = &got};
	int r = pci_lib_open(&lib, root, err);

	if (r == 0)
		r = pci_lib_call(&lib, read_express, &reading, err);
	if (r < 0)
		return err_wrap(err, "%s", addr);
	r = judge(&reading, err);
	if (r == 0)
		*ret = got;
	return r;
}

static bool is_address(const char *s)
{
	unsigned int part[4];
	char rest;

	return sscanf(s, "%x:%x:%x.%x%c", &part[0], &part[1], &part[2], &part[3], &rest) == 4;
}

/* Walks the device's path in the tree: ".../pci0000:40/0000:40:00.0/0000:41:00.0". */
int pci_ports_above(const struct root *root, const char *addr, struct strv *ret, struct err *err)
{
	cleanup_free char *path = NULL;
	char *last, *save = NULL;
	int r = read_link(root, &path, err, "/sys/bus/pci/devices/%s", addr);

	if (r < 0)
		return r;
	last = strrchr(path, '/');
	if (last)
		*last = '\0';
	for (char *p = strtok_r(path, "/", &save); p; p = strtok_r(NULL, "/", &save))
		if (is_address(p))
			strv_add(ret, p);
	return 0;
}
