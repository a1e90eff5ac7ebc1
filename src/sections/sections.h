/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done with all sections of a profile (profile/section.h). */
#pragma once

#include "base/err.h"
#include "boot/kargs.h"
#include "node/node.h"
#include "plan/change.h"
#include "profile/profile.h"
#include "profile/section.h"
#include "sys/root.h"

/* `unsupported: skip`: a knob that is not there is no failure. */
bool section_skips_unsupported(const struct section_ctx *ctx);

/* Surveyed sets + all sections -> the plan of all stages. */
int sections_emit(const struct section_ctx *ctx, struct plan *ret, struct err *err);
/* All kernel arguments that the profile wants on this node, in order. */
int sections_kargs(const struct section_ctx *ctx, struct kargs *ret, struct err *err);

/* Of a change that does not hold. */
enum fault fault_of_change(const struct change *c);

/* Whether the `run:` of a check of the gate is a look, which needs no load. */
bool gate_looks(const char *run);
/* Whether a set that the check is on has no member: its expect says then whether it may. */
bool gate_may_lack(const struct section_ctx *ctx, const struct ynode *check);
#define NOTHING_TO_CHECK                                                                           \
	"there is nothing that this check is about: no VF, NUMA node or pair that it could take; " \
	"see `railhead match --explain`, or leave the check out"
