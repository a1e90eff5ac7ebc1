/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds probes. */
#include "checks/probe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "plan/render.h"
#include "profile/profile.h"
#include "profile/section.h"
#include "profile/yaml.h"
#include "sys/pci_link.h"
#include "sys/read.h"

enum { BUDGET_MS = 1500, PAGE_MOST = 1 << 30, MBIT = 125000 };

static enum on_fail consequence_of(const struct ynode *map, const char *key, const char *fallback)
{
	enum on_fail f = ON_FAIL_BLOCK;

	on_fail_parse(ynode_text(map, key, fallback), &f);
	return f;
}

static void add_text(struct strv *list, const char *fmt, va_list ap)
{
	struct str text = {0};

	str_vaddf(&text, fmt, ap);
	strv_add(list, str_get(&text));
	str_free(&text);
}

struct probe *probe_add(struct probes *probes, const struct checked *t, const char *tail_fmt, ...)
{
	struct probe *p = xnew(struct probe);
	struct str id = {0};
	va_list ap;

	str_addf(&id, "gate/%s/", t->name);
	va_start(ap, tail_fmt);
	str_vaddf(&id, tail_fmt, ap);
	va_end(ap);
	p->m.id = str_take(&id);
	p->m.check = xstrdup(t->name);
	p->m.origin = render_place(t->map->at);
	p->m.on_fail = consequence_of(t->map, "on_fail", "block");
	p->on_intermittent = consequence_of(t->map, "on_intermittent", "warn");
	p->optional = ynode_bool(t->map, "optional", false);
	p->check = t->check;
	p->subject = xstrdup(p->m.id);
	strv_add(&p->argv, BENCH_PATH);
	strv_add(&p->argv, t->check->run);
	p->budget_ms = BUDGET_MS;
	p->timeout_ms = (unsigned int)(ynode_number_of(t->map, "timeout", 0) / 1000);
	vec_push(&probes->list, p);
	return p;
}

void probe_subject(struct probe *p, const char *fmt, ...)
{
	char *before = p->subject;
	va_list ap;

	va_start(ap, fmt);
	p->subject = xvasprintf(fmt, ap);
	va_end(ap);
	free(before);
}

void probe_option(struct probe *p, const char *option, const char *fmt, ...)
{
	va_list ap;

	strv_add(&p->argv, option);
	va_start(ap, fmt);
	add_text(&p->argv, fmt, ap);
	va_end(ap);
}

void probe_passes(struct probe *p, const struct checked *t, const char *key)
{
	const char *value = ynode_text(t->map, key, NULL);
	cleanup_free char *option = xasprintf("--%s", key);

	if (value)
		probe_option(p, option, "%s", value);
}

void probe_resource(struct probe *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_text(&p->resources, fmt, ap);
	va_end(ap);
}

void probe_needs_node(struct probe *p, const struct node *node, int numa)
{
	for (int n = cpus_next(&node->nodes, -1); n >= 0; n = cpus_next(&node->nodes, n)) {
		if ((numa >= 0 && n != numa) || cpus_has(&p->nodes, (unsigned int)n))
			continue;
		cpus_add(&p->nodes, (unsigned int)n);
		probe_resource(p, "node%d", n);
	}
}

static void add_nodes(struct strv *list, const struct node *node)
{
	const struct cpus *nodes = &node->nodes_with_cpu;

	for (int n = cpus_next(nodes, -1); n >= 0; n = cpus_next(nodes, n)) {
		cleanup_free char *name = xasprintf("node%d", n);

		strv_add(list, name);
	}
}

void probe_needs_cpus(struct probe *p, const struct node *node)
{
	add_nodes(&p->resources, node);
}

void probe_starts_driver(struct probe *p, const struct node *node)
{
	add_nodes(&p->start_disturbs, node);
}

void probe_needs_function(struct probe *p, const struct pci_fn *fn)
{
	if (strv_contains(&p->functions, fn->addr))
		return;
	strv_add(&p->functions, fn->addr);
	probe_resource(p, "%s", fn->addr);
	/* VFs share their PF's link with it and with each other. */
	if (fn->physfn[0])
		probe_resource(p, "%s", fn->physfn);
}

const char *probe_member(const struct probe *p)
{
	return member_of_id(p->m.id, p->m.check);
}

const struct ynode *probe_wants(const struct probe *p, const struct ynode *map, const char *key)
{
	const struct ynode *own = ynode_get(ynode_get(map, "members"), probe_member(p));
	const struct ynode *wanted = ynode_get(own, key);

	return wanted ? wanted : ynode_get(map, key);
}

static double lower(double a, double b)
{
	return a <= 0 ? b : b <= 0 ? a : a < b ? a : b;
}

/*
 * The rate of a port, in bytes/s. For Ethernet the netdev is more reliable: a soft device's rate is
 * a guess.
 */
static double line_rate(const struct root *root, const struct pci_fn *fn, const char *ibdev)
{
	cleanup_free char *rate = NULL;
	int64_t mbit;

	if (fn->net.n &&
	    read_i64(root, &mbit, NULL, "/sys/class/net/%s/speed", fn->net.v[0]) == 0 && mbit > 0)
		return (double)mbit * MBIT;
	/* "400 Gb/sec (4X NDR)" */
	if (read_attr(root, &rate, NULL, "/sys/class/infiniband/%s/ports/1/rate", ibdev) == 0)
		return strtod(rate, NULL) * 1000 * MBIT;
	return 0;
}

