/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of the sriov section: netdevs of VFs (mtu, unmanaged), and their MSI-X vectors. */
#pragma once

#include "sections/overlay.h"

/* pfs: the functions that the section speaks of */
void sriov_net_emit(const struct section_ctx *ctx, const struct ynode *section,
		    const struct fn_list *pfs, struct plan *plan);
