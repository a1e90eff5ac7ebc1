#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile profiles end with little work, in little memory, with a reason.

bats_require_minimum_version 1.5.0
load lib/fakenode

setup() { f=$BATS_TEST_TMPDIR/a.yaml; }

# Ten seconds of CPU time, of which the slowest takes half of one. The address space counts what is
# mapped, libraries and all: some 60 MB are the program's own.
check() {
  run -3 bash -c 'ulimit -t 10 -v 200000; exec "$@"' - "$railhead" check "$f"
}

head_of() { printf 'schema: 1\nname: a\nabstract: true\n'; }

@test "bounds: 10 MB" {
  { head_of; head -c 10000000 /dev/zero | tr '\0' '#'; } >"$f"
  check
  [[ $output == *"a.yaml"*"MB"* || $output == *"a.yaml"*"bytes"* || $output == *"a.yaml"*"large"* ]]
}

@test "bounds: 10,000 levels" {
  { head_of; printf 'sysctl: '; head -c 10000 /dev/zero | tr '\0' '['; } >"$f"
  check
  [[ $output == *"nested more than 64 levels deep"* ]]
}

@test "bounds: an alias bomb" {
  {
    head_of
    echo 'devices:'
    echo '  a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
    for i in {1..12}; do
      p=$((i - 1))
      echo "  a$i: &a$i [*a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p, *a$p]"
    done
  } >"$f"
  check
  [[ $output == *"a.yaml"* ]]
}

@test "bounds: as many overlapping sets as are taken, in each section" {
  {
    head_of
    echo 'devices:'
    for i in {0..255}; do echo "  s$i: {driver: mlx5_core}"; done
    for s in sriov link qos pcie irq; do
      echo "$s:"
      for i in {0..255}; do echo "  s$i: {vfs: $i, mtu: $((i + 1000)), pfc: [3]}"; done
    done
  } >"$f"
  check
  [[ $output == *"more problems than can be listed"* ]]
}

@test "bounds: a chain of sets that goes round" {
  {
    head_of
    echo 'devices:'
    for i in {0..255}; do echo "  s$i: {in: s$(((i + 1) % 256))}"; done
    echo 'sriov:'
    for i in {0..255}; do echo "  s$i: {vfs: 1}"; done
  } >"$f"
  check
  [[ $output == *"break the cycle"* ]]
}
