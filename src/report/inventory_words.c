/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/inventory.h"

bool inventory_shows(const struct pci_fn *fn)
{
	static const uint8_t classes[] = {0x01, 0x02, 0x03, 0x0b, 0x10, 0x12};

	for (size_t i = 0; i < array_len(classes); i++)
		if (fn->class >> 16 == classes[i])
			return true;
	return fn->net.n || fn->ibdevs.n; /* old HCAs have the class "serial bus" */
}

char *size_text(uint64_t bytes)
{
	if (bytes >= 1ULL << 40)
		return xasprintf("%.1fT", (double)bytes / (double)(1ULL << 40));
	if (bytes >= 1ULL << 30)
		return xasprintf("%.1fG", (double)bytes / (double)(1ULL << 30));
	return xasprintf("%.1fM", (double)bytes / (double)(1ULL << 20));
}

char *cpu_text(const struct node *node, const struct inventory *inv)
{
	const char *model = thing_get(&inv->machine, "cpu_model");
	cleanup_free char *cpus = cpus_format(&node->cpus);

	return xasprintf("%s, %u socket%s, %zu CPUs (%s)",
			 model ? model : cpu_vendor_name(node_cpu_vendor(node)), node_sockets(node),
			 node_sockets(node) == 1 ? "" : "s", cpus_count(&node->cpus), cpus);
}

int numa_of(const struct node *node, const struct pci_fn *fn)
{
	return fn->numa >= 0 && cpus_has(&node->nodes, (unsigned int)fn->numa) ? fn->numa : -1;
}

bool numa_is_empty(const struct node *node, const struct thing *numa)
{
	const struct pci_functions *functions = node_functions(node);
	const char *memory = thing_get(numa, "memory");

	if (thing_get(numa, "cpus") || !memory || !streq(memory, "0"))
		return false;
	for (size_t i = 0; i < functions->n; i++)
		if (functions->v[i].numa == (int)strtol(numa->name, NULL, 10))
			return false;
	return true;
}

struct vfs_of vfs_of(const struct node *node, const struct pci_fn *pf)
{
	const struct pci_functions *functions = node_functions(node);
	struct vfs_of vfs = {.driver = "no driver"};

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];
		const char *driver = fn->driver ? fn->driver : "no driver";

		if (!streq(fn->physfn, pf->addr))
			continue;
		vfs.first = vfs.n ? vfs.first : fn;
		vfs.last = fn;
		if (!vfs.n++)
			vfs.driver = driver;
		else if (!streq(driver, vfs.driver))
			vfs.driver = "several drivers";
	}
	return vfs;
}

struct function_names function_names(struct pci_names *names, const struct inventory *inv,
				     const struct pci_fn *fn)
{
	const struct thing *gpu = thing_find(&inv->gpus, fn->addr);
	struct pci_ids ids = {fn->class, fn->vendor, fn->device, fn->subsystem_vendor,
			      fn->subsystem_device};
	struct function_names ret;
	char vendor[128], device[180];

	if (!pci_names_get(names, PCI_NAME_CLASS, &ids, ret.class, sizeof(ret.class)))
		snprintf(ret.class, sizeof(ret.class), "class %04x", fn->class >> 8);
	pci_names_get(names, PCI_NAME_VENDOR, &ids, vendor, sizeof(vendor));
	if (!pci_names_get(names, PCI_NAME_DEVICE, &ids, device, sizeof(device)))
		snprintf(device, sizeof(device), "%s", or_empty(thing_get(gpu, "model")));
	snprintf(ret.product, sizeof(ret.product), "%s%s%s", vendor, *vendor && *device ? " " : "",
		 device);
	return ret;
}

char *pair_nodes(const struct pair *p)
{
	if (!p->gpu || p->nic->numa == p->gpu->numa)
		return p->nic->numa < 0 ? xstrdup("unknown") : xasprintf("%d", p->nic->numa);
	return xasprintf("%d, %d", p->nic->numa, p->gpu->numa);
}

char *pair_redirect(const struct pair *p, const struct p2p_fact *way)
{
	if (!p->gpu)
		return xstrdup("-");
	return xasprintf("%s%s", p2p_redirect_name(way->redirect),
			 p->mover && p->mover != p->nic ? ", Data Direct" : "");
}
