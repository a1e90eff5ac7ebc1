/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A site's own program: it has the deadline and the line of JSON of the gate's own benchmarks, and
 * only the privileges that its check names.
 */
#include <string.h>

#include "base/mem.h"
#include "checks/probe.h"

/* The program's resources are unknown, so nothing else is measured at the same time. */
static void take_everything(const struct section_ctx *ctx, struct probe *p)
{
	for (int n = cpus_next(&ctx->node->nodes, -1); n >= 0; n = cpus_next(&ctx->node->nodes, n))
		probe_resource(p, "node%d", n);
	for (size_t i = 0; ctx->sets && i < ctx->sets->set.n; i++)
		for (size_t j = 0; j < ctx->sets->set.v[i].fn.n; j++)
			probe_resource(p, "%s", ctx->sets->set.v[i].fn.v[j]->addr);
	probe_resource(p, PROBE_STORAGE);
}

static int set_program(const struct ynode *command, struct probe *p, struct err *err)
{
	int r = privileges_program(command->items.v[0]->text, err);

	if (r < 0)
		return r;
	strv_free(&p->argv);
	for (size_t i = 0; i < command->items.n; i++)
		strv_add(&p->argv, command->items.v[i]->text);
	return 0;
}

static int set_privileges(const struct checked *t, struct probe *p, struct err *err)
{
	const struct ynode *names = ynode_get(t->map, "capabilities");
	struct privileges *as = p->as = xnew(struct privileges);
	int r = privileges_user(t->ctx->root, ynode_text(t->map, "user", NULL), as, err);

	for (size_t i = 0; r == 0 && names && i < names->items.n; i++)
		r = privileges_add(as, names->items.v[i]->text, err);
	return r;
}

/* min: judges the value; max: judges the value too, or the latency if min: is given. */
static void set_figures(const struct checked *t, struct probe *p)
{
	const char *latency = ynode_get(t->map, "min") ? "latency" : "value";

	probe_judges(p, t, "min", "value", NULL);
	probe_judges(p, t, "max", latency, NULL);
}

static void want_command(const struct checked *t, struct probes *ret)
{
	const struct ynode *command = ynode_get(t->map, "command");
	struct probe *p = probe_add(ret, t, "command");
	struct err err = {0};

	probe_subject(p, "command %s", command->items.v[0]->text);
	p->budget_ms = 0;
	take_everything(t->ctx, p);
	set_figures(t, p);
	if (set_program(command, p, &err) < 0 || set_privileges(t, p, &err) < 0)
		probe_declines(p, CHANGE_CANNOT_MEASURE, "not run: %s", err.text);
}

/* A failed program is a fault of the node, whatever its exit status. */
CHECK(command, .required = {"command"}, .optional = {"min", "max", "user", "capabilities"},
      .measure = want_command, .slow = FAULT_HOST_COMMAND, .failed = FAULT_HOST_COMMAND);
