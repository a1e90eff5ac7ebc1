/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pci_express.h"

#include <errno.h>
#include <pci/header.h>
#include <string.h>

#include "base/mem.h"
#include "base/pci_address.h"
#include "sys/pci.h"
#include "sys/read.h"

/*
 * In version 1 the registers end with those of the link, or on root ports with those of the root.
 */
enum { SIZE_OF_VERSION_1 = 0x24, NO_ANSWER = 0xffff };

uint16_t pci_express_word(const struct pci_express *x, unsigned int reg)
{
	return reg + 2 <= x->size ? (uint16_t)(x->bytes[reg] | x->bytes[reg + 1] << 8) : 0;
}

uint32_t pci_express_long(const struct pci_express *x, unsigned int reg)
{
	return pci_express_word(x, reg) | (uint32_t)pci_express_word(x, reg + 2) << 16;
}

/* Reads all registers at once, because each read of the file is a system call. */
static void read_registers(const struct pci_config *c, unsigned int at, struct pci_express *out)
{
	size_t room = PCI_STANDARD_SIZE - at;

	if (room > sizeof(out->bytes))
		room = sizeof(out->bytes);
	out->size = pci_config_read(c, at, out->bytes, room) & ~(size_t)1;
	if ((pci_express_word(out, PCI_EXP_FLAGS) & PCI_EXP_FLAGS_VERS) < 2 &&
	    out->size > SIZE_OF_VERSION_1)
		out->size = SIZE_OF_VERSION_1;
}

int pci_express_read(const struct root *root, const char *addr, struct pci_express *ret,
		     struct err *err)
{
	struct pci_config c cleanup_pci_config = {0};
	struct pci_express got = {0};
	unsigned int at;
	int r = pci_config_open(root, addr, false, &c, err);

	if (r == 0 || r == -ENOENT)
		r = pci_config_reaches(&c, addr, PCI_REACH_HEADER, err);
	if (r < 0)
		return r;
	got.vendor = pci_config_word(&c, PCI_VENDOR_ID);
	got.device = pci_config_word(&c, PCI_DEVICE_ID);
	if (got.vendor == NO_ANSWER)
		return err_set(
			err, -ENXIO,
			"%s does not answer: its config space is all ones, as after a failed "
			"link; the kernel log says more (AER, DPC); reseat it or power-cycle "
			"the node",
			addr);
	r = pci_config_reaches(&c, addr, PCI_REACH_STANDARD, err);
	if (r < 0)
		return r;
	at = pci_config_find(&c, PCI_CAP_ID_EXP);
	if (!at)
		return err_set(err, -EOPNOTSUPP,
			       "%s has no PCI Express capability: the function is conventional "
			       "PCI, or a hypervisor shows it as conventional PCI",
			       addr);
	read_registers(&c, at, &got);
	*ret = got;
	return 0;
}

static bool is_address(const char *s)
{
	size_t len = pci_address_len(s);

	return len && !s[len];
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
