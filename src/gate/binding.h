/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers depend on these: the parts of a node and its software that, when one of them is another,
 * make numbers of before worth nothing. Read from sysfs, procfs and the SMBIOS table; what can't
 * be read is left out, and then differs from where it could be.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/vec.h"
#include "node/node.h"
#include "profile/profile.h"
#include "sys/root.h"

struct binding_part {
	char *name; /* "firmware of 0000:3b:00.0" */
	char *value;
};

struct binding {
	VEC(struct binding_part) list;
};

/*
 * The parts: profile, railhead, kernel and its arguments (but railhead's and the boot loader's
 * own), drivers and RDMA's modules, BIOS, machine, memory modules, CPUs with their microcode, the
 * CPUs and memory of each NUMA node, the clock source; how many members each set has, their models,
 * firmware and serial numbers, and how their PCIe links and those of the bridges above trained. A
 * serial number is never a value, but a part of a digest.
 */
void binding_take(const struct root *root, const struct profile *profile, const struct node *node,
		  const struct device_sets *sets, struct binding *ret);
void binding_free(struct binding *b);
void binding_copy(const struct binding *b, struct binding *ret);
bool binding_same(const struct binding *a, const struct binding *b); /* in the same order */
bool binding_is_shown(const char *value);			     /* no digest */
/* NULL: it has no such part. */
const struct binding_part *binding_find(const struct binding *b, const char *name);

/* As an object, a key for each name; and back, where only texts count. */
json_t *binding_to_json(const struct binding *b);
void binding_from_json(const json_t *obj, struct binding *ret);
/*
 * "firmware of 0000:3b:00.0: 28.39, was 28.37; and 2 more"; NULL if all is as it was. The caller
 * frees.
 */
char *binding_difference(const struct binding *now, const struct binding *was);
