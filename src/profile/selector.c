/* SPDX-License-Identifier: GPL-2.0-or-later */
/* devices: as selectors, the form that node/ resolves to PCI functions. */
#include "base/units.h"
#include "profile/load.h"

static void id_pair(const struct ynode *set, const char *key, int *vendor, int *device)
{
	unsigned int v, d;

	*vendor = *device = -1;
	if (sscanf(ynode_text(set, key, ""), "%4x:%4x", &v, &d) != 2)
		return;
	*vendor = (int)v;
	*device = (int)d;
}

static int number(const struct ynode *set, const char *key, int fallback)
{
	uint64_t v;

	if (parse_u64(ynode_text(set, key, ""), &v) < 0 || v > INT32_MAX)
		return fallback;
	return (int)v;
}

static char *text(const struct ynode *set, const char *key)
{
	const char *s = ynode_text(set, key, NULL);

	return s ? xstrdup(s) : NULL;
}

static struct selector selector_of(const char *name, const struct ynode *set)
{
	struct selector s = {
		.name = xstrdup(name),
		.in = text(set, "in"),
		.address = text(set, "address"),
		.driver = text(set, "driver"),
		.numa = number(set, "numa", -1),
		.ports = number(set, "ports", 0),
		.port = number(set, "port", 0),
		.part_number = text(set, "part_number"),
		.expect = number(set, "expect", -1),
		.protect = ynode_bool(set, "protect", false),
		.ethernet = streq(ynode_text(set, "link", ""), "ethernet"),
		.infiniband = streq(ynode_text(set, "link", ""), "infiniband"),
	};

	id_pair(set, "pci", &s.vendor, &s.device);
	id_pair(set, "subsystem", &s.subsystem_vendor, &s.subsystem_device);
	return s;
}

void selectors_fill(struct profile *p)
{
	const struct ynode *devices = profile_section(p, "devices");

	for (size_t i = 0; devices && i < devices->keys.n; i++)
		vec_push(&p->devices, selector_of(devices->keys.v[i]->text, devices->items.v[i]));
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
