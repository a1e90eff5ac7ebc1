#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# All histories of a trial to a small depth (docs/trials.md). make check-long goes deeper.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/.."
}

@test "three events, any faults: no invariant is broken" {
  build/histories --depth 3
}

@test "five events without faults: no invariant is broken, and over a million transitions lead to another state" {
  run -0 build/histories --depth 5 --faults 0
  echo "$output"
  [[ $output =~ \ ([0-9]+)\ of\ them\ to\ a\ different\ state ]]
  [ "${BASH_REMATCH[1]}" -gt 1000000 ]
}

@test "eight events, two of them no ordinary boots: no invariant is broken" {
  build/histories --depth 8 --incidents 2
}

@test "docs/trials.md is as the code is" {
  tests/histories/page
}

@test "each seeded bug still applies" {
  tests/seeded/run --apply
}
