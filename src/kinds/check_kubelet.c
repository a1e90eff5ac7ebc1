/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the huge pages that the kubelet's memory manager has recorded. With the policy Static, the
 * kubelet compares its record with the machine when it starts, and exits if they differ
 * (validateState() of pkg/kubelet/cm/memorymanager/policy_static.go: "the expected machine state is
 * different from the real one"). A profile with other pages than the last profile therefore keeps
 * the kubelet from starting on every node where the kubelet ran before.
 */
#include <errno.h>
#include <jansson.h>

#include "base/mem.h"
#include "kinds/checks.h"
#include "plan/change.h"
#include "sys/read.h"

/* The bytes of a resource on a NUMA node; 0 if the resource is not recorded. */
static uint64_t recorded(const json_t *machine, const struct part *part)
{
	cleanup_free char *node = xasprintf("%u", part->index);
	const json_t *map = json_object_get(json_object_get(machine, node), "memoryMap");

	return (uint64_t)json_integer_value(
		json_object_get(json_object_get(map, part->name), "total"));
}

static void compare(struct change *c, const json_t *machine)
{
	c->now.state = CHANGE_SAME;
	change_observe(c, "%s", c->desired);
	for (size_t i = 0; i < c->parts.n; i++) {
		const struct part *part = &c->parts.v[i];
		uint64_t have = recorded(machine, part), want = (uint64_t)part->want.number;

		if (have == want)
			continue;
		c->now.state = CHANGE_DIFFERS;
		change_observe(c, "%lluM of %s on node %u", (unsigned long long)(have >> 20),
			       part->name, part->index);
		change_reason(c,
			      "the kubelet's memory manager has recorded %lluM of %s on NUMA node "
			      "%u, but the profile makes %lluM: the kubelet will not start (\"the "
			      "expected machine state is different from the real one\")" TO_MEND
			      "drain the "
			      "node, stop the kubelet and remove " KUBELET_STATE,
			      (unsigned long long)(have >> 20), part->name, part->index,
			      (unsigned long long)(want >> 20));
		return;
	}
}

static int look_kubelet(const struct kind_ctx *ctx, struct change *c, struct err *err)
{
	cleanup_free char *text = NULL;
	const char *policy;
	json_t *state;
	int r = read_text(ctx->root, &text, err, KUBELET_STATE);

	if (r == -ENOENT) { /* removed meanwhile: the kubelet writes a new file */
		change_observe(c, "no state");
		c->now.state = CHANGE_SAME;
		return 0;
	}
	if (r < 0)
		return r;
	state = json_loads(text, 0, NULL);
	if (!json_is_object(state)) {
		json_decref(state);
		return err_set(err, -EBADMSG,
			       KUBELET_STATE " is not a JSON object, and the kubelet will not "
					     "start with it" TO_MEND
					     "drain the node and remove it");
	}
	policy = json_string_value(json_object_get(state, "policyName"));
	if (policy && streq(policy, "Static")) {
		compare(c, json_object_get(state, "machineState"));
	} else {
		change_observe(c, "policy %s", policy ? policy : "None");
		c->now.state = CHANGE_SAME;
	}
	json_decref(state);
	return 0;
}

const struct target_item kubelet_state_item = {
	.kind = &kind_check, .look = look_kubelet, .fault = FAULT_MEMORY_KUBELET_STATE};
