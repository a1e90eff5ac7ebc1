/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of kind vf: each looks at and sets one sort of target. */
#pragma once

#include "kinds/kind.h"

/* vf_numvfs.c: "numvfs:PF", how many VFs a PF has */
int vf_look_numvfs(const struct kind_ctx *ctx, struct change *c, const char *pf, struct err *err);
int vf_set_numvfs(const struct kind_ctx *ctx, struct change *c, const char *pf, struct err *err);

/* vf_driver.c: "driver:PF/INDEX", which driver a VF has */
int vf_look_driver(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err);
int vf_set_driver(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err);
/* The driver has it, and has made what it makes: see struct kind. */
int vf_complete_driver(const struct kind_ctx *ctx, struct change *c, const char *vf,
		       struct err *err);
/* The driver that VFs of this PF are for, by its name in sysfs; NULL if that is not known. */
const char *vf_own_driver(const struct root *root, const char *pf);
/*
 * On the machine itself loads the module for a driver or for a function's own one (alias). A
 * failure shows as a VF without a driver; but for -ELIBACC, a library that is missing.
 */
int vf_load_driver(const struct root *root, const char *addr, const char *desired, struct err *err);

/* vf_where.c: where a worker sleeps, by its kernel stack */
enum whereabouts vf_where(const struct root *root, pid_t worker, struct str *in);
