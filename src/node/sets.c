/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device sets: the PCI functions that a profile's selectors choose on this node. */
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/node.h"

/* Always true, so that a predicate can end with `return excluded(ret, ...)`. Takes found. */
static bool __attribute__((format(printf, 4, 5)))
excluded(struct mismatch *ret, const char *predicate, char *found, const char *fmt, ...)
{
	va_list ap;

	if (!ret) {
		free(found);
		return true;
	}
	va_start(ap, fmt);
	*ret = (struct mismatch){predicate, found, xvasprintf(fmt, ap)};
	va_end(ap);
	return true;
}

void mismatch_free(struct mismatch *m)
{
	free(m->found);
	free(m->wanted);
}

int node_ports(const struct node *node, const struct pci_fn *fn, int *ret_place)
{
	const struct pci_functions *functions = node_functions(node);
	size_t card = (size_t)(strrchr(fn->addr, '.') - fn->addr);
	int n = 0;

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *other = &functions->v[i];

		if (*other->physfn || strncmp(other->addr, fn->addr, card + 1) != 0)
			continue;
		n++;
		if (ret_place && streq(other->addr, fn->addr))
			*ret_place = n;
	}
	return n;
}

static bool differs(int want, uint16_t have)
{
	return want >= 0 && want != have;
}

static bool excluded_as_vf(const struct node *node, const struct selector *sel,
			   const struct pci_fn *fn, struct mismatch *ret)
{
	(void)node;
	(void)sel;
	return *fn->physfn && excluded(ret, "vf", xasprintf("a VF of %s", fn->physfn),
				       "a PF (`vfs of SET` names VFs)");
}

static void id_text(char ret[12], int vendor, int device)
{
	int n = vendor < 0 ? snprintf(ret, 12, "*:") : snprintf(ret, 12, "%04x:", vendor & 0xffff);

	if (device < 0)
		snprintf(ret + n, 12 - (size_t)n, "*");
	else
		snprintf(ret + n, 12 - (size_t)n, "%04x", device & 0xffff);
}

static bool excluded_by_id(const struct node *node, const struct selector *sel,
			   const struct pci_fn *fn, struct mismatch *ret)
{
	const struct {
		const char *key;
		int vendor, device;
		uint16_t has_vendor, has_device;
	} ids[] = {
		{"pci", sel->vendor, sel->device, fn->vendor, fn->device},
		{"subsystem", sel->subsystem_vendor, sel->subsystem_device, fn->subsystem_vendor,
		 fn->subsystem_device},
	};

	(void)node;
	for (size_t i = 0; i < array_len(ids); i++) {
		char wanted[12];

		if (!differs(ids[i].vendor, ids[i].has_vendor) &&
		    !differs(ids[i].device, ids[i].has_device))
			continue;
		id_text(wanted, ids[i].vendor, ids[i].device);
		return excluded(ret, ids[i].key,
				xasprintf("%04x:%04x", ids[i].has_vendor, ids[i].has_device), "%s",
				wanted);
	}
	return false;
}

static bool excluded_by_place(const struct node *node, const struct selector *sel,
			      const struct pci_fn *fn, struct mismatch *ret)
{
	int place = 0, ports;

	if (sel->address && fnmatch(sel->address, fn->addr, 0) != 0)
		return excluded(ret, "address", xstrdup(fn->addr), "%s", sel->address);
	if (sel->numa >= 0 && sel->numa != fn->numa)
		return excluded(ret, "numa",
				fn->numa < 0 ? xstrdup("unknown") : xasprintf("%d", fn->numa), "%d",
				sel->numa);
	if (sel->ports <= 0 && sel->port <= 0)
		return false;
	ports = node_ports(node, fn, &place);
	if (sel->ports > 0 && sel->ports != ports)
		return excluded(ret, "ports", xasprintf("the card has %d", ports), "%d",
				sel->ports);
	if (sel->port > 0 && sel->port != place)
		return excluded(ret, "port", xasprintf("%d of the card", place), "%d", sel->port);
	return false;
}

static bool excluded_by_nature(const struct node *node, const struct selector *sel,
			       const struct pci_fn *fn, struct mismatch *ret)
{
	uint32_t class = fn->class >> 8;

	(void)node;
	if (sel->driver && (!fn->driver || !streq(sel->driver, fn->driver)))
		return excluded(ret, "driver", xstrdup(fn->driver ? fn->driver : "none"), "%s",
				sel->driver);
	if (sel->part_number &&
	    (!fn->part_number || fnmatch(sel->part_number, fn->part_number, 0) != 0))
		return excluded(ret, "part_number",
				xstrdup(fn->part_number ? fn->part_number : "unknown"), "%s",
				sel->part_number);
	if (sel->ethernet && class != CLASS_ETHERNET)
		return excluded(ret, "link", xasprintf("class %04x", class),
				"an Ethernet controller (0200)");
	if (sel->infiniband && class != CLASS_INFINIBAND && class != CLASS_SERIAL_INFINIBAND)
		return excluded(ret, "link", xasprintf("class %04x", class),
				"an InfiniBand controller (0207)");
	return false;
}

