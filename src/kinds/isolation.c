/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/isolation.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kargs/kargs.h"
#include "profile/yaml.h"

/* "domain,managed_irq,2-47" -> "2-47" */
static bool isolated_by(const char *cmdline, struct cpus *ret)
{
	cleanup_free char *value = kargs_value(cmdline, "isolcpus");

	return value && cpus_parse(value + strcspn(value, "0123456789"), ret) == 0;
}

/*
 * Offline CPUs stay isolated if this boot isolates them, so that the arguments of a profile stay
 * the same when a CPU goes offline or nosmt takes its siblings offline.
 */
static void add_offline(const struct node *node, struct cpus *ret)
{
	struct cpus isolated;

	if (!cpus_count(&node->cpus_offline) || !isolated_by(node->cmdline, &isolated))
		return;
	for (int n = cpus_next(&isolated, -1); n >= 0; n = cpus_next(&isolated, n))
		if (cpus_has(&node->cpus_offline, (unsigned int)n))
			cpus_add(ret, (unsigned int)n);
}

int isolated_on(const struct node *node, const struct ynode *isolate, struct cpus *ret,
		struct err *err)
{
	unsigned int keep = (unsigned int)ynode_number_of(isolate, "keep", 0);
	struct err why = {0};
	struct cpus kept;
	int r;

	if (ynode_cpus(isolate)) {
		*ret = *ynode_cpus(isolate);
		return 0;
	}
	r = node_first_cores(node, keep, &kept, &why);
	if (r < 0)
		return err_set(err, r, "%s; %s", why.text,
			       r == -ERANGE ? "keep fewer, or name the CPUs to isolate in a list"
					    : "name the CPUs to isolate in a list");
	node_online(node, ret);
	cpus_remove_all(ret, &kept);
	add_offline(node, ret);
	return 0;
}

char *kept_text(const struct node *node, const struct cpus *isolated)
{
	const char *before = "; ";
	struct str text = {0};

	for (int n = cpus_next(&node->nodes, -1); n >= 0; n = cpus_next(&node->nodes, n)) {
		cleanup_free char *kept = NULL;
		struct cpus of_node;

		node_places_of(node, n, &of_node);
		cpus_remove_all(&of_node, isolated);
		if (!cpus_count(&of_node))
			continue;
		kept = cpus_format(&of_node);
		str_addf(&text, "%snode %d keeps %s", before, n, kept);
		before = ", ";
	}
	return str_take(&text);
}
