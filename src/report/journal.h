/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Journal entries: one per change that was not as wanted, one per stage, the verdict.
 * units/railhead.catalog explains the message ids to the operator (journalctl -x).
 */
#pragma once

#include "engine/run.h"
#include "gate/gate.h"

#define MESSAGE_ID_CHANGE_SET "5b0ab5ff1b0d4d0d8a8fbd4a1f0a6b01"
#define MESSAGE_ID_CHANGE_FAILED "0f6e3a3b0a1c4c7f9f2e8d5c7b6a9e02"
#define MESSAGE_ID_STAGE "c3d9a1e47a5f4b0fb1a2d3c4e5f60703"
#define MESSAGE_ID_VERDICT "7e1f2a9c8b3d4e5fa6b7c8d9e0f1a204"

void journal_change(enum stage stage, const struct change *c, const struct profile *profile);
void journal_stage(const struct stage_result *result, const struct profile *profile);
void journal_verdict(const struct verdict *v, const struct profile *profile);
