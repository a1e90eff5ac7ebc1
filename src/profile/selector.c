/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts devices: to selectors, which node/ resolves to PCI functions. */
#include "profile/load.h"
#include "profile/yaml.h"

static void id_pair(const struct ynode *set, const char *key, int *vendor, int *device)
{
	const struct ynode *id = ynode_get(set, key);

	*vendor = *device = -1;
	if (!id || id->value.type != VALUE_ID)
		return;
	*vendor = (int)(id->value.number >> 16);
	*device = (int)(id->value.number & 0xffff);
}

static int number(const struct ynode *set, const char *key, int fallback)
{
	uint64_t v;

	return ynode_number(ynode_get(set, key), &v) ? (int)v : fallback;
}

static char *text(const struct ynode *set, const char *key)
{
	const char *s = ynode_text(set, key, NULL);

	return s ? xstrdup(s) : NULL;
}

static struct selector selector_of(const char *name, const struct ynode *set)
{
	const struct ynode *expect = ynode_get(set, "expect");
	struct selector s = {
		.name = xstrdup(name),
		.in = text(set, "in"),
		.expect = number(set, "expect", -1),
		.or_more = expect && expect->value.at_least,
		.address = text(set, "address"),
		.driver = text(set, "driver"),
		.numa = number(set, "numa", -1),
		.ports = number(set, "ports", 0),
		.port = number(set, "port", 0),
		.part_number = text(set, "part_number"),
		.protect = ynode_bool(set, "protect", false),
		.ethernet = streq(ynode_text(set, "link", ""), "ethernet"),
		.infiniband = streq(ynode_text(set, "link", ""), "infiniband"),
	};

	id_pair(set, "pci", &s.vendor, &s.device);
	id_pair(set, "subsystem", &s.subsystem_vendor, &s.subsystem_device);
	return s;
}

static void mark_named(struct profile *p)
{
	struct set_references refs = {0};

	set_references(p, &refs);
	for (size_t i = 0; i < refs.list.n; i++)
		for (size_t j = 0; j < p->devices.n; j++)
			if (streq(refs.list.v[i].set, p->devices.v[j].name))
				p->devices.v[j].named = true;
	set_references_free(&refs);
}

void selectors_fill(struct profile *p)
{
	const struct ynode *devices = profile_section(p, "devices");

	for (size_t i = 0; devices && i < devices->keys.n; i++)
		vec_push(&p->devices, selector_of(devices->keys.v[i]->text, devices->items.v[i]));
	mark_named(p);
}

void selectors_free(struct profile *p)
{
	for (size_t i = 0; i < p->devices.n; i++) {
		free(p->devices.v[i].name);
		free(p->devices.v[i].in);
		free(p->devices.v[i].address);
		free(p->devices.v[i].driver);
		free(p->devices.v[i].part_number);
	}
	vec_free(&p->devices);
}
