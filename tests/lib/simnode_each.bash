# SPDX-License-Identifier: GPL-2.0-or-later
# Each test of a file has a machine of simnode to itself, at $sim. Load it after simnode.bash.
# shellcheck shell=bash

setup_file() {
  sim_need
  sim_tree "$BATS_FILE_TMPDIR/pristine"
}

setup() {
  sim=$BATS_TEST_TMPDIR
  cp -a "$BATS_FILE_TMPDIR/pristine/node" "$sim/node"
}

teardown() {
  sim_stop
}
