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

	if (text)
		return text;
	ascii = xstrdup(s);
	for (char *p = ascii; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return json_string(ascii);
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

static json_t *strv_json(const struct strv *l)
{
	json_t *array = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(array, text_json(l->v[i]));
	return array;
}

static json_t *hex_json(unsigned int v, int digits)
{
	char text[16];

	snprintf(text, sizeof(text), "%0*x", digits, v);
	return json_string(text);
}

static json_t *cpus_json(const struct cpus *c)
{
	cleanup_free char *text = cpus_format(c);

	return json_string(text);
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

static void add_optional(json_t *obj, const char *key, const char *text)
{
	if (text && *text)
		json_object_set_new(obj, key, text_json(text));
}

static json_t *function_json(const struct pci_fn *fn, const struct thing *more,
			     struct pci_names *names)
{
	json_t *obj = json_object();

	json_object_set_new(obj, "address", json_string(fn->addr));
	json_object_set_new(obj, "class", hex_json(fn->class, 6));
	json_object_set_new(obj, "vendor", hex_json(fn->vendor, 4));
	json_object_set_new(obj, "device", hex_json(fn->device, 4));
	json_object_set_new(obj, "subsystem_vendor", hex_json(fn->subsystem_vendor, 4));
	json_object_set_new(obj, "subsystem_device", hex_json(fn->subsystem_device, 4));
	json_object_set_new(obj, "numa_node", fn->numa < 0 ? json_null() : json_integer(fn->numa));
	add_optional(obj, "driver", fn->driver);
	add_optional(obj, "part_number", fn->part_number);
	add_optional(obj, "physfn", fn->physfn);
	if (fn->totalvfs)
		json_object_set_new(obj, "totalvfs", json_integer(fn->totalvfs));
	add_facts(obj, more);
	json_object_set_new(obj, "netdevs", strv_json(&fn->net));
	json_object_set_new(obj, "rdma_devices", strv_json(&fn->ibdevs));
	json_object_set_new(obj, "names", names_json(names, fn));
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
		add_optional(obj, fields[i], node_dmi(node, fields[i]));
	return obj;
}

static json_t *redirect_json(enum p2p_redirect r)
{
	return r == P2P_UNKNOWN ? json_null() : json_string(p2p_redirect_name(r));
}

static json_t *ats_json(enum ats_state s)
{
	return s == ATS_UNKNOWN ? json_null() : json_string(p2p_ats_name(s));
}

static void add_way(json_t *obj, const struct pair *p, const struct p2p_fact *way)
{
	json_object_set_new(obj, "redirect", redirect_json(way->redirect));
	json_object_set_new(obj, "redirected_at", strv_json(&way->at));
	json_object_set_new(obj, "nic_ats", ats_json(way->nic_ats));
	json_object_set_new(obj, "gpu_ats", ats_json(way->gpu_ats));
	json_object_set_new(obj, "data_direct",
			    p->mover ? json_boolean(p->mover != p->nic) : json_null());
}

static json_t *pairs_json(const struct inventory *inv)
{
	json_t *array = json_array();

	for (size_t i = 0; i < inv->pairs.n; i++) {
		const struct pair *p = &inv->pairs.v[i];
		json_t *obj = json_object();

		json_object_set_new(obj, "nic", json_string(p->nic->addr));
		json_object_set_new(obj, "gpu", p->gpu ? json_string(p->gpu->addr) : json_null());
		if (p->gpu) {
			json_object_set_new(obj, "nearness", json_string(nearness_name(p->how)));
			add_way(obj, p, &inv->ways[i]);
		}
		json_array_append_new(array, obj);
	}
	return array;
}

json_t *inventory_to_json(const struct node *node, const struct inventory *inv)
{
	json_t *doc = json_object(), *cpu = json_object(), *machine = json_object();

	json_object_set_new(doc, "dmi", dmi_json(node));
	add_facts(machine, &inv->machine);
	json_object_set_new(doc, "machine", machine);
	json_object_set_new(doc, "kernel", text_json(node->kernel));
	json_object_set_new(doc, "arch", text_json(node_arch(node)));
	json_object_set_new(doc, "cmdline", text_json(node->cmdline));
	json_object_set_new(cpu, "vendor", json_string(cpu_vendor_name(node_cpu_vendor(node))));
	json_object_set_new(cpu, "sockets", json_integer(node_sockets(node)));
	json_object_set_new(cpu, "present", cpus_json(&node->cpus));
	json_object_set_new(cpu, "count", json_integer((json_int_t)cpus_count(&node->cpus)));
	json_object_set_new(doc, "cpu", cpu);
	json_object_set_new(doc, "memory", json_integer((json_int_t)node_memory(node)->bytes));
	json_object_set_new(doc, "numa_nodes", list_json(&inv->numa, "node", "hugepages"));
	json_object_set_new(doc, "pci", pci_json(node, inv));
	json_object_set_new(doc, "netdevs", list_json(&inv->net, "name", NULL));
	json_object_set_new(doc, "rdma", list_json(&inv->rdma, "name", "ports"));
	json_object_set_new(doc, "gpus", list_json(&inv->gpus, "address", NULL));
	json_object_set_new(doc, "nvme", list_json(&inv->nvme, "name", NULL));
	json_object_set_new(doc, "modules", list_json(&inv->modules, "name", NULL));
	json_object_set_new(doc, "iommu_groups", list_json(&inv->groups, "group", NULL));
	json_object_set_new(doc, "pairs", pairs_json(inv));
	return doc;
}
