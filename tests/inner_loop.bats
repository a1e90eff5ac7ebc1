#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# From an edit to its result: the tests of one subject, programs that are not built yet, and what lint
# remembers between two runs.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/.." || exit 1
  tree=$BATS_TEST_TMPDIR/tree
  mkdir -p "$tree/tests/lib" "$tree/tests/lint" "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\necho "make $*"\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/make"
  chmod +x "$BATS_TEST_TMPDIR/bin/make"
}

without_make() { PATH=$BATS_TEST_TMPDIR/bin:$PATH "$@"; } # says what would be built

@test "a subject is a word of the names of tests; an unknown one names those near it" {
  run -1 without_make env -u MAKE -u MAKEFLAGS tests/lib/subject link
  [[ $output == "make "*" build/test/test_kinds_link build/test/test_sections_link build/railhead "* ]]
  [[ $output != *netlink* ]]
  run -1 without_make env -u MAKE -u MAKEFLAGS tests/lib/subject gate-gpu
  [[ $output == *" build/test/test_gate_gpu "*" build/gpu-standin/libcuda.so.1"* ]]
  run -1 tests/lib/subject lnik
  [ "$output" = "no test has the subject lnik; near it: link" ]
}

@test "run-unit and run-bats build what is missing, and nothing else" {
  run -1 without_make tests/lib/run-unit build/test/test_none build/railhead
  [[ $output == "make "*" build/test/test_none" ]]

  cp tests/lib/run-bats tests/lib/subject "$tree/tests/lib"
  mkdir "$tree/build"
  touch "$tree/build/railhead"
  echo 'load lib/helper' >"$tree/tests/some.bats"
  echo 'program=build/simnode' >"$tree/tests/lib/helper.bash"
  cd "$tree"
  run -1 without_make tests/lib/run-bats tests/some.bats
  [[ $output == "make "*" build/railhead-bench build/05_railhead build/simnode build/test/clock.so" ]]
}

@test "run-bats names a file that is not there, and runs nothing" {
  run -1 tests/lib/run-bats tests/some_other.bats tests/words.bats
  [ "$output" = "tests/some_other.bats: no such file" ]
  run -1 tests/lib/run-bats
  [ "$output" = "usage: tests/lib/run-bats FILE.bats..." ]
}

@test "a test that is run by itself names what is not built" {
  helper=simnode # for tests/lint/privileges: nothing is mounted
  run -1 env SIMNODE="$tree/none" BATS_TEST_DIRNAME=tests bash -ec ". tests/lib/$helper.bash"
  [ "$output" = "simnode is not built: make build/simnode" ]
}

@test "lint remembers what passed, and sees each change of a file or of its own rules" {
  cp tests/lint/format tests/lint/passed "$tree/tests/lint"
  cp .clang-format "$tree"
  mkdir "$tree/src" "$tree/src/room"
  cd "$tree"
  printf 'int a;\n' >src/room/a.c
  printf 'int b;\n' >src/room/b.c
  git init -q .
  git add .
  run -0 tests/lint/format

  # what passed is not looked at again
  printf '#!/bin/sh\ncase $1 in --version) exec %s "$@" ;; esac\necho "$@"\n' "$(command -v clang-format)" \
    >"$BATS_TEST_TMPDIR/bin/clang-format"
  chmod +x "$BATS_TEST_TMPDIR/bin/clang-format"
  run -0 without_make tests/lint/format
  [ "$output" = "format: ok" ]

  # a file that breaks fails until it is mended
  printf 'int  a;\n' >src/room/a.c
  for _ in first second; do
    run -123 tests/lint/format
    [[ $output == *src/room/a.c:1:* && $output != *b.c* ]]
  done
  printf 'int a;\n' >src/room/a.c
  run -0 tests/lint/format

  # other rules: all files again
  printf 'ReflowComments: false\n' >>.clang-format
  run -0 without_make tests/lint/format
  [[ $output == *"src/room/a.c src/room/b.c"* ]]
}
