/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kargs/kargs.h"

/* Appends a kernel argument that `why`, a node of the profile, wants. */
void kargs_want(struct kargs *l, const struct ynode *why, const char *text);
