/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside this room: checks that have a file of their own. arg: what follows "CHECKER:". */
#pragma once

#include "kinds/kind.h"

/* carrier:ADDR or carrier:PF/INDEX; desired: "up" */
int check_carrier(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
/* speed:, the same; desired: a rate such as 400Gb/s, and that or more is right */
int check_speed(const struct kind_ctx *ctx, struct change *c, const char *arg, struct err *err);
/* iommu-group:ADDR or iommu-group:PF/INDEX; desired: "isolated" or "any" */
int check_iommu_group(const struct kind_ctx *ctx, struct change *c, const char *arg,
		      struct err *err);
/* iommu-type:ADDR or iommu-type:PF/INDEX; desired: as the kernel writes the group's type */
int check_iommu_type(const struct kind_ctx *ctx, struct change *c, const char *arg,
		     struct err *err);
