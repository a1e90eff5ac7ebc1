/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of the sriov step: netdevs of VFs (mtu, unmanaged), and their MSI-X vectors. */
#pragma once

#include "steps/step.h"

void sriov_net_emit(const struct step_ctx *ctx, const struct ynode *section, struct plan *plan);
