/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kinds/vf.h"

const struct kind kind_vf = {
	.name = "vf",
	.blocks = true,
	.look = item_look,
	.set = item_set,
	.complete = item_complete,
	.where = vf_where,
	.line = "the kernel's lock for VF creation",
};
