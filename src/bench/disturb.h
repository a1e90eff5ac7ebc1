/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interruptions of a CPU's work between two moments, as far as the kernel counts them.
 * See proc(5), /proc/stat and /proc/interrupts; SMIs are counted by Intel's MSR 0x34 (SDM
 * volume 4, MSR_SMI_COUNT).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

struct disturb {	  /* the counters of one moment */
	char *interrupts; /* text of the file; NULL: can't be read */
	char *stat;
	bool smi_known;
	uint64_t smi;
};

/* rootfd: the directory with proc/ and dev/. cpu: the CPU whose SMI counter is read. */
void disturb_look(struct disturb *d, int rootfd, int cpu);
/* Reads only stat, because on a large machine the text of the interrupts takes milliseconds. */
void disturb_look_at_time(struct disturb *d, int rootfd);
void disturb_free(struct disturb *d);

/* Milliseconds that a hypervisor took from the CPU (to a clock tick); -1: not known. */
int64_t disturb_steal_ms(const struct disturb *before, const struct disturb *after, int cpu);
struct others {	    /* in percent of the CPUs' time, idle time included */
	double pct; /* used by others, interrupts and hypervisors included */
	double steal_pct;
};

/* own_ns: the CPU time that the caller used. False: not known. */
bool disturb_others(const struct disturb *before, const struct disturb *after,
		    const struct cpus *cpus, uint64_t own_ns, struct others *ret);
/* SMIs, which stop all CPUs at once; -1: not known. */
int64_t disturb_smis(const struct disturb *before, const struct disturb *after);

struct source {
	char name[64]; /* "LOC Local timer interrupts", "36 nvme0q1"; "" for none */
	uint64_t count;
	uint64_t all; /* of all sources */
};

/* The source that interrupted the CPU most often. */
void disturb_source(const struct disturb *before, const struct disturb *after, int cpu,
		    struct source *ret);