bool selector_excludes(const struct node *node, const struct selector *sel, const struct pci_fn *fn,
		       struct mismatch *ret)
{
	static bool (*const predicates[])(const struct node *, const struct selector *,
					  const struct pci_fn *, struct mismatch *) = {
		excluded_as_vf, excluded_by_id, excluded_by_place, excluded_by_nature};

	for (size_t i = 0; i < array_len(predicates); i++)
		if (predicates[i](node, sel, fn, ret))
			return true;
	return false;
}

const struct selector *selector_find(const struct selector *sels, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (streq(sels[i].name, name))
			return &sels[i];
	return NULL;
}

/* Whether all predicates of the set and of its wider sets hold. */
static bool selected(const struct node *node, const struct selector *sels, size_t n,
		     const struct selector *sel, const struct pci_fn *fn)
{
	while (sel) {
		if (selector_excludes(node, sel, fn, NULL))
			return false;
		sel = selector_find(sels, n, sel->in);
	}
	return true;
}

bool selector_may_hold(const struct selector *sels, size_t n, const struct selector *sel,
		       const struct pci_fn *fn)
{
	if (*fn->physfn)
		return false;
	for (; sel; sel = selector_find(sels, n, sel->in)) {
		struct selector ids = *sel;

		if (sel->address && fnmatch(sel->address, fn->addr, 0) != 0)
			return false;
		ids.subsystem_vendor = ids.subsystem_device = -1;
		if (fn->vendor && fn->device && excluded_by_id(NULL, &ids, fn, NULL))
			return false;
	}
	return true;
}

static int check_parents(const struct selector *sels, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct selector *s = &sels[i];

		for (size_t hops = 0; s->in; hops++) {
			const struct selector *up = selector_find(sels, n, s->in);

			if (!up)
				return err_set(err, -EINVAL, "devices.%s.in: there is no set '%s'",
					       s->name, s->in);
			if (hops > n)
				return err_set(err, -EINVAL, "devices.%s.in: refers back to itself",
					       sels[i].name);
			s = up;
		}
	}
	return 0;
}

/* A function of a protected set belongs to no other set, even if that set selects it. */
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

void device_sets_prepare(const struct root *root, struct node *node, const struct selector *sels,
			 size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sels[i].part_number) {
			node_read_part_numbers(root, node);
			return;
		}
}

/*
 * --- the required number of members -------------------------------------------------------------
 */

int selector_least(const struct selector *sel)
{
	if (sel->expect >= 0)
		return sel->expect;
	return sel->named || sel->protect;
}

/* The wider set that is absent and that the profile permits to be absent; or NULL. */
static const char *absent_with(const struct device_sets *sets, const struct selector *sel)
{
	while (sel->in) {
		const struct device_set *wider = device_sets_find(sets, sel->in);

		if (!wider->fn.n && wider->sel->expect == 0)
			return wider->sel->name;
		sel = wider->sel;
	}
	return NULL;
}

static void expect(struct device_sets *sets)
{
	for (size_t i = 0; i < sets->set.n; i++) {
		struct device_set *set = &sets->set.v[i];

		set->least = selector_least(set->sel);
		if (set->sel->expect < 0)
			set->absent_with = absent_with(sets, set->sel);
		if (set->absent_with)
			set->least = 0;
	}
}

int device_sets_resolve(const struct node *node, const struct selector *sels, size_t n,
			struct device_sets *ret, struct err *err)
{
	int r = check_parents(sels, n, err);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		const struct pci_functions *functions = node_functions(node);
		struct device_set set = {.sel = &sels[i]};

		for (size_t j = 0; j < functions->n; j++) {
			const struct pci_fn *fn = &functions->v[j];

			if (selected(node, sels, n, &sels[i], fn) &&
			    !protected_from(node, sels, n, &sels[i], fn))
				vec_push(&set.fn, fn);
			if (fn->unread && !set.unread && selector_may_hold(sels, n, &sels[i], fn))
				set.unread = fn;
		}
		vec_push(&ret->set, set);
	}
	expect(ret);
	return 0;
}

void device_sets_free(struct device_sets *sets)
{
	for (size_t i = 0; i < sets->set.n; i++)
		vec_free(&sets->set.v[i].fn);
	vec_free(&sets->set);
}

bool device_set_has(const struct device_set *set, const struct pci_fn *fn)
{
	for (size_t i = 0; i < set->fn.n; i++)
		if (set->fn.v[i] == fn)
			return true;
	return false;
}

const struct device_set *device_sets_find(const struct device_sets *sets, const char *name)
{
	for (size_t i = 0; i < sets->set.n; i++)
		if (streq(sets->set.v[i].sel->name, name))
			return &sets->set.v[i];
	return NULL;
}

bool device_sets_lack(const struct device_sets *sets, const char *name)
{
	bool vfs;
	const struct device_set *set = device_sets_find(sets, set_name_in(name, &vfs));

	return set && !set->fn.n;
}

const char *set_name_in(const char *text, bool *ret_vfs)
{
	static const char vfs_of[] = "vfs of ";

	*ret_vfs = str_starts(text, vfs_of);
	return *ret_vfs ? text + strlen(vfs_of) : text;
}
