/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts that measured thresholds depend on, in addition to the parts that require: names: a
 * kernel, BIOS or firmware of another version may be faster or slower without being a fault. The
 * basis is a list of texts, such as "kernel: 6.1.0-50-amd64" and "firmware of rails: 28.39.1002",
 * and gate.calibrated_on stores it.
 */
#pragma once

#include "base/vec.h"

struct section_ctx; /* of profile/section.h */
struct ynode;

/* The texts of this node. A part that can't be read has no text. */
void basis_take(const struct section_ctx *ctx, struct strv *ret);
/*
 * "kernel: 6.1.0-51-amd64, calibrated on 6.1.0-50-amd64; and 2 more": how a node differs from the
 * list of a profile (NULL: the profile has no list). NULL: no difference. Caller frees.
 */
char *basis_difference(const struct strv *now, const struct ynode *calibrated_on);
