#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# From an edit to its result: what lint remembers between two runs.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/.." || exit 1
  tree=$BATS_TEST_TMPDIR/tree
  mkdir -p "$tree/tests/lib" "$tree/tests/lint" "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\necho "make $*"\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/make"
  chmod +x "$BATS_TEST_TMPDIR/bin/make"
}

without_make() { PATH=$BATS_TEST_TMPDIR/bin:$PATH "$@"; } # says what would be built

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
