/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a node meets the conditions of a `match:`. Conditions identify the SKU; they never count
 * how many parts still work, which is the job of expect: and the gate.
 */
#include <fnmatch.h>

#include "base/str.h"
#include "profile/profile.h"
#include "profile/yaml.h"

struct asking {
	const struct node *node;
	struct conditions *ret; /* or NULL */
	size_t asked, held;
};

static void answer(struct asking *a, const char *key, const char *wanted, const char *found,
		   bool holds)
{
	struct condition c = {.holds = holds};

	a->asked++;
	a->held += holds;
	if (!a->ret)
		return;
	c.key = xstrdup(key);
	c.wanted = str_printable(or_empty(wanted), SIZE_MAX);
	c.found = str_printable(or_empty(found), SIZE_MAX);
	vec_push(&a->ret->list, c);
}

static void ask_dmi(struct asking *a, const struct ynode *dmi)
{
	for (size_t i = 0; i < dmi->keys.n; i++) {
		const char *field = dmi->keys.v[i]->text;
		const char *found = node_dmi(a->node, field);
		const char *wanted = ynode_text(dmi, field, "");
		cleanup_free char *key = xasprintf("dmi.%s", field);

		answer(a, key, wanted, found, found && fnmatch(wanted, found, 0) == 0);
	}
}

static void ask_arch(struct asking *a, const struct ynode *arch)
{
	const char *found = node_arch(a->node);

	answer(a, "arch", arch->text, found, streq(arch->text, found));
}

static void ask_cpu_vendor(struct asking *a, const struct ynode *wanted)
{
	enum cpu_vendor vendor = node_cpu_vendor(a->node);
	const char *found = vendor == CPU_UNKNOWN ? "" : cpu_vendor_name(vendor);

	answer(a, "cpu_vendor", wanted->text, found, streq(wanted->text, found));
}

/* VFs do not count, because railhead's own settings create and remove them. */
static size_t functions_of(const struct node *node, unsigned int vendor, unsigned int device)
{
	const struct pci_functions *functions = node_functions(node);
	size_t n = 0;

	for (size_t i = 0; i < functions->n; i++) {
		const struct pci_fn *fn = &functions->v[i];

		n += !*fn->physfn && fn->vendor == vendor && fn->device == device;
	}
	return n;
}

static void ask_pci(struct asking *a, const struct ynode *ids)
{
	for (size_t i = 0; i < ids->items.n; i++) {
		const struct ynode *id = ids->items.v[i];
		size_t n = 0;
		cleanup_free char *found = NULL;

		if (id->value.type == VALUE_ID)
			n = functions_of(a->node, id->value.number >> 16,
					 id->value.number & 0xffff);
		if (n)
			found = xasprintf("%zu function%s", n, n == 1 ? "" : "s");
		answer(a, "pci", id->text ? id->text : "", found, n > 0);
	}
}

static const struct {
	const char *key;
	enum yaml_kind kind;
	void (*ask)(struct asking *a, const struct ynode *value);
} table[] = {
	{"dmi", YAML_MAP, ask_dmi},
	{"arch", YAML_SCALAR, ask_arch},
	{"cpu_vendor", YAML_SCALAR, ask_cpu_vendor},
	{"pci", YAML_LIST, ask_pci},
};

bool conditions_hold(const struct node *node, const struct ynode *match, struct conditions *ret)
{
	struct asking a = {.node = node, .ret = ret};

	for (size_t i = 0; i < array_len(table); i++) {
		const struct ynode *value = ynode_get(match, table[i].key);

		if (value && value->kind == table[i].kind)
			table[i].ask(&a, value);
	}
	return a.asked && a.held == a.asked;
}

void conditions_free(struct conditions *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		free(c->list.v[i].key);
		free(c->list.v[i].wanted);
		free(c->list.v[i].found);
	}
	vec_free(&c->list);
}
