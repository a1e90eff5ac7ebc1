/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A check turns an entry of the profile into probes, one for each measurement (each node, NIC or
 * pair). A probe has the arguments of its program and the figures that the program's line must
 * have. gate/measure.c runs all probes, gate/judge.c judges them.
 */
#pragma once

#include "checks/check.h"
#include "checks/measurement.h"
#include "sys/privileges.h"

struct profile;

#define BENCH_PATH "/usr/libexec/railhead/railhead-bench" /* argv[0] of the gate's own jobs */

/* One number of a program's line, and its threshold. */
struct figure {
	const char *key;  /* in the line; static: "value", "p9999" */
	const char *name; /* in the profile; static: "min", "max", "p9999" */
	enum quantity quantity;
	double limit;		   /* 0: no absolute limit */
	unsigned int share_of_set; /* in percent, of the median of the check's probes; 0: none */
	char *wanted;		   /* "92% of line (46.0 GB/s)"; NULL: recorded, and not judged */
};

enum { FIGURES_MAX = 4 };

/* A greater figure is wrong: no hardware reaches it, in bytes, nanoseconds or messages/s. */
#define FIGURE_VALUE_MAX 1e17

struct probe {
	struct measurement m; /* its id, check, origin and on_fail are set by probe_add() */
	char *subject;	      /* "memory_bandwidth of node 0": sentences begin with it */
	struct strv argv;     /* the program and its arguments, without --budget */
	struct strv resources;
	struct strv start_disturbs; /* the resources that the start of its driver disturbs */
	bool late;		    /* runs after others, because its driver or server may hang */
	struct privileges *as;	    /* owned; NULL: those of the gate */
	unsigned int budget_ms;	    /* --budget of the bench program; 0: it has no such option */
	unsigned int timeout_ms;    /* of the check; 0: PROBE_TIMEOUT_MS */
	unsigned int setup_ms;	    /* additional time before the bench program can measure */
	bool shares_process;	    /* with the other probes that have this set: together.h */
	struct figure figures[FIGURES_MAX];
	size_t n_figures;
	const char *remedy; /* if the probe is slow without an apparent cause; static */
	const struct check *check;
	enum on_fail on_intermittent;
	bool optional;	  /* the node may lack what it needs */
	bool judged;	  /* since the last judge_look() */
	bool loads_asked; /* loads a device that another probe, which runs first, queries */
	const struct probe *kept_off_by; /* the query that keeps this probe from running; or NULL */
	/* For a probe that queries a device that others load (gate/asked.h), both owned: */
	json_t *stood; /* the faults before that load; NULL: not known */
	char *loads;   /* "copy, peer": the benchmarks that loaded the device since; or NULL */

	/* Where to look for causes if the probe is slow: */
	struct strv functions; /* PCI addresses that the data passes */
	struct cpus nodes;     /* NUMA nodes whose memory or CPUs it uses */
};

struct probes {
	VEC(struct probe *) list; /* owned */
};

/* The resource of reads from disks and servers. */
#define PROBE_STORAGE "storage"
#define PROBE_TIMEOUT_MS 10000 /* default of a check */

/*
 * Adds a probe that runs the check's benchmark in the bench program, with id gate/NAME/TAIL; for a
 * program of the site the caller replaces argv.
 */
struct probe *probe_add(struct probes *probes, const struct checked *t, const char *tail_fmt, ...)
	__attribute__((format(printf, 3, 4)));
void probe_subject(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "--option" and its value. */
void probe_option(struct probe *p, const char *option, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "--KEY" and its value, where the check has that key. */
void probe_passes(struct probe *p, const struct checked *t, const char *key);
/* Only one probe at a time uses a resource. The resource of a function is its address. */
void probe_resource(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Needs memory and CPUs of a NUMA node; -1 (unknown): of all nodes. Causes are sought there. */
void probe_needs_node(struct probe *p, const struct node *node, int numa);
/*
 * Needs the CPUs of all nodes, because its threads may run on any CPU: no probe that measures a
 * node runs at the same time.
 */
void probe_needs_cpus(struct probe *p, const struct node *node);
/*
 * Its process starts a driver, which spins on any CPU: no probe that measures a node runs at the
 * same time, while other probes that start a driver may.
 */
void probe_starts_driver(struct probe *p, const struct node *node);
/* Needs the function; causes are sought on its path. */
void probe_needs_function(struct probe *p, const struct pci_fn *fn);

/* The rates that count as 100%, in bytes/s; 0: not known. */
struct ceilings {
	double line, pcie;
};
/*
 * The ceilings for data between two functions, which may be the same: PCIe of both, and the ports
 * of their RDMA devices (NULL: none). The line is limited to the rate of PCIe, because every byte
 * crosses PCIe.
 */
struct ceilings probe_ceilings(const struct section_ctx *ctx, const struct pci_fn *a,
			       const char *a_ibdev, const struct pci_fn *b, const char *b_ibdev);
/*
 * If the check has the key `name` (min, max, p9999, min_messages), its value judges `key` of the
 * line: see struct figure. ceilings may be NULL. A share of an unknown ceiling declines the probe.
 */
void probe_judges(struct probe *p, const struct checked *t, const char *name, const char *key,
		  const struct ceilings *ceilings);
/* The same; if the check lacks the key, the figure is still a reading of the measurement. */
void probe_tells(struct probe *p, const struct checked *t, const char *name, const char *key);

/* The member of its check that the probe measures: the TAIL of its id. */
const char *probe_member(const struct probe *p);
/* The value of the check's key: for this member, or else for all. NULL: not set. */
const struct ynode *probe_wants(const struct probe *p, const struct ynode *map, const char *key);

/* "value" is the number of faults, which must be 0, and "faults" are their texts. */
void probe_wants_no_faults(struct probe *p);

/* The probe does not run: sets its state, and the reason. */
/* The format may have TO_MEND (base/err.h). */
void probe_declines(struct probe *p, enum change_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool probe_is_declined(const struct probe *p);
void probes_free(struct probes *probes);

/* The pages for the bench program: the largest up to 1G that the profile gives the work. */
const char *probe_pages(const struct profile *profile);
