#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is published for each event in each state of the verdict: tests/lib/verdicts makes the rows.
# Where a row is meant to change, the new table is the test's output:
#   tests/lib/sandbox env VERDICTS=tests/fixtures/verdicts.txt bats tests/verdict.bats

bats_require_minimum_version 1.5.0
load lib/fakenode

@test "each event in each state publishes what the table says" {
  local table=$BATS_TEST_DIRNAME/fixtures/verdicts.txt
  fake_node "$BATS_TEST_TMPDIR/pristine"
  mkdir "$BATS_TEST_TMPDIR/work"
  "$BATS_TEST_DIRNAME/lib/verdicts" "$railhead" "$BATS_TEST_TMPDIR/pristine" "$BATS_TEST_TMPDIR/work" \
    >"$BATS_TEST_TMPDIR/rows"
  [ -z "${VERDICTS:-}" ] || cp "$BATS_TEST_TMPDIR/rows" "$VERDICTS"
  diff "$table" "$BATS_TEST_TMPDIR/rows"
}