struct ceilings probe_ceilings(const struct section_ctx *ctx, const struct pci_fn *a,
			       const char *a_ibdev, const struct pci_fn *b, const char *b_ibdev)
{
	double line = lower(a_ibdev ? line_rate(ctx->root, a, a_ibdev) : 0,
			    b_ibdev ? line_rate(ctx->root, b, b_ibdev) : 0);
	struct ceilings c = {
		.pcie = lower(pci_link_ceiling(ctx->root, a->addr),
			      pci_link_ceiling(ctx->root, b->addr)),
	};

	c.line = line > 0 ? lower(line, c.pcie) : 0;
	return c;
}

/* wanted is a share, such as "92% of line". */
static void resolve_share(struct probe *p, const struct ynode *map, const struct ynode *wanted,
			  const struct ceilings *ceilings, struct figure *f)
{
	const char *text = wanted->text, *of = wanted->value.of;
	unsigned int percent = (unsigned int)wanted->value.number;
	double whole = 0;

	if (streq(of, "set")) {
		f->share_of_set = percent;
		const struct ynode *floor = probe_wants(p, map, "floor");

		f->limit = floor ? (double)floor->value.number : 0;
		f->wanted = xasprintf("%s, and %s", text, floor ? floor->text : "");
		return;
	}
	if (ceilings)
		whole = streq(of, "line") ? ceilings->line : ceilings->pcie;
	f->limit = whole * percent / 100;
	if (whole > 0) {
		cleanup_free char *rate = quantity_format(QUANTITY_RATE, f->limit);

		f->wanted = xasprintf("%s (%s)", text, rate);
		return;
	}
	f->wanted = xstrdup(text);
	probe_declines(
		p, CHANGE_CANNOT_MEASURE,
		"%s, which is unknown: the kernel reports no %s" TO_MEND "write min as a rate",
		text, streq(of, "line") ? "speed of its port" : "width and speed of its link");
}

static enum quantity quantity_of_key(const char *name)
{
	const struct figure_key *is = figure_key_find(name);

	if (!is)
		abort(); /* a row of figure_keys is missing */
	return is->quantity;
}

void probe_judges(struct probe *p, const struct checked *t, const char *name, const char *key,
		  const struct ceilings *ceilings)
{
	const struct ynode *wanted = probe_wants(p, t->map, name);
	struct figure f = {.key = key, .name = name, .quantity = quantity_of_key(name)};

	if (!wanted || p->n_figures == FIGURES_MAX)
		return;
	if (wanted->value.type == VALUE_SHARE) {
		resolve_share(p, t->map, wanted, ceilings, &f);
	} else {
		f.limit = (double)wanted->value.number;
		f.wanted = xstrdup(wanted->text);
	}
	p->figures[p->n_figures++] = f;
}

void probe_tells(struct probe *p, const struct checked *t, const char *name, const char *key)
{
	if (ynode_get(t->map, name))
		probe_judges(p, t, name, key, NULL);
	else if (p->n_figures < FIGURES_MAX)
		p->figures[p->n_figures++] = (struct figure){
			.key = key, .name = name, .quantity = quantity_of_key(name)};
}

void probe_wants_no_faults(struct probe *p)
{
	p->figures[p->n_figures++] = (struct figure){.key = "value",
						     .name = "faults",
						     .quantity = QUANTITY_FAULTS,
						     .wanted = xstrdup("no faults")};
}

void probe_declines(struct probe *p, enum change_state state, const char *fmt, ...)
{
	struct str text = {0};
	va_list ap;

	if (probe_is_declined(p))
		return;
	str_addf(&text, "%s: ", p->subject);
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	p->m.state = state;
	measurement_say(&p->m, text.s, err_take_mark(text.s, fmt));
}

bool probe_is_declined(const struct probe *p)
{
	return p->m.reason != NULL;
}

const char *probe_pages(const struct profile *profile)
{
	const struct ynode *pages = profile_section(profile, "hugepages");
	const char *best = "4K"; /* the kernel's smallest page */
	uint64_t most = 0, bytes;

	for (size_t i = 0; pages && i < pages->items.n; i++) {
		const struct ynode *size = ynode_get(pages->items.v[i], "size");

		if (ynode_number(size, &bytes) && bytes > most && bytes <= PAGE_MOST) {
			most = bytes;
			best = size->text;
		}
	}
	return best;
}

static void probe_free(struct probe *p)
{
	free(p->subject);
	free(p->as);
	free(p->loads);
	json_decref(p->stood);
	strv_free(&p->argv);
	strv_free(&p->resources);
	strv_free(&p->start_disturbs);
	strv_free(&p->functions);
	for (size_t i = 0; i < p->n_figures; i++)
		free(p->figures[i].wanted);
	free(p);
}

void probes_free(struct probes *probes)
{
	for (size_t i = 0; i < probes->list.n; i++)
		probe_free(probes->list.v[i]);
	vec_free(&probes->list);
}
