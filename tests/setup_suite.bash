# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Runs before the tests of all bats files. Some of them would harm the machine if the program, or
# the test, did what it must not: they run in the sandbox alone.

setup_suite() {
  local probe=$BATS_RUN_TMPDIR/probe
  if [ ! -e /run/railhead-sandbox ]; then
    echo "these tests run in a sandbox; use: tests/lib/sandbox bats FILE" >&2
    return 1
  fi
  if [ ! -x "$BATS_TEST_DIRNAME/../build/railhead" ]; then
    echo "railhead is not built: make, or tests/lib/run-bats FILE" >&2
    return 1
  fi
  # Where a stand-in can't be executed, the shell would go on to the real program.
  printf '#!/bin/sh\n' >"$probe"
  chmod 755 "$probe"
  "$probe" 2>/dev/null || {
    echo "programs can't be executed in $BATS_RUN_TMPDIR (noexec): unset TMPDIR" >&2
    return 1
  }
}
