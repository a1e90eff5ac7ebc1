/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a node and its software that figures depend on: a change of any part makes earlier
 * figures worthless. Read from sysfs, procfs and the SMBIOS table. A part that can't be read is
 * left out, and then differs from a reading that has it.
 */
#pragma once

#include <stdbool.h>

#include "base/stored.h"
#include "base/vec.h"
#include "node/node.h"
#include "profile/profile.h"
#include "sys/root.h"

struct binding_part {
	char *name; /* "firmware of 0000:3b:00.0" */
	char *value;
};

/* The parts of a name: "firmware" of "0000:3b:00.0". */
struct binding_name {
	const char *what;
	int len;	     /* of what, which is not terminated */
	const char *address; /* NULL: the part belongs to no function */
};

struct binding {
	VEC(struct binding_part) list;
};

/*
 * The parts: profile, railhead, kernel and its arguments (except those of railhead and the boot
 * loader), drivers and RDMA's modules, BIOS, machine, memory modules, CPUs with their microcode,
 * the CPUs, memory and frequency governor of each NUMA node, NUMA balancing, the clock source; how
 * many members each set has, their models, places (root port, NUMA node), firmware, serial numbers,
 * MaxReadRequest and IOMMU, and how the PCIe links of the members and of the bridges above them
 * trained. A serial number only goes into a digest.
 */
void binding_take(const struct root *root, const struct profile *profile, const struct node *node,
		  const struct device_sets *sets, struct binding *ret);
void binding_free(struct binding *b);
bool binding_same(const struct binding *a, const struct binding *b); /* in the same order */
struct binding_name binding_name(const char *name);
/* Whether both are the same of two functions. */
bool binding_name_alike(const struct binding_name *a, const struct binding_name *b);
bool binding_name_is(const struct binding_name *name, const char *what);
/*
 * Whether both may be of one machine: an image that was captured on another node brings that node's
 * history. Without a serial number in both they may.
 */
bool binding_same_machine(const struct binding *a, const struct binding *b);
bool binding_is_shown(const char *value); /* not a digest */
/* NULL: the binding has no part of that name. */
const struct binding_part *binding_find(const struct binding *b, const char *name);

/* How a binding is stored: an object with a text for each name. */
extern const struct stored binding_stored[];
/*
 * "firmware of 0000:3b:00.0: 28.39, was 28.37; and 2 more"; NULL: no difference. The caller
 * frees.
 */
char *binding_difference(const struct binding *now, const struct binding *was);

/* --- single readings, also for causes (gate/causes.h) --- */

/* MaxReadRequest in bytes; of a VF that of its PF, since its own field is reserved. -errno. */
int read_max_read_request(const struct root *root, const char *addr);
/* The type of its IOMMU group: "DMA-FQ". NULL: it has none. The caller frees. */
char *read_iommu(const struct root *root, const char *addr);
/* Of the first CPU; the driver chooses what a governor means. The caller frees. */
bool read_governor(const struct root *root, const struct cpus *cpus, char **governor,
		   char **driver);
/* 0, 1; -errno: this kernel has no NUMA balancing */
int read_numa_balancing(const struct root *root);
