/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/inventory.h"
#include "sys/pciids.h"

json_t *text_json(const char *s)
{
	json_t *text = json_string(s);
	cleanup_free char *ascii = NULL;

	if (text || !s)
		return text;
	ascii = xstrdup(s);
	for (char *p = ascii; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return json_string(ascii);
}

json_t *texts_json(const struct strv *l)
{
	json_t *array = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(array, text_json(l->v[i]));
	return array;
}

static json_t *fact_json(const struct fact *f)
{
	char *end;
	long long v;

	if (!f->number)
		return text_json(f->text);
	v = strtoll(f->text, &end, 10);
	return *end || end == f->text ? text_json(f->text) : json_integer(v);
}

static void add_facts(json_t *obj, const struct thing *t)
{
	for (size_t i = 0; t && i < t->n_facts; i++)
		json_object_set_new(obj, t->facts[i].key, fact_json(&t->facts[i]));
}

static json_t *thing_json(const struct thing *t, const char *name_key)
{
	json_t *obj = json_object();

	json_object_set_new(obj, name_key, text_json(t->name));
	add_facts(obj, t);
	return obj;
}

static json_t *list_json(const struct thing_list *list, const char *name_key, const char *parts)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->n; i++) {
		json_t *obj = thing_json(&list->v[i], name_key);

		if (parts)
			json_object_set_new(obj, parts, list_json(&list->v[i].parts, "name", NULL));
		json_array_append_new(array, obj);
	}
	return array;
}

static json_t *names_json(struct pci_names *names, const struct pci_fn *fn)
{
	static const char *const keys[] = {"class", "vendor", "device", "subsystem"};
	struct pci_ids ids = {fn->class, fn->vendor, fn->device, fn->subsystem_vendor,
			      fn->subsystem_device};
	json_t *obj = json_object();
	char name[256];

	for (size_t i = 0; i < array_len(keys); i++)
		if (pci_names_get(names, (enum pci_name)i, &ids, name, sizeof(name)))
			json_object_set_new(obj, keys[i], text_json(name));
	return obj;
}

/* NULL: unknown. */
static json_t *known_json(const char *text)
{
	return *or_empty(text) ? text_json(text) : NULL;
}

static json_t *function_json(const struct pci_fn *fn, const struct thing *more,
			     struct pci_names *names)
{
	json_t *obj = json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:o?, s:o*, s:o*, s:o*, s:o*}", "address", fn->addr,
		"class", json_sprintf("%06x", fn->class), "vendor",
		json_sprintf("%04x", fn->vendor), "device", json_sprintf("%04x", fn->device),
		"subsystem_vendor", json_sprintf("%04x", fn->subsystem_vendor), "subsystem_device",
		json_sprintf("%04x", fn->subsystem_device), "numa_node",
		fn->numa < 0 ? NULL : json_integer(fn->numa), "driver", known_json(fn->driver),
		"part_number", known_json(fn->part_number), "physfn", known_json(fn->physfn),
		"totalvfs", fn->totalvfs ? json_integer(fn->totalvfs) : NULL);

	add_facts(obj, more);
	json_object_update_new(obj, json_pack("{s:o, s:o, s:o}", "netdevs", texts_json(&fn->net),
					      "rdma_devices", texts_json(&fn->ibdevs), "names",
					      names_json(names, fn)));
	return obj;
}

static json_t *pci_json(const struct node *node, const struct inventory *inv)
{
	const struct pci_functions *functions = node_functions(node);
	struct pci_names *names = pci_names_open();
	json_t *array = json_array();

	for (size_t i = 0; i < functions->n; i++)
		json_array_append_new(array,
				      function_json(&functions->v[i], &inv->pci.v[i], names));
	pci_names_close(names);
	return array;
}

static json_t *dmi_json(const struct node *node)
{
	static const char *const fields[] = {
		"sys_vendor",	"product_name", "product_family", "product_sku", "product_version",
		"board_vendor", "board_name",	"chassis_vendor", "bios_vendor",
	};
	json_t *obj = json_object();

	for (size_t i = 0; i < array_len(fields); i++)
		json_object_set_new(obj, fields[i], known_json(node_dmi(node, fields[i])));
	return obj;
}

static const char *ats_word(enum ats_state s)
{
	return s == ATS_UNKNOWN ? NULL : p2p_ats_name(s);
}

static json_t *pair_json(const struct pair *p, const struct p2p_fact *way)
{
	if (!p->gpu)
		return json_pack("{s:s, s:n}", "nic", p->nic->addr, "gpu");
	return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:s?, s:s?, s:o?}", "nic", p->nic->addr, "gpu",
			 p->gpu->addr, "nearness", nearness_name(p->how), "redirect",
			 way->redirect == P2P_UNKNOWN ? NULL : p2p_redirect_name(way->redirect),
			 "redirected_at", texts_json(&way->at), "nic_ats", ats_word(way->nic_ats),
			 "gpu_ats", ats_word(way->gpu_ats), "data_direct",
			 p->mover ? json_boolean(p->mover != p->nic) : NULL);
}

static json_t *pairs_json(const struct inventory *inv)
{
	json_t *array = json_array();

	for (size_t i = 0; i < inv->pairs.n; i++)
		json_array_append_new(array, pair_json(&inv->pairs.v[i], &inv->ways[i]));
	return array;
}

json_t *inventory_to_json(const struct node *node, const struct inventory *inv)
{
	cleanup_free char *present = cpus_format(&node->cpus);
	json_t *machine = json_object();

	add_facts(machine, &inv->machine);
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:{s:s, s:i, s:s, s:I}, s:I, s:o, s:o, s:o, s:o,"
		" s:o, s:o, s:o, s:o, s:o}",
		"dmi", dmi_json(node), "machine", machine, "kernel", text_json(node->kernel),
		"arch", text_json(node_arch(node)), "cmdline", text_json(node->cmdline), "cpu",
		"vendor", cpu_vendor_name(node_cpu_vendor(node)), "sockets",
		(int)node_sockets(node), "present", present, "count",
		(json_int_t)cpus_count(&node->cpus), "memory", (json_int_t)node_memory(node)->bytes,
		"numa_nodes", list_json(&inv->numa, "node", "hugepages"), "pci",
		pci_json(node, inv), "netdevs", list_json(&inv->net, "name", NULL), "rdma",
		list_json(&inv->rdma, "name", "ports"), "gpus",
		list_json(&inv->gpus, "address", NULL), "nvme", list_json(&inv->nvme, "name", NULL),
		"modules", list_json(&inv->modules, "name", NULL), "iommu_groups",
		list_json(&inv->groups, "group", NULL), "pairs", pairs_json(inv));
}
