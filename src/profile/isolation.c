/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/isolation.h"

#include <errno.h>

#include "base/mem.h"
#include "base/str.h"

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
