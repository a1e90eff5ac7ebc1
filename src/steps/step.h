/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step is one section of a profile: it reads topology and emits changes. It never
 * writes and never reads a tunable value. Each is a file that exports one const struct,
 * and a line in table.c.
 */
#pragma once

#include "base/err.h"
#include "boot/kargs.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/profile.h"
#include "sys/root.h"

struct step_ctx {
	const struct root *root;
	const struct node *node;
	const struct profile *profile;
	const struct device_sets *sets;
};

struct step {
	const char *section; /* its key in a profile */
	/* emit() is called with an empty section where the profile has none: other sections
	 * give it work too (hugepages to kernel_args, devices to expect). */
	bool always;
	/* Its values are knobs that a kernel or driver may lack: `unsupported: skip` holds. */
	bool knobs;
	/*
	 * Emits the changes of all stages. section is never NULL and was checked by the
	 * schema. NULL: this section is not implemented and was refused by the schema.
	 */
	int (*emit)(const struct step_ctx *ctx, const struct ynode *section, struct plan *plan,
		    struct err *err);
	/* Kernel arguments that the section needs; the kernel_args step gathers them. */
	int (*kargs)(const struct step_ctx *ctx, const struct ynode *section, struct kargs *wanted,
		     struct err *err);
};

extern const struct step *const steps[]; /* NULL-terminated, in the order of emission */

/* `unsupported: skip`: a knob that is not there is no failure. */
bool step_skips_unsupported(const struct step_ctx *ctx);

/* Surveyed sets + all steps -> the plan of all stages. */
int steps_emit(const struct step_ctx *ctx, struct plan *ret, struct err *err);
/* All kernel arguments that the profile wants on this node, in order. */
int steps_kargs(const struct step_ctx *ctx, struct kargs *ret, struct err *err);

/* Whether the `run:` of a check of the gate is a look, which needs no load. */
bool gate_looks(const char *run);
/* Whether a set that the check is on has no member: its expect says then whether it may. */
bool gate_may_lack(const struct step_ctx *ctx, const struct ynode *check);
#define NOTHING_TO_CHECK                                                                           \
	"there is nothing that this check is about: no VF, NUMA node or pair that it could take; " \
	"see `railhead match --explain`, or leave the check out"

extern const struct step step_kernel_args, step_hugepages, step_modules, step_rdma, step_sriov,
	step_pcie, step_link, step_qos, step_irq, step_pairs, step_sysctl, step_sysfs, step_require,
	step_expect, step_gate;
