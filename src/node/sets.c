/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device sets: which PCI functions a profile's selectors name on this node. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "node/node.h"

enum {
	CLASS_ETHERNET = 0x0200,
	CLASS_INFINIBAND = 0x0207,
};

/* Functions of one card share domain:bus:device. VFs are counted nowhere. */
static int ports_of(const struct node *node, const struct pci_fn *fn)
{
	size_t card = (size_t)(strrchr(fn->addr, '.') - fn->addr);
	int n = 0;

	for (size_t i = 0; i < node->pci.n; i++)
		if (!*node->pci.v[i].physfn &&
		    strncmp(node->pci.v[i].addr, fn->addr, card + 1) == 0)
			n++;
	return n;
}

static bool differs(int want, uint16_t have)
{
	return want >= 0 && want != have;
}

const char *selector_excludes(const struct node *node, const struct selector *sel,
			      const struct pci_fn *fn)
{
	uint32_t class = fn->class >> 8;

	if (*fn->physfn)
		return "is a VF (a set has PFs only; `vfs of SET` names them)";
	if (differs(sel->vendor, fn->vendor) || differs(sel->device, fn->device))
		return "pci: other vendor or device id";
	if (differs(sel->subsystem_vendor, fn->subsystem_vendor) ||
	    differs(sel->subsystem_device, fn->subsystem_device))
		return "subsystem: other vendor or device id";
	if (sel->address && fnmatch(sel->address, fn->addr, 0) != 0)
		return "address: other address";
	if (sel->driver && (!fn->driver || !streq(sel->driver, fn->driver)))
		return fn->driver ? "driver: bound to another driver" : "driver: bound to none";
	if (sel->numa >= 0 && sel->numa != fn->numa)
		return "numa: other NUMA node";
	if (sel->ports > 0 && sel->ports != ports_of(node, fn))
		return "ports: other number of functions on the card";
	if (sel->ethernet && class != CLASS_ETHERNET)
		return "link: not an Ethernet controller";
	if (sel->infiniband && class != CLASS_INFINIBAND)
		return "link: not an InfiniBand controller";
	return NULL;
}

static const struct selector *find_selector(const struct selector *sels, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(sels[i].name, name))
			return &sels[i];
	return NULL;
}

/* All predicates of the set and of the sets that it is in. */
static bool selected(const struct node *node, const struct selector *sels, size_t n,
		     const struct selector *sel, const struct pci_fn *fn)
{
	while (sel) {
		if (selector_excludes(node, sel, fn))
			return false;
		sel = sel->in ? find_selector(sels, n, sel->in) : NULL;
	}
	return true;
}

static int check_parents(const struct selector *sels, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct selector *s = &sels[i];

		for (size_t hops = 0; s->in; hops++) {
			const struct selector *up = find_selector(sels, n, s->in);

			if (!up)
				return err_set(err, -EINVAL, "devices.%s.in: there is no set '%s'",
					       s->name, s->in);
			if (hops > n)
				return err_set(err, -EINVAL,
					       "devices.%s.in: goes round in a circle",
					       sels[i].name);
			s = up;
		}
	}
	return 0;
}

/* A function of a protected set belongs to no other set, whatever that one says. */
static bool protected_from(const struct node *node, const struct selector *sels, size_t n,
			   const struct selector *sel, const struct pci_fn *fn)
{
	if (sel->protect)
		return false;
	for (size_t i = 0; i < n; i++)
		if (sels[i].protect && selected(node, sels, n, &sels[i], fn))
			return true;
	return false;
}

int device_sets_resolve(const struct node *node, const struct selector *sels, size_t n,
			struct device_sets *ret, struct err *err)
{
	int r = check_parents(sels, n, err);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		struct device_set set = {.sel = &sels[i]};

		for (size_t j = 0; j < node->pci.n; j++) {
			const struct pci_fn *fn = &node->pci.v[j];

			if (selected(node, sels, n, &sels[i], fn) &&
			    !protected_from(node, sels, n, &sels[i], fn))
				vec_push(&set.fn, fn);
		}
		vec_push(&ret->set, set);
	}
	return 0;
}

void device_sets_free(struct device_sets *sets)
{
	for (size_t i = 0; i < sets->set.n; i++)
		vec_free(&sets->set.v[i].fn);
	vec_free(&sets->set);
}

const struct device_set *device_sets_find(const struct device_sets *sets, const char *name)
{
	for (size_t i = 0; i < sets->set.n; i++)
		if (streq(sets->set.v[i].sel->name, name))
			return &sets->set.v[i];
	return NULL;
}
