/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes one register of the PCI Express capability in config space: read, change under a mask,
 * write, read again. Whole words, as in the widespread `setpci CAP_EXP+10.w=0020`, would clear the
 * other bits of the register.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/libpci.h"
#include "sys/machine.h"
#include "sys/pci.h"
#include "sys/read.h"

struct writing {
	const char *addr;
	unsigned int reg;
	uint16_t mask, value;
	enum pci_reach reach;
	int error;    /* of the write, or 0 */
	uint16_t got; /* the register after the write */
};

static void write_register(const struct libpci *pci, struct pci_access *access, void *arg)
{
	struct writing *w = arg;
	struct pci_dev *dev = pci_lib_function(pci, access, w->addr, &w->reach);
	struct pci_cap *cap;
	uint16_t old;
	int at;

	if (!dev)
		return;
	w->error = EOPNOTSUPP;
	cap = w->reach >= PCI_REACH_STANDARD
		      ? pci->pci_find_cap(dev, PCI_CAP_ID_EXP, PCI_CAP_NORMAL)
		      : NULL;
	if (cap) {
		at = (int)(cap->addr + w->reg);
		old = pci->pci_read_word(dev, at);
		errno = 0; /* libpci reports only that the write failed */
		w->error = 0;
		if (!pci->pci_write_word(dev, at,
					 (uint16_t)((old & ~w->mask) | (w->value & w->mask))))
			w->error = errno ? errno : EIO;
		w->got = pci->pci_read_word(dev, at);
	}
	pci->pci_free_dev(dev);
}

/* "none [integrity] confidentiality": whether a mode other than none is in force. */
static bool locked_down(const struct root *root)
{
	cleanup_free char *text = NULL;

	return read_attr(root, &text, NULL, "/sys/kernel/security/lockdown") == 0 &&
	       !strstr(text, "[none]");
}

static int refused(const struct root *root, const struct writing *w, struct err *err)
{
	if (w->error == EPERM && locked_down(root))
		return err_set(err, -EOPNOTSUPP,
			       "%s: the kernel is locked down (Secure Boot), and rejects writes to "
			       "config space: have the firmware set it, turn Secure Boot off, or "
			       "name the key in pcie.SET.optional",
			       w->addr);
	return err_errno(err, -w->error, "%s: writing to its config space", w->addr);
}

int machine_pci_express(const struct root *root, const char *addr, unsigned int reg, uint16_t mask,
			uint16_t value, struct err *err)
{
	struct pci_lib lib cleanup(pci_lib_close) = {0};
	struct writing w = {.addr = addr, .reg = reg, .mask = mask, .value = value};
	int r = pci_lib_open(&lib, root, err);

	if (r == 0)
		r = pci_lib_call(&lib, write_register, &w, err);
	if (r < 0)
		return err_wrap(err, "%s", addr);
	if (w.reach == PCI_REACH_NONE)
		return err_set(err, -ENOENT, "%s: its config space can't be read", addr);
	if (w.error)
		return refused(root, &w, err);
	if ((w.got & mask) != (value & mask))
		return err_set(err, -EIO,
			       "%s: the register at CAP_EXP+%02x did not accept 0x%04x (mask "
			       "0x%04x), and reads 0x%04x; the function lacks these bits, or a "
			       "hypervisor controls them",
			       addr, reg, value & mask, mask, w.got & mask);
	return 0;
}
