#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What decides which boots the guests of tests/vm go through, without a guest.

@test "vm: the harness comes to each state once, begins where it can, and keeps what is of use" {
  python3 "$BATS_TEST_DIRNAME/vm/test_harness.py"
}
