#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# qos on a machine of each vendor: the plans in fixtures/qos are the golden ones, GOLDEN=1
# writes them anew (read the diff). And on simnode, which has DOCA-OFED's files with their
# faults: what is written is read again.

bats_require_minimum_version 1.5.0
load lib/simnode

here=$BATS_TEST_DIRNAME
fixtures=$here/fixtures/qos

setup_file() {
  sim_need
  sim_tree "$BATS_FILE_TMPDIR/pristine"
  "$BATS_TEST_DIRNAME/lib/machine" "$BATS_FILE_TMPDIR/vendors" "$BATS_TEST_DIRNAME"/fixtures/qos/*.toml
}

setup() {
  sim=$BATS_TEST_TMPDIR
}

teardown() {
  sim_stop
}

# --- plans ------------------------------------------------------------------------------------

planned() { # VENDOR
  "$railhead" plan --root "$BATS_FILE_TMPDIR/vendors/$1" --profile "$fixtures/roce.yaml" || [ $? -eq 5 ]
  echo "holds already"
  "$railhead" plan --json --root "$BATS_FILE_TMPDIR/vendors/$1" --profile "$fixtures/roce.yaml" |
    jq -r '.changes[] | select(.state == "same") | "  \(.id) \(.observed)"'
}

@test "the plan of each vendor's RoCE section is the golden one" {
  for toml in "$fixtures"/*.toml; do
    name=$(basename "$toml" .toml)
    planned "$name" >"$BATS_TEST_TMPDIR/$name.txt"
    [ -z "${GOLDEN:-}" ] || cp "$BATS_TEST_TMPDIR/$name.txt" "$fixtures/$name.txt"
    diff -u "$fixtures/$name.txt" "$BATS_TEST_TMPDIR/$name.txt"
  done
}

@test "a plan changes nothing of a tree, nodes of configfs included" {
  for toml in "$fixtures"/*.toml; do
    name=$(basename "$toml" .toml)
    (cd "$BATS_FILE_TMPDIR/vendors/$name" && find . | sort) >"$BATS_TEST_TMPDIR/before"
    run -5 "$railhead" plan --root "$BATS_FILE_TMPDIR/vendors/$name" --profile "$fixtures/roce.yaml"
    (cd "$BATS_FILE_TMPDIR/vendors/$name" && find . | sort) | diff "$BATS_TEST_TMPDIR/before" -
  done
}
