/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pci.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>

#include "base/mem.h"
#include "sys/libpci.h"

enum { MSIX_TABLE_SIZE = 0x7ff }; /* mask of the control word, for which libpci has no name */

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

static void init_bus(const struct libpci *pci, struct pci_access *access, void *arg)
{
	const struct root *root = arg;
	char sysfs[64];

	access->method = PCI_ACCESS_SYS_BUS_PCI;
	snprintf(sysfs, sizeof(sysfs), "/proc/self/fd/%d/sys/bus/pci", root->fd);
	pci->pci_set_param(access, (char *)"sysfs.path", sysfs);
	pci->pci_init(access);
}

int pci_lib_open(struct pci_lib *ret, const struct root *root, struct err *err)
{
	int r;

	*ret = (struct pci_lib){.fn = libpci_get(err), .broken = true};
	if (!ret->fn)
		return -ELIBACC;
	*ret = (struct pci_lib){.fn = ret->fn, .access = ret->fn->pci_alloc()};
	ret->access->error = give_up;
	ret->access->warning = ignore;
	ret->access->debug = ignore;
	r = root ? pci_lib_call(ret, init_bus, (void *)root, err) : 0;
	if (r < 0)
		pci_lib_close(ret);
	return r;
}

void pci_lib_close(struct pci_lib *lib)
{
	if (!lib->access)
		return;
	lib->fn->pci_free_name_list(lib->access);
	lib->fn->pci_cleanup(lib->access);
	lib->access = NULL;
}

int pci_lib_call(struct pci_lib *lib, pci_lib_fn *fn, void *arg, struct err *err)
{
	jmp_buf env;

	on_error = &env;
	if (lib->broken || setjmp(env)) {
		lib->broken = true;
		return err_set(err, -EIO, "libpci gave up");
	}
	fn(lib->fn, lib->access, arg);
	return 0;
}

static enum pci_reach reach_of(const struct libpci *pci, struct pci_dev *dev)
{
	unsigned char word[4];

	if (!pci->pci_read_block(dev, 0, word, sizeof(word)))
		return PCI_REACH_NONE;
	if (!pci->pci_read_block(dev, 0x40, word, sizeof(word)))
		return PCI_REACH_HEADER;
	return pci->pci_read_block(dev, 0x100, word, sizeof(word)) ? PCI_REACH_ALL
								   : PCI_REACH_STANDARD;
}

struct pci_dev *pci_lib_function(const struct libpci *pci, struct pci_access *access,
				 const char *addr, enum pci_reach *reach)
{
	unsigned int domain, bus, slot, fn;
	struct pci_dev *dev;

	if (sscanf(addr, "%x:%x:%x.%x", &domain, &bus, &slot, &fn) != 4)
		return NULL;
	dev = pci->pci_get_dev(access, (int)domain, (int)bus, (int)slot, (int)fn);
	*reach = reach_of(pci, dev);
	if (*reach >= PCI_REACH_STANDARD)
		pci->pci_fill_info(dev, PCI_FILL_CAPS);
	if (*reach == PCI_REACH_ALL)
		pci->pci_fill_info(dev, PCI_FILL_EXT_CAPS);
	return dev;
}

struct msix {
	const char *addr;
	enum pci_reach reach;
	unsigned int vectors;
};

static void read_msix(const struct libpci *pci, struct pci_access *access, void *arg)
{
	struct msix *m = arg;
	struct pci_dev *dev = pci_lib_function(pci, access, m->addr, &m->reach);
	struct pci_cap *cap;

	if (!dev)
		return;
	cap = m->reach >= PCI_REACH_STANDARD
		      ? pci->pci_find_cap(dev, PCI_CAP_ID_MSIX, PCI_CAP_NORMAL)
		      : NULL;
	if (cap) /* the field holds the number less one */
		m->vectors = (pci->pci_read_word(dev, (int)cap->addr + PCI_CAP_FLAGS) &
			      MSIX_TABLE_SIZE) +
			     1;
	pci->pci_free_dev(dev);
}

int pci_msix_vectors(const struct root *root, const char *addr, unsigned int *ret, struct err *err)
{
	struct pci_lib lib cleanup(pci_lib_close) = {0};
	struct msix m = {.addr = addr};
	int r = pci_lib_open(&lib, root, err);

	if (r == 0)
		r = pci_lib_call(&lib, read_msix, &m, err);
	if (r < 0)
		return err_wrap(err, "%s", addr);
	if (m.reach == PCI_REACH_NONE)
		return err_set(err, -ENOENT, "%s: its config space can't be read", addr);
	if (m.reach == PCI_REACH_HEADER)
		return err_set(err, -EACCES,
			       "%s: only root can read more than 64 bytes of its config space",
			       addr);
	*ret = m.vectors;
	return 0;
}
