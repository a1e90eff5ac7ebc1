/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line that a benchmark prints, of railhead or of a site: whatever it says, the gate comes to a
 * state with a reason that can be recorded, and only numbers that it has pass.
 */
#include "fuzz.h"

#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/record.h"
#include "gate/gate.h"
#include "gate/judge.h"
#include "profile/section.h"
#include "profile/yaml.h"

static const struct binding unknown;

#define MAP "{run: rdma_loopback, on: rails}"

/* The figures that checks judge, one of each quantity; "": recorded, and not judged. */
struct wish {
	struct figure figure;
	const char *wanted;
};
static const struct wish figures[] = {
	{{.key = "value", .name = "min", .quantity = QUANTITY_RATE, .limit = 1e9}, "1GB/s"},
	{{.key = "latency", .name = "max", .quantity = QUANTITY_TIME, .limit = 5e3}, "5us"},
	{{.key = "messages", .name = "min_messages", .quantity = QUANTITY_MESSAGES}, ""},
};
static const struct wish faults[] = {
	{{.key = "value", .name = "faults", .quantity = QUANTITY_FAULTS}, "none"},
};

static void check_reason(const struct measurement *m, const json_t *line)
{
	cleanup_free char *own = json_dumps(line, JSON_ENCODE_ANY);

	json_t *text = m->reason ? json_string(m->reason) : NULL; /* UTF-8 */

	must(!m->reason == (m->state == CHANGE_SAME));
	must(!m->reason || (*m->reason && text));
	must(!m->reason || !strstr(m->reason, "(null)") || strstr(own, "(null)"));
	json_decref(text);
}

static struct probe *probe(struct probes *probes, const struct ynode *map, const struct wish *list,
			   size_t n)
{
	struct checked t = {.check = check_find("rdma_loopback"), .name = "rails", .map = map};
	struct probe *p = probe_add(probes, &t, "a");

	for (size_t i = 0; i < n; i++) {
		p->figures[i] = list[i].figure;
		p->figures[i].wanted = *list[i].wanted ? xstrdup(list[i].wanted) : NULL;
	}
	p->n_figures = n;
	return p;
}

static void judge(const struct section_ctx *ctx, const struct ynode *map, const struct wish *list,
		  size_t n, const struct bench_job *job, const json_t *line)
{
	struct measurements all = {0};
	struct probes probes = {0};
	struct probe *p = probe(&probes, map, list, n);
	json_t *json;

	for (int look = 0; look < 2; look++) {
		judge_probe(p, job);
		check_reason(&p->m, line);
		judge_sets(&probes);
		judge_look(p);
	}
	judge_looks(p, "other work");
	if (p->m.state == CHANGE_SLOW)
		judge_causes(ctx, &unknown, &unknown, p);
	judge_fault(p);
	check_reason(&p->m, line);
	must(measurement_holds(&p->m) == (p->m.fault == FAULT_NONE));
	for (size_t i = 0; i < p->m.readings.list.n; i++)
		must(isfinite(p->m.readings.list.v[i].value));
	vec_push(&all.list, p->m);
	json = measurements_to_json(&all);
	must(json);
	json_decref(json);
	probes_free(&probes);
	measurements_free(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct root root = {.fd = -1};
	static struct node node;
	struct section_ctx ctx = {.root = &root, .node = &node};
	json_t *line = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct bench_job job = {.started_us = 7, .duration_us = 1000};
	struct diags diags = {0};
	cleanup_ynode struct ynode *map = NULL;

	if (!line)
		return 0;
	if (root.fd < 0) {
		cleanup_free char *dir = fuzz_dir();

		must(root_init(&root, dir, NULL) == 0);
	}
	map = yaml_parse("sku.yaml", MAP, strlen(MAP), &diags);
	bench_job_take(&job, line);
	must((job.state == CHANGE_SAME) == (*job.reason == '\0'));
	must(!job.result == (job.state == CHANGE_FAILED));
	judge(&ctx, map, figures, array_len(figures), &job, line);
	judge(&ctx, map, faults, array_len(faults), &job, line);
	bench_job_clear(&job);
	json_decref(line);
	return 0;
}
