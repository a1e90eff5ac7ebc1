/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside this room: from a check of the profile to what is run and judged.
 *
 * A family knows one `run:` word. It makes of a check as many probes as there is to measure
 * (one for each node, each NIC, each pair), each with the words of its program and the figures
 * that its line must have. measure.c runs them all, judge.c judges.
 */
#pragma once

#include "gate/causes.h"
#include "gate/gate.h"
#include "sections/sections.h"

/* One number of a program's line, and what is wanted of it. */
struct figure {
	const char *key;  /* in the line; static: "value", "p9999" */
	const char *name; /* in the profile; static: "min", "max", "p9999" */
	enum quantity quantity;
	bool at_most;		   /* a latency; else at least */
	double limit;		   /* 0: not judged by itself */
	unsigned int share_of_set; /* in percent, of the median of the check's probes; 0: none */
	char *wanted;		   /* "92% of line (46.0 GB/s)" */
};

struct probe_family;

enum { FIGURES_MAX = 4 };

/* No part of a machine has more bytes, nanoseconds or messages per second: a figure is mistaken. */
#define FIGURE_VALUE_MAX 1e17

struct probe {
	struct measurement m; /* its id, check, origin and on_fail are set by probe_add() */
	char *subject;	      /* "memory_bandwidth of node 0": sentences begin with it */
	struct strv argv;     /* the program and its words, without --budget */
	struct strv resources;
	struct privileges *as;	 /* owned; NULL: those of the gate */
	unsigned int budget_ms;	 /* --budget of the bench program; 0: the program takes none */
	unsigned int timeout_ms; /* of the check; 0: PROBE_TIMEOUT_MS */
	unsigned int setup_ms;	 /* besides: before the bench program can measure */
	bool shares_process;	 /* with others that do: together.h */
	struct figure figures[FIGURES_MAX];
	size_t n_figures;
	const char *remedy; /* of a slow one, where no cause stands out; static */
	const struct probe_family *family;
	enum on_fail on_intermittent;
	bool judged; /* since the last judge_look() */

	/* Where causes are looked for, if it is slow: */
	struct strv functions; /* PCI addresses that the data passes */
	struct cpus nodes;     /* NUMA nodes whose memory or CPUs it uses */
};

struct probes {
	VEC(struct probe *) list; /* owned */
};

/* The resource of what is read from disks and servers. */
#define PROBE_STORAGE "storage"
#define PROBE_TIMEOUT_MS 10000 /* of a check that says none */

struct probe_family {
	const char *run;
	void (*want)(const struct section_ctx *ctx, const char *name, const struct ynode *check,
		     struct probes *ret);
	enum fault slow;   /* which fault a figure that is not enough is */
	enum fault failed; /* ... and a program that gives none; FAULT_NONE: GATE_PROGRAM */
	bool no_load;	   /* it asks a driver, and no more */
};

/* NULL: no benchmark is called that. */
const struct probe_family *probe_family_of(const char *run);
extern const struct probe_family probe_memory_bandwidth, probe_memory_latency, probe_jitter,
	probe_rdma_loopback, probe_rdma_pairs, probe_gpu_health, probe_gpu_copy, probe_gpu_peer,
	probe_gpu_rdma, probe_storage_read, probe_command;

/*
 * Adds a probe of the bench program's benchmark of that name, with id gate/NAME/TAIL; for a
 * program of the site's own the caller replaces argv.
 */
struct probe *probe_add(struct probes *probes, const char *name, const struct ynode *check,
			const char *tail_fmt, ...) __attribute__((format(printf, 4, 5)));
void probe_subject(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "--option" and its value. */
void probe_option(struct probe *p, const char *option, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Nothing else that needs the resource runs beside it. A function's is its address. */
void probe_resource(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The memory and CPUs of a NUMA node; -1 (unknown): of all nodes. Causes are looked for there. */
void probe_needs_node(struct probe *p, const struct node *node, int numa);
/* The function, and that causes are looked for on its way. */
void probe_needs_function(struct probe *p, const struct pci_fn *fn);

/* What 100% of something are, in bytes/s; 0: not known. */
struct ceilings {
	double line, pcie;
};
/*
 * The check's key (min, max, p9999, min_messages), if it has it, judges that key of the
 * line: see figure. ceilings may be NULL. A share of what is not known declines the probe.
 */
void probe_judges(struct probe *p, const struct ynode *check, const char *name, const char *key,
		  enum quantity quantity, const struct ceilings *ceilings);

/* "value" counts faults, and "faults" are their texts: any is one too many. */
void probe_wants_no_faults(struct probe *p);

/* It is not run: this is its state, and why. */
void probe_declines(struct probe *p, enum change_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool probe_is_declined(const struct probe *p);
void probes_free(struct probes *probes);

/* The pages for the bench program: the largest up to 1G that the profile gives the work. */
const char *probe_pages(const struct profile *profile);

/* What the port of an RDMA device could carry, in bytes/s; 0: not known. */
double probe_line_rate(const struct section_ctx *ctx, const struct pci_fn *fn, const char *ibdev);

/* --- judge.c ---------------------------------------------------------------------------- */

/* "211.4 GB/s", "84.2 ns", "2.13 M/s", "2 faults" */
char *quantity_format(enum quantity q, double value);

/*
 * From what the job said to the measurement: readings, state, reason. All but shares of a
 * set, which judge_sets() does when all are there.
 */
void judge_probe(struct probe *p, const struct bench_job *job);
void judge_sets(struct probes *probes);
bool wants_second_look(const struct probe *p);
/* Keeps what the look came to, once the probes of its set are judged, too. */
void judge_look(struct probe *p);
/*
 * After the last look: slow once and not again, or disturbed. others: a sentence on the work that
 * ran during the second look, or NULL.
 */
void judge_looks(struct probe *p, const char *others);
/* Which fault the measurement is, once its state is final. */
void judge_fault(struct probe *p);
/* Why it may be slow, with what was seen: appended to the reason. */
void judge_causes(const struct section_ctx *ctx, struct probe *p);
