/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of kind vf: what is set of a VF through its own files. vf: "PF/INDEX". */
#pragma once

#include "kinds/kind.h"

/* vf_mtu.c: "mtu:PF/INDEX", the MTU of its netdevs */
int vf_look_mtu(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err);
int vf_set_mtu(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err);

/*
 * vf_msix.c: "msix:PF/INDEX", its MSI-X vectors. A VF that is bound is unbound first; the
 * change of its driver, in a later phase of the same lane, binds it again.
 */
int vf_look_msix(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err);
int vf_set_msix(const struct kind_ctx *ctx, struct change *c, const char *vf, struct err *err);
