/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Journal entries: one for each change that differed, for each PF whose VFs were made or bound, for
 * each stage, for the verdict and for each of its faults.
 * units/railhead.catalog explains the message ids to the operator (journalctl -x).
 */
#pragma once

#include "engine/record.h"

#define MESSAGE_ID_CHANGE_SET "b8bb52d425244145b472dd3985c17bc8"
#define MESSAGE_ID_CHANGE_FAILED "1c03eeeb67ff42cda2cfb328df61a983"
#define MESSAGE_ID_STAGE "24c2fd0f4cee4beda4882f92048e744e"
#define MESSAGE_ID_VFS "52c4a3c812b24d7db27638c5360f81db"
#define MESSAGE_ID_FROZEN "5b1f0d3a9f7c4c0e8b0c6f9d2e7a4415"
#define MESSAGE_ID_FAULT "3c6f1e0b8d5a4f7fa0e94b21d7c85e63"
#define MESSAGE_ID_VERDICT "08aeee404ff1439b87d937ddb6a75466"
#define MESSAGE_ID_UNREADABLE "417a3801eb604cbb8c837f20f397afa8"
#define MESSAGE_ID_ADMITTED "b9a3d6c2f0724d3fa5f1c7be64219d07"
#define MESSAGE_ID_ADMITTED_OVER "7d1e58a94b6c4f2e93a0dc8517f36b42"
#define MESSAGE_ID_MAINTENANCE "243183f21c534b64afd872fa4608f693"
#define MESSAGE_ID_MAINTENANCE_OVER "3e4ca655005f4333890d5853eb4b5bf7"

/* Writes only if the run is on the machine itself: a tree has no journal. */
void journal_change(const struct run *run, enum stage stage, const struct change *c);
/* How long the VFs of each PF took, then the stage. stages: as in run_apply(). */
void journal_stage(const struct run *run, unsigned int stages, const struct stage_result *result);
/* A run by hand froze another profile for this boot. */
void journal_frozen(const struct run *run);
/* The verdict of the record, then an entry for each fault of its reasons. */
void journal_verdict(const struct root *root, const struct record *r);
/* A record that could not be read is replaced. sentence: record_parse(). */
void journal_unreadable(const struct root *root, const char *sentence);
/* Work is admitted by hand (over: NULL), or the admission ends (over: "its time is over"). */
void journal_admitted(const struct root *root, const struct record *r, const char *over);
/* Maintenance begins or ends, likewise. */
void journal_maintenance(const struct root *root, const struct record *r, const char *over);
