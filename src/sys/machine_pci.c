/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes one register of the PCI Express capability in config space: read, change under a mask,
 * write, read again. Whole words, as in the widespread `setpci CAP_EXP+10.w=0020`, would clear the
 * other bits of the register.
 */
#include <errno.h>
#include <pci/header.h>
#include <string.h>

#include "base/mem.h"
#include "sys/machine.h"
#include "sys/pci.h"
#include "sys/read.h"

/* "none [integrity] confidentiality": whether a mode other than none is in force. */
static bool locked_down(const struct root *root)
{
	cleanup_free char *text = NULL;

	return read_attr(root, &text, NULL, "/sys/kernel/security/lockdown") == 0 &&
	       !strstr(text, "[none]");
}

static int refused(const struct root *root, const char *addr, int error, struct err *err)
{
	if (error == -EPERM && locked_down(root))
		return err_set(err, -EOPNOTSUPP,
			       "%s: the kernel is locked down (Secure Boot), and rejects writes to "
			       "config space: have the firmware set it, turn Secure Boot off, or "
			       "name the key in pcie.SET.optional",
			       addr);
	return err_errno(err, error, "%s: writing to its config space", addr);
}

int machine_pci_express(const struct root *root, const char *addr, unsigned int reg, uint16_t mask,
			uint16_t value, struct err *err)
{
	struct pci_config c cleanup_pci_config = {0};
	unsigned int at;
	uint16_t old, got;
	int r = pci_config_open(root, addr, true, &c, err);

	if (r < 0 && r != -ENOENT)
		return r == -EBADFD || r == -EISDIR ? r : refused(root, addr, r, err);
	if (c.reach == PCI_REACH_NONE)
		return err_set(err, -ENOENT, "%s: its config space can't be read", addr);
	at = pci_config_find(&c, PCI_CAP_ID_EXP);
	if (!at)
		return refused(root, addr, -EOPNOTSUPP, err);
	old = pci_config_word(&c, at + reg);
	r = pci_config_write(&c, at + reg, (uint16_t)((old & ~mask) | (value & mask)));
	if (r < 0)
		return refused(root, addr, r, err);
	got = pci_config_word(&c, at + reg);
	if ((got & mask) != (value & mask))
		return err_set(err, -EIO,
			       "%s: the register at CAP_EXP+%02x did not accept 0x%04x (mask "
			       "0x%04x), and reads 0x%04x; the function lacks these bits, or a "
			       "hypervisor controls them",
			       addr, reg, value & mask, mask, got & mask);
	return 0;
}
