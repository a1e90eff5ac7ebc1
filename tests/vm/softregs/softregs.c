// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers that QEMU's devices have read-only: largest read request and relaxed ordering
 * of Device Control, ASPM of Link Control. For the functions that are named they are kept
 * here, in front of the device's own config space, for the kernel and for all who ask it
 * through sysfs.
 *
 *	insmod softregs.ko functions=0000:41:00.0,0000:81:00.0
 *
 * One function of a bus: its operations are the bus's.
 */
#include <linux/module.h>
#include <linux/pci.h>

#define MOST 8
#define DEVCTL_BITS (PCI_EXP_DEVCTL_READRQ | PCI_EXP_DEVCTL_RELAX_EN)

static char *functions[MOST];
static int count;
module_param_array(functions, charp, &count, 0444);

struct reg {
	int at;
	u16 mask, bits;
};

static struct soft {
	struct pci_dev *dev;
	struct pci_ops *old;
	struct pci_ops ops;
	struct reg reg[2];
} soft[MOST];

static struct soft *find(struct pci_bus *bus, unsigned int devfn)
{
	for (int i = 0; i < count; i++)
		if (soft[i].dev && soft[i].dev->bus == bus && soft[i].dev->devfn == devfn)
			return &soft[i];
	return NULL;
}

static struct pci_ops *old_ops(struct pci_bus *bus)
{
	for (int i = 0; i < count; i++)
		if (soft[i].dev && soft[i].dev->bus == bus)
			return soft[i].old;
	return NULL;
}

/* The bits of a register that lie in `size` bytes at `where`, and how far they are shifted. */
static u32 overlay(const struct reg *r, int where, int size, u16 bits)
{
	u64 wide = (u64)bits << 32; /* of where - 4 and on */
	int shift = (r->at - where) * 8;

	if (shift <= -16 || shift >= size * 8)
		return 0;
	wide = shift >= 0 ? wide << shift : wide >> -shift;
	return (u32)(wide >> 32) & (size == 4 ? ~0u : (1u << size * 8) - 1);
}

static int soft_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *val)
{
	struct soft *s = find(bus, devfn);
	int r = old_ops(bus)->read(bus, devfn, where, size, val);

	for (int i = 0; s && !r && i < ARRAY_SIZE(s->reg); i++) {
		*val &= ~overlay(&s->reg[i], where, size, s->reg[i].mask);
		*val |= overlay(&s->reg[i], where, size, s->reg[i].bits);
	}
	return r;
}

static int soft_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 val)
{
	struct soft *s = find(bus, devfn);

	for (int i = 0; s && i < ARRAY_SIZE(s->reg); i++)
		for (int bit = 0; bit < 16; bit++) {
			u32 there = overlay(&s->reg[i], where, size, s->reg[i].mask & 1 << bit);

			if (there && val & there)
				s->reg[i].bits |= 1 << bit;
			else if (there)
				s->reg[i].bits &= ~(1 << bit);
		}
	return old_ops(bus)->write(bus, devfn, where, size, val);
}

static int take(struct soft *s, const char *address)
{
	unsigned int domain, bus, slot, fn;
	int cap;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &slot, &fn) != 4)
		return -EINVAL;
	s->dev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, fn));
	if (!s->dev)
		return -ENODEV;
	cap = pci_pcie_cap(s->dev);
	/* as real devices come up: 512 bytes, relaxed ordering */
	s->reg[0] = (struct reg){cap + PCI_EXP_DEVCTL, DEVCTL_BITS, 0x2010};
	s->reg[1] = (struct reg){cap + PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_ASPMC, 0};
	s->old = s->dev->bus->ops;
	s->ops = *s->old;
	s->ops.read = soft_read;
	s->ops.write = soft_write;
	pci_bus_set_ops(s->dev->bus, &s->ops);
	return 0;
}

static void give_back(void)
{
	for (int i = 0; i < count; i++)
		if (soft[i].old)
			pci_bus_set_ops(soft[i].dev->bus, soft[i].old);
	synchronize_rcu();
	for (int i = 0; i < count; i++)
		pci_dev_put(soft[i].dev);
}

static int __init begin(void)
{
	int r = 0;

	for (int i = 0; !r && i < count; i++)
		r = take(&soft[i], functions[i]);
	if (r)
		give_back();
	return r;
}

module_init(begin);
module_exit(give_back);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("config space registers that QEMU's devices lack");
