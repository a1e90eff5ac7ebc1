/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a check makes of an entry of the profile that is measured: as many probes as there is to
 * measure (one for each node, each NIC, each pair), each with the words of its program and the
 * figures that its line must have. gate/measure.c runs them all, gate/judge.c judges.
 */
#pragma once

#include "checks/check.h"
#include "checks/measurement.h"
#include "sys/privileges.h"

#define BENCH_PATH "/usr/libexec/railhead/railhead-bench" /* argv[0] of the gate's own jobs */

/* One number of a program's line, and what is wanted of it. */
struct figure {
	const char *key;  /* in the line; static: "value", "p9999" */
	const char *name; /* in the profile; static: "min", "max", "p9999" */
	enum quantity quantity;
	bool at_most;		   /* a latency; else at least */
	double limit;		   /* 0: not judged by itself */
	unsigned int share_of_set; /* in percent, of the median of the check's probes; 0: none */
	char *wanted;		   /* "92% of line (46.0 GB/s)"; NULL: it is told, and not judged */
};

enum { FIGURES_MAX = 4 };

/* No part of a machine has more bytes, nanoseconds or messages per second: a figure is mistaken. */
#define FIGURE_VALUE_MAX 1e17

struct probe {
	struct measurement m; /* its id, check, origin and on_fail are set by probe_add() */
	char *subject;	      /* "memory_bandwidth of node 0": sentences begin with it */
	struct strv argv;     /* the program and its words, without --budget */
	struct strv resources;
	struct strv start_disturbs; /* the resources that the start of its driver disturbs */
	bool late;		 /* its driver or server may hang: others have their turn first */
	struct privileges *as;	 /* owned; NULL: those of the gate */
	unsigned int budget_ms;	 /* --budget of the bench program; 0: the program takes none */
	unsigned int timeout_ms; /* of the check; 0: PROBE_TIMEOUT_MS */
	unsigned int setup_ms;	 /* besides: before the bench program can measure */
	bool shares_process;	 /* with others that do: together.h */
	struct figure figures[FIGURES_MAX];
	size_t n_figures;
	const char *remedy; /* of a slow one, where no cause stands out; static */
	const struct check *check;
	enum on_fail on_intermittent;
	bool optional;	  /* the node may lack what it needs */
	bool judged;	  /* since the last judge_look() */
	bool loads_asked; /* it loads a device that another probe asks about, which goes first */
	const struct probe *kept_off_by; /* ... and by which it is not run; NULL: by none */
	/* Of one that asks about a device that others load (gate/asked.h), both owned: */
	json_t *stood; /* the faults before that load; NULL: not known */
	char *loads;   /* "copy, peer": the benchmarks that have loaded it since; NULL: none */

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

/*
 * Adds a probe of the bench program's benchmark of that name, with id gate/NAME/TAIL; for a
 * program of the site's own the caller replaces argv.
 */
struct probe *probe_add(struct probes *probes, const struct checked *t, const char *tail_fmt, ...)
	__attribute__((format(printf, 3, 4)));
void probe_subject(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "--option" and its value. */
void probe_option(struct probe *p, const char *option, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "--KEY" and its value, where the check has that key. */
void probe_passes(struct probe *p, const struct checked *t, const char *key);
/* Nothing else that needs the resource runs beside it. A function's is its address. */
void probe_resource(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The memory and CPUs of a NUMA node; -1 (unknown): of all nodes. Causes are looked for there. */
void probe_needs_node(struct probe *p, const struct node *node, int numa);
/*
 * The CPUs of all nodes, any of which its threads may run on: nothing that measures a node runs
 * at the same time.
 */
void probe_needs_cpus(struct probe *p, const struct node *node);
/*
 * Its process starts a driver, which spins on any CPU: nothing that measures a node runs at the
 * same time, but what starts a driver as well.
 */
void probe_starts_driver(struct probe *p, const struct node *node);
/* The function, and that causes are looked for on its way. */
void probe_needs_function(struct probe *p, const struct pci_fn *fn);

/* What 100% of something are, in bytes/s; 0: not known. */
struct ceilings {
	double line, pcie;
};
/*
 * Of what passes between two functions, which may be the same: PCIe of both, and the ports of their
 * RDMA devices (NULL: none). Every byte crosses PCIe: a line beyond that can't be filled.
 */
struct ceilings probe_ceilings(const struct section_ctx *ctx, const struct pci_fn *a,
			       const char *a_ibdev, const struct pci_fn *b, const char *b_ibdev);
/*
 * The check's key (min, max, p9999, min_messages), if it has it, judges that key of the
 * line: see figure. ceilings may be NULL. A share of what is not known declines the probe.
 */
void probe_judges(struct probe *p, const struct checked *t, const char *name, const char *key,
		  const struct ceilings *ceilings);
/* The same, and without the key the figure is a reading of the measurement all the same. */
void probe_tells(struct probe *p, const struct checked *t, const char *name, const char *key);

/* Which member of its check it measures: the TAIL of its id. */
const char *probe_member(const struct probe *p);
/* What the check (its map) wants by that key: for this member, or else for all. NULL: nothing. */
const struct ynode *probe_wants(const struct probe *p, const struct ynode *map, const char *key);

/* "value" counts faults, and "faults" are their texts: any is one too many. */
void probe_wants_no_faults(struct probe *p);

/* It is not run: this is its state, and why. */
void probe_declines(struct probe *p, enum change_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool probe_is_declined(const struct probe *p);
void probes_free(struct probes *probes);

/* The pages for the bench program: the largest up to 1G that the profile gives the work. */
const char *probe_pages(const struct profile *profile);
