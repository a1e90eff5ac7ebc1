/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pci_link.h"

#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "base/vec.h"
#include "sys/pci_express.h"
#include "sys/read.h"

#define DEV "/sys/bus/pci/devices/"

static const char *const files[][2] = {
	[PCI_LINK_WIDTH] = {"current_link_width", "max_link_width"},
	[PCI_LINK_SPEED] = {"current_link_speed", "max_link_speed"},
};

const char *pci_link_file(enum pci_link_quantity q, bool max)
{
	return files[q][max];
}

static int parse_width(const char *text, uint32_t *ret)
{
	uint64_t v;
	int r = parse_u64(text, &v);

	/* 255, 0: unknown to the kernel (PCIE_LNK_WIDTH_UNKNOWN) */
	if (r < 0 || v == 0 || v > 64)
		return -EINVAL;
	*ret = (uint32_t)v;
	return 0;
}

int pci_link_parse(enum pci_link_quantity q, const char *text, uint32_t *ret)
{
	return q == PCI_LINK_WIDTH ? parse_width(text, ret) : parse_gts(text, ret);
}

static uint32_t read_one(const struct root *root, enum pci_link_quantity q, const char *addr,
			 bool max)
{
	cleanup_free char *text = NULL;
	uint32_t v = 0;

	if (read_attr(root, &text, NULL, DEV "%s/%s", addr, files[q][max]) < 0 ||
	    pci_link_parse(q, text, &v) < 0)
		return 0;
	return v;
}

static void find_ends(const struct root *root, const char *addr, struct pci_link *ret)
{
	cleanup_strv struct strv ports = {0};

	*ret = (struct pci_link){0};
	if (read_link_name(root, &ret->addr, NULL, DEV "%s/physfn", addr) < 0)
		ret->addr = xstrdup(addr);
	pci_ports_above(root, ret->addr, &ports, NULL);
	if (ports.n)
		ret->port = xstrdup(ports.v[ports.n - 1]);
}

/* Reads what both ends are capable of. */
static void read_maxima(const struct root *root, enum pci_link_quantity q, struct pci_link *link)
{
	link->above = link->port ? read_one(root, q, link->port, true) : 0;
	link->card = read_one(root, q, link->addr, true);
}

void pci_link_read(const struct root *root, const char *addr, enum pci_link_quantity q,
		   struct pci_link *ret)
{
	find_ends(root, addr, ret);
	read_maxima(root, q, ret);
	ret->now = read_one(root, q, ret->addr, false);
}

/*
 * The bridges above a function are a root port, or a root port, an upstream port and a downstream
 * port, and so on.
 */
bool pci_link_read_switch(const struct root *root, const char *addr, enum pci_link_quantity q,
			  struct pci_link *ret)
{
	cleanup_strv struct strv ports = {0};

	*ret = (struct pci_link){0};
	if (pci_ports_above(root, addr, &ports, NULL) < 0 || ports.n < 3)
		return false;
	pci_link_read(root, ports.v[ports.n - 2], q, ret);
	return true;
}

void pci_link_free(struct pci_link *link)
{
	free(link->addr);
	free(link->port);
}

uint32_t pci_link_best(const struct pci_link *link)
{
	if (!link->card || !link->above)
		return link->card ? link->card : link->above;
	return link->card < link->above ? link->card : link->above;
}

/* 8b/10b up to 5 GT/s, 128b/130b up to 32; above 32, flits with 242 of 256 bytes. */
static double coding(double gts)
{
	return gts <= 5 ? 0.8 : gts <= 32 ? 128.0 / 130 : 242.0 / 256;
}

double pci_link_ceiling(const struct root *root, const char *addr)
{
	struct pci_link link cleanup_pci_link = {0};
	uint32_t lanes;
	double gts;

	find_ends(root, addr, &link);
	read_maxima(root, PCI_LINK_WIDTH, &link);
	lanes = pci_link_best(&link);
	read_maxima(root, PCI_LINK_SPEED, &link);
	gts = pci_link_best(&link) / 10.0;
	return gts * 1e9 / 8 * coding(gts) * lanes;
}
