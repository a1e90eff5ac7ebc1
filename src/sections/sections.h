/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions over all sections of a profile (profile/section.h). */
#pragma once

#include "base/err.h"
#include "base/fault.h"

struct change; /* of plan/change.h */
struct kargs;
struct plan;	    /* of plan/plan.h */
struct section_ctx; /* of profile/section.h */

/* Collects all kernel arguments that the profile wants on this node, in order. */
int sections_kargs(const struct section_ctx *ctx, struct kargs *ret, struct err *err);
/* Emits the changes of all stages from all sections; ctx has the kernel arguments. */
void sections_emit(const struct section_ctx *ctx, struct plan *ret);

/* The fault of a change that does not hold. */
enum fault fault_of_change(const struct change *c);
